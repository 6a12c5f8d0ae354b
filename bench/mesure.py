"""Mesures appariées : les deux côtés à la suite, sur la même entrée, avec les mêmes résultats, et un rapport de durées.

Les durées absolues dépendent de la machine et de l'heure ; un rapport, mesuré dans un même lancement, s'y compare.
"""

import os
import statistics
import time
from collections.abc import Callable

COMPLETE = os.environ.get("BENCH_COMPLET") == "1"
REPEATS = 5 if COMPLETE else 3


def timed(action: Callable):
    """Durée d'une action, en secondes (horloge), et ce qu'elle rend."""
    start = time.perf_counter()
    value = action()
    return time.perf_counter() - start, value


def paired(
    name: str,
    ours: Callable,
    theirs: Callable,
    same: Callable | None = None,
    repeats: int = REPEATS,
    prepare: Callable | None = None,
) -> list[float]:
    """Mesure deux façons de faire la même chose, et écrit « nom: rapport médian (min–max) ».

    Args:
        name: nom de la mesure.
        ours, theirs: les deux actions, sans argument ; celle qui passe en premier change à chaque paire.
        same: reçoit les deux résultats et lève une erreur s'ils diffèrent ; la mesure ne vaudrait alors rien.
        repeats: nombre de paires.
        prepare: appelée avant chaque paire, hors de la mesure.
    Returns:
        Durée de l'autre divisée par la nôtre, une valeur par paire : 10 veut dire dix fois plus rapide.
    """
    ratios = []
    for rank in range(repeats):
        if prepare is not None:
            prepare()
        if rank % 2:
            slow, expected = timed(theirs)
            fast, obtained = timed(ours)
        else:
            fast, obtained = timed(ours)
            slow, expected = timed(theirs)
        if same is not None:
            same(obtained, expected)
        ratios.append(slow / fast)
    show(name, ratios)
    return ratios


def show(name: str, values: list[float], digits: int = 2) -> None:
    """Écrit la ligne d'une mesure : « nom: médiane (min–max) »."""
    median, least, most = (f"{value:.{digits}f}" for value in (statistics.median(values), min(values), max(values)))
    print(f"{name}: {median} ({least}–{most})", flush=True)


def note(text: str) -> None:
    """Écrit une précision sous la mesure qui précède."""
    print(f"  {text}", flush=True)


def reached(success: bool) -> str:
    """Dit si l'objectif d'une mesure est atteint."""
    return "objectif atteint" if success else "objectif non atteint"
