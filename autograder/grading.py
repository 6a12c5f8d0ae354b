"""Note une classe : exécutions en parallèle, un seul écrivain pour la base, un résultat gardé par copie.

Chaque copie passe par quatre étapes : réparée (repair), exécutée dans son bac à sable (preprocessor.correct), gardée sur le
disque, puis écrite par nbgrader lui-même dans `autograded/` et la base de notes. Un arrêt brutal ne perd que les copies en vol.
"""

import csv
import shutil
import sqlite3
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from tempfile import TemporaryDirectory

import nbformat
from joblib import Parallel, delayed
from nbformat import NotebookNode
from nbgrader.api import Gradebook, MissingEntry

from autograder.preprocessor import GradingFailure, correct, digest, keep_result, kept_result, result_path
from autograder.preprocessor import score as test_score
from autograder.publish import log_of, nbgrader_api, succeeded
from autograder.repair import repair_folder
from autograder.sandbox import Limits, regular_files
from autograder.settings import UsageError, replacing
from autograder.tester import grade_id, kind

LOCK_PATIENCE = 90  # secondes d'attente quand un autre programme tient la base de notes


@dataclass(frozen=True)
class Mark:
    """Note d'une copie. `statut` vaut « note », « a_relire » (une personne doit regarder) ou « erreur » (pas de note)."""

    etudiant: str
    devoir: str
    note: float | None
    note_max: float
    statut: str
    motif: str = ""


@dataclass(frozen=True)
class Outcome:
    """Ce qu'un processus a fait d'une copie : réparations, incidents, ou la raison pour laquelle elle n'a pas de note."""

    student: str
    assignment: str
    reasons: list[str] = field(default_factory=list)
    fatal: str | None = None


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
        """Copies réparées, que nbgrader lit à la place des originales."""
        return self.work / "reparees"

    @property
    def results(self) -> Path:
        """Résultats d'exécution, un fichier par copie ; d'autres limites ou un autre isolement n'en reprennent aucun."""
        limits = self.limits
        name = f"{self.isolation}-{limits.cell_seconds:g}-{limits.notebook_seconds:g}-{limits.memory_mib}"
        return self.work / "resultats" / name

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


def declare(group: Class, assignments: Iterable[str]) -> dict[str, dict[str, NotebookNode]]:
    """Déclare les devoirs dans la base de notes et rend leurs versions étudiantes, calculées à part.

    Raises:
        UsageError: nbgrader refuse un devoir.
    """
    references = {}
    with TemporaryDirectory() as folder:
        course = Path(folder)
        for name in assignments:
            group.sources(name)
            shutil.copytree(group.course / "source" / name, course / "source" / name)
        for path in (group.course / "source").iterdir():
            if path.is_file():  # ce que nbgrader_config.py nomme (« source/header.ipynb »)
                shutil.copy(path, course / "source" / path.name)
        with nbgrader_api(course, settings=group.course) as api:
            for name in assignments:
                succeeded(api.generate_assignment(name, force=True, create=True), f"publier {name}")
                paths = (course / "release" / name).glob("*.ipynb")
                references[name] = {path.stem: nbformat.read(path, as_version=4) for path in paths}
    missing = [name for name in assignments if not _declared(group.course, name, references[name])]
    with nbgrader_api(group.course) as api:
        for name in missing:
            succeeded(api.generate_assignment(name, force=True, create=True), f"déclarer {name}")
    return references


def _declared(course: Path, assignment: str, notebooks: dict) -> bool:
    """Le devoir est-il dans la base, avec les mêmes cellules notées qu'aujourd'hui ?"""
    if not (course / "gradebook.db").exists():
        return False
    wait_for_gradebook(course / "gradebook.db")
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
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


def control(group: Class, references: dict[str, dict[str, NotebookNode]]) -> None:
    """Témoins d'un lot : le corrigé doit avoir tous les points et la copie vide aucun.

    C'est là qu'un test écrit d'une façon qui ne traverse pas le canal se voit, et non dans les notes des étudiants.

    Raises:
        UsageError: un témoin n'a pas la note qu'il doit avoir ; chaque test en cause est nommé.
    """
    for assignment, notebooks in references.items():
        for name, source in group.sources(assignment).items():
            folder = group.course / "source" / assignment
            for label, copy, expected in (("le corrigé", source, True), ("la copie vide", notebooks[name], False)):
                try:
                    result = correct(source, copy, folder, group.isolation, group.limits)
                except GradingFailure as error:
                    raise UsageError(f"Témoin de {assignment} : {label} n'a pas pu être noté ({error}).") from None
                tests = [(cell, result["tests"].get(grade_id(cell))) for cell in source.cells if kind(cell) == "test"]
                wrong = [
                    f"{grade_id(cell)} ({verdict['error']['message'] if verdict and verdict['error'] else 'réussi'})"
                    for cell, verdict in tests
                    if test_score(cell, verdict) != (cell.metadata.nbgrader.points if expected else 0)
                ]
                if wrong:
                    goal = "n'obtient pas tous les points" if expected else "obtient des points"
                    raise UsageError(
                        f"Témoin de {assignment} : {label} {goal} ; corrigez le devoir, ou passez --sans-temoins. "
                        f"Tests en cause : {' ; '.join(wrong)}."
                    )


def grade(group: Class, copies: list[tuple[str, str]], references: dict, processes: int) -> Iterator[Mark]:
    """Note les copies et rend chaque note dès qu'elle est dans la base ; une copie en erreur n'arrête pas les autres.

    Les exécutions se font dans `processes` processus ; la base n'est écrite que d'ici.
    """
    tasks = (delayed(execute)(group, student, assignment, references[assignment]) for student, assignment in copies)
    for outcome in Parallel(n_jobs=processes, return_as="generator_unordered")(tasks):
        yield record(group, outcome)


def execute(group: Class, student: str, assignment: str, references: dict[str, NotebookNode]) -> Outcome:
    """Répare et exécute une copie ; garde le résultat sur le disque, et ne refait pas ce qui y est déjà."""
    submitted, clean = group.copies / student / assignment, group.repaired / student / assignment
    shutil.rmtree(clean, ignore_errors=True)
    try:
        report = repair_folder(submitted, clean, references)
    except Exception as error:  # noqa: BLE001  (une copie imprévue ne doit jamais arrêter le lot ; elle est nommée)
        return Outcome(student, assignment, fatal=f"la copie n'a pas pu être lue ({type(error).__name__} : {error})")
    reasons = [*report.reasons, *report.refused]
    if report.fatal is not None:
        return Outcome(student, assignment, [reason for reason in reasons if reason not in report.fatal], report.fatal)
    for path, name in regular_files(group.course / "source" / assignment):
        # Comme nbgrader : les fichiers du devoir sont là, et tels que le devoir les donne.
        (clean / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, clean / name)
    for name, source in group.sources(assignment).items():
        path = clean / f"{name}.ipynb"
        if not path.exists():
            continue
        copy = nbformat.read(path, as_version=4)
        kept = result_path(group.results, student, assignment, name)
        mark = digest(source, copy, clean)
        result = kept_result(kept, mark)
        if result is None:
            try:
                result = correct(source, copy, clean, group.isolation, group.limits)
            except GradingFailure as error:
                return Outcome(student, assignment, reasons, str(error))
            except Exception as error:  # noqa: BLE001
                return Outcome(student, assignment, reasons, f"le correcteur a échoué ({type(error).__name__} : {error})")
            keep_result(result, kept, mark)
        reasons += result["incidents"]
    return Outcome(student, assignment, reasons)


def record(group: Class, outcome: Outcome) -> Mark:
    """Fait écrire par nbgrader la copie exécutée et rend sa note ; attend son tour si la base est prise."""
    student, assignment = outcome.student, outcome.assignment
    wait_for_gradebook(group.course / "gradebook.db")
    with Gradebook(f"sqlite:///{group.course / 'gradebook.db'}") as gradebook:
        maximum = gradebook.find_assignment(assignment).max_score
    if outcome.fatal is not None:
        return Mark(student, assignment, None, maximum, "erreur", " ; ".join([outcome.fatal, *outcome.reasons]))
    with nbgrader_api(group.course, submitted=group.repaired, results=group.results) as api:
        result = api.autograde(assignment, student, force=True, create=True)
        while not result["success"] and "database is locked" in log_of(result):
            # Un autre programme l'a prise entre-temps : ce n'est pas la faute de la copie.
            wait_for_gradebook(group.course / "gradebook.db")
            result = api.autograde(assignment, student, force=True, create=True)
    wait_for_gradebook(group.course / "gradebook.db")
    if not result["success"]:
        lines = (log_of(result) or "sans message").splitlines()
        return Mark(student, assignment, None, maximum, "erreur", f"nbgrader a refusé la copie : {lines[-1][:300]}")
    with Gradebook(f"sqlite:///{group.course / 'gradebook.db'}") as gradebook:
        submission = gradebook.find_submission(assignment, student)
        score = max(0.0, submission.score - submission.late_submission_penalty)
        waiting = submission.needs_manual_grade
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


def write_marks(marks: list[Mark], path: Path) -> None:
    """Écrit notes.csv, une ligne par copie ; une copie sans note garde une case vide, jamais un 0."""
    with replacing(path) as partial, partial.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [column.name for column in fields(Mark)], lineterminator="\n")
        writer.writeheader()
        for mark in sorted(marks, key=lambda mark: (mark.devoir, mark.etudiant)):
            note = "" if mark.note is None else f"{mark.note:g}"
            writer.writerow(asdict(mark) | {"note": note, "note_max": f"{mark.note_max:g}"})


def read_marks(path: Path) -> list[Mark]:
    """Lit un fichier de notes écrit par `write_marks` (ou les notes attendues de la classe de démonstration).

    Raises:
        UsageError: fichier absent, colonne manquante, note qui n'est pas un nombre, ou deux lignes pour une copie.
    """
    try:
        with path.open(encoding="utf-8", newline="") as file:
            marks = [
                Mark(
                    row["etudiant"], row["devoir"], float(row["note"]) if row["note"] else None,
                    float(row["note_max"]), row["statut"], row["motif"],
                )
                for row in csv.DictReader(file)
            ]  # fmt: skip
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise UsageError(
            f"Le fichier de notes {path.name} ne se lit pas ({error}) : reprenez-en la version d'origine (git restore)."
        ) from None
    seen = Counter((mark.etudiant, mark.devoir) for mark in marks)
    for (student, assignment), count in seen.items():
        if count > 1:
            raise UsageError(f"{path.name} : {count} lignes pour {student}, {assignment} ; n'en gardez qu'une.")
    return marks


def differences(marks: list[Mark], expected: list[Mark]) -> Iterator[str]:
    """Écarts entre les notes obtenues et attendues : une phrase par copie."""
    obtained = {(mark.etudiant, mark.devoir): mark for mark in marks}
    wanted = {(mark.etudiant, mark.devoir): mark for mark in expected}
    for key in sorted(obtained.keys() | wanted.keys()):
        name = f"{key[0]}, {key[1]}"
        if key not in obtained:
            yield f"{name} : copie attendue, jamais notée."
        elif key not in wanted:
            yield f"{name} : copie notée sans note attendue."
        elif (obtained[key].note, obtained[key].statut) != (wanted[key].note, wanted[key].statut):
            got, want = obtained[key], wanted[key]
            yield f"{name} : {_shown(got)} obtenu, {_shown(want)} attendu ({got.motif or want.motif})."


def _shown(mark: Mark) -> str:
    return f"{'aucune note' if mark.note is None else f'{mark.note:g}'}/{mark.note_max:g} [{mark.statut}]"
