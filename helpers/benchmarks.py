"""Mesures de benchmark : pass@k, contamination, erreurs types, comparaison appariée (leçon 09).

Un score vaut entre 0 et 1 par question (0 ou 1 quand la réponse est juste ou fausse) ; les erreurs types sont dans
la même unité.
"""

import math
from collections import defaultdict
from numbers import Integral
from statistics import NormalDist

from helpers.bleu import ngrams
from helpers.tokens import check_tokens


def check_samples(n: int, correct: int, k: int) -> None:
    """Vérifie les trois comptes de pass@k.

    Args:
        n: nombre d'essais.
        correct: nombre d'essais réussis.
        k: nombre d'essais tirés.
    Raises:
        TypeError: un compte n'est pas un entier.
        ValueError: 1 ≤ k ≤ n ou 0 ≤ correct ≤ n n'est pas vrai.
    """
    for name, value in (("n", n), ("correct", correct), ("k", k)):
        if not isinstance(value, Integral) or isinstance(value, bool):
            raise TypeError(f"{name} : entier attendu, {value!r} reçu ; donnez un nombre d'essais.")
    if n < 1:
        raise ValueError(f"n = {n} : aucun essai à tirer ; donnez au moins un essai.")
    if not 1 <= k <= n:
        raise ValueError(f"k = {k} hors de 1..{n} : on ne tire pas plus d'essais qu'il n'y en a ; "
                         "augmentez n ou baissez k.")
    if not 0 <= correct <= n:
        raise ValueError(f"{correct} essais réussis sur {n} est impossible ; donnez un compte entre 0 et {n}.")


def pass_at_k(n: int, correct: int, k: int) -> float:
    """pass@k sans biais : chance qu'un tirage de k essais, sans remise, parmi n, en contienne un réussi ; entre 0 et 1.

    Égal à 1 − C(n − correct, k) / C(n, k), écrit comme un produit de facteurs entre 0 et 1 : rien ne déborde.

    Args:
        n, correct, k: nombres d'essais, d'essais réussis, d'essais tirés.
    Raises:
        TypeError, ValueError: voir `check_samples`.
    Source:
        Chen et al. (2021), équation 1.
    """
    check_samples(n, correct, k)
    return 1.0 - math.prod((n - correct - i) / (n - i) for i in range(k))


def biased_pass_at_k(n: int, correct: int, k: int) -> float:
    """pass@k biaisé : 1 − (1 − correct/n)^k, comme si les k essais étaient tirés avec remise ; entre 0 et 1.

    Trop bas en moyenne dès que k > 1.

    Raises:
        TypeError, ValueError: voir `check_samples`.
    Source:
        Chen et al. (2021), annexe A.
    """
    check_samples(n, correct, k)
    return 1.0 - (1.0 - correct / n) ** k


def contamination(item: list[str], corpus: list[list[str]], n: int = 8) -> float:
    """Part des n-grammes distincts de `item` qui figurent dans l'un des documents de `corpus`, entre 0 et 1.

    Args:
        item: mots de l'énoncé.
        corpus: documents découpés.
        n: ordre des n-grammes, en mots.
    Returns:
        la part ; nan quand l'énoncé a moins de n mots : on ne peut rien en dire.
    Raises:
        TypeError: un texte n'est pas une liste de chaînes.
        ValueError: n ne convient pas.
    """
    check_tokens(item, "énoncé")
    seen = set()
    for document in corpus:
        check_tokens(document, "document")
        seen.update(ngrams(document, n))
    wanted = set(ngrams(item, n))
    if not wanted:
        return math.nan
    return len(wanted & seen) / len(wanted)


def check_scores(scores: list[float]) -> None:
    """Vérifie une suite de scores : au moins deux nombres, tous finis.

    Raises:
        ValueError: moins de deux scores, ou un score infini ou NaN.
    """
    if len(scores) < 2:
        raise ValueError(f"{len(scores)} score : l'erreur type en demande au moins deux ; "
                         "donnez un score par question.")
    if not all(math.isfinite(score) for score in scores):
        raise ValueError("un score n'est pas un nombre fini : comptez les questions sans score à part.")


def standard_error(scores: list[float]) -> float:
    """Erreur type de la moyenne de scores indépendants, dans l'unité des scores.

    Égale à la racine de (variance sans biais / nombre de questions).

    Args:
        scores: un score par question.
    Raises:
        ValueError: voir `check_scores`.
    Source:
        Miller (2024).
    """
    check_scores(scores)
    mean = math.fsum(scores) / len(scores)
    variance = math.fsum((score - mean) ** 2 for score in scores) / (len(scores) - 1)
    return math.sqrt(variance / len(scores))


def clustered_standard_error(scores: list[float], clusters: list) -> float:
    """Erreur type de la moyenne quand des questions vont par grappes (même texte, même thème).

    Ajoute à la variance de `standard_error` les produits d'écarts entre questions d'une même grappe.

    Args:
        scores: un score par question.
        clusters: grappe de chaque question, dans le même ordre.
    Raises:
        ValueError: longueurs différentes, ou voir `check_scores`.
    Source:
        Miller (2024).
    """
    if len(scores) != len(clusters):
        raise ValueError(f"{len(scores)} scores et {len(clusters)} grappes : donnez la grappe de chaque question.")
    independent = standard_error(scores)
    mean = math.fsum(scores) / len(scores)
    sums, squares = defaultdict(float), 0.0
    for score, cluster in zip(scores, clusters):
        sums[cluster] += score - mean
        squares += (score - mean) ** 2
    # Σ_i Σ_{j≠i} e_i e_j dans une grappe vaut (Σ e)² − Σ e².
    cross_products = math.fsum(total**2 for total in sums.values()) - squares
    return math.sqrt(max(0.0, independent**2 + cross_products / len(scores) ** 2))


def paired_difference(scores_a: list[float], scores_b: list[float]) -> tuple[float, float]:
    """Écart moyen de A à B sur les mêmes questions, et son erreur type appariée.

    Args:
        scores_a, scores_b: scores de A et de B, question par question.
    Returns:
        (écart, erreur type), dans l'unité des scores.
    Raises:
        ValueError: longueurs différentes, ou voir `check_scores`.
    Source:
        Miller (2024).
    """
    if len(scores_a) != len(scores_b):
        raise ValueError(f"{len(scores_a)} scores pour A et {len(scores_b)} pour B : donnez ceux des mêmes questions.")
    differences = [a - b for a, b in zip(scores_a, scores_b)]
    error = standard_error(differences)
    return math.fsum(differences) / len(differences), error


def mcnemar_exact(only_a: int, only_b: int) -> float:
    """p-valeur bilatérale du test de McNemar exact : seules comptent les questions qu'un seul modèle réussit.

    Args:
        only_a, only_b: nombres de questions que A, ou B, est seul à réussir.
    Returns:
        une probabilité ; 1 quand il n'y a aucune de ces questions.
    Raises:
        TypeError: un compte n'est pas un entier.
        ValueError: un compte est négatif.
    Source:
        McNemar (1947) ; forme exacte : test binomial à une chance sur deux.
    """
    for count in (only_a, only_b):
        if not isinstance(count, Integral) or isinstance(count, bool):
            raise TypeError(f"entier attendu, {count!r} reçu : donnez des nombres de questions.")
        if count < 0:
            raise ValueError(f"{count} questions est impossible : donnez un compte positif ou nul.")
    total = only_a + only_b
    tail = sum(math.comb(total, i) for i in range(min(only_a, only_b) + 1))
    return min(1.0, 2 * tail / 2**total)


def required_questions(gap: float, deviation: float, alpha: float = 0.05, power: float = 0.8) -> int:
    """Nombre de questions pour voir un écart `gap` avec la puissance voulue, au seuil bilatéral `alpha`.

    Args:
        gap: écart de moyenne à détecter, dans l'unité des scores ; non nul.
        deviation: écart type, question par question, de la différence des deux scores.
        alpha, power: risque de fausse alerte et puissance, entre 0 et 1 exclus.
    Raises:
        ValueError: un argument hors de son domaine.
    Source:
        Miller (2024) ; n = ((z₁₋α/₂ + z_puissance) · deviation / gap)².
    """
    if not math.isfinite(gap) or gap == 0:
        raise ValueError(f"écart {gap!r} : nombre fini et non nul attendu ; "
                         "donnez le plus petit écart à détecter.")
    if not 0 < deviation < math.inf:
        raise ValueError(f"écart type {deviation!r} : nombre fini et positif attendu ; mesurez-le sur un essai pilote.")
    if not 0 < alpha < 1 or not 0 < power < 1:
        raise ValueError(f"alpha = {alpha!r}, power = {power!r} : donnez deux probabilités entre 0 et 1 exclus.")
    z = NormalDist().inv_cdf(1 - alpha / 2) + NormalDist().inv_cdf(power)
    return math.ceil((z * deviation / gap) ** 2)
