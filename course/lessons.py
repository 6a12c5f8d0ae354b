"""Dérive les leçons : du texte `notebooks/textes/NN_*.py` au notebook exécuté `notebooks/NN_*.ipynb`.

Texte, ordre, identifiants et métadonnées viennent du texte seul ; les sorties viennent de l'exécution.
"""

import hashlib
import json
import os
import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import jupytext
import nbformat
from joblib import Parallel, delayed
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbformat import NotebookNode

from autograder.settings import UsageError, replacing
from course.settings import NOTEBOOKS, TEXTS

CELL_TIMEOUT = 900  # secondes ; une cellule qui enregistre interroge un juge lent
KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
SEAL = "cours"


class LessonError(Exception):
    """Une leçon s'est arrêtée pendant son exécution : la cellule et la cause."""


def find(names: list[str] | None = None) -> list[Path]:
    """Textes des leçons demandées (« 01 » ou « 01_bleu »), toutes par défaut, dans l'ordre.

    Raises:
        UsageError: une leçon demandée n'existe pas.
    """
    texts = sorted(TEXTS.glob("[0-9][0-9]_*.py"))
    if not names:
        return texts
    chosen = []
    for name in names:
        found = [text for text in texts if text.stem == name or text.stem.split("_")[0] == name]
        if not found:
            known = ", ".join(text.stem for text in texts)
            raise UsageError(f"La leçon {name!r} n'existe pas : choisissez parmi {known}.")
        chosen += found
    return chosen


def notebook_path(text: Path) -> Path:
    """Notebook dérivé d'un texte."""
    return NOTEBOOKS / f"{text.stem}.ipynb"


def derive(text: Path) -> NotebookNode:
    """Notebook sans sorties tiré du texte ; même texte, mêmes identifiants.

    L'identifiant d'une cellule est l'empreinte de son contenu : corriger une cellule n'en renomme pas d'autre.
    """
    notebook = jupytext.reads(text.read_text(encoding="utf-8"), fmt="py:percent")
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    notebook.metadata = NotebookNode(kernelspec=KERNEL, language_info={"name": "python"})
    topic = re.sub(r"[^a-z0-9]", "", text.stem.split("_")[1].lower())
    seen = Counter()
    for cell in notebook.cells:
        content = f"{cell.cell_type}\n{cell.source}"
        digest = hashlib.sha256(content.encode()).hexdigest()[:8]
        seen[digest] += 1
        cell.id = f"{topic}-{digest}" + (f"-{seen[digest]}" if seen[digest] > 1 else "")
    return notebook


def execute(text: Path, variables: dict[str, str] | None = None) -> NotebookNode:
    """Notebook dérivé et exécuté, sorties comprises, avec le sceau de ses sorties.

    Args:
        text: texte de la leçon.
        variables: variables d'environnement du noyau ; sans elles, la leçon rejoue le journal du cours.
    Raises:
        LessonError: une cellule lève une erreur, dépasse son délai ou tue le noyau.
    """
    notebook = derive(text)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COURS_")}
    client = NotebookClient(
        notebook,
        timeout=CELL_TIMEOUT,
        kernel_name=KERNEL["name"],
        resources={"metadata": {"path": str(NOTEBOOKS)}},
        record_timing=False,
        coalesce_streams=True,
    )
    try:
        # Ce que le noyau lui-même écrit sur stderr (et non ses cellules) n'intéresse personne.
        client.execute(env=environment | (variables or {}), stderr=subprocess.DEVNULL)
    except (CellExecutionError, CellTimeoutError, DeadKernelError, RuntimeError) as error:
        raise LessonError(f"{text.stem} : {_cause(notebook, error)}") from None
    notebook.metadata.language_info = {"name": "python"}
    notebook.metadata[SEAL] = {"sceau": {cell.id: outputs_digest(cell) for cell in code_cells(notebook)}}
    return notebook


def _cause(notebook: NotebookNode, error: Exception) -> str:
    # Le nom d'une erreur et sa dernière phrase suffisent ; la trace entière reste pour qui rejoue la cellule.
    for cell in code_cells(notebook):
        for output in cell.outputs:
            if output.output_type == "error":
                return f"la cellule {cell.id} s'arrête sur {output.ename} : {output.evalue}"
    return f"exécution interrompue ({type(error).__name__})"


def execute_all(texts: list[Path], processes: int = 2) -> Iterator[tuple[Path, NotebookNode | LessonError]]:
    """Exécute plusieurs leçons à la fois ; rend chacune dès qu'elle est prête, ou son erreur."""

    def attempt(text: Path) -> tuple[Path, NotebookNode | LessonError]:
        try:
            return text, execute(text)
        except LessonError as error:
            return text, error

    yield from Parallel(n_jobs=processes, return_as="generator_unordered")(delayed(attempt)(text) for text in texts)


def code_cells(notebook: NotebookNode) -> list[NotebookNode]:
    """Cellules de code d'un notebook."""
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def outputs_digest(cell: NotebookNode) -> str:
    """Empreinte des sorties d'une cellule : une sortie retirée ou retouchée la change."""
    content = json.dumps(cell.get("outputs", []), sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(content.encode()).hexdigest()[:12]


def write(notebook: NotebookNode, path: Path) -> None:
    """Écrit le notebook d'un coup : un arrêt laisse l'ancien intact."""
    with replacing(path) as partial:
        nbformat.write(notebook, partial)
