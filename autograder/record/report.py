"""Le rapport : les notes d'une classe, en une page que l'on regarde."""

import json
from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined, Template, select_autoescape

from autograder.intake.assignment import grade_id, kind
from autograder.record.grading import Class
from autograder.record.marks import Mark, write_marks
from autograder.settings import replacing

BINS = 10  # classes de la répartition des notes


@dataclass(frozen=True)
class AssignmentReport:
    """Un devoir dans le rapport : ses notes, leur répartition et la réussite de chaque test."""

    name: str
    marks: list[Mark]
    histogram: list[tuple[str, int]]
    tests: list[tuple[str, int, int]]


@cache
def templates(*packages: str) -> Environment:
    """Gabarits du correcteur, et d'abord ceux de ces paquets ; tout texte y est échappé, et un nom que la page n'a pas reçu est une erreur."""
    loader = ChoiceLoader([PackageLoader(name) for name in (*packages, "autograder.record")])
    settings = {"autoescape": select_autoescape(), "undefined": StrictUndefined, "trim_blocks": True, "lstrip_blocks": True}
    environment = Environment(loader=loader, **settings)
    environment.filters["french"] = lambda value: "—" if value is None else f"{value:g}".replace(".", ",")
    return environment


def write_class(output: Path, group: Class, marks: list[Mark], page: Template | None = None, **values) -> None:
    """Écrit notes.csv et index.html.

    Args:
        output: dossier du rapport.
        group: classe notée (devoirs, isolement, résultats gardés).
        marks: notes de la classe.
        page: gabarit qui étend report.html, si la page en dit plus.
        values: ce qu'il demande.
    """
    write_marks(marks, output / "notes.csv")
    content = (page or templates().get_template("report.html")).render(
        isolation=group.isolation,
        total=len(marks),
        statuses=Counter(mark.statut for mark in marks),
        errors=[mark for mark in marks if mark.statut == "erreur"],
        assignments=[_assignment(group, name, marks) for name in sorted({mark.devoir for mark in marks})],
        **values,
    )
    with replacing(output / "index.html") as partial:
        partial.write_text(content, encoding="utf-8")


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
