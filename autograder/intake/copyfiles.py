"""Lit les fichiers d'une copie tels que les étudiants les rendent : noms, encodages, formats, liens et tailles de toute sorte.

Rien n'est cru : un fichier est lu sans suivre de lien, jusqu'à un plafond, et ce qui ne se lit pas est nommé avec sa raison.
Ce module ne sait rien du devoir.
"""

import json
import os
import re
import stat
import unicodedata
from collections.abc import Iterable
from pathlib import Path

from nbformat import NotebookNode
from nbgrader.utils import parse_utc

from autograder.settings import MIB

MAX_FILE_BYTES = 64 * MIB  # un notebook tel qu'il est rendu, sorties comprises
MAX_VALUES = 2_000_000  # listes et objets JSON d'un notebook : au-delà, le lire demanderait des gigaoctets
MAX_SOURCE_BYTES = 4 * MIB  # un notebook sans ses sorties
MAX_CELLS = 5_000
MAX_DATA_BYTES = 100 * MIB  # tous les fichiers de données d'une copie
MAX_DATA_FILES = 1_000
LARGE_OUTPUTS = MIB  # au-delà, on dit que les sorties ont été effacées
MAX_DEPTH = 20
IGNORED_FOLDERS = {".ipynb_checkpoints", "__pycache__", "__MACOSX", ".git"}
CELL_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
# « ex01.ipynb.txt », « ex01.ipynb.json » : des navigateurs ajoutent une extension.
NOTEBOOK_SUFFIX = re.compile(r"\.ipynb(\.(txt|json))?$", re.IGNORECASE)


class UnreadableError(Exception):
    """Le fichier n'est pas un notebook que l'on puisse lire ; le message dit pourquoi, en une proposition."""


# --- Un notebook ------------------------------------------------------------------------------------------------------



def read_regular(path: Path, cap: int) -> bytes:
    """Contenu d'un fichier ordinaire ; un lien n'est jamais suivi, un tube jamais attendu.

    Raises:
        UnreadableError: lien, fichier spécial, fichier illisible ou de plus de `cap` octets.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        raise UnreadableError(f"le fichier ne s'ouvre pas ({error.strerror})") from None
    with open(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise UnreadableError("ce n'est pas un fichier ordinaire")
        if status.st_size > cap:
            raise UnreadableError(f"le fichier pèse {status.st_size / MIB:.0f} Mio, plus que les {cap / MIB:.0f} permis")
        return file.read(cap)


def read_notebook(data: bytes) -> tuple[NotebookNode, list[str], list[str]]:
    """Lit un notebook de tout format (nbformat 2 à 4) et de tout encodage ; ses sorties ne sont pas gardées.

    Args:
        data: contenu du fichier.
    Returns:
        Le notebook (sans sorties ; `repair` vérifie ensuite ses identifiants), les réparations à signaler, et celles qui ne
        peuvent pas toucher la note.
    Raises:
        UnreadableError: fichier vide, qui n'est pas du JSON, ou dont le JSON n'est pas un notebook ; notebook trop gros.
    """
    if not data.strip(b"\0 \t\r\n"):
        raise UnreadableError("le fichier est vide")
    if data.count(b"[") + data.count(b"{") > MAX_VALUES:
        raise UnreadableError(f"le fichier a plus de {MAX_VALUES} listes et objets")
    text, reasons, notes = _decoded(data)
    try:
        raw = json.loads(text, object_hook=_without_outputs)
    except json.JSONDecodeError as error:
        raise UnreadableError(f"ce n'est pas du JSON, ou il est coupé (ligne {error.lineno}) : {_looks_like(data)}") from None
    except (ValueError, RecursionError, MemoryError):
        raise UnreadableError("le JSON est trop profond ou contient un nombre démesuré") from None
    cells, found = read_cells(raw)
    if len(data) > LARGE_OUTPUTS:
        notes.append(f"fichier de {len(data) / MIB:.1f} Mio : ses sorties sont effacées")
    return NotebookNode(nbformat=4, nbformat_minor=5, metadata=NotebookNode(), cells=cells), reasons + found, notes


def _decoded(data: bytes) -> tuple[str, list[str], list[str]]:
    encoding = json.detect_encoding(data)
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        if encoding.startswith(("utf-16", "utf-32")):
            raise UnreadableError(f"le fichier est abîmé : son encodage {encoding} ne se lit pas") from None
        # Windows-1252 contient les lettres françaises du Latin-1, et lui seul « œ ».
        text, encoding = data.decode("cp1252", "replace"), "cp1252"
    if encoding == "utf-8":
        return text, [], []
    if encoding == "utf-8-sig":
        return text, [], ["marque d'ordre des octets (BOM) en tête du fichier : ignorée"]
    return text, [f"fichier encodé en {encoding} et non en UTF-8 : converti"], []


def _looks_like(data: bytes) -> str:
    start = data.lstrip(b"\xef\xbb\xbf \t\r\n")[:200].lower()
    for beginnings, kind in (
        (b"<", "une page HTML ou XML"),
        (b"%pdf", "un PDF"),
        (b"pk\x03\x04", "une archive ZIP"),
        (b"{", "un notebook incomplet"),
        ((b"# %%", b"import "), "un script"),
    ):
        if start.startswith(beginnings):
            return f"il ressemble à {kind}"
    return "son contenu n'est pas celui d'un notebook"


def _without_outputs(value: dict) -> dict:
    # Pendant la lecture, et non après : 200 000 lignes de sorties ne tiennent jamais toutes en mémoire.
    if "cell_type" in value:
        value.pop("outputs", None)
    return value


def read_cells(raw) -> tuple[list[NotebookNode], list[str]]:
    """Cellules d'un notebook (JSON lu), ramenées à leur type, texte, identifiant et marque nbgrader ; et les réparations.

    Raises:
        UnreadableError: ce n'est pas un notebook, ou il est trop gros.
    """
    reasons = []
    if not isinstance(raw, dict):
        raise UnreadableError("c'est du JSON, mais pas un notebook")
    cells = raw.get("cells")
    if cells is None and isinstance(raw.get("worksheets"), list):
        sheets = [sheet.get("cells") for sheet in raw["worksheets"] if isinstance(sheet, dict)]
        cells = [cell for sheet in sheets if isinstance(sheet, list) for cell in sheet]
        reasons.append("notebook d'un ancien format (nbformat 3 ou moins) : converti")
    if not isinstance(cells, list):
        raise UnreadableError("c'est du JSON, mais pas un notebook : il n'a pas de cellules")
    if len(cells) > MAX_CELLS:
        raise UnreadableError(f"le notebook a {len(cells)} cellules, plus que les {MAX_CELLS} permises")
    kept = [_cell(cell) for cell in cells if isinstance(cell, dict)]
    if len(kept) < len(cells):
        reasons.append(f"{len(cells) - len(kept)} élément(s) du notebook qui ne sont pas des cellules : ôtés")
    size = sum(len(cell.source.encode()) for cell in kept)
    if size > MAX_SOURCE_BYTES:
        allowed = MAX_SOURCE_BYTES // MIB
        raise UnreadableError(f"le notebook pèse {size / MIB:.0f} Mio sans ses sorties, plus que les {allowed} permis")
    if size + sum(len(json.dumps(cell.get("attachments", {}))) for cell in kept) > MAX_SOURCE_BYTES:
        for cell in kept:
            cell.pop("attachments", None)
        reasons.append("images jointes au texte trop grosses : ôtées")
    return kept, reasons


def _cell(raw: dict) -> NotebookNode:
    source = plain_text(next((raw[key] for key in ("source", "input", "text") if key in raw), ""))
    kind = raw.get("cell_type")
    if kind == "heading":  # nbformat 3
        level = raw.get("level")
        kind, source = "markdown", f"{'#' * (level if isinstance(level, int) and 0 < level < 7 else 1)} {source}"
    if kind not in ("code", "markdown", "raw"):
        kind = "code" if "input" in raw else "markdown"
    cell = NotebookNode(cell_type=kind, metadata=NotebookNode(), source=source)
    metadata = raw.get("metadata")
    if isinstance(metadata, dict) and isinstance(metadata.get("nbgrader"), dict):
        cell.metadata.nbgrader = metadata["nbgrader"]
    if isinstance(raw.get("id"), str) and CELL_ID.fullmatch(raw["id"]):
        cell.id = raw["id"]
    if kind == "code":
        cell.update(outputs=[], execution_count=None)
    elif _are_attachments(raw.get("attachments")):
        cell.attachments = raw["attachments"]
    return cell


def plain_text(value) -> str:
    """Texte d'un champ JSON, chaîne ou liste de lignes, qui s'écrit en UTF-8 ; vide s'il est d'un autre type."""
    if isinstance(value, list):
        value = "".join(part for part in value if isinstance(part, str))
    if not isinstance(value, str):
        return ""
    # Une moitié de caractère (« \ud800 » dans le JSON) ne s'écrit pas en UTF-8.
    value = value.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    return value.replace("\r\n", "\n").replace("\r", "\n")


def _are_attachments(value) -> bool:
    return isinstance(value, dict) and bool(value) and all(
        isinstance(bundle, dict) and all(isinstance(text, str) and text.isascii() for text in (name, *bundle, *bundle.values()))
        for name, bundle in value.items()
    )  # fmt: skip


# --- Le dossier -------------------------------------------------------------------------------------------------------


def walk(folder: Path) -> tuple[list[tuple[Path, str]], list[str]]:
    """Fichiers ordinaires d'une copie, avec le nom relatif à leur donner, et ce qui est refusé, avec sa raison."""
    found, refused = [], []

    def unreadable(error: OSError) -> None:
        refused.append(f"« {shown_name(os.path.relpath(error.filename, folder))} » : {error.strerror}")

    for base, folders, names in os.walk(folder, followlinks=False, onerror=unreadable):
        links = [name for name in folders if os.path.islink(os.path.join(base, name))]
        folders[:] = sorted(set(folders) - set(links) - IGNORED_FOLDERS)
        if folders and len(Path(base).relative_to(folder).parts) >= MAX_DEPTH:
            refused.append(f"dossiers emboîtés sur plus de {MAX_DEPTH} niveaux")
            folders.clear()
        for name in sorted([*names, *links]):
            path = Path(base, name)
            shown = shown_name(str(path.relative_to(folder)))
            mode = path.lstat().st_mode
            if stat.S_ISLNK(mode):
                refused.append(f"« {shown} » : c'est un lien")
            elif not stat.S_ISREG(mode):
                refused.append(f"« {shown} » : ce n'est pas un fichier ordinaire")
            elif _climbs(shown):
                refused.append(f"« {shown} » : son nom sort du dossier de la copie")
            elif name != ".DS_Store" and not name.startswith("._"):
                found.append((path, shown))
    if len(found) > MAX_DATA_FILES:
        refused.append(f"{len(found) - MAX_DATA_FILES} fichiers au-delà des {MAX_DATA_FILES} permis")
        # Les notebooks d'abord : des fichiers de données en excès ne doivent pas les cacher.
        found = sorted(found, key=lambda item: not is_notebook_name(item[1]))[:MAX_DATA_FILES]
    return found, refused


def shown_name(name: str) -> str:
    """Nom qui s'écrit en UTF-8, sans caractère de commande ; un nom venu de Windows est lu comme tel."""
    data = os.fsencode(name)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        text = data.decode("cp1252", "replace")
    return without_controls(unicodedata.normalize("NFC", text))


def without_controls(text: str) -> str:
    """Texte où « _ » remplace chaque caractère qui ne s'imprime pas."""
    return "".join(letter if letter.isprintable() else "_" for letter in text)


def _climbs(name: str) -> bool:
    parts = re.split(r"[\\/]", name)
    return ".." in parts or "\\" in name or bool(re.match(r"[A-Za-z]:", name))


def is_notebook_name(name: str) -> bool:
    """Le nom est celui d'un notebook, à une extension de navigateur près."""
    return bool(NOTEBOOK_SUFFIX.search(name))


def copy_files(files: Iterable[tuple[Path, str]], clean: Path) -> list[str]:
    """Recopie les fichiers de données d'une copie dans `clean` ; rend ceux qui sont refusés, avec leur raison."""
    refused, total = [], 0
    for path, name in files:
        target = clean / name
        try:
            data = read_regular(path, MAX_DATA_BYTES - total)
            if name == "timestamp.txt" and not _is_timestamp(data):
                raise UnreadableError("ce n'est pas une date : nbgrader ne saurait pas la lire")
            target.parent.mkdir(parents=True, exist_ok=True)
            with open(target, "xb") as file:
                file.write(data)
        except (UnreadableError, OSError) as error:
            refused.append(f"« {name} » : {error.strerror if isinstance(error, OSError) else error}")
        else:
            total += len(data)
    return refused


def _is_timestamp(data: bytes) -> bool:
    try:
        parse_utc(data.decode("utf-8").strip())
    except Exception:  # noqa: BLE001  (dateutil lève de tout : ValueError, OverflowError, TypeError, IndexError…)
        return not data.strip()
    return True
