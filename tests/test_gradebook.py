"""Ce que nous écrivons à la place de nbgrader est ce qu'il écrit : dossiers à l'octet près, base champ à champ."""

import shutil
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from nbgrader.api import Gradebook

from autograder.execution import sandbox
from autograder.execution.limits import Limits
from autograder.intake.nbgrader_course import nbgrader_api, succeeded
from autograder.record.grading import Class, declare, found_copies, grade
from course import demonstration
from course.settings import COPIES, RELEASE, SOURCE
from tests.devoirs import cell

pytestmark = [
    pytest.mark.skipif(sandbox.available() is not None, reason=f"pas de bac à sable : {sandbox.available()}"),
    pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning"),  # bruit interne de nbgrader
]

LIMITS = Limits(cell_seconds=20, notebook_seconds=60)


def new_class(course):
    return Class(course, course / "submitted", course / "travail", "bwrap", LIMITS)


def ours(course):
    """La classe notée par nous ; les notes rendues."""
    group = new_class(course)
    copies = found_copies(group.copies)
    declare(group, sorted({assignment for _, assignment in copies}))
    return list(grade(group, copies, 2))


def nbgraders(course, twin):
    """Les mêmes copies réparées, notées par `nbgrader autograde` lui-même dans un cours jumeau."""
    group = new_class(course)
    copies = found_copies(group.copies)
    declare(new_class(twin), sorted({assignment for _, assignment in copies}))
    with nbgrader_api(twin, submitted=group.repaired) as api:
        for student, assignment in copies:
            if (group.repaired / student / assignment).exists():
                succeeded(api.autograde(assignment, student), f"noter {student}")


def tree(course):
    """Dossier autograded/ : chemin → (droits, contenu)."""
    root = course / "autograded"
    return {
        str(path.relative_to(root)): (oct(path.stat().st_mode), path.read_bytes() if path.is_file() else None)
        for path in sorted(root.rglob("*"))
    }


def rows(course):
    """Lignes de la base sans leurs identifiants tirés au sort : étudiants, remises, notebooks, notes et commentaires."""
    found = []
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        for student in gradebook.students:
            found.append(("étudiant", student.to_dict()))
        for assignment in gradebook.assignments:
            for submission in assignment.submissions:
                found.append(("remise", submission.to_dict() | {"extension": submission.extension}))
                for notebook in submission.notebooks:
                    found.append(("notebook", notebook.to_dict() | {"penalty": notebook.late_submission_penalty}))
                    found += [("note", grade.to_dict()) for grade in notebook.grades]
                    found += [("commentaire", comment.to_dict()) for comment in notebook.comments]
    plain = [(kind, {name: value for name, value in values.items() if name != "id"}) for kind, values in found]
    return sorted(plain, key=repr)


def assert_same(course, twin):
    assert tree(course) == tree(twin)
    obtained, expected = rows(course), rows(twin)
    assert len(obtained) > 20
    assert obtained == expected


CHOSEN = {
    "ex01_bleu2": ("parfaite", "vide", "partielle", "mutant_rappel", "abimee_cellules_en_double", "abimee_fichier_renomme",
                   "abimee_fichier_vide", "piege_os_exit"),
    "ex03_juge_symetrique": ("parfaite", "vide"),
}  # fmt: skip


def test_classe_de_demonstration(tmp_path):
    """Copies justes, fausses, vides, abîmées et piégées : même dossier et même base que nbgrader."""
    for assignment, students in CHOSEN.items():
        for course in (tmp_path / "nous", tmp_path / "seul"):
            shutil.copytree(SOURCE / assignment, course / "source" / assignment)
        for student in students:
            release = RELEASE / assignment / f"{assignment}.ipynb"
            target = tmp_path / "nous" / "submitted" / student / assignment
            demonstration.build_copy(release, COPIES / assignment / f"{student}.py", target)
    ours(tmp_path / "nous")
    nbgraders(tmp_path / "nous", tmp_path / "seul")
    assert_same(tmp_path / "nous", tmp_path / "seul")


# --- Un devoir à deux notebooks, avec tout ce que nbgrader sait faire -------------------------------------------------

LATE = """
from nbgrader.plugins import BasePlugin


class HalfPoint(BasePlugin):
    def late_submission_penalty(self, student_id, score, total_seconds_late):
        return 0.5 if student_id != "pressee" else 99.0
"""
SETTINGS = """
from pathlib import Path
from autograder.settings import configure

c = get_config()
configure(c, Path(__file__).parent)
c.LimitOutput.max_lines = 5
c.AssignLatePenalties.plugin_class = "retards.HalfPoint"
c.Autograde.exclude_overwriting = {"devoir": ["a_completer.py"]}
"""


def two_notebooks(course):
    """Devoir « devoir » : un notebook de code (note partielle, sorties longues), un de réponses rédigées et de tâche."""
    metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    code = new_notebook(metadata=metadata, cells=[
        cell("reponse", "double", "def double(x):\n    ### DÉBUT SOLUTION\n    return 2 * x\n    ### FIN SOLUTION"),
        cell("test", "double_de_trois", "assert double(3) == 6", 2),
        cell("test", "double_partiel", "### DÉBUT TESTS CACHÉS\n1.5 if double(5) == 10 else 0.5\n### FIN TESTS CACHÉS", 2),
        new_code_cell("print('bonjour')", id="libre"),
    ])  # fmt: skip
    text = new_notebook(metadata=metadata, cells=[
        cell("redaction", "explication", "### DÉBUT SOLUTION\nParce que.\n### FIN SOLUTION", 3),
        cell("tache", "schema", "Dessinez.", 1),
    ])  # fmt: skip
    folder = course / "source" / "devoir"
    folder.mkdir(parents=True)
    nbformat.write(code, folder / "code.ipynb")
    nbformat.write(text, folder / "texte.ipynb")
    (folder / "donnees.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    (folder / "a_completer.py").write_text("REPONSE = None\n", encoding="utf-8")
    (course / "nbgrader_config.py").write_text(SETTINGS, encoding="utf-8")


def hand_in(course, release, student, answers, notebooks=("code", "texte"), timestamp=None):
    folder = course / "submitted" / student / "devoir"
    folder.mkdir(parents=True)
    for name in notebooks:
        notebook = nbformat.from_dict(release[name])
        for one in notebook.cells:
            one.source = answers.get(one.id, one.source)
        nbformat.write(notebook, folder / f"{name}.ipynb")
    (folder / "donnees.csv").write_text("truqué\n", encoding="utf-8")
    (folder / "brouillon").mkdir()
    (folder / "brouillon" / "notes.txt").write_text("à moi\n", encoding="utf-8")
    if timestamp:
        (folder / "timestamp.txt").write_text(timestamp, encoding="utf-8")


def set_up(course):
    """Échéance du devoir, et ce qu'une personne a déjà mis dans la base pour une copie d'avant."""
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        gradebook.update_or_create_assignment("devoir", duedate="2026-01-10 12:00:00 UTC")
        gradebook.update_or_create_student("revue", first_name="Ada", last_name="L.")
        gradebook.update_or_create_submission("devoir", "revue")
        grade_ = gradebook.find_grade("double_de_trois", "code", "devoir", "revue")
        grade_.manual_score, grade_.extra_credit, grade_.needs_manual_grade = 1.0, 0.25, False
        gradebook.find_comment("double", "code", "devoir", "revue").manual_comment = "Bien."
        gradebook.find_submission_notebook("code", "devoir", "revue").flagged = True
        gradebook.db.commit()


@pytest.fixture
def plugin(tmp_path, monkeypatch):
    (tmp_path / "retards.py").write_text(LATE, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    yield
    sys.modules.pop("retards", None)


def test_tout_ce_que_nbgrader_sait_faire(tmp_path, plugin):
    """Deux notebooks, note partielle, sorties coupées, retard, note à la main, fichier joint, notebook manquant : rien ne diffère,
    ni la première fois, ni quand on note de nouveau une copie corrigée."""
    course, twin = tmp_path / "nous", tmp_path / "seul"
    for one in (course, twin):
        two_notebooks(one)
        declare(new_class(one), ["devoir"])
        set_up(one)
    release = {path.stem: nbformat.read(path, as_version=4) for path in (course / "release" / "devoir").glob("*.ipynb")}
    good, loud = {"double": "def double(x):\n    return 2 * x"}, {"libre": "for i in range(30):\n    print(i)"}
    hand_in(course, release, "juste", good | loud | {"explication": "Car."})
    hand_in(course, release, "vide", {})
    hand_in(course, release, "revue", good)
    hand_in(course, release, "retard", good, timestamp="2026-01-11 08:00:00 UTC")
    hand_in(course, release, "pressee", good, timestamp="2026-01-12 08:00:00 +0100")
    hand_in(course, release, "a_l_heure", good, timestamp="2026-01-10 11:00:00 UTC")
    hand_in(course, release, "un_seul", good, notebooks=("code",))
    shutil.copytree(course / "submitted", twin / "submitted")
    marks = {mark.etudiant: mark for mark in ours(course)}
    nbgraders(course, twin)
    assert_same(course, twin)
    # Comptés à la main : 2 + 1,5 ; revue : 1 + 0,25 + 1,5 ; retard : un demi-point de moins ; pressee : la pénalité s'arrête à la note.
    assert {student: mark.note for student, mark in marks.items()} == {
        "juste": 3.5, "vide": 0, "revue": 2.75, "retard": 3.0, "pressee": 0, "a_l_heure": 3.5, "un_seul": 3.5,
    }  # fmt: skip
    better = course / "submitted" / "vide" / "devoir" / "code.ipynb"
    better.write_text(better.read_text(encoding="utf-8").replace('raise NotImplementedError(\\"non implémenté\\")', "return 2 * x"), encoding="utf-8")
    assert {mark.etudiant: mark.note for mark in ours(course)}["vide"] == 3.5
    nbgraders(course, twin)
    assert_same(course, twin)


def test_rien_a_moitie(tmp_path, monkeypatch):
    """Si la base refuse une copie, son dossier ne reste pas dans autograded/ ; la même copie se note ensuite."""
    course = tmp_path / "nous"
    shutil.copytree(SOURCE / "ex01_bleu2", course / "source" / "ex01_bleu2")
    target = course / "submitted" / "parfaite" / "ex01_bleu2"
    demonstration.build_copy(RELEASE / "ex01_bleu2" / "ex01_bleu2.ipynb", COPIES / "ex01_bleu2" / "parfaite.py", target)

    def refuse(self, *args):
        raise RuntimeError("refus")

    with monkeypatch.context() as patch:
        patch.setattr("autograder.record.gradebook.Recorder._write_rows", refuse)
        (mark,) = ours(course)
    assert (mark.note, mark.statut) == (None, "erreur") and "refus" in mark.motif
    assert not Path(course / "autograded" / "parfaite" / "ex01_bleu2").exists()
    (mark,) = ours(course)
    assert mark.note == 20
