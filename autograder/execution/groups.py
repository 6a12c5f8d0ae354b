"""Ce que le noyau mesure et borne pour une copie entière : tous ses processus ensemble, et non chacun d'eux.

Trois moyens, du meilleur au plus simple ; `protection` dit lequel cette machine permet, et l'essaie pour de vrai :

- un groupe de contrôle (cgroup v2) que systemd ouvre (`systemd-run --scope`) : calcul, mémoire et processus tenus par le noyau ;
- un groupe de contrôle ouvert ici même, là où celui du correcteur nous est délégué ; le noyau y compte toujours le calcul, et y
  borne mémoire et processus si les contrôleurs « memory » et « pids » nous sont donnés ;
- l'arbre des processus, lu par psutil.

Ce que le noyau ne borne pas, le guetteur de `limits` le relève dix fois par seconde.
"""

import itertools
import math
import os
import shutil
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import psutil

from autograder.settings import MIB

PREFIX = "copie-"
SPARE = 5  # processus du bac à sable lui-même : bubblewrap deux fois, et ce qui le précède
_numbers = itertools.count()


@dataclass(frozen=True)
class Protection:
    """Moyen de mesurer et de borner une copie sur cette machine.

    Attributes:
        kind: « systemd », « cgroup » ou « psutil ».
        parent: groupe de contrôle où s'ouvrent ceux des copies ; None hors de « cgroup ».
        kernel_bounds: le noyau borne lui-même la mémoire et les processus de la copie entière.
    """

    kind: str
    parent: Path | None = None
    kernel_bounds: bool = False

    def __str__(self) -> str:
        measure = "arbre des processus (psutil)" if self.kind == "psutil" else "cgroup v2"
        how = {"systemd": "ouvert par systemd-run", "cgroup": "délégué"}.get(self.kind)
        bounds = "le noyau (memory.max, pids.max)" if self.kernel_bounds else "le guetteur (relevé dix fois par seconde)"
        return f"calcul mesuré par {measure}{f' {how}' if how else ''} ; mémoire et processus bornés, au total, par {bounds}"


@lru_cache
def protection() -> Protection:
    """Le meilleur moyen qui marche ici, essayé une fois par processus du correcteur."""
    if _systemd_works():
        return Protection("systemd", kernel_bounds=True)
    parent = own_group()
    if parent is None or not _can_enter(parent):
        return Protection("psutil")
    with suppress(OSError):
        if {"memory", "pids"} <= set((parent / "cgroup.controllers").read_text().split()):
            (parent / "cgroup.subtree_control").write_text("+memory +pids")
            return Protection("cgroup", parent, kernel_bounds=True)
    return Protection("cgroup", parent)


def own_group() -> Path | None:
    """Dossier du groupe de contrôle (cgroup v2) de ce processus, ou None s'il n'y a pas de cgroup v2."""
    with suppress(OSError, StopIteration):
        mounts = (line.split() for line in Path("/proc/self/mounts").read_text().splitlines())
        root = Path(next(fields[1] for fields in mounts if fields[2] == "cgroup2"))
        lines = Path("/proc/self/cgroup").read_text().splitlines()
        path = root / next(line for line in lines if line.startswith("0::"))[3:].strip("/")
        return path if path.is_dir() else root
    return None


def _systemd_works() -> bool:
    if not shutil.which("systemd-run") or not Path("/run/systemd/system").is_dir():
        return False
    if "memory" not in _read("/sys/fs/cgroup/cgroup.controllers").split():
        return False
    with suppress(OSError, subprocess.TimeoutExpired):
        return subprocess.run([*_scope(64, 64), "true"], capture_output=True, timeout=20).returncode == 0
    return False


def _scope(memory_mib: int, processes: int) -> list[str]:
    user = [] if os.geteuid() == 0 else ["--user"]
    bounds = (f"MemoryMax={memory_mib}M", "MemorySwapMax=0", f"TasksMax={processes}", "OOMPolicy=kill")
    return ["systemd-run", *user, "--scope", "--quiet", "--collect", *(word for bound in bounds for word in ("-p", bound)), "--"]


def _can_enter(parent: Path) -> bool:
    """Peut-on ouvrir un groupe dans celui-ci, et y entrer ?"""
    with suppress(OSError):
        group = ControlGroup(parent)
        try:
            return subprocess.run([*group.command, "true"], capture_output=True).returncode == 0
        finally:
            group.close()
    return False


def open_group(memory_mib: int, processes: int) -> "ControlGroup | ProcessTree":
    """Groupe d'une copie, encore vide : sa commande se fait précéder de `command`, avec `environment`, puis `attach` reçoit son processus.

    Args:
        memory_mib: mémoire de toute la copie, en Mio.
        processes: processus et fils d'exécution de toute la copie.
    """
    processes += SPARE
    chosen = protection()
    if chosen.kind == "systemd":
        return Scope(memory_mib, processes)
    if chosen.kind == "cgroup":
        with suppress(OSError):
            return ControlGroup(chosen.parent, *((memory_mib, processes) if chosen.kernel_bounds else ()))
    return ProcessTree()


class ProcessTree:
    """Une copie suivie par ses processus : le premier, et tous ceux qui en descendent.

    Le calcul d'un processus mort est compté chez celui qui l'a attendu ; un fils que personne n'attend peut échapper au compte
    (jamais à la limite d'attente). Un groupe de contrôle n'a pas ce défaut.
    """

    command: list[str] = []
    environment: dict[str, str] = {}
    kernel_bounds = False
    FRESH = 0.1  # secondes pendant lesquelles un relevé reste bon : parcourir /proc coûte une milliseconde

    def __init__(self):
        self._cpu, self._read_at = 0.0, -math.inf
        self._queued: dict[str, float] = {}
        self._root: psutil.Process | None = None

    def attach(self, pid: int) -> None:
        """Reçoit le premier processus de la copie."""
        self._root = psutil.Process(pid)

    def processes(self) -> list[psutil.Process]:
        """Processus vivants de la copie."""
        if self._root is None:
            return []
        with suppress(psutil.Error):
            return [self._root, *self._root.children(recursive=True)]
        return []

    def cpu_seconds(self) -> float:
        """Temps de calcul de la copie depuis son départ, en secondes."""
        if time.monotonic() - self._read_at > self.FRESH:
            total = 0.0
            for process in self.processes():
                with suppress(psutil.Error):
                    total += sum(process.cpu_times()[:4])  # les siens, et ceux des fils qu'il a attendus
            self._cpu, self._read_at = max(self._cpu, total), time.monotonic()
        return self._cpu

    def queued_seconds(self) -> float:
        """Temps que les fils d'exécution de la copie ont passé, prêts à calculer, dans la file d'un cœur occupé, en secondes.

        C'est le deuxième nombre de /proc/PID/task/TID/schedstat (Documentation/scheduler/sched-stats.rst du noyau) ; 0 là où le
        noyau ne le tient pas.
        """
        for process in self.processes():
            for path in Path(f"/proc/{process.pid}/task").glob("*/schedstat"):
                fields = _read(path).split()
                if len(fields) == 3:
                    self._queued[path.parent.name] = int(fields[1]) / 1e9
        return sum(self._queued.values())

    def killed_by_memory(self) -> bool:
        """Le noyau a-t-il tué la copie pour sa mémoire ?"""
        return False

    def kill(self) -> None:
        """Tue tous les processus de la copie."""
        for process in self.processes():
            with suppress(psutil.Error):
                process.kill()

    def close(self) -> None:
        """Oublie la copie, une fois ses processus morts."""


class ControlGroup(ProcessTree):
    """Une copie dans un groupe de contrôle à elle : rien de ce qu'elle lance n'en sort.

    Args:
        parent: groupe où ouvrir le sien.
        memory_mib, processes: bornes à y poser, si le noyau nous donne ces contrôleurs.
    Raises:
        OSError: le groupe ne s'ouvre pas.
    """

    def __init__(self, parent: Path, memory_mib: int | None = None, processes: int | None = None):
        super().__init__()
        _forget_the_dead(parent)
        self._path = parent / f"{PREFIX}{os.getpid()}-{next(_numbers)}"
        self._path.mkdir()
        self.kernel_bounds = memory_mib is not None
        if self.kernel_bounds:
            bounds = {"memory.max": memory_mib * MIB, "memory.swap.max": 0, "memory.oom.group": 1, "pids.max": processes}
            for name, value in bounds.items():
                with suppress(FileNotFoundError):  # un noyau sans mémoire d'échange n'a pas le second
                    (self._path / name).write_text(str(value))
        self.command = ["sh", "-c", 'echo $$ >"$0" && exec "$@"', str(self._path / "cgroup.procs")]

    def processes(self) -> list[psutil.Process]:
        found = []
        for pid in _read(self._path / "cgroup.procs").split():
            with suppress(psutil.Error, ValueError):
                found.append(psutil.Process(int(pid)))
        return found

    def cpu_seconds(self) -> float:
        for line in _read(self._path / "cpu.stat").splitlines():
            if line.startswith("usage_usec"):
                self._cpu = int(line.split()[1]) / 1e6
        return self._cpu

    def killed_by_memory(self) -> bool:
        events = dict(line.split() for line in _read(self._path / "memory.events").splitlines())
        return int(events.get("oom_kill", 0)) > 0

    def kill(self) -> None:
        try:
            (self._path / "cgroup.kill").write_text("1")
        except OSError:  # noyau d'avant 5.14
            super().kill()

    def close(self) -> None:
        for _ in range(50):
            with suppress(OSError):
                self._path.rmdir()
            if not self._path.exists():
                return
            time.sleep(0.002)  # un processus tué met un instant à disparaître ; au pire, le prochain groupe effacera celui-ci


class Scope(ControlGroup):
    """Une copie dans un groupe que systemd ouvre, borne et efface."""

    kernel_bounds = True

    def __init__(self, memory_mib: int, processes: int):
        ProcessTree.__init__(self)
        # Où systemd-run trouve le gestionnaire de la personne : pour lui, et non pour la copie.
        names = [name for name in ("XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS") if name in os.environ]
        self.environment = {name: os.environ[name] for name in names}
        self.command = [*_scope(memory_mib, processes), "env", *(word for name in names for word in ("-u", name))]
        self._found: Path | None = None

    @property
    def _path(self) -> Path:
        """Dossier du groupe ; systemd-run y entre juste avant de laisser sa place à la copie."""
        if self._found is None:
            line = next((line for line in _read(f"/proc/{self._root.pid}/cgroup").splitlines() if line.startswith("0::")), "")
            if line.endswith(".scope") and "/run-" in line:
                self._found = Path("/sys/fs/cgroup", line[3:].strip("/"))
        return self._found or Path("/nulle-part")

    def close(self) -> None:
        """Rien à effacer : systemd s'en charge."""


def memory_bytes(processes: list[psutil.Process], limit: int) -> int:
    """Mémoire que ces processus occupent ensemble, en octets.

    La somme des mémoires résidentes compte plusieurs fois les pages que des processus dédoublés partagent : au-delà de `limit`,
    c'est leur part de chacune (PSS) qui est sommée, plus longue à lire.
    """
    total = 0
    for process in processes:
        with suppress(psutil.Error):
            total += process.memory_info().rss
    if total <= limit:
        return total
    total = 0
    for process in processes:
        with suppress(psutil.Error, AttributeError):
            total += process.memory_full_info().pss
    return total


def thread_count(processes: list[psutil.Process]) -> int:
    """Nombre de fils d'exécution de ces processus, leur fil principal compris."""
    total = 0
    for process in processes:
        with suppress(psutil.Error):
            total += process.num_threads()
    return total


def usable_cores() -> int:
    """Cœurs que ce processus peut vraiment occuper : ceux de son affinité, dans la limite du quota de son groupe de contrôle."""
    from joblib import cpu_count  # affinité, et quota du conteneur (cgroup v1 ou v2)

    cores, group = float(cpu_count()), own_group()
    while group is not None and (group / "cgroup.procs").exists():  # puis ceux des groupes emboîtés, que joblib ne lit pas
        quota, _, period = _read(group / "cpu.max").strip().partition(" ")
        if quota.isdigit() and period:
            cores = min(cores, math.ceil(int(quota) / int(period)))
        group = group.parent
    return max(1, int(cores))


def _forget_the_dead(parent: Path) -> None:
    """Efface les groupes vides qu'un correcteur tué net a laissés."""
    for path in parent.glob(f"{PREFIX}*"):
        owner = path.name.removeprefix(PREFIX).partition("-")[0]
        if owner.isdigit() and not psutil.pid_exists(int(owner)):
            with suppress(OSError):
                path.rmdir()


def _read(path: Path | str) -> str:
    """Contenu d'un fichier du noyau ; vide s'il n'est pas, ou plus, là."""
    try:
        return Path(path).read_text()
    except OSError:
        return ""
