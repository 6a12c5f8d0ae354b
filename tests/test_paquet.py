"""Le correcteur seul : sa roue, dans un environnement vide, note des cours nbgrader qui ne savent rien de celui-ci.

La référence est `nbgrader autograde`, sans rien changer, dans le même environnement : mêmes copies honnêtes, mêmes notes.
"""

import csv
import os
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_notebook
from nbgrader.api import Gradebook
from sqlalchemy.exc import SAWarning

from autograder.execution.sandbox import available
from course.settings import ROOT
from tests.devoirs import cell

ABSENT = ("helpers", "course", "openai", "nltk", "matplotlib", "jupytext")
pytestmark = pytest.mark.skipif(available() is not None, reason="bubblewrap absent")


@pytest.fixture(scope="module")
def environment(tmp_path_factory) -> Path:
    """Environnement vide où seule la roue est installée ; rend son dossier bin."""
    folder = tmp_path_factory.mktemp("paquet")
    # setuptools construit sur place : on lui donne une copie.
    shutil.copytree(ROOT / "autograder", folder / "autograder", ignore=shutil.ignore_patterns("__pycache__", "build", "*.egg-info"))
    wheels = folder / "dist"
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "wheel", "--no-deps", "--wheel-dir", wheels, folder / "autograder"], check=True, cwd=folder)
    (wheel,) = wheels.glob("*.whl")
    subprocess.run([sys.executable, "-m", "venv", folder / "seul"], check=True)
    pins = ROOT / "requirements.txt"  # mêmes versions que le cours : la comparaison ne tient qu'au correcteur
    subprocess.run([folder / "seul" / "bin" / "pip", "install", "--quiet", "-c", pins, wheel], check=True)
    return folder / "seul" / "bin"


def run(environment: Path, folder: Path, *command: str) -> subprocess.CompletedProcess:
    """Exécute une commande de cet environnement dans un dossier."""
    variables = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
    variables["PATH"] = f"{environment}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run([environment / command[0], *command[1:]], cwd=folder, env=variables, capture_output=True, text=True)


def marks(course: Path) -> dict[str, tuple[str, str]]:
    """Notes et statuts de notes.csv, par étudiant."""
    with (course / "rapport" / "notes.csv").open(encoding="utf-8", newline="") as file:
        return {row["etudiant"]: (row["note"], row["statut"]) for row in csv.DictReader(file)}


def scores(course: Path) -> dict[str, str]:
    """Notes de la base de nbgrader, pénalité de retard déduite, par étudiant."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SAWarning)
        with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
            found = gradebook.assignment_submissions("ps1")
            return {
                copy.student.id: f"{copy.score - sum(part.late_submission_penalty or 0 for part in copy.notebooks):g}" for copy in found
            }


def both(environment: Path, course: Path, theirs: Path) -> tuple[dict, dict]:
    """Note un cours deux fois, par la roue et par nbgrader seul, dans deux exemplaires ; rend les deux séries de notes."""
    shutil.copytree(course, theirs)
    done = run(environment, course, "correcteur", "noter")
    assert done.returncode == 0, done.stdout + done.stderr
    run(environment, theirs, "nbgrader", "autograde", "ps1", "--create")
    return marks(course), scores(theirs)


def answer(notebook: Path, grade_id: str, source: str) -> None:
    """Remplace une réponse d'une copie."""
    content = nbformat.read(notebook, as_version=4)
    (cell,) = [cell for cell in content.cells if cell.metadata.get("nbgrader", {}).get("grade_id") == grade_id]
    cell.source = source
    nbformat.write(content, notebook)


def test_rien_de_ce_cours_n_est_installe(environment):
    """La roue s'installe sans le cours, ni ses bibliothèques ; la copie, elle, ne voit pas le correcteur."""
    code = f"import importlib.util as u; print([name for name in {ABSENT!r} if u.find_spec(name)])"
    assert run(environment, environment, "python", "-I", "-c", code).stdout.strip() == "[]"
    code = "from autograder.execution.sandbox import package_paths as p; print('autograder' in {path.name for path in p(None)})"
    assert run(environment, environment, "python", "-I", "-c", code).stdout.strip() == "False"


def test_cours_de_nbgrader_quickstart(environment, tmp_path):
    """Le cours qu'écrit `nbgrader quickstart`, une copie juste, une fausse, une vide : notes de nbgrader, à la main et à la machine."""
    assert run(environment, tmp_path, "nbgrader", "quickstart", "cours").returncode == 0
    course = tmp_path / "cours"
    assert run(environment, course, "nbgrader", "generate_assignment", "ps1", "--create").returncode == 0
    for student, base in (("juste", "source"), ("fausse", "release"), ("vide", "release")):
        shutil.copytree(course / base / "ps1", course / "submitted" / student / "ps1")
    answer(course / "submitted" / "fausse" / "ps1" / "problem1.ipynb", "squares", "def squares(n):\n    return [i for i in range(n)]")
    ours, reference = both(environment, course, tmp_path / "reference")
    # À la main : squares vaut 1 + 1 point (le premier pour les valeurs, le second pour l'erreur attendue), sum_of_squares 0,5 + 0,5.
    assert reference["juste"] == "3" and reference["vide"] == "0"
    assert {student: note for student, (note, _) in ours.items()} == reference
    assert {status for _, status in ours.values()} == {"a_relire"}  # ps1 a des réponses qu'une personne lit


def foreign_course(course: Path) -> None:
    """Un cours étranger : deux notebooks, tests cachés anglais, données, question lue, tâche, note partielle, pénalité de retard."""
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    first = new_notebook(metadata=kernel, cells=[
        cell("donnee", "lire", "import csv\n\ndef lire(nom):\n    with open(nom) as file:\n        return [float(row[0]) for row in csv.reader(file)]"),
        cell("reponse", "moyenne", "### BEGIN SOLUTION\ndef moyenne(nom):\n    valeurs = lire(nom)\n    return sum(valeurs) / len(valeurs)\n### END SOLUTION"),
        cell("test", "moyenne_test", "assert moyenne('mesures.csv') == 4\n### BEGIN HIDDEN TESTS\nassert moyenne('autres.csv') == 10\n### END HIDDEN TESTS", 3),
        cell("redaction", "avis", "### BEGIN SOLUTION\nLa moyenne est sensible aux extrêmes.\n### END SOLUTION", 2),
        cell("tache", "dessin", "Dessinez la distribution.", 1),
    ])  # fmt: skip
    second = new_notebook(metadata=kernel, cells=[
        cell("reponse", "cubes", "### BEGIN SOLUTION\ndef cubes(n):\n    return [i**3 for i in range(n)]\n### END SOLUTION"),
        cell("test", "cubes_test", "sum(got == want for got, want in zip(cubes(4), [0, 1, 8, 27])) / 2", 2),
    ])  # fmt: skip
    (course / "source" / "ps1").mkdir(parents=True)
    for name, notebook in (("moyennes", first), ("cubes", second)):
        nbformat.write(notebook, course / "source" / "ps1" / f"{name}.ipynb")
    (course / "source" / "ps1" / "mesures.csv").write_text("2\n4\n6\n", encoding="utf-8")
    (course / "source" / "ps1" / "autres.csv").write_text("5\n15\n", encoding="utf-8")
    (course / "retard.py").write_text(
        "from nbgrader.plugins import BasePlugin\n\n\nclass Retard(BasePlugin):\n"
        "    def late_submission_penalty(self, student_id, score, total_seconds_late):\n        return score / 2\n", encoding="utf-8",
    )  # fmt: skip
    (course / "nbgrader_config.py").write_text(
        "import os, sys\nsys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))\nc = get_config()\n"
        "c.CourseDirectory.root = os.path.dirname(os.path.abspath(__file__))\n"
        "c.AssignLatePenalties.plugin_class = 'retard.Retard'\n", encoding="utf-8",
    )  # fmt: skip


def test_cours_etranger(environment, tmp_path):
    """Tests cachés, fichiers de données, deux notebooks, question lue, tâche, note partielle et retard : mêmes notes que nbgrader."""
    course = tmp_path / "cours"
    foreign_course(course)
    added = run(environment, course, "nbgrader", "db", "assignment", "add", "ps1", "--duedate=2026-01-10 12:00:00 UTC")
    assert added.returncode == 0, added.stderr
    assert run(environment, course, "nbgrader", "generate_assignment", "ps1").returncode == 0
    for student, base in (("juste", "source"), ("retard", "source"), ("partielle", "source"), ("constante", "source"), ("vide", "release")):
        shutil.copytree(course / base / "ps1", course / "submitted" / student / "ps1")
    (course / "submitted" / "retard" / "ps1" / "timestamp.txt").write_text("2026-01-11 12:00:00 UTC", encoding="utf-8")
    answer(course / "submitted" / "partielle" / "ps1" / "cubes.ipynb", "cubes", "def cubes(n):\n    return [i * i for i in range(n)]")
    answer(course / "submitted" / "constante" / "ps1" / "moyennes.ipynb", "moyenne", "def moyenne(nom):\n    return 4")
    ours, reference = both(environment, course, tmp_path / "reference")
    # À la main : 3 + 2 ; la moitié ; 3 + (0 et 1 justes sur quatre)/2 = 3 + 1 ; le test caché refuse la constante : 0 + 2 ; rien.
    wanted = {"juste": "5", "retard": "2.5", "partielle": "4", "constante": "2", "vide": "0"}
    assert reference == wanted
    assert {student: note for student, (note, _) in ours.items()} == wanted
