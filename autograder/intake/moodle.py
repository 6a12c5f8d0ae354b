"""Collecte l'archive d'un devoir Moodle dans submitted/.

Une archive de devoir Moodle (« Télécharger tous les travaux remis ») nomme chaque fichier, en dossiers ou à plat :

    Prénom Nom_12345_assignsubmission_file_/ex01.ipynb
    Prénom Nom_12345_assignsubmission_file_ex01.ipynb

12345 est le numéro de participant, que `autograder.export` rend à Moodle avec la note.

Les fichiers viennent d'étudiants : aucun nom, aucune taille annoncée n'est cru, et rien n'est écrit hors de submitted/.
"""

import errno
import filecmp
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
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from autograder.intake.participants import TABLE, Participant, read_participants, shown, write_participants
from autograder.settings import MIB, UsageError

# Le nom est lu jusqu'au premier numéro : un fichier d'étudiant qui imite ce motif ne change pas de propriétaire.
ENTRY = re.compile(r"(?P<name>.*?)_(?P<number>[0-9]{1,18})_assignsubmission_(?P<kind>[a-z]+)(?:_(?P<file>.*))?", re.DOTALL)
ASSIGNMENT = re.compile(r"[A-Za-z0-9_-]+")  # nbgrader refuse « + » ; les autres caractères gênent ses motifs de fichiers
DRIVE = re.compile(r"[A-Za-z]:")
SYSTEM_FILES = {"__MACOSX", ".DS_Store", "Thumbs.db", "desktop.ini"}
ANONYMOUS = "participant"  # nom que Moodle donne à tous quand l'évaluation est anonyme
LETTERS = str.maketrans({"œ": "oe", "æ": "ae", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i"})

CHUNK = 64 * 1024


@dataclass(frozen=True)
class Limits:
    """Plafonds de la collecte, en octets décompressés réellement lus ; `entries` et `files` comptent des fichiers.

    Un notebook honnête qui répète sa sortie se comprime beaucoup : le rapport ne compte qu'au-delà de `ratio_from`.
    """

    file: int = 100 * MIB
    copy: int = 200 * MIB
    total: int = 4096 * MIB
    files: int = 1000
    entries: int = 50_000
    ratio: int = 100
    ratio_from: int = 16 * MIB


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
            raise _Refusal(f"trop gros : dépasse les {max(room, 0) / MIB:.0f} Mo encore admis")
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
            f"« {shown(assignment)} » n'est pas un nom de devoir : donnez celui d'un dossier de source/, "
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
            write_participants(participants.values(), submitted / TABLE)
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
            f"{archive.name} n'est pas une archive ZIP lisible, ou elle est tronquée ({shown(str(error))}) : "
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
            report.ignored.append(f"{shown(name)} : « {match['kind']} » n'est pas un fichier remis.")
            continue
        try:
            if match:
                owner = _normal(match["name"])
                copy = copies.setdefault(int(match["number"]), _Copy(owner, int(match["number"])))
                if _key(copy.name) != _key(owner):
                    raise _Refusal(f"le numéro {copy.number} est déjà celui de {shown(copy.name)}")
                if mended and copy.number not in repaired:
                    repaired.add(copy.number)
                    report.remarks.append(f"{shown(copy.name)} ({copy.number}) : nom codé sans UTF-8, {mended}.")
            _check_name(parts)
            _check_kind(info)
            if name.endswith("/"):
                continue
            if not match:
                report.ignored.append(f"{shown(name)} : ce nom n'est pas celui d'un travail remis sur Moodle.")
                continue
            copy.entries.append((name, _check_path(rest), info))
        except _Refusal as refusal:
            report.refused.append(f"{shown(name)} : {refusal}.")
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
            f"{shown(copy.name)} ({copy.number}) : {len(copy.entries)} fichiers dans la copie, plus que {limit}."
        )
        return
    for name, path, info in copy.entries:
        try:
            _write_entry(file, info, folder.joinpath(*path), budget)
        except _Refusal as refusal:
            report.refused.append(f"{shown(name)} : {refusal}.")
        except (FileExistsError, NotADirectoryError):
            report.refused.append(f"{shown(name)} : ce nom figure deux fois dans la copie ; le premier fichier est gardé.")
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise UsageError("Le disque est plein : libérez de la place et relancez la même commande.") from None
            report.refused.append(f"{shown(name)} : n'a pas pu être extrait ({error.strerror}).")


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
        raise _Refusal(f"entrée abîmée ({shown(str(error))})") from None
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


# --- Textes ---------------------------------------------------------------------------------------------------------


def _normal(name: str) -> str:
    """Nom en NFC, sans caractère de contrôle, les espaces ramenées à une."""
    kept = "".join(character for character in name if unicodedata.category(character) not in ("Cc", "Cs"))
    return " ".join(unicodedata.normalize("NFC", kept).split())


@cache
def _key(name: str) -> str:
    return _normal(name).casefold()
