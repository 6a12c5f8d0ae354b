"""Passe les mesures et écrit bench/RESULTATS.md, avec la machine qui les a faites (`make bench`).

    python bench/tout.py [NOM …]        ces mesures seulement (« elo », « notation »…) ; les autres sections restent
"""

import os
import platform
import re
import subprocess
import sys
import time
from datetime import date
from pathlib import Path

import psutil

from autograder.settings import replacing
from mesure import COMPLETE, REPEATS

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "RESULTATS.md"
SCRIPTS = ("demarrage", "elo", "textes", "reexecution", "notation", "charge", "juge")
HEADER = f"""# Résultats des mesures

Écrit par `make bench` (`BENCH_COMPLET=1` pour de plus grandes tailles). Une ligne par mesure : médiane (plus petite–plus grande)
d'au moins {REPEATS} valeurs. Sauf mention « (s) », des secondes, c'est un rapport entre deux façons de faire la même chose, à la
suite, sur la même entrée, et dont les résultats ont été comparés : 10 veut dire dix fois plus rapide que l'autre.
"""


def run(name: str) -> str | None:
    """Section d'une mesure, montrée au fur et à mesure ; None si elle a échoué."""
    lines, start = [], time.monotonic()
    process = subprocess.Popen([sys.executable, HERE / f"{name}.py"], stdout=subprocess.PIPE, text=True)
    for line in process.stdout:
        print(line, end="", flush=True)
        lines.append(line.rstrip())
    if process.wait():
        return None
    command = f"{'BENCH_COMPLET=1 ' if COMPLETE else ''}python bench/{name}.py"
    told = f"`{command}`, le {date.today().isoformat()}, en {(time.monotonic() - start) / 60:.0f} min ; {machine()}."
    return "\n".join([f"## {name}", "", told, "", "```text", *lines, "```", ""])


def machine() -> str:
    """La machine en quelques mots."""
    models = [line.partition(":")[2].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if "model name" in line]
    processor = models[0] if models else platform.machine()
    memory = round(psutil.virtual_memory().total / 2**30)
    cores = len(os.sched_getaffinity(0))
    return f"{cores} cœurs ({processor}), {memory} Gio, {platform.system()}, Python {platform.python_version()}"


def write(name: str, section: str) -> None:
    """Met une section à sa place dans RESULTATS.md."""
    old = RESULTS.read_text(encoding="utf-8") if RESULTS.exists() else ""
    sections = {part.split("\n", 1)[0]: f"## {part}" for part in re.split(r"^## ", old, flags=re.MULTILINE)[1:]}
    sections[name] = section
    kept = [sections[script].rstrip() for script in SCRIPTS if script in sections]
    with replacing(RESULTS) as partial:
        partial.write_text("\n\n".join([HEADER.rstrip(), *kept]) + "\n", encoding="utf-8")


def main() -> None:
    failed = []
    for name in sys.argv[1:] or SCRIPTS:
        print(f"# {name}", flush=True)
        section = run(name)
        if section is None:
            failed.append(name)
        else:
            write(name, section)
    if failed:
        raise SystemExit(f"Mesures en échec : {', '.join(failed)} ; leurs sections de RESULTATS.md sont celles d'avant.")


if __name__ == "__main__":
    main()
