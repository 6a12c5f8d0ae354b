"""Accord et incertitude : valeurs à la main ou publiées, scipy, scikit-learn et nltk, propriétés."""

import json
import math
from inspect import signature
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nltk.metrics.agreement import AnnotationTask
from nltk.metrics.distance import binary_distance, interval_distance
from scipy import stats
from scipy.stats import binomtest, norm
from sklearn import metrics
from sklearn.metrics import cohen_kappa_score

from helpers import agreement
from helpers.agreement import (
    average_ranks,
    change_scale,
    cohen_kappa,
    confusion_matrix,
    extract_score,
    gwet_ac1,
    krippendorff_alpha,
    pabak,
    pearson,
    rogan_gladen,
    spearman,
    spearman_brown,
    weighted_kappa,
    wilson_interval,
)

DATA = Path(agreement.__file__).parent / "donnees"


# Valeurs recalculées et arrondies dans le programme (S0-02 à S2-09), jamais reprises de notre sortie.
@pytest.mark.parametrize(
    ("successes", "total", "low", "high"),
    [
        pytest.param(6, 6, 0.610, 1.000, id="S0-02"),
        pytest.param(12, 12, 0.758, 1.000, id="S0-30"),
        pytest.param(0, 6, 0.000, 0.390, id="S0-32"),
        pytest.param(10, 10, 0.722, 1.000, id="S0-33"),
        pytest.param(5, 6, 0.436, 0.970, id="S0-38"),
        pytest.param(18, 20, 0.699, 0.972, id="S2-03"),
        pytest.param(5, 12, 0.193, 0.680, id="S2-08"),
        pytest.param(9, 11, 0.523, 0.949, id="S2-09"),
    ],
)
def test_wilson_published_values(successes, total, low, high):
    assert wilson_interval(successes, total) == pytest.approx((low, high), abs=0.0005)


def test_wilson_by_hand():
    """0 sur n : le bas vaut 0 et le haut z²/(n + z²) ; avec z = 2 et n = 4, c'est 4/8."""
    assert wilson_interval(0, 4, z=2) == (0.0, 0.5)
    assert wilson_interval(4, 4, z=2) == (0.5, 1.0)


@given(st.integers(1, 400).flatmap(lambda total: st.tuples(st.integers(0, total), st.just(total))))
def test_wilson_agrees_with_scipy(counts):
    successes, total = counts
    expected = binomtest(successes, total).proportion_ci(method="wilson")
    assert wilson_interval(successes, total) == pytest.approx((expected.low, expected.high), abs=1e-6)


@given(st.integers(1, 400).flatmap(lambda total: st.tuples(st.integers(0, total), st.just(total))))
def test_wilson_contains_the_share_and_mirrors(counts):
    successes, total = counts
    low, high = wilson_interval(successes, total)
    assert 0 <= low <= successes / total + 1e-12
    assert successes / total - 1e-12 <= high <= 1
    mirrored = wilson_interval(total - successes, total)
    assert (1 - high, 1 - low) == pytest.approx(mirrored, abs=1e-12)


def test_wilson_default_z_is_the_normal_quantile():
    """97,5 % de la loi normale : un intervalle bilatéral à 95 %."""
    assert signature(wilson_interval).parameters["z"].default == pytest.approx(norm.ppf(0.975), abs=1e-6)


@pytest.mark.parametrize(
    ("successes", "total", "error", "message"),
    [
        pytest.param(0, 0, ValueError, "aucun essai", id="aucun-essai"),
        pytest.param(7, 6, ValueError, "impossible", id="plus-de-succes-que-d-essais"),
        pytest.param(-1, 6, ValueError, "impossible", id="negatif"),
        pytest.param(0.5, 6, TypeError, "entiers", id="proportion-au-lieu-d-un-compte"),
        pytest.param(math.nan, 6, TypeError, "entiers", id="nan"),
        pytest.param("6", 6, TypeError, "entiers", id="chaine"),
    ],
)
def test_wilson_bad_input(successes, total, error, message):
    with pytest.raises(error, match=message):
        wilson_interval(successes, total)


HUMANS = "rrrrrerrrrrerrrerrre"
JUDGE = "rrrrrrrrrrrerrrrrrre"


@pytest.mark.parametrize(
    ("labels_a", "labels_b", "expected"),
    [
        pytest.param(HUMANS, JUDGE, 8 / 13, id="S2-05"),
        pytest.param(HUMANS, "r" * 20, 0.0, id="S2-06-toujours-r"),
        pytest.param([0] * 19 + [1], [0] * 18 + [1, 0], -1 / 19, id="paradoxe-du-kappa"),
        pytest.param("AABB", "BBAA", -1.0, id="desaccord-total"),
        pytest.param("AB", "AB", 1.0, id="accord-total"),
        pytest.param("AAAA", "BBBB", 0.0, id="constantes-differentes"),
    ],
)
def test_kappa_known_values(labels_a, labels_b, expected):
    """S2-05 : (20·18 − 296)/(400 − 296) = 64/104 = 8/13 = 0,6154 ; le paradoxe : (20·18 − 362)/(400 − 362)."""
    assert cohen_kappa(labels_a, labels_b) == pytest.approx(expected, abs=1e-12)


def test_kappa_undefined_when_both_are_the_same_constant():
    assert math.isnan(cohen_kappa("AAAA", "AAAA"))


LABELS = st.lists(st.tuples(st.sampled_from("ABC"), st.sampled_from("ABC")), min_size=2, max_size=60)


@given(LABELS)
def test_kappa_agrees_with_scikit_learn(pairs):
    labels_a, labels_b = zip(*pairs)
    if len(set(labels_a) | set(labels_b)) == 1:
        return  # 0/0 : traité à part, scikit-learn avertit
    expected = cohen_kappa_score(labels_a, labels_b)
    assert cohen_kappa(labels_a, labels_b) == pytest.approx(expected, abs=1e-9)


@given(LABELS)
def test_kappa_is_symmetric_and_at_most_one(pairs):
    labels_a, labels_b = zip(*pairs)
    value = cohen_kappa(labels_a, labels_b)
    if not math.isnan(value):
        assert -1 <= value <= 1
        assert value == cohen_kappa(labels_b, labels_a)


@pytest.mark.parametrize(
    ("labels_a", "labels_b", "message"),
    [pytest.param("AB", "A", "une étiquette", id="longueurs"), pytest.param("", "", "aucune étiquette", id="vide")],
)
def test_kappa_bad_input(labels_a, labels_b, message):
    with pytest.raises(ValueError, match=message):
        cohen_kappa(labels_a, labels_b)


# --- Table de confusion, PABAK, AC1, kappa pondéré ------------------------------------------------------------


def expand(table, levels):
    """Deux suites d'étiquettes qui ont cette table de confusion."""
    cells = [(a, b) for a, row in zip(levels, table) for b, count in zip(levels, row) for _ in range(count)]
    return [a for a, _ in cells], [b for _, b in cells]


# Table et coefficients publiés par Gwet (paquet irrCAC, jeu cont3x3abstractors).
ABSTRACTORS = expand([[13, 0, 0], [0, 20, 7], [0, 4, 56]], "EAN")
FEEDBACK = json.loads((DATA / "agregats.json").read_text(encoding="utf-8"))["feedbackqa_valid"]
SCALE = (1, 2, 3, 4)
PERSON_1, PERSON_2 = expand(FEEDBACK["table_personne1_personne2"], SCALE)


def test_confusion_matrix_of_the_source():
    """S2-02 : [[16, 0], [2, 2]] ; en ligne la personne, en colonne le juge."""
    assert confusion_matrix(HUMANS, JUDGE, "re") == [[16, 0], [2, 2]]


@given(LABELS)
def test_confusion_matrix_agrees_with_scikit_learn(pairs):
    labels_a, labels_b = zip(*pairs)
    expected = metrics.confusion_matrix(labels_a, labels_b, labels=list("ABC")).tolist()
    assert confusion_matrix(labels_a, labels_b, "ABC") == expected


@pytest.mark.parametrize(
    ("function", "labels_a", "labels_b", "levels", "expected"),
    [
        pytest.param(pabak, HUMANS, JUDGE, "re", 0.8, id="S2-06-PABAK"),
        pytest.param(gwet_ac1, HUMANS, JUDGE, "re", (0.9 - 0.255) / 0.745, id="S2-06-AC1"),
        pytest.param(pabak, *ABSTRACTORS, "EAN", 0.835, id="irrCAC-BP"),
        pytest.param(gwet_ac1, *ABSTRACTORS, "EAN", 0.84933, id="irrCAC-AC1"),
        pytest.param(gwet_ac1, "rrrr", "rrrr", "re", 1.0, id="constantes-AC1"),
        pytest.param(pabak, "rrrr", "eeee", "re", -1.0, id="desaccord-total-PABAK"),
    ],
)
def test_other_coefficients(function, labels_a, labels_b, levels, expected):
    """AC1 de S2-06 : part de « r » 34/40 = 0,85, hasard 2 × 0,85 × 0,15 = 0,255, donc 0,645/0,745 = 0,866."""
    assert function(labels_a, labels_b, levels) == pytest.approx(expected, abs=5e-6)


def test_published_values_of_the_source():
    """S2-06 : kappa 0 du juge constant, AC1 0,866, MCC 0,667 ; kappa publié par irrCAC."""
    assert gwet_ac1(HUMANS, JUDGE, "re") == pytest.approx(0.866, abs=5e-4)
    assert metrics.matthews_corrcoef(list(HUMANS), list(JUDGE)) == pytest.approx(0.667, abs=5e-4)
    assert cohen_kappa(*ABSTRACTORS) == pytest.approx(0.7964094, abs=5e-8)
    # E-20 : kappas entre votes humains et GPT-4 sur MT-Bench, avec puis sans égalité.
    counts = json.loads((DATA / "agregats.json").read_text(encoding="utf-8"))["mtbench"]["confusion_vote_human_x_gpt4"]
    votes = [(key.split("|")[0], key.split("|")[1].split(" ")[0]) for key, count in counts.items() for _ in range(count)]
    assert cohen_kappa(*zip(*votes)) == pytest.approx(0.483, abs=5e-4)
    assert cohen_kappa(*zip(*(vote for vote in votes if "tie" not in vote))) == pytest.approx(0.712, abs=5e-4)


@given(LABELS, st.sampled_from([(1, "linear"), (2, "quadratic")]))
def test_weighted_kappa_agrees_with_scikit_learn(pairs, weighting):
    power, name = weighting
    labels_a, labels_b = ([" ABC".index(label) for label in side] for side in zip(*pairs))
    value = weighted_kappa(labels_a, labels_b, (1, 2, 3), power)
    if len(set(labels_a) | set(labels_b)) == 1:
        assert math.isnan(value)
    else:
        expected = metrics.cohen_kappa_score(labels_a, labels_b, labels=[1, 2, 3], weights=name)
        assert value == pytest.approx(expected, abs=1e-9)


@given(LABELS.map(lambda pairs: [("A" if a == "A" else "B", "A" if b == "A" else "B") for a, b in pairs]))
def test_two_levels_weighted_kappa_is_kappa(pairs):
    """Avec deux niveaux, tout désaccord a le même poids."""
    labels_a, labels_b = zip(*pairs)
    plain = cohen_kappa(labels_a, labels_b)
    assert weighted_kappa(labels_a, labels_b, "AB") == pytest.approx(plain, abs=1e-9, nan_ok=True)


@pytest.mark.parametrize("function", [confusion_matrix, pabak, gwet_ac1, weighted_kappa])
@pytest.mark.parametrize(
    ("labels_a", "labels_b", "levels", "message"),
    [
        pytest.param([1, 2], [1], SCALE, "une étiquette", id="longueurs"),
        pytest.param([], [], SCALE, "aucune étiquette", id="vide"),
        pytest.param([1, 5], [1, 4], SCALE, "note 5 hors de l'échelle", id="note-hors-echelle"),
        pytest.param([1, math.nan], [1, 4], SCALE, "note nan hors de l'échelle", id="note-nan"),
        pytest.param([1, 1], [1, 1], (1,), "au moins deux niveaux", id="un-seul-niveau"),
        pytest.param([1, 1], [1, 1], (1, 2, 2), "tous différents", id="niveau-repete"),
    ],
)
def test_labels_bad_input(function, labels_a, labels_b, levels, message):
    with pytest.raises(ValueError, match=message):
        function(labels_a, labels_b, levels)


def test_weighted_kappa_bad_power():
    with pytest.raises(ValueError, match="puissance 0"):
        weighted_kappa([1, 2], [1, 2], SCALE, 0)


# --- Alpha de Krippendorff ------------------------------------------------------------------------------------

N = None
# Krippendorff (2011), « Computing Krippendorff's Alpha-Reliability » : quatre juges, douze unités, notes manquantes.
FOUR_JUDGES = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, N, N, N],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, N, 3],
    [N, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, N],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, N],
]


@pytest.mark.parametrize(("metric", "expected"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)])
def test_alpha_published_example(metric, expected):
    assert krippendorff_alpha(FOUR_JUDGES, metric) == pytest.approx(expected, abs=5e-4)
    with_nan = [[math.nan if note is None else note for note in notes] for notes in FOUR_JUDGES]
    assert krippendorff_alpha(with_nan, metric) == krippendorff_alpha(FOUR_JUDGES, metric)


def test_alpha_by_hand():
    """« AAB » et « ABB » : trois A et trois B ; D_o = 2/6, D_e = 2·3·3/(6·5) = 0,6, alpha = 1 − 5/9 = 4/9."""
    assert krippendorff_alpha(["AAB", "ABB"]) == pytest.approx(4 / 9, abs=1e-12)


RATINGS = st.integers(2, 4).flatmap(
    lambda judges: st.lists(st.lists(st.integers(1, 4), min_size=judges, max_size=judges), min_size=2, max_size=12)
)


@given(RATINGS, st.sampled_from([("nominal", binary_distance), ("interval", interval_distance)]))
def test_alpha_agrees_with_nltk(units, metric):
    name, distance = metric
    triples = [(str(judge), str(unit), note) for unit, notes in enumerate(units) for judge, note in enumerate(notes)]
    if len({note for _, _, note in triples}) == 1:
        assert math.isnan(krippendorff_alpha(list(zip(*units)), name))
        return
    expected = AnnotationTask(data=triples, distance=distance).alpha()
    assert krippendorff_alpha(list(zip(*units)), name) == pytest.approx(expected, abs=1e-9)


@given(RATINGS)
def test_ordinal_alpha_depends_on_order_only(units):
    """Une transformation croissante des notes ne change pas l'alpha ordinal."""
    ratings = list(zip(*units))
    stretched = [[note**3 for note in notes] for notes in ratings]
    expected = krippendorff_alpha(ratings, "ordinal")
    assert krippendorff_alpha(stretched, "ordinal") == pytest.approx(expected, abs=1e-9, nan_ok=True)


@pytest.mark.parametrize(
    ("ratings", "metric", "message"),
    [
        pytest.param([[1, 2]], "nominal", "au moins deux", id="un-seul-juge"),
        pytest.param([], "nominal", "au moins deux", id="aucun-juge"),
        pytest.param([[1, 2], [1]], "nominal", "mettez None", id="longueurs"),
        pytest.param([[1, 2], [1, 2]], "ratio", "métrique 'ratio' inconnue", id="metrique"),
        pytest.param([[1, N], [N, 2]], "nominal", "aucune unité", id="aucune-unite-commune"),
    ],
)
def test_alpha_bad_input(ratings, metric, message):
    with pytest.raises(ValueError, match=message):
        krippendorff_alpha(ratings, metric)


# --- Notes sur une échelle ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "low", "high", "expected"),
    [
        pytest.param("Sur la COVID-19, tout est exact.\nNote : 3", 1, 4, 3.0, id="S4-05-covid"),
        pytest.param("La COVID-19 est bien décrite : 3", 1, 4, None, id="E-14-covid-sans-ligne-de-note"),
        pytest.param("Note : 7,5", 0, 10, 7.5, id="E-14-virgule"),
        pytest.param("7.5/10", 0, 10, 7.5, id="point-et-denominateur"),
        pytest.param("-1", 0, 10, None, id="E-14-negatif"),
        pytest.param("−1", 0, 10, None, id="negatif-typographique"),
        pytest.param("-1", -2, 2, -1.0, id="echelle-negative"),
        pytest.param("Sur 4 critères, 3", 1, 4, None, id="E-14-sur-quatre-criteres"),
        pytest.param("Note : 2\nNote : 3\nNote : 4\nNote : 1", 1, 4, None, id="E-14-ligne-1976"),
        pytest.param("Note : 3\nNote : 3", 1, 4, 3.0, id="deux-fois-la-meme"),
        pytest.param("Note\u00a0: 3\u202f/\u202f4", 1, 4, 3.0, id="espaces-insecables"),
        pytest.param("**Note totale : 3**\n", 1, 4, 3.0, id="gras"),
        pytest.param("Note : 3 sur 4", 1, 4, 3.0, id="sur-le-maximum"),
        pytest.param("Note : 3/5", 1, 4, None, id="autre-denominateur"),
        pytest.param("Note : 12", 0, 10, None, id="hors-echelle"),
        pytest.param("Note : 3\nVoilà.", 1, 4, None, id="note-suivie-de-texte"),
        pytest.param("<think>Note : 2</think>\nNote : 3", 1, 4, 3.0, id="reflexion-fermee"),
        pytest.param("trois", 1, 4, None, id="en-lettres"),
        pytest.param("", 1, 4, None, id="vide"),
        pytest.param(" \n ", 1, 4, None, id="blancs"),
        pytest.param(None, 1, 4, None, id="absente"),
    ],
)
def test_extract_score(text, low, high, expected):
    assert extract_score(text, low, high) == expected


@given(st.text(max_size=60))
def test_extract_score_never_leaves_the_scale(text):
    score = extract_score(text, 1, 4)
    assert score is None or 1 <= score <= 4


@pytest.mark.parametrize(
    ("scores", "expected"), [pytest.param([0, 5, 10], [1, 2.5, 4], id="E-24"), pytest.param([10 / 3], [2], id="E-24-tiers")]
)
def test_change_scale(scores, expected):
    """E-24 : 1 + 3x/10 porte 0–10 sur 1–4."""
    assert [change_scale(score, 0, 10, 1, 4) for score in scores] == pytest.approx(expected, abs=1e-12)


def test_correlation_of_the_real_raters():
    """feedbackQA, partie « valid » : Pearson 0,584 (S4-02) ; rangs moyens et Spearman comme scipy."""
    assert pearson(PERSON_1, PERSON_2) == pytest.approx(FEEDBACK["pearson"], abs=5e-4)
    assert average_ranks([10, 20, 20, 30]) == [1, 2.5, 2.5, 4]


@given(st.lists(st.tuples(st.integers(-9, 9), st.integers(-9, 9)), min_size=2, max_size=40))
def test_correlations_agree_with_scipy(pairs):
    x, y = zip(*pairs)
    if len(set(x)) == 1 or len(set(y)) == 1:
        assert math.isnan(pearson(x, y)) and math.isnan(spearman(x, y))
        return
    assert pearson(x, y) == pytest.approx(stats.pearsonr(x, y)[0], abs=1e-9)
    assert spearman(x, y) == pytest.approx(stats.spearmanr(x, y)[0], abs=1e-9)
    assert average_ranks(x) == stats.rankdata(x).tolist()


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=2, max_size=40))
def test_all_correlations_are_one_on_two_labels(pairs):
    """Sur deux étiquettes, Pearson, Spearman et MCC sont le même nombre."""
    x, y = ([int(value) for value in side] for side in zip(*pairs))
    if len(set(x)) == 2 and len(set(y)) == 2:
        assert pearson(x, y) == pytest.approx(metrics.matthews_corrcoef(x, y), abs=1e-9)
        assert pearson(x, y) == pytest.approx(spearman(x, y), abs=1e-9)


@pytest.mark.parametrize(
    ("reliability", "factor", "expected"),
    [
        pytest.param(0.563, 2, 0.720, id="S4-11"),
        pytest.param(0.5, 2, 2 / 3, id="un-demi"),
        pytest.param(0.5, 1, 0.5, id="une-seule-note"),
        pytest.param(0.0, 10, 0.0, id="bruit-pur"),
        pytest.param(1.0, 10, 1.0, id="sans-bruit"),
    ],
)
def test_spearman_brown(reliability, factor, expected):
    assert spearman_brown(reliability, factor) == pytest.approx(expected, abs=5e-4)


def test_noise_ceiling_of_the_source():
    """S4-11 : racine de 0,563 = 0,750, racine de 0,720 = 0,849."""
    assert math.sqrt(0.563) == pytest.approx(0.750, abs=5e-4)
    assert math.sqrt(spearman_brown(0.563)) == pytest.approx(0.849, abs=5e-4)


# --- Corriger un taux -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rate", "sensitivity", "specificity", "expected"),
    [
        pytest.param(0.90, 1.0, 0.5, 0.80, id="S2-Rogan-Gladen"),
        pytest.param(0.41, 0.9, 0.8, 0.30, id="a-la-main"),
        pytest.param(0.7, 1.0, 1.0, 0.7, id="juge-parfait"),
        pytest.param(0.3, 0.0, 0.0, 0.7, id="juge-inverse"),
        pytest.param(0.05, 0.9, 0.8, 0.0, id="borne-basse"),
        pytest.param(0.99, 0.9, 0.8, 1.0, id="borne-haute"),
        pytest.param(1.0, 1.0, 0.0, math.nan, id="juge-constant"),
        pytest.param(0.6, 0.6, 0.4, math.nan, id="juge-au-hasard"),
    ],
)
def test_rogan_gladen(rate, sensitivity, specificity, expected):
    assert rogan_gladen(rate, sensitivity, specificity) == pytest.approx(expected, abs=1e-9, nan_ok=True)


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1))
def test_rogan_gladen_undoes_the_errors(truth, sensitivity, specificity):
    """Le taux que donnerait le juge, corrigé, rend le vrai taux."""
    if abs(sensitivity + specificity - 1) > 0.01:
        rate = truth * sensitivity + (1 - truth) * (1 - specificity)
        assert rogan_gladen(min(1.0, rate), sensitivity, specificity) == pytest.approx(truth, abs=1e-9)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        pytest.param(lambda: rogan_gladen(18, 1, 0.5), ValueError, "rate vaut 18", id="compte-au-lieu-d-une-part"),
        pytest.param(lambda: rogan_gladen(0.9, math.nan, 0.5), ValueError, "sensitivity vaut nan", id="nan"),
        pytest.param(lambda: rogan_gladen(0.9, 1, -0.1), ValueError, "specificity", id="part-negative"),
        pytest.param(lambda: spearman_brown(-0.2), ValueError, "entre 0 et 1", id="fidelite-negative"),
        pytest.param(lambda: spearman_brown(0.5, 0), ValueError, "facteur 0", id="facteur-nul"),
        pytest.param(lambda: change_scale(11, 0, 10, 1, 4), ValueError, "note 11 hors de son échelle", id="note-hors-echelle"),
        pytest.param(lambda: change_scale(math.nan, 0, 10, 1, 4), ValueError, "note nan", id="note-nan"),
        pytest.param(lambda: change_scale(1, 10, 0, 1, 4), ValueError, "corrigez les bornes", id="bornes"),
        pytest.param(lambda: pearson([1], [1]), ValueError, "au moins deux", id="une-seule-note"),
        pytest.param(lambda: spearman([1, 2], [1]), ValueError, "même longueur", id="longueurs-spearman"),
        pytest.param(lambda: extract_score("3", 4, 4), ValueError, "elle est vide", id="echelle-vide"),
        pytest.param(lambda: extract_score(3, 1, 4), TypeError, "donnez le texte", id="note-non-texte"),
    ],
)
def test_scores_bad_input(call, error, message):
    with pytest.raises(error, match=message):
        call()


# --- Les biais de place et de longueur, comptés sur les données de la source -----------------------------------

ROWS = [line.split()[1:] for line in json.loads((DATA / "agregats.json").read_text(encoding="utf-8"))["graine_002"][
    "lignes_longueurA_longueurB_choix1_choix2"]]


def longest_wins(rows, column):
    uneven = [row for row in rows if row[0] != row[1]]
    return sum((int(row[0]) > int(row[1])) == (row[column] == "A") for row in uneven), len(uneven)


def test_swap_and_length_counts():
    """S2-08 : 5/12, dont 4 pour la première place ; S2-09 : 9/11 ; S2-10 : 8/11, et 6/6 sur les paires stables ; E-29."""
    changed = [row for row in ROWS if row[2] != row[3]]
    assert (len(changed), len(ROWS)) == (5, 12)
    assert [row[2] for row in changed].count("A") == 4
    assert binomtest(4, 5).pvalue == pytest.approx(0.375, abs=1e-12)
    assert longest_wins(ROWS, 2) == (9, 11) and binomtest(9, 11).pvalue == pytest.approx(0.065, abs=5e-4)
    assert longest_wins(ROWS, 3) == (8, 11)
    assert longest_wins([row for row in ROWS if row[2] == row[3]], 2) == (6, 6)
    # S2-11 : alarme à 1/4 de renversements, à 3/4 pour le plus long ; le second passage reste au-dessous.
    assert 5 / 12 >= 1 / 4 and 9 / 11 >= 3 / 4 > 8 / 11
