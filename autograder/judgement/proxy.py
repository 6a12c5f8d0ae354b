"""Ce que les tests voient de la copie : des doublures, qui font agir le processus de l'étudiant.

Un test écrit pour nbgrader s'exécute ici tel quel. Lire un nom de la copie va chercher sa valeur, appeler une fonction l'appelle
là-bas ; donner ou retirer un nom agit là-bas aussi, et sera défait après le test. Rien de ce que tient le test n'y est envoyé,
sinon les arguments qu'il passe.
"""

import builtins
from collections.abc import Iterable

from autograder.execution import channel
from autograder.execution.limits import Meter


class Lost(BaseException):
    """Le processus de l'étudiant n'a pas pu répondre (mort, muet, temps dépassé, valeur refusée).

    Elle hérite de BaseException : un « except Exception » dans un test ne doit pas la prendre pour une réponse.
    """


class Student:
    """Le processus de l'étudiant, vu du correcteur.

    Args:
        connection: socket relié au bac à sable.
        meter: compte ce que la copie consomme.

    `lost` garde la raison de la dernière défaillance, que le test l'ait vue ou non ; `failed` dit que c'était une mort ou un temps
    dépassé, et non une valeur refusée ; `dead`, que le processus ne répondra plus ; `starved`, que sa limite d'attente l'a arrêté.
    """

    def __init__(self, connection, meter: Meter):
        self.channel = channel.Channel(connection, self._serve)
        self.meter = meter
        self.callbacks: list = []
        self.dead = self.has_ipython = self.failed = False
        self.lost: str | None = None
        self.starved: str | None = None

    def start(self, rlimits: dict[str, int], modules: list[str] | None, given: Iterable[str] = ()) -> None:
        """Ouvre l'interpréteur de la copie, qui n'a encore rien exécuté ; le temps de la copie part de là.

        Args:
            rlimits: limites de chaque processus.
            modules: modules permis ; None pour tous.
            given: modules que les cellules données du devoir importent, chargés d'avance.
        Raises:
            Lost: le bac à sable n'a pas démarré.
        """
        with self.meter.uncharged():
            self.request("start", limits=rlimits, modules=modules, given=list(given))
        self.meter.open_notebook()

    def start_clock(self) -> None:
        """Ouvre le temps d'une nouvelle cellule."""
        self.meter.open_cell()
        self.lost, self.failed = None, False

    def run(self, source: str) -> dict:
        """Exécute une cellule de la copie ; si elle demande IPython, il s'ouvre, une fois, hors du temps de la copie.

        Raises:
            Lost: voir `request`.
        """
        answer = self.request("run", source=source)
        if answer.get("status") == "ipython" and not self.has_ipython:
            self.has_ipython = True
            with self.meter.uncharged():
                self.request("open")
            answer = self.request("resume")
        return answer

    def request(self, op: str, **fields) -> dict:
        """Pose une demande et rend la réponse ; toute défaillance lève Lost.

        Args:
            op: nom de la demande.
            fields: ce que la demande porte.
        Raises:
            Lost: le processus est mort ou muet, ou ce qu'il a envoyé n'est pas un message.
        """
        if self.dead:
            raise self._fail("le processus de la copie est arrêté")
        if reason := self.meter.exhausted():
            self.dead = True
            raise self._late(reason)
        computing, waiting = self.meter.left()
        try:
            answer = self.channel.ask({"op": op, "computing": max(0.05, computing), "waiting": max(0.05, waiting), **fields})
        except channel.Closed:
            self.dead = True
            raise self._late(self.meter.death()) from None
        except channel.Refused as error:
            self.dead = True
            raise self._fail(str(error)) from None
        if answer.get("status") == "timeout":
            raise self._late(self.meter.late())
        if answer.get("status") == "refused":
            raise self._fail(str(answer.get("reason", ""))[:300], failed=False)
        return answer

    def _late(self, reason: str) -> Lost:
        """Un temps est dépassé, peut-être : si c'est celui d'attendre, la copie n'y est peut-être pour rien."""
        if self.meter.waited():
            self.starved = reason
        return self._fail(reason)

    def encode(self, value):
        """Arbre d'une valeur du test ; une fonction du test reste ici et sera rappelée."""
        try:
            return channel.encode(value, self._register)
        except channel.Refused as error:
            raise self._fail(f"argument du test : {error}", failed=False) from None

    def decode(self, tree):
        """Valeur reçue de la copie."""
        try:
            return channel.decode(tree, self._resolve)
        except channel.Refused as error:
            raise self._fail(str(error), failed=False) from None

    def call(self, handle: int, args: tuple, kwargs: dict):
        """Appelle une fonction de la copie ; une erreur qu'elle lève est relevée ici sous son ancêtre standard."""
        answer = self.request("call", handle=handle, args=self.encode(args), kwargs=self.encode(kwargs))
        if answer.get("status") == "raised":
            raise rebuilt(answer.get("error"))
        return self.decode(answer.get("value"))

    def _fail(self, reason: str, failed: bool = True) -> Lost:
        self.lost, self.failed = reason, self.failed or failed
        return Lost(reason)

    def _serve(self, message: dict) -> dict:
        """Rappelle une fonction du test à la demande de la copie (un juge scripté), ou lui dit ce qu'il lui reste à attendre."""
        if message.get("op") == "left":
            return {"status": "ok", "waiting": self.meter.left().waiting}
        number = message.get("number")
        if message.get("op") != "callback" or type(number) is not int or not 0 <= number < len(self.callbacks):
            raise channel.Refused("message mal formé : demande inconnue")
        args = channel.decode(message.get("args"), self._resolve)
        kwargs = channel.decode(message.get("kwargs"), self._resolve)
        if not isinstance(args, tuple) or not isinstance(kwargs, dict) or not all(isinstance(key, str) for key in kwargs):
            raise channel.Refused("message mal formé : arguments")
        try:
            return {"status": "ok", "value": channel.encode(self.callbacks[number](*args, **kwargs), self._register)}
        except channel.Refused:
            raise
        except Exception as error:  # noqa: BLE001  (l'erreur du test double revient à qui l'a appelé)
            bases = [cls.__name__ for cls in type(error).__mro__ if cls.__module__ == "builtins"]
            return {"status": "raised", "error": {"bases": bases or ["Exception"], "message": str(error)[:500]}}

    def _register(self, function) -> dict:
        if isinstance(function, RemoteFunction):
            return {"h": function._handle}
        for number, known in enumerate(self.callbacks):
            if known is function:
                return {"c": number}
        self.callbacks.append(function)
        return {"c": len(self.callbacks) - 1}

    def _resolve(self, tag: str, number: int):
        if tag == "h":
            return RemoteFunction(self, number)
        if not 0 <= number < len(self.callbacks):
            raise channel.Refused("message mal formé : fonction inconnue")
        return self.callbacks[number]


class RemoteFunction:
    """Une fonction de la copie : l'appeler l'appelle dans le processus de l'étudiant."""

    def __init__(self, student: Student, handle: int):
        self._student, self._handle = student, handle

    def __call__(self, *args, **kwargs):
        return self._student.call(self._handle, args, kwargs)


def rebuilt(error) -> Exception:
    """Exception standard la plus proche de celle que la copie a levée ; Exception si rien n'en approche."""
    error = error if isinstance(error, dict) else {}
    message = str(error.get("message", ""))[:2000]
    bases = error.get("bases")
    for name in bases if isinstance(bases, list) else []:
        cls = getattr(builtins, name, None) if isinstance(name, str) else None
        if isinstance(cls, type) and issubclass(cls, Exception):
            try:
                return cls(message)
            except TypeError:
                continue  # UnicodeDecodeError et quelques autres ne se font pas d'un seul texte
    return Exception(message or str(error.get("name", ""))[:100])


class Namespace(dict):
    """Espace de noms des tests ; les noms que définissent les cellules réponses y sont des doublures.

    Un dictionnaire dérivé suffit : au niveau du module, Python lit, donne et retire les noms par ces méthodes.
    """

    def __init__(self, student: Student, names: set[str]):
        super().__init__(__name__="__main__", __builtins__=builtins)
        self._student, self._names, self._changed = student, names, False

    def __getitem__(self, name):
        if name not in self._names:
            return super().__getitem__(name)
        answer = self._student.request("get", name=name)
        if answer.get("status") == "missing":
            raise KeyError(name)
        return self._student.decode(answer.get("value"))

    def __setitem__(self, name, value):
        if name not in self._names:
            super().__setitem__(name, value)
            return
        self._changed = True
        self._student.request("set", name=name, value=self._student.encode(value))

    def __delitem__(self, name):
        if name not in self._names:
            super().__delitem__(name)
            return
        self._changed = True
        if self._student.request("delete", name=name).get("status") == "missing":
            raise KeyError(name)

    def __contains__(self, name):
        if name not in self._names:
            return super().__contains__(name)
        return self._student.request("get", name=name).get("status") != "missing"

    def undo(self) -> None:
        """Remet dans le processus de l'étudiant les noms que le test y a changés."""
        if self._changed and not self._student.dead:
            self._changed = False
            self._student.start_clock()
            self._student.request("undo")
