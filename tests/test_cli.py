"""La commande `cours` vue du dehors : codes de sortie et messages français."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.settings import UsageError
from course import environment, judge_server
from course.settings import ROOT

COURS = Path(sys.executable).with_name("cours")


def run(*arguments: str, **variables: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [COURS, *arguments], cwd=ROOT, capture_output=True, text=True, env=os.environ | {"COLUMNS": "200"} | variables
    )


@pytest.mark.parametrize(
    ("arguments", "code", "expected"),
    [
        (["--help"], 0, "Affiche cette aide."),
        (["inconnue"], 2, "La commande inconnue n'existe pas ; voyez « cours --help »."),
        (["construire", "--proces", "2"], 2, "vouliez-vous dire --processus ?"),
        (["construire", "--processus", "zéro"], 2, "La valeur donnée à --processus n'est pas de la forme attendue"),
        (["construire", "--processus"], 2, "L'option --processus attend une valeur"),
        (["publier", "ex01"], 2, "Il y a un argument de trop : ex01"),
        (["construire", "77"], 2, "La leçon '77' n'existe pas : choisissez parmi 00_pourquoi_evaluer"),
        (["enregistrer", "01"], 2, "Rien à enregistrer pour 01_bleu"),
    ],
)
def test_usage(arguments, code, expected):
    """Un mauvais usage rend 2 et une phrase qui dit quoi taper."""
    done = run(*arguments)
    assert done.returncode == code
    assert expected in done.stdout
    assert "Traceback" not in done.stdout + done.stderr


def test_enregistrer_sans_serveur_garde_l_ancien_journal():
    """Sans serveur : code 1, la leçon, la cellule et la réparation sont nommées ; le journal ne change pas."""
    journal = ROOT / "helpers" / "donnees" / "journal" / "03_perplexite.jsonl"
    before = journal.read_bytes()
    done = run("enregistrer", "03", COURS_JUGE_URL="http://127.0.0.1:9/v1")
    assert done.returncode == 1
    assert "03_perplexite : la cellule" in done.stdout and "cours juge demarrer" in done.stdout
    assert journal.read_bytes() == before


def test_port_pris(monkeypatch):
    """Un autre programme sur le port du juge : on le dit, on ne démarre rien et on n'arrête rien."""
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        monkeypatch.setattr(judge_server, "PORT", port)
        monkeypatch.setattr(judge_server, "URL", f"http://127.0.0.1:{port}/v1")
        monkeypatch.setattr(judge_server, "_served_models", lambda: None)
        with pytest.raises(UsageError, match=f"port {port} est pris par un autre programme.*cours juge demarrer"):
            judge_server.start(None)


def test_arreter_ne_touche_pas_un_autre_processus(monkeypatch, tmp_path):
    """Un numéro de processus périmé, repris par un autre programme, n'est jamais arrêté."""
    other = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(30)"])
    try:
        monkeypatch.setattr(judge_server, "PID", tmp_path / "vllm.pid")
        judge_server.PID.write_text(str(other.pid), encoding="utf-8")
        assert judge_server.status().pid is None
    finally:
        other.kill()
        other.wait()


def test_verifier_env_nomme_ce_qui_manque(monkeypatch):
    """Une ligne par exigence ; un paquet absent est indispensable, le juge ne l'est pas."""
    lines = {line.name: line for line in environment.requirements()}
    assert lines["Python ≥ 3.11"].satisfied and lines["Python ≥ 3.11"].essential
    assert {"bubblewrap", "port 8185", "juge"} <= lines.keys()
    monkeypatch.setattr(environment, "version", lambda name: "0.0.1")
    packages = [line for line in environment.requirements() if "==" in line.repair]
    assert packages and all(str(line).startswith("✗") and "pip install" in str(line) for line in packages)
