"""Elo et Bradley–Terry : valeurs à la main, valeurs publiées, scipy et scikit-learn, propriétés, entrées fautives."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.sparse.csgraph import connected_components
from sklearn.linear_model import LogisticRegression

import helpers
from helpers.elo import (
    bootstrap_bradley_terry,
    check_games,
    check_models,
    check_number,
    check_wins,
    comparable_groups,
    count_votes,
    elo_ratings,
    expected_score,
    fit_bradley_terry,
    games_from_counts,
    log_strengths,
    percentile_intervals,
    rank_intervals,
    reachable,
    simulate_games,
    update,
    why_not_estimable,
    win_matrix,
)

AB = ["A", "B"]
ABC = ["A", "B", "C"]
ABCD = ["A", "B", "C", "D"]
STRENGTHS = {"A": 1250, "B": 1150, "C": 1050, "D": 950, "E": 850}
FIVE = list(STRENGTHS)
RATINGS = st.floats(-4000, 4000)
SCORES = st.sampled_from([0, 0.5, 1])


@pytest.fixture(scope="module")
def games():
    """Les cinq cents duels de S3-20."""
    return simulate_games(STRENGTHS, 500, seed=42)


@pytest.fixture(scope="module")
def aggregates():
    """Les comptes publics du cours."""
    return json.loads((Path(helpers.__file__).parent / "donnees" / "agregats.json").read_text(encoding="utf-8"))


def shuffled(games, seed):
    return [games[i] for i in np.random.default_rng(seed).permutation(len(games))]


# --- Score attendu et mise à jour ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rating_a", "rating_b", "expected"),
    [
        pytest.param(1000, 1000, 1 / 2, id="S3-19 cotes égales"),
        pytest.param(1400, 1000, 10 / 11, id="S3-19 dix contre un"),
        pytest.param(1000, 1400, 1 / 11, id="S3-19 un contre dix"),
        pytest.param(1000, 200, 100 / 101, id="800 points : cent contre un"),
        pytest.param(0, 1e9, 0.0, id="écart immense, sans débordement"),
        pytest.param(1e9, 0, 1.0, id="écart immense dans l'autre sens"),
    ],
)
def test_expected_score_by_hand(rating_a, rating_b, expected):
    assert expected_score(rating_a, rating_b) == pytest.approx(expected, abs=1e-12)


@given(RATINGS, RATINGS, st.floats(-1000, 1000))
def test_expected_score_depends_on_the_gap_only(rating_a, rating_b, shift):
    """Les deux scores somment à un ; ajouter la même constante aux deux cotes ne change rien (S3-19)."""
    value = expected_score(rating_a, rating_b)
    assert 0 <= value <= 1
    assert value + expected_score(rating_b, rating_a) == pytest.approx(1, abs=1e-12)
    assert expected_score(rating_a + shift, rating_b + shift) == pytest.approx(value, abs=1e-9)


@pytest.mark.parametrize(
    ("games", "a", "b"),
    [
        pytest.param([("A", "B", 1), ("A", "B", 0)], 1498.5305, 1501.4695, id="ELO-01 A puis B"),
        pytest.param([("A", "B", 0), ("A", "B", 1)], 1501.4695, 1498.5305, id="ELO-01 B puis A"),
        pytest.param([("A", "B", 1)], 1516, 1484, id="une victoire entre égaux"),
        pytest.param([("A", "B", 0.5)], 1500, 1500, id="une égalité entre égaux"),
        pytest.param([], 1500, 1500, id="aucun duel"),
    ],
)
def test_elo_small_cases(games, a, b):
    found = elo_ratings(games, AB, start=1500)
    assert (found["A"], found["B"]) == pytest.approx((a, b), abs=5e-5)


def test_order_matters_for_elo_and_not_for_bradley_terry():
    """ELO-01 : les mêmes duels, renversés, échangent les cotes Elo ; Bradley–Terry les dit égaux."""
    games = [("A", "B", 1), ("A", "B", 0)]
    assert elo_ratings(games, AB)["A"] < elo_ratings(games[::-1], AB)["A"]
    assert fit_bradley_terry(win_matrix(games, AB), AB) == pytest.approx({"A": 1000, "B": 1000}, abs=1e-9)


@given(RATINGS, RATINGS, SCORES, st.floats(0.1, 100))
def test_update_conserves_the_sum(rating_a, rating_b, score, k):
    """ELO-02 : un duel déplace des points, il n'en crée pas ; le déplacement ne dépasse jamais K."""
    new_a, new_b = update(rating_a, rating_b, score, k)
    assert new_a + new_b == pytest.approx(rating_a + rating_b, abs=1e-9)
    assert abs(new_a - rating_a) <= k + 1e-9


def test_update_uses_both_old_ratings():
    """ELO-02 : l'erreur séquentielle donnerait 1484,7363 à B, et une somme de 3000,7363."""
    assert update(1500, 1500, 1) == (1516.0, 1484.0)


# --- La simulation de S3-20 ---------------------------------------------------------------------------------------


def test_simulation_published_values(games):
    """S3-20 : 213 victoires, 51 égalités, 236 défaites, et les cinq cotes publiées ; somme 5000."""
    scores = [score for _, _, score in games]
    assert [scores.count(value) for value in (1.0, 0.5, 0.0)] == [213, 51, 236]
    found = elo_ratings(games, FIVE)
    published = {"A": 1253.32, "B": 1068.74, "C": 978.88, "D": 887.48, "E": 811.57}
    assert found == pytest.approx(published, abs=0.005)
    assert sum(found.values()) == pytest.approx(5000, abs=1e-6)


def test_long_simulation_swaps_two_models():
    """E-30 : à 5 000 duels, D et E sont échangés (819 et 876)."""
    found = elo_ratings(simulate_games(STRENGTHS, 5000, seed=42), FIVE)
    assert (found["D"], found["E"]) == pytest.approx((819, 876), abs=0.5)


@pytest.mark.parametrize(("gap", "shrunk"), [(400, 327), (100, 90)], ids=["E-30 400", "E-30 100"])
def test_draws_shrink_the_gaps(gap, shrunk):
    """E-30 : avec un dixième d'égalités, le score moyen est 0,9 p + 0,05 ; Bradley–Terry y retrouve l'écart resserré."""
    score = 0.9 * expected_score(gap, 0) + 0.05
    found = fit_bradley_terry([[0, score], [1 - score, 0]], AB)
    assert found["A"] - found["B"] == pytest.approx(shrunk, abs=0.5)


def test_order_dependence(games):
    """S3-23 : écart type de 34 à 42 points selon l'ordre, classement complet juste environ une fois sur deux (55 %).

    Sur 300 ordres, l'erreur type de la part est de 3 points et celle d'un écart type de 2 points.
    """
    orders = np.array([list(elo_ratings(shuffled(games, seed), FIVE).values()) for seed in range(300)])
    assert (orders.std(axis=0) > 30).all() and (orders.std(axis=0) < 46).all()
    assert (np.diff(orders) < 0).all(axis=1).mean() == pytest.approx(0.55, abs=0.09)


def test_bradley_terry_published_values(games):
    """S3-22 : les cinq cotes de maximum de vraisemblance, égalités comptées un demi, et la même chose dans le désordre."""
    published = {"A": 1203.4, "B": 1063.9, "C": 1013.5, "D": 872.5, "E": 846.7}
    assert fit_bradley_terry(win_matrix(games, FIVE), FIVE) == pytest.approx(published, abs=0.051)
    assert fit_bradley_terry(win_matrix(shuffled(games, 3), FIVE), FIVE) == pytest.approx(published, abs=0.051)


def test_bootstrap_published_values(games):
    """S3-22 : les intervalles publiés, à la précision d'un bootstrap de 1000 tirages (quelques points)."""
    published = [(1159, 1257), (1025, 1100), (975, 1048), (826, 913), (796, 881)]
    samples = bootstrap_bradley_terry(games, FIVE, 1000, seed=7)
    assert np.isfinite(samples).all()
    assert samples.mean(axis=1) == pytest.approx(np.full(1000, 1000), abs=1e-9)
    for found, expected in zip(percentile_intervals(samples), published):
        assert found == pytest.approx(expected, abs=10)
    assert [best for best, _ in rank_intervals(samples)] == [1, 2, 2, 4, 4]


# --- Bradley–Terry : cas à la main et bibliothèques ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("wins", "gap"),
    [
        pytest.param([[0, 2.5], [1.5, 0]], 88.74, id="ELO-04 demi-victoire"),
        pytest.param([[0, 2], [1, 0]], 120.41, id="ELO-04 égalité ignorée"),
        pytest.param([[0, 3], [1, 0]], 190.85, id="ELO-04 égalité comptée victoire"),
        pytest.param([[0, 3], [1, 0]], 190.8485, id="ELO-05 trois à une"),
        pytest.param([[0, 1], [1, 0]], 0, id="une partout"),
        pytest.param([[0, 9], [1, 0]], 381.70, id="neuf à une : 400 log10(9)"),
    ],
)
def test_two_models_by_hand(wins, gap):
    """À deux, la solution est 400 log10(victoires de A / victoires de B), centrée sur la moyenne demandée."""
    found = fit_bradley_terry(wins, AB)
    assert found["A"] - found["B"] == pytest.approx(gap, abs=0.005)
    assert fit_bradley_terry(wins, AB, mean=0)["A"] == pytest.approx(gap / 2, abs=0.005)


def test_votes_are_counted_from_both_sides():
    """Une défaite du premier nommé est une victoire du second ; une égalité s'écrit dans les deux sens ; C n'a pas joué."""
    games = [("A", "B", 1), ("B", "A", 0.0), ("A", "B", 0), ("B", "A", 0.5), ["A", "B", np.float64(0.5)]]
    wins, ties = count_votes(games, ABC)
    assert wins.tolist() == [[0, 2, 0], [1, 0, 0], [0, 0, 0]]
    assert ties.tolist() == [[0, 2, 0], [2, 0, 0], [0, 0, 0]]
    assert not np.any(count_votes([], ABC))


@given(st.lists(st.tuples(st.sampled_from(ABCD), st.sampled_from(ABCD), SCORES).filter(lambda game: game[0] != game[1])))
def test_every_vote_is_counted_once(games):
    """Les comptes, rendus sous forme de duels, sont les mêmes duels dans un autre ordre."""
    wins, ties = count_votes(games, ABCD)
    assert wins.sum() + ties.sum() / 2 == len(games)
    listed = [(a, b, score) if score else (b, a, 1) for a, b, score in games]
    listed = [(*sorted((a, b)), score) if score == 0.5 else (a, b, score) for a, b, score in listed]
    assert sorted(games_from_counts(wins, ties, ABCD)) == sorted(listed)


def test_draw_is_half_a_win_on_each_side():
    """ELO-04, à partir des duels : deux victoires, une défaite et une égalité donnent 88,74 points."""
    games = [("A", "B", 1), ("B", "A", 0), ("A", "B", 0), ("B", "A", 0.5)]
    assert win_matrix(games, AB).tolist() == [[0, 2.5], [1.5, 0]]


def test_chain_by_hand():
    """Un arbre de duels se résout paire par paire : 3–1 puis 30–10 font deux fois 190,85 points."""
    found = fit_bradley_terry([[0, 3, 0], [1, 0, 30], [0, 10, 0]], ABC)
    assert found == pytest.approx({"A": 1190.8485, "B": 1000, "C": 809.1515}, abs=5e-5)


def test_circle_is_a_three_way_tie():
    assert fit_bradley_terry([[0, 1, 0], [0, 0, 1], [1, 0, 0]], ABC) == pytest.approx(dict.fromkeys(ABC, 1000), abs=1e-9)


def by_scipy(wins):
    """Cotes par minimisation directe de la vraisemblance, dernière force fixée à zéro."""
    wins = np.asarray(wins, dtype=float)
    played = wins + wins.T

    def loss(free):
        theta = np.append(free, 0)
        return (wins * np.logaddexp(0, theta[None, :] - theta[:, None])).sum()

    def slope(free):
        theta = np.append(free, 0)
        expected = played / (1 + np.exp(theta[None, :] - theta[:, None]))
        return (expected - wins).sum(axis=1)[:-1]

    found = minimize(loss, np.zeros(len(wins) - 1), jac=slope, method="BFGS", options={"gtol": 1e-10})
    points = np.append(found.x, 0) * 400 / math.log(10)
    return points - points.mean() + 1000


def by_scikit_learn(wins):
    """Cotes par la régression logistique non pénalisée."""
    size = len(wins)
    rows, outcomes, weights = [], [], []
    for i in range(size):
        for j in range(size):
            if i != j and wins[i][j] > 0:
                row = np.zeros(size)
                row[i], row[j] = 1, -1
                rows += [row[:-1], -row[:-1]]
                outcomes += [1, 0]
                weights += [wins[i][j]] * 2
    model = LogisticRegression(C=np.inf, fit_intercept=False, solver="newton-cholesky", tol=1e-12)
    coefficients = model.fit(rows, outcomes, sample_weight=weights).coef_[0]
    points = np.append(coefficients, 0) * 400 / math.log(10)
    return points - points.mean() + 1000


TABLES = [
    pytest.param([[0, 3, 2], [1, 0, 3], [2, 1, 0]], id="trois modèles"),
    pytest.param([[0, 5, 0, 1], [1, 0, 4, 0], [0, 2, 0, 3], [1, 0, 1, 0]], id="un carré"),
    pytest.param([[0, 40.5, 12], [9.5, 0, 33], [1, 7, 0]], id="effectifs inégaux et égalités"),
]


@pytest.mark.parametrize("wins", TABLES)
def test_agrees_with_scipy_and_scikit_learn(wins):
    names = ABCD[: len(wins)]
    found = list(fit_bradley_terry(wins, names).values())
    assert found == pytest.approx(by_scikit_learn(wins), abs=1e-6)
    assert found == pytest.approx(by_scipy(wins), abs=1e-3)


@pytest.mark.parametrize("judge", ["human", "gpt4_pair"])
def test_real_votes_agree_with_scikit_learn(judge, aggregates):
    """Votes de MT-Bench, humains et GPT-4 : mêmes cotes que scikit-learn à 1e-6 point."""
    counts = aggregates["mtbench"]
    names = counts["models"]
    games = games_from_counts(counts[judge]["wins"], counts[judge]["ties"], names)
    table = win_matrix(games, names)
    assert table == pytest.approx(np.array(counts[judge]["wins"]) + np.array(counts[judge]["ties"]) / 2)
    assert list(fit_bradley_terry(table, names).values()) == pytest.approx(by_scikit_learn(table), abs=1e-6)


@st.composite
def tables(draw):
    """Tableaux de deux à cinq modèles, comptes de 0 à 20."""
    size = draw(st.integers(2, 5))
    cells = draw(st.lists(st.integers(0, 20), min_size=size**2, max_size=size**2))
    table = np.array(cells, dtype=float).reshape(size, size)
    np.fill_diagonal(table, 0)
    return table


@settings(max_examples=60, deadline=None)
@given(tables())
def test_expected_wins_equal_observed_wins(table):
    """Au maximum, chaque modèle gagne exactement ce que les cotes prévoient ; la moyenne est celle demandée."""
    names = list("ABCDE"[: len(table)])
    assume(not why_not_estimable(table, names))
    points = list(fit_bradley_terry(table, names, mean=500).values())
    for i in range(len(table)):
        expected = sum((table[i, j] + table[j, i]) * expected_score(points[i], points[j]) for j in range(len(table)))
        assert expected == pytest.approx(table[i].sum(), abs=1e-6)
    assert np.mean(points) == pytest.approx(500, abs=1e-9)


@pytest.mark.parametrize("draw", [0, 0.3], ids=["sans égalité", "trois égalités sur dix"])
def test_many_models_agree_with_scikit_learn(draw):
    """Trente modèles, vingt mille duels : mêmes cotes que scikit-learn à 1e-6 point."""
    strengths = {f"m{rank}": float(value) for rank, value in enumerate(np.random.default_rng(0).normal(1000, 200, 30))}
    table = win_matrix(simulate_games(strengths, 20_000, seed=1, draw=draw), list(strengths))
    assert list(fit_bradley_terry(table, list(strengths)).values()) == pytest.approx(by_scikit_learn(table), abs=1e-6)


@pytest.mark.parametrize(
    ("ratio", "weight"),
    [
        pytest.param(3, 1, id="trois à une"),
        pytest.param(1e6, 1, id="un million à une : 24 000 points du premier au dernier"),
        pytest.param(3, 1e-9, id="comptes minuscules"),
        pytest.param(3, 1e12, id="comptes immenses"),
    ],
)
def test_long_chain_by_hand(ratio, weight):
    """Onze modèles en file, chacun ne rencontrant que ses voisins : dix écarts de 400 log10(rapport), loin du départ."""
    table = weight * (ratio * np.eye(11, k=1) + np.eye(11, k=-1))
    points = list(fit_bradley_terry(table, list("ABCDEFGHIJK")).values())
    assert -np.diff(points) == pytest.approx(np.full(10, 400 * math.log10(ratio)), abs=1e-5)


@settings(max_examples=60, deadline=None)
@given(tables(), st.integers(0, 2**32 - 1))
def test_any_start_leads_to_the_same_strengths(table, seed):
    """Le maximum est unique : un départ au hasard, même à mille points, y mène aussi."""
    assume(len(comparable_groups(table)) == 1)
    start = np.random.default_rng(seed).normal(0, 3, len(table))
    assert log_strengths(table, start) == pytest.approx(log_strengths(table), abs=1e-9)
    assert log_strengths(table).mean() == pytest.approx(0, abs=1e-12)


@settings(max_examples=60, deadline=None)
@given(tables(), st.randoms(use_true_random=False))
def test_names_do_not_matter(table, random):
    """Ranger les modèles dans un autre ordre ne change ni les cotes, ni le nombre de groupes."""
    names = list("ABCDE"[: len(table)])
    order = random.sample(range(len(table)), len(table))
    moved, moved_names = table[np.ix_(order, order)], [names[i] for i in order]
    assert len(comparable_groups(table)) == len(comparable_groups(moved))
    assume(not why_not_estimable(table, names))
    assert fit_bradley_terry(table, names) == pytest.approx(fit_bradley_terry(moved, moved_names), abs=1e-6)


# --- Pas de réponse : le dire -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("models", "wins", "groups", "reason"),
    [
        pytest.param(AB, [[0, 3], [0, 0]], [(0,), (1,)], "A : aucune défaite", id="ELO-06 invaincu"),
        pytest.param(ABC, [[0, 2, 1], [1, 0, 3], [0, 0, 0]], [(0, 1), (2,)], "A et B : aucune défaite", id="C sans victoire"),
        pytest.param(ABCD, [[0, 2, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 2, 0]], [(0, 1), (2, 3)],
                     "A et B | C et D", id="ELO-07 deux îles"),
        pytest.param(ABCD, [[0, 2, 1, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 2, 0]], [(0, 1), (2, 3)],
                     "A et B : aucune défaite", id="pont à sens unique"),
        pytest.param(AB, [[0, 0], [0, 0]], [(0,), (1,)], "aucun vote ne relie ces groupes : A | B", id="aucun vote"),
        pytest.param(ABC, [[0, 1, 0], [1, 0, 0], [0, 0, 0]], [(0, 1), (2,)], "A et B | C", id="C n'a pas joué"),
    ],
)
def test_no_finite_solution_is_told(models, wins, groups, reason):
    """Aucun nombre n'est inventé : les groupes et la raison sont nommés, l'estimation est refusée."""
    assert comparable_groups(wins) == groups
    assert reason in why_not_estimable(wins, models)
    with pytest.raises(ValueError, match="pas de cotes finies"):
        fit_bradley_terry(wins, models)


@settings(max_examples=100, deadline=None)
@given(st.integers(1, 9), st.floats(0, 1), st.integers(0, 2**32 - 1))
def test_groups_are_those_of_scipy(size, density, seed):
    """Les groupes sont les composantes fortement connexes que scipy trouve, chaque modèle dans un seul."""
    table = np.random.default_rng(seed).random((size, size)) < density
    np.fill_diagonal(table, False)
    groups = comparable_groups(table)
    count, labels = connected_components(table, connection="strong")
    assert sorted(index for group in groups for index in group) == list(range(size))
    assert len(groups) == count and all(len({labels[index] for index in group}) == 1 for group in groups)


def test_reachable_follows_the_arrows():
    """A bat B, B bat C, C bat B : depuis A on atteint tout le monde sauf D, et l'on ne revient pas à A."""
    beats = np.array([[0, 1, 0, 0], [0, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 0]], dtype=bool)
    assert reachable(0, beats).tolist() == [True, True, True, False]
    assert reachable(2, beats).tolist() == [False, True, True, False]
    assert reachable(3, beats).tolist() == [False, False, False, True]


def test_one_draw_is_enough():
    """Un invaincu qui a fait une égalité a une cote finie : 400 log10(3,5 / 0,5) = 338,04 points d'écart."""
    found = fit_bradley_terry(win_matrix([("A", "B", 1)] * 3 + [("A", "B", 0.5)], AB), AB)
    assert found["A"] - found["B"] == pytest.approx(400 * math.log10(7), abs=1e-6)


def test_bootstrap_without_defeat():
    """ELO-08 : 0,9^10 = 34,87 % des rééchantillons d'un 9–1 sont des 10–0 ; ils sont des lignes de nan, pas des nombres."""
    games = [("A", "B", 1)] * 9 + [("A", "B", 0)]
    samples = bootstrap_bradley_terry(games, AB, 4000, seed=3)
    missing = np.isnan(samples)
    assert (missing.all(axis=1) == missing.any(axis=1)).all()
    assert missing[:, 0].mean() == pytest.approx(0.3487, abs=0.03)
    assert np.isfinite(percentile_intervals(samples)).all() and rank_intervals(samples) == [(1, 1), (2, 2)]


@pytest.mark.parametrize(
    "games",
    [
        pytest.param([("A", "B", 1)] * 5 + [("B", "C", 1), ("C", "B", 1)], id="invaincu"),
        pytest.param([("A", "B", 1), ("B", "A", 1)] * 5, id="C n'a pas joué"),
    ],
)
def test_bootstrap_without_finite_ratings(games):
    """Des duels sans cotes finies n'en ont pas davantage une fois rééchantillonnés : que des nan, aucun nombre inventé."""
    assert np.isnan(bootstrap_bradley_terry(games, ABC, 20, seed=0)).all()


def test_bootstrap_has_the_law_of_drawn_games(games):
    """Tirer les comptes vaut tirer les duels : mêmes moyennes, écarts types et corrélations qu'un tirage duel par duel.

    L'autre côté tire vraiment cinq cents duels avec remise et ajuste avec scikit-learn. Sur 1000 et 400 tirages, l'erreur
    type d'une moyenne est de 0,06 écart type, celle d'un rapport d'écarts types de 0,042, celle d'une corrélation d'au
    plus 0,06 ; on en permet quatre.
    """
    ours = bootstrap_bradley_terry(games, FIVE, 1000, seed=5)
    generator = np.random.default_rng(6)
    drawn = [[games[i] for i in generator.integers(500, size=500)] for _ in range(400)]
    theirs = np.array([by_scikit_learn(win_matrix(sample, FIVE)) for sample in drawn])
    assert (np.abs(ours.mean(axis=0) - theirs.mean(axis=0)) / theirs.std(axis=0) < 0.24).all()
    assert ours.std(axis=0) / theirs.std(axis=0) == pytest.approx(np.ones(5), abs=0.17)
    assert np.corrcoef(ours.T) == pytest.approx(np.corrcoef(theirs.T), abs=0.24)


def test_anchor_moves_intervals_but_not_gaps(games):
    """ELO-10 : fixer une cote déplace l'incertitude sur les autres ; l'intervalle d'un écart n'en dépend pas."""
    samples = bootstrap_bradley_terry(games, FIVE, 200, seed=1)
    anchored = samples - samples[:, [4]]
    widths = [high - low for low, high in percentile_intervals(samples)]
    others = [high - low for low, high in percentile_intervals(anchored)]
    assert others[4] == 0 and all(other > width for other, width in zip(others[:4], widths[:4]))
    gap, anchored_gap = samples[:, [0]] - samples[:, [1]], anchored[:, [0]] - anchored[:, [1]]
    assert percentile_intervals(gap)[0] == pytest.approx(percentile_intervals(anchored_gap)[0], abs=1e-9)


def test_bootstrap_depends_on_its_seed_only(games):
    first, again, other = (bootstrap_bradley_terry(games, FIVE, 5, seed=seed) for seed in (1, 1, 2))
    assert (first == again).all() and (first != other).any()


def test_percentiles_and_ranks_by_hand():
    """Cent une lignes de 0 à 100 : les centiles 2,5 et 97,5 sont 2,5 et 97,5 ; ex æquo, deux modèles ont le même rang."""
    column = np.arange(101.0)[:, None]
    assert percentile_intervals(column) == [pytest.approx((2.5, 97.5))]
    assert percentile_intervals(column, level=0.5) == [pytest.approx((25, 75))]
    assert rank_intervals(np.array([[3.0, 2.0, 2.0]] * 10)) == [(1, 1), (2, 2), (2, 2)]


# --- Entrées fautives ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        pytest.param(lambda: expected_score("1000", 1000), TypeError, "nombre attendu, str reçu", id="cote en texte"),
        pytest.param(lambda: expected_score(1000, None), TypeError, "cote de b", id="cote absente"),
        pytest.param(lambda: expected_score(math.nan, 1000), ValueError, "vaut nan", id="cote nan"),
        pytest.param(lambda: expected_score(math.inf, 0), ValueError, "vaut inf", id="cote infinie"),
        pytest.param(lambda: check_number(True, "k"), TypeError, "bool reçu", id="booléen"),
        pytest.param(lambda: update(1000, 1000, 0.7), ValueError, "score 0.7", id="score hors liste"),
        pytest.param(lambda: update(1000, 1000, math.nan), ValueError, "vaut nan", id="score nan"),
        pytest.param(lambda: update(1000, 1000, 1, k=0), ValueError, "k = 0", id="k nul"),
        pytest.param(lambda: update(1000, 1000, 1, k=-32), ValueError, "k = -32", id="k négatif"),
        pytest.param(lambda: check_models(["A"]), ValueError, "moins de deux modèles", id="un seul modèle"),
        pytest.param(lambda: check_models("AB"), ValueError, "liste d'au moins deux noms", id="chaîne au lieu d'une liste"),
        pytest.param(lambda: check_models(["A", "A"]), ValueError, "nommé deux fois", id="modèle répété"),
        pytest.param(lambda: check_games([("A", "Z", 1)], AB), ValueError, "duel 1 : modèle inconnu 'Z'", id="modèle inconnu"),
        pytest.param(lambda: elo_ratings([("A", "B", 1), ("A", "A", 1)], AB), ValueError, "duel 2", id="contre soi-même"),
        pytest.param(lambda: win_matrix([("A", "B", math.nan)], AB), ValueError, "score nan", id="duel nan"),
        pytest.param(lambda: win_matrix([("A", "B", "1")], AB), ValueError, "score '1'", id="score en texte"),
        pytest.param(lambda: check_wins([[0, -1], [1, 0]], AB), ValueError, "négatif", id="compte négatif"),
        pytest.param(lambda: check_wins([[0, math.nan], [1, 0]], AB), ValueError, "n'est pas fini", id="compte nan"),
        pytest.param(lambda: check_wins([[1, 1], [1, 0]], AB), ValueError, "diagonale", id="diagonale"),
        pytest.param(lambda: check_wins([[0, 1, 2], [1, 0, 2]], AB), ValueError, r"forme \(2, 3\)", id="tableau non carré"),
        pytest.param(lambda: check_wins([[0, 1], [1]], AB), ValueError, "même longueur", id="lignes inégales"),
        pytest.param(lambda: check_wins([[0, "x"], [1, 0]], AB), ValueError, "tableau de nombres", id="texte dans le tableau"),
        pytest.param(lambda: count_votes([("A", "B", 1), ("B", "B", 0)], AB), ValueError, "duel 2 : 'B' joue", id="duel compté"),
        pytest.param(lambda: count_votes([("A", "B", [1])], AB), ValueError, r"score \[1\]", id="score en liste"),
        pytest.param(lambda: count_votes([("A", "Z", 1)], AB), ValueError, "duel 1 : modèle inconnu 'Z'", id="perdant inconnu"),
        pytest.param(lambda: count_votes([("A", "Z", 0.5)], AB), ValueError, "modèle inconnu 'Z'", id="égalité avec un inconnu"),
        pytest.param(lambda: fit_bradley_terry([[0, 1e150], [1e-150, 0]], AB), ValueError, "pas convergé", id="rapport démesuré"),
        pytest.param(lambda: fit_bradley_terry([[0, 1], [1, 0]], AB, mean=math.nan), ValueError, "vaut nan", id="moyenne nan"),
        pytest.param(lambda: games_from_counts([[0, 0.5], [1, 0]], [[0, 0], [0, 0]], AB), ValueError, "entier", id="demi-compte"),
        pytest.param(lambda: games_from_counts([[0, 1], [1, 0]], [[0, 1], [0, 0]], AB), ValueError, "symétrique", id="égalités"),
        pytest.param(lambda: bootstrap_bradley_terry([], AB, 10, 0), ValueError, "rien à tirer", id="aucun duel"),
        pytest.param(lambda: bootstrap_bradley_terry([("A", "B", 1)], AB, 0, 0), ValueError, "rien à tirer", id="aucun tirage"),
        pytest.param(lambda: percentile_intervals(np.full((3, 2), np.nan)), ValueError, "pas d'intervalle", id="que des nan"),
        pytest.param(lambda: percentile_intervals(np.zeros((3, 2)), level=95), ValueError, "niveau 95", id="niveau en %"),
        pytest.param(lambda: simulate_games(STRENGTHS, 3, 0, draw=1.5), ValueError, "part d'égalités", id="part d'égalités"),
    ],
)
def test_bad_input_is_told_in_french(call, kind, message):
    with pytest.raises(kind, match=message):
        call()
