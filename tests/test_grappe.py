"""`cours noter --grappe` : un ordonnanceur Dask et deux ouvriers, chacun dans son processus, sur la boucle locale."""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from autograder.execution import sandbox
from course import demonstration
from course.settings import COPIES, RELEASE, ROOT, SOURCE

pytestmark = pytest.mark.skipif(sandbox.available() is not None, reason=f"pas de bac à sable : {sandbox.available()}")

BIN = Path(sys.executable).parent
ASSIGNMENT = "ex01_bleu2"
STUDENTS = ["parfaite", "vide", "partielle", "mutant_rappel", "honnete_numpy", "piege_os_exit", "abimee_fichier_vide", "mutant_lissage"]
OTHER_VERSION = """
import sys
import distributed.versions as versions
real = versions.get_versions
def changed(packages=None):
    found = real(packages)
    found["packages"]["distributed"] = "2020.1.0"
    return found
versions.get_versions = changed
import distributed.scheduler, distributed.node
for module in (distributed.scheduler, distributed.node):
    if hasattr(module, "get_versions"):
        module.get_versions = changed
from dask.__main__ import main
sys.argv[0] = "dask"
main()
"""


class Farm:
    """Un ordonnanceur et des ouvriers, arrêtés à la fin, et eux seuls."""

    def __init__(self, folder):
        self.folder, self.processes, self.file = folder, [], folder / "ordonnanceur.json"

    def start(self, *command, **environment):
        log = (self.folder / f"{len(self.processes)}.log").open("w")
        process = subprocess.Popen([str(part) for part in command], stdout=log, stderr=log, env=os.environ | environment, cwd=self.folder)
        self.processes.append(process)
        return process

    def scheduler(self, *program):
        options = ("--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--no-show", "--scheduler-file", self.file)
        self.start(*(program or (BIN / "dask",)), "scheduler", *options)
        deadline = time.monotonic() + 60
        while not (self.file.exists() and self.file.read_text()):
            assert time.monotonic() < deadline and self.processes[0].poll() is None, (self.folder / "0.log").read_text()
            time.sleep(0.1)
        return json.loads(self.file.read_text())["address"]

    def worker(self, name, threads=1, **environment):
        options = ("--host", "127.0.0.1", "--nthreads", str(threads), "--no-nanny", "--no-dashboard", "--name", name, "--scheduler-file", self.file)
        return self.start(BIN / "dask", "worker", *options, "--local-directory", self.folder / name, **environment)

    def stop(self):
        for process in reversed(self.processes):
            process.kill()
            process.wait()


@pytest.fixture
def farm(tmp_path):
    folder = tmp_path / "grappe"
    folder.mkdir()
    found = Farm(folder)
    yield found
    found.stop()


@pytest.fixture(scope="module")
def submitted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("remises")
    for student in STUDENTS:
        release = RELEASE / ASSIGNMENT / f"{ASSIGNMENT}.ipynb"
        demonstration.build_copy(release, COPIES / ASSIGNMENT / f"{student}.py", folder / student / ASSIGNMENT)
    return folder


def new_course(folder, submitted):
    shutil.copytree(SOURCE / ASSIGNMENT, folder / "source" / ASSIGNMENT)
    shutil.copytree(submitted, folder / "submitted", symlinks=True)
    return folder


def command(course, *more):
    options = ["--cours", course, "--sortie", course / "rapport", "--temps-cellule", "20", "--temps-copie", "60"]
    return [str(part) for part in (BIN / "cours", "noter", *options, *more)]


def run(course, *more):
    environment = os.environ | {"COLUMNS": "250"}
    return subprocess.run(command(course, *more), cwd=ROOT, capture_output=True, text=True, env=environment, timeout=300)


def wait_until(condition, seconds=120):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "trop long"
        time.sleep(0.02)


def notes(course):
    return (course / "rapport" / "notes.csv").read_bytes()


@pytest.fixture(scope="module")
def local(submitted, tmp_path_factory):
    """notes.csv de la même classe, notée sur une seule machine."""
    course = new_course(tmp_path_factory.mktemp("local"), submitted)
    assert run(course).returncode == 1
    return notes(course)


def test_memes_notes_et_ouvrier_tue(farm, submitted, local, tmp_path):
    """Deux ouvriers, dont l'un est tué net en pleine notation : mêmes notes qu'en local, à l'octet près, et rien ne lui survit."""
    address = farm.scheduler()
    workers = [farm.worker("un"), farm.worker("deux")]
    course = new_course(tmp_path / "cours", submitted)
    grading = subprocess.Popen(command(course, "--grappe", address), cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    results = course / "rapport" / "travail" / "resultats"
    try:
        wait_until(lambda: list(results.rglob("*.json")) or grading.poll() is not None)
        assert grading.poll() is None, grading.communicate()[0]
        family = psutil.Process(workers[0].pid).children(recursive=True)
        workers[0].kill()
        workers[0].wait()
        output, _ = grading.communicate(timeout=200)
    finally:
        grading.kill()
    assert grading.returncode == 1, output
    assert notes(course) == local
    assert family, "l'ouvrier tué n'avait rien en cours"
    _, alive = psutil.wait_procs(family, timeout=20)
    assert not alive


def test_ouvrier_sans_bubblewrap(farm, submitted, local, tmp_path):
    """Un ouvrier qui ne peut pas isoler est écarté, en une phrase qui le nomme ; l'autre note tout. Seul, il fait tout refuser."""
    address = farm.scheduler()
    farm.worker("nu", PATH=str(BIN))
    course = new_course(tmp_path / "cours", submitted)
    alone = run(course, "--grappe", address)
    assert alone.returncode == 2 and "Aucun ouvrier" in alone.stdout and "bubblewrap n'est pas installé" in alone.stdout
    assert not (course / "rapport" / "notes.csv").exists()
    farm.worker("bon", threads=2)
    wait_until(lambda: run(course, "--grappe", address).returncode == 1)
    done = run(course, "--grappe", address)
    assert "écarté : bubblewrap n'est pas installé" in done.stdout, done.stdout
    assert notes(course) == local


def test_ordonnanceur_injoignable(submitted, tmp_path):
    """Personne à cette adresse, ou une adresse mal écrite : code 2, une phrase, la réparation."""
    course = new_course(tmp_path / "cours", submitted)
    for address in ("tcp://127.0.0.1:9", "n'importe quoi"):
        done = run(course, "--grappe", address)
        assert done.returncode == 2, done.stdout + done.stderr
        assert f"L'ordonnanceur {address} ne répond pas" in done.stdout and "dask scheduler" in done.stdout
        assert done.stderr == ""


def test_trop_peu_d_ouvriers(farm, submitted, tmp_path):
    """Aucun ouvrier, ou un seul fil, que joblib laisserait de côté : code 2, la réparation, rien de noté."""
    address, course = farm.scheduler(), new_course(tmp_path / "cours", submitted)
    done = run(course, "--grappe", address)
    assert done.returncode == 2 and "n'a aucun ouvrier : démarrez « dask worker" in done.stdout, done.stdout
    farm.worker("seul")
    wait_until(lambda: "n'a aucun ouvrier" not in (answer := run(course, "--grappe", address)).stdout and answer.returncode == 2)
    done = run(course, "--grappe", address)
    assert done.returncode == 2 and "n'a qu'un fil" in done.stdout, done.stdout
    assert not (course / "autograded").exists()


def test_ordonnanceur_qui_meurt_en_chemin(farm, submitted, local, tmp_path):
    """L'ordonnanceur tué en pleine notation : code 2, une phrase, rien de perdu ; relancée sur cette machine, la notation finit."""
    address, course = farm.scheduler(), new_course(tmp_path / "cours", submitted)
    farm.worker("un", threads=2)
    grading = subprocess.Popen(command(course, "--grappe", address), cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    results = course / "rapport" / "travail" / "resultats"
    try:
        wait_until(lambda: list(results.rglob("*.json")) or grading.poll() is not None)
        farm.processes[0].kill()
        output, errors = grading.communicate(timeout=120)
    finally:
        grading.kill()
    assert grading.returncode == 2 and "s'est arrêtée pendant la notation" in output and "relancez la même commande" in output, output
    assert errors == ""
    assert run(course).returncode == 1
    assert notes(course) == local


def test_ordonnanceur_d_une_autre_version(farm, submitted, tmp_path):
    """Un ordonnanceur qui se dit d'une autre version de Dask : code 2, les deux versions, la réparation."""
    address = farm.scheduler(sys.executable, "-c", OTHER_VERSION)
    done = run(new_course(tmp_path / "cours", submitted), "--grappe", address)
    assert done.returncode == 2, done.stdout + done.stderr
    assert "Dask 2020.1.0" in done.stdout and "requirements.txt" in done.stdout, done.stdout
