"""Ce que le cours demande à la machine, en plus du correcteur : les paquets de requirements.txt et, s'il tourne, le juge."""

import sys
from importlib.metadata import PackageNotFoundError, version

from autograder.environment import Requirement, bubblewrap, protection, python
from course import judge_server
from course.settings import ROOT


def requirements() -> list[Requirement]:
    """Python, chaque paquet à sa version exacte, bubblewrap, la protection des copies, le port du juge et le juge."""
    return [python(), *_packages(), bubblewrap(), protection(), *_judge()]


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
