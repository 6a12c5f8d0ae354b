"""Une leçon dans JupyterLab, comme à l'ouverture par l'étudiant : `cours lab`, la leçon, un noyau, sa première cellule.

JupyterLab a ses réglages dans un dossier jetable et un port libre de 127.0.0.1 ; tout ce qu'il démarre s'arrête avec lui.
"""

import json
import os
import socket
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.request import ProxyHandler, Request, build_opener

import psutil
from jupyter_client.jsonutil import json_default
from jupyter_client.session import Session
from websocket import create_connection

from course.settings import ROOT

COURS = Path(sys.executable).with_name("cours")
TIMEOUT = 60  # secondes : démarrage du serveur, ou réponse du noyau
LOCAL = build_opener(ProxyHandler({}))  # 127.0.0.1 ne passe par aucun mandataire


@contextmanager
def lab() -> Iterator["Lab"]:
    """JupyterLab, prêt à répondre ; arrêté à la sortie, avec ses noyaux.

    Raises:
        SystemExit: il s'arrête, ou ne répond pas à temps.
    """
    with TemporaryDirectory() as folder:
        port, token, private = free_port(), uuid.uuid4().hex, Path(folder)
        settings = {
            "ServerApp": {"port": port, "port_retries": 0, "open_browser": False},
            "ExtensionApp": {"open_browser": False},
            "IdentityProvider": {"token": token},
        }
        (private / "jupyter_server_config.json").write_text(json.dumps(settings), encoding="utf-8")
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("COURS_", "JUPYTER"))}
        names = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR", "JUPYTERLAB_SETTINGS_DIR",
                 "JUPYTERLAB_WORKSPACES_DIR")  # fmt: skip
        environment |= dict.fromkeys(names, folder)
        with (private / "jupyterlab.log").open("w+", encoding="utf-8") as log:
            server = psutil.Popen([COURS, "lab"], cwd=ROOT, env=environment, stdout=log, stderr=log)
            try:
                running = Lab(server, port, token)
                if not running.answers():
                    log.seek(0)
                    raise SystemExit(f"JupyterLab ne répond pas :\n{log.read()[-2000:]}")
                yield running
            finally:
                stop(server)


def free_port() -> int:
    """Un port de 127.0.0.1 que personne n'écoute."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def stop(server: psutil.Popen) -> None:
    """Arrête le serveur, puis ce qu'il laisserait derrière lui."""
    family = [server, *server.children(recursive=True)] if server.is_running() else [server]
    server.terminate()
    _, left = psutil.wait_procs(family, timeout=10)
    for process in left:
        process.kill()
    psutil.wait_procs(left, timeout=10)


@dataclass
class Lab:
    """Un JupyterLab qui tourne : son processus, son port et son jeton d'accès."""

    server: psutil.Popen
    port: int
    token: str

    def ask(self, path: str, body: dict | None = None) -> dict:
        """Réponse de l'API du serveur : GET, ou POST s'il y a un corps."""
        request = Request(f"http://127.0.0.1:{self.port}/api/{path}", headers={"Authorization": f"token {self.token}"})
        if body is not None:
            request.data = json.dumps(body).encode()
        with LOCAL.open(request, timeout=TIMEOUT) as reply:
            return json.load(reply)

    def answers(self) -> bool:
        """Attend que l'API réponde ; faux si le serveur s'arrête ou tarde trop."""
        deadline = time.monotonic() + TIMEOUT
        while time.monotonic() < deadline and self.server.poll() is None:
            try:
                return bool(self.ask("status"))
            except OSError:
                time.sleep(0.05)
        return False

    def run_first_cell(self, lesson: str) -> dict:
        """Ouvre une leçon, lui démarre un noyau et exécute sa première cellule de code ; rend la réponse du noyau."""
        path = f"notebooks/{lesson}.ipynb"
        cells = self.ask(f"contents/{path}")["content"]["cells"]
        code = next(cell["source"] for cell in cells if cell["cell_type"] == "code")
        opened = {"path": path, "name": lesson, "type": "notebook", "kernel": {"name": "python3"}}
        return self.execute(self.ask("sessions", opened)["kernel"]["id"], code)

    def execute(self, kernel: str, code: str) -> dict:
        """Fait exécuter du code à un noyau, par la connexion websocket dont se sert JupyterLab ; rend sa réponse."""
        request = Session().msg("execute_request", {"code": code, "silent": False, "allow_stdin": False}) | {"channel": "shell"}
        address = f"ws://127.0.0.1:{self.port}/api/kernels/{kernel}/channels?session_id={request['header']['session']}"
        credentials = {"Authorization": f"token {self.token}"}
        connection = create_connection(address, timeout=TIMEOUT, header=credentials, http_no_proxy=["127.0.0.1"])
        try:
            connection.send(json.dumps(request, default=json_default))
            while True:
                message = json.loads(connection.recv())
                answered = message["parent_header"].get("msg_id") == request["header"]["msg_id"]
                if answered and message["msg_type"] == "execute_reply":
                    return message["content"]
        finally:
            connection.close()

    def strangers(self) -> list[str]:
        """Ce qui sort de 127.0.0.1, de JupyterLab et de ses noyaux, une phrase chacun ; vide s'ils n'ont besoin de personne."""
        family = [self.server, *self.server.children(recursive=True)]
        expected = {self.server.pid} | {process.pid for process in family if "ipykernel_launcher" in process.cmdline()}
        connections = [(process, connection) for process in family for connection in process.net_connections(kind="tcp")]
        ports = {connection.laddr.port for _, connection in connections}
        found = []
        for process, connection in connections:
            here, there = connection.laddr, connection.raddr
            name = f"{process.name()} ({process.pid})"
            if connection.status == psutil.CONN_LISTEN and (process.pid not in expected or here.ip != "127.0.0.1"):
                found.append(f"{name} écoute sur {here.ip}:{here.port}")
            elif there and here.port != self.port and there.port not in ports:
                found.append(f"{name} s'est connecté à {there.ip}:{there.port}")
        return found
