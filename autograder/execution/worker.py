"""Le processus de l'étudiant : exécute les cellules de sa copie et répond aux questions du correcteur.

Tout ce qui tourne ici est à l'étudiant : il peut lire et changer ce processus entier. Il n'y trouve ni test, ni valeur attendue,
ni corrigé, et ce qu'il envoie n'est jamais qu'une réponse. `sandbox.py` l'importe seul, sans rien du projet, et appelle `main`.
"""

import ast
import base64
import builtins
import importlib
import io
import json
import linecache
import os
import resource
import signal
import socket
import sys
import traceback
import types
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout, suppress

import channel  # voisin de ce fichier, dans le bac à sable

MAX_OUTPUT = 20_000  # caractères gardés de chaque flux d'une cellule
MAX_DISPLAYS = 50
KEPT_TYPES = ("text/plain", "image/png")
SIMPLE = (bool, int, float, complex, str, bytes)  # types que IPython affiche comme repr()
IPYTHON_NAMES = {"get_ipython", "display", "In", "Out", "exit", "quit", "_", "__", "___"}  # noms qu'IPython donne


class CellTimeout(BaseException):
    """La cellule ou l'appel a dépassé son temps ; BaseException, pour traverser les « except Exception »."""


class NeedsIPython(BaseException):
    """La suite de la cellule demande IPython, pas encore ouvert ; `rest` est ce qu'il en reste à faire."""

    def __init__(self, rest: Callable):
        self.rest = rest


class Worker:
    """L'interpréteur de la copie et ses réponses."""

    def __init__(self, connection: socket.socket):
        self.channel = channel.Channel(connection, self.handle)
        self.objects: list = []
        self.undo: dict[str, object] = {}
        self.allowed: set[str] | None = None
        self.module = types.ModuleType("__main__", "")
        self.names = self.module.__dict__
        self.names["__builtins__"] = builtins
        self.history: list[tuple[str, object]] = []  # cellules exécutées sans IPython, et leur résultat
        self.shell = None

    def handle(self, request: dict) -> dict:
        """Réponse à une demande du correcteur."""
        operation = getattr(self, f"do_{request['op']}")
        try:
            return operation(request)
        except channel.Refused as error:
            return {"status": "refused", "reason": str(error)}
        except CellTimeout:
            return {"status": "timeout"}
        except channel.Closed:
            raise
        except BaseException as error:  # noqa: BLE001  (une valeur dont la lecture échoue : mémoire, méthodes de l'étudiant…)
            return {"status": "refused", "reason": f"cette valeur ne se lit pas ({type(error).__name__})"}

    # --- Les demandes --------------------------------------------------------------------------------------------

    def do_start(self, request: dict) -> dict:
        """Pose les limites, charge les bibliothèques que le devoir donne et restreint les imports."""
        limits = request["limits"]
        for name, value in limits.items():
            resource.setrlimit(getattr(resource, name), (value, value))
        # Leur import, parfois long, n'est pas le travail de l'étudiant : il est fait avant que son temps ne parte.
        for name in request["given"]:
            top = name.partition(".")[0]
            if not os.path.exists(top) and not os.path.exists(f"{top}.py"):  # un module joint à la copie attend sa cellule
                with suppress(Exception):
                    importlib.import_module(name)
        # IPython est toujours là : « from IPython.display import display » est une habitude, pas une réponse.
        self.allowed = None if request["modules"] is None else {*request["modules"], "IPython"}
        sys.modules["__main__"] = self.module
        sys.path.insert(0, os.getcwd())
        self._restrict_imports()
        return {"status": "ok"}

    def do_run(self, request: dict) -> dict:
        """Exécute une cellule de la copie ; ses sorties sont bornées et réduites au texte et aux images.

        S'il lui faut IPython, la réponse le dit : le correcteur le fait ouvrir (`do_open`) hors du temps de la cellule, puis
        demande la suite (`do_resume`).
        """
        self.kept = (Kept(), Kept(), [])
        return self._advance(lambda: self._run(request["source"]), request)

    def do_open(self, request: dict) -> dict:
        """Ouvre IPython."""
        self.ipython()
        return {"status": "ok"}

    def do_resume(self, request: dict) -> dict:
        """Fait ce qui reste de la cellule en cours."""
        return self._advance(self.rest, request)

    def _advance(self, action: Callable, request: dict) -> dict:
        """Fait une partie d'une cellule, ou tout ; rend ce que la cellule a produit depuis son début."""
        stdout, stderr, displays = self.kept
        failure, late = None, False
        with redirect_stdout(stdout), redirect_stderr(stderr):
            try:
                with self.alarm(request):
                    failure = action()
            except NeedsIPython as pause:
                self.rest = pause.rest
                return {"status": "ipython"}
            except CellTimeout:
                late = True
            except BaseException as error:  # noqa: BLE001  (SystemExit et ses pareils n'arrêtent que la cellule)
                failure = error
        late = late or isinstance(failure, CellTimeout)
        outputs = [stdout.output("stdout"), stderr.output("stderr"), *map(rich_output, displays[:MAX_DISPLAYS])]
        outputs = bounded([output for output in outputs if output])
        if late:
            return {"status": "timeout", "outputs": outputs}
        if failure is not None:
            return {"status": "error", "outputs": outputs, "error": describe(failure)}
        return {"status": "ok", "outputs": outputs}

    def _run(self, source: str) -> BaseException | None:
        """Exécute une cellule et garde ses affichages ; rend ou lève l'erreur qui l'arrête.

        IPython met plus longtemps à s'ouvrir qu'une copie à s'exécuter : il n'est là que si une cellule s'en sert.
        """
        name = f"<cellule {len(self.history) + 1}>"
        code = None if self.shell else plain_code(source, name, self.names)
        if code is None:
            return self._with_ipython(lambda: self._run_in_ipython(source))
        linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
        self.history.append((source, None))
        body, last = code
        exec(body, self.names)
        value = None if last is None else eval(last, self.names)
        if value is not None:
            self.history[-1] = (source, value)
            simple = type(value) in SIMPLE and not (type(value) is int and value.bit_length() > 10_000)  # trop long pour repr()
            if simple:
                self.kept[2].append({"text/plain": repr(value)})
            else:
                self._with_ipython(lambda: self.kept[2].append(self.ipython().display_formatter.format(value)[0]))
        return None

    def _with_ipython(self, action: Callable):
        """Fait `action`, tout de suite si IPython est ouvert."""
        if self.shell is None:
            raise NeedsIPython(action)
        return action()

    def _run_in_ipython(self, source: str) -> BaseException | None:
        from IPython.utils.capture import capture_output

        shell, displays = self.ipython(), self.kept[2]
        with capture_output(stdout=False, stderr=False) as captured:
            try:
                result = shell.run_cell(source, store_history=True)
            finally:
                displays += [output.data for output in captured.outputs]
        return result.error_before_exec or result.error_in_exec

    def ipython(self):
        """L'interpréteur IPython de la copie, ouvert la première fois qu'on en a besoin, avec ce qui a déjà été exécuté."""
        if self.shell is None:
            # Un « random.py » de la copie ne doit pas remplacer celui dont IPython a besoin.
            path, sys.path[:] = list(sys.path), [folder for folder in sys.path if folder != os.getcwd()]
            given = dict(self.names)
            self.shell = new_shell(self.module, self.history)
            self.names.update(given)
            sys.path[:] = path
        return self.shell

    def do_get(self, request: dict) -> dict:
        """Valeur d'un nom de la copie ; une fonction est rendue par une poignée."""
        name = request["name"]
        if name not in self.names:
            return {"status": "missing"}
        with self.alarm(request):
            return {"status": "ok", "value": self.encode(self.names[name])}

    def do_set(self, request: dict) -> dict:
        """Donne, pour la durée d'un test, une autre valeur à un nom."""
        self.remember(request["name"])
        self.names[request["name"]] = self.decode(request["value"])
        return {"status": "ok"}

    def do_delete(self, request: dict) -> dict:
        """Retire un nom, pour la durée d'un test."""
        self.remember(request["name"])
        found = self.names.pop(request["name"], self) is not self
        return {"status": "ok" if found else "missing"}

    def do_undo(self, request: dict) -> dict:
        """Remet les noms que le test a changés."""
        for name, value in self.undo.items():
            if value is self:
                self.names.pop(name, None)
            else:
                self.names[name] = value
        self.undo.clear()
        return {"status": "ok"}

    def do_call(self, request: dict) -> dict:
        """Appelle une fonction de la copie, désignée par sa poignée."""
        function = self.objects[request["handle"]]
        args, kwargs = self.decode(request["args"]), self.decode(request["kwargs"])
        quiet = io.StringIO()
        stdout, stderr, sys.stdout, sys.stderr = sys.stdout, sys.stderr, quiet, quiet
        try:
            # Lire la valeur compte dans le temps de l'appel : elle peut être immense, ou se fabriquer pendant qu'on la lit.
            with self.alarm(request):
                try:
                    value = function(*args, **kwargs)
                except CellTimeout:
                    raise
                except BaseException as error:  # noqa: BLE001
                    return {"status": "raised", "error": describe(error)}
                return {"status": "ok", "value": self.encode(value)}
        finally:
            sys.stdout, sys.stderr = stdout, stderr

    # --- Les questions au correcteur ----------------------------------------------------------------------------------

    def ask(self, request: dict) -> dict:
        """Pose une question au correcteur ; le réveil attend la fin de l'échange : interrompu au milieu d'un message, le canal ne se
        lirait plus."""
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, Alarm.SIGNALS)
        try:
            return self.channel.ask(request)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)

    def alarm(self, request: dict) -> "Alarm":
        """Le réveil d'une demande."""
        return Alarm(request["computing"], request["waiting"], lambda: self.ask({"op": "left"})["waiting"])

    # --- Les valeurs ----------------------------------------------------------------------------------------------

    def encode(self, value):
        return channel.encode(value, self.register)

    def decode(self, tree):
        return channel.decode(tree, self.resolve)

    def register(self, function) -> dict:
        """Étiquette d'une fonction : celle du correcteur si elle vient de lui, sinon une poignée d'ici."""
        if isinstance(function, Callback):
            return {"c": function.number}
        for number, known in enumerate(self.objects):
            if known is function:
                return {"h": number}
        self.objects.append(function)
        return {"h": len(self.objects) - 1}

    def resolve(self, tag: str, number: int):
        return self.objects[number] if tag == "h" else Callback(self, number)

    def remember(self, name: str) -> None:
        self.undo.setdefault(name, self.names.get(name, self))

    # --- Les imports ----------------------------------------------------------------------------------------------

    def _restrict_imports(self) -> None:
        """Refuse, dans le code de la copie, les modules que le devoir ne permet pas.

        C'est une politesse : elle donne une phrase claire. La frontière, ce sont les montages du bac à sable.
        """
        if self.allowed is None:
            return
        original = builtins.__import__

        def guarded(name, globals=None, locals=None, fromlist=(), level=0):
            top = name.partition(".")[0]
            if globals is self.names and level == 0 and top not in self.allowed and not os.path.exists(f"{top}.py"):
                permitted = ", ".join(sorted(self.allowed))
                raise ModuleNotFoundError(
                    f"Le module {top!r} n'est pas permis pendant la notation de ce devoir ; modules permis : {permitted}."
                )
            return original(name, globals, locals, fromlist, level)

        builtins.__import__ = guarded


class Callback:
    """Une fonction restée chez le correcteur (un juge scripté) : l'appeler le lui demande."""

    def __init__(self, worker: Worker, number: int):
        self.worker, self.number = worker, number

    def __call__(self, *args, **kwargs):
        worker = self.worker
        request = {"op": "callback", "number": self.number, "args": worker.encode(args), "kwargs": worker.encode(kwargs)}
        answer = worker.ask(request)
        if answer["status"] == "ok":
            return worker.decode(answer["value"])
        error = answer["error"]
        raise getattr(builtins, error["bases"][0], Exception)(error["message"])


class Alarm:
    """Interrompt le bloc au bout de `computing` secondes de calcul de ce processus, ou de `waiting` secondes d'attente.

    L'horloge seule ne sait pas si la copie attend ou si un cœur lui manque : `left` dit, à son réveil, combien il reste vraiment.
    Le correcteur mesure de son côté, fils compris, et tue ce qui ne s'interrompt pas.
    """

    SIGNALS = {signal.SIGPROF, signal.SIGALRM}
    TIMERS = (signal.ITIMER_PROF, signal.ITIMER_REAL)

    def __init__(self, computing: float, waiting: float, left: Callable[[], float]):
        self.times, self.left = (computing, waiting), left

    def __enter__(self):
        def ring(signum, frame):
            left = self.left() if signum == signal.SIGALRM else 0
            if left <= 0:
                raise CellTimeout
            signal.setitimer(signal.ITIMER_REAL, max(0.05, left))

        for number in self.SIGNALS:
            signal.signal(number, ring)
        self.mask = signal.pthread_sigmask(signal.SIG_UNBLOCK, self.SIGNALS)
        self.outer = [signal.setitimer(timer, seconds)[0] for timer, seconds in zip(self.TIMERS, self.times)]

    def __exit__(self, *exception):
        # Un appel peut en contenir un autre (une fonction de la copie rappelée par un test) : le réveil du premier reprend.
        for timer, seconds in zip(self.TIMERS, self.outer):
            signal.setitimer(timer, seconds)
        signal.pthread_sigmask(signal.SIG_SETMASK, self.mask)


def plain_code(source: str, name: str, names: dict) -> tuple | None:
    """Code d'une cellule de Python ordinaire : tout sauf sa dernière expression, et celle-ci ; None s'il faut IPython.

    Il le faut pour une commande magique, un « await », un nom qu'il donne, et une cellule qui ne se lit pas : il dit l'erreur.

    Args:
        source: texte de la cellule.
        name: nom de fichier, pour les traces d'erreur.
        names: noms que la copie a déjà.
    """
    if "IPython" in source or "get_ipython" in source or "__future__" in source:
        return None
    try:
        tree = ast.parse(source)
        found = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
        given = names.keys() | {node.id for node in found if isinstance(node.ctx, ast.Store)}
        if any(node.id in IPYTHON_NAMES or node.id.strip("_i").isdigit() for node in found if node.id not in given):
            return None
        shown = tree.body and isinstance(tree.body[-1], ast.Expr) and not source.rstrip().endswith(";")
        last = ast.Expression(tree.body.pop().value) if shown else None
        return compile(tree, name, "exec"), last and compile(last, name, "eval")
    except (SyntaxError, ValueError):
        return None


def new_shell(module, history: list):
    """Interpréteur IPython sans fichier, dans le module de la copie, comme s'il avait exécuté lui-même ce qui précède."""
    from IPython.core.displayhook import DisplayHook
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    class PublishedResult(DisplayHook):
        """Le résultat d'une cellule passe par l'affichage riche, comme dans Jupyter, et non par la sortie texte."""

        def __call__(self, result=None):
            if result is not None and not self.quiet():
                self.update_user_ns(result)
                self.shell.display_pub.publish(*self.compute_format_data(result))

    config = Config()
    config.HistoryManager.enabled = False
    config.InteractiveShell.colors = "nocolor"
    config.DisplayFormatter.active_types = list(KEPT_TYPES)
    shell = InteractiveShell.instance(
        config=config, displayhook_class=PublishedResult, user_module=module, user_ns=module.__dict__
    )
    # L'erreur d'une cellule est décrite à part : IPython n'a pas à l'imprimer dans sa sortie.
    shell.showtraceback = shell.showsyntaxerror = lambda *args, **kwargs: None
    for source, result in history:
        shell.history_manager.store_inputs(shell.execution_count, source, source)
        shell.execution_count += 1
        if result is not None:
            shell.displayhook.update_user_ns(result)
    return shell


def describe(error: BaseException) -> dict:
    """Ce que le correcteur apprend d'une erreur : ses ancêtres standard, son nom, son texte, sa trace dans la copie."""
    bases = [cls.__name__ for cls in type(error).__mro__ if cls.__module__ == "builtins" and cls is not object]
    try:
        message = str(error)
    except BaseException:  # noqa: BLE001  (un __str__ de l'étudiant)
        message = ""
    # Les étages d'IPython et du correcteur n'apprennent rien à l'étudiant : on ne garde que sa copie.
    frames = [frame for frame in traceback.extract_tb(error.__traceback__, limit=-50) if frame.filename.startswith("<")]
    lines = [*traceback.format_list(frames), *traceback.format_exception_only(error)]
    return {
        "bases": bases,
        "name": type(error).__name__,
        "message": message[:2000],
        "traceback": [line[-2000:] for line in lines[-12:]],
    }


class Kept(io.StringIO):
    """Sortie texte dont seuls le début et la fin sont gardés : une boucle qui affiche sans fin n'emplit pas la mémoire."""

    def __init__(self):
        super().__init__()
        self.size, self.end = 0, ""

    def write(self, text: str) -> int:
        room = max(0, MAX_OUTPUT // 2 - self.size)
        self.size += len(text)
        super().write(text[:room])
        self.end = (self.end + text[room:])[-MAX_OUTPUT // 2 :]
        return len(text)

    def output(self, name: str) -> dict | None:
        """Sortie nbformat, ou None si rien n'a été écrit."""
        start, removed = self.getvalue(), self.size - MAX_OUTPUT
        middle = f"\n… ({removed} caractères retirés) …\n" if removed > 0 else ""
        return {"output_type": "stream", "name": name, "text": start + middle + self.end} if self.size else None


def bounded(outputs: list[dict]) -> list[dict]:
    """Premières sorties d'une cellule, tant qu'elles tiennent dans un message."""
    total = 0
    for rank, output in enumerate(outputs):
        total += len(json.dumps(output))
        if total > channel.MAX_BYTES // 2:
            text = f"… ({len(outputs) - rank} sorties retirées) …\n"
            return [*outputs[:rank], {"output_type": "stream", "name": "stdout", "text": text}]
    return outputs


def rich_output(shown: dict) -> dict | None:
    """Affichage riche (type MIME → contenu) réduit au texte et à l'image PNG ; rien d'actif ne sort d'ici."""
    png = shown.get("image/png")
    if isinstance(png, bytes):
        shown = shown | {"image/png": base64.b64encode(png).decode()}
    data = {kind: value for kind, value in shown.items() if kind in KEPT_TYPES and isinstance(value, str)}
    if "text/plain" in data:
        data["text/plain"] = data["text/plain"][:MAX_OUTPUT]
    if len(json.dumps(data)) > 10 * MAX_OUTPUT:
        data.pop("image/png", None)
    return {"output_type": "display_data", "data": data, "metadata": {}} if data else None


def main(descriptor: int, packages: str) -> None:
    """Sert le correcteur, sur le socket `descriptor`, jusqu'à ce qu'il ferme ; les paquets permis sont dans `packages`."""
    sys.path[:] = [folder for folder in sys.path if folder != os.path.dirname(__file__)] + [packages]
    connection = socket.socket(fileno=descriptor)
    # Ce qui s'écrit directement sur les descripteurs 1 et 2 ne doit remplir ni tube ni disque.
    null = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(null, number)
    Worker(connection).channel.serve()
