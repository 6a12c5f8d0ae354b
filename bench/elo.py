"""Bradley–Terry : un million de votes entre cent modèles, ajustement et mille rééchantillons, contre trois bibliothèques.

arena-rank, evalica et choix reçoivent les mêmes votes que nous, chacun sous la forme qu'il attend, préparée hors de la
mesure. Ces votes sont sans égalités : choix n'en connaît pas. Les durées sont prises aux réglages d'origine, les plus
rapides ; les cotes sont comparées à ces réglages, puis à la tolérance la plus serrée, avec et sans égalités.

    python bench/elo.py [VOTES]         dans un environnement où bench/requirements.txt est installé
"""

import math
import multiprocessing
import os
import sys
from functools import partial

import choix
import evalica
import jax
import numpy as np
import pandas as pd
from arena_rank.models.bradley_terry import BradleyTerry
from arena_rank.utils.data_utils import PairDataset
from scipy.stats import norm

from helpers.elo import bootstrap_bradley_terry, fit_bradley_terry, percentile_intervals, win_matrix
from mesure import COMPLETE, REPEATS, note, paired, show, timed

VOTES = 1_000_000
MODELS = [f"modele-{number:02d}" for number in range(100)]
RESAMPLES = 1000
FEW, MORE = (2, 20) if COMPLETE else (2, 8)  # rééchantillons des côtés trop lents pour en faire mille
TIGHT, USUAL = 1e-3, 1e-2  # écart permis des cotes, en points : à la tolérance la plus serrée, aux réglages d'origine
BOUND = 4.5  # écart permis des intervalles, en erreurs types : le hasard le dépasse moins d'une fois sur mille, à cent modèles


def draw_votes(count: int, ties: float, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Votes de Bradley–Terry entre des modèles de forces normales (écart type de 150 points).

    Returns:
        rang du premier modèle, rang du second, score du premier : trois tableaux de `count` nombres.
    """
    generator = np.random.default_rng(seed)
    strengths = generator.normal(1000, 150, len(MODELS))
    first = generator.integers(len(MODELS), size=count)
    second = (first + generator.integers(1, len(MODELS), size=count)) % len(MODELS)
    win = (1 - ties) / (1 + 10 ** ((strengths[second] - strengths[first]) / 400))
    u = generator.random(count)
    return first, second, np.where(u < win, 1.0, np.where(u < win + ties, 0.5, 0.0))


def elo_points(logs: np.ndarray) -> np.ndarray:
    """Cotes Elo de moyenne 1000, à partir de logarithmes naturels des forces (dernier axe : les modèles)."""
    points = 400 / math.log(10) * np.asarray(logs)
    return points - points.mean(axis=-1, keepdims=True) + 1000


class Ours:
    """Les fonctions de la leçon 06, et une liste de duels `(a, b, score)`."""

    def __init__(self, first: np.ndarray, second: np.ndarray, scores: np.ndarray):
        self.games = [(MODELS[a], MODELS[b], score) for a, b, score in zip(first.tolist(), second.tolist(), scores.tolist())]
        self.wins = win_matrix(self.games, MODELS)

    def from_votes(self) -> dict[str, float]:
        return fit_bradley_terry(win_matrix(self.games, MODELS), MODELS)

    def from_counts(self) -> dict[str, float]:
        return fit_bradley_terry(self.wins, MODELS)

    def bootstrap(self) -> np.ndarray:
        return bootstrap_bradley_terry(self.games, MODELS, RESAMPLES, seed=0)


class ArenaRank:
    """arena-rank (JAX, L-BFGS) : un DataFrame, ou son PairDataset, qui compte les votes identiques."""

    name, shape, calls = "arena-rank", "un DataFrame et recompile sa boucle à chaque ajustement", 1

    def __init__(self, first: np.ndarray, second: np.ndarray, scores: np.ndarray):
        names, winner = np.array(MODELS), np.select([scores == 1, scores == 0], ["model_a", "model_b"], "tie")
        self.frame = pd.DataFrame({"model_a": names[first], "model_b": names[second], "winner": winner})
        self.counted = PairDataset.from_pandas(self.frame)

    def from_votes(self) -> np.ndarray:
        return self.fit(PairDataset.from_pandas(self.frame))

    def from_counts(self, **settings) -> np.ndarray:
        return self.fit(self.counted, **settings)

    def tightest(self) -> np.ndarray:
        return self.from_counts(ftol=0.0, gtol=1e-12)

    def fit(self, dataset: PairDataset, **settings) -> np.ndarray:
        assert dataset.competitors == MODELS
        return jax.block_until_ready(BradleyTerry(len(MODELS), **settings).fit(dataset).params["ratings"])

    def points(self, logs: np.ndarray) -> np.ndarray:
        return elo_points(logs)

    def sandwich(self) -> np.ndarray:
        """Demi-largeurs des intervalles asymptotiques, à partir des votes."""
        found = BradleyTerry(len(MODELS)).compute_ratings_and_cis(PairDataset.from_pandas(self.frame))
        return np.asarray(found["rating_upper"] - found["rating_lower"]) / 2

    def bootstrap(self, resamples: int) -> np.ndarray:
        """Variances des cotes rééchantillonnées, en points au carré ; un processus par cœur."""
        found = BradleyTerry(len(MODELS)).compute_ratings_and_cis(
            self.counted, ci_method="bootstrap", num_bootstrap=resamples, n_jobs=len(os.sched_getaffinity(0))
        )
        return np.asarray(found["variances"]) * resamples / (resamples - 1)


class Evalica:
    """evalica (Rust, itération de Newman) : deux listes de noms et les vainqueurs ; des poids font des comptes."""

    name, shape, calls = "evalica", "trois listes", 200

    def __init__(self, first: np.ndarray, second: np.ndarray, scores: np.ndarray):
        self.ranks = first, second
        self.names = [[MODELS[rank] for rank in side.tolist()] for side in self.ranks]
        self.columns = [pd.Series(side) for side in self.names]
        outcome = {1.0: evalica.Winner.X, 0.5: evalica.Winner.Draw, 0.0: evalica.Winner.Y}
        self.winners = [outcome[score] for score in scores.tolist()]
        self.wins = win_matrix(zip(*self.names, scores.tolist()), MODELS)
        self.pairs = np.nonzero(self.wins)
        self.counted = *([MODELS[rank] for rank in side.tolist()] for side in self.pairs), [evalica.Winner.X] * len(self.pairs[0])
        self.index = pd.Index(MODELS)

    def from_votes(self) -> evalica.BradleyTerryResult:
        return evalica.bradley_terry(*self.names, self.winners, index=self.index)

    def from_columns(self) -> evalica.BradleyTerryResult:
        return evalica.bradley_terry(*self.columns, self.winners, index=self.index)

    def from_counts(self, wins: np.ndarray | None = None, **settings) -> evalica.BradleyTerryResult:
        weights = (self.wins if wins is None else wins)[self.pairs].tolist()
        return evalica.bradley_terry(*self.counted, index=self.index, weights=weights, **settings)

    def tightest(self) -> evalica.BradleyTerryResult:
        return self.from_counts(tolerance=1e-15, limit=10_000)

    def points(self, result: evalica.BradleyTerryResult) -> np.ndarray:
        return elo_points(np.log(result.scores.reindex(MODELS)))

    def bootstrap(self, resamples: int) -> np.ndarray:
        """Variances des cotes rééchantillonnées, en points au carré ; des rangs pour noms, sa forme la plus rapide."""
        found = evalica.bootstrap(
            evalica.bradley_terry, *self.ranks, self.winners, index=pd.RangeIndex(len(MODELS)),
            n_resamples=resamples, bootstrap_method="percentile", random_state=1,
        )
        return elo_points(np.log(found.distribution[list(range(len(MODELS)))])).var(axis=0, ddof=1)


class Choix:
    """choix (I-LSR) : des couples (gagnant, perdant), ou le tableau des victoires."""

    name, shape, calls = "choix", "une liste de couples de rangs", 500

    def __init__(self, first: np.ndarray, second: np.ndarray, scores: np.ndarray):
        self.pairs = list(zip(np.where(scores == 1, first, second).tolist(), np.where(scores == 1, second, first).tolist()))
        self.wins = np.zeros((len(MODELS), len(MODELS)))
        np.add.at(self.wins, (first, second), scores)
        np.add.at(self.wins, (second, first), 1 - scores)

    def from_votes(self) -> np.ndarray:
        return choix.ilsr_pairwise(len(MODELS), self.pairs)

    def from_counts(self, wins: np.ndarray | None = None, **settings) -> np.ndarray:
        return choix.ilsr_pairwise_dense(self.wins if wins is None else wins, **settings)

    def tightest(self) -> np.ndarray:
        return self.from_counts(tol=1e-14, max_iter=10_000)

    def points(self, logs: np.ndarray) -> np.ndarray:
        return elo_points(logs)


def by_hand(side: Evalica | Choix, **settings) -> list:
    """Rééchantillons écrits à la main, pour qui n'en offre pas ou les fait lentement : comptes multinomiaux, réajustés un
    par un ; les comptes de départ sont donnés, et la conversion en cotes se fait hors de la mesure."""
    generator, table, cells = np.random.default_rng(1), np.zeros_like(side.wins), side.wins > 0
    total = int(side.wins.sum())
    frequencies, fits = side.wins[cells] / total, []
    for _ in range(RESAMPLES):
        table[cells] = generator.multinomial(total, frequencies)
        fits.append(side.from_counts(table, **settings))
    return fits


def points_gap(ours: dict[str, float], theirs: np.ndarray, bound: float) -> float:
    """Plus grand écart de deux jeux de cotes, en points ; il arrête la mesure s'il dépasse `bound`."""
    gap = np.abs(np.array(list(ours.values())) - theirs).max()
    if not gap <= bound:
        raise SystemExit(f"Les cotes diffèrent de {gap:.1e} point : la mesure ne vaut rien.")
    return gap


def half_widths(samples: np.ndarray) -> np.ndarray:
    """Demi-largeur de l'intervalle à 95 % de chaque colonne, en points."""
    return np.array([(high - low) / 2 for low, high in percentile_intervals(samples)])


def width_error() -> float:
    """Erreur type relative d'une demi-largeur tirée de RESAMPLES rééchantillons (cotes à peu près normales).

    Le centile q de R tirages a pour erreur type √(q (1 − q) / R) / φ(z), en écarts types de la cote. Une demi-largeur vaut
    z écarts types ; c'est la demi-différence de deux centiles, presque indépendants.
    """
    z = norm.ppf(0.975)
    return math.sqrt(0.025 * 0.975 / RESAMPLES) / norm.pdf(z) / math.sqrt(2) / z


def widths_gap(ours: np.ndarray, theirs: np.ndarray, error: float) -> tuple[float, float]:
    """Écart relatif des demi-largeurs : en moyenne, et le plus grand ; ils arrêtent la mesure s'ils dépassent leur borne.

    Args:
        ours: nos rééchantillons.
        theirs: demi-largeurs de l'autre côté.
        error: erreur type relative du rapport de deux demi-largeurs ; à moyenne fixée, cent cotes sont presque indépendantes.
    """
    gaps = half_widths(ours) / theirs - 1
    mean, largest = abs(gaps.mean()), np.abs(gaps).max()
    if not (mean <= BOUND * error / math.sqrt(len(gaps)) and largest <= BOUND * error):
        raise SystemExit(f"Les demi-largeurs diffèrent de {mean:.1%} en moyenne, {largest:.1%} au plus : la mesure ne vaut rien.")
    return mean, largest


def measure_fit(ours: Ours, side: ArenaRank | Evalica | Choix) -> None:
    """Ajustement, à partir des votes, puis à partir des comptes."""
    gaps = []

    def same(obtained: dict[str, float], expected) -> None:
        gaps.append(points_gap(obtained, side.points(expected), USUAL))

    paired(f"votes → cotes, contre {side.name}", ours.from_votes, side.from_votes, same)
    note(f"il lit {side.shape}, nous une liste de duels")
    if isinstance(side, Evalica):
        paired("votes → cotes, contre evalica, des colonnes pandas toutes faites", ours.from_votes, side.from_columns, same,
               repeats=3 * REPEATS)
        note("ces colonnes sont faites hors de la mesure ; nous partons toujours de la liste de duels")
    paired(
        f"comptes → cotes, contre {side.name}",
        lambda: [ours.from_counts() for _ in range(side.calls)][-1],
        lambda: [side.from_counts() for _ in range(side.calls)][-1],
        same,
        repeats=REPEATS if side.calls == 1 else 3 * REPEATS,
    )
    tight = points_gap(ours.from_counts(), side.points(side.tightest()), TIGHT)
    note(f"cotes égales à {max(gaps):.0e} point près aux réglages d'origine, à {tight:.0e} à la tolérance la plus serrée")


def measure_intervals(name: str, ours: Ours, theirs, widths, error: float) -> None:
    """Mille rééchantillons à partir des votes, contre un autre calcul d'intervalles, mené jusqu'au bout.

    Args:
        theirs, widths: l'autre calcul, et ce qui tire des demi-largeurs de son résultat.
        error: erreur type relative du rapport des deux demi-largeurs.
    """
    gaps = []
    paired(f"{RESAMPLES} rééchantillons, contre {name}", ours.bootstrap, theirs,
           lambda obtained, expected: gaps.append(widths_gap(obtained, widths(expected), error)))
    mean, largest = max(gaps)
    note(f"demi-largeurs : {mean:.1%} d'écart en moyenne, {largest:.1%} au plus ; bornes de Monte-Carlo "
         f"{BOUND * error / math.sqrt(len(MODELS)):.1%} et {BOUND * error:.1%}")


def measure_bootstrap(ours: Ours, side: ArenaRank | Evalica) -> None:
    """Mille rééchantillons, contre la fonction bootstrap de la bibliothèque, mesurée sur quelques-uns et mise à l'échelle."""
    ratios, variances = [], []
    for _ in range(REPEATS):
        fast, samples = timed(ours.bootstrap)
        least, _ = timed(lambda: side.bootstrap(FEW))
        most, found = timed(lambda: side.bootstrap(MORE))
        ratios.append((most - least) / (MORE - FEW) * RESAMPLES / fast)
        variances.append((found / samples.var(axis=0)).mean())
    bound = BOUND * math.sqrt(2 / (len(MODELS) * (MORE - 1)))
    if not max(abs(ratio - 1) for ratio in variances) <= bound:
        raise SystemExit(f"Les variances sont dans un rapport de {variances} : la mesure ne vaut rien.")
    show(f"{RESAMPLES} rééchantillons, contre la fonction bootstrap ({side.name})", ratios, digits=0)
    note(f"sa durée est celle de {MORE - FEW} rééchantillons (de {FEW} à {MORE}, départ non compté), en proportion ; rapport "
         f"des variances {variances[-1]:.2f}, bornes 1 ± {bound:.2f}")


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else VOTES
    # Lancés par « fork », le choix d'origine, les processus d'arena-rank se bloquent : JAX a déjà ses fils d'exécution.
    multiprocessing.set_start_method("spawn")

    votes = draw_votes(count, ties=0.1, seed=1)
    obtained, gaps = Ours(*votes).from_counts(), {}
    for kind in (ArenaRank, Evalica, Choix):
        side = kind(*votes)
        gaps[side.name] = points_gap(obtained, side.points(side.tightest()), TIGHT)
    agreed = ", ".join(f"{gap:.0e} ({name})" for name, gap in gaps.items())
    note(f"{count} votes entre {len(MODELS)} modèles, sans égalités")
    note(f"avec un dixième d'égalités, une demi-victoire chacune, tolérance la plus serrée : cotes égales à {agreed} point près")

    votes = draw_votes(count, ties=0.0, seed=0)
    ours, arena, evalic, choi = (kind(*votes) for kind in (Ours, ArenaRank, Evalica, Choix))
    for side in (evalic, choi, arena):  # arena-rank en dernier : ce que JAX compile reste ensuite dans le processus
        measure_fit(ours, side)

    error = width_error()
    measure_intervals("l'intervalle asymptotique d'arena-rank", ours, arena.sandwich, lambda widths: widths, error)
    measure_bootstrap(ours, arena)
    measure_bootstrap(ours, evalic)
    for side, settings in ((evalic, {}), (choi, {"initial_params": choi.from_counts()})):
        measure_intervals(
            f"{side.name}, réajusté à la main sur des comptes",
            ours,
            partial(by_hand, side, **settings),
            lambda fits, side=side: half_widths(np.array([side.points(fit) for fit in fits])),
            error * math.sqrt(2),
        )


if __name__ == "__main__":
    main()
