"""La table des participants, `submitted/participants.csv`, et ce qu'un CSV que lira un tableur peut contenir.

Moodle tire un numéro de participant pour chaque devoir, et le relit dans la feuille de notes ; la table le garde donc par devoir.
"""

import csv
import re
from collections.abc import Iterable
from dataclasses import astuple, dataclass, fields
from pathlib import Path

from autograder.settings import UsageError, replacing

TABLE = "participants.csv"
STUDENT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")  # ce que l'enseignant peut écrire lui-même dans la table


@dataclass(frozen=True)
class Participant:
    """Une ligne de participants.csv : l'étudiant (identifiant nbgrader), le devoir, son numéro pour ce devoir, son nom."""

    etudiant: str
    devoir: str
    numero: int
    nom: str


def read_participants(path: Path) -> list[Participant]:
    """Lit la table des participants ; une table absente est vide.

    Raises:
        UsageError: la table ne se lit pas.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = [
                Participant(row["etudiant"], row["devoir"], int(row["numero"]), restored(row["nom"]))
                for row in csv.DictReader(file)
            ]
        for row in rows:
            if not STUDENT.fullmatch(row.etudiant):
                raise ValueError(f"identifiant impropre : {shown(row.etudiant)}")
        if len({(row.etudiant, row.devoir) for row in rows}) < len(rows):
            raise ValueError("deux numéros pour un même étudiant et un même devoir")
        return rows
    except FileNotFoundError:
        return []
    except (OSError, KeyError, TypeError, ValueError, csv.Error) as error:
        raise UsageError(
            f"La table {path} ne se lit pas ({error}) : effacez-la, puis collectez de nouveau les archives."
        ) from None


def write_participants(participants: Iterable[Participant], path: Path) -> None:
    """Écrit la table des participants, triée.

    Raises:
        UsageError: la table ne s'écrit pas.
    """
    header = [column.name for column in fields(Participant)]
    rows = sorted(astuple(row) for row in participants)
    write_csv(path, header, ((*row[:3], neutral(row[3])) for row in rows), ",", "utf-8")


def write_csv(path: Path, header: list[str], rows: Iterable, delimiter: str, encoding: str) -> None:
    """Écrit un CSV à côté puis le met en place : une lecture ne voit jamais un fichier à demi écrit."""
    try:
        with replacing(path) as partial, partial.open("w", encoding=encoding, newline="") as file:
            writer = csv.writer(file, delimiter=delimiter)
            writer.writerow(header)
            writer.writerows(rows)
    except OSError as error:
        raise UsageError(
            f"{path} ne peut pas être écrit ({error.strerror}) : fermez-le s'il est ouvert, ou donnez un autre chemin."
        ) from None


def neutral(text: str) -> str:
    """Texte sur une ligne, qu'un tableur ne prend pas pour une formule : une apostrophe le précède s'il le faut."""
    text = " ".join(text.split())
    return f"'{text}" if _formula(text) else text


def restored(text: str) -> str:
    """Inverse de `neutral`."""
    return text[1:] if text.startswith("'") and _formula(text[1:]) else text


def _formula(text: str) -> bool:
    return text.lstrip("'").startswith(("=", "+", "-", "@", "＝", "＋", "－", "＠"))


def shown(text: str) -> str:
    """Texte venu de l'extérieur, sans caractère qui commande le terminal, et pas trop long."""
    shown = "".join(c if c.isprintable() else " " if c.isspace() and c not in "\r\n" else repr(c)[1:-1] for c in text)
    return shown if len(shown) <= 160 else f"{shown[:100]}…{shown[-50:]}"
