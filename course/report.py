"""Le rapport de « cours demonstration » : celui du correcteur, avec les leçons exécutées et les écarts aux notes attendues."""

from dataclasses import dataclass
from pathlib import Path

from nbconvert import HTMLExporter
from nbformat import NotebookNode

from autograder.record.grading import Class
from autograder.record.marks import Mark
from autograder.record.report import templates, write_class
from course.lessons import code_cells

# Les longues lignes reviennent à la ligne : rien n'est coupé à l'écran ni sur le papier.
WRAP = "<style>.highlight pre, .jp-OutputArea-output pre { white-space: pre-wrap; overflow-wrap: anywhere; }</style>"


@dataclass(frozen=True)
class LessonLine:
    """Une leçon dans le rapport : son nom, sa page et le nombre de cellules exécutées."""

    title: str
    page: str
    cells: int


def write_lesson(output: Path, name: str, notebook: NotebookNode) -> LessonLine:
    """Écrit la page d'une leçon exécutée, lisible hors ligne (les formules, elles, demandent MathJax)."""
    page = output / "lecons" / f"{name}.html"
    page.parent.mkdir(parents=True, exist_ok=True)
    exporter = HTMLExporter(language_code="fr", exclude_input_prompt=True, exclude_output_prompt=True)
    content, _ = exporter.from_notebook_node(notebook)
    page.write_text(content.replace("</head>", f"{WRAP}</head>", 1), encoding="utf-8")
    return LessonLine(name, f"lecons/{page.name}", len(code_cells(notebook)))


def write_demonstration(output: Path, group: Class, marks: list[Mark], lessons: list[LessonLine], faults: list[str]) -> None:
    """Écrit notes.csv et index.html.

    Args:
        output: dossier du rapport.
        group: la classe de démonstration.
        marks: ses notes.
        lessons: leçons exécutées.
        faults: leçons en faute, et écarts entre notes obtenues et attendues.
    """
    page = templates("course").get_template("demonstration.html")
    write_class(output, group, marks, page, lessons=sorted(lessons, key=lambda line: line.title), faults=faults)
