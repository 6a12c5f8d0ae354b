"""`forks` : un processus neuf par travail, et rien qui survive à celui qui l'a demandé."""

import subprocess
import sys

import psutil
import pytest

from autograder.execution import forks
from course.settings import ROOT


@pytest.fixture(autouse=True)
def server(monkeypatch):
    """Un serveur à ce test, qui peut importer `tests.enfants`."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setattr(forks, "_server", None)
    yield
    if forks._server is not None:
        forks._server.close()


def test_enfants_neufs():
    """Chaque appel a son processus : ce que l'un change, le suivant ne le voit pas."""
    assert forks.call("builtins:len", [1, 2, 3], 20) == 3
    first, second = (forks.call("tests.enfants:compte", None, 20) for _ in range(2))
    assert first["appels"] == second["appels"] == 1 and first["pid"] != second["pid"]


@pytest.mark.parametrize(
    ("name", "argument", "words"),
    [
        ("builtins:int", "douze", "ValueError"),
        ("tests.enfants:meurt", None, "mort sans répondre"),
        ("tests.enfants:sature", None, "MemoryError"),
        ("module.inconnu:f", None, "ModuleNotFoundError"),
    ],
)
def test_enfant_qui_ne_repond_pas(name, argument, words):
    """Une erreur, une mort, une mémoire dépassée : l'appelant sait pourquoi, et le suivant a sa réponse."""
    with pytest.raises(forks.Stopped, match=words):
        forks.call(name, argument, 20)
    assert forks.call("builtins:len", "ab", 20) == 2


def test_enfant_en_retard():
    """Un enfant trop long est tué avec ses descendants."""
    with pytest.raises(forks.Late):
        forks.call("tests.enfants:dort", None, 1)
    for process in psutil.Process(forks.server().process.pid).children(recursive=True):
        process.wait(10)


def test_le_serveur_meurt_avec_son_maitre():
    """Tué net, celui qui l'a démarré n'en laisse rien derrière lui."""
    code = "from autograder.execution import forks; import sys; forks.call('builtins:len', [], 20); print(forks.server().process.pid, flush=True); sys.stdin.read()"
    master = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    server = psutil.Process(int(master.stdout.readline()))
    master.kill()
    master.communicate()
    server.wait(10)


def test_un_enfant_peut_en_demander_un():
    """Un enfant se dédouble lui-même, sans démarrer un second serveur."""
    found = forks.call("tests.enfants:demande", None, 20)
    assert found["petit-enfant"] != found["enfant"] and found["parent du petit-enfant"] == found["enfant"]


def test_rien_du_dossier_courant(tmp_path, monkeypatch):
    """Un « json.py » dans le dossier d'où l'on note n'est pas exécuté."""
    (tmp_path / "json.py").write_text("raise SystemExit(3)", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert forks.call("builtins:len", [1], 20) == 1
