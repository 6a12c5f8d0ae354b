"""Benchmarks : valeurs comptées à la main, énumérées, publiées, ou rendues par scipy et numpy. Jamais les nôtres."""

import math
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import nbformat
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, norm, ttest_rel

from helpers.benchmarks import (
    biased_pass_at_k,
    check_scores,
    clustered_standard_error,
    contamination,
    mcnemar_exact,
    paired_difference,
    pass_at_k,
    required_questions,
    standard_error,
)

SAMPLES = st.integers(1, 60).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(1, n)))


@pytest.mark.parametrize(
    ("n", "correct", "k", "unbiased", "biased"),
    [
        pytest.param(10, 3, 1, Fraction(3, 10), Fraction(3, 10), id="S3-26-k1"),
        pytest.param(10, 3, 5, 1 - Fraction(21, 252), 1 - Fraction(7, 10) ** 5, id="S3-26-k5"),
        pytest.param(10, 3, 8, Fraction(1), 1 - Fraction(7, 10) ** 8, id="S3-26-moins-de-rates-que-k"),
        pytest.param(4, 2, 2, Fraction(5, 6), Fraction(3, 4), id="S3-26-question-1"),
        pytest.param(5, 0, 3, Fraction(0), Fraction(0), id="aucun-reussi"),
        pytest.param(5, 5, 3, Fraction(1), Fraction(1), id="tous-reussis"),
        pytest.param(200, 1, 100, Fraction(1, 2), 1 - Fraction(199, 200) ** 100, id="un-sur-200"),
    ],
)
def test_pass_at_k_a_la_main(n, correct, k, unbiased, biased):
    """1 − C(n−c, k)/C(n, k) et 1 − (1 − c/n)^k, en fractions."""
    assert pass_at_k(n, correct, k) == pytest.approx(float(unbiased), abs=1e-12)
    assert biased_pass_at_k(n, correct, k) == pytest.approx(float(biased), abs=1e-12)


@pytest.mark.parametrize("n", range(1, 9))
def test_pass_at_k_contre_enumeration(n):
    """Tous les tirages de k essais parmi n, comptés un à un."""
    for correct in range(n + 1):
        for k in range(1, n + 1):
            draws = list(combinations([1] * correct + [0] * (n - correct), k))
            assert pass_at_k(n, correct, k) == pytest.approx(sum(map(any, draws)) / len(draws), abs=1e-12)


@given(SAMPLES)
def test_pass_at_k_contre_l_ecriture_de_chen(sample):
    """Implémentation publiée par Chen et al. (2021), figure 3 : produit de 1 − k/i."""
    n, correct, k = sample
    expected = 1.0 if n - correct < k else 1.0 - np.prod(1.0 - k / np.arange(n - correct + 1, n + 1))
    assert pass_at_k(n, correct, k) == pytest.approx(expected, abs=1e-9)


@given(SAMPLES)
def test_pass_at_k_proprietes(sample):
    """Entre 0 et 1, jamais sous la formule naïve, et croissant avec k."""
    n, correct, k = sample
    value = pass_at_k(n, correct, k)
    assert -1e-12 <= value <= 1 + 1e-12
    assert biased_pass_at_k(n, correct, k) <= value + 1e-12
    if k < n:
        assert value <= pass_at_k(n, correct, k + 1) + 1e-12


def test_pass_at_k_ne_deborde_pas():
    """Entiers exacts de Python pour un cas dont C(n, k) ne tient pas dans un flottant."""
    exact = 1 - Fraction(math.comb(1995, 1000), math.comb(2000, 1000))
    assert pass_at_k(2000, 5, 1000) == pytest.approx(float(exact), abs=1e-12)


@pytest.mark.parametrize("estimator", [pass_at_k, biased_pass_at_k])
@pytest.mark.parametrize(
    ("n", "correct", "k", "error", "message"),
    [
        pytest.param(10, 3, 11, ValueError, "k = 11 hors de 1..10", id="k-plus-grand-que-n"),
        pytest.param(10, 3, 0, ValueError, "k = 0 hors", id="k-nul"),
        pytest.param(10, 11, 2, ValueError, "11 essais réussis sur 10", id="c-plus-grand-que-n"),
        pytest.param(10, -1, 2, ValueError, "impossible", id="c-negatif"),
        pytest.param(0, 0, 1, ValueError, "aucun essai", id="aucun-essai"),
        pytest.param(-3, 0, 1, ValueError, "aucun essai", id="n-negatif"),
        pytest.param(10, 0.3, 1, TypeError, "correct : entier attendu", id="proportion"),
        pytest.param("10", 3, 1, TypeError, "n : entier attendu", id="chaine"),
        pytest.param(10, 3, True, TypeError, "k : entier attendu", id="booleen"),
    ],
)
def test_pass_at_k_mauvaises_entrees(estimator, n, correct, k, error, message):
    with pytest.raises(error, match=message):
        estimator(n, correct, k)


ITEM = "le train part de Lyon à huit heures".split()


@pytest.mark.parametrize(
    ("item", "corpus", "n", "expected"),
    [
        pytest.param(ITEM, [ITEM], 8, 1.0, id="copie"),
        pytest.param(ITEM, [], 3, 0.0, id="corpus-vide"),
        pytest.param(ITEM, ["le train part à huit heures".split()], 3, 2 / 6, id="deux-trigrammes-sur-six"),
        pytest.param(ITEM, ["le train".split(), "part de Lyon".split()], 3, 1 / 6, id="pas-d-un-document-a-l-autre"),
        pytest.param("a b a b a".split(), ["a b".split()], 2, 1 / 2, id="n-grammes-distincts"),
    ],
)
def test_contamination(item, corpus, n, expected):
    assert contamination(item, corpus, n) == pytest.approx(expected, abs=1e-12)


def test_contamination_d_un_enonce_trop_court():
    """Sept mots et n = 8 : aucun n-gramme, donc aucune réponse, et surtout pas 0."""
    assert math.isnan(contamination(ITEM[:7], [ITEM], 8))


def test_contamination_mauvaises_entrees():
    with pytest.raises(TypeError, match="énoncé"):
        contamination("le train", [ITEM])
    with pytest.raises(TypeError, match="document"):
        contamination(ITEM, ["le train part"])
    with pytest.raises(ValueError):
        contamination(ITEM, [ITEM], 0)


SCORES = st.lists(st.floats(0, 1), min_size=2, max_size=40)


@given(SCORES)
def test_erreur_type_contre_numpy(scores):
    expected = np.std(scores, ddof=1) / math.sqrt(len(scores))
    assert standard_error(scores) == pytest.approx(expected, abs=1e-9)


def test_erreurs_types_a_la_main():
    """Quatre scores 1, 1, 0, 0 : variance sans biais 1/3, erreur type racine de 1/12."""
    scores = [1, 1, 0, 0]
    assert standard_error(scores) == pytest.approx(math.sqrt(1 / 12), abs=1e-12)
    # Grappes homogènes : produits croisés 2·(1/4) + 2·(1/4) = 1, divisés par 16.
    assert clustered_standard_error(scores, "aabb") == pytest.approx(math.sqrt(1 / 12 + 1 / 16), abs=1e-12)
    # Grappes mêlées : les écarts s'annulent, les produits croisés valent −1.
    assert clustered_standard_error(scores, "abab") == pytest.approx(math.sqrt(1 / 12 - 1 / 16), abs=1e-12)


@given(SCORES)
def test_grappes_d_une_question(scores):
    """Une question par grappe : les deux erreurs types sont égales."""
    assert clustered_standard_error(scores, list(range(len(scores)))) == pytest.approx(standard_error(scores), abs=1e-9)


@given(st.lists(st.tuples(st.floats(0, 1), st.integers(0, 4)), min_size=2, max_size=20))
def test_grappes_contre_la_double_somme(rows):
    """La formule de Miller écrite mot à mot, avec sa double somme."""
    scores, clusters = [row[0] for row in rows], [row[1] for row in rows]
    mean, n = sum(scores) / len(scores), len(scores)
    cross = sum(
        (scores[i] - mean) * (scores[j] - mean)
        for i in range(n) for j in range(n) if i != j and clusters[i] == clusters[j]
    )
    expected = np.var(scores, ddof=1) / n + cross / n**2
    assert clustered_standard_error(scores, clusters) == pytest.approx(math.sqrt(max(0, expected)), abs=1e-7)


@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=2, max_size=60))
def test_ecart_apparie_contre_scipy(rows):
    """t de Student apparié : écart divisé par son erreur type."""
    a, b = [row[0] for row in rows], [row[1] for row in rows]
    gap, error = paired_difference(a, b)
    assert gap == pytest.approx(np.mean(a) - np.mean(b), abs=1e-12)
    if error > 0:
        assert gap / error == pytest.approx(ttest_rel(a, b).statistic, abs=1e-9)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        pytest.param(lambda: standard_error([1]), "au moins deux", id="une-question"),
        pytest.param(lambda: standard_error([]), "au moins deux", id="aucune-question"),
        pytest.param(lambda: check_scores([1, math.nan]), "fini", id="nan"),
        pytest.param(lambda: paired_difference([1, 0], [1, 0, 1]), "mêmes questions", id="longueurs"),
        pytest.param(lambda: clustered_standard_error([1, 0], "a"), "la grappe de chaque question", id="grappes"),
        pytest.param(lambda: required_questions(0, 0.5), "non nul", id="ecart-nul"),
        pytest.param(lambda: required_questions(math.nan, 0.5), "fini", id="ecart-nan"),
        pytest.param(lambda: required_questions(0.1, 0), "positif", id="ecart-type-nul"),
        pytest.param(lambda: required_questions(0.1, 0.5, power=1), "exclus", id="puissance-1"),
        pytest.param(lambda: mcnemar_exact(-1, 3), "impossible", id="compte-negatif"),
    ],
)
def test_mauvaises_entrees(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_mcnemar_veut_des_entiers():
    with pytest.raises(TypeError, match="entier attendu"):
        mcnemar_exact(1.5, 2)


@pytest.mark.parametrize(
    ("only_a", "only_b", "expected"),
    [pytest.param(0, 0, 1.0, id="aucun-desaccord"), pytest.param(5, 5, 1.0, id="egalite"),
     pytest.param(6, 0, 2 / 64, id="six-a-zero"), pytest.param(1, 3, 10 / 16, id="un-a-trois")],
)
def test_mcnemar_a_la_main(only_a, only_b, expected):
    assert mcnemar_exact(only_a, only_b) == pytest.approx(expected, abs=1e-12)


@given(st.integers(0, 80), st.integers(0, 80))
def test_mcnemar_contre_scipy(only_a, only_b):
    if only_a + only_b:
        assert mcnemar_exact(only_a, only_b) == pytest.approx(binomtest(only_a, only_a + only_b).pvalue, abs=1e-9)
    assert mcnemar_exact(only_a, only_b) == mcnemar_exact(only_b, only_a)


@pytest.mark.parametrize(("gap", "deviation", "expected"),
                         [pytest.param(0.5, 1, 32, id="demi-ecart-type"), pytest.param(-0.05, 0.5, 785, id="negatif")])
def test_nombre_de_questions_a_la_main(gap, deviation, expected):
    """(1,959964 + 0,841621)² = 7,848879 ; fois 4 puis fois 100, arrondi au-dessus."""
    assert required_questions(gap, deviation) == expected


@given(st.floats(0.01, 0.5), st.floats(0.1, 1.0))
def test_le_nombre_de_questions_suffit_et_est_le_plus_petit(gap, deviation):
    """Puissance recalculée avec scipy : au moins 80 % avec n, moins avec n − 1."""
    n = required_questions(gap, deviation)

    def power(size):
        return norm.cdf(gap * math.sqrt(size) / deviation - norm.ppf(0.975))

    assert power(n) >= 0.8 - 1e-9
    assert n == 1 or power(n - 1) < 0.8 + 1e-9


@pytest.mark.parametrize(
    ("code", "llama", "falcon"),
    [pytest.param("HELM", 0.637, 0.571, id="HELM"), pytest.param("Harness", 0.488, 0.527, id="Harness"),
     pytest.param("code d'origine", 0.636, 0.558, id="origine")],
)
def test_les_trois_scores_mmlu_sont_ceux_du_billet(code, llama, falcon):
    """la sortie enregistrée de la leçon les affiche."""
    notebook = nbformat.read(Path(__file__).parent.parent / "notebooks" / "09_benchmarks.ipynb", as_version=4)
    printed = "\n".join(output.get("text", "") for cell in notebook.cells for output in cell.get("outputs", []))
    line = next(line for line in printed.splitlines() if line.startswith(code) and "LLaMA-65B" in line)
    assert f"LLaMA-65B {llama:.3f}" in line and f"Falcon-40B {falcon:.3f}" in line
