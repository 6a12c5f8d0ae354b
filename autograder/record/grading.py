"""Note une classe : exécutions en parallèle, un seul écrivain pour la base, un résultat gardé par copie.

Chaque copie passe par quatre étapes. Dans un processus à elle : réparée (repair), exécutée dans son bac à sable
(preprocessor.correct) et gardée sur le disque ; puis, d'ici, écrite comme nbgrader l'écrirait dans `autograded/` et la base de
notes (gradebook). Un arrêt brutal ne perd que les copies en vol.
"""

import errno
import json
import logging
import shutil
import sqlite3
import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from functools import lru_cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory

import nbformat
from joblib import Parallel, delayed
from nbformat import NotebookNode
from nbgrader.api import Gradebook, MissingEntry
from nbgrader.converters import GenerateAssignment
from nbgrader.preprocessors import SaveCells
from nbgrader.utils import capture_log, temp_attrs
from sqlalchemy.exc import OperationalError

from autograder.execution import forks
from autograder.execution.limits import Limits
from autograder.execution.sandbox import compile_program, regular_files
from autograder.intake.assignment import grade_id, kind
from autograder.intake.nbgrader_course import course_config, nbgrader_api, succeeded
from autograder.intake.repair import repair_folder
from autograder.judgement import tester
from autograder.judgement.preprocessor import (
    GradingFailure,
    allowed_packages,
    correct,
    digest,
    keep_result,
    kept_result,
    program_digest,
    rerun,
    result_path,
    secret_tests,
    showable,
)
from autograder.judgement.preprocessor import score as test_score
from autograder.judgement.tester import Starved
from autograder.record.gradebook import GradedNotebook, Recorder, graded, known_cells
from autograder.record.marks import Mark, shown
from autograder.settings import UsageError, replacing

FULL = (errno.ENOSPC, errno.EDQUOT)
DISK_FULL = "le disque est plein"
JOURNAL = logging.getLogger("autograder")
LOCK_PATIENCE = 90  # secondes d'attente quand un autre programme tient la base de notes


@dataclass(frozen=True)
class Outcome:
    """Ce qu'un processus a fait d'une copie : réparations, incidents, notebooks à écrire, ou pourquoi elle n'a pas de note.

    `starved`, s'il est donné, dit quelle limite d'attente l'a arrêtée : ce n'est pas un verdict, elle est à relancer seule.
    """

    student: str
    assignment: str
    reasons: list[str] = field(default_factory=list)
    fatal: str | None = None
    starved: str | None = None
    notebooks: dict[str, GradedNotebook] = field(default_factory=dict)


@dataclass(frozen=True)
class Class:
    """Un cours nbgrader et la classe à noter.

    Attributes:
        course: dossier du cours (source/, release/, gradebook.db, autograded/).
        copies: dossier des copies, rangées comme le submitted/ de nbgrader.
        work: dossier de travail : copies réparées et résultats gardés.
        isolation: « bwrap » ou « processus ».
        limits: limites de chaque copie.
    """

    course: Path
    copies: Path
    work: Path
    isolation: str
    limits: Limits

    @property
    def repaired(self) -> Path:
        """Copies réparées, que nbgrader lirait à la place des originales."""
        return self.work / "reparees"

    @property
    def results(self) -> Path:
        """Résultats d'exécution, un fichier par copie ; d'autres limites, isolement ou correcteur n'en reprennent aucun.

        Ils contiennent les messages des tests cachés : ils sont à l'enseignant seul.
        """
        limits = self.limits
        name = f"{self.isolation}-{limits.cell_seconds:g}-{limits.notebook_seconds:g}-{limits.memory_mib}-{program_digest()}"
        return self.work / "resultats" / name

    @property
    def visible(self) -> Path:
        """Résultats des exécutions sans tests cachés : ce que l'on montre à l'étudiant."""
        return self.work / "visibles" / self.results.name

    def sources(self, assignment: str) -> dict[str, NotebookNode]:
        """Notebooks sources d'un devoir, par nom.

        Raises:
            UsageError: le devoir n'existe pas.
        """
        paths = sorted((self.course / "source" / assignment).glob("*.ipynb"))
        if not paths:
            known = ", ".join(sorted(path.parent.name for path in (self.course / "source").glob("*/*.ipynb"))) or "aucun"
            raise UsageError(f"Le devoir {assignment!r} n'est pas dans source/ : choisissez parmi {known}.")
        return {path.stem: nbformat.read(path, as_version=4) for path in paths}

    def prepared(self, assignment: str) -> Path:
        """Fichier où `declare` range un devoir : ce que lisent les processus qui notent ses copies."""
        return self.work / "devoirs" / f"{assignment}.json"

    def to_json(self) -> dict:
        """Valeurs simples, pour un autre processus."""
        return asdict(self) | {"course": str(self.course), "copies": str(self.copies), "work": str(self.work)}

    @classmethod
    def from_json(cls, values: dict) -> "Class":
        """La classe à noter, reçue d'un autre processus."""
        paths = {name: Path(values[name]) for name in ("course", "copies", "work")}
        return cls(**paths, isolation=values["isolation"], limits=Limits(**values["limits"]))


@dataclass(frozen=True)
class Prepared:
    """Un devoir tel que `declare` l'a rangé, notebooks par nom.

    Attributes:
        sources: notebooks sources, avec corrigé et tests cachés.
        release: versions étudiantes.
        known: noyau et cellules de chaque notebook dans la base (`gradebook.known_cells`).
        maximum: note maximale.
    """

    sources: dict[str, NotebookNode]
    release: dict[str, NotebookNode]
    known: dict[str, dict]
    maximum: float

    @classmethod
    def read(cls, path: Path) -> "Prepared":
        """Lit un devoir rangé par `declare`."""
        content = json.loads(path.read_text(encoding="utf-8"))
        notebooks = {name: nbformat.from_dict(content[name]) for name in ("sources", "release")}
        return cls(**notebooks, known=content["known"], maximum=content["maximum"])


def found_copies(copies: Path, assignment: str | None = None, student: str | None = None) -> list[tuple[str, str]]:
    """Copies rendues, (étudiant, devoir), triées ; celles d'un devoir ou d'un étudiant si on le demande.

    Raises:
        UsageError: le dossier n'existe pas, ou rien ne correspond.
    """
    if not copies.is_dir():
        raise UsageError(
            f"Le dossier de copies {copies} n'existe pas : donnez-le par --copies, ou rangez-y les copies (cours collecter)."
        )
    found = sorted(
        (path.parent.name, path.name)
        for path in copies.glob("*/*")
        if path.is_dir()
        and not path.parent.name.startswith(".")
        and assignment in (None, path.name)
        and student in (None, path.parent.name)
    )
    if not found:
        raise UsageError(f"Aucune copie à noter dans {copies} : vérifiez --copies, --devoir et --etudiant.")
    return found


def declare(group: Class, assignments: Iterable[str]) -> None:
    """Déclare les devoirs dans la base de notes et range, pour chacun, ce que lisent les processus qui notent (`Prepared`).

    Raises:
        UsageError: nbgrader refuse un devoir.
    """
    for name in assignments:
        sources = group.sources(name)
        release = _student_versions(group.course, name)
        if not _declared(group.course, name, release):
            with nbgrader_api(group.course) as api:
                succeeded(api.generate_assignment(name, force=True, create=True), f"déclarer {name}")
        with _gradebook(group.course) as gradebook:
            content = {
                "sources": sources,
                "release": release,
                "known": known_cells(gradebook, name),
                "maximum": gradebook.find_assignment(name).max_score,
            }
        with replacing(group.prepared(name)) as partial:
            partial.write_text(json.dumps(content), encoding="utf-8")


def _student_versions(course: Path, assignment: str) -> dict[str, NotebookNode]:
    """Versions étudiantes d'un devoir, tirées de source/ par nbgrader sans toucher à release/ ni à la base."""
    with TemporaryDirectory() as folder, nbgrader_api(course) as api:
        with temp_attrs(api.coursedir, assignment_id=assignment, release_directory=folder):
            converter = GenerateAssignment(coursedir=api.coursedir, parent=api)
            converter.force = converter.no_database = True
            converter.preprocessors = [step for step in converter.preprocessors if step is not SaveCells]
            succeeded(capture_log(converter), f"publier {assignment}")
        paths = Path(folder, assignment).glob("*.ipynb")
        return {path.stem: nbformat.read(path, as_version=4) for path in paths}


def _declared(course: Path, assignment: str, notebooks: dict) -> bool:
    """Le devoir est-il dans la base, avec les mêmes cellules notées qu'aujourd'hui ?"""
    if not (course / "gradebook.db").exists():
        return False
    wait_for_gradebook(course / "gradebook.db")
    with _gradebook(course) as gradebook:
        try:
            notebooks_known = gradebook.find_assignment(assignment).notebooks
            known = {(notebook.name, cell.name) for notebook in notebooks_known for cell in notebook.grade_cells}
        except MissingEntry:
            return False
    wanted = {
        (name, cell.metadata.nbgrader.grade_id)
        for name, notebook in notebooks.items()
        for cell in notebook.cells
        if cell.metadata.get("nbgrader", {}).get("grade")
    }
    return known == wanted


def _gradebook(course: Path) -> Gradebook:
    return Gradebook(f"sqlite:///{course / 'gradebook.db'}")


def control(group: Class, assignments: Iterable[str], processes: int = 1) -> None:
    """Témoins d'un lot : le corrigé doit avoir tous les points et la copie vide aucun.

    C'est là qu'un test écrit d'une façon qui ne traverse pas le canal se voit, et non dans les notes des étudiants.

    Raises:
        UsageError: un témoin n'a pas la note qu'il doit avoir ; chaque test en cause est nommé.
    """
    tasks = []
    for assignment in assignments:
        prepared = Prepared.read(group.prepared(assignment))
        for name, source in prepared.sources.items():
            tasks.append(delayed(_control)(group, assignment, source, source, "le corrigé", True))
            tasks.append(delayed(_control)(group, assignment, source, prepared.release[name], "la copie vide", False))
    for fault in Parallel(n_jobs=processes, prefer="threads")(tasks):
        if fault is not None:
            raise UsageError(fault)


def _control(group: Class, assignment: str, source: NotebookNode, copy: NotebookNode, label: str, full: bool) -> str | None:
    """Ce qui ne va pas avec un témoin, ou None."""
    try:
        result = correct(source, copy, group.course / "source" / assignment, group.isolation, group.limits)
    except GradingFailure as error:
        return f"Témoin de {assignment} : {label} n'a pas pu être noté ({error})."
    tests = [(cell, result["tests"].get(grade_id(cell))) for cell in source.cells if kind(cell) == "test"]
    wrong = [
        f"{grade_id(cell)} ({verdict['error']['message'] if verdict and verdict['error'] else 'réussi'})"
        for cell, verdict in tests
        if test_score(cell, verdict) != (cell.metadata.nbgrader.points if full else 0)
    ]
    if not wrong:
        return None
    goal = "n'obtient pas tous les points" if full else "obtient des points"
    return (
        f"Témoin de {assignment} : {label} {goal} ; corrigez le devoir, ou passez --sans-temoins. "
        f"Tests en cause : {' ; '.join(wrong)}."
    )


def grade(group: Class, copies: list[tuple[str, str]], processes: int) -> Iterator[Mark]:
    """Note les copies et rend chaque note dès qu'elle est dans la base ; une copie en erreur n'arrête pas les autres.

    Les exécutions se font dans `processes` enfants à la fois, chacun attendu par un fil d'ici ; la base n'est écrite que d'ici.
    Une copie qu'une limite d'attente arrête est relancée à la fin, seule : la machine, et non elle, était peut-être lente.

    Raises:
        UsageError: la base reste prise.
        OSError: le disque est plein. Dans les deux cas, ce qui est déjà noté est gardé.
    """
    maxima = {name: Prepared.read(group.prepared(name)).maximum for name in {assignment for _, assignment in copies}}
    with nbgrader_api(group.course, submitted=group.repaired) as api:
        recorder = Recorder(api)
    run, starved = partial(Parallel, n_jobs=processes, prefer="threads", return_as="generator_unordered"), []
    try:
        for outcome in run()(delayed(execute)(group, student, assignment) for student, assignment in copies):
            if outcome.starved is None:
                yield record(group, recorder, outcome, maxima[outcome.assignment])
            else:
                JOURNAL.warning("%s, %s : %s ; à relancer seule", outcome.student, outcome.assignment, outcome.starved)
                starved.append((outcome.student, outcome.assignment))
        for copy in starved:
            for outcome in run()([delayed(execute)(group, *copy, alone=True)]):
                mark = record(group, recorder, outcome, maxima[outcome.assignment])
                JOURNAL.warning("%s, %s : relancée seule, %s", *copy, f"{shown(mark)} {mark.motif}".strip())
                yield mark
    finally:
        recorder.close()


def execute(group: Class, student: str, assignment: str, alone: bool = False) -> Outcome:
    """Répare et exécute une copie dans un processus neuf, et attend ce qu'il en a fait ; voir `preprocessor.correct` pour `alone`."""
    path = group.prepared(assignment)
    packages, seconds = _needs(path, path.stat().st_mtime_ns, group.limits)
    job = {"group": group.to_json(), "student": student, "assignment": assignment, "packages": packages, "alone": alone}
    try:
        answer = forks.call("autograder.record.grading:execute_here", job, seconds)
    except forks.Late:
        reason = f"la copie a pris plus de {seconds:g} s d'horloge"
        return Outcome(student, assignment, fatal=reason) if alone else Outcome(student, assignment, starved=reason)
    except forks.Stopped as error:
        return Outcome(student, assignment, fatal=f"le correcteur s'est arrêté : {error}")
    notebooks = {name: GradedNotebook(**values) for name, values in answer.pop("notebooks").items()}
    return Outcome(**answer, notebooks=notebooks)


@lru_cache
def _needs(path: Path, modified: int, limits: Limits) -> tuple[dict[str, list[str]], float]:
    """Paquets à montrer à chaque notebook d'un devoir, et temps à laisser à une copie, en secondes ; relus si `path` change."""
    sources = Prepared.read(path).sources
    packages = {name: allowed_packages(source) for name, source in sources.items()}
    # Trois exécutions au plus : avec tests cachés, puis sans, deux fois si la première attend.
    return packages, 3 * len(sources) * limits.patience + 60


def warm_up() -> None:
    """Prépare un processus à se dédoubler : nbformat compile son schéma au premier notebook qu'il lit."""
    nbformat.validate(nbformat.v4.new_notebook())
    compile_program()
    tester.warm_up()


def execute_here(job: dict) -> dict:
    """Répare et exécute une copie, dans le processus de `execute` ; rend un `Outcome` en valeurs simples."""
    group, student, assignment = Class.from_json(job["group"]), job["student"], job["assignment"]
    try:
        outcome = _execute(group, student, assignment, job["packages"], job["alone"])
    except Starved as reason:
        outcome = Outcome(student, assignment, starved=str(reason))
    except OSError as error:
        if error.errno not in FULL:
            raise
        outcome = Outcome(student, assignment, fatal=DISK_FULL)
    return asdict(outcome)


def _execute(group: Class, student: str, assignment: str, packages: dict[str, list[str]], alone: bool) -> Outcome:
    """Répare et exécute une copie ; garde le résultat sur le disque, et ne refait pas ce qui y est déjà."""
    prepared = Prepared.read(group.prepared(assignment))
    submitted, clean = group.copies / student / assignment, group.repaired / student / assignment
    shutil.rmtree(clean, ignore_errors=True)
    try:
        report = repair_folder(submitted, clean, prepared.release)
    except OSError as error:
        if error.errno in FULL:
            raise
        return Outcome(student, assignment, fatal=f"la copie n'a pas pu être lue ({error.strerror})")
    except Exception as error:  # noqa: BLE001  (une copie imprévue ne doit jamais arrêter le lot ; elle est nommée)
        return Outcome(student, assignment, fatal=f"la copie n'a pas pu être lue ({type(error).__name__} : {error})")
    reasons = [*report.reasons, *report.refused]
    if report.fatal is not None:
        return Outcome(student, assignment, [reason for reason in reasons if reason not in report.fatal], report.fatal)
    for path, name in regular_files(group.course / "source" / assignment):
        # Comme nbgrader : les fichiers du devoir sont là, et tels que le devoir les donne.
        (clean / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, clean / name)
    config, notebooks = course_config(group.course), {}
    for name, source in prepared.sources.items():
        path = clean / f"{name}.ipynb"
        if not path.exists():
            continue
        copy = nbformat.read(path, as_version=4)
        kept = result_path(group.results, student, assignment, name)
        mark = digest(source, copy, clean)
        result = kept_result(kept, mark)
        published = prepared.release[name]
        if result is None:
            secret = secret_tests(source, published)
            try:
                result = correct(source, copy, clean, group.isolation, group.limits, packages[name], secret, alone)
            except Starved:
                raise
            except GradingFailure as error:
                return Outcome(student, assignment, reasons, str(error))
            except Exception as error:  # noqa: BLE001
                return Outcome(student, assignment, reasons, f"le correcteur a échoué ({type(error).__name__} : {error})")
            keep_result(result, kept, mark)
        reasons += result["incidents"]
        kept = result_path(group.visible, student, assignment, name)
        run = partial(rerun, source, published, copy, clean, group.isolation, group.limits, kept, packages[name], alone or None)
        notebooks[name] = graded(copy, prepared.known[name], published, showable(result, source, published, run), config)
    return Outcome(student, assignment, reasons, notebooks=notebooks)


def record(group: Class, recorder: Recorder, outcome: Outcome, maximum: float) -> Mark:
    """Écrit la copie exécutée et rend sa note ; attend son tour si la base est prise.

    Raises:
        UsageError, OSError: voir `grade`.
    """
    student, assignment = outcome.student, outcome.assignment
    if outcome.fatal == DISK_FULL:
        raise OSError(errno.ENOSPC, DISK_FULL, str(group.work))
    if outcome.fatal is not None:
        return Mark(student, assignment, None, maximum, "erreur", " ; ".join([outcome.fatal, *outcome.reasons]))
    while True:
        wait_for_gradebook(group.course / "gradebook.db")
        try:
            score, waiting = recorder.record(student, assignment, outcome.notebooks)
            break
        except OperationalError as error:
            if "full" in str(error.orig):
                raise OSError(errno.ENOSPC, DISK_FULL, str(group.course)) from None
            if "locked" not in str(error.orig):
                raise UsageError(
                    f"La base de notes {group.course / 'gradebook.db'} ne peut pas être écrite ({error.orig}) : "
                    "vérifiez ses droits, puis relancez la même commande."
                ) from None
            # Un autre programme l'a prise entre-temps : ce n'est pas la faute de la copie.
        except OSError as error:
            if error.errno in FULL:
                raise
            return Mark(student, assignment, None, maximum, "erreur", f"la copie n'a pas pu être écrite ({error})")
        except Exception as error:  # noqa: BLE001  (une copie que nbgrader refuse ne doit pas arrêter les autres)
            refusal = f"nbgrader a refusé la copie ({type(error).__name__} : {str(error)[:300]})"
            return Mark(student, assignment, None, maximum, "erreur", refusal)
    reasons = [*outcome.reasons, *(["une réponse attend une note à la main"] if waiting else [])]
    return Mark(student, assignment, score, maximum, "a_relire" if reasons else "note", " ; ".join(reasons))


def wait_for_gradebook(path: Path) -> None:
    """Attend que la base de notes soit libre.

    Raises:
        UsageError: elle ne l'est toujours pas au bout de LOCK_PATIENCE secondes ; rien n'est perdu.
    """
    deadline = time.monotonic() + LOCK_PATIENCE
    while True:
        connection = sqlite3.connect(path, timeout=1)
        try:
            connection.execute("BEGIN IMMEDIATE")
            connection.rollback()
            return
        except sqlite3.OperationalError:
            if time.monotonic() > deadline:
                raise UsageError(
                    f"La base de notes {path.name} est tenue par un autre programme depuis {LOCK_PATIENCE:g} s : fermez-le "
                    "(formgrader, autre notation), puis relancez la même commande ; les copies déjà exécutées ne le seront pas "
                    "une seconde fois."
                ) from None
        finally:
            connection.close()
