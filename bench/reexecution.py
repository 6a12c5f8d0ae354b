"""Rejouer toutes les leçons : deux à la fois, comme `make test`, contre l'une après l'autre.

Les deux côtés passent nbval sur les mêmes notebooks et doivent y réussir les mêmes cellules. Donne aussi la leçon la plus
longue, et celle dont la première cellule se fait le plus attendre, noyau compris.

    python bench/reexecution.py
"""

import os
import shlex
import statistics
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from xml.etree import ElementTree

import nbformat
from nbclient import NotebookClient

from course.lessons import KERNEL, find, notebook_path
from course.settings import NOTEBOOKS, ROOT
from mesure import REPEATS, note, paired, reached, show

TOGETHER = "-n 2 --dist loadscope "
MOST_OF_SERIAL = 0.6  # la durée à deux, en part de la durée l'une après l'autre
MOST_LESSON = 20.0  # secondes
MOST_FIRST_CELL = 3.0  # secondes
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("COURS_")}


def make_command() -> str:
    """Ce que `make test` passe à Python pour rejouer les leçons."""
    lines = (ROOT / "Makefile").read_text(encoding="utf-8").splitlines()
    command = next(line for line in lines if "--nbval" in line).split("python ", 1)[1]
    if TOGETHER not in command:
        raise SystemExit(f"Le Makefile ne rejoue plus les leçons avec « {TOGETHER.strip()} » : corrigez bench/reexecution.py.")
    return command


def replay(command: str) -> dict[tuple[str, str], float]:
    """Durée, en secondes, de chaque cellule réussie : (leçon, cellule) → secondes. Une cellule manquée arrête tout."""
    with TemporaryDirectory() as folder:
        written = Path(folder) / "cellules.xml"
        arguments = [*shlex.split(command), f"--junitxml={written}"]
        done = subprocess.run([sys.executable, *arguments], cwd=ROOT, env=ENVIRONMENT, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"Des cellules ne se rejouent pas :\n{done.stdout[-2000:]}{done.stderr[-1000:]}")
        cells = [cell for cell in ElementTree.parse(written).iter("testcase") if cell.find("skipped") is None]
    return {(cell.get("classname").split(".")[1], cell.get("name")): float(cell.get("time")) for cell in cells}


def same_cells(together: dict, serial: dict) -> None:
    """Les deux côtés ont réussi les mêmes cellules."""
    if together.keys() != serial.keys():
        raise SystemExit(f"Cellules réussies d'un seul côté : {sorted(together.keys() ^ serial.keys())}.")


def lesson_seconds(cells: dict[tuple[str, str], float]) -> Counter:
    """Durée de chaque leçon, démarrage et arrêt du noyau compris."""
    seconds = Counter()
    for (lesson, _), duration in cells.items():
        seconds[lesson] += duration
    return seconds


def run_first_cell(lesson: Path) -> float:
    """Secondes entre la demande d'un noyau et la fin de la première cellule de code, comme à l'ouverture dans JupyterLab."""
    notebook = nbformat.read(lesson, as_version=4)
    rank, cell = next((rank, cell) for rank, cell in enumerate(notebook.cells) if cell.cell_type == "code")
    client = NotebookClient(notebook, kernel_name=KERNEL["name"], resources={"metadata": {"path": str(NOTEBOOKS)}})
    start = time.perf_counter()
    with client.setup_kernel(env=ENVIRONMENT, stderr=subprocess.DEVNULL):
        client.execute_cell(cell, rank)
        return time.perf_counter() - start


def show_slowest(name: str, durations: dict[str, list[float]], target: float) -> None:
    """Écrit la mesure de la leçon la plus lente (par la médiane), puis son nom, la suivante et l'objectif."""
    first, second = sorted(durations, key=lambda lesson: statistics.median(durations[lesson]), reverse=True)[:2]
    show(name, durations[first])
    slowest, following = (statistics.median(durations[lesson]) for lesson in (first, second))
    note(f"{first} ; puis {second}, {following:.2f} ; objectif : {target:g} s au plus ; {reached(slowest <= target)}")


def main() -> None:
    together = make_command()
    serial, runs = together.replace(TOGETHER, ""), []

    def replay_serial() -> dict[tuple[str, str], float]:
        runs.append(replay(serial))
        return runs[-1]

    ratios = paired("rejouer les leçons, à deux", lambda: replay(together), replay_serial, same_cells)
    part = 1 / statistics.median(ratios)
    note(f"{len(runs[0])} cellules réussies des deux côtés ; à deux, {part:.2f} fois la durée de l'une après l'autre "
         f"(objectif : {MOST_OF_SERIAL:g} au plus) ; {reached(part <= MOST_OF_SERIAL)}")  # fmt: skip
    lessons = [lesson_seconds(run) for run in runs]
    show_slowest("leçon la plus longue (s)", {name: [run[name] for run in lessons] for name in lessons[0]}, MOST_LESSON)
    notebooks = [notebook_path(text) for text in find()]
    ready = {path.stem: [run_first_cell(path) for _ in range(REPEATS)] for path in notebooks}
    show_slowest("première cellule la plus attendue (s)", ready, MOST_FIRST_CELL)


if __name__ == "__main__":
    main()
