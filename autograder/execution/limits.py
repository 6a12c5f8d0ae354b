"""Ce qu'une copie peut consommer, ce qu'elle a consommé, et le guetteur qui l'arrête.

Le temps compté est celui qu'elle *calcule* : le temps de processeur de tout ce qu'elle lance, que le noyau mesure (`groups`). Il ne
dépend pas de ce que la machine fait d'autre. L'attente n'est là qu'en dernier recours, pour une copie qui ne demande même pas à
calculer (sommeil, blocage) : c'est l'horloge, moins ce qu'elle a calculé et moins ce qu'elle a passé dans la file d'un cœur occupé
par d'autres. Généreuse, elle peut encore dépendre de la machine (disque) : une copie qu'elle arrête est relancée seule avant tout
verdict.
"""

import math
import threading
import time
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple

from autograder.execution.groups import SPARE, ControlGroup, ProcessTree, memory_bytes, thread_count
from autograder.settings import MIB

WAIT_FACTOR = 10  # secondes d'attente laissées pour une seconde de calcul permise
SLOWDOWN = 10  # secondes d'horloge qu'une seconde de calcul ou d'attente peut prendre avant que le correcteur ne renonce
STARTUP_WAIT = 120.0  # secondes d'attente laissées à l'interpréteur pour s'ouvrir, disque froid
STARTUP_SECONDS = 30.0  # secondes de calcul qu'il peut y passer
GRACE = 1.0  # secondes de calcul laissées à une cellule interrompue pour s'arrêter d'elle-même
WAIT_GRACE = 10.0  # les mêmes, d'attente
WRITABLE = ("/tmp", "/copie", "/dev/shm")  # chacun est un disque en mémoire, de taille bornée
POLL = 0.1  # secondes entre deux relevés du guetteur


@dataclass(frozen=True)
class Limits:
    """Limites d'une copie ; toutes valent pour la copie entière, tous processus ensemble, sauf mention.

    Attributes:
        cell_seconds: temps de calcul d'une cellule ou d'un test, en secondes.
        notebook_seconds: temps de calcul de toute la copie, en secondes.
        memory_mib: mémoire, en Mio ; c'est aussi la mémoire adressable de chaque processus.
        processes: processus et fils d'exécution.
        file_mib: taille d'un fichier, et de chacun des dossiers où la copie peut écrire (WRITABLE), en Mio.
        files: nombre de fichiers écrits.
    """

    cell_seconds: float = 30
    notebook_seconds: float = 180
    memory_mib: int = 2048
    processes: int = 48
    file_mib: int = 32
    files: int = 5000

    @property
    def cell_wait(self) -> float:
        """Temps d'attente d'une cellule, en secondes."""
        return WAIT_FACTOR * self.cell_seconds

    @property
    def notebook_wait(self) -> float:
        """Temps d'attente de toute la copie, en secondes."""
        return max(self.cell_wait, WAIT_FACTOR / 2 * self.notebook_seconds)

    @property
    def written_mib(self) -> int:
        """Place que la copie peut prendre, dossiers où elle écrit ensemble, en Mio."""
        return len(WRITABLE) * self.file_mib

    @property
    def patience(self) -> float:
        """Temps d'horloge au bout duquel celui qui a demandé une correction n'attend plus, en secondes."""
        return self.notebook_wait + SLOWDOWN * (self.notebook_seconds + 2 * STARTUP_SECONDS) + 2 * STARTUP_WAIT + 60

    def rlimits(self) -> dict[str, int]:
        """Limites de chaque processus, posées dans le bac à sable avant que le code de l'étudiant ne tourne."""
        return {
            "RLIMIT_AS": self.memory_mib * MIB,
            "RLIMIT_NPROC": self.processes,
            "RLIMIT_CPU": math.ceil(self.notebook_seconds + STARTUP_SECONDS + GRACE),
            "RLIMIT_FSIZE": self.file_mib * MIB,
            "RLIMIT_NOFILE": 256,
            "RLIMIT_CORE": 0,
        }


class Spent(NamedTuple):
    """Temps d'une copie, en secondes : celui qu'elle a passé à calculer, et celui qu'elle a passé à ne rien demander."""

    computing: float
    waiting: float

    def plus(self, other: "Spent") -> "Spent":
        return Spent(self.computing + other.computing, self.waiting + other.waiting)

    def minus(self, other: "Spent") -> "Spent":
        return Spent(self.computing - other.computing, self.waiting - other.waiting)


NEVER = Spent(math.inf, math.inf)
STARTUP = Spent(STARTUP_SECONDS, STARTUP_WAIT)


class Meter:
    """Compte ce qu'une copie consomme, cellule par cellule, et la tue quand elle passe une limite qui ne s'interrompt pas.

    Args:
        limits: limites de la copie.
        group: ses processus.
        written: rend le nombre de fichiers qu'elle a écrits, et leur taille en octets ; appelée à chaque relevé.

    `reason` dit pourquoi le guetteur l'a tuée, ou None.
    """

    def __init__(
        self,
        limits: Limits,
        group: ProcessTree | ControlGroup,
        written: Callable[[], tuple[int, int]] = lambda: (0, 0),
    ):
        self.limits, self._group, self._written = limits, group, written
        self._files_given = 0
        self.reason: str | None = None
        self._stop = threading.Event()
        self._waiting, self._seen = 0.0, (time.monotonic(), self._served())
        self._cell_end, self._notebook_end = STARTUP, NEVER
        threading.Thread(target=self._watch, daemon=True).start()

    def close(self) -> None:
        """Arrête le guetteur."""
        self._stop.set()

    def open_notebook(self) -> None:
        """Part de zéro : ce qui a été consommé jusqu'ici (ouverture de l'interpréteur) n'est pas à la copie."""
        self._notebook_end = self._spent().plus(Spent(self.limits.notebook_seconds, self.limits.notebook_wait))
        self._files_given = self._written()[0]
        self.open_cell()

    def open_cell(self) -> None:
        """Ouvre le temps d'une cellule ou d'un test."""
        self._cell_end = self._spent().plus(Spent(self.limits.cell_seconds, self.limits.cell_wait))

    @contextmanager
    def uncharged(self):
        """Ce qui se passe ici n'est pas compté à la copie, dans la limite de STARTUP."""
        before, ends = self._spent(), (self._cell_end, self._notebook_end)
        self._cell_end, self._notebook_end = before.plus(STARTUP), NEVER
        try:
            yield
        finally:
            free = self._spent().minus(before)
            self._cell_end, self._notebook_end = (end.plus(free) for end in ends)

    def left(self) -> Spent:
        """Ce qui reste à la cellule en cours."""
        return Spent(*map(min, self._cell_end, self._notebook_end)).minus(self._spent())

    def exhausted(self) -> str | None:
        """Pourquoi la copie entière n'a plus de temps, ou None."""
        computing, waiting = self._notebook_end.minus(self._spent())
        if computing <= POLL:
            return f"la copie a dépassé son temps de calcul total ({self.limits.notebook_seconds:g} s)"
        if waiting <= 0:
            return f"la copie a dépassé son temps d'attente total ({self.limits.notebook_wait:g} s sans calculer)"
        return None

    def waited(self) -> bool:
        """La copie est-elle arrêtée pour avoir attendu, et non pour avoir trop calculé ?"""
        computing, waiting = self.left()
        return waiting <= 0 < computing

    def late(self) -> str:
        """Ce que l'on dit d'une cellule interrompue : la limite atteinte, et sa valeur."""
        if (reason := self.exhausted()) is not None:
            return reason
        if self.waited():
            return f"temps d'attente dépassé ({self.limits.cell_wait:g} s sans calculer)"
        return f"temps de calcul dépassé ({self.limits.cell_seconds:g} s)"

    def death(self) -> str:
        """Pourquoi le processus de la copie est mort, si une limite en est la cause ; sinon, qu'il est mort."""
        if self.reason is None and self._group.killed_by_memory():
            self.reason = self._too_much_memory()
        return self.reason or "le processus de la copie s'est arrêté pendant ce code"

    def _served(self) -> float:
        """Secondes que les processus de la copie ont passées sur un cœur, ou dans sa file."""
        return self._group.cpu_seconds() + self._group.queued_seconds()

    def _spent(self) -> Spent:
        return Spent(self._group.cpu_seconds(), self._waiting)

    def _watch(self) -> None:
        while not self._stop.wait(POLL):
            now, served = time.monotonic(), self._served()
            self._waiting += max(0.0, now - self._seen[0] - max(0.0, served - self._seen[1]))
            self._seen = (now, served)
            reason = self._excess()
            if reason is not None and not self._stop.is_set():
                self.reason = reason
                self._group.kill()
                return

    def _excess(self) -> str | None:
        """La limite que la copie dépasse sans que rien d'autre ne l'arrête, ou None."""
        if self._group.cpu_seconds() > self._notebook_end.computing + GRACE:
            return f"la copie a dépassé son temps de calcul total ({self.limits.notebook_seconds:g} s)"
        computing, waiting = self.left()
        if computing < -GRACE or waiting < -WAIT_GRACE:
            return f"{self.late()}, et le code ne s'interrompt pas"
        if not self._group.kernel_bounds:
            processes, limit = self._group.processes(), self.limits.memory_mib * MIB
            if memory_bytes(processes, limit) > limit:
                return self._too_much_memory()
            if thread_count(processes) > self.limits.processes + SPARE:
                return f"trop de processus et de fils d'exécution (plus de {self.limits.processes})"
        files, size = self._written()
        if files - self._files_given > self.limits.files:
            return f"trop de fichiers (plus de {self.limits.files})"
        if size > self.limits.written_mib * MIB:
            return f"trop de place prise sur le disque (plus de {self.limits.written_mib} Mio)"
        return None

    def _too_much_memory(self) -> str:
        return f"mémoire totale dépassée ({self.limits.memory_mib} Mio pour tous les processus de la copie)"
