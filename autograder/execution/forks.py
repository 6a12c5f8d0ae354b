"""Un processus neuf par travail, sans repayer chaque fois les imports : un serveur préchargé se dédouble à la demande.

`call` exécute une fonction de ce projet dans un enfant neuf et rend sa réponse. Le serveur est un processus de confiance à part,
qui n'a ni fil d'exécution ni fichier ouvert de celui qui l'a démarré : on peut donc l'appeler de JupyterLab, d'un fil de joblib
ou d'un ouvrier Dask. Il meurt avec celui qui l'a démarré.
"""

import atexit
import gc
import importlib
import json
import os
import resource
import signal
import socket
import subprocess
import sys
import threading
import time

import psutil

MEMORY_BYTES = 4 * 2**30  # mémoire adressable d'un enfant : il lit des fichiers et des réponses qui viennent de la copie

_lock = threading.Lock()
_server: "Server | None" = None
_is_child = False


class Stopped(Exception):
    """L'enfant n'a pas répondu : il est mort, ou une erreur l'a arrêté ; le texte dit laquelle."""


class Late(Exception):
    """L'enfant n'a pas répondu à temps ; il a été tué, avec ses descendants."""


def call(name: str, argument, seconds: float):
    """Réponse de `module:fonction`, exécutée dans un enfant neuf.

    Args:
        name: « module:fonction » ; la fonction reçoit `argument` et rend une valeur, toutes deux en JSON.
        argument: valeur à lui donner.
        seconds: temps laissé à l'enfant, en secondes (horloge).
    Raises:
        Stopped, Late: voir ces classes.
    """
    ours, theirs = socket.socketpair()
    with ours, theirs:
        try:
            if _is_child:
                _fork(name, theirs)  # seul dans son processus, il peut se dédoubler lui-même
            else:
                server().send(name, theirs)
        except OSError as error:
            raise Stopped(f"il n'a pas pu démarrer ({error})") from None
        theirs.close()
        return _exchange(ours, argument, time.monotonic() + seconds)


def preload(module: str) -> None:
    """Fait importer un module au serveur, pendant que l'on prépare autre chose."""
    server().send(module, None)


def server() -> "Server":
    """Le serveur de ce processus, démarré à la première demande."""
    global _server
    with _lock:
        if _server is None or _server.process.poll() is not None:
            _server = Server()
        return _server


class Server:
    """Le processus qui se dédouble, vu de celui qui l'a démarré."""

    def __init__(self):
        self._lock = threading.Lock()
        self._connection, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            # « -c » et non « -m » : ce module serait chargé deux fois, et un enfant ne se saurait pas enfant. « -P » : rien ne
            # s'importe du dossier courant, qui peut être celui d'une copie.
            command = [sys.executable, "-P", "-c", f"from autograder.execution import forks; forks.serve({theirs.fileno()})"]
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, pass_fds=[theirs.fileno()])
        atexit.register(self.close)

    def send(self, name: str, connection: socket.socket | None) -> None:
        """Demande un enfant qui sert `connection`, ou, sans elle, l'import d'un module."""
        with self._lock:
            socket.send_fds(self._connection, [name.encode()], [] if connection is None else [connection.fileno()])

    def close(self) -> None:
        """Arrête le serveur ; les enfants en cours finissent seuls."""
        self.process.terminate()
        self.process.wait()
        self._connection.close()


def _exchange(connection: socket.socket, argument, deadline: float):
    """Donne son travail à un enfant et attend sa réponse : son numéro de processus, puis un JSON."""
    received, pid = b"", None
    try:
        connection.settimeout(max(0.1, deadline - time.monotonic()))
        connection.sendall(json.dumps(argument).encode())
        connection.shutdown(socket.SHUT_WR)
        while True:
            connection.settimeout(max(0.1, deadline - time.monotonic()))
            part = connection.recv(2**20)
            if not part:
                break
            received += part
            if pid is None and b"\n" in received:
                pid = int(received.partition(b"\n")[0])
    except TimeoutError:
        _kill(pid)
        raise Late from None
    except OSError:
        pass  # la liaison s'est rompue avec lui : sa réponse manque
    except BaseException:
        _kill(pid)
        raise
    try:
        answer = json.loads(received.partition(b"\n")[2])
    except ValueError:
        raise Stopped("il est mort sans répondre") from None
    if "error" in answer:
        raise Stopped(answer["error"])
    return answer["value"]


def _kill(pid: int | None) -> None:
    if pid is None:
        return
    try:
        child = psutil.Process(pid)
        family = [child, *child.children(recursive=True)]
    except psutil.NoSuchProcess:
        return
    for member in family:
        try:
            member.kill()
        except psutil.NoSuchProcess:
            pass


def _fork(name: str, connection: socket.socket, close: socket.socket | None = None) -> None:
    """Dédouble ce processus ; l'enfant sert `connection`, puis disparaît."""
    module, _, function = name.partition(":")
    failure = _load(module)
    if os.fork():
        return
    try:
        if close is not None:
            close.close()
        _answer(module, function, connection, failure)
    finally:
        os._exit(0)


def _load(name: str) -> str | None:
    """Importe un module avant de se dédoubler, et appelle son `warm_up` s'il en a un ; rend ce qui l'en empêche."""
    if name in sys.modules:
        return None
    try:
        module = importlib.import_module(name)
        getattr(module, "warm_up", int)()
    except Exception as error:  # noqa: BLE001  (le serveur reste ; l'enfant dira ce qui manque)
        return f"{type(error).__name__} : {error}"
    gc.collect()
    gc.freeze()  # le ramasse-miettes d'un enfant n'aura pas à recopier, en les parcourant, les objets qu'il partage avec nous
    return None


def _answer(module: str, function: str, connection: socket.socket, failure: str | None) -> None:
    global _is_child
    _is_child = True
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    connection.sendall(f"{os.getpid()}\n".encode())
    parts = []
    while part := connection.recv(2**20):
        parts.append(part)
    try:
        if failure is not None:
            raise ImportError(failure)
        answer = {"value": getattr(sys.modules[module], function)(json.loads(b"".join(parts)))}
    except BaseException as error:  # noqa: BLE001  (la raison va à celui qui a demandé ce travail)
        answer = {"error": f"{type(error).__name__} : {error}"}
    connection.sendall(json.dumps(answer).encode())


def serve(descriptor: int) -> None:
    """Boucle du serveur : un enfant par demande, jusqu'à ce que la liaison se ferme."""
    connection = socket.socket(fileno=descriptor)
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 1)
    # Un Ctrl-C s'adresse à celui qui l'a démarré ; le serveur s'arrête quand la liaison se ferme.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # le noyau ne garde pas trace des enfants finis
    while True:
        name, descriptors, *_ = socket.recv_fds(connection, 4096, 1)
        if not name:
            return
        if not descriptors:
            _load(name.decode())
            continue
        with socket.socket(fileno=descriptors[0]) as child:
            _fork(name.decode(), child, connection)
