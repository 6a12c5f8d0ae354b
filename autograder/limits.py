"""Ce qu'une copie peut consommer, ce qu'elle a consommé, et le guetteur qui l'arrête.

Le temps compté est celui qu'elle *calcule* : le temps de processeur de tout ce qu'elle lance, que le noyau mesure (`groups`). Il ne
dépend pas de ce que la machine fait d'autre. L'horloge n'est là qu'en dernier recours, pour une copie qui attend sans calculer
(sommeil, blocage) ; généreuse, elle dépend pourtant de la machine : une copie qu'elle arrête est relancée seule avant tout verdict.
"""

import math
import threading
import time
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass

from autograder.groups import SPARE, ControlGroup, ProcessTree, memory_bytes, thread_count
from autograder.settings import MIB

WAIT_FACTOR = 10  # secondes d'horloge laissées pour une seconde de calcul permise : de quoi partager chaque cœur à dix
STARTUP_WAIT = 120.0  # secondes d'horloge laissées à l'interpréteur pour s'ouvrir, disque froid et machine chargée
STARTUP_SECONDS = 30.0  # secondes de calcul qu'il peut y passer
GRACE = 1.0  # secondes de calcul laissées à une cellule interrompue pour s'arrêter d'elle-même
WAIT_GRACE = 10.0  # les mêmes, d'horloge
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
        """Temps d'horloge d'une cellule, en secondes."""
        return WAIT_FACTOR * self.cell_seconds

    @property
    def notebook_wait(self) -> float:
        """Temps d'horloge de toute la copie, en secondes."""
        return max(self.cell_wait, WAIT_FACTOR / 2 * self.notebook_seconds)

    @property
    def written_mib(self) -> int:
        """Place que la copie peut prendre, dossiers où elle écrit ensemble, en Mio."""
        return len(WRITABLE) * self.file_mib

    @property
    def patience(self) -> float:
        """Temps d'horloge au bout duquel celui qui a demandé une correction n'attend plus, en secondes."""
        return self.notebook_wait + 2 * STARTUP_WAIT + 60

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
        self._cell_start = self._notebook_start = (0.0, time.monotonic())
        self._cell_end = self._notebook_end = math.inf  # secondes de calcul, depuis le départ de la copie
        threading.Thread(target=self._watch, daemon=True).start()

    def close(self) -> None:
        """Arrête le guetteur."""
        self._stop.set()

    def open_notebook(self) -> None:
        """Part de zéro : ce qui a été consommé jusqu'ici (ouverture de l'interpréteur) n'est pas à la copie."""
        self._notebook_start = (self._group.cpu_seconds(), time.monotonic())
        self._notebook_end = self._notebook_start[0] + self.limits.notebook_seconds
        self._files_given = self._written()[0]
        self.open_cell()

    def open_cell(self) -> None:
        """Ouvre le temps d'une cellule ou d'un test."""
        self._cell_start = (self._group.cpu_seconds(), time.monotonic())
        self._cell_end = self._cell_start[0] + self.limits.cell_seconds

    @contextmanager
    def uncharged(self):
        """Ce qui se passe ici n'est pas compté à la copie, dans la limite de STARTUP_SECONDS."""
        before = (self._group.cpu_seconds(), time.monotonic())
        cell, notebook, ends = self._cell_start, self._notebook_start, (self._cell_end, self._notebook_end)
        self._cell_start, self._cell_end, self._notebook_end = before, before[0] + STARTUP_SECONDS, math.inf
        try:
            yield
        finally:
            seconds, wait = self._group.cpu_seconds() - before[0], time.monotonic() - before[1]
            self._cell_start = (cell[0] + seconds, cell[1] + wait)
            self._notebook_start = (notebook[0] + seconds, notebook[1] + wait)
            self._cell_end, self._notebook_end = ends[0] + seconds, ends[1] + seconds

    def left(self) -> tuple[float, float]:
        """Ce qui reste à la cellule en cours : secondes de calcul, secondes d'horloge."""
        now = time.monotonic()
        wait = min(self._cell_start[1] + self.limits.cell_wait, self._notebook_start[1] + self.limits.notebook_wait) - now
        return min(self._cell_end, self._notebook_end) - self._group.cpu_seconds(), wait

    def spent(self) -> str | None:
        """Pourquoi la copie entière n'a plus de temps, ou None."""
        if self._group.cpu_seconds() >= self._notebook_end:
            return f"la copie a dépassé son temps de calcul total ({self.limits.notebook_seconds:g} s)"
        if time.monotonic() >= self._notebook_start[1] + self.limits.notebook_wait:
            return f"la copie a dépassé son temps d'attente total ({self.limits.notebook_wait:g} s d'horloge)"
        return None

    def waited(self) -> bool:
        """La cellule interrompue l'est-elle pour avoir attendu, et non pour avoir trop calculé ?"""
        seconds, wait = self.left()
        return wait < 0.1 * self.limits.cell_wait and seconds > 0.1 * self.limits.cell_seconds

    def late(self) -> str:
        """Ce que l'on dit d'une cellule interrompue : la limite atteinte, et sa valeur."""
        if self.waited():
            return f"temps d'attente dépassé ({self.limits.cell_wait:g} s d'horloge, sans assez de calcul)"
        return f"temps de calcul dépassé ({self.limits.cell_seconds:g} s)"

    def death(self) -> str:
        """Pourquoi le processus de la copie est mort, si une limite en est la cause ; sinon, qu'il est mort."""
        if self.reason is None and self._group.killed_by_memory():
            self.reason = self._too_much_memory()
        return self.reason or "le processus de la copie s'est arrêté pendant ce code"

    def _watch(self) -> None:
        while not self._stop.wait(POLL):
            reason = self._excess()
            if reason is not None and not self._stop.is_set():
                self.reason = reason
                self._group.kill()
                return

    def _excess(self) -> str | None:
        """La limite que la copie dépasse sans que rien d'autre ne l'arrête, ou None."""
        seconds = self._group.cpu_seconds()
        if seconds > self._notebook_end + GRACE:
            return f"la copie a dépassé son temps de calcul total ({self.limits.notebook_seconds:g} s)"
        if seconds > self._cell_end + GRACE:
            return f"temps de calcul dépassé ({self.limits.cell_seconds:g} s), et le code ne s'interrompt pas"
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
