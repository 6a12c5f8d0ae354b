"""Intervalle de Wilson et kappa de Cohen : valeurs à la main, scipy et scikit-learn, propriétés."""

import math
from inspect import signature

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, norm
from sklearn.metrics import cohen_kappa_score

from helpers.agreement import cohen_kappa, wilson_interval


# Valeurs recalculées et arrondies dans CONTENU (S0-02 à S2-09), jamais reprises de notre sortie.
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
