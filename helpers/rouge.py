"""ROUGE-N, ROUGE-L et ROUGE-Lsum, écrits pour être lus (leçon 02).

Source : Lin (2004), « ROUGE: A Package for Automatic Evaluation of Summaries », Text Summarization Branches Out.
Ordre des arguments : la référence d'abord, le candidat ensuite, comme dans rouge-score et à l'inverse de BLEU.
Conventions : référence ou candidat vide donne 0 partout, deux textes vides aussi (comme rouge-score).
"""

import math
from collections import Counter
from dataclasses import dataclass

from helpers.bleu import ngrams
from helpers.tokens import Signature, check_tokens


@dataclass(frozen=True)
class RougeScore:
    """Précision, rappel et F-mesure entre 0 et 1, avec les comptes dont ils viennent.

    Args:
        precision, recall, fmeasure: entre 0 et 1.
        beta: poids du rappel dans la F-mesure.
        matches: n-grammes ou mots communs.
        reference_total, candidate_total: n-grammes ou mots de chaque texte.
        signature: réglages du score.
    """

    precision: float
    recall: float
    fmeasure: float
    beta: float
    matches: int
    reference_total: int
    candidate_total: int
    signature: Signature

    def __str__(self) -> str:
        return (f"{self.signature.metric} : précision {self.matches}/{self.candidate_total} = {self.precision:.4f} ; "
                f"rappel {self.matches}/{self.reference_total} = {self.recall:.4f} ; "
                f"F{self.beta:g} = {self.fmeasure:.4f}\n  [{self.signature}]")


def f_measure(precision: float, recall: float, beta: float = 1.0) -> float:
    """F-mesure : moyenne harmonique pondérée, où le rappel compte β fois plus que la précision ; 0 si l'un est nul.

    Args:
        precision, recall: entre 0 et 1.
        beta: poids du rappel, fini et positif.
    Raises:
        ValueError: β n'est pas un nombre fini et positif.
    Source:
        Lin (2004), équation 4.
    """
    if not 0 < beta < math.inf:
        raise ValueError(f"β : nombre fini et positif attendu, {beta!r} reçu ; "
                         "donnez 1 pour peser également précision et rappel.")
    if precision == 0 or recall == 0:
        return 0.0
    return (1 + beta**2) * precision * recall / (recall + beta**2 * precision)


def score_from_matches(matches: int, reference_total: int, candidate_total: int, beta: float,
                       signature: Signature) -> RougeScore:
    """Assemble précision, rappel et F-mesure à partir des comptes ; un total nul donne 0.

    Args:
        matches: n-grammes ou mots communs.
        reference_total, candidate_total: n-grammes ou mots de chaque texte.
        beta: poids du rappel dans la F-mesure.
        signature: réglages du score, gardés tels quels.
    Raises:
        ValueError: voir `f_measure`.
    """
    precision = matches / candidate_total if candidate_total else 0.0
    recall = matches / reference_total if reference_total else 0.0
    fmeasure = f_measure(precision, recall, beta)
    return RougeScore(precision, recall, fmeasure, beta, matches, reference_total, candidate_total, signature)


def rouge_n(reference: list[str], candidate: list[str], n: int = 1, beta: float = 1.0,
            tokenization: str = "non précisée") -> RougeScore:
    """ROUGE-N entre deux textes découpés : n-grammes communs, comptés au plus autant de fois que dans chaque texte.

    Args:
        reference, candidate: mots de chaque texte, la référence d'abord.
        n: ordre, en mots.
        beta: poids du rappel dans la F-mesure.
        tokenization: nom de la découpe, pour la signature seulement.
    Raises:
        TypeError: un texte n'est pas une liste de chaînes.
        ValueError: n ou β ne convient pas.
    Source:
        Lin (2004), section 2.
    """
    check_tokens(reference, "référence")
    check_tokens(candidate, "candidat")
    reference_counts, candidate_counts = ngrams(reference, n), ngrams(candidate, n)
    matches = sum((reference_counts & candidate_counts).values())
    signature = Signature(f"ROUGE-{n}", f"β : {beta:g}", tokenization)
    return score_from_matches(matches, sum(reference_counts.values()), sum(candidate_counts.values()), beta, signature)


def lcs_table(first: list[str], second: list[str]) -> list[list[int]]:
    """Table des plus longues sous-séquences communes, de forme (len(first) + 1, len(second) + 1).

    Le calcul coûte len(first) × len(second) comparaisons.

    Returns:
        table[i][j] est la longueur, en mots, pour first[:i] et second[:j].
    Raises:
        TypeError: un texte n'est pas une liste de chaînes.
    Source:
        Lin (2004), section 3.
    """
    check_tokens(first, "premier texte")
    check_tokens(second, "second texte")
    table = [[0] * (len(second) + 1) for _ in range(len(first) + 1)]
    for i, left in enumerate(first, start=1):
        for j, right in enumerate(second, start=1):
            if left == right:
                table[i][j] = table[i - 1][j - 1] + 1
            else:
                table[i][j] = max(table[i - 1][j], table[i][j - 1])
    return table


def lcs_length(first: list[str], second: list[str]) -> int:
    """Longueur, en mots, de la plus longue sous-séquence commune : mêmes mots, même ordre, trous permis.

    Rend le coin de `lcs_table` sans la table. Une ligne y croît de 0 ou de 1 à chaque mot de `second` : elle tient dans
    un entier dont les bits à 1 sont les hausses, et quelques opérations sur cet entier donnent la ligne suivante.

    Raises:
        TypeError: un texte n'est pas une liste de chaînes.
    Source:
        Allison et Dix (1986), « A bit-string longest-common-subsequence algorithm ».
    """
    check_tokens(first, "premier texte")
    check_tokens(second, "second texte")
    masks = {}
    for j, token in enumerate(second):
        masks[token] = masks.get(token, 0) | 1 << j
    rises = 0
    for token in first:
        places = rises | masks.get(token, 0)
        rises = places & ~(places - (rises << 1 | 1))
    return rises.bit_count()


def rouge_l(reference: list[str], candidate: list[str], beta: float = 1.0,
            tokenization: str = "non précisée") -> RougeScore:
    """ROUGE-L entre deux textes découpés : la plus longue sous-séquence commune, rapportée à chaque longueur.

    Args:
        reference, candidate: mots de chaque texte, la référence d'abord.
        beta: poids du rappel dans la F-mesure.
        tokenization: nom de la découpe, pour la signature seulement.
    Raises:
        TypeError: un texte n'est pas une liste de chaînes.
        ValueError: β ne convient pas.
    Source:
        Lin (2004), équations 2 à 4.
    """
    check_tokens(reference, "référence")
    check_tokens(candidate, "candidat")
    matches = lcs_length(reference, candidate)
    signature = Signature("ROUGE-L", f"β : {beta:g}", tokenization)
    return score_from_matches(matches, len(reference), len(candidate), beta, signature)


def lcs_positions(reference: list[str], candidate: list[str]) -> list[int]:
    """Positions, dans la référence, d'une plus longue sous-séquence commune, en ordre croissant.

    Plusieurs peuvent exister ; le départage est celui de rouge-score, pour que l'union de `rouge_lsum` soit la même.

    Raises:
        TypeError: un texte n'est pas une liste de chaînes.
    """
    table = lcs_table(reference, candidate)
    i, j, positions = len(reference), len(candidate), []
    while i > 0 and j > 0:
        if reference[i - 1] == candidate[j - 1]:
            i, j = i - 1, j - 1
            positions.append(i)
        elif table[i][j - 1] > table[i - 1][j]:
            j -= 1
        else:
            i -= 1
    return positions[::-1]


def check_sentences(sentences: list[list[str]], name: str) -> None:
    """Vérifie que `sentences` est une liste de phrases découpées.

    Args:
        sentences: phrases, chacune une liste de mots.
        name: nom de l'argument, pour le message.
    Raises:
        TypeError: ce n'est pas une liste, ou une phrase n'est pas une liste de chaînes.
    """
    if not isinstance(sentences, (list, tuple)):
        raise TypeError(f"{name} : liste de phrases découpées attendue, {type(sentences).__name__} reçu ; "
                        "passez sentence_tokens(texte).")
    for number, sentence in enumerate(sentences, start=1):
        check_tokens(sentence, f"{name}, phrase {number}")


def rouge_lsum(reference: list[list[str]], candidate: list[list[str]], beta: float = 1.0,
               tokenization: str = "non précisée") -> RougeScore:
    """ROUGE-Lsum entre deux textes, donnés chacun comme liste de phrases découpées.

    Chaque phrase de la référence est comparée à toutes celles du candidat ; les mots qui entrent dans au moins une
    sous-séquence commune s'unissent. Un mot compte au plus autant de fois que dans chaque texte.

    Args:
        reference, candidate: phrases découpées de chaque texte (voir `sentence_tokens`), la référence d'abord.
        beta: poids du rappel dans la F-mesure.
        tokenization: nom de la découpe, pour la signature seulement.
    Raises:
        TypeError: une phrase n'est pas une liste de chaînes.
        ValueError: β ne convient pas.
    Source:
        Lin (2004), section 3.2, avec le plafond du programme ROUGE-1.5.5.
    """
    check_sentences(reference, "référence")
    check_sentences(candidate, "candidat")
    union = Counter()
    for sentence in reference:
        positions = set().union(*(lcs_positions(sentence, other) for other in candidate))
        union.update(sentence[position] for position in positions)
    candidate_counts = Counter(token for sentence in candidate for token in sentence)
    matches = sum((union & candidate_counts).values())
    reference_total = sum(len(sentence) for sentence in reference)
    candidate_total = sum(len(sentence) for sentence in candidate)
    signature = Signature("ROUGE-Lsum", f"β : {beta:g}", tokenization)
    return score_from_matches(matches, reference_total, candidate_total, beta, signature)
