"""Noter une classe : `cours noter` (bacs à sable, deux processus) contre `nbgrader autograde` (sans isolement).

Les deux côtés notent les mêmes copies honnêtes de trois devoirs déjà publiés, et doivent donner les mêmes notes. Puis ce que coûte
une copie dans une grande classe, la mémoire du processus qui mène la notation, et où passe le temps d'une copie.
"""

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
from mesure import COMPLETE, REPEATS, note, paired, show, timed
from nbgrader.api import Gradebook

from autograder import forks
from autograder.demonstration import build_copy
from autograder.gradebook import Recorder, graded
from autograder.grading import Class, Prepared, declare, record
from autograder.grading import execute as grade_copy
from autograder.preprocessor import allowed_packages
from autograder.publish import course_config, nbgrader_api
from autograder.repair import repair_folder
from autograder.sandbox import Limits
from autograder.settings import COPIES, RELEASE, SOURCE
from autograder.tester import Session

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
        return {(row["student"], exercise): row["score"] for exercise in EXERCISES for row in gradebook.submission_dicts(exercise)}


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
        (fresh(course, folder / "seul") / "nbgrader_config.py").write_text(PLAIN.format(course=str(folder / "seul")), encoding="utf-8")

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
    exercise = EXERCISES[0]
    group = Class(course, course / "submitted", course / "etapes", "bwrap", Limits())
    declare(group, [exercise])
    prepared, name = Prepared.read(group.prepared(exercise)), exercise
    source, packages = prepared.sources[name], allowed_packages(prepared.sources[name])
    with nbgrader_api(course, submitted=group.repaired) as api:
        recorder = Recorder(api)
    steps: dict[str, list[float]] = {}
    for number in range(copies):
        student = f"e{number:04d}"
        forks.call("operator:not_", False, 10)
        clean = group.repaired / student / exercise
        shutil.rmtree(clean, ignore_errors=True)
        one = {}
        one["processus neuf du correcteur"], _ = timed(lambda: forks.call("operator:not_", False, 10))
        one["réparation"], _ = timed(lambda clean=clean, student=student: repair_folder(group.copies / student / exercise, clean, prepared.release))
        copy = nbformat.read(clean / f"{name}.ipynb", as_version=4)
        job = {
            "source": source, "copy": copy, "files": str(clean), "modules": source.metadata["cours"]["imports_autorises"],
            "packages": packages, "isolation": "bwrap", "limits": asdict(group.limits),
        }  # fmt: skip
        one["bac à sable et interpréteur"], session = timed(lambda job=job: Session(job))
        one["cellules de la copie et tests (le plancher)"], result = timed(session.run)
        result = {key: {str(place): value for place, value in found.items()} if isinstance(found, dict) else found for key, found in result.items()}
        one["mise en forme de la copie notée"], _ = timed(lambda copy=copy, result=result: graded(copy, prepared.known[name], result, course_config(course)))
        outcome = grade_copy(group, student, exercise)
        one["écriture du dossier et de la base"], _ = timed(lambda outcome=outcome: record(group, recorder, outcome, prepared.maximum))
        for step, seconds in one.items():
            steps.setdefault(step, []).append(1000 * seconds)
    recorder.close()
    medians = {step: statistics.median(values) for step, values in steps.items()}
    note(f"Où passe le temps d'une copie seule ({sum(medians.values()):.0f} ms) :")
    for step, milliseconds in medians.items():
        note(f"  {milliseconds:6.1f} ms  {step}")


def main() -> None:
    with TemporaryDirectory() as name:
        folder = Path(name)
        course = make_course(folder / "cours", STUDENTS)
        against_nbgrader(course, folder)
        in_a_large_class(folder)
        where_time_goes(course)


if __name__ == "__main__":
    main()
