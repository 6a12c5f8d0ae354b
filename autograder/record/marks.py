"""Les notes d'une classe : une ligne de notes.csv par copie."""

import csv
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from autograder.settings import UsageError, replacing


@dataclass(frozen=True)
class Mark:
    """Note d'une copie. `statut` vaut « note », « a_relire » (une personne doit regarder) ou « erreur » (pas de note)."""

    etudiant: str
    devoir: str
    note: float | None
    note_max: float
    statut: str
    motif: str = ""


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
            yield f"{name} : {shown(got)} obtenu, {shown(want)} attendu ({got.motif or want.motif})."


def shown(mark: Mark) -> str:
    """Note et statut, en bref : « 14/20 [note] »."""
    return f"{'aucune note' if mark.note is None else f'{mark.note:g}'}/{mark.note_max:g} [{mark.statut}]"
