"""La notation d'une classe entière : en parallèle ou non, interrompue et reprise, base prise, témoins, et un cours écrit par d'autres.

Ces tests sont les plus longs (environ une minute) : ils lancent la commande `cours noter` et nbgrader lui-même.
"""

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path

import nbformat
import pytest
from nbgrader.api import Gradebook
from nbgrader.apps import NbGraderAPI
from traitlets.config import Config

from autograder.execution import sandbox
from autograder.execution.limits import Limits
from autograder.record import grading
from autograder.record.grading import Class, control, declare, found_copies, grade
from autograder.record.marks import read_marks
from autograder.settings import UsageError
from course import demonstration
from course.settings import COPIES, RELEASE, ROOT, SOURCE

pytestmark = pytest.mark.skipif(sandbox.available() is not None, reason=f"pas de bac à sable : {sandbox.available()}")

COURS = Path(sys.executable).with_name("cours")
ASSIGNMENT = "ex01_bleu2"
STUDENTS = [
    "parfaite", "vide", "partielle", "mutant_rappel", "mutant_sans_plafond", "mutant_lissage", "honnete_numpy", "piege_egal_a_tout",
    "piege_os_exit", "abimee_fichier_vide", "abimee_cellules_en_double", "abimee_fichier_renomme",
]  # fmt: skip
LIMITS = Limits(cell_seconds=20, notebook_seconds=60)


@pytest.fixture(scope="module")
def submitted(tmp_path_factory):
    """Douze copies d'un devoir : justes, fausses, piégées, abîmées."""
    folder = tmp_path_factory.mktemp("remises")
    for student in STUDENTS:
        release = RELEASE / ASSIGNMENT / f"{ASSIGNMENT}.ipynb"
        demonstration.build_copy(release, COPIES / ASSIGNMENT / f"{student}.py", folder / student / ASSIGNMENT)
    return folder


def new_course(folder, submitted=None):
    shutil.copytree(SOURCE / ASSIGNMENT, folder / "source" / ASSIGNMENT)
    if submitted is not None:
        shutil.copytree(submitted, folder / "submitted", symlinks=True)
    return folder


def command(course, processes=2, *more):
    return [
        COURS, "noter", "--cours", course, "--sortie", course / "rapport", "--processus", str(processes), "--temps-cellule", "20", *more,
    ]  # fmt: skip


def run(course, processes=2, *more):
    environment = os.environ | {"COLUMNS": "200"}
    return subprocess.run(command(course, processes, *more), cwd=ROOT, capture_output=True, text=True, env=environment, timeout=300)


def rows(course):
    """Copies de la base de notes : étudiant → (nombre de remises, note)."""
    with sqlite3.connect(course / "gradebook.db") as base:
        found = base.execute("select student_id, count(*) from submitted_assignment group by student_id, assignment_id").fetchall()
    return dict(found)


@pytest.fixture(scope="module")
def reference(submitted, tmp_path_factory):
    """La classe notée d'une traite, avec un seul processus."""
    course = new_course(tmp_path_factory.mktemp("reference"), submitted)
    return course, run(course, 1)


def test_notes_attendues(reference):
    """Chaque copie a la note et le statut de notes_attendues.csv ; la copie en erreur rend 1 et n'a pas de note."""
    course, done = reference
    assert done.returncode == 1, done.stdout + done.stderr
    assert "12 copies : 8 note, 3 a_relire, 1 erreur" in done.stdout and "abimee_fichier_vide, ex01_bleu2" in done.stdout
    expected = {mark.etudiant: mark for mark in read_marks(COPIES / demonstration.MARKS_FILE) if mark.devoir == ASSIGNMENT}
    for mark in read_marks(course / "rapport" / "notes.csv"):
        wanted = expected[mark.etudiant]
        assert (mark.note, mark.statut) == (wanted.note, wanted.statut), mark
    assert rows(course) == dict.fromkeys(set(STUDENTS) - {"abimee_fichier_vide"}, 1)


def test_reprise_apres_kill_9(submitted, reference, tmp_path):
    """Avec deux processus, tuée net à mi-chemin puis relancée : notes.csv est, à l'octet près, celui d'un seul processus et d'une
    traite ; chaque copie est une fois dans la base ; les copies déjà exécutées ne le sont plus."""
    course = new_course(tmp_path, submitted)
    first = subprocess.Popen(
        command(course, 2, "--sans-temoins"), cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    results = course / "rapport" / "travail" / "resultats"
    try:
        deadline = time.monotonic() + 120
        while len(list(results.rglob("*.json"))) < 5 and time.monotonic() < deadline and first.poll() is None:
            time.sleep(0.05)
        assert first.poll() is None, "la notation a fini avant d'être tuée"
        first.kill()
        first.wait()
        before = {path: path.stat().st_mtime_ns for path in results.rglob("*.json")}
        assert len(before) < len(STUDENTS) - 1 and not (course / "rapport" / "notes.csv").exists()
        run(course, 2, "--sans-temoins")
    finally:
        try:
            os.killpg(first.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    assert (course / "rapport" / "notes.csv").read_bytes() == (reference[0] / "rapport" / "notes.csv").read_bytes()
    assert rows(course) == dict.fromkeys(set(STUDENTS) - {"abimee_fichier_vide"}, 1)
    assert all(path.stat().st_mtime_ns == moment for path, moment in before.items())


def test_base_prise(submitted, tmp_path, monkeypatch):
    """La base tenue par un autre : la notation attend ; si cela dure, elle le dit (code 2) et ne perd rien ; libérée, elle finit."""
    course = new_course(tmp_path)
    shutil.copytree(submitted / "parfaite", course / "submitted" / "parfaite")
    group = Class(course, course / "submitted", course / "travail", "bwrap", LIMITS)
    declare(group, [ASSIGNMENT])
    other = sqlite3.connect(course / "gradebook.db", isolation_level=None, check_same_thread=False)
    try:
        other.execute("BEGIN EXCLUSIVE")
        monkeypatch.setattr(grading, "LOCK_PATIENCE", 1)
        with pytest.raises(UsageError, match="tenue par un autre programme.*relancez la même commande"):
            list(grade(group, found_copies(group.copies), 1))
        with pytest.raises(UsageError, match="tenue par un autre programme"):
            declare(group, [ASSIGNMENT])
        kept = list(group.results.rglob("*.json"))
        assert len(kept) == 1
        monkeypatch.setattr(grading, "LOCK_PATIENCE", 60)
        timer = threading.Timer(2, other.execute, ["ROLLBACK"])
        timer.start()
        (mark,) = grade(group, found_copies(group.copies), 1)
        timer.join()
    finally:
        other.close()
    assert (mark.note, mark.statut) == (20, "note")


def test_copie_qui_prend_tout_son_temps(submitted, tmp_path):
    """Une copie qui ne finit jamais perd ses tests, pas plus ; les autres ont exactement leurs notes, et la commande finit."""
    course = new_course(tmp_path)
    for student in ("parfaite", "partielle", "vide"):
        shutil.copytree(submitted / student, course / "submitted" / student)
    for number in range(3):
        target = course / "submitted" / f"gloutonne_{number}" / ASSIGNMENT
        demonstration.build_copy(RELEASE / ASSIGNMENT / f"{ASSIGNMENT}.ipynb", COPIES / ASSIGNMENT / "piege_boucle_sourde.py", target)
    done = run(course, 2, "--temps-cellule", "1", "--temps-copie", "4")
    marks = {mark.etudiant: mark for mark in read_marks(course / "rapport" / "notes.csv")}
    expected = {mark.etudiant: mark for mark in read_marks(COPIES / demonstration.MARKS_FILE) if mark.devoir == ASSIGNMENT}
    assert done.returncode == 0, done.stdout + done.stderr
    for student in ("parfaite", "partielle", "vide"):
        assert (marks[student].note, marks[student].statut) == (expected[student].note, "note")
    for number in range(3):
        mark = marks[f"gloutonne_{number}"]
        assert (mark.note, mark.statut) == (expected["piege_boucle_sourde"].note, "a_relire") and "temps de calcul dépassé" in mark.motif, mark


@pytest.mark.parametrize("full", ["rapport", "cours"])
def test_disque_plein(full, submitted, reference, tmp_path):
    """Le disque se remplit pendant la notation (résultats, ou autograded/ et la base) : code 2, une phrase ; une fois de la place
    faite, la même commande finit, et les notes sont celles d'une notation sans histoire."""
    small, course = tmp_path / "petit", tmp_path / "petit" if full == "cours" else tmp_path / "cours"
    small.mkdir()
    report = small / "rapport" if full == "rapport" else tmp_path / "rapport"
    setup = f"mount -t tmpfs -o size=4m tmpfs '{small}' || exit 77"
    if subprocess.run(["unshare", "-m", "sh", "-c", setup], capture_output=True).returncode:
        pytest.skip("cette machine ne laisse pas monter de petit disque")
    new_course(tmp_path / "modele", submitted)
    words = [str(word) for word in command(course, 2, "--sans-temoins", "--sortie", report)]
    script = f"""
    {setup}
    cp -r '{tmp_path}/modele/.' '{course}' && "$@" --etudiant vide > '{tmp_path}/avant' || exit 78
    free=$(df --output=avail -B1024 '{small}' | tail -1); head -c $((free - 60))K /dev/zero > '{small}/bouchon'
    "$@" > '{tmp_path}/plein' 2>&1; echo $? >> '{tmp_path}/plein'
    rm '{small}/bouchon'; mount -o remount,size=64m '{small}'
    "$@" > '{tmp_path}/apres' 2>&1; cp '{report}/notes.csv' '{tmp_path}/notes.csv'
    """
    done = subprocess.run(["unshare", "-m", "sh", "-c", script, "sh", *words], cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    told = (tmp_path / "plein").read_text(encoding="utf-8")
    assert told.rstrip().endswith("2") and "Le disque est plein" in told and "relancez la même commande" in told.replace("\n", " "), told
    assert "Traceback" not in told
    assert (tmp_path / "notes.csv").read_bytes() == (reference[0] / "rapport" / "notes.csv").read_bytes()


BROKEN = {
    "instance": ("class Answer:\n    def __init__(self):\n        self.value = 3\n\nanswer = Answer()", "assert answer.value == 3", "de type Answer"),
    "generateur": ("def words():\n    yield 'a'", "assert list(words()) == ['a']", "de type generator"),
    "argument modifié": ("def fill(items):\n    items.append(1)", "items = []\nfill(items)\nassert items == [1]", "test_fragile"),
    "test toujours vrai": ("def answer():\n    return 3", "assert True", "la copie vide obtient des points"),
}


@pytest.mark.parametrize(("answer", "test", "reason"), BROKEN.values(), ids=BROKEN)
def test_temoins(answer, test, reason, tmp_path):
    """Un test qui ne peut pas traverser le canal, ou qui ne vérifie rien : la notation s'arrête et nomme le test, jamais un 0 muet."""
    source = nbformat.v4.new_notebook(metadata={"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}})
    marks = {"schema_version": 3, "task": False}
    source.cells = [
        nbformat.v4.new_code_cell(
            f"### DÉBUT SOLUTION\n{answer}\n### FIN SOLUTION",
            metadata={"nbgrader": marks | {"grade": False, "solution": True, "locked": False, "grade_id": "reponse"}},
        ),
        nbformat.v4.new_code_cell(
            test, metadata={"nbgrader": marks | {"grade": True, "solution": False, "locked": True, "grade_id": "test_fragile", "points": 2}}
        ),
    ]
    folder = tmp_path / "source" / "devoir"
    folder.mkdir(parents=True)
    nbformat.write(source, folder / "devoir.ipynb")
    group = Class(tmp_path, tmp_path, tmp_path / "travail", "bwrap", LIMITS)
    declare(group, ["devoir"])
    with pytest.raises(UsageError, match="test_fragile") as refusal:
        control(group, ["devoir"])
    assert reason in str(refusal.value) and "Témoin de devoir" in str(refusal.value)


def test_temoin_en_faute_rend_2(tmp_path):
    """`cours noter` sur un devoir dont un test ne traverse pas : code 2, le test nommé, aucune copie notée."""
    course = new_course(tmp_path)
    path = course / "source" / ASSIGNMENT / f"{ASSIGNMENT}.ipynb"
    source = nbformat.read(path, as_version=4)
    cell = next(cell for cell in source.cells if cell.metadata.nbgrader.grade_id == "bleu2_renvoie_un_float")
    cell.source += "\nassert bleu2.__code__.co_argcount == 2"
    nbformat.write(source, path)
    (course / "submitted" / "eleve" / ASSIGNMENT).mkdir(parents=True)
    done = run(course)
    assert done.returncode == 2 and "bleu2_renvoie_un_float" in done.stdout and "--sans-temoins" in done.stdout
    assert not (course / "rapport" / "notes.csv").exists()


# --- Un cours que personne ici n'a écrit : celui de « nbgrader quickstart » ---------------------------------------------

QUICK = {
    "corrige": {},
    "vide": None,
    "fausse_1": {"squares": "def squares(n):\n    return [i ** 2 for i in range(1, n + 1)]"},
    "fausse_2": {"sum_of_squares": "def sum_of_squares(n):\n    return sum(i * i for i in range(1, n + 1))"},
    "fausse_3": {
        "squares": "def squares(n):\n    if n < 1:\n        raise ValueError\n    return [i * i for i in range(n)]",
        "sum_of_squares_application": "print(sum_of_squares(3))",
    },
}  # fmt: skip


@pytest.fixture(scope="module")
def quickstart(tmp_path_factory):
    """Le cours d'exemple de nbgrader et cinq copies de ps1, notés par nbgrader seul et par nous ; deux dossiers, mêmes fichiers."""
    folder = tmp_path_factory.mktemp("exemple")
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    subprocess.run([sys.executable, "-m", "nbgrader", "quickstart", "seul"], cwd=folder, check=True, capture_output=True, env=environment)
    plain = folder / "seul"
    config = Config()
    config.CourseDirectory.root = str(plain)
    config.NbGrader.logfile = ""
    old_path = os.environ["PATH"]
    os.environ["PATH"] = environment["PATH"]
    try:
        api = NbGraderAPI(config=config)
        assert api.generate_assignment("ps1", force=True, create=True)["success"]
    finally:
        os.environ["PATH"] = old_path
    for student, answers in QUICK.items():
        target = plain / "submitted" / student / "ps1"
        shutil.copytree(plain / "release" / "ps1", target)
        if answers is None:
            continue
        for path in target.glob("*.ipynb"):
            notebook = nbformat.read(path, as_version=4)
            solutions = nbformat.read(plain / "source" / "ps1" / path.name, as_version=4)
            given = {cell.metadata.nbgrader.grade_id: cell.source for cell in solutions.cells if cell.metadata.get("nbgrader", {}).get("solution")}
            for cell in notebook.cells:
                name = cell.metadata.get("nbgrader", {}).get("grade_id")
                cell.source = answers.get(name, given.get(name, cell.source))
            nbformat.write(notebook, path)
    ours = folder / "nous"
    shutil.copytree(plain, ours)
    (ours / "gradebook.db").unlink()
    alone = subprocess.Popen(
        [sys.executable, "-m", "nbgrader", "autograde", "ps1", "--create", "--notebook", "problem1"], cwd=plain, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        env=environment,
    )  # fmt: skip
    done = run(ours, 1)
    alone.wait(timeout=200)
    return plain, ours, done


def auto_scores(course):
    """Note de chaque cellule testée : (étudiant, notebook, cellule) → points, ou None si elle attend une personne."""
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        return {
            (student, notebook.name, grade.name): (grade.auto_score, grade.needs_manual_grade)
            for student in QUICK
            for notebook in gradebook.find_submission("ps1", student).notebooks
            for grade in notebook.grades
        }


def test_cours_d_exemple_de_nbgrader(quickstart):
    """ps1 sans y rien changer : cellule par cellule, mêmes points et mêmes attentes que nbgrader seul.

    problem2 n'a que des réponses rédigées : nbgrader seul n'y fait que démarrer un noyau, on le lui épargne.
    """
    plain, ours, done = quickstart
    assert done.returncode == 0, done.stdout + done.stderr
    wanted, got = auto_scores(plain), auto_scores(ours)
    got_first, wanted_first = ({key: value for key, value in found.items() if key[1] == "problem1"} for found in (got, wanted))
    assert got_first == wanted_first
    assert {value for key, value in got.items() if key[1] == "problem2" and key[0] != "vide"} == {(None, True)}
    tests = ("correct_squares", "squares_invalid_input", "correct_sum_of_squares", "sum_of_squares_uses_squares")
    totals = {student: sum(wanted[student, "problem1", test][0] for test in tests) for student in QUICK}
    # Comptés à la main : 1 + 1 + 0,5 + 0,5 ; sans ValueError ; sans appel à squares ; carrés de 0 à n-1.
    assert totals == {"corrige": 3, "vide": 0, "fausse_1": 2, "fausse_2": 2.5, "fausse_3": 1.5}
    for path in (ours / "source" / "ps1").glob("*.ipynb"):
        assert path.read_bytes() == (plain / "source" / "ps1" / path.name).read_bytes()


def test_cours_d_exemple_statuts(quickstart):
    """Les réponses à noter à la main rendent la copie « à relire », et le disent."""
    marks = read_marks(quickstart[1] / "rapport" / "notes.csv")
    assert {mark.etudiant for mark in marks} == set(QUICK)
    assert all(mark.statut == "a_relire" and "à la main" in mark.motif for mark in marks if mark.etudiant != "vide")
