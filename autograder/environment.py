"""Ce que le correcteur demande à la machine, une ligne par exigence, avec sa réparation."""

import shutil
import sys
from dataclasses import dataclass

from autograder.execution import groups


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
    """Ce qu'il faut pour noter : Python, bubblewrap et la protection des copies."""
    return [python(), bubblewrap(), protection()]


def python() -> Requirement:
    """Version de Python."""
    found = ".".join(str(part) for part in sys.version_info[:3])
    return Requirement("Python ≥ 3.11", found, sys.version_info >= (3, 11), "installez Python 3.11 ou plus")


def bubblewrap() -> Requirement:
    """Le programme qui isole les copies."""
    path = shutil.which("bwrap")
    repair = "« apt-get install bubblewrap » (isolement des copies notées)"
    return Requirement("bubblewrap", path or "absent", path is not None, repair, essential=False)


def protection() -> Requirement:
    """Ce qui borne ici une copie tout entière, et les cœurs dont on dispose."""
    cores = groups.usable_cores()
    found = f"{groups.protection()} ; {cores} cœur{'s' if cores > 1 else ''} utilisable{'s' if cores > 1 else ''}"
    return Requirement("protection des copies", found, True)
