"""Va-et-vient avec Moodle : collecte l'archive d'un devoir dans submitted/, et rend les notes en CSV.

Une archive de devoir Moodle (« Télécharger tous les travaux remis ») nomme chaque fichier, en dossiers ou à plat :

    Prénom Nom_12345_assignsubmission_file_/ex01.ipynb
    Prénom Nom_12345_assignsubmission_file_ex01.ipynb

12345 est le numéro de participant : Moodle le tire pour chaque devoir, et le relit dans la feuille de notes. La table
`submitted/participants.csv` le garde donc par devoir.

Les fichiers viennent d'étudiants : aucun nom, aucune taille annoncée n'est cru, et rien n'est écrit hors de submitted/.
"""

import csv
import errno
import filecmp
import math
import os
import re
import shutil
import stat
import struct
import unicodedata
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import astuple, dataclass, field, fields
from functools import cache
from pathlib import Path

from autograder.grading import Mark
from autograder.settings import UsageError

TABLE = "participants.csv"
FORMATS = ("csv", "moodle")

# Le nom est lu jusqu'au premier numéro : un fichier d'étudiant qui imite ce motif ne change pas de propriétaire.
ENTRY = re.compile(r"(?P<name>.*?)_(?P<number>[0-9]{1,18})_assignsubmission_(?P<kind>[a-z]+)(?:_(?P<file>.*))?", re.DOTALL)
ASSIGNMENT = re.compile(r"[A-Za-z0-9_-]+")  # nbgrader refuse « + » ; les autres caractères gênent ses motifs de fichiers
STUDENT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")  # ce que l'enseignant peut écrire lui-même dans la table
DRIVE = re.compile(r"[A-Za-z]:")
SYSTEM_FILES = {"__MACOSX", ".DS_Store", "Thumbs.db", "desktop.ini"}
ANONYMOUS = "participant"  # nom que Moodle donne à tous quand l'évaluation est anonyme
LETTERS = str.maketrans({"œ": "oe", "æ": "ae", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i"})

MEGABYTE = 1024 * 1024
CHUNK = 64 * 1024


@dataclass(frozen=True)
class Limits:
    """Plafonds de la collecte, en octets décompressés réellement lus ; `entries` et `files` comptent des fichiers.

    Un notebook honnête qui répète sa sortie se comprime beaucoup : le rapport ne compte qu'au-delà de `ratio_from`.
    """

    file: int = 100 * MEGABYTE
    copy: int = 200 * MEGABYTE
    total: int = 4096 * MEGABYTE
    files: int = 1000
    entries: int = 50_000
    ratio: int = 100
    ratio_from: int = 16 * MEGABYTE


@dataclass(frozen=True)
class Participant:
    """Une ligne de participants.csv : l'étudiant (identifiant nbgrader), le devoir, son numéro pour ce devoir, son nom."""

    etudiant: str
    devoir: str
    numero: int
    nom: str


@dataclass
class CollectReport:
    """Ce que la collecte a fait. `refused` (fautes) et `ignored`, `remarks` (à savoir) : une phrase par entrée ou copie."""

    collected: list[str] = field(default_factory=list)
    replaced: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return (
            f"{len(self.collected)} copie(s) collectée(s), {len(self.replaced)} remplacée(s), {len(self.unchanged)} "
            f"inchangée(s) ; {len(self.refused)} refus, {len(self.ignored)} entrée(s) ignorée(s)."
        )


@dataclass
class ExportReport:
    """Fichiers écrits ; `failures` nomme les copies sans note ou hors de la feuille, `remarks` ce qui est à savoir."""

    files: list[Path] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)


class _Refusal(Exception):
    """Une entrée de l'archive est refusée ; le message dit pourquoi."""


@dataclass
class _Budget:
    """Octets décompressés jusqu'ici, refus compris : pour toute l'archive et pour la copie en cours."""

    limits: Limits
    total: int = 0
    copy: int = 0

    def check(self, size: int, compressed: int) -> None:
        """Refuse un fichier dont `size` octets sont annoncés ou déjà lus."""
        room = min(self.limits.file, self.limits.copy - self.copy, self.limits.total - self.total)
        if size > room:
            raise _Refusal(f"trop gros : dépasse les {max(room, 0) / MEGABYTE:.0f} Mo encore admis")
        if size > self.limits.ratio_from and size > self.limits.ratio * compressed:
            raise _Refusal(f"bombe de décompression : plus de {self.limits.ratio} fois sa taille comprimée")


@dataclass
class _Copy:
    name: str
    number: int
    entries: list[tuple[str, tuple[str, ...], zipfile.ZipInfo]] = field(default_factory=list)


# --- Collecte -------------------------------------------------------------------------------------------------------


def student_id(name: str, number: int) -> str:
    """Identifiant nbgrader d'un étudiant : nom lisible en minuscules ASCII, puis numéro, « helene-l-ecuyer_12345 ».

    nbgrader met l'identifiant dans des motifs de fichiers, des listes à virgules et des adresses : seuls a-z, 0-9, « - » et
    « _ » y sont sans danger. Le seul « _ » précède le numéro, qui rend l'identifiant unique et se relit.
    """
    letters = unicodedata.normalize("NFKD", name.casefold().translate(LETTERS))
    slug = re.sub(r"[^a-z0-9]+", "-", "".join(c for c in letters if not unicodedata.combining(c))).strip("-")
    return f"{slug[:60].strip('-') or ANONYMOUS}_{number}"


def collect(archive: Path, assignment: str, submitted: Path, limits: Limits = Limits()) -> CollectReport:
    """Range l'archive d'un devoir Moodle dans `submitted/<étudiant>/<devoir>/` et tient `submitted/participants.csv`.

    Une entrée refusée est nommée et n'arrête pas les autres. Chaque copie est préparée à part puis mise en place d'un
    coup ; une copie déjà collectée n'est remplacée que par une copie qui contient un notebook, et c'est dit.

    Raises:
        UsageError: devoir impropre ou inconnu ; archive absente, illisible, démesurée ou étrangère à un devoir Moodle.
    """
    if not ASSIGNMENT.fullmatch(assignment):
        raise UsageError(
            f"« {_shown(assignment)} » n'est pas un nom de devoir : donnez celui d'un dossier de source/, "
            "par exemple ex01_bleu2."
        )
    source = submitted.resolve().parent / "source"
    if source.is_dir() and not (source / assignment).is_dir():
        names = ", ".join(sorted(path.name for path in source.iterdir() if path.is_dir()))
        raise UsageError(f"Le devoir {assignment} n'existe pas dans source/ : choisissez parmi {names}.")
    report = CollectReport()
    with _opened(archive) as file:
        if len(file.infolist()) > limits.entries:
            raise UsageError(
                f"L'archive {archive.name} a plus de {limits.entries} entrées : vérifiez que c'est celle "
                "d'un seul devoir Moodle."
            )
        copies = _sorted_copies(file, report)
        if not copies:
            raise UsageError(
                f"L'archive {archive.name} ne contient aucun travail remis de Moodle : dans le devoir, choisissez "
                "« Télécharger tous les travaux remis » et donnez ce fichier tel quel."
            )
        participants = {(row.devoir, row.numero): row for row in read_participants(submitted / TABLE)}
        names = Counter(_key(copy.name) for copy in copies)
        budget = _Budget(limits)
        with _workshop(submitted) as workshop:
            students = []
            for copy in copies:
                students.append(_identify(copy, assignment, participants.values(), names, report))
                participants[assignment, copy.number] = Participant(students[-1], assignment, copy.number, copy.name)
                _extract(file, copy, workshop / students[-1], budget, report)
            # La table d'abord : une copie en place a toujours son numéro, même si la collecte est tuée ici.
            _write_participants(participants.values(), submitted / TABLE)
            for student in students:
                _install(workshop / student, submitted / student / assignment, workshop / ".ancienne", student, report)
    return report


@contextmanager
def _opened(archive: Path) -> Iterator[zipfile.ZipFile]:
    """Ouvre l'archive, ou dit pourquoi elle ne s'ouvre pas."""
    try:
        file = zipfile.ZipFile(archive)
    except FileNotFoundError:
        raise UsageError(f"L'archive {archive} n'existe pas : vérifiez son chemin.") from None
    except (zipfile.BadZipFile, NotImplementedError, ValueError, struct.error, OSError) as error:
        raise UsageError(
            f"{archive.name} n'est pas une archive ZIP lisible, ou elle est tronquée ({_shown(str(error))}) : "
            "téléchargez-la de nouveau depuis Moodle."
        ) from None
    with file:
        yield file


@contextmanager
def _workshop(submitted: Path) -> Iterator[Path]:
    """Dossier de travail, sur le même disque que submitted/ ; celui d'une collecte interrompue est effacé."""
    workshop = submitted / ".collecte"
    try:
        submitted.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(workshop, ignore_errors=True)
        workshop.mkdir()
    except OSError as error:
        raise UsageError(
            f"Le dossier {submitted} ne peut pas être écrit ({error.strerror}) : choisissez-en un autre avec --vers."
        ) from None
    try:
        yield workshop
    finally:
        shutil.rmtree(workshop, ignore_errors=True)


def _sorted_copies(file: zipfile.ZipFile, report: CollectReport) -> list[_Copy]:
    """Trie les entrées par participant ; celles qui sont dangereuses ou étrangères sont nommées dans le rapport."""
    copies: dict[int, _Copy] = {}
    repaired = set()
    for info in file.infolist():
        name, mended = _entry_name(info)
        parts = name.split("/")
        if SYSTEM_FILES.intersection(parts):
            continue
        match, rest = _owner(parts)
        if match and match["kind"] != "file":
            report.ignored.append(f"{_shown(name)} : « {match['kind']} » n'est pas un fichier remis.")
            continue
        try:
            if match:
                owner = _normal(match["name"])
                copy = copies.setdefault(int(match["number"]), _Copy(owner, int(match["number"])))
                if _key(copy.name) != _key(owner):
                    raise _Refusal(f"le numéro {copy.number} est déjà celui de {_shown(copy.name)}")
                if mended and copy.number not in repaired:
                    repaired.add(copy.number)
                    report.remarks.append(f"{_shown(copy.name)} ({copy.number}) : nom codé sans UTF-8, {mended}.")
            _check_name(parts)
            _check_kind(info)
            if name.endswith("/"):
                continue
            if not match:
                report.ignored.append(f"{_shown(name)} : ce nom n'est pas celui d'un travail remis sur Moodle.")
                continue
            copy.entries.append((name, _check_path(rest), info))
        except _Refusal as refusal:
            report.refused.append(f"{_shown(name)} : {refusal}.")
    return sorted(copies.values(), key=lambda copy: copy.number)


def _entry_name(info: zipfile.ZipInfo) -> tuple[str, str | None]:
    """Nom complet d'une entrée et, s'il est codé sans UTF-8 et sort de l'ASCII, ce que nous en avons fait."""
    name = info.orig_filename  # `filename` est coupé au premier octet nul
    if info.flag_bits & 0x800 or name.isascii():
        return name, None
    try:  # zipfile a lu ces octets en cp437 ; des outils y écrivent de l'UTF-8 sans l'annoncer
        return name.encode("cp437").decode("utf-8"), "lu comme de l'UTF-8"
    except UnicodeError:
        return name, "gardé tel quel : vérifiez ses accents"


def _owner(parts: list[str]) -> tuple[re.Match | None, list[str]]:
    """Dossier ou préfixe Moodle d'une entrée, et ce qui reste du chemin ; un dossier ajouté autour est accepté."""
    for position, part in enumerate(parts):
        if part in ("", ".", ".."):
            break
        if match := ENTRY.fullmatch(part):
            return match, ([match["file"]] if match["file"] else []) + parts[position + 1 :]
    return None, []


def _check_name(parts: list[str]) -> None:
    """Refuse un chemin qui sort du dossier, ou qui en sortirait sous un autre système."""
    if parts[0] == "" or DRIVE.match(parts[0]):
        raise _Refusal("chemin absolu")
    if ".." in parts:
        raise _Refusal("le chemin remonte hors de la copie (« .. »)")
    if any("\\" in part for part in parts):
        raise _Refusal("barre oblique inverse dans le nom")
    if any(unicodedata.category(character) in ("Cc", "Cs") for part in parts for character in part):
        raise _Refusal("caractère de contrôle dans le nom")


def _check_kind(info: zipfile.ZipInfo) -> None:
    """Refuse ce qui n'est pas un fichier ordinaire que nous savons lire sans risque."""
    mode = stat.S_IFMT(info.external_attr >> 16)
    if stat.S_ISLNK(mode):
        raise _Refusal("lien symbolique")
    if mode not in (0, stat.S_IFREG) and not (mode == stat.S_IFDIR and info.orig_filename.endswith("/")):
        raise _Refusal("fichier spécial")
    if info.flag_bits & 0x41:
        raise _Refusal("entrée chiffrée, illisible sans mot de passe")
    # bzip2 et lzma se décompressent d'un bloc, sans plafond possible ; Moodle n'écrit que deflate.
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise _Refusal("méthode de compression non admise (seulement deflate ou aucune)")


def _check_path(parts: list[str]) -> tuple[str, ...]:
    """Chemin d'un fichier dans sa copie, en NFC ; les contrôles de `_check_name` valent aussi sans le préfixe Moodle."""
    parts = [unicodedata.normalize("NFC", part) for part in parts]
    if not parts or any(part.strip() in ("", ".", "..") for part in parts):
        raise _Refusal("nom de fichier vide ou « .. »")
    if any(DRIVE.match(part) for part in parts):
        raise _Refusal("lettre de lecteur dans le nom")
    if any(len(part.encode()) > 255 for part in parts) or len("/".join(parts).encode()) > 1024:
        raise _Refusal("nom de fichier trop long")
    return tuple(parts)


def _identify(
    copy: _Copy, assignment: str, known: Iterable[Participant], names: Counter, report: CollectReport
) -> str:
    """Identifiant de l'auteur d'une copie : celui de ce numéro s'il est connu, sinon celui du même nom dans un autre devoir.

    Le nom ne suffit que s'il désigne une seule personne, dans cette archive comme dans la table : deux homonymes gardent
    chacun son identifiant.
    """
    same_name, taken = set(), set()
    for row in known:
        if (row.devoir, row.numero) == (assignment, copy.number):
            return row.etudiant
        if row.devoir == assignment:
            taken.add(row.etudiant)
        if _key(row.nom) == _key(copy.name):
            same_name.add(row.etudiant)
    own = student_id(copy.name, copy.number)
    certain = names[_key(copy.name)] == 1 and not _key(copy.name).endswith(ANONYMOUS)
    if certain and len(same_name) == 1 and own not in same_name and not same_name & taken:
        student = same_name.pop()
        report.remarks.append(f"{student} : reconnu par son nom, avec le numéro {copy.number} pour {assignment}.")
        return student
    while own in taken:  # un même numéro dans deux devoirs, pour deux homonymes : Moodle ne le fait pas
        own += "-bis"
    return own


def _extract(file: zipfile.ZipFile, copy: _Copy, folder: Path, budget: _Budget, report: CollectReport) -> None:
    """Décompresse les fichiers d'une copie dans `folder`, créé ici ; un fichier refusé n'y laisse rien."""
    folder.mkdir()
    budget.copy = 0
    limit = budget.limits.files
    if len(copy.entries) > limit:
        report.refused.append(
            f"{_shown(copy.name)} ({copy.number}) : {len(copy.entries)} fichiers dans la copie, plus que {limit}."
        )
        return
    for name, path, info in copy.entries:
        try:
            _write_entry(file, info, folder.joinpath(*path), budget)
        except _Refusal as refusal:
            report.refused.append(f"{_shown(name)} : {refusal}.")
        except (FileExistsError, NotADirectoryError):
            report.refused.append(f"{_shown(name)} : ce nom figure deux fois dans la copie ; le premier fichier est gardé.")
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise UsageError("Le disque est plein : libérez de la place et relancez la même commande.") from None
            report.refused.append(f"{_shown(name)} : n'a pas pu être extrait ({error.strerror}).")


def _write_entry(file: zipfile.ZipFile, info: zipfile.ZipInfo, target: Path, budget: _Budget) -> None:
    """Décompresse une entrée par morceaux et s'arrête au premier octet de trop."""
    # La taille annoncée ne sert qu'à refuser plus tôt ; si elle ment, la taille réelle décide.
    budget.check(info.file_size, info.compress_size)
    target.parent.mkdir(parents=True, exist_ok=True)
    sink = target.open("xb")  # jamais par-dessus un fichier de la même copie
    size, complete = 0, False
    try:
        with sink, file.open(info) as source:
            while chunk := source.read(CHUNK):
                size += len(chunk)
                budget.check(size, info.compress_size)
                sink.write(chunk)
        complete = True
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError, struct.error) as error:
        raise _Refusal(f"entrée abîmée ({_shown(str(error))})") from None
    finally:
        budget.copy += size
        budget.total += size
        if not complete:
            target.unlink()


def _install(new: Path, target: Path, old: Path, student: str, report: CollectReport) -> None:
    """Met une copie prête à sa place d'un seul renommage, et dit si elle en remplace une autre."""
    has_notebook = any(new.glob("*.ipynb"))
    try:
        if not target.exists():
            target.parent.mkdir(exist_ok=True)
            new.rename(target)
            report.collected.append(student)
        elif _same_files(new, target):
            report.unchanged.append(student)
            return
        elif not has_notebook and any(target.glob("*.ipynb")):
            report.refused.append(f"{student} : la nouvelle copie n'a pas de notebook ; la copie déjà collectée est gardée.")
            return
        else:
            target.rename(old)
            try:
                new.rename(target)
            except OSError:
                old.rename(target)
                raise
            shutil.rmtree(old)
            report.replaced.append(student)
    except OSError as error:
        report.refused.append(f"{student} : la copie ne peut pas être mise en place ({error.strerror}).")
        return
    if not has_notebook:
        report.remarks.append(f"{student} : pas de notebook (.ipynb) à la racine de la copie.")


def _same_files(first: Path, second: Path) -> bool:
    names, others = (
        sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir())
        for folder in (first, second)
    )
    return names == others and len(filecmp.cmpfiles(first, second, names, shallow=False)[0]) == len(names)


# --- Table des participants -----------------------------------------------------------------------------------------


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
                raise ValueError(f"identifiant impropre : {_shown(row.etudiant)}")
        if len({(row.etudiant, row.devoir) for row in rows}) < len(rows):
            raise ValueError("deux numéros pour un même étudiant et un même devoir")
        return rows
    except FileNotFoundError:
        return []
    except (OSError, KeyError, TypeError, ValueError, csv.Error) as error:
        raise UsageError(
            f"La table {path} ne se lit pas ({error}) : effacez-la, puis collectez de nouveau les archives."
        ) from None


def _write_participants(participants: Iterable[Participant], path: Path) -> None:
    header = [column.name for column in fields(Participant)]
    rows = sorted(astuple(row) for row in participants)
    _write_csv(path, header, ((*row[:3], _neutral(row[3])) for row in rows), ",", "utf-8")


# --- Export des notes -----------------------------------------------------------------------------------------------


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
        raise UsageError(f"Le format « {_shown(format)} » n'existe pas : choisissez {' ou '.join(FORMATS)}.")
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
        f"{mark.etudiant}, {mark.devoir} : pas de note, {_shown(mark.motif) or mark.statut}."
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
    partial = path.with_name(f"{path.name}.partiel")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with partial.open("w", encoding=encoding, newline="") as file:
            writer = csv.writer(file, delimiter=delimiter)
            writer.writerow(header)
            writer.writerows(rows)
        os.replace(partial, path)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise UsageError(
            f"{path} ne peut pas être écrit ({error.strerror}) : fermez-le s'il est ouvert, ou donnez un autre chemin."
        ) from None


# --- Textes ---------------------------------------------------------------------------------------------------------


def _normal(name: str) -> str:
    """Nom en NFC, sans caractère de contrôle, les espaces ramenées à une."""
    kept = "".join(character for character in name if unicodedata.category(character) not in ("Cc", "Cs"))
    return " ".join(unicodedata.normalize("NFC", kept).split())


@cache
def _key(name: str) -> str:
    return _normal(name).casefold()


def _shown(text: str) -> str:
    """Texte venu de l'archive, sans caractère qui commande le terminal, et pas trop long."""
    shown = "".join(c if c.isprintable() else " " if c.isspace() and c not in "\r\n" else repr(c)[1:-1] for c in text)
    return shown if len(shown) <= 160 else f"{shown[:100]}…{shown[-50:]}"
