"""Démarrages : chaque commande et chaque module ne charge que ce qu'il lui faut ; JupyterLab se suffit à lui-même."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from course.settings import ROOT

COURS = Path(sys.executable).with_name("cours")
HEAVY = {
    "IPython", "ipykernel", "jupyter_client", "jupytext", "matplotlib", "nbclient", "nbconvert", "nbformat", "nbgrader", "nltk",
    "numpy", "openai", "pandas", "rouge_score", "sacrebleu", "scipy", "sklearn", "sqlalchemy", "torch", "transformers",
}  # fmt: skip
NEEDED = {
    "agreement": set(),
    "benchmarks": set(),
    "bertscore": {"numpy"},
    "bleu": set(),
    "contextual": {"numpy"},
    "elo": {"numpy"},
    "french_vectors": {"numpy"},
    "journal": {"openai"},
    "judge": {"openai"},
    "perplexity": set(),
    "plots": {"IPython", "matplotlib", "numpy"},
    "rag": set(),
    "rouge": set(),
    "tokens": set(),
}


def heavy_imports(*command: str | Path) -> set[str]:
    """Bibliothèques lourdes importées par une commande, lues dans la trace de Python."""
    environment = os.environ | {"PYTHONPROFILEIMPORTTIME": "1"}
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=environment, check=True)
    lines = [line for line in done.stderr.splitlines() if line.startswith("import time:")]
    modules = {line.rpartition("|")[2].strip().partition(".")[0] for line in lines}
    assert "encodings" in modules, "la trace des imports est vide"
    return modules & HEAVY


def test_chaque_module_a_sa_ligne():
    assert NEEDED.keys() == {path.stem for path in (ROOT / "helpers").glob("[a-z]*.py")}


@pytest.mark.parametrize("module", NEEDED)
def test_un_module_ne_charge_que_ses_bibliotheques(module):
    assert heavy_imports(sys.executable, "-c", f"import helpers.{module}") == NEEDED[module]


@pytest.mark.parametrize("arguments", [["--help"], ["noter", "--help"], ["valider", "--help"], ["juge", "--help"]])
def test_l_aide_ne_charge_rien_de_lourd(arguments):
    """L'aide répond sans notebooks, sans nbgrader et sans calcul."""
    assert heavy_imports(COURS, *arguments) == set()


def test_cours_lab_ouvre_une_lecon_sans_autre_serveur(monkeypatch):
    """La première cellule de la leçon, qui crée le client du juge, s'exécute ; rien d'autre n'écoute, rien ne sort."""
    monkeypatch.syspath_prepend(ROOT / "bench")
    from lab import lab

    with lab() as running:
        reply = running.run_first_cell("05_rag_fidelite_rappel")
        assert reply["status"] == "ok", reply
        assert running.strangers() == []
        kernel = running.ask("sessions")[0]["kernel"]["id"]
        code = "import socket; other = socket.create_server(('0.0.0.0', 0)); port = other.getsockname()[1]"
        assert running.execute(kernel, code)["status"] == "ok"
        assert any("0.0.0.0" in stranger for stranger in running.strangers())
    assert not running.server.is_running()
