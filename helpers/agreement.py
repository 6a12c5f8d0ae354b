"""Accord et incertitude : intervalle de Wilson, kappa et ses variantes, corrélations, notes et taux corrigé."""

import math
import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Sequence
from itertools import permutations
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
        labels_a, labels_b: étiquettes des deux juges, exemple par exemple : liste, tuple, ou texte d'une lettre par
            exemple.
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


# --- Accord sur des étiquettes --------------------------------------------------------------------------------


def confusion_matrix(labels_a: Sequence, labels_b: Sequence, levels: Sequence) -> list[list[int]]:
    """Table carrée des effectifs : une ligne par niveau du premier juge, une colonne par niveau du second.

    Args:
        labels_a, labels_b: étiquettes des deux juges, exemple par exemple.
        levels: toutes les étiquettes possibles, de la plus basse à la plus haute si elles sont ordonnées.
    Returns:
        en ligne i et colonne j, le nombre d'exemples notés `levels[i]` par le premier juge, `levels[j]` par le second.
    Raises:
        ValueError: suites vides ou de longueurs différentes, échelle de moins de deux niveaux ou qui se répète,
            note hors de l'échelle.
    """
    if len(labels_a) != len(labels_b):
        raise ValueError(f"{len(labels_a)} étiquettes d'un côté et {len(labels_b)} de l'autre : "
                         "donnez une étiquette de chaque juge par exemple.")
    if len(labels_a) == 0:
        raise ValueError("aucune étiquette : l'accord n'est pas défini ; donnez au moins un exemple.")
    ranks = {level: rank for rank, level in enumerate(levels)}
    if len(ranks) < 2 or len(ranks) < len(levels):
        raise ValueError(f"échelle {list(levels)} : il faut au moins deux niveaux, tous différents ; "
                         "corrigez `levels`.")
    table = [[0] * len(levels) for _ in levels]
    for a, b in zip(labels_a, labels_b):
        for label in (a, b):
            if label not in ranks:
                raise ValueError(f"note {label!r} hors de l'échelle {list(levels)} : "
                                 "corrigez la note ou complétez `levels`.")
        table[ranks[a]][ranks[b]] += 1
    return table


def pabak(labels_a: Sequence, labels_b: Sequence, levels: Sequence) -> float:
    """Kappa ajusté pour la prévalence et le biais : le hasard y tire les k étiquettes à parts égales.

    Vaut (k·p_o − 1)/(k − 1), donc 2·p_o − 1 pour deux étiquettes : c'est l'accord brut, sur une autre échelle.

    Raises:
        ValueError: voir `confusion_matrix`.
    Source:
        Byrt, Bishop et Carlin (1993), Bias, Prevalence and Kappa ; pour k étiquettes, Brennan et Prediger (1981).
    """
    table = confusion_matrix(labels_a, labels_b, levels)
    agreement = sum(table[i][i] for i in range(len(levels))) / len(labels_a)
    return (len(levels) * agreement - 1) / (len(levels) - 1)


def gwet_ac1(labels_a: Sequence, labels_b: Sequence, levels: Sequence) -> float:
    """AC1 de Gwet entre deux juges ; son accord du hasard, au plus 1/k, baisse quand une étiquette domine.

    Raises:
        ValueError: voir `confusion_matrix`.
    Source:
        Gwet (2008), Computing Inter-Rater Reliability and its Variance in the Presence of High Agreement.
    """
    table = confusion_matrix(labels_a, labels_b, levels)
    total = len(labels_a)
    agreement = sum(table[i][i] for i in range(len(levels))) / total
    # Part de chaque étiquette, les deux juges réunis : une ligne de la table, et la colonne de même rang.
    shares = [(sum(row) + sum(column)) / (2 * total) for row, column in zip(table, zip(*table))]
    chance = sum(share * (1 - share) for share in shares) / (len(levels) - 1)
    return (agreement - chance) / (1 - chance)


def weighted_kappa(labels_a: Sequence, labels_b: Sequence, levels: Sequence, power: int = 2) -> float:
    """Kappa pondéré sur une échelle ordonnée : un désaccord coûte (écart de rangs) ** power.

    Vaut nan si les deux juges sont la même constante.

    Args:
        labels_a, labels_b: étiquettes des deux juges, exemple par exemple.
        levels: étiquettes possibles, de la plus basse à la plus haute.
        power: 1 (poids linéaires) ou 2 (quadratiques).
    Raises:
        ValueError: autre puissance, ou voir `confusion_matrix`.
    Source:
        Cohen (1968), Weighted Kappa: Nominal Scale Agreement with Provision for Scaled Disagreement or Partial Credit.
    """
    if power not in (1, 2):
        raise ValueError(f"puissance {power!r} : donnez 1 (poids linéaires) ou 2 (poids quadratiques).")
    table = confusion_matrix(labels_a, labels_b, levels)
    rows, columns = [sum(row) for row in table], [sum(column) for column in zip(*table)]
    cells = [(i, j) for i in range(len(levels)) for j in range(len(levels))]
    observed = sum(abs(i - j) ** power * table[i][j] for i, j in cells)
    expected = sum(abs(i - j) ** power * rows[i] * columns[j] for i, j in cells) / len(labels_a)
    return 1 - observed / expected if expected else math.nan


def krippendorff_alpha(ratings: Sequence[Sequence], metric: str = "nominal") -> float:
    """Alpha de Krippendorff : deux juges ou plus, notes manquantes admises.

    Args:
        ratings: une suite de notes par juge, toutes de même longueur ; None (ou nan) pour une note manquante.
        metric: "nominal" (étiquettes), "ordinal" (rangs) ou "interval" (écarts).
    Returns:
        1 pour un accord parfait, 0 pour le hasard ; nan si toutes les notes sont égales.
    Raises:
        ValueError: moins de deux juges, longueurs différentes, métrique inconnue, aucune unité notée deux fois.
    Source:
        Krippendorff (2011), Computing Krippendorff's Alpha-Reliability.
    """
    if len(ratings) < 2:
        raise ValueError(f"{len(ratings)} juge : l'accord en demande au moins deux ; "
                         "donnez une suite de notes par juge.")
    if len({len(notes) for notes in ratings}) > 1:
        raise ValueError("les juges n'ont pas le même nombre de notes : mettez None là où une note manque.")
    if metric not in ("nominal", "ordinal", "interval"):
        raise ValueError(f"métrique {metric!r} inconnue : choisissez nominal, ordinal ou interval.")
    # nan est la seule valeur qui diffère d'elle-même. Une unité notée une seule fois ne dit rien de l'accord.
    units = [[note for note in unit if note is not None and note == note] for unit in zip(*ratings)]
    units = [unit for unit in units if len(unit) >= 2]
    if not units:
        raise ValueError("aucune unité n'a deux notes : l'accord n'est pas défini ; faites noter les mêmes exemples.")
    counts = Counter(note for unit in units for note in unit)
    total = sum(counts.values())

    def distance(a, b):
        if metric == "nominal":
            return float(a != b)
        if metric == "interval":
            return (a - b) ** 2
        between = sum(count for note, count in counts.items() if min(a, b) <= note <= max(a, b))
        return (between - (counts[a] + counts[b]) / 2) ** 2

    observed = sum(distance(a, b) / (len(unit) - 1) for unit in units for a, b in permutations(unit, 2)) / total
    expected = sum(counts[a] * counts[b] * distance(a, b) for a in counts for b in counts) / (total * (total - 1))
    return 1 - observed / expected if expected else math.nan


# --- Notes sur une échelle ------------------------------------------------------------------------------------

SCORE_LINE = re.compile(
    r"(?:note(?: totale| finale)?\s*:)?\s*([-−]?[0-9]+(?:[.,][0-9]+)?)(?:\s*(?:/|sur)\s*([0-9]+))?\s*\.?", re.IGNORECASE
)


def extract_score(text: str | None, low: float, high: float) -> float | None:
    """Note qu'une réponse libre donne, ou None si elle est illisible ; jamais une supposition.

    La dernière ligne non vide doit être la note, seule : « Note : 3 », « 7,5 », « 3/4 ». Une note hors de l'échelle,
    un dénominateur qui n'est pas `high` ou deux lignes de notes contraires sont illisibles.

    Args:
        text: réponse du juge, ou None s'il n'a rien répondu.
        low, high: bornes de l'échelle.
    Raises:
        TypeError: la réponse n'est ni une chaîne ni None.
        ValueError: l'échelle est vide.
    """
    if not low < high:
        raise ValueError(f"échelle de {low} à {high} : elle est vide ; donnez low plus petit que high.")
    if text is None:
        return None
    if not isinstance(text, str):
        raise TypeError(f"la réponse doit être une chaîne ou None, pas {type(text).__name__} : "
                        "donnez le texte de la réponse.")
    lines = [line.replace("*", "").strip() for line in text.splitlines() if line.strip()]
    matches = [SCORE_LINE.fullmatch(line) for line in lines]
    if not matches or matches[-1] is None:
        return None
    found = {match.groups() for match in matches if match}
    number, maximum = found.pop()
    score = float(number.replace(",", ".").replace("−", "-"))
    if found or not low <= score <= high or (maximum and float(maximum) != high):
        return None
    return score


def change_scale(score: float, low: float, high: float, new_low: float, new_high: float) -> float:
    """Note portée de l'échelle [low, high] sur [new_low, new_high], bornes sur bornes.

    Raises:
        ValueError: échelle vide, ou note hors de son échelle.
    """
    if not low < high or not new_low < new_high:
        raise ValueError("une échelle va d'une borne à une borne plus grande : corrigez les bornes.")
    if not low <= score <= high:
        raise ValueError(f"note {score} hors de son échelle [{low}, {high}] : vérifiez la lecture avant de convertir.")
    return new_low + (new_high - new_low) * (score - low) / (high - low)


def pearson(x: Sequence[float], y: Sequence[float]) -> float:
    """Corrélation de Pearson, entre −1 et 1 ; nan si l'une des suites est constante.

    Raises:
        ValueError: suites de longueurs différentes, ou moins de deux couples.
    """
    if len(x) != len(y) or len(x) < 2:
        raise ValueError(f"{len(x)} et {len(y)} notes : donnez deux suites de même longueur, d'au moins deux notes.")
    if len(set(x)) == 1 or len(set(y)) == 1:
        return math.nan
    mean_x, mean_y = math.fsum(x) / len(x), math.fsum(y) / len(y)
    covariance = math.fsum((a - mean_x) * (b - mean_y) for a, b in zip(x, y))
    return covariance / math.sqrt(math.fsum((a - mean_x) ** 2 for a in x) * math.fsum((b - mean_y) ** 2 for b in y))


def average_ranks(values: Sequence[float]) -> list[float]:
    """Rang de chaque valeur, à partir de 1 ; des valeurs égales partagent la moyenne de leurs rangs."""
    ordered = sorted(values)
    return [(bisect_left(ordered, value) + 1 + bisect_right(ordered, value)) / 2 for value in values]


def spearman(x: Sequence[float], y: Sequence[float]) -> float:
    """Corrélation de Spearman : celle de Pearson, calculée sur les rangs ; nan si l'une des suites est constante.

    Raises:
        ValueError: voir `pearson`.
    """
    return pearson(average_ranks(x), average_ranks(y))


def spearman_brown(reliability: float, factor: float = 2) -> float:
    """Fiabilité de la moyenne de `factor` notes, quand celle d'une seule vaut `reliability` ; entre 0 et 1.

    Args:
        reliability: corrélation de deux notes du même exemple, entre 0 et 1.
        factor: nombre de notes moyennées, ou rapport de deux nombres de notes.
    Raises:
        ValueError: fiabilité hors de [0, 1], ou facteur négatif ou nul.
    Source:
        Spearman (1910) et Brown (1910), British Journal of Psychology 3.
    """
    if not 0 <= reliability <= 1:
        raise ValueError(f"fiabilité {reliability} : donnez une corrélation entre 0 et 1.")
    if not factor > 0:
        raise ValueError(f"facteur {factor} : donnez un nombre de notes positif.")
    return factor * reliability / (1 + (factor - 1) * reliability)


# --- Corriger un taux -----------------------------------------------------------------------------------------


def rogan_gladen(rate: float, sensitivity: float, specificity: float) -> float:
    """Taux vrai de « réussi », estimé du taux que donne un juge dont on connaît les erreurs ; ramené dans [0, 1].

    Args:
        rate: part de « réussi » que donne le juge.
        sensitivity: part des vrais « réussi » que le juge dit « réussi ».
        specificity: part des vrais « échoué » que le juge dit « échoué ».
    Returns:
        (rate + specificity − 1)/(sensitivity + specificity − 1) ; nan si le juge dit « réussi » aussi souvent dans
        les deux cas : ses verdicts n'apprennent rien.
    Raises:
        ValueError: une des trois parts est hors de [0, 1].
    Source:
        Rogan et Gladen (1978), Estimating Prevalence from the Results of a Screening Test.
    """
    for name, share in (("rate", rate), ("sensitivity", sensitivity), ("specificity", specificity)):
        if not 0 <= share <= 1:
            raise ValueError(f"{name} vaut {share} : une part est entre 0 et 1 ; divisez le compte par son effectif.")
    gain = sensitivity + specificity - 1
    if math.isclose(gain, 0, abs_tol=1e-12):
        return math.nan
    return min(1.0, max(0.0, (rate + specificity - 1) / gain))
