"""La page `rapport/index.html` : les leçons exécutées et les notes, pour les yeux."""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, PackageLoader, select_autoescape
from nbconvert import HTMLExporter
from nbformat import NotebookNode

from autograder.grading import Mark


@dataclass(frozen=True)
class LessonLine:
    """Une leçon dans le rapport : son titre, sa page et le nombre de cellules exécutées."""

    title: str
    page: str
    cells: int


def lesson_page(notebook: NotebookNode) -> str:
    """Page HTML d'une leçon exécutée, lisible hors ligne (les formules, elles, demandent MathJax)."""
    exporter = HTMLExporter(language_code="fr", exclude_input_prompt=True, exclude_output_prompt=True)
    page, _ = exporter.from_notebook_node(notebook)
    return page


def write_index(path: Path, lessons: list[LessonLine], marks: list[Mark], faults: list[str]) -> None:
    """Écrit la page du rapport.

    Args:
        path: fichier à écrire.
        lessons: leçons exécutées.
        marks: notes de la classe.
        faults: écarts entre notes obtenues et attendues ; vide si tout concorde.
    """
    templates = Environment(loader=PackageLoader("autograder"), autoescape=select_autoescape(), trim_blocks=True, lstrip_blocks=True)
    templates.filters["french"] = lambda value: "—" if value is None else f"{value:g}".replace(".", ",")
    assignments = sorted({mark.devoir for mark in marks})
    path.write_text(
        templates.get_template("report.html").render(
            lessons=lessons,
            faults=faults,
            statuses=Counter(mark.statut for mark in marks),
            classes=[(name, [mark for mark in marks if mark.devoir == name]) for name in assignments],
        ),
        encoding="utf-8",
    )
