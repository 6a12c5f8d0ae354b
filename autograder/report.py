"""Le rapport : les leçons exécutées, et les notes d'une classe, en pages que l'on regarde."""

import json
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, PackageLoader, select_autoescape
from nbconvert import HTMLExporter
from nbformat import NotebookNode

from autograder.grading import Class, Mark, write_marks
from autograder.lessons import code_cells
from autograder.settings import replacing
from autograder.tester import grade_id, kind

# Les longues lignes reviennent à la ligne : rien n'est coupé à l'écran ni sur le papier.
WRAP = "<style>.highlight pre, .jp-OutputArea-output pre { white-space: pre-wrap; overflow-wrap: anywhere; }</style>"
BINS = 10  # classes de la répartition des notes


@dataclass(frozen=True)
class LessonLine:
    """Une leçon dans le rapport : son nom, sa page et le nombre de cellules exécutées."""

    title: str
    page: str
    cells: int


@dataclass(frozen=True)
class AssignmentReport:
    """Un devoir dans le rapport : ses notes, leur répartition et la réussite de chaque test."""

    name: str
    marks: list[Mark]
    histogram: list[tuple[str, int]]
    tests: list[tuple[str, int, int]]


def templates() -> Environment:
    """Gabarits du correcteur ; tout texte y est échappé."""
    loader, escape = PackageLoader("autograder"), select_autoescape()
    environment = Environment(loader=loader, autoescape=escape, trim_blocks=True, lstrip_blocks=True)
    environment.filters["french"] = lambda value: "—" if value is None else f"{value:g}".replace(".", ",")
    return environment


def write_lesson(output: Path, name: str, notebook: NotebookNode) -> LessonLine:
    """Écrit la page d'une leçon exécutée, lisible hors ligne (les formules, elles, demandent MathJax)."""
    page = output / "lecons" / f"{name}.html"
    page.parent.mkdir(parents=True, exist_ok=True)
    exporter = HTMLExporter(language_code="fr", exclude_input_prompt=True, exclude_output_prompt=True)
    content, _ = exporter.from_notebook_node(notebook)
    page.write_text(content.replace("</head>", f"{WRAP}</head>", 1), encoding="utf-8")
    return LessonLine(name, f"lecons/{page.name}", len(code_cells(notebook)))


def write_class(
    output: Path, group: Class, marks: list[Mark], lessons: list[LessonLine], faults: list[str], demonstration: bool
) -> None:
    """Écrit notes.csv et index.html.

    Args:
        output: dossier du rapport.
        group: classe notée (devoirs, isolement, résultats gardés).
        marks: notes de la classe.
        lessons: leçons exécutées, s'il y en a.
        faults: écarts entre notes obtenues et attendues (classe de démonstration).
        demonstration: la classe est-elle celle de démonstration ?
    """
    write_marks(marks, output / "notes.csv")
    page = templates().get_template("report.html").render(
        lessons=sorted(lessons, key=lambda line: line.title),
        faults=faults,
        demonstration=demonstration,
        isolation=group.isolation,
        total=len(marks),
        statuses=Counter(mark.statut for mark in marks),
        errors=[mark for mark in marks if mark.statut == "erreur"],
        assignments=[_assignment(group, name, marks) for name in sorted({mark.devoir for mark in marks})],
    )
    with replacing(output / "index.html") as partial:
        partial.write_text(page, encoding="utf-8")


def _assignment(group: Class, name: str, marks: list[Mark]) -> AssignmentReport:
    chosen = [mark for mark in marks if mark.devoir == name]
    return AssignmentReport(name, chosen, histogram(chosen), _tests(group, name, chosen))


def histogram(marks: list[Mark]) -> list[tuple[str, int]]:
    """Répartition des notes en dix classes égales, la dernière fermée : [(« 0–2 », effectif), …], copies sans note exclues."""
    graded = [mark for mark in marks if mark.note is not None and mark.note_max > 0]
    if not graded:
        return []
    maximum = graded[0].note_max
    counts = Counter(min(BINS - 1, int(BINS * mark.note / mark.note_max)) for mark in graded)
    edges = [f"{rank * maximum / BINS:g}".replace(".", ",") for rank in range(BINS + 1)]
    return [(f"{edges[rank]}–{edges[rank + 1]}", counts[rank]) for rank in range(BINS)]


def _tests(group: Class, name: str, marks: list[Mark]) -> list[tuple[str, int, int]]:
    """Réussite de chaque test : (test, copies qui le passent, copies notées), dans l'ordre du devoir."""
    passed, seen = defaultdict(int), defaultdict(int)
    for mark in marks:
        for path in (group.results / mark.etudiant / name).glob("*.json"):
            if mark.note is None:
                continue
            for test, verdict in json.loads(path.read_text(encoding="utf-8"))["tests"].items():
                seen[test] += 1
                passed[test] += verdict["passed"]
    order = [grade_id(cell) for source in group.sources(name).values() for cell in source.cells if kind(cell) == "test"]
    return [(test, passed[test], seen[test]) for test in order if seen[test]]
