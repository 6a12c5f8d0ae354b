"""Noter une classe : `cours noter` (bacs à sable, deux processus) contre `nbgrader autograde` (sans isolement).

Les deux côtés notent les mêmes copies honnêtes de trois devoirs déjà publiés, et doivent donner les mêmes notes. Puis ce que
coûte une copie dans une grande classe, la mémoire du processus qui mène la notation, et où passe le temps d'une copie.
"""

import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory

import nbformat
import psutil
from nbgrader.api import Gradebook

from autograder.execution import forks
from autograder.execution.limits import Limits
from autograder.intake.nbgrader_course import course_config, nbgrader_api
from autograder.intake.repair import repair_folder
from autograder.judgement.preprocessor import allowed_packages, secret_tests, showable
from autograder.judgement.tester import Session
from autograder.record.gradebook import Recorder, graded
from autograder.record.grading import Class, Prepared, declare
from course.demonstration import build_copy
from course.settings import COPIES, RELEASE, SOURCE
from mesure import COMPLETE, REPEATS, note, paired, show, timed

BIN = Path(sys.executable).parent
EXERCISES = ("ex01_bleu2", "ex02_perplexite", "ex03_juge_symetrique")
STUDENTS = 100 if COMPLETE else 20  # trois copies par étudiant
SMALL, LARGE = 99, 999  # copies des deux classes dont on compare le coût par copie
PLAIN = """
from autograder.settings import configure
c = get_config()
configure(c, {course!r})
for name in ("sanitize_preprocessors", "autograde_preprocessors"):
    del c.Autograde[name]
del c.GenerateFeedback["preprocessors"]
"""


def make_course(folder: Path, students: int) -> Path:
    """Cours neuf, devoirs publiés, avec une copie honnête de chaque devoir par étudiant."""
    for exercise in EXERCISES:
        shutil.copytree(SOURCE / exercise, folder / "source" / exercise)
        texts = sorted(COPIES.glob(f"{exercise}/*.py"))
        honest = [path for path in texts if path.stem == "parfaite" or path.stem.startswith("style_")]
        for number in range(students):
            target = folder / "submitted" / f"e{number:04d}" / exercise
            build_copy(RELEASE / exercise / f"{exercise}.ipynb", honest[number % len(honest)], target)
    declare(Class(folder, folder / "submitted", folder / "travail", "bwrap", Limits()), EXERCISES)  # publie, comme nbgrader
    return folder


def run(command: list, course: Path) -> None:
    """Lance une commande, qui doit réussir."""
    environment = os.environ | {"PATH": f"{BIN}:{os.environ['PATH']}"}
    done = subprocess.run([str(part) for part in command], cwd=course, capture_output=True, text=True, env=environment)
    if done.returncode:
        raise SystemExit(f"La commande {command[0]} {command[1]} a échoué :\n{done.stdout[-1500:]}{done.stderr[-1500:]}")


def fresh(course: Path, target: Path) -> Path:
    """Copie d'un cours publié, que personne n'a encore noté."""
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(course, target)
    return target


def marks(course: Path) -> dict:
    """Notes de la base : (étudiant, devoir) → note."""
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        rows = [(exercise, row) for exercise in EXERCISES for row in gradebook.submission_dicts(exercise)]
    return {(row["student"], exercise): row["score"] for exercise, row in rows}


def same_marks(ours: dict, plain: dict) -> None:
    """Arrête la mesure si les deux côtés n'ont pas donné les mêmes notes."""
    if ours != plain or not ours:
        raise SystemExit("Les deux côtés ne donnent pas les mêmes notes : la mesure ne vaut rien.")


def against_nbgrader(course: Path, folder: Path) -> None:
    """Rapport des débits, le nôtre sur celui de nbgrader, témoins compris de notre côté."""

    def ours() -> dict:
        run([BIN / "cours", "noter", "--cours", folder / "nous", "--sortie", folder / "nous" / "rapport"], folder)
        return marks(folder / "nous")

    def plain() -> dict:
        for exercise in EXERCISES:
            run([BIN / "nbgrader", "autograde", exercise, "--create"], folder / "seul")
        return marks(folder / "seul")

    def prepare() -> None:
        fresh(course, folder / "nous")
        plain = fresh(course, folder / "seul")
        (plain / "nbgrader_config.py").write_text(PLAIN.format(course=str(plain)), encoding="utf-8")

    paired(f"notation de {3 * STUDENTS} copies, contre nbgrader autograde", ours, plain, same_marks, prepare=prepare)


def in_a_large_class(folder: Path) -> None:
    """Coût d'une copie dans une classe dix fois plus grande, et mémoire du processus qui mène la notation."""
    course = make_course(folder / "grande", LARGE // len(EXERCISES))
    ratios, growth = [], []
    for _ in range(REPEATS):
        seconds = {}
        for copies in (SMALL, LARGE):
            target = fresh(course, folder / "essai")
            for student in sorted((target / "submitted").iterdir())[copies // len(EXERCISES) :]:
                shutil.rmtree(student)
            seconds[copies], memory = timed(lambda: resident_memory(target))
        ratios.append(seconds[LARGE] / LARGE / (seconds[SMALL] / SMALL))
        growth.append(memory)
    show(f"coût d'une copie dans une classe de {LARGE}, contre une classe de {SMALL}", ratios)
    show("mémoire du processus principal à la fin, contre le dixième de la classe", growth)


def resident_memory(course: Path) -> float:
    """Note un cours ; rend la mémoire résidente en fin de notation divisée par celle au dixième des copies."""
    command = [BIN / "cours", "noter", "--cours", course, "--sortie", course / "rapport"]
    process = psutil.Popen([str(part) for part in command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    total, samples = len(list((course / "submitted").glob("*/*"))), []
    while process.poll() is None:
        done = len(list((course / "autograded").glob("*/*")))
        if done >= total / 10:
            samples.append(process.memory_info().rss)
        time.sleep(0.5)
    if process.returncode:
        raise SystemExit("La notation de la grande classe a échoué.")
    return statistics.median(samples[-3:]) / statistics.median(samples[:3])


def where_time_goes(course: Path, copies: int = 20) -> None:
    """Durée de chaque étape d'une copie, une copie à la fois, en millisecondes (médianes)."""
    name = EXERCISES[0]
    group = Class(course, course / "submitted", course / "etapes", "bwrap", Limits())
    declare(group, [name])
    with nbgrader_api(course, submitted=group.repaired) as api:
        recorder = Recorder(api)
    forks.preload("autograder.record.grading")
    found = [steps_of_a_copy(group, recorder, f"e{number:04d}", name) for number in range(copies)]
    recorder.close()
    medians = {step: 1000 * statistics.median(one[step] for one in found) for step in found[0]}
    note(f"Où passe le temps d'une copie, seule sur la machine ({sum(medians.values()):.0f} ms) :")
    for step, milliseconds in medians.items():
        note(f"  {milliseconds:6.1f} ms  {step}")


def steps_of_a_copy(group: Class, recorder: Recorder, student: str, name: str) -> dict[str, float]:
    """Secondes de chaque étape d'une copie d'un devoir à un notebook, dans l'ordre où `cours noter` les fait."""
    prepared = Prepared.read(group.prepared(name))
    source, clean = prepared.sources[name], group.repaired / student / name
    steps = {}
    steps["deux processus neufs (copie, tests)"] = 2 * timed(lambda: forks.call("operator:not_", False, 30))[0]
    shutil.rmtree(clean, ignore_errors=True)
    steps["réparation"], _ = timed(lambda: repair_folder(group.copies / student / name, clean, prepared.release))
    copy = nbformat.read(clean / f"{name}.ipynb", as_version=4)
    job = {"source": source, "copy": copy, "files": str(clean), "packages": allowed_packages(source), "isolation": "bwrap"}
    job |= {"modules": source.metadata["cours"]["imports_autorises"], "limits": asdict(group.limits), "alone": True}
    published = prepared.release[name]
    job["secret"] = secret_tests(source, published)
    steps["bac à sable et interpréteur de la copie"], session = timed(lambda: Session(job))
    steps["cellules de la copie et tests : le plancher"], seen = timed(session.run)
    result = showable(json.loads(json.dumps(seen)), source, published, lambda: None)
    known, config = prepared.known[name], course_config(group.course)
    steps["mise en forme de la copie notée"], notebook = timed(lambda: graded(copy, known, published, result, config))
    written = timed(lambda: recorder.record(student, name, {name: notebook}))
    steps["écriture d'autograded/ et de la base"], (score, _) = written
    if score != prepared.maximum:
        raise SystemExit(f"La copie honnête {student} a {score} points sur {prepared.maximum} : la mesure ne vaut rien.")
    return steps


def main() -> None:
    with TemporaryDirectory() as name:
        folder = Path(name)
        course = make_course(folder / "cours", STUDENTS)
        against_nbgrader(course, folder)
        in_a_large_class(folder)
        where_time_goes(course)


if __name__ == "__main__":
    main()
