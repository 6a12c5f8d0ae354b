"""Accord et incertitude : intervalle de Wilson et kappa de Cohen."""

import math
from collections import Counter
from collections.abc import Sequence
from numbers import Integral


def wilson_interval(successes: int, total: int, z: float = 1.959964) -> tuple[float, float]:
    """Intervalle de Wilson d'une proportion, `(bas, haut)`, tous deux entre 0 et 1.

    Contrairement à « p ± z·écart-type », il reste large quand la proportion observée vaut 0 ou 1.

    Args:
        successes: nombre de succès.
        total: nombre d'essais, supposés indépendants.
        z: quantile de la loi normale ; 1,959964 pour un intervalle à 95 %.
    Raises:
        TypeError: un compte n'est pas un entier.
        ValueError: aucun essai, ou des succès hors de [0, total].
    Source:
        Wilson (1927), Probable Inference, the Law of Succession, and Statistical Inference, JASA 22.
    """
    if not isinstance(successes, Integral) or not isinstance(total, Integral):
        raise TypeError("les succès et le total sont des comptes : donnez deux entiers.")
    if total < 1:
        raise ValueError("aucun essai : une proportion sur 0 n'est pas définie ; donnez un total d'au moins 1.")
    if not 0 <= successes <= total:
        raise ValueError(f"{successes} succès sur {total} est impossible : donnez un compte entre 0 et {total}.")
    share = successes / total
    denominator = 1 + z**2 / total
    center = (share + z**2 / (2 * total)) / denominator
    half_width = z * math.sqrt(share * (1 - share) / total + z**2 / (4 * total**2)) / denominator
    return max(0.0, center - half_width), min(1.0, center + half_width)


def cohen_kappa(labels_a: Sequence, labels_b: Sequence) -> float:
    """Kappa de Cohen entre deux suites d'étiquettes de même longueur.

    1 : accord parfait ; 0 : l'accord attendu du hasard ; négatif : moins que le hasard. Sans unité.
    Vaut nan quand le rapport est 0/0 : les deux suites sont la même constante.

    Args:
        labels_a, labels_b: étiquettes des deux juges, exemple par exemple (liste, tuple, ou texte d'une lettre par exemple).
    Raises:
        ValueError: suites vides ou de longueurs différentes.
    Source:
        Cohen (1960), A Coefficient of Agreement for Nominal Scales, équation 1, écrite en effectifs.
    """
    if len(labels_a) != len(labels_b):
        raise ValueError(f"{len(labels_a)} étiquettes d'un côté et {len(labels_b)} de l'autre : "
                         "donnez une étiquette de chaque juge par exemple.")
    if len(labels_a) == 0:
        raise ValueError("aucune étiquette : l'accord n'est pas défini ; donnez au moins un exemple.")
    total = len(labels_a)
    agreements = sum(a == b for a, b in zip(labels_a, labels_b))
    counts_a, counts_b = Counter(labels_a), Counter(labels_b)
    chance = sum(counts_a[label] * counts_b[label] for label in counts_a)
    if chance == total**2:
        return math.nan
    return (total * agreements - chance) / (total**2 - chance)
