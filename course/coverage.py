"""Couverture du programme : à chaque ligne de docs/programme.csv, la cellule de leçon qui la traite.

Une cellule annonce ses lignes par sa métadonnée `couvre` (« S0-07 E-01 ») ; ce module vérifie qu'elle dit vrai et
en tire docs/COUVERTURE.md.
"""

import csv
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from nbformat import NotebookNode

from course import checks
from course.settings import ROOT

PROGRAMME = ROOT / "docs" / "programme.csv"
PAGE = ROOT / "docs" / "COUVERTURE.md"
COLUMNS = ["id", "intitule", "valeurs", "phrase", "remarque"]
MOST_ROWS = 6  # au-delà, une cellule ne traite plus rien : elle énumère
REPAIR = "cours couverture"

INTRODUCTION = """\
# Couverture du programme

Page écrite par « cours couverture », d'après `docs/programme.csv` et les métadonnées `couvre` des cellules : elle ne
s'édite pas. Les lignes S sont les notions, valeurs et expériences du programme ; les lignes E, les erreurs répandues
que le cours corrige. Une valeur de la troisième colonne est **affichée** par l'une des cellules nommées, à l'arrondi
écrit ; une phrase entre guillemets est celle de la cellule qui corrige l'erreur.
"""
FAMILIES = {
    "S0": "Mesures lexicales, perplexité, juge et RAG",
    "S2": "Un juge peut être biaisé",
    "S3": "Évaluation et benchmarks",
    "S4": "Noter avec un juge",
    "E": "Erreurs répandues, et où le cours les corrige",
}


@dataclass(frozen=True)
class Row:
    """Ligne du programme ; `values` sont à afficher, `sentences` à écrire (erreurs seulement)."""

    id: str
    title: str
    values: tuple[str, ...]
    sentences: tuple[str, ...]
    remark: str

    @property
    def family(self) -> str:
        """Titre sous lequel la ligne est rangée : « S0 » … « S4 », ou « E » pour une erreur."""
        return self.id.split("-")[0]


@dataclass(frozen=True)
class Place:
    """Cellule qui annonce une ligne : leçon (« 01_bleu »), section qui la contient, cellule."""

    lesson: str
    section: str
    cell: NotebookNode

    def __str__(self) -> str:
        return f"{self.lesson}, cellule {self.cell.id}"


def programme() -> list[Row]:
    """Lignes de docs/programme.csv, dans l'ordre du fichier.

    Raises:
        ValueError: les colonnes ne sont pas celles de `COLUMNS`.
    """
    with PROGRAMME.open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        if reader.fieldnames != COLUMNS:
            raise ValueError(
                f"{PROGRAMME.name} : colonnes {reader.fieldnames} au lieu de {COLUMNS} ; corrigez la première ligne."
            )
        return [
            Row(line["id"], line["intitule"], pieces(line["valeurs"]), pieces(line["phrase"]), line["remarque"])
            for line in reader
        ]


def pieces(field: str) -> tuple[str, ...]:
    """Valeurs d'un champ, séparées par « | » ; aucune si le champ est vide."""
    return tuple(piece.strip() for piece in field.split("|")) if field.strip() else ()


def announced(cell: NotebookNode) -> list[str]:
    """Lignes du programme que la cellule annonce."""
    return cell.metadata.get("couvre", "").split()


def places() -> dict[str, list[Place]]:
    """Pour chaque ligne annoncée, ses cellules, dans l'ordre des leçons."""
    found = defaultdict(list)
    for text, notebook in checks.lessons():
        section = ""
        for cell in notebook.cells:
            if cell.cell_type == "markdown":
                section = [section, *re.findall(r"^#{1,3} (.+)$", cell.source, re.MULTILINE)][-1]
            for row in announced(cell):
                found[row].append(Place(text.stem, section, cell))
    return dict(found)


# --- Ce qui manque --------------------------------------------------------------------------------------------


def missing() -> Iterator[str]:
    """Chaque ligne du programme a sa cellule ; ses valeurs y sont affichées, sa phrase y est écrite."""
    rows, found = programme(), places()
    yield from badly_written(rows)
    known = {row.id for row in rows}
    for identifier in sorted(found.keys() - known):
        place = found[identifier][0]
        yield f"{place} : « {identifier} » n'est pas une ligne du programme ; corrigez sa marque « couvre »."
    yield from crowded(found)
    for row in rows:
        if row.id not in found:
            repair = f'mettez couvre="{row.id}" sur celle qui le fait'
            yield f"{row.id} ({row.title}) : aucune cellule ne la traite ; {repair}."
        else:
            yield from unshown(row, found[row.id])


def badly_written(rows: list[Row]) -> Iterator[str]:
    """Fautes du programme lui-même : ligne répétée, erreur sans phrase, valeur vide."""
    for identifier, count in Counter(row.id for row in rows).items():
        if count > 1:
            yield f"{PROGRAMME.name} : la ligne {identifier} y est {count} fois ; n'en gardez qu'une."
    for row in rows:
        if row.family == "E" and not row.sentences:
            repair = "remplissez la colonne « phrase »"
            yield f"{PROGRAMME.name}, {row.id} : une erreur cite la phrase qui la corrige ; {repair}."
        if not all(row.values + row.sentences):
            yield f"{PROGRAMME.name}, {row.id} : une valeur est vide entre deux « | » ; retirez-la."


def crowded(found: dict[str, list[Place]]) -> Iterator[str]:
    """Cellules qui annoncent trop de lignes."""
    cells = {place.cell.id: place for its_places in found.values() for place in its_places}
    for place in cells.values():
        if (count := len(announced(place.cell))) > MOST_ROWS:
            yield f"{place} : elle annonce {count} lignes du programme, {MOST_ROWS} au plus ; répartissez-les."


def unshown(row: Row, its_places: list[Place]) -> Iterator[str]:
    """Valeurs qu'aucune sortie des cellules de la ligne n'affiche, phrases qu'aucun de leurs textes n'écrit."""
    where = " ; ".join(map(str, its_places))
    printed = [checks.output_text(place.cell) for place in its_places]
    for value in row.values:
        if not any(shows(text, value) for text in printed):
            lack = f"« {value} » n'est dans aucune sortie de ses cellules ({where})"
            yield f"{row.id} : {lack} ; affichez-la ou corrigez la marque."
    written = [squeeze(place.cell.source) for place in its_places]
    for sentence in row.sentences:
        if not any(squeeze(sentence) in text for text in written):
            lack = f"la phrase « {sentence} » n'est dans aucune de ses cellules ({where})"
            yield f"{row.id} : {lack} ; écrivez-la ou corrigez la marque."


def shows(printed: str, value: str) -> bool:
    """La sortie affiche-t-elle cette valeur ? Un nombre à son arrondi, un texte tel quel (espaces mis à part)."""
    if number := checks.PROSE_NUMBER.fullmatch(value):
        return checks.is_quoted(number.group(1), bool(number.group(2)), checks.printed_numbers(printed))
    # Un texte ne commence ni ne finit au milieu d'un mot ou d'un nombre : « 1/4 » n'est pas dans « 11/40 ».
    return re.search(rf"(?<![\w.,]){re.escape(squeeze(value))}(?![\w])", squeeze(printed)) is not None


def squeeze(text: str) -> str:
    """Texte dont chaque suite d'espaces, insécables ou fins de ligne compris, est une seule espace."""
    return " ".join(text.split())


# --- La page --------------------------------------------------------------------------------------------------


def page() -> str:
    """Contenu de docs/COUVERTURE.md."""
    rows, found = programme(), places()
    parts = [INTRODUCTION]
    for family, title in FAMILIES.items():
        parts.append(f"\n## {title}\n\n| ligne | intitulé | affiché ou écrit | cellule |\n|---|---|---|---|\n")
        parts += [line(row, found.get(row.id, [])) for row in rows if row.family == family]
    return "".join(parts)


def line(row: Row, its_places: list[Place]) -> str:
    """Ligne du tableau."""
    evidence = [f"`{value}`" for value in row.values] + [f"« {sentence} »" for sentence in row.sentences]
    remark = f"<br>*{row.remark}*" if row.remark else ""
    links = [
        f"[{place.lesson[:2]} · {place.section}](../notebooks/{place.lesson}.ipynb#cell-id={place.cell.id})"
        f" `{place.cell.id}`"
        for place in its_places
    ]
    cells = [row.id, row.title + remark, " ; ".join(evidence), "<br>".join(links) or "**aucune**"]
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"


def write() -> bool:
    """Récrit docs/COUVERTURE.md ; rend vrai si la page a changé."""
    content = page()
    if PAGE.exists() and PAGE.read_text(encoding="utf-8") == content:
        return False
    PAGE.write_text(content, encoding="utf-8")
    return True


def outdated() -> Iterator[str]:
    """docs/COUVERTURE.md est ce que donnent le programme et les leçons."""
    if not PAGE.exists():
        yield f"docs/{PAGE.name} manque : lancez « {REPAIR} »."
    elif PAGE.read_text(encoding="utf-8") != page():
        yield f"docs/{PAGE.name} ne correspond plus aux leçons : on ne l'édite pas, lancez « {REPAIR} »."
