"""Les CSV qui vont et viennent avec Moodle et les tableurs : la table des participants, et les notes.

Moodle tire un numéro de participant pour chaque devoir, et le relit dans la feuille de notes ; `submitted/participants.csv` le
garde donc par devoir.
"""

import csv
import math
import re
from collections.abc import Iterable
from dataclasses import astuple, dataclass, field, fields
from pathlib import Path

from autograder.grading import Mark
from autograder.settings import UsageError, replacing

TABLE = "participants.csv"
FORMATS = ("csv", "moodle")
STUDENT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")  # ce que l'enseignant peut écrire lui-même dans la table


@dataclass(frozen=True)
class Participant:
    """Une ligne de participants.csv : l'étudiant (identifiant nbgrader), le devoir, son numéro pour ce devoir, son nom."""

    etudiant: str
    devoir: str
    numero: int
    nom: str


@dataclass
class ExportReport:
    """Fichiers écrits ; `failures` nomme les copies sans note ou hors de la feuille, `remarks` ce qui est à savoir."""

    files: list[Path] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)


# --- Table des participants --------------------------------------------------------------------------------------------


def read_participants(path: Path) -> list[Participant]:
    """Lit la table des participants ; une table absente est vide.

    Raises:
        UsageError: la table ne se lit pas.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = [
                Participant(row["etudiant"], row["devoir"], int(row["numero"]), _restored(row["nom"]))
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
    _write_csv(path, header, ((*row[:3], _neutral(row[3])) for row in rows), ",", "utf-8")


# --- Notes -------------------------------------------------------------------------------------------------------------


def export_marks(marks: list[Mark], participants: list[Participant], path: Path, format: str = "csv") -> ExportReport:
    """Écrit les notes pour un tableur français ou pour Moodle ; une copie sans note garde une case vide, jamais un 0.

    `csv` : toutes les copies, point-virgule et virgule décimale (ce qu'ouvre un Excel français), UTF-8 avec BOM.
    `moodle` : la feuille que Moodle en français nomme « formulaire d'évaluation », un fichier par devoir ; s'il y en
    a plusieurs, le nom du devoir s'ajoute à celui du fichier. Moodle cherche les colonnes « Identifiant », « Note » et
    « Dernière modification (note) » par leur nom, et laisse en paix un étudiant dont la note est vide. La colonne
    « Feedback par commentaires » n'y est pas : vide, elle effacerait les commentaires déjà saisis.
    Source : `mod/assign/feedback/offline/importgradeslib.php` de Moodle.

    Raises:
        UsageError: format inconnu, aucune note, aucun numéro de participant pour Moodle, ou fichier impossible à écrire.
    """
    if format not in FORMATS:
        raise UsageError(f"Le format « {shown(format)} » n'existe pas : choisissez {' ou '.join(FORMATS)}.")
    if not marks:
        raise UsageError("Aucune note à exporter : lancez d'abord « cours noter ».")
    known = {(row.etudiant, row.devoir): row for row in participants}
    report = ExportReport(failures=_without_mark(marks, known))
    if format == "csv":
        _export_csv(marks, known, path, report)
    else:
        _export_moodle(marks, known, path, report)
    return report


def _without_mark(marks: list[Mark], known: dict[tuple[str, str], Participant]) -> list[str]:
    """Copies qui n'ont pas de note à exporter : en erreur, ou collectées et jamais notées."""
    failures = [
        f"{mark.etudiant}, {mark.devoir} : pas de note, {shown(mark.motif) or mark.statut}."
        for mark in marks
        if _number(mark.note) == ""
    ]
    marked, assignments = {(mark.etudiant, mark.devoir) for mark in marks}, {mark.devoir for mark in marks}
    return failures + [
        f"{student}, {assignment} : copie collectée, absente des notes ; lancez « cours noter »."
        for student, assignment in sorted(known.keys() - marked)
        if assignment in assignments
    ]


def _export_csv(marks: list[Mark], known: dict[tuple[str, str], Participant], path: Path, report: ExportReport) -> None:
    names = {row.etudiant: row.nom for row in known.values()}
    rows = []
    for mark in marks:
        row = known.get((mark.etudiant, mark.devoir))
        if row is None and known:
            report.remarks.append(f"{mark.etudiant}, {mark.devoir} : pas de numéro de participant, la case reste vide.")
        texts = [mark.etudiant, names.get(mark.etudiant, ""), mark.devoir]
        rows.append([
            *map(_neutral, texts), row.numero if row else "", _number(mark.note), _number(mark.note_max),
            _neutral(mark.statut), _neutral(mark.motif),
        ])  # fmt: skip
    header = ["etudiant", "nom", "devoir", "numero", "note", "note_max", "statut", "motif"]
    _write_csv(path, header, rows, ";", "utf-8-sig")
    report.files.append(path)


def _export_moodle(marks: list[Mark], known: dict[tuple[str, str], Participant], path: Path, report: ExportReport) -> None:
    sheets: dict[str, list[list]] = {}
    for mark in marks:
        row = known.get((mark.etudiant, mark.devoir))
        if row is None:
            report.failures.append(
                f"{mark.etudiant}, {mark.devoir} : pas de numéro de participant, absent de la feuille Moodle."
            )
            continue
        status = f"{mark.statut} : {mark.motif}" if mark.motif else mark.statut
        # Avec l'espace : Moodle retire de l'identifiant la longueur de son mot « Participant », suivi ou non d'une espace
        # selon la version ; sans elle, il pourrait manger un chiffre et noter un autre étudiant.
        # « - » : la date qu'écrit Moodle pour une copie jamais notée ; une note saisie depuis n'est pas écrasée.
        sheets.setdefault(mark.devoir, []).append([
            f"Participant {row.numero}", _neutral(row.nom), _neutral(status),
            _number(mark.note), _number(mark.note_max), "-",
        ])  # fmt: skip
    if not sheets:
        raise UsageError(
            "Aucune note n'a de numéro de participant Moodle : collectez l'archive du devoir avec « cours collecter », "
            "ou choisissez --format csv."
        )
    header = ["Identifiant", "Nom complet", "Statut", "Note", "Note maximale", "Dernière modification (note)"]
    for assignment, rows in sorted(sheets.items()):
        target = path if len(sheets) == 1 else path.with_stem(f"{path.stem}_{assignment}")
        _write_csv(target, header, rows, ",", "utf-8-sig")
        report.files.append(target)
        maxima = sorted({row[4] for row in rows})
        report.remarks.append(
            f"{target.name} : la note maximale du devoir Moodle doit être {' ou '.join(maxima)}, Moodle ne convertit pas. "
            "Dans le devoir : « Déposer un formulaire d'évaluation » ; Moodle garde les notes déjà saisies, sauf si "
            "l'option « Autorise la modification de données modifiées plus récemment » est cochée."
        )


# --- Cases et fichiers -------------------------------------------------------------------------------------------------


def _number(value: float | None) -> str:
    """Note avec virgule décimale, à cinq décimales comme Moodle les garde ; vide s'il n'y en a pas."""
    if value is None or not math.isfinite(value):
        return ""
    text = f"{value:.5f}"
    return text.rstrip("0").rstrip(".").replace(".", ",")


def _neutral(text: str) -> str:
    """Texte sur une ligne, qu'un tableur ne prend pas pour une formule : une apostrophe le précède s'il le faut."""
    text = " ".join(text.split())
    return f"'{text}" if _formula(text) else text


def _restored(text: str) -> str:
    """Inverse de `_neutral`."""
    return text[1:] if text.startswith("'") and _formula(text[1:]) else text


def _formula(text: str) -> bool:
    return text.lstrip("'").startswith(("=", "+", "-", "@", "＝", "＋", "－", "＠"))


def _write_csv(path: Path, header: list[str], rows: Iterable, delimiter: str, encoding: str) -> None:
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


def shown(text: str) -> str:
    """Texte venu de l'extérieur, sans caractère qui commande le terminal, et pas trop long."""
    shown = "".join(c if c.isprintable() else " " if c.isspace() and c not in "\r\n" else repr(c)[1:-1] for c in text)
    return shown if len(shown) <= 160 else f"{shown[:100]}…{shown[-50:]}"
