"""La note ne dépend ni de la machine, ni des voisins, ni du moment où l'on a été interrompu.

Une petite classe, trois copies qui bouclent comprises, est notée au repos, puis sous huit boucles folles, puis tuée entre deux
écritures : toujours les mêmes notes.csv, à l'octet près.
"""

import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import contextmanager

import nbformat
import pytest

from autograder.execution import sandbox
from autograder.execution.limits import Limits
from autograder.record import grading
from autograder.record.grading import Class, Outcome, declare, found_copies, grade
from autograder.record.marks import read_marks
from autograder.settings import LOCK
from course import demonstration
from course.settings import COPIES, RELEASE, ROOT, SOURCE

pytestmark = pytest.mark.skipif(sandbox.available() is not None, reason=f"pas de bac à sable : {sandbox.available()}")

EXERCISE = "ex01_bleu2"
HONEST = ["parfaite", "partielle", "mutant_lissage", "honnete_numpy", "vide"]
LOOPING = ["piege_boucle", "piege_boucle_sourde"]
BUSY = 8


def class_of(folder, students):
    """Cours neuf : un devoir, et les copies de démonstration voulues (étudiant → copie)."""
    shutil.copytree(SOURCE / EXERCISE, folder / "source" / EXERCISE)
    for student, text in students.items():
        copy = COPIES / EXERCISE / f"{text}.py"
        demonstration.build_copy(RELEASE / EXERCISE / f"{EXERCISE}.ipynb", copy, folder / "submitted" / student / EXERCISE)
    return folder


def command(course, *more):
    return [
        sys.executable, "-m", "autograder.cli", "noter", "--cours", course, "--sortie", course / "rapport", "--processus", "2",
        "--temps-cellule", "2", "--temps-copie", "6", "--sans-temoins", *more,
    ]  # fmt: skip


def run(course, *more, **environment):
    everything = os.environ | {"COLUMNS": "200"} | environment
    return subprocess.run(command(course, *more), cwd=ROOT, capture_output=True, text=True, env=everything, timeout=600)


def marks(course):
    return (course / "rapport" / "notes.csv").read_bytes()


@contextmanager
def busy(count):
    """Des boucles folles qui se disputent les cœurs."""
    loops = [subprocess.Popen([sys.executable, "-S", "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


@pytest.fixture(scope="module")
def quiet(tmp_path_factory):
    """Les copies honnêtes, sans voisine qui boucle, au repos : étudiant → (note, statut, motif)."""
    course = class_of(tmp_path_factory.mktemp("calme"), dict(zip(HONEST, HONEST)))
    assert run(course).returncode == 0
    return course, {mark.etudiant: (mark.note, mark.statut, mark.motif) for mark in read_marks(course / "rapport" / "notes.csv")}


def test_huit_boucles_folles_et_trois_copies_sans_fin(quiet, tmp_path):
    """Sous huit boucles, et à côté de trois copies qui bouclent, chaque note, statut et motif est celui du repos."""
    looping = {f"boucle_{number}": LOOPING[number % 2] for number in range(3)}
    course = class_of(tmp_path, dict(zip(HONEST, HONEST)) | looping)
    with busy(BUSY):
        done = run(course)
    assert done.returncode == 0, done.stdout + done.stderr
    seen = {mark.etudiant: mark for mark in read_marks(course / "rapport" / "notes.csv")}
    assert {name: (seen[name].note, seen[name].statut, seen[name].motif) for name in HONEST} == quiet[1]
    expected = {mark.etudiant: mark for mark in read_marks(COPIES / demonstration.MARKS_FILE) if mark.devoir == EXERCISE}
    for student, text in looping.items():
        assert (seen[student].note, seen[student].statut) == (expected[text].note, "a_relire"), seen[student]
        assert "temps de calcul dépassé (2 s)" in seen[student].motif and "attente" not in seen[student].motif


def test_la_copie_qui_attend_est_relancee_seule(tmp_path):
    """Elle se bloque : l'horloge l'arrête, elle est relancée seule, et le journal le dit ; sa note est celle des tests passés avant."""
    course = class_of(tmp_path, {"bloquee": "parfaite", "parfaite": "parfaite"})
    path = course / "submitted" / "bloquee" / EXERCISE / f"{EXERCISE}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    answer = next(cell for cell in notebook.cells if cell.cell_type == "code" and "def bleu2(" in cell.source)
    answer.source = f"import logging\nlogging.threading.Event().wait(600)\n{answer.source}"
    nbformat.write(notebook, path)
    done = run(course, "--temps-cellule", "0.4", "--temps-copie", "2")
    assert done.returncode == 0, done.stdout + done.stderr
    seen = {mark.etudiant: mark for mark in read_marks(course / "rapport" / "notes.csv")}
    assert (seen["parfaite"].note, seen["parfaite"].statut) == (20, "note")
    assert seen["bloquee"].statut == "a_relire" and "temps d'attente dépassé (4 s sans calculer" in seen["bloquee"].motif
    told = (course / "rapport" / "journal.txt").read_text(encoding="utf-8")
    assert f"bloquee, {EXERCISE} : temps d'attente dépassé" in told and "à relancer seule" in told and "relancée seule," in told
    assert "parfaite" not in told


def test_la_machine_lente_n_est_pas_un_verdict(tmp_path, monkeypatch):
    """Arrêtée par l'horloge à côté des autres, juste une fois seule : seule la seconde exécution compte."""
    course = class_of(tmp_path, {"parfaite": "parfaite", "vide": "vide"})
    group = Class(course, course / "submitted", course / "travail", "bwrap", Limits(cell_seconds=5, notebook_seconds=20))
    declare(group, [EXERCISE])
    real, calls = grading.execute, []

    def slow_at_first(group, student, assignment, alone=False):
        calls.append((student, alone))
        if student == "parfaite" and not alone:
            return Outcome(student, assignment, starved="temps d'attente dépassé")
        return real(group, student, assignment, alone)

    monkeypatch.setattr(grading, "execute", slow_at_first)
    seen = {mark.etudiant: (mark.note, mark.statut, mark.motif) for mark in grade(group, found_copies(group.copies), 2)}
    assert seen == {"parfaite": (20, "note", ""), "vide": (0, "note", "")}
    assert sorted(calls) == [("parfaite", False), ("parfaite", True), ("vide", False)]


# --- Interrompue ------------------------------------------------------------------------------------------------------

# Chargé par chaque processus de la notation : compte ses écritures (ouvertures pour écrire, renommages, dossiers, effacements) dans
# le cours, et tue tout le groupe, net, à la millième, ou à celle que l'on veut.
KILLER = """
import os, signal, sys
root, count, last = os.environ["COURS_ECRIT"], os.environ["COURS_COMPTE"], int(os.environ["COURS_DERNIERE"])
def hook(event, args):
    if event not in ("open", "os.rename", "os.mkdir", "os.remove", "os.rmdir", "os.link", "os.symlink", "shutil.copyfile"):
        return
    if event == "open" and not (isinstance(args[2], int) and args[2] & (os.O_WRONLY | os.O_RDWR)):
        return
    if not any(isinstance(arg, (str, bytes, os.PathLike)) and os.fsdecode(arg).startswith(root) for arg in args):
        return
    descriptor = os.open(count, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(descriptor, b".")
    done = os.fstat(descriptor).st_size
    os.close(descriptor)
    if done == last:
        os.killpg(0, signal.SIGKILL)
sys.addaudithook(hook)
"""
MOMENTS = 8


def interrupted(course, folder, last):
    """Note un cours jusqu'à sa `last`-ième écriture, où tout est tué net ; rend le code de sortie et le nombre d'écritures."""
    folder.mkdir(exist_ok=True)
    (folder / "sitecustomize.py").write_text(KILLER, encoding="utf-8")
    count = folder / f"compte-{last}"
    settings = {"PYTHONPATH": str(folder), "COURS_ECRIT": str(course), "COURS_COMPTE": str(count), "COURS_DERNIERE": str(last)}
    process = subprocess.Popen(
        command(course), cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=os.environ | settings, start_new_session=True
    )  # fmt: skip
    return process.wait(timeout=300), count.stat().st_size


def test_tuee_entre_deux_ecritures(quiet, tmp_path):
    """Tuée net à divers moments, du premier dossier à la dernière page, puis relancée : mêmes notes.csv, mêmes copies notées ; rien
    de ce qui était exécuté ne l'est à nouveau."""
    reference, _ = quiet
    model = tmp_path / "modele"
    class_of(model, dict(zip(HONEST, HONEST)))
    course = shutil.copytree(model, tmp_path / "compte")
    code, writes = interrupted(course, tmp_path / "outils", 10**9)
    assert code == 0 and writes > 30 and marks(course) == marks(reference)
    for moment in range(MOMENTS):
        last = 1 + moment * (writes - 2) // (MOMENTS - 1)
        course = shutil.copytree(model, tmp_path / f"cours-{moment}")
        code, _ = interrupted(course, tmp_path / "outils", last)
        assert code == -signal.SIGKILL, f"la notation a fini avant sa {last}e écriture"
        kept = {path: path.stat().st_mtime_ns for path in course.glob("rapport/travail/resultats/**/*.json")}
        done = run(course)
        assert done.returncode == 0, f"après la {last}e écriture : {done.stdout}{done.stderr}"
        assert marks(course) == marks(reference), f"après la {last}e écriture"
        assert all(path.stat().st_mtime_ns == moment for path, moment in kept.items())
        for path in sorted(reference.glob(f"autograded/*/{EXERCISE}/*.ipynb")):
            assert (course / path.relative_to(reference)).read_bytes() == path.read_bytes(), f"{path} après la {last}e écriture"
        shutil.rmtree(course)


def test_deux_notations_a_la_fois(tmp_path):
    """La seconde le dit, nomme le processus de la première et s'arrête (code 2) ; la première finit comme si de rien n'était."""
    course = class_of(tmp_path, {"boucle": "piege_boucle_sourde", "parfaite": "parfaite"})
    first = subprocess.Popen(command(course), cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        deadline = time.monotonic() + 60
        # Dès que la première tient le cours, et non plus tard : elle doit encore travailler quand la seconde arrive.
        while not ((course / LOCK).exists() and (course / LOCK).read_text(encoding="utf-8")) and time.monotonic() < deadline:
            time.sleep(0.02)
        second = run(course)
        other = run(course, "--sortie", tmp_path / "ailleurs")
        told, _ = first.communicate(timeout=300)
    finally:
        first.kill()
    for refused in (second, other):
        text = " ".join((refused.stdout + refused.stderr).split())
        assert refused.returncode == 2 and f"Une autre notation (processus {first.pid}" in text and "relancez la même commande" in text
    assert first.returncode == 0, told
    expected = {mark.etudiant: mark.note for mark in read_marks(COPIES / demonstration.MARKS_FILE) if mark.devoir == EXERCISE}
    seen = {mark.etudiant: (mark.note, mark.statut) for mark in read_marks(course / "rapport" / "notes.csv")}
    assert seen == {"boucle": (expected["piege_boucle_sourde"], "a_relire"), "parfaite": (20, "note")}


def test_un_verrou_abandonne_n_arrete_rien(tmp_path):
    """Le verrou d'un processus tué est tombé avec lui, même si son fichier reste."""
    course = class_of(tmp_path, {"parfaite": "parfaite"})
    (course / LOCK).write_text("4194304, machine ailleurs\n", encoding="utf-8")
    done = run(course)
    assert done.returncode == 0, done.stdout + done.stderr
