"""Note une classe avec nbgrader et rend les notes ; la base et les dossiers restent ceux de nbgrader."""

import csv
import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from nbgrader.api import Gradebook, MissingEntry

from autograder.publish import nbgrader_api, succeeded
from autograder.settings import SOURCE, UsageError


@dataclass(frozen=True)
class Mark:
    """Note d'une copie. `statut` vaut « note », « a_relire » (une personne doit regarder) ou « erreur » (pas de note)."""

    etudiant: str
    devoir: str
    note: float | None
    note_max: float
    statut: str
    motif: str = ""


def prepare(course: Path, assignments: list[str]) -> None:
    """Installe un cours nbgrader neuf dans `course` : devoirs sources, version étudiante, base vide.

    Raises:
        UsageError: nbgrader refuse un devoir.
    """
    shutil.rmtree(course, ignore_errors=True)
    for name in assignments:
        shutil.copytree(SOURCE / name, course / "source" / name)
    with nbgrader_api(course) as api:
        for name in assignments:
            succeeded(api.generate_assignment(name, force=True, create=True), f"publier {name}")


def submitted(course: Path) -> list[tuple[str, str]]:
    """Copies rendues, (étudiant, devoir), d'après le dossier submitted/ de nbgrader."""
    return sorted((path.parent.name, path.name) for path in (course / "submitted").glob("*/*") if path.is_dir())


def grade(course: Path, copies: list[tuple[str, str]]) -> Iterator[Mark]:
    """Note les copies l'une après l'autre ; une copie en erreur n'arrête pas les suivantes."""
    with nbgrader_api(course) as api:
        for student, assignment in copies:
            result = api.autograde(assignment, student, force=True, create=True)
            yield _mark(course, student, assignment, result)


def _mark(course: Path, student: str, assignment: str, result: dict) -> Mark:
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        maximum = gradebook.find_assignment(assignment).max_score
        if not result["success"]:
            lines = (result.get("log") or result.get("error") or "").strip().splitlines()
            return Mark(student, assignment, None, maximum, "erreur", lines[-1] if lines else "nbgrader a échoué sans message")
        try:
            submission = gradebook.find_submission(assignment, student)
        except MissingEntry:
            return Mark(student, assignment, None, maximum, "erreur", "nbgrader n'a trouvé aucun notebook à noter")
        if submission.needs_manual_grade:
            return Mark(student, assignment, submission.score, maximum, "a_relire", "une cellule attend une note à la main")
        return Mark(student, assignment, submission.score, maximum, "note")


def write_marks(marks: list[Mark], path: Path) -> None:
    """Écrit notes.csv, une ligne par copie ; une copie sans note garde une case vide, jamais un 0."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(Mark)], lineterminator="\n")
        writer.writeheader()
        writer.writerows(asdict(mark) | {"note": "" if mark.note is None else f"{mark.note:g}", "note_max": f"{mark.note_max:g}"} for mark in marks)


def read_marks(path: Path) -> list[Mark]:
    """Lit un fichier de notes écrit par `write_marks` (ou les notes attendues de la classe de démonstration).

    Raises:
        UsageError: fichier absent, colonne manquante ou note qui n'est pas un nombre.
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
        raise UsageError(f"Le fichier de notes {path.name} ne se lit pas ({error}) : reprenez-en la version d'origine (git restore).") from None
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
