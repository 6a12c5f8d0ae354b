"""Passe toutes les mesures et écrit bench/RESULTATS.md, avec la machine qui les a faites (`make bench`).

    python bench/tout.py [NOM …]        seulement ces mesures (« elo », « notation »…), sans récrire RESULTATS.md
"""

import os
import platform
import subprocess
import sys
import time
from datetime import date
from pathlib import Path

import psutil

from autograder.settings import replacing
from mesure import COMPLETE, REPEATS

HERE = Path(__file__).resolve().parent
SCRIPTS = ("demarrage", "elo", "textes", "reexecution", "notation", "juge")


def run(name: str) -> list[str] | None:
    """Lignes qu'une mesure écrit, montrées au fur et à mesure ; None si elle a échoué."""
    lines = []
    process = subprocess.Popen([sys.executable, HERE / f"{name}.py"], stdout=subprocess.PIPE, text=True)
    for line in process.stdout:
        print(line, end="", flush=True)
        lines.append(line.rstrip())
    return lines if process.wait() == 0 else None


def machine() -> str:
    """La machine en une phrase."""
    models = [line.partition(":")[2].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if "model name" in line]
    memory = round(psutil.virtual_memory().total / 2**30)
    processor = models[0] if models else platform.machine()
    cores = len(os.sched_getaffinity(0))
    return f"{cores} cœurs ({processor}), {memory} Gio, {platform.system()}, Python {platform.python_version()}"


def report(results: dict[str, list[str]], minutes: float) -> str:
    """Texte de RESULTATS.md."""
    command = "BENCH_COMPLET=1 make bench" if COMPLETE else "make bench"
    lines = [
        "# Résultats des mesures",
        "",
        f"Écrit par `{command}` le {date.today().isoformat()}, en {minutes:.0f} minutes, sur cette machine :",
        f"{machine()}.",
        "",
        f"Une ligne par mesure : médiane (plus petite–plus grande) d'au moins {REPEATS} valeurs. Sauf mention « (s) », des secondes,",
        "c'est un rapport entre deux façons de faire la même chose, à la suite, sur la même entrée, et dont les résultats ont été",
        "comparés : 10 veut dire dix fois plus rapide que l'autre.",
    ]
    for name, written in results.items():
        lines += ["", f"## `bench/{name}.py`", "", "```text", *written, "```"]
    return "\n".join(lines) + "\n"


def main() -> None:
    chosen = sys.argv[1:] or list(SCRIPTS)
    start, results = time.monotonic(), {}
    for name in chosen:
        print(f"# {name}", flush=True)
        results[name] = run(name)
    failed = [name for name, lines in results.items() if lines is None]
    if failed:
        raise SystemExit(f"Mesures en échec : {', '.join(failed)} ; RESULTATS.md n'est pas récrit.")
    if not sys.argv[1:]:
        with replacing(HERE / "RESULTATS.md") as partial:
            partial.write_text(report(results, (time.monotonic() - start) / 60), encoding="utf-8")


if __name__ == "__main__":
    main()
