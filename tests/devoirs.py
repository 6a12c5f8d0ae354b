"""Cellules de devoirs nbgrader, pour les tests qui écrivent leur propre cours."""

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell


def cell(kind: str, name: str, source: str, points: float | None = None) -> NotebookNode:
    """Cellule « reponse », « test », « redaction » (notée par une personne), « tache » ou « donnee » ; `name` l'identifie."""
    marks = {
        "schema_version": 3, "grade_id": name, "task": kind == "tache", "grade": kind in ("test", "redaction"),
        "solution": kind in ("reponse", "redaction"), "locked": kind in ("test", "tache", "donnee"),
    } | ({} if points is None else {"points": points})  # fmt: skip
    new = new_markdown_cell if kind in ("redaction", "tache") else new_code_cell
    return new(source, id=name, metadata={"nbgrader": marks})
