"""Rend à un notebook les cellules de son devoir : chacune une fois, à sa place, avec sa marque nbgrader et sa réponse.

Rien ici n'exécute le code d'une copie, ni ne regarde ce que vaut une réponse. Sert tout cours nbgrader.
"""

import ast
import copy as copying
import re
from bisect import bisect_left
from collections import defaultdict

from nbformat import NotebookNode

from autograder.intake.assignment import grade_id
from autograder.intake.copyfiles import CELL_ID, plain_text, read_cells, without_controls

FUNCTION = re.compile(r"^(?:async[ \t]+)?(?:def|class)[ \t]+(\w+)", re.MULTILINE)
VARIABLE = re.compile(r"^(\w+)[ \t]*(?::[^=\n]+)?=(?!=)", re.MULTILINE)
COMPARED_MARKS = ("schema_version", "grade", "solution", "locked", "points", "task")
ELSEWHERE = "# Cette réponse est donnée dans la cellule « {} »."
MOST_PASSES = 5


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
    cells, reasons = read_cells(copy)
    # Une réparation peut en découvrir une autre (une amorce qui n'était en trop qu'une fois sa voisine reconnue).
    for _ in range(MOST_PASSES):
        work = _Repair(cells, [_reference_cell(cell) for cell in reference.cells])
        repaired = _notebook(work.run(), reference.metadata)
        if not work.sentences():
            break
        reasons += [sentence for sentence in work.sentences() if sentence not in reasons]
        cells, _ = read_cells(repaired)
    return repaired, reasons


def _reference_cell(cell: NotebookNode) -> NotebookNode:
    kept = copying.deepcopy(cell)
    kept.source = kept.source.replace("\r\n", "\n")
    if kept.cell_type == "code":
        kept.update(outputs=[], execution_count=None)
    return kept


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


SENTENCES = {  # genre de réparation : (une cellule, plusieurs)
    "double": (
        "cellule {} en double : la dernière version qui contient une réponse est gardée",
        "cellules {} en double : la dernière version qui contient une réponse est gardée",
    ),
    "double_devoir": (
        "cellule du devoir {} en double : une seule est gardée",
        "cellules du devoir {} en double : une seule de chaque est gardée",
    ),
    "identifiant": (
        "cellule {} sans marque nbgrader : reconnue à son identifiant",
        "cellules {} sans marque nbgrader : reconnues à leur identifiant",
    ),
    "contenu": (
        "cellule {} sans marque nbgrader : reconnue à son contenu",
        "cellules {} sans marque nbgrader : reconnues à leur contenu",
    ),
    "place": (
        "cellule {} sans marque nbgrader : reconnue à sa place",
        "cellules {} sans marque nbgrader : reconnues à leur place",
    ),
    "absente": (
        "cellule réponse {} absente : l'amorce du devoir la remplace",
        "cellules réponses {} absentes : l'amorce du devoir les remplace",
    ),
    "absente_devoir": (
        "cellule du devoir {} absente : elle est remise",
        "cellules du devoir {} absentes : elles sont remises",
    ),
    "ailleurs": (
        "réponse de la cellule {} donnée dans une autre cellule : elle est lue là",
        "réponses des cellules {} données dans une autre cellule : elles sont lues là",
    ),
    "modifiee": (
        "cellule du devoir {} modifiée : le texte du devoir est remis",
        "cellules du devoir {} modifiées : le texte du devoir est remis",
    ),
    "type": (
        "cellule {} d'un autre type : son type est rétabli",
        "cellules {} d'un autre type : leur type est rétabli",
    ),
    "marque": (
        "cellule {} à la marque nbgrader modifiée : la marque du devoir est remise",
        "cellules {} à la marque nbgrader modifiée : la marque du devoir est remise",
    ),
    "deplacee": (
        "cellule {} déplacée : remise à sa place",
        "cellules {} déplacées : remises à leur place",
    ),
    "inconnue": (
        "cellule {} à la marque inconnue de ce devoir : gardée sans note",
        "cellules {} à la marque inconnue de ce devoir : gardées sans note",
    ),
    "amorce": (
        "amorce de la cellule {} laissée en trop : ôtée",
        "amorces des cellules {} laissées en trop : ôtées",
    ),
}


class _Repair:
    """Une réparation en cours : quelle cellule de l'étudiant (par son rang) tient lieu de quelle cellule du devoir.

    Args:
        cells: cellules de l'étudiant, ramenées à l'essentiel par `read_cells`.
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
            name = grade_id(cell)
            if isinstance(name, str) and name in self.marked:
                self.by_mark[name].append(rank)
            else:
                if mark(cell):
                    self._say("inconnue", without_controls(plain_text(name))[:60])
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
                result.append((one if len(names) == 1 else several).format(listed(names)))
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
        if how and best not in self.by_mark[name]:
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
        defining = [rank for rank in self._pool() if names & set(pattern.findall(self.cells[rank].source))]
        return [rank for rank in defining if _is_answered(self.cells[rank], wanted) and _is_code(self.cells[rank])]

    def _match_by_place(self) -> None:
        """Réponses absentes entre deux cellules reconnues : s'il y a là autant de cellules libres, ce sont elles."""
        gaps = self._gaps()
        anchors = {after for _, _, after in gaps}
        for missing, before, after in gaps:
            if not missing or before is after is None:
                continue
            wanted = [self.answers[name].cell_type for name in missing]
            free = set(self._pool()) - anchors - self.known
            inside = range(0 if before is None else before + 1, len(self.cells) if after is None else after)
            ranks = [rank for rank in inside if rank in free and self.cells[rank].source.strip()]
            ranks = [rank for rank in ranks if self.cells[rank].cell_type in wanted]
            if [self.cells[rank].cell_type for rank in ranks] == wanted:
                for name, rank in zip(missing, ranks, strict=True):
                    self._choose(name, [rank], "place")

    def _gaps(self) -> list[tuple[list[str], int | None, int | None]]:
        """Réponses absentes, puis rangs des cellules reconnues qui les précèdent et les suivent (None au bord du notebook)."""
        owned = self.known | set(self.chosen.values())
        plain = defaultdict(list)  # cellules sans marque, par texte : celles du devoir servent aussi de repères
        for rank, cell in enumerate(self.cells):
            if rank not in owned:
                plain[_text_key(cell)].append(rank)
        gaps, missing, before = [], [], None
        for cell in self.reference:
            name, key = mark(cell).get("grade_id"), _text_key(cell)
            if name:
                anchor = self.chosen.get(name)
            else:
                anchor = plain[key].pop(0) if key and plain[key] else None
            if anchor is not None:
                gaps.append((missing, before, anchor))
                missing, before = [], anchor
            elif name in self.answers:
                missing.append(name)
        return [*gaps, (missing, before, None)]

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
            if any((theirs.get(key) or 0) != (ours.get(key) or 0) for key in COMPARED_MARKS):
                self._say("marque", name)

    def _ordered(self) -> list[NotebookNode]:
        """Cellules du devoir dans son ordre ; celles de l'étudiant suivent leur voisine."""
        # Une cellule récrite en lecture seule peut avoir servi de réponse : elle garde alors cette seule place.
        taken = {self.chosen.get(name) for name in self.answers}
        self.chosen = {name: rank for name, rank in self.chosen.items() if name in self.answers or rank not in taken}
        order = {name: place for place, name in enumerate(self.marked)}
        owners = {rank: name for name, rank in self.chosen.items()}
        misplaced = _out_of_order([order[owners[rank]] for rank in sorted(owners)])
        moved = [name for name, place in order.items() if place in misplaced]
        self.found["deplacee"] += moved
        before, after = self._neighbours(owners, moved)
        result = after.get(None, [])
        for name, wanted in self.marked.items():
            result += before.get(name, []) + [_plain(self.cells[rank]) for rank in self._former(name)]
            result.append(self._final(name, wanted))
            result += after.get(name, [])
        return result

    def _former(self, name: str) -> list[int]:
        return [rank for rank in self.earlier.get(name, []) if rank not in self.chosen.values() and rank not in self.dropped]

    def _neighbours(self, owners: dict[int, str], moved: list[str]) -> tuple[dict, dict]:
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


def listed(names: list[str], most: int = 6) -> str:
    """Noms entre guillemets ; au-delà de `most`, le nombre des autres."""
    shown = ", ".join(f"« {name} »" for name in names[:most])
    return shown if len(names) <= most else f"{shown} et {len(names) - most} autres"


def cells_in_common(notebook: NotebookNode, reference: NotebookNode) -> int:
    """Nombre de cellules du devoir dont on retrouve dans le notebook la marque, l'identifiant, le texte ou les fonctions."""
    marks = {name for name in (grade_id(cell) for cell in notebook.cells) if isinstance(name, str)}
    ids = {cell.get("id") for cell in notebook.cells}
    texts = {_text_key(cell) for cell in notebook.cells}
    names = {name for cell in notebook.cells for name in FUNCTION.findall(cell.source)}
    return sum(
        mark(cell).get("grade_id") in marks
        or cell.get("id", "") in ids
        or _text_key(cell) in texts
        or bool(is_answer(cell) and names & set(FUNCTION.findall(cell.source)))
        for cell in reference.cells
        if _text_key(cell)
    )


def has_answers(notebook: NotebookNode, reference: NotebookNode | None) -> bool:
    """Une réponse du devoir au moins y est écrite, quelle qu'elle soit."""
    if reference is None:
        return bool(notebook.cells)
    work = _Repair(notebook.cells, reference.cells)
    work.run()
    return any(work.is_answered(name) for name in work.answers)
