"""Remet d'aplomb une copie abîmée avant que nbgrader ne la voie : une note pour ce qui se corrige, une raison pour le reste.

Trois étages, utilisables seuls : lire des fichiers tels que les étudiants les rendent (`load_copy`), rendre à un notebook les
cellules de son devoir (`repair`), écrire un dossier que nbgrader accepte (`repair_folder`). `RepairCopy` fait le même travail dans
`nbgrader autograde`. Rien ici n'exécute le code d'une copie, ni ne regarde ce que vaut une réponse. Sert tout cours nbgrader.
"""

import ast
import copy as copying
import json
import os
import re
import shutil
import stat
import unicodedata
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
from nbconvert.exporters.exporter import ResourcesDict
from nbformat import NotebookNode
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import (
    ClearHiddenTests, ClearMarkScheme, ClearOutput, ClearSolutions, ComputeChecksums, LockCells, NbGraderPreprocessor,
)  # fmt: skip
from nbgrader.utils import parse_utc

MIB = 2**20
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
FUNCTION = re.compile(r"^(?:async[ \t]+)?(?:def|class)[ \t]+(\w+)", re.MULTILINE)
VARIABLE = re.compile(r"^(\w+)[ \t]*(?::[^=\n]+)?=(?!=)", re.MULTILINE)
ELSEWHERE = "# Cette réponse est donnée dans la cellule « {} »."


class UnreadableError(Exception):
    """Le fichier n'est pas un notebook que l'on puisse lire ; le message dit pourquoi, en une proposition."""


# --- Lire un notebook tel qu'il est rendu -----------------------------------------------------------------------------


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
    cells, found = _cells(raw)
    if len(data) > LARGE_OUTPUTS:
        notes.append(f"fichier de {len(data) / MIB:.1f} Mio : ses sorties sont effacées")
    return NotebookNode(nbformat=4, nbformat_minor=5, metadata=NotebookNode(), cells=cells), reasons + found, notes


def _decoded(data: bytes) -> tuple[str, list[str], list[str]]:
    encoding = json.detect_encoding(data)
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        if encoding.startswith("utf-16") or encoding.startswith("utf-32"):
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
    for mark, kind in (
        (b"<", "il ressemble à une page HTML ou XML"), (b"%pdf", "il ressemble à un PDF"), (b"pk\x03\x04", "il ressemble à une archive ZIP"),
        (b"{", "il ressemble à un notebook incomplet"), (b"# %%", "il ressemble à un script"), (b"import ", "il ressemble à un script"),
    ):  # fmt: skip
        if start.startswith(mark):
            return kind
    return "son contenu n'est pas celui d'un notebook"


def _without_outputs(value: dict) -> dict:
    # Pendant la lecture, et non après : 200 000 lignes de sorties ne tiennent jamais toutes en mémoire.
    if "cell_type" in value:
        value.pop("outputs", None)
    return value


def _cells(raw) -> tuple[list[NotebookNode], list[str]]:
    """Cellules d'un notebook, ramenées à leur type, leur texte, leur identifiant et leur marque nbgrader."""
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
        raise UnreadableError(f"le notebook pèse {size / MIB:.0f} Mio sans ses sorties, plus que les {MAX_SOURCE_BYTES // MIB} permis")
    if size + sum(len(json.dumps(cell.get("attachments", {}))) for cell in kept) > MAX_SOURCE_BYTES:
        for cell in kept:
            cell.pop("attachments", None)
        reasons.append("images jointes au texte trop grosses : ôtées")
    return kept, reasons


def _cell(raw: dict) -> NotebookNode:
    source = _text(next((raw[key] for key in ("source", "input", "text") if key in raw), ""))
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


def _text(value) -> str:
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


def _notebook(cells: list[NotebookNode], metadata: dict) -> NotebookNode:
    """Notebook nbformat 4.5 dont chaque cellule a un identifiant valable et unique, le même à chaque fois."""
    used = set()
    for cell in sorted(cells, key=lambda cell: not mark(cell)):  # les cellules du devoir gardent le leur
        base = cell.get("id") or "ajout"
        name, number = base, 1
        while name in used:
            number += 1
            name = f"{base[:56]}-{number}"
        used.add(name)
        cell.id = name
    return NotebookNode(nbformat=4, nbformat_minor=5, metadata=copying.deepcopy(metadata), cells=cells)


# --- Rendre à un notebook les cellules de son devoir ------------------------------------------------------------------


def mark(cell: dict) -> dict:
    """Marque nbgrader d'une cellule, ou un dictionnaire vide si elle n'en a pas qui compte."""
    marks = cell["metadata"].get("nbgrader", {})
    return marks if any(marks.get(key) for key in ("grade", "solution", "locked", "task")) else {}


def is_answer(cell: dict) -> bool:
    """Une cellule que l'étudiant remplit ; les autres cellules marquées (énoncés, tests, tâches) sont en lecture seule."""
    return bool(mark(cell).get("solution"))


def repair(copy: NotebookNode, reference: NotebookNode) -> tuple[NotebookNode, list[str]]:
    """Rend un notebook où chaque cellule nbgrader du devoir est là, une fois, à sa place et avec sa marque.

    Une cellule en lecture seule prend le texte du devoir. Une cellule réponse prend celui de l'étudiant, cherché par sa marque
    (`grade_id`), puis par l'identifiant de la cellule, puis par ce qu'elle définit (`def bleu2`), puis par sa place entre deux
    cellules reconnues ; une réponse introuvable reprend l'amorce du devoir. Les autres cellules de l'étudiant restent où elles
    étaient, après la cellule du devoir qui les précédait ; un ensemble déjà en ordre n'est pas touché.

    Réponse en plusieurs exemplaires : la *dernière* version qui contient une réponse (ni vide, ni l'amorce) est gardée, comme à
    l'exécution du notebook de haut en bas. Les versions antérieures restent devant elle, sans note : une cellule coupée en deux
    garde ainsi ses deux moitiés. Aucune version n'est choisie parce qu'elle réussit mieux.

    Args:
        copy: notebook de l'étudiant, dans n'importe quel état.
        reference: version étudiante du devoir, celle de release/.
    Returns:
        Le notebook réparé, sans sorties (nbformat 4.5), et une phrase en français par genre de réparation. Réparer deux fois ne
        change plus rien.
    Raises:
        UnreadableError: `copy` n'est pas un notebook, ou il est trop gros.
    """
    cells, reasons = _cells(copy)
    work = _Repair(cells, [_reference_cell(cell) for cell in reference.cells])
    repaired = _notebook(work.run(), reference.metadata)
    return repaired, reasons + work.sentences()


def _reference_cell(cell: NotebookNode) -> NotebookNode:
    kept = copying.deepcopy(cell)
    kept.source = kept.source.replace("\r\n", "\n")
    if kept.cell_type == "code":
        kept.update(outputs=[], execution_count=None)
    return kept


SENTENCES = {  # genre de réparation : (une cellule, plusieurs)
    "double": ("cellule {} en double : la dernière version qui contient une réponse est gardée",
               "cellules {} en double : la dernière version qui contient une réponse est gardée"),
    "double_devoir": ("cellule du devoir {} en double : une seule est gardée", "cellules du devoir {} en double : une seule de chaque est gardée"),
    "identifiant": ("cellule {} sans marque nbgrader : reconnue à son identifiant", "cellules {} sans marque nbgrader : reconnues à leur identifiant"),
    "contenu": ("cellule {} sans marque nbgrader : reconnue à son contenu", "cellules {} sans marque nbgrader : reconnues à leur contenu"),
    "place": ("cellule {} sans marque nbgrader : reconnue à sa place", "cellules {} sans marque nbgrader : reconnues à leur place"),
    "absente": ("cellule réponse {} absente : l'amorce du devoir la remplace", "cellules réponses {} absentes : l'amorce du devoir les remplace"),
    "absente_devoir": ("cellule du devoir {} absente : elle est remise", "cellules du devoir {} absentes : elles sont remises"),
    "ailleurs": ("réponse de la cellule {} donnée dans une autre cellule : elle est lue là", "réponses des cellules {} données dans une autre cellule : elles sont lues là"),
    "modifiee": ("cellule du devoir {} modifiée : le texte du devoir est remis", "cellules du devoir {} modifiées : le texte du devoir est remis"),
    "type": ("cellule {} d'un autre type : son type est rétabli", "cellules {} d'un autre type : leur type est rétabli"),
    "marque": ("cellule {} à la marque nbgrader modifiée : la marque du devoir est remise", "cellules {} à la marque nbgrader modifiée : la marque du devoir est remise"),
    "deplacee": ("cellule {} déplacée : remise à sa place", "cellules {} déplacées : remises à leur place"),
    "inconnue": ("cellule {} à la marque inconnue de ce devoir : gardée sans note", "cellules {} à la marque inconnue de ce devoir : gardées sans note"),
    "amorce": ("amorce de la cellule {} laissée en trop : ôtée", "amorces des cellules {} laissées en trop : ôtées"),
}  # fmt: skip


class _Repair:
    """Une réparation en cours : quelle cellule de l'étudiant (par son rang) tient lieu de quelle cellule du devoir.

    Args:
        cells: cellules de l'étudiant, ramenées à l'essentiel par `_cells`.
        reference: toutes les cellules du devoir ; celles sans marque ne servent que de repères.
    """

    def __init__(self, cells: list[NotebookNode], reference: list[NotebookNode]):
        self.cells, self.reference = cells, reference
        self.marked = {mark(cell)["grade_id"]: cell for cell in reference if mark(cell)}
        self.answers = {name: cell for name, cell in self.marked.items() if is_answer(cell)}
        self.chosen: dict[str, int] = {}
        self.earlier: dict[str, list[int]] = {}
        self.dropped: set[int] = set()
        self.elsewhere: dict[str, str] = {}
        self.found: dict[str, list[str]] = defaultdict(list)
        self.by_mark, self.by_id = defaultdict(list), defaultdict(list)
        ids = {cell.get("id"): name for name, cell in self.marked.items() if cell.get("id")}
        for rank, cell in enumerate(cells):
            name = cell.metadata.get("nbgrader", {}).get("grade_id")
            if isinstance(name, str) and name in self.marked:
                self.by_mark[name].append(rank)
            else:
                if mark(cell):
                    self._say("inconnue", _printable(_text(name))[:60])
                if cell.get("id") in ids:
                    self.by_id[ids[cell.id]].append(rank)
        self.known = {rank for ranks in self.by_mark.values() for rank in ranks}
        self.given = {_text_key(cell) for cell in reference if not is_answer(cell)}

    def run(self) -> list[NotebookNode]:
        """Cellules du notebook réparé."""
        for name in self.marked:
            if name not in self.answers:
                self._match_given(name)
        for name in self.answers:
            self._choose(name, self.by_mark[name], None)
            if not self.is_answered(name):
                self._choose(name, self.by_id[name], "identifiant")
        for name in self.answers:
            if not self.is_answered(name):
                self._choose(name, self._same_names(name), "contenu")
        self._match_by_place()
        for name in self.answers:
            if not self.is_answered(name):
                self._look_elsewhere(name)
        self._drop_stubs()
        return self._ordered()

    def sentences(self) -> list[str]:
        """Une phrase par genre de réparation, dans l'ordre de `SENTENCES`."""
        result = []
        if self.answers and not self.chosen.keys() & self.answers.keys():
            result.append("aucune cellule réponse du devoir n'a été retrouvée : vérifiez que c'est le bon fichier")
        for kind, (one, several) in SENTENCES.items():
            names = list(dict.fromkeys(self.found[kind]))
            if names:
                result.append((one if len(names) == 1 else several).format(_listed(names)))
        return result

    def _say(self, kind: str, name: str) -> None:
        self.found[kind].append(name)

    def _match_given(self, name: str) -> None:
        """Cellule en lecture seule : laquelle de l'étudiant marque sa place (son texte, lui, vient du devoir)."""
        wanted = self.marked[name]
        ranks, how = self.by_mark[name], None
        if not ranks:
            ranks, how = self.by_id[name], "identifiant"
        if not ranks:
            free = (rank for rank, cell in enumerate(self.cells) if rank not in self.known and rank not in self.chosen.values())
            ranks = [rank for rank in free if _text_key(wanted) and _text_key(self.cells[rank]) == _text_key(wanted)][:1]
            how = "contenu"
        if not ranks:
            self._say("absente_devoir", name)
            return
        same = [rank for rank in ranks if _text_key(self.cells[rank]) == _text_key(wanted)]
        self.chosen[name] = (same or ranks)[0]
        if how:
            self._say(how, name)
        if not same:
            self._say("modifiee", name)
        if len(ranks) > 1:
            self._say("double_devoir", name)
            # Un double récrit par l'étudiant est à lui : il reste, sans marque. Un double exact s'en va.
            self.dropped |= set(same) - {self.chosen[name]}
        self._compare(name)

    def _choose(self, name: str, ranks: list[int], how: str | None) -> None:
        """Garde, parmi des versions d'une réponse, la dernière qui en contient une ; à défaut la dernière qui n'est pas vide."""
        ranks = sorted({*ranks, *([self.chosen[name]] if name in self.chosen else [])})
        if not ranks or ranks == [self.chosen.get(name)]:
            return
        wanted = self.answers[name]
        written = [rank for rank in ranks if self.cells[rank].source.strip()]
        answered = [rank for rank in written if _is_answered(self.cells[rank], wanted)]
        best = (answered or written or ranks)[-1]
        others = [rank for rank in ranks if rank != best]
        for rank in others:
            lines = _lines(self.cells[rank])
            if rank not in written or lines in (_lines(wanted), _lines(self.cells[best])):
                self.dropped.add(rank)
        self.earlier[name] = [rank for rank in others if rank not in self.dropped]
        self.chosen[name] = best
        if others and not (how and self.dropped.issuperset(others)):
            self._say("double", name)
        if how and best in ranks and best not in self.by_mark[name]:
            self._say(how, name)

    def is_answered(self, name: str) -> bool:
        """L'étudiant a écrit quelque chose dans cette réponse."""
        return name in self.chosen and _is_answered(self.cells[self.chosen[name]], self.answers[name])

    def _pool(self) -> list[int]:
        """Cellules où l'étudiant a pu écrire une réponse : ni déjà prises pour une réponse, ni recopiées du devoir."""
        taken = {self.chosen[name] for name in self.answers if name in self.chosen} | self.dropped
        return [rank for rank, cell in enumerate(self.cells) if rank not in taken and _text_key(cell) not in self.given]

    def _same_names(self, name: str) -> list[int]:
        """Cellules qui définissent une fonction de la réponse (ou, si elle est absente et n'en a pas, une de ses variables)."""
        wanted = self.answers[name]
        if wanted.cell_type != "code":
            return []
        pattern = FUNCTION if FUNCTION.search(wanted.source) else VARIABLE
        if pattern is VARIABLE and name in self.chosen:
            return []
        names = set(pattern.findall(wanted.source))
        return [
            rank for rank in self._pool()
            if names & set(pattern.findall(self.cells[rank].source)) and _is_answered(self.cells[rank], wanted) and _is_code(self.cells[rank])
        ]  # fmt: skip

    def _match_by_place(self) -> None:
        """Réponses absentes : s'il y a, entre deux cellules reconnues, autant de cellules libres que d'absentes, ce sont elles."""
        owners = {rank: name for name, rank in self.chosen.items()}
        anchors, plain = set(), defaultdict(list)
        for rank, cell in enumerate(self.cells):
            if rank not in owners and rank not in self.known and _text_key(cell):
                plain[_text_key(cell)].append(rank)
        ends: list[tuple[list[str], int | None]] = []  # réponses absentes, puis le repère qui les suit
        missing: list[str] = []
        for cell in self.reference:
            name = mark(cell).get("grade_id")
            anchor = self.chosen.get(name) if name else (plain[_text_key(cell)].pop(0) if plain[_text_key(cell)] else None)
            if anchor is not None:
                anchors.add(anchor)
                ends.append((missing, anchor))
                missing = []
            elif name in self.answers:
                missing.append(name)
        ends.append((missing, None))
        before = None
        for missing, after in ends:
            if missing and (before, after) != (None, None):
                inside = range(-1 if before is None else before + 1, len(self.cells) if after is None else after)
                kinds = {self.answers[name].cell_type for name in missing}
                free = set(self._pool()) - anchors - self.known
                ranks = [rank for rank in inside if rank in free and self.cells[rank].cell_type in kinds and self.cells[rank].source.strip()]
                if [self.cells[rank].cell_type for rank in ranks] == [self.answers[name].cell_type for name in missing]:
                    for name, rank in zip(missing, ranks):
                        self._choose(name, [rank], "place")
            before = after

    def _look_elsewhere(self, name: str) -> None:
        """Une réponse absente, écrite dans la cellule d'une réponse précédente : son amorce ne doit pas l'écraser."""
        names = set(FUNCTION.findall(self.answers[name].source)) if self.answers[name].cell_type == "code" else set()
        for other in self.answers:
            if other == name:
                return
            if names and self.is_answered(other) and names <= set(FUNCTION.findall(self.cells[self.chosen[other]].source)):
                self.elsewhere[name] = ELSEWHERE.format(other)
                if name not in self.chosen or self.cells[self.chosen[name]].source != self.elsewhere[name]:
                    self._say("ailleurs", name)
                return

    def _drop_stubs(self) -> None:
        """Ôte les amorces sans marque : exécutées, elles effaceraient la réponse."""
        stubs = {_lines(cell): name for name, cell in self.answers.items() if _lines(cell)}
        for rank in set(self._pool()) - set(self.chosen.values()) - self.known:
            name = stubs.get(_lines(self.cells[rank]))
            if name is not None and self.cells[rank].cell_type == self.answers[name].cell_type:
                self.dropped.add(rank)
                self._say("amorce", name)

    def _compare(self, name: str) -> None:
        """Signale un type ou une marque qui n'est plus celle du devoir."""
        cell, wanted = self.cells[self.chosen[name]], self.marked[name]
        if cell.cell_type != wanted.cell_type:
            self._say("type", name)
        elif self.chosen[name] in self.by_mark[name]:
            theirs, ours = cell.metadata.nbgrader, wanted.metadata.nbgrader
            if any((theirs.get(key) or 0) != (ours.get(key) or 0) for key in ("schema_version", "grade", "solution", "locked", "points", "task")):
                self._say("marque", name)

    def _ordered(self) -> list[NotebookNode]:
        """Cellules du devoir dans son ordre ; celles de l'étudiant suivent leur voisine."""
        # Une cellule récrite en lecture seule peut avoir servi de réponse : elle garde alors cette seule place.
        for name in [name for name, rank in self.chosen.items() if name not in self.answers]:
            if self.chosen[name] in [self.chosen.get(answer) for answer in self.answers]:
                del self.chosen[name]
        order = {name: place for place, name in enumerate(self.marked)}
        owners = {rank: name for name, rank in self.chosen.items()}
        moved = _out_of_order([order[owners[rank]] for rank in sorted(owners)])
        for name, place in order.items():
            if place in moved:
                self._say("deplacee", name)
        before, after = self._neighbours(owners, {name for name, place in order.items() if place in moved})
        result = after.get(None, [])
        for name, wanted in self.marked.items():
            result += before.get(name, []) + [_plain(self.cells[rank]) for rank in self._former(name)]
            result.append(self._final(name, wanted))
            result += after.get(name, [])
        return result

    def _former(self, name: str) -> list[int]:
        return [rank for rank in self.earlier.get(name, []) if rank not in self.chosen.values() and rank not in self.dropped]

    def _neighbours(self, owners: dict[int, str], moved: set[str]) -> tuple[dict, dict]:
        """Cellules de l'étudiant à mettre avant, et après, chaque cellule du devoir."""
        former = {rank for name in self.answers for rank in self._former(name)}
        before, after = {}, {}
        previous, waiting = None, []
        for rank, cell in enumerate(self.cells):
            if rank in owners:
                # Une fonction auxiliaire écrite juste avant une réponse déplacée voyage avec elle.
                together = owners[rank] in moved and previous not in moved
                side, key = (before, owners[rank]) if together else (after, previous)
                side[key] = side.get(key, []) + waiting
                previous, waiting = owners[rank], []
            elif rank not in self.dropped and rank not in former:
                waiting.append(_plain(cell))
        after[previous] = after.get(previous, []) + waiting
        return before, after

    def _final(self, name: str, wanted: NotebookNode) -> NotebookNode:
        cell = copying.deepcopy(wanted)
        if not CELL_ID.fullmatch(cell.get("id", "")):
            cell.id = name[:64] or "cellule"
        if name not in self.answers:
            return cell
        if name in self.elsewhere:
            cell.source = self.elsewhere[name]
        elif name in self.chosen:
            theirs = self.cells[self.chosen[name]]
            cell.source = theirs.source
            if cell.cell_type != "code" and "attachments" in theirs:
                cell.attachments = theirs.attachments
        else:
            self._say("absente", name)
        if name in self.chosen:
            self._compare(name)
        return cell


def _lines(cell: NotebookNode) -> tuple[str, ...]:
    """Lignes qui comptent dans une réponse : ni blanches, ni, dans du code, de commentaire."""
    lines = (line.rstrip() for line in cell.source.splitlines())
    return tuple(line for line in lines if line and not (cell.cell_type == "code" and line.lstrip().startswith("#")))


def _text_key(cell: NotebookNode) -> tuple[str, ...]:
    """Texte d'une cellule pour la reconnaître ; un test entièrement caché n'a plus que des commentaires dans release/."""
    return _lines(cell) or tuple(line.rstrip() for line in cell.source.splitlines() if line.strip())


def _is_answered(cell: NotebookNode, stub: NotebookNode) -> bool:
    """La cellule contient autre chose que l'amorce et des commentaires."""
    lines = _lines(NotebookNode(cell_type=stub.cell_type, source=cell.source))
    return bool(lines) and lines != _lines(stub)


def _is_code(cell: NotebookNode) -> bool:
    """Une cellule de code, ou une cellule changée en texte dont le texte est encore du Python."""
    if cell.cell_type == "code":
        return True
    try:
        ast.parse(cell.source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _plain(cell: NotebookNode) -> NotebookNode:
    """Cellule de l'étudiant gardée sans marque."""
    kept = copying.copy(cell)
    kept.metadata = NotebookNode()
    return kept


def _out_of_order(places: list[int]) -> set[int]:
    """Places qu'il suffit de déplacer pour que la suite soit croissante (hors de la plus longue sous-suite croissante)."""
    ends, ranks, parent = [], [], {}
    for rank, place in enumerate(places):
        length = bisect_left(ends, place)
        ends[length:length + 1] = [place]
        ranks[length:length + 1] = [rank]
        parent[rank] = ranks[length - 1] if length else None
    kept, rank = set(), ranks[-1] if ranks else None
    while rank is not None:
        kept.add(places[rank])
        rank = parent[rank]
    return set(places) - kept


def _listed(names: list[str], most: int = 6) -> str:
    shown = ", ".join(f"« {name} »" for name in names[:most])
    return shown if len(names) <= most else f"{shown} et {len(names) - most} autres"


# --- Lire et écrire le dossier d'une copie ----------------------------------------------------------------------------


@dataclass(frozen=True)
class LoadedCopy:
    """Ce que contient le dossier d'une copie.

    Attributes:
        notebooks: notebooks lus, par nom de notebook du devoir.
        files: fichiers de données ordinaires, avec le chemin relatif sous lequel les recopier.
        refused: fichiers refusés et pourquoi (liens, fichiers spéciaux, noms qui remontent, excès de taille).
        reasons: réparations et manques qu'une personne doit connaître.
        notes: réparations qui ne peuvent pas toucher la note.
        fatal: pourquoi aucune note n'est possible, ou None.
    """

    notebooks: dict[str, NotebookNode] = field(default_factory=dict)
    files: tuple[tuple[Path, str], ...] = ()
    refused: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    fatal: str | None = None


@dataclass(frozen=True)
class RepairReport:
    """Ce qui a été écrit pour nbgrader, et ce qu'il faut en dire ; `fatal` n'est pas None si aucune note n'est possible."""

    notebooks: tuple[Path, ...] = ()
    reasons: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    fatal: str | None = None


@dataclass(frozen=True)
class _Candidate:
    path: Path
    name: str
    notebook: NotebookNode
    reasons: list[str]
    notes: list[str]


def load_copy(folder: Path, assignment_notebooks: Iterable[str] | Mapping[str, NotebookNode]) -> LoadedCopy:
    """Trouve et lit les notebooks d'une copie, quels que soient leur nom et leur état ; ne lève rien pour une copie abîmée.

    Un fichier est reconnu à son nom (exact, puis aux accents, espaces, « (1) » et « copie » près), puis à son contenu si les
    versions étudiantes sont données, puis parce qu'il est le seul. Plusieurs fichiers pour un même notebook : on prend celui qui
    contient des réponses, puis celui qui a le nom exact, puis le plus de cellules du devoir, puis le premier dans l'ordre des noms ;
    les autres sont nommés.

    Args:
        folder: dossier submitted/<étudiant>/<devoir>.
        assignment_notebooks: noms des notebooks du devoir, sans extension, ou leurs versions étudiantes par nom.
    """
    references = assignment_notebooks if isinstance(assignment_notebooks, Mapping) else {}
    expected = list(assignment_notebooks)
    if folder.is_symlink() or not folder.is_dir():
        return LoadedCopy(fatal="le dossier de la copie est un lien : refusé" if folder.is_symlink() else "le dossier de la copie n'existe pas")
    found, refused = _walk(folder)
    reasons, candidates, files = [], [], []
    for path, name in found:
        if not _is_notebook_name(name):
            files.append((path, name))
            continue
        try:
            notebook, told, notes = read_notebook(read_regular(path, MAX_FILE_BYTES))
        except UnreadableError as error:
            reasons.append(f"« {name} » : {error}")
        else:
            candidates.append(_Candidate(path, name, notebook, told, notes))
    notes, notebooks = [], {}
    for name, candidate, told in _assign(candidates, expected, references):
        notebooks[name] = candidate.notebook
        reasons += told + [f"« {candidate.name} » : {reason}" for reason in candidate.reasons]
        notes += [f"« {candidate.name} » : {note}" for note in candidate.notes]
    used = {id(notebook) for notebook in notebooks.values()}
    reasons += [f"« {candidate.name} » : notebook en trop, ignoré" for candidate in candidates if id(candidate.notebook) not in used]
    if not notebooks:
        why = reasons or refused or ([f"fichiers rendus : {_listed([name for _, name in files])}"] if files else ["le dossier est vide"])
        fatal = f"aucun notebook à noter ({' ; '.join(why)})"
        return LoadedCopy(files=tuple(files), refused=tuple(refused), reasons=tuple(reasons), fatal=fatal)
    missing = [name for name in expected if name not in notebooks]
    if missing:
        reasons.append(f"notebook {_listed(missing)} non rendu ou illisible : ses questions sont sans réponse")
    return LoadedCopy(notebooks, tuple(files), tuple(refused), tuple(reasons), tuple(notes))


def repair_folder(submitted: Path, clean: Path, references: dict[str, NotebookNode]) -> RepairReport:
    """Écrit dans `clean` une copie que `nbgrader autograde` accepte : notebooks réparés et fichiers de données, rien d'autre.

    Args:
        submitted: dossier submitted/<étudiant>/<devoir>, jamais modifié.
        clean: dossier à écrire, absent ou vide ; rien n'est écrit si la copie ne peut pas être notée.
        references: versions étudiantes des notebooks du devoir, par nom (`read_references`).
    Raises:
        ValueError: `clean` n'est pas vide.
    """
    if clean.exists() and any(clean.iterdir()):
        raise ValueError(f"Le dossier {clean.name} n'est pas vide : videz-le, ou donnez-en un autre.")
    loaded = load_copy(submitted, references)
    reasons, written, refused, fatal = list(loaded.reasons), [], list(loaded.refused), loaded.fatal
    for name, notebook in loaded.notebooks.items():
        repaired, told = repair(notebook, references[name])
        reasons += told if len(references) == 1 else [f"{name} : {reason}" for reason in told]
        clean.mkdir(parents=True, exist_ok=True)
        path = clean / f"{name}.ipynb"
        nbformat.write(repaired, path)
        written.append(path)
    if fatal is None:
        refused += _copy_files(loaded.files, clean)
    return RepairReport(tuple(written), tuple(reasons), loaded.notes, tuple(refused), fatal)


def _walk(folder: Path) -> tuple[list[tuple[Path, str]], list[str]]:
    """Fichiers ordinaires d'une copie, avec le nom relatif à leur donner, et ce qui est refusé, avec sa raison."""
    found, refused = [], []

    def unreadable(error: OSError) -> None:
        refused.append(f"« {_shown(os.path.relpath(error.filename, folder))} » : {error.strerror}")

    for base, folders, names in os.walk(folder, followlinks=False, onerror=unreadable):
        links = [name for name in folders if os.path.islink(os.path.join(base, name))]
        folders[:] = sorted(set(folders) - set(links) - IGNORED_FOLDERS)
        if folders and len(Path(base).relative_to(folder).parts) >= MAX_DEPTH:
            refused.append(f"dossiers emboîtés sur plus de {MAX_DEPTH} niveaux")
            folders.clear()
        for name in sorted([*names, *links]):
            path = Path(base, name)
            shown = _shown(str(path.relative_to(folder)))
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
        found = sorted(found, key=lambda item: not _is_notebook_name(item[1]))[:MAX_DATA_FILES]
    return found, refused


def _shown(name: str) -> str:
    """Nom qui s'écrit en UTF-8, sans caractère de commande ; un nom venu de Windows est lu comme tel."""
    data = os.fsencode(name)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        text = data.decode("cp1252", "replace")
    return _printable(unicodedata.normalize("NFC", text))


def _printable(text: str) -> str:
    return "".join(letter if letter.isprintable() else "_" for letter in text)


def _climbs(name: str) -> bool:
    parts = re.split(r"[\\/]", name)
    return ".." in parts or "\\" in name or bool(re.match(r"[A-Za-z]:", name))


def _is_notebook_name(name: str) -> bool:
    # « ex01.ipynb.txt », « ex01.ipynb.json » : des navigateurs ajoutent une extension.
    return bool(re.search(r"\.ipynb(\.(txt|json))?$", name, re.IGNORECASE))


def _copy_files(files: Iterable[tuple[Path, str]], clean: Path) -> list[str]:
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


def _assign(
    candidates: list[_Candidate], expected: list[str], references: Mapping[str, NotebookNode]
) -> Iterator[tuple[str, _Candidate, list[str]]]:
    """Quel fichier est quel notebook du devoir ; rend (nom, fichier, raisons)."""
    claims: dict[str, list[_Candidate]] = {name: [] for name in expected}
    orphans = []
    for candidate in candidates:
        name = _recognised(candidate, expected, references)
        (orphans if name is None else claims[name]).append(candidate)
    empty = [name for name in expected if not claims[name]]
    if len(empty) == 1 and len(orphans) == 1:
        claims[empty[0]] = orphans
    for name in expected:
        if not claims[name]:
            continue
        best = min(claims[name], key=lambda item: _preference(item, name, references.get(name)))
        told = [] if best.name == f"{name}.ipynb" else [f"fichier renommé : « {best.name} » est lu comme « {name}.ipynb »"]
        if len(claims[name]) > 1:
            told.append(f"plusieurs fichiers pour « {name}.ipynb » : « {best.name} » est noté")
        yield name, best, told


def _preference(candidate: _Candidate, name: str, reference: NotebookNode | None) -> tuple:
    """Rang d'un fichier parmi ceux qui peuvent être le même notebook ; ce que valent les réponses n'y entre pas."""
    common = 0 if reference is None else _in_common(candidate.notebook, reference)
    return not _has_answers(candidate.notebook, reference), candidate.name != f"{name}.ipynb", -common, candidate.name


def _recognised(candidate: _Candidate, expected: list[str], references: Mapping[str, NotebookNode]) -> str | None:
    wanted = _name_key(Path(candidate.name).name)
    named = [name for name in expected if Path(candidate.name).name == f"{name}.ipynb"]
    named = named or [name for name in expected if _name_key(name) == wanted]
    # « problem10 » contient « problem1 » : le nom le plus long l'emporte.
    named = named or sorted((name for name in expected if _name_key(name) and _name_key(name) in wanted), key=len)[-1:]
    common = {name: _in_common(candidate.notebook, references[name]) for name in expected if name in references}
    if named and (common.get(named[0], 0) or not any(common.values())):
        return named[0]
    best = max(common, key=common.get, default=None)
    return best if best is not None and common[best] else None


def _name_key(name: str) -> str:
    """Nom de fichier ramené à ses lettres et chiffres, sans accents, extension ni mention de copie."""
    name = re.sub(r"\.ipynb(\.(txt|json))?$", "", name, flags=re.IGNORECASE)
    name = unicodedata.normalize("NFKD", name).casefold()
    name = re.sub(r"\(\d+\)|(?<![a-z])(copie|copy)([ _-]*(de|of)(?![a-z])|\d*)", "", name)
    return "".join(letter for letter in name if letter.isalnum())


def _in_common(notebook: NotebookNode, reference: NotebookNode) -> int:
    """Nombre de cellules du devoir dont on retrouve dans le notebook la marque, l'identifiant, le texte ou les fonctions."""
    marks = {cell.metadata.get("nbgrader", {}).get("grade_id") for cell in notebook.cells if isinstance(cell.metadata.get("nbgrader", {}).get("grade_id"), str)}
    ids = {cell.get("id") for cell in notebook.cells}
    texts = {_text_key(cell) for cell in notebook.cells}
    names = {name for cell in notebook.cells for name in FUNCTION.findall(cell.source)}
    return sum(
        mark(cell).get("grade_id") in marks or cell.get("id", "") in ids or _text_key(cell) in texts
        or bool(is_answer(cell) and names & set(FUNCTION.findall(cell.source)))
        for cell in reference.cells if _text_key(cell)
    )  # fmt: skip


def _has_answers(notebook: NotebookNode, reference: NotebookNode | None) -> bool:
    """Une réponse du devoir au moins y est écrite, quelle qu'elle soit."""
    if reference is None:
        return bool(notebook.cells)
    work = _Repair(notebook.cells, reference.cells)
    work.run()
    return any(work.is_answered(name) for name in work.answers)


# --- nbgrader ---------------------------------------------------------------------------------------------------------


def student_version(source: NotebookNode, config=None) -> NotebookNode:
    """Version étudiante d'un notebook source, par les préprocesseurs de nbgrader : sans corrigé, sans tests cachés, sans sorties."""
    notebook, resources = copying.deepcopy(source), ResourcesDict()
    for step in (LockCells, ClearSolutions, ClearOutput, ComputeChecksums, ClearHiddenTests, ClearMarkScheme, ComputeChecksums):
        notebook, resources = (step(config=config) if config else step()).preprocess(notebook, resources)
    return notebook


def read_references(config, assignment: str) -> dict[str, NotebookNode]:
    """Versions étudiantes des notebooks d'un devoir, par nom : celles de release/, sinon tirées de source/.

    Args:
        config: configuration de nbgrader (`CourseDirectory`, `ClearSolutions`…).
        assignment: nom du devoir.
    Raises:
        ValueError: ni release/ ni source/ ne contient ce devoir.
    """
    course = CourseDirectory(config=config)
    release, source = (Path(course.format_path(step, ".", assignment)) for step in (course.release_directory, course.source_directory))
    found = {path.stem: nbformat.read(path, as_version=4) for path in sorted(release.glob("*.ipynb"))}
    for path in sorted(source.glob("*.ipynb")):
        if path.stem not in found:
            found[path.stem] = student_version(nbformat.read(path, as_version=4), config)
    if not found:
        raise ValueError(f"Le devoir {assignment} n'est ni dans {course.release_directory}/ ni dans {course.source_directory}/ : publiez-le.")
    return found


class RepairCopy(NbGraderPreprocessor):
    """Premier des `Autograde.sanitize_preprocessors` : répare le notebook, et ôte d'autograded/ ce que nbgrader y a suivi de liens."""

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> tuple[NotebookNode, ResourcesDict]:
        """Répare la copie ; « reparations » de `resources["nbgrader"]` et le journal disent ce qui a été fait.

        Raises:
            UnreadableError: le notebook remis, ou son dossier, est un lien ou un fichier spécial.
            ValueError: le devoir n'est pas dans le cours.
        """
        names = resources["nbgrader"]
        course = CourseDirectory(config=self.config)
        submitted, autograded, source = (
            Path(course.format_path(step, student, names["assignment"]))
            for step, student in (
                (course.submitted_directory, names["student"]), (course.autograded_directory, names["student"]), (course.source_directory, "."),
            )
        )  # fmt: skip
        reasons = [f"« {name} » : lien ou fichier spécial, refusé" for name in remove_followed_links(submitted, autograded, source)]
        notebook = f"{names['notebook']}.ipynb"
        if not _is_regular(submitted, notebook):
            raise UnreadableError(f"« {notebook} » n'est pas un fichier ordinaire de la copie : il n'est pas noté")
        references = read_references(self.config, names["assignment"])
        if names["notebook"] not in references:
            raise ValueError(f"Le notebook {notebook} n'est pas dans le devoir {names['assignment']} : publiez-le.")
        repaired, told = repair(nb, references[names["notebook"]])
        names["reparations"] = reasons + told
        for reason in names["reparations"]:
            self.log.warning("%s, %s : %s", names["student"], notebook, reason)
        return repaired, resources


def remove_followed_links(submitted: Path, autograded: Path, source: Path) -> list[str]:
    """Ôte d'autograded/ les fichiers qui viennent d'un lien de la copie ; rend leurs noms.

    nbgrader copie les fichiers d'une copie avec `shutil.copy`, qui suit les liens : le corrigé ou la base y arrivent ainsi. Un
    fichier que le devoir fournit sous le même nom est remis d'après source/.
    """
    removed = []
    for base, _, names in os.walk(autograded, followlinks=False):
        for name in sorted(names):
            path = Path(base, name)
            relative = str(path.relative_to(autograded))
            if not os.path.lexists(submitted / relative) or _is_regular(submitted, relative):
                continue
            path.unlink()
            removed.append(_shown(relative))
            if path.suffix != ".ipynb" and _is_regular(source, relative):
                shutil.copyfile(source / relative, path)
    return removed


def _is_regular(folder: Path, relative: str) -> bool:
    """Le fichier est ordinaire et ni lui, ni un dossier qui y mène depuis `folder` (compris), n'est un lien."""
    path = folder / relative
    steps = [path, *(parent for parent in path.parents if parent == folder or folder in parent.parents)]
    return not any(step.is_symlink() for step in steps) and path.is_file()
