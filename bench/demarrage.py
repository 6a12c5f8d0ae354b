"""Démarrages : l'import de `helpers`, celui de chacun de ses modules, `cours --help`, puis une leçon dans JupyterLab.

Secondes d'horloge d'un processus neuf. Chaque commande alterne avec son plancher : Python seul (`python -c pass`), ou
l'import des bibliothèques dont le module est fait.

    python bench/demarrage.py
"""

import statistics
import subprocess
import sys
import time

from course.lessons import find
from course.settings import ROOT
from lab import COURS, lab
from mesure import REPEATS, note, reached, show, timed

MODULES = sorted(path.stem for path in (ROOT / "helpers").glob("[a-z]*.py"))
HEAVY = ("matplotlib.pyplot", "numpy", "openai", "pandas", "scipy", "sklearn", "torch")
MOST_IMPORT, MOST_HELP = 0.3, 0.5  # secondes


def run(command: list) -> str:
    """Ce qu'écrit une commande, qui doit réussir."""
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"La commande {command[1:]} a échoué :\n{done.stdout[-1000:]}{done.stderr[-1000:]}")
    return done.stdout


def measure(name: str, command: list, floor: str, most: float) -> None:
    """Secondes d'une commande, en alternance avec ce dont elle ne peut pas se passer : `python -c floor`."""
    least, ours = [], []
    for _ in range(REPEATS):
        least.append(timed(lambda: run([sys.executable, "-c", floor]))[0])
        ours.append(timed(lambda: run(command))[0])
    show(f"{name} (s)", ours, digits=3)
    success = statistics.median(ours) < most
    note(f"« {floor} » seul : {statistics.median(least):.3f} ; objectif : moins de {most:g} s ; {reached(success)}")


def libraries(module: str) -> str:
    """Instruction qui importe les seules bibliothèques lourdes dont se sert un module de `helpers` ; `pass` s'il n'en a pas."""
    names = run([sys.executable, "-c", f"import sys, helpers.{module}; print(*sys.modules)"]).split()
    heavy = [name for name in HEAVY if name in names]
    return f"import {', '.join(heavy)}" if heavy else "pass"


def open_lesson(lesson: str) -> float:
    """Secondes entre `cours lab` et la fin de la première cellule de la leçon ; rien d'autre que JupyterLab ne doit servir."""
    start = time.perf_counter()
    with lab() as running:
        reply, seconds = running.run_first_cell(lesson), time.perf_counter() - start
        if reply["status"] != "ok":
            raise SystemExit(f"{lesson} : la première cellule s'arrête sur {reply['ename']} : {reply['evalue']}")
        if running.strangers():
            raise SystemExit(f"JupyterLab n'est pas seul : {' ; '.join(running.strangers())}.")
    return seconds


def main() -> None:
    measure("import helpers", [sys.executable, "-c", "import helpers"], "pass", MOST_IMPORT)
    for module in MODULES:
        measure(f"import helpers.{module}", [sys.executable, "-c", f"import helpers.{module}"], libraries(module), MOST_IMPORT)
    measure("cours --help", [COURS, "--help"], "pass", MOST_HELP)
    lesson = find()[0].stem
    show("cours lab, première cellule exécutée (s)", [open_lesson(lesson) for _ in range(REPEATS)])
    note(f"{lesson} ; seuls JupyterLab et son noyau écoutent, sur 127.0.0.1, et ils ne se connectent à personne d'autre")


if __name__ == "__main__":
    main()
