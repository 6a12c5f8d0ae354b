"""La classe de démonstration au repos, puis sous huit boucles folles et disque froid : aucune note, aucun statut ne doit changer.

C'est la commande des lecteurs, `cours demonstration`, leçons comprises. Sans droit de vider le cache du disque, la mesure le dit.
Une paire (trois avec BENCH_COMPLET=1) : chacune dure plusieurs minutes.
"""

import os
import subprocess
import sys
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from autograder.execution.groups import protection, usable_cores
from autograder.record.marks import Mark, read_marks
from mesure import COMPLETE, REPEATS, note, reached, show, timed

COMMAND = Path(sys.executable).with_name("cours")
BUSY = 8
CACHES = Path("/proc/sys/vm/drop_caches")


@contextmanager
def busy_loops(count: int):
    """Des processus qui calculent sans fin, à la même priorité que la notation."""
    loops = [subprocess.Popen([sys.executable, "-S", "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def drop_caches() -> bool:
    """Vide le cache du disque ; dit si cette machine l'a permis."""
    os.sync()
    with suppress(OSError):
        CACHES.write_text("3")
        return True
    return False


def demonstration(output: Path) -> dict[tuple[str, str], Mark]:
    """Lance `cours demonstration`, qui doit finir sans écart avec les notes attendues ; rend ses notes par copie."""
    done = subprocess.run([COMMAND, "demonstration", "--sortie", output], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"« cours demonstration » a échoué (code {done.returncode}) :\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
    return {(mark.etudiant, mark.devoir): mark for mark in read_marks(output / "notes.csv")}


def relaunched(output: Path) -> int:
    """Copies que l'horloge a arrêtées, et qui ont été relancées seules."""
    journal = output / "journal.txt"
    return journal.read_text(encoding="utf-8").count("à relancer seule") if journal.exists() else 0


def main() -> None:
    ratios, changed_marks, changed_statuses, cold, alone = [], 0, 0, True, [0, 0]
    for _ in range(REPEATS if COMPLETE else 1):
        with TemporaryDirectory() as name:
            quiet, loaded = Path(name) / "repos", Path(name) / "charge"
            seconds, at_rest = timed(lambda: demonstration(quiet))
            with busy_loops(BUSY):
                cold = drop_caches() and cold
                slow, under_load = timed(lambda: demonstration(loaded))
            alone = [alone[0] + relaunched(quiet), alone[1] + relaunched(loaded)]
        if at_rest.keys() != under_load.keys():
            raise SystemExit("Les deux notations n'ont pas les mêmes copies : la mesure ne vaut rien.")
        changed_marks += sum(at_rest[copy].note != under_load[copy].note for copy in at_rest)
        changed_statuses += sum(at_rest[copy].statut != under_load[copy].statut for copy in at_rest)
        ratios.append(slow / seconds)
    unchanged = reached(changed_marks == changed_statuses == 0)
    print(f"notes changées sous {BUSY} boucles folles: {changed_marks}, sur {len(at_rest)} copies ({unchanged})")
    print(f"statuts changés sous {BUSY} boucles folles: {changed_statuses} ({unchanged})")
    show(f"durée de « cours demonstration » sous {BUSY} boucles folles, contre au repos", ratios)
    note(f"{usable_cores()} cœurs utilisables ; cache du disque {'vidé' if cold else 'non vidé : cette machine ne le permet pas'} avant la charge.")
    note(f"Copies relancées seules : {alone[0]} au repos, {alone[1]} sous charge.")
    note(f"Protection : {protection()}.")
    if changed_marks or changed_statuses:
        raise SystemExit("Une note dépend de la charge.")


if __name__ == "__main__":
    main()
