"""Ce que le cours demande à la machine, une ligne par exigence, avec sa réparation."""

import shutil
import sys
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version

from autograder import groups, judge_server
from autograder.settings import ROOT


@dataclass(frozen=True)
class Requirement:
    """Une exigence : satisfaite ou non, indispensable ou non, ce qu'on a trouvé, comment réparer."""

    name: str
    found: str
    satisfied: bool
    repair: str = ""
    essential: bool = True

    def __str__(self) -> str:
        mark = "✓" if self.satisfied else ("✗" if self.essential else "○")
        return f"{mark} {self.name} : {self.found}" + ("" if self.satisfied else f" → {self.repair}")


def requirements() -> list[Requirement]:
    """Python, chaque paquet à sa version exacte, bubblewrap, la protection des copies, le port du juge et le juge."""
    return [_python(), *_packages(), _bubblewrap(), _protection(), *_judge()]


def _python() -> Requirement:
    found = ".".join(str(part) for part in sys.version_info[:3])
    return Requirement("Python ≥ 3.11", found, sys.version_info >= (3, 11), "installez Python 3.11 ou plus, puis « make cours »")


def _packages() -> list[Requirement]:
    lines = []
    for line in (ROOT / "requirements.txt").read_text(encoding="utf-8").split():
        name, wanted = line.split("==")
        try:
            found = version(name)
        except PackageNotFoundError:
            found = "absent"
        lines.append(Requirement(f"{name} {wanted}", found, found == wanted, f"« {sys.executable} -m pip install {line} »"))
    return lines


def _bubblewrap() -> Requirement:
    path = shutil.which("bwrap")
    repair = "« apt-get install bubblewrap » (isolement des copies notées)"
    return Requirement("bubblewrap", path or "absent", path is not None, repair, essential=False)


def _protection() -> Requirement:
    cores = groups.usable_cores()
    found = f"{groups.protection()} ; {cores} cœur{'s' if cores > 1 else ''} utilisable{'s' if cores > 1 else ''}"
    return Requirement("protection des copies", found, True)


def _judge() -> list[Requirement]:
    state = judge_server.status()
    name, port = f"port {judge_server.PORT}", judge_server.PORT
    if state.models:
        return [
            Requirement(name, "occupé par le juge", True),
            Requirement("juge", f"répond, modèle {', '.join(state.models)}", True),
        ]
    return [
        Requirement(
            name, "pris par un autre programme" if state.port_taken else "libre", not state.port_taken,
            f"arrêtez le programme qui écoute sur 127.0.0.1:{port}", essential=False,
        ),
        Requirement(
            "juge", "ne répond pas", False, "« make juge » (facultatif : les leçons rejouent le journal)", essential=False
        ),
    ]  # fmt: skip
