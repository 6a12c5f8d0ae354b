"""Copies notées par minute : `cours noter` (bacs à sable, deux processus) contre `nbgrader autograde` (sans isolement).

Les deux côtés notent les mêmes copies honnêtes, l'un après l'autre, et doivent donner les mêmes notes. Écrit une ligne
« mesure: rapport médian (min–max) ».

    .venv/bin/python bench/notation.py [COPIES_PAR_EXERCICE] [RÉPÉTITIONS]
"""

import os
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from nbgrader.api import Gradebook

from autograder.demonstration import build_copy
from autograder.settings import COPIES, RELEASE, SOURCE

BIN = Path(sys.executable).parent
EXERCISES = ("ex01_bleu2", "ex02_perplexite", "ex03_juge_symetrique")
PLAIN = """
from autograder.settings import configure
c = get_config()
configure(c, {course!r})
for name in ("sanitize_preprocessors", "autograde_preprocessors"):
    del c.Autograde[name]
del c.GenerateFeedback["preprocessors"]
"""


def make_course(folder: Path, copies: int) -> None:
    """Cours neuf avec `copies` copies honnêtes de chaque exercice."""
    for exercise in EXERCISES:
        shutil.copytree(SOURCE / exercise, folder / "source" / exercise)
        honest = sorted(path for path in (COPIES / exercise).glob("*.py") if path.stem == "parfaite" or path.stem.startswith("style_"))
        for number in range(copies):
            target = folder / "submitted" / f"e{number:03d}" / exercise
            build_copy(RELEASE / exercise / f"{exercise}.ipynb", honest[number % len(honest)], target)


def run(command: list, course: Path) -> float:
    """Durée d'une commande, en secondes ; elle doit réussir."""
    start = time.perf_counter()
    environment = os.environ | {"PATH": f"{BIN}:{os.environ['PATH']}"}
    done = subprocess.run([str(part) for part in command], cwd=course, capture_output=True, text=True, env=environment)
    if done.returncode:
        raise SystemExit(f"La commande {command[1]} a échoué :\n{done.stdout[-1500:]}{done.stderr[-1500:]}")
    return time.perf_counter() - start


def marks(course: Path) -> dict:
    """Notes de la base : (étudiant, exercice) → note."""
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        return {(row["student"], exercise): row["score"] for exercise in EXERCISES for row in gradebook.submission_dicts(exercise)}


def compare(copies: int) -> float:
    """Rapport des débits (le nôtre sur celui de nbgrader) pour une paire de notations des mêmes copies."""
    with TemporaryDirectory() as ours, TemporaryDirectory() as plain:
        ours, plain = Path(ours), Path(plain)
        for course in (ours, plain):
            make_course(course, copies)
        (plain / "nbgrader_config.py").write_text(PLAIN.format(course=str(plain)), encoding="utf-8")
        for exercise in EXERCISES:
            run([BIN / "nbgrader", "generate_assignment", exercise, "--create"], plain)
        slow = sum(run([BIN / "nbgrader", "autograde", exercise, "--create"], plain) for exercise in EXERCISES)
        fast = run([BIN / "cours", "noter", "--cours", ours], ours)
        if marks(ours) != marks(plain):
            raise SystemExit("Les deux côtés ne donnent pas les mêmes notes : la mesure ne vaut rien.")
    return slow / fast


def main() -> None:
    copies = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    repeats = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    ratios = [compare(copies) for _ in range(repeats)]
    print(f"notation ({3 * copies} copies): {statistics.median(ratios):.1f} ({min(ratios):.1f}–{max(ratios):.1f})")


if __name__ == "__main__":
    main()
