"""Le bac à sable : un processus neuf par copie, sous bubblewrap, sans réseau, sans secret et sans rien du cours.

Quatre couches : ce qui est monté (Python, les paquets permis, les fichiers de la copie), les limites (`limits`, `groups`), les
appels du noyau qui y échapperaient, refusés, et un compte d'utilisateur différent au-dehors aussi. Celui qui démarre un bac le tue
toujours.
"""

import errno
import os
import platform
import py_compile
import re
import shutil
import signal
import socket
import stat
import struct
import subprocess
import sys
from contextlib import suppress
from functools import lru_cache
from importlib.metadata import Distribution, PackageNotFoundError, distribution, packages_distributions
from importlib.util import cache_from_source
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import IO

from autograder.execution.groups import open_group
from autograder.execution.limits import WRITABLE, Limits, Meter
from autograder.settings import MIB, UsageError

HERE = Path(__file__).resolve().parent
FIRST_UID = 1_000_000  # au-dessus de tout compte ordinaire ; on y ajoute le numéro du correcteur, unique parmi les vivants

def available() -> str | None:
    """None si l'isolement par bubblewrap marche ici, sinon la raison, en une phrase."""
    if not shutil.which("bwrap"):
        return (
            "bubblewrap n'est pas installé : « apt-get install bubblewrap », "
            "ou « --isolement processus » pour des copies de confiance"
        )
    if os.geteuid() == 0 and not shutil.which("setpriv"):
        return "setpriv (paquet util-linux) n'est pas installé : « apt-get install util-linux »"
    probe = subprocess.run([*_namespaces(), "--ro-bind", "/", "/", "true"], capture_output=True, text=True)
    if probe.returncode:
        reason = (probe.stderr.strip().splitlines() or ["raison inconnue"])[-1]
        return (
            f"bubblewrap ne peut pas créer de bac à sable ici ({reason}) : permettez les espaces de noms "
            "(« sysctl kernel.unprivileged_userns_clone=1 »), ou « --isolement processus » pour des copies de confiance"
        )
    return None


def choose(isolation: str, here: bool = True) -> str:
    """Isolement effectif : « bwrap » ou « processus ».

    Args:
        isolation: « auto », « bwrap » ou « processus ».
        here: les copies s'exécutent sur cette machine, qui doit donc pouvoir les isoler.
    Raises:
        UsageError: nom inconnu, ou bubblewrap demandé (ou choisi par « auto ») là où il ne marche pas.
    """
    if isolation not in ("auto", "bwrap", "processus"):
        raise UsageError(f"L'isolement {isolation!r} n'existe pas : choisissez auto, bwrap ou processus.")
    if isolation == "processus":
        return isolation
    reason = available() if here else None
    if reason is not None:
        raise UsageError(f"Les copies ne peuvent pas être isolées : {reason}.")
    return "bwrap"


class Sandbox:
    """Un processus d'étudiant, démarré par le correcteur et relié à lui par un seul socket.

    Args:
        files: dossier de la copie, dont seuls les fichiers ordinaires sont montrés ; None s'il n'y en a pas.
        packages: fichiers et dossiers de paquets à montrer (`package_paths`).
        isolation: « bwrap » ou « processus ».
        limits: limites de la copie.
    """

    def __init__(self, files: Path | None, packages: list[Path], isolation: str, limits: Limits):
        # Sous bubblewrap, rien n'est écrit dehors : un correcteur tué net n'y laisse donc rien.
        self._folder = TemporaryDirectory(prefix="copie-") if isolation == "processus" else None
        self.connection, theirs = socket.socketpair()
        self._errors, seccomp = TemporaryFile(), TemporaryFile()
        if isolation == "bwrap":
            command = self._isolated_command(files, packages, limits, theirs.fileno(), seccomp)
        else:
            command = self._plain_command(Path(self._folder.name), files, packages, theirs.fileno())
        self._group = open_group(limits.memory_mib, limits.processes)
        with theirs, seccomp:
            self.process = subprocess.Popen(
                [*self._group.command, *command],
                cwd="/",
                env=ENVIRONMENT | self._group.environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=self._errors,  # bubblewrap et Python seulement : le processus de la copie s'en détache avant de l'exécuter
                pass_fds=[theirs.fileno(), seccomp.fileno()],
                start_new_session=True,
            )
        self._group.attach(self.process.pid)
        self.meter = Meter(limits, self._group, self._written)

    def kill(self) -> None:
        """Tue le processus de l'étudiant et tous ses fils (leur espace de processus meurt avec lui)."""
        self.meter.close()
        self._group.kill()
        if self.process.poll() is None:
            try:
                os.killpg(self.process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.process.wait()
        self._group.close()
        self.connection.close()
        if self._folder is not None:
            self._folder.cleanup()

    def _written(self) -> tuple[int, int]:
        """Fichiers que la copie a écrits, et leur taille en octets."""
        files = size = 0
        if self._folder is not None:
            for path in Path(self._folder.name).rglob("*"):
                with suppress(OSError):
                    files, size = files + 1, size + path.lstat().st_size
            return files, size
        processes = self._group.processes()
        for folder in WRITABLE if processes else ():
            with suppress(OSError):  # le dernier est le plus loin de bubblewrap : la racine de la copie est la sienne
                state = os.statvfs(f"/proc/{processes[-1].pid}/root{folder}")
                files += state.f_files - state.f_ffree
                size += (state.f_blocks - state.f_bfree) * state.f_frsize
        return files, size

    def last_words(self) -> str:
        """Dernière ligne écrite par bubblewrap, setpriv ou Python avant que la copie ne s'exécute ; vide s'il n'y en a pas."""
        self._errors.seek(0)
        return (self._errors.read(MIB).decode("utf-8", "replace").strip().splitlines() or [""])[-1][:300]

    def _isolated_command(
        self, files: Path | None, packages: list[Path], limits: Limits, descriptor: int, seccomp: IO[bytes]
    ) -> list[str]:
        command = [*_namespaces(), "--die-with-parent", "--new-session", "--hostname", "copie", "--clearenv"]
        for name, value in ENVIRONMENT.items():
            command += ["--setenv", name, value]
        size = ["--size", str(limits.file_mib * MIB), "--perms", "1777", "--tmpfs"]
        command += ["--proc", "/proc", "--dev", "/dev"]
        for folder in WRITABLE:
            command += [*size, folder]
        command += _system_mounts()  # après /tmp, qui cacherait un interpréteur qui s'y trouve
        mounted = [(path, f"/paquets/{path.name}") for path in packages]
        mounted += [(HERE / name, f"/correcteur/{name}") for name in _program()]
        mounted += [(path, f"/copie/{name}") for path, name in regular_files(files)]
        command += _open_folders([target for _, target in mounted])
        for path, target in mounted:
            command += ["--ro-bind", str(path), target]
        # Sans privilèges, l'étudiant est chez lui dans son espace d'utilisateurs : la racine serait un disque sans borne.
        command += ["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/copie"]
        if refused := refused_calls():
            seccomp.write(refused)
            seccomp.seek(0)
            command += ["--seccomp", str(seccomp.fileno())]
        if os.geteuid() == 0:
            uid = FIRST_UID + os.getpid()
            command += [
                "setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups",
                "--inh-caps=-all", "--bounding-set=-all", "--no-new-privs",
            ]  # fmt: skip
        return [*command, _interpreter(), "-I", "-S", "-c", _start("/correcteur", descriptor, "/paquets")]

    def _plain_command(self, root: Path, files: Path | None, packages: list[Path], descriptor: int) -> list[str]:
        shown, work, program = root / "paquets", root / "copie", root / "correcteur"
        for folder in (shown, work, program):
            folder.mkdir()
        for path in packages:
            (shown / path.name).symlink_to(path)
        for name in PROGRAM:
            shutil.copy(HERE / name, program / name)
        for path, name in regular_files(files):
            target = work / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
        code = f"import os; os.chdir({str(work)!r}); {_start(str(program), descriptor, str(shown))}"
        return [_interpreter(), "-I", "-S", "-c", code]


ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "HOME": "/tmp",
    "LANG": "C.UTF-8",
    "MPLBACKEND": "Agg",
    "MPLCONFIGDIR": "/tmp",
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
}


# Appels du noyau par lesquels un processus garde de la mémoire qui n'est ni à lui, ni dans un fichier : aucune limite ne la verrait.
# Nom : numéro sur x86_64, numéro sur aarch64 (tables syscall du noyau).
HIDDEN_MEMORY = {
    "memfd_create": (319, 279), "memfd_secret": (447, 447), "shmget": (29, 194), "msgget": (68, 186), "io_uring_setup": (425, 425),
}  # fmt: skip
ARCHITECTURES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}  # linux/audit.h


def refused_calls() -> bytes:
    """Programme seccomp (BPF classique) qui refuse HIDDEN_MEMORY par ENOSYS, et tout appel d'une autre architecture ; vide si
    celle de cette machine n'est pas connue."""
    if platform.machine() not in ARCHITECTURES:
        return b""
    architecture, column = ARCHITECTURES[platform.machine()]
    numbers = [call[column] for call in HIDDEN_MEMORY.values()]
    load, equal, above, answer = 0x20, 0x15, 0x35, 0x06
    # seccomp_data : numéro de l'appel en 0, architecture en 4. Un saut compte les instructions qu'il passe.
    program = [(load, 0, 0, 4), (equal, 0, len(numbers) + 3, architecture), (load, 0, 0, 0)]
    program += [(above, len(numbers) + 1, 0, 0x4000_0000)]  # appels « x32 » : les mêmes, sous d'autres numéros
    program += [(equal, len(numbers) - rank, 0, number) for rank, number in enumerate(numbers)]
    program += [(answer, 0, 0, 0x7FFF_0000), (answer, 0, 0, 0x0005_0000 | errno.ENOSYS)]
    return b"".join(struct.pack("HBBI", *instruction) for instruction in program)


PROGRAM = ("worker.py", "channel.py")


def compile_program() -> None:
    """Compile d'avance ce qui tourne dans le bac ; sans cela chaque copie le recompile, un dixième de ce qu'elle coûte."""
    for name in PROGRAM:
        with suppress(OSError):  # dossier en lecture seule : on s'en passe
            py_compile.compile(str(HERE / name), dfile=f"/correcteur/{name}", doraise=True)


def _program() -> list[str]:
    """Fichiers du programme du bac et leur code compilé, s'il l'est."""
    compiled = [Path(cache_from_source(str(HERE / name))) for name in PROGRAM]
    return [*PROGRAM, *(str(path.relative_to(HERE)) for path in compiled if path.is_relative_to(HERE) and path.exists())]


def _start(program: str, descriptor: int, packages: str) -> str:
    """Code Python qui lance le processus de l'étudiant."""
    return f"import sys; sys.path.insert(0, {program!r}); import worker; worker.main({descriptor}, {packages!r})"


def _namespaces() -> list[str]:
    # En root, pas d'espace d'utilisateurs : c'est setpriv qui change de compte, au-dehors comme au-dedans.
    user = [] if os.geteuid() == 0 else ["--unshare-user"]
    return ["bwrap", *user, "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts"]


def _system_mounts() -> list[str]:
    """Système et interpréteur en lecture seule ; les paquets installés pour tout le système sont cachés."""
    mounts = ["--ro-bind", "/usr", "/usr"]
    for name in ("/bin", "/lib", "/lib64"):
        path = Path(name)
        if path.is_symlink():
            mounts += ["--symlink", os.readlink(path), name]
        elif path.exists():
            mounts += ["--ro-bind", name, name]
    base = Path(sys.base_prefix)
    if not base.is_relative_to("/usr"):
        mounts += [*_open_folders([str(base)]), "--ro-bind", str(base), str(base)]
    hidden = [*Path("/usr/lib/python3").glob("dist-packages"), *Path("/usr/local/lib").glob("python3*/dist-packages")]
    hidden += base.glob("lib/python3*/site-packages")
    for path in hidden:
        mounts += ["--tmpfs", str(path), "--remount-ro", str(path)]
    return mounts


def _open_folders(targets: list[str]) -> list[str]:
    """Crée les dossiers où monter ces chemins : bubblewrap les ferait en mode 0700, fermés à l'étudiant, d'un autre compte."""
    folders = {parent for target in targets for parent in Path(target).parents} - {Path("/"), Path("/copie")}
    return [word for folder in sorted(folders) for word in ("--perms", "0755", "--dir", str(folder))]


def _interpreter() -> str:
    """Interpréteur de base (pas celui de l'environnement virtuel), chemin réel."""
    return os.path.realpath(getattr(sys, "_base_executable", sys.executable))


def regular_files(folder: Path | None) -> list[tuple[Path, str]]:
    """Fichiers ordinaires d'une copie, avec leur chemin relatif ; ni notebook, ni lien, ni fichier spécial."""
    if folder is None or not folder.is_dir():
        return []
    found = []
    for base, folders, names in os.walk(folder, followlinks=False):
        folders[:] = sorted(name for name in folders if not os.path.islink(os.path.join(base, name)))
        folders[:] = [name for name in folders if name != ".ipynb_checkpoints"]
        for name in sorted(names):
            path = Path(base, name)
            if stat.S_ISREG(path.lstat().st_mode) and path.suffix != ".ipynb":
                found.append((path, str(path.relative_to(folder))))
    return found


def package_paths(modules: list[str] | None) -> list[Path]:
    """Fichiers et dossiers de paquets à montrer : ceux des modules permis et d'IPython, avec leurs dépendances.

    Args:
        modules: modules permis ; None pour tous ceux de l'environnement, sauf le correcteur lui-même.
    """
    if modules is None:
        names = {name for names in packages_distributions().values() for name in names}
    else:
        names = {name for module in modules for name in _providers(module)}
    wanted = _with_dependencies({"ipython", *names})
    paths = {}
    for package in wanted:
        for file in package.files or []:
            top = file.parts[0]
            if top in ("..", "__pycache__", "autograder") or top.startswith("__editable__"):
                continue
            if top.endswith((".dist-info", ".pth", ".egg-link")):
                continue
            paths[top] = Path(package.locate_file(top))
    return [path for _, path in sorted(paths.items()) if path.exists()]


@lru_cache
def _providers(module: str) -> list[str]:
    """Paquets qui fournissent un module ; aucun s'il vient avec Python."""
    if module in sys.stdlib_module_names:
        return []
    try:
        # Le plus souvent, le paquet a le nom du module : relire tous les autres prendrait un tiers de seconde.
        files = distribution(module).files or []
    except PackageNotFoundError:
        files = []
    return [module] if any(file.parts[0] == module for file in files) else packages_distributions().get(module, [])


def _with_dependencies(names: set[str]) -> list[Distribution]:
    found: dict[str, Distribution] = {}
    waiting = list(names)
    while waiting:
        name = re.sub(r"[-_.]+", "-", waiting.pop()).lower()
        if name in found:
            continue
        try:
            found[name] = distribution(name)
        except PackageNotFoundError:
            continue  # dépendance facultative, ou propre à un autre système
        for requirement in found[name].requires or []:
            if "extra ==" not in requirement:
                waiting.append(re.match(r"[A-Za-z0-9._-]+", requirement).group())
    return list(found.values())
