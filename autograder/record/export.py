"""Les notes pour un tableur ou pour Moodle."""

import math
from dataclasses import dataclass, field
from pathlib import Path

from autograder.intake.participants import Participant, neutral, shown, write_csv
from autograder.record.marks import Mark
from autograder.settings import UsageError

FORMATS = ("csv", "moodle")


@dataclass
class ExportReport:
    """Fichiers écrits ; `failures` nomme les copies sans note ou hors de la feuille, `remarks` ce qui est à savoir."""

    files: list[Path] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)


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
            *map(neutral, texts), row.numero if row else "", _number(mark.note), _number(mark.note_max),
            neutral(mark.statut), neutral(mark.motif),
        ])  # fmt: skip
    header = ["etudiant", "nom", "devoir", "numero", "note", "note_max", "statut", "motif"]
    write_csv(path, header, rows, ";", "utf-8-sig")
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
            f"Participant {row.numero}", neutral(row.nom), neutral(status),
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
        write_csv(target, header, rows, ",", "utf-8-sig")
        report.files.append(target)
        maxima = sorted({row[4] for row in rows})
        report.remarks.append(
            f"{target.name} : la note maximale du devoir Moodle doit être {' ou '.join(maxima)}, Moodle ne convertit pas. "
            "Dans le devoir : « Déposer un formulaire d'évaluation » ; Moodle garde les notes déjà saisies, sauf si "
            "l'option « Autorise la modification de données modifiées plus récemment » est cochée."
        )


def _number(value: float | None) -> str:
    """Note avec virgule décimale, à cinq décimales comme Moodle les garde ; vide s'il n'y en a pas."""
    if value is None or not math.isfinite(value):
        return ""
    text = f"{value:.5f}"
    return text.rstrip("0").rstrip(".").replace(".", ",")
