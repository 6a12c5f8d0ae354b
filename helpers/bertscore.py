"""BERTScore écrit pour être lu (leçon 08) : un appariement glouton entre vecteurs de mots.

Source : Zhang, Kishore, Wu, Weinberger et Artzi (2020), « BERTScore: Evaluating Text Generation with BERT », ICLR.
Ordre des arguments : le candidat d'abord, la référence ensuite, comme dans bert-score.
Conventions de bert-score : un texte vide donne 0 partout ; F vaut 0 quand précision et rappel s'annulent.
"""

import math
from dataclasses import dataclass

import numpy as np

from helpers.tokens import Signature, check_tokens


@dataclass(frozen=True)
class BertScore:
    """Précision, rappel et F-mesure, entre −1 et 1 (des cosinus moyens), avec leur signature.

    Args:
        precision, recall, fmeasure: entre −1 et 1.
        signature: réglages du score.
    """

    precision: float
    recall: float
    fmeasure: float
    signature: Signature

    def __str__(self) -> str:
        return (f"{self.signature.metric} : précision {self.precision:.4f} ; rappel {self.recall:.4f} ; "
                f"F {self.fmeasure:.4f}\n  [{self.signature}]")


def check_vectors(vectors: np.ndarray, name: str) -> np.ndarray:
    """Rend `vectors` en tableau de flottants (mots, dimensions), après contrôle.

    Args:
        vectors: un vecteur par mot.
        name: nom de l'argument, pour le message.
    Raises:
        ValueError: autre forme, nombre qui n'est pas fini, ou vecteur nul.
    """
    array = np.asarray(vectors, dtype=np.float64)
    if array.ndim != 2:
        raise ValueError(f"{name} : tableau (mots, dimensions) attendu, {array.ndim} axe(s) reçu(s) ; "
                         "donnez un vecteur par mot.")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} : un nombre n'est pas fini ; ôtez le mot dont le vecteur manque.")
    if (np.linalg.norm(array, axis=1) == 0).any():
        raise ValueError(f"{name} : un vecteur est nul, son cosinus n'est pas défini ; ôtez le mot qui le porte.")
    return array


def cosine_matrix(candidate: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """Cosinus de chaque vecteur du candidat avec chaque vecteur de la référence.

    Args:
        candidate, reference: vecteurs, de formes (m, d) et (n, d).
    Returns:
        tableau de forme (m, n), de valeurs entre −1 et 1.
    Raises:
        ValueError: dimensions différentes, ou voir `check_vectors`.
    """
    candidate, reference = check_vectors(candidate, "candidat"), check_vectors(reference, "référence")
    if candidate.shape[1] != reference.shape[1]:
        raise ValueError(f"vecteurs de {candidate.shape[1]} et de {reference.shape[1]} dimensions : "
                         "prenez la même source.")
    candidate = candidate / np.linalg.norm(candidate, axis=1, keepdims=True)
    reference = reference / np.linalg.norm(reference, axis=1, keepdims=True)
    return candidate @ reference.T


def idf_weights(tokens: list[str], references: list[list[str]]) -> list[float]:
    """Poids idf de chaque mot de `tokens` : log((M + 1)/(m + 1)), pour m références sur M qui le contiennent.

    Un mot jamais vu a le plus grand poids, log(M + 1) ; un mot présent partout a un poids nul.

    Args:
        tokens: mots du texte à pondérer.
        references: références découpées, au moins une.
    Returns:
        un poids par mot, dans l'ordre du texte.
    Raises:
        TypeError: un texte n'est pas une liste de chaînes.
        ValueError: aucune référence.
    Source:
        Zhang et al. (2020), section 3, avec le lissage de bert-score.
    """
    check_tokens(tokens, "texte")
    if not references:
        raise ValueError("aucune référence, rien où compter les poids idf : donnez-en au moins une.")
    for number, reference in enumerate(references, start=1):
        check_tokens(reference, f"référence {number}")
    words = [set(reference) for reference in references]
    return [math.log((len(words) + 1) / (sum(token in known for known in words) + 1)) for token in tokens]


def check_weights(weights: list[float] | None, size: int, name: str) -> np.ndarray:
    """Poids normalisés à une somme de 1 ; égaux quand `weights` vaut None.

    Args:
        weights: un poids par mot, ou None.
        size: nombre de mots.
        name: nom de l'argument, pour le message.
    Raises:
        ValueError: autre nombre de poids que `size`, poids négatif ou non fini, ou tous nuls.
    """
    if weights is None:
        weights = [1.0] * size
    array = np.asarray(weights, dtype=np.float64)
    if array.shape != (size,):
        raise ValueError(f"{name} : {size} poids attendus, {array.size} reçus ; donnez un poids par mot.")
    if not np.isfinite(array).all() or (array < 0).any() or array.sum() == 0:
        raise ValueError(f"{name} : poids finis, positifs et non tous nuls attendus ; "
                         "comptez l'idf sur plus de références.")
    return array / array.sum()


def bert_score(candidate: np.ndarray, reference: np.ndarray, candidate_weights: list[float] | None = None,
               reference_weights: list[float] | None = None, vector_source: str = "non précisés",
               tokenization: str = "non précisée") -> BertScore:
    """BERTScore entre deux textes donnés par leurs vecteurs, de formes (m, d) et (n, d).

    Chaque mot du candidat prend son meilleur cosinus dans la référence (précision), et l'inverse (rappel).

    Args:
        candidate, reference: un vecteur par mot ; un texte vide (0 mot) donne un score nul.
        candidate_weights, reference_weights: un poids par mot (idf), ou None pour des poids égaux.
        vector_source, tokenization: d'où viennent les vecteurs et la découpe, pour la signature.
    Raises:
        ValueError: formes, vecteurs ou poids qui ne conviennent pas.
    Source:
        Zhang et al. (2020), section 3.
    """
    weighting = "égaux" if candidate_weights is None and reference_weights is None else "idf"
    signature = Signature("BERTScore", f"poids : {weighting}, vecteurs : {vector_source}", tokenization)
    if len(candidate) == 0 or len(reference) == 0:
        return BertScore(0.0, 0.0, 0.0, signature)
    similarities = cosine_matrix(candidate, reference)
    precision = float(check_weights(candidate_weights, len(candidate), "candidat") @ similarities.max(axis=1))
    recall = float(check_weights(reference_weights, len(reference), "référence") @ similarities.max(axis=0))
    total = precision + recall
    return BertScore(precision, recall, 2 * precision * recall / total if total else 0.0, signature)


def rescale(value: float, baseline: float) -> float:
    """Score remis à l'échelle : 0 pour `baseline` (ce qu'ont des textes sans rapport), 1 pour un score parfait.

    L'ordre des scores ne change pas ; un score sous la base devient négatif.

    Args:
        value: score entre −1 et 1.
        baseline: score moyen de textes sans rapport.
    Raises:
        ValueError: la base n'est pas dans [−1, 1[.
    Source:
        Zhang et al. (2020), section 3 ; bert-score, « Rescaling BERTScore with Baselines ».
    """
    if not -1 <= baseline < 1:
        raise ValueError(f"base {baseline!r} : nombre de [−1, 1[ attendu ; prenez la moyenne de paires sans rapport.")
    return (value - baseline) / (1 - baseline)
