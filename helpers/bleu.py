"""BLEU de phrase et de corpus, écrit pour être lu (leçon 01).

Source : Papineni, Roukos, Ward et Zhu (2002), « BLEU: a Method for Automatic Evaluation of Machine Translation », ACL.
Ordre des arguments : le candidat d'abord, les références ensuite.
"""

import math
from collections import Counter
from dataclasses import dataclass

from helpers.tokens import Signature, check_tokens

# Compte fictif donné à un ordre sans n-gramme commun : Chen et Cherry (2014), méthode 1 ; nltk prend la même valeur.
EPSILON = 0.1


@dataclass(frozen=True)
class BleuScore:
    """Score BLEU entre 0 et 1, avec ses composantes.

    Args:
        score: BLEU, entre 0 et 1.
        overlaps: n-grammes communs, plafonnés, ordre par ordre.
        totals: n-grammes du candidat, ordre par ordre.
        precisions: précisions entre 0 et 1, après lissage.
        brevity_penalty: pénalité de brièveté, entre 0 et 1.
        candidate_length, reference_length: longueurs c et r, en mots.
        signature: réglages du score.
    """

    score: float
    overlaps: tuple[int, ...]
    totals: tuple[int, ...]
    precisions: tuple[float, ...]
    brevity_penalty: float
    candidate_length: int
    reference_length: int
    signature: Signature

    def __str__(self) -> str:
        parts = []
        for n, (overlap, total, value) in enumerate(zip(self.overlaps, self.totals, self.precisions), start=1):
            # La flèche marque une valeur qui n'est pas le quotient affiché : elle vient du lissage.
            exact = total > 0 and value == overlap / total
            parts.append(f"p{n} {overlap}/{total} {'=' if exact else '→'} {value:.4f}")
        return (f"{self.signature.metric} = {self.score:.4f} ({' ; '.join(parts)} ; BP {self.brevity_penalty:.4f} ; "
                f"c = {self.candidate_length}, r = {self.reference_length})\n  [{self.signature}]")


def check_order(n: int, name: str) -> None:
    """Vérifie qu'un ordre de n-grammes est un entier d'au moins 1.

    Args:
        n: ordre, en mots.
        name: nom de l'argument, pour le message.
    Raises:
        ValueError: `n` n'est pas un entier, ou est inférieur à 1.
    """
    if not isinstance(n, int) or n < 1:
        raise ValueError(f"{name} : entier d'au moins 1 attendu, {n!r} reçu ; donnez un ordre usuel, de 1 à 4.")


def ngrams(tokens: list[str], n: int) -> Counter:
    """Compte les n-grammes d'un texte découpé.

    Args:
        tokens: mots du texte.
        n: ordre, en mots.
    Returns:
        Counter de tuples de n mots, vide si le texte a moins de n mots.
    Raises:
        TypeError: `tokens` n'est pas une liste de chaînes.
        ValueError: `n` n'est pas un entier d'au moins 1.
    """
    check_tokens(tokens, "jetons")
    check_order(n, "n")
    return Counter(tuple(tokens[i:i + n]) for i in range(len(tokens) - n + 1))


def check_references(references: list[list[str]]) -> None:
    """Vérifie que `references` est une liste non vide de listes de mots non vides.

    Raises:
        TypeError: une chaîne, ou une référence non découpée.
        ValueError: aucune référence, ou une référence vide.
    """
    if not isinstance(references, (list, tuple)):
        raise TypeError(f"références : liste de listes de mots attendue, {type(references).__name__} reçu ; "
                        "écrivez [reference] même quand il n'y en a qu'une.")
    if not references:
        raise ValueError("références : la liste est vide ; donnez au moins une référence par candidat.")
    for number, reference in enumerate(references, start=1):
        if isinstance(reference, str):
            raise TypeError(f"références : l'élément {number} est une chaîne, pas une liste de mots ; découpez chaque "
                            "référence et écrivez [reference] même quand il n'y en a qu'une.")
        check_tokens(reference, f"référence {number}")
        if not reference:
            raise ValueError(f"référence {number} : elle est vide, rien à comparer ; ôtez-la ou remplissez-la.")


def modified_precision(candidate: list[str], references: list[list[str]], n: int) -> tuple[int, int]:
    """Précision plafonnée d'ordre n, en deux comptes.

    Chaque n-gramme du candidat compte au plus autant de fois que dans la référence qui le contient le plus.

    Args:
        candidate: mots du candidat.
        references: références découpées, au moins une.
        n: ordre, en mots.
    Returns:
        (n-grammes communs, n-grammes du candidat) ; le second est 0 si le candidat a moins de n mots.
    Raises:
        TypeError, ValueError: voir `ngrams` et `check_references`.
    Source:
        Papineni et al. (2002), section 2.1.
    """
    check_tokens(candidate, "candidat")
    check_references(references)
    counts = ngrams(candidate, n)
    ceiling = Counter()
    for reference in references:
        ceiling |= ngrams(reference, n)
    overlap = sum((counts & ceiling).values())
    return overlap, sum(counts.values())


def closest_reference_length(candidate: list[str], references: list[list[str]]) -> int:
    """Longueur en mots de la référence la plus proche du candidat ; à égale distance, la plus courte.

    Raises:
        TypeError, ValueError: voir `check_tokens` et `check_references`.
    Source:
        Papineni et al. (2002), section 2.2.2.
    """
    check_tokens(candidate, "candidat")
    check_references(references)
    lengths = [len(reference) for reference in references]
    return min(lengths, key=lambda length: (abs(length - len(candidate)), length))


def brevity_penalty(candidate_length: int, reference_length: int) -> float:
    """Pénalité de brièveté, entre 0 et 1 : 1 si c > r, exp(1 - r/c) sinon, 0 si le candidat est vide.

    Args:
        candidate_length, reference_length: longueurs c et r, en mots.
    Raises:
        ValueError: une longueur est négative ou n'est pas un nombre (NaN).
    Source:
        Papineni et al. (2002), section 2.3.
    """
    if not (candidate_length >= 0 and reference_length >= 0):
        raise ValueError(f"longueurs : {candidate_length!r} et {reference_length!r} reçus ; "
                         "donnez deux nombres de mots, positifs ou nuls.")
    if candidate_length == 0:
        return 0.0
    if candidate_length > reference_length:
        return 1.0
    return math.exp(1 - reference_length / candidate_length)


def smoothed_precisions(overlaps: list[int], totals: list[int], smoothing: str) -> list[float]:
    """Précisions d'ordre 1 à N, entre 0 et 1, avec ou sans lissage.

    Sans lissage, un ordre sans aucun n-gramme (0/0) vaut 0. Avec « method1 », un ordre sans n-gramme commun reçoit
    EPSILON n-gramme commun, et un total nul est pris égal à 1, comme dans nltk.

    Args:
        overlaps, totals: n-grammes communs et n-grammes du candidat, ordre par ordre.
        smoothing: « none » ou « method1 ».
    Raises:
        ValueError: autre lissage.
    Source:
        Chen et Cherry (2014), méthode 1.
    """
    if smoothing == "none":
        return [overlap / total if total else 0.0 for overlap, total in zip(overlaps, totals)]
    if smoothing == "method1":
        return [(overlap or EPSILON) / max(total, 1) for overlap, total in zip(overlaps, totals)]
    raise ValueError(f"lissage : {smoothing!r} inconnu ; choisissez « none » ou « method1 ».")


def geometric_mean(values: list[float]) -> float:
    """Moyenne géométrique de nombres positifs ; 0 dès qu'un nombre est nul.

    Raises:
        ValueError: `values` est vide.
    """
    if not values:
        raise ValueError("moyenne géométrique : aucune valeur reçue ; donnez au moins un ordre de n-grammes.")
    if min(values) == 0:
        return 0.0
    return math.exp(math.fsum(math.log(value) for value in values) / len(values))


def score_from_counts(overlaps: list[int], totals: list[int], candidate_length: int, reference_length: int,
                      smoothing: str, signature: Signature) -> BleuScore:
    """Assemble BLEU = BP × moyenne géométrique des précisions, à partir des comptes.

    Sans aucun mot commun, le score est 0 même lissé, comme dans nltk et sacreBLEU.

    Args:
        overlaps, totals: n-grammes communs et n-grammes du candidat, ordre par ordre.
        candidate_length, reference_length: longueurs c et r, en mots.
        smoothing: « none » ou « method1 ».
        signature: réglages du score, gardés tels quels.
    Raises:
        ValueError: voir `smoothed_precisions` et `brevity_penalty`.
    Source:
        Papineni et al. (2002), section 2.3.
    """
    precisions = smoothed_precisions(overlaps, totals, smoothing)
    penalty = brevity_penalty(candidate_length, reference_length)
    score = penalty * geometric_mean(precisions) if overlaps[0] else 0.0
    return BleuScore(score, tuple(overlaps), tuple(totals), tuple(precisions), penalty,
                     candidate_length, reference_length, signature)


def sentence_bleu(candidate: list[str], references: list[list[str]], max_n: int = 4, smoothing: str = "none",
                  tokenization: str = "non précisée") -> BleuScore:
    """BLEU d'une phrase découpée, contre une ou plusieurs références découpées.

    Un candidat vide est légitime : un système peut ne rien répondre, et son score est 0.

    Args:
        candidate: mots du candidat.
        references: références découpées, au moins une.
        max_n: plus grand ordre de n-grammes.
        smoothing: « none » (vrai zéro) ou « method1 ».
        tokenization: nom de la découpe, pour la signature seulement.
    Raises:
        TypeError: chaîne au lieu de mots, ou jeton non textuel.
        ValueError: aucune référence, référence vide, max_n < 1, lissage inconnu.
    Source:
        Papineni et al. (2002), section 2.3.
    """
    check_order(max_n, "max_n")
    overlaps, totals = zip(*(modified_precision(candidate, references, n) for n in range(1, max_n + 1)))
    signature = Signature(f"BLEU-{max_n}", f"lissage : {smoothing} | références : {len(references)}", tokenization)
    reference_length = closest_reference_length(candidate, references)
    return score_from_counts(overlaps, totals, len(candidate), reference_length, smoothing, signature)


def corpus_bleu(candidates: list[list[str]], references: list[list[list[str]]], max_n: int = 4,
                smoothing: str = "none", tokenization: str = "non précisée") -> BleuScore:
    """BLEU d'un corpus : les comptes et les longueurs s'ajoutent, puis le score se calcule une seule fois.

    Une phrase de moins de n mots n'ajoute rien au total d'ordre n (comme sacreBLEU ; nltk y ajoute 1).

    Args:
        candidates: candidats découpés.
        references: pour chaque candidat, la liste de ses références découpées.
        max_n, smoothing, tokenization: voir `sentence_bleu`.
    Raises:
        TypeError: ce ne sont pas deux listes, ou voir `sentence_bleu`.
        ValueError: corpus vide, listes de longueurs différentes, ou voir `sentence_bleu`.
    Source:
        Papineni et al. (2002), sections 2.1.1 et 2.3.
    """
    if not isinstance(candidates, (list, tuple)) or not isinstance(references, (list, tuple)):
        raise TypeError("corpus : deux listes attendues ; donnez les candidats découpés et leurs listes de références.")
    if not candidates or len(candidates) != len(references):
        raise ValueError(f"corpus : {len(candidates)} candidats et {len(references)} listes de références ; "
                         "donnez-en autant, et au moins une.")
    scores = []
    for number, (candidate, its_references) in enumerate(zip(candidates, references), start=1):
        try:
            scores.append(sentence_bleu(candidate, its_references, max_n))
        except (TypeError, ValueError) as error:
            raise type(error)(f"phrase {number} du corpus, {error}") from None
    overlaps = [sum(column) for column in zip(*(score.overlaps for score in scores))]
    totals = [sum(column) for column in zip(*(score.totals for score in scores))]
    candidate_length = sum(score.candidate_length for score in scores)
    reference_length = sum(score.reference_length for score in scores)
    settings = f"lissage : {smoothing} | phrases : {len(candidates)}"
    signature = Signature(f"BLEU-{max_n} de corpus", settings, tokenization)
    return score_from_counts(overlaps, totals, candidate_length, reference_length, smoothing, signature)
