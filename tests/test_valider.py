"""« cours valider » : les tests visibles, sans source/, avec une phrase par test et un code de sortie."""

import shutil

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from autograder.judgement import validation
from autograder.judgement.validation import report, targets, validate, with_names
from autograder.settings import UsageError
from course.demonstration import build_copy
from course.settings import COPIES, RELEASE

EX = "ex01_bleu2"


@pytest.fixture
def course(tmp_path, monkeypatch):
    """Un cours tel que l'étudiant le reçoit : release/ seulement."""
    shutil.copytree(RELEASE, tmp_path / "release")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def copy_of(course, student, assignment=EX, name=None):
    """Copie de démonstration posée dans un dossier quelconque."""
    folder = course / "telechargements"
    path = build_copy(RELEASE / assignment / f"{assignment}.ipynb", COPIES / assignment / f"{student}.py", folder)
    return path.rename(folder / name) if name else path


def only(wanted, course):
    """La validation de la seule copie trouvée."""
    (target,) = targets(str(wanted), course)
    return validate(target)


@pytest.mark.parametrize("assignment", ["ex01_bleu2", "ex02_perplexite", "ex03_juge_symetrique"])
def test_copie_parfaite(course, assignment):
    """Sans corrigé ni test caché, une copie juste passe tous les tests visibles, et cela n'est pas dit être une note."""
    result = only(copy_of(course, "parfaite", assignment), course)
    assert result.passed and result.tests and result.reserved and result.remarks == ()
    assert "n'est pas une note" in report(result)[-1]


@pytest.mark.parametrize("assignment", ["ex01_bleu2", "ex02_perplexite", "ex03_juge_symetrique"])
def test_copie_vide(course, assignment):
    """Une copie intouchée, celle de release/, dit « non implémenté » à chaque test."""
    result = only(assignment, course)
    assert not result.passed and result.remarks == ()
    assert all("non implémenté" in test.message for test in result.tests)


def test_phrases(course):
    """Chaque échec dit ce qui est obtenu, attendu, et quoi relire ; rien d'un test caché n'est nommé."""
    lines = "\n".join(report(only(copy_of(course, "mutant_rappel", name="ma copie (1).ipynb"), course)))
    assert "✗ Valeur : sur cinq bigrammes du candidat" in lines and "Attendu : 2/5 = 0.4. À relire : leçon 01" in lines
    assert "✓ Type : la précision est un float." in lines and "Tests visibles : 4 réussi(s) sur 6." in lines
    assert "10 autre(s) contrôle(s) sont réservés" in lines and "canari" not in lines


def test_copie_ecrite_dans_release(course):
    """L'étudiant travaille dans release/ même : une faute de syntaxe y est nommée, et n'arrête pas la validation."""
    path = course / "release" / EX / f"{EX}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    next(cell for cell in notebook.cells if cell.metadata.nbgrader.grade_id == "bleu2").source = "def bleu2(candidate, references)\n    return 1.0"
    nbformat.write(notebook, path)
    result = only("ex01", course)
    assert not result.failure and any("bleu2 s'arrête sur SyntaxError" in remark for remark in result.remarks)


def test_tests_retouches(course):
    """Des tests effacés ou récrits dans la copie sont remis d'après release/."""
    path = copy_of(course, "vide")
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        if cell.metadata.nbgrader.grade:
            cell.source = "pass"
    nbformat.write(notebook, path)
    result = only(path, course)
    assert not any(test.passed for test in result.tests) and "modifiées" in " ".join(result.remarks)


def test_module_refuse(course):
    """Un module que le devoir ne permet pas est refusé comme à la notation."""
    path = copy_of(course, "parfaite")
    notebook = nbformat.read(path, as_version=4)
    next(cell for cell in notebook.cells if cell.metadata.nbgrader.grade_id == "bleu2").source = "import nltk\ndef bleu2(c, r):\n    return 0.0"
    nbformat.write(notebook, path)
    result = only(path, course)
    assert not result.passed and "'nltk' n'est pas permis" in " ".join(result.remarks)


def test_sans_bubblewrap(course, monkeypatch):
    """Sans bubblewrap, la copie s'exécute dans un processus à part : c'est la machine de l'étudiant."""
    monkeypatch.setattr(validation.sandbox, "available", lambda: "absent")
    assert only(copy_of(course, "parfaite"), course).passed


@pytest.mark.parametrize("wanted", ["ex99", "telechargements/vide.ipynb", "autre.ipynb", "dossier"])
def test_mauvais_usage(course, wanted):
    """Ce qui n'est pas une copie est une erreur d'usage (code 2), avec ce qu'il faut donner."""
    (course / "dossier").mkdir()
    (course / "telechargements").mkdir()
    (course / "telechargements" / "vide.ipynb").write_text("")
    nbformat.write(new_notebook(cells=[new_code_cell("1")]), course / "autre.ipynb")
    with pytest.raises(UsageError):
        targets(wanted, course)


def test_par_defaut(course, monkeypatch):
    """Sans argument : les copies du dossier courant, sinon tous les exercices."""
    assert [target.name for target in targets(None, course)] == sorted(path.name for path in RELEASE.iterdir())
    copy_of(course, "parfaite")
    monkeypatch.chdir(course / "telechargements")
    assert [target.name for target in targets(None, course)] == [EX]


def marked(source, name, **marks):
    cell = new_code_cell(source)
    cell.metadata.nbgrader = {"grade_id": name, "grade": False, "solution": False, "locked": False, "schema_version": 3} | marks
    return cell


def test_noms_que_le_corrige_seul_definit():
    """Une variable ou un import du corrigé, absents de release/, sont attendus de la copie ; le reste ne l'est pas."""
    published = new_notebook(cells=[
        marked("seuil = 3", "donnees", locked=True),
        marked("# Écrivez votre réponse ici.\nraise NotImplementedError()", "reponse", solution=True),
        marked("for k in range(seuil):\n    assert len(resultats) == 3\nlocal = 1", "t1", grade=True, points=1, locked=True),
        marked("assert local == 1 and np.allclose(moyenne([k]), 0)\nassert (lambda y: y + decalage)(1) == 1", "t2", grade=True, points=1, locked=True),
    ])  # fmt: skip
    copy = new_notebook(cells=[marked("import numpy as np\nresultats = [1]", "reponse", solution=True)])
    source = with_names(published, copy).cells[1].source.splitlines()
    assert sorted(line for line in source if line) == ["decalage = None", "import numpy as np", "moyenne = None", "resultats = None"]
