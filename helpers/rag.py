"""Évaluer une réponse appuyée sur des documents : fidélité, rappel des faits, recherche, et les témoins du juge.

Un verdict vaut True (soutenue), False (non soutenue) ou None (omis ou illisible). None n'est jamais compté comme un
échec ni comme un succès : il est compté à part.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from helpers.tokens import french_words

# --- Interroger un juge sur une affirmation -----------------------------------------------------------------------


def support_request(claim: str, documents: Sequence[str], prompt: str, *, model: str,
                    choices: tuple[str, str] = ("OUI", "NON"), max_tokens: int = 4) -> dict:
    """Compose la requête qui demande si les documents soutiennent une affirmation.

    La réponse est contrainte à l'un des deux choix (oui d'abord), et vient avec ses log-probabilités.

    Args:
        claim: une affirmation, une phrase.
        documents: textes du contexte, dans l'ordre où ils sont montrés.
        prompt: modèle de texte qui contient les champs {documents} et {claim}.
        model: nom du modèle servi.
        choices: les deux réponses permises, oui d'abord.
        max_tokens: longueur de la réponse, en jetons ; elle doit suffire au plus long des choix, car « OUI » peut être
            coupé en plusieurs jetons.
    Returns:
        les arguments nommés de `client.chat.completions.create`.
    Raises:
        ValueError: l'affirmation est vide, ou le contexte l'est : il n'y a rien à montrer au juge.
    """
    if not claim.strip():
        raise ValueError("l'affirmation est vide : rien à vérifier ; donnez une phrase.")
    if not any(document.strip() for document in documents):
        raise ValueError("le contexte est vide : rien ne peut soutenir l'affirmation ; comptez-la non soutenue "
                         "sans interroger le juge.")
    content = prompt.format(documents="\n".join(documents), claim=claim)
    return {
        "model": model,
        "messages": [{"role": "user", "content": content}],
        "temperature": 0.0,
        "max_tokens": max_tokens,
        "logprobs": True,
        "top_logprobs": 5,
        "extra_body": {"structured_outputs": {"choice": list(choices)}},
    }


def read_support(text: str | None, choices: tuple[str, str] = ("OUI", "NON")) -> bool | None:
    """Lit un verdict : True pour le premier choix, False pour le second, None (illisible) pour toute autre réponse.

    Le texte entier doit être le choix, aux blancs et au point final près : « Oui, ce n'est pas dit » est illisible.
    """
    if text is None:
        return None
    return {choices[0]: True, choices[1]: False}.get(text.strip().removesuffix("."))


def verify_claim(claim: str, documents: Sequence[str],
                 ask: Callable[[str, Sequence[str]], str | None]) -> tuple[bool | None, str]:
    """Verdict d'une affirmation, avec sa raison ; une réponse illisible est redemandée une fois, pas plus.

    Args:
        ask: fonction (affirmation, documents) qui rend le texte du juge, ou None s'il n'a rien répondu.
            Une exception de `ask` n'est pas retenue : une panne n'est pas un verdict.
    Returns:
        (True | False | None, raison). Sans contexte, le verdict est False et le juge n'est pas interrogé.
    """
    if not any(document.strip() for document in documents):
        return False, "contexte vide : rien ne soutient l'affirmation"
    for attempt in (1, 2):
        text = ask(claim, documents)
        verdict = read_support(text)
        if verdict is not None:
            return verdict, f"lu à l'essai {attempt}"
    return None, "pas de réponse" if text is None else f"illisible : {text!r}"


# --- Fidélité -----------------------------------------------------------------------------------------------------


def align_verdicts(claims: Sequence[str], verdicts: Mapping[str, bool | None]) -> list[bool | None]:
    """Verdicts dans l'ordre des affirmations ; une affirmation que le juge a omise reçoit None.

    Raises:
        ValueError: une affirmation est vide ou répétée, ou le juge se prononce sur une affirmation qu'on n'a pas posée.
    """
    keys = [" ".join(french_words(claim)) for claim in claims]
    for key, claim in zip(keys, claims):
        if not key:
            raise ValueError("une affirmation est vide : rien à vérifier ; retirez-la de la liste.")
        if keys.count(key) > 1:
            raise ValueError(f"l'affirmation « {claim} » est répétée : elle compterait deux fois ; retirez le doublon.")
    unknown = [claim for claim in verdicts if claim not in claims]
    if unknown:
        raise ValueError(f"verdict sur « {unknown[0]} », qui n'a pas été posée : relisez la réponse du juge.")
    return [verdicts.get(claim) for claim in claims]


@dataclass(frozen=True)
class Faithfulness:
    """Fidélité d'une réponse : affirmations soutenues, verdicts lus, affirmations."""

    supported: int
    read: int
    claims: int

    @property
    def value(self) -> float:
        """Part des affirmations soutenues, entre 0 et 1 ; nan sans affirmation, ou s'il manque un verdict."""
        return self.supported / self.claims if self.claims and self.read == self.claims else math.nan

    @property
    def bounds(self) -> tuple[float, float]:
        """Fidélité si tous les verdicts manquants étaient faux, puis vrais ; (nan, nan) sans affirmation."""
        if not self.claims:
            return math.nan, math.nan
        return self.supported / self.claims, (self.supported + self.claims - self.read) / self.claims

    def __str__(self) -> str:
        if not self.claims:
            return "nan (aucune affirmation : la fidélité n'est pas définie)"
        score = f"soutenues {self.supported}/{self.claims}, verdicts lus {self.read}/{self.claims}"
        if self.read == self.claims:
            return f"{self.value:.3f} ({score})"
        return f"nan ({score} ; entre {self.bounds[0]:.3f} et {self.bounds[1]:.3f})"


def faithfulness(verdicts: Sequence[bool | None]) -> Faithfulness:
    """Fidélité d'une réponse d'après les verdicts de ses affirmations, un par affirmation.

    Raises:
        TypeError: un verdict n'est ni True, ni False, ni None (une chaîne comme « false » serait vraie en Python).
    Source:
        Es et al. (2023), Ragas, section 3 : affirmations soutenues / affirmations ; le cas 0/0 est notre convention.
    """
    for verdict in verdicts:
        if verdict is not None and not isinstance(verdict, bool):
            raise TypeError(f"verdict {verdict!r} : donnez True, False, ou None s'il est omis ou illisible.")
    read = [verdict for verdict in verdicts if verdict is not None]
    return Faithfulness(supported=sum(read), read=len(read), claims=len(verdicts))


def mean_with_coverage(scores: Sequence[float]) -> tuple[float, int, int]:
    """Moyenne des scores définis, nombre de scores définis, nombre total ; la moyenne est nan s'il n'y en a aucun.

    Les trois vont ensemble : une moyenne qui ignore les nan sans dire combien cache sa couverture.
    """
    defined = [score for score in scores if not math.isnan(score)]
    return (sum(defined) / len(defined) if defined else math.nan), len(defined), len(scores)


# --- Témoins : ce que vaut l'instrument ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Controls:
    """Verdicts d'un juge sur des témoins : vrais reconnus, vrais refusés, faux refusés, faux acceptés, illisibles."""

    true_accepted: int
    true_rejected: int
    false_rejected: int
    false_accepted: int
    unreadable: int

    @property
    def sensitivity(self) -> float:
        """Part des témoins vrais acceptés, parmi ceux qui sont lus ; nan s'il n'y en a pas."""
        total = self.true_accepted + self.true_rejected
        return self.true_accepted / total if total else math.nan

    @property
    def specificity(self) -> float:
        """Part des témoins faux refusés, parmi ceux qui sont lus ; nan s'il n'y en a pas."""
        total = self.false_rejected + self.false_accepted
        return self.false_rejected / total if total else math.nan


def controls(truths: Sequence[bool], verdicts: Sequence[bool | None]) -> Controls:
    """Compare les verdicts d'un juge aux étiquettes de témoins.

    Raises:
        ValueError: les deux listes n'ont pas la même longueur.
    """
    if len(truths) != len(verdicts):
        raise ValueError(f"{len(truths)} témoins et {len(verdicts)} verdicts : donnez un verdict, ou None, par témoin.")
    cells = list(zip(truths, verdicts))
    return Controls(
        true_accepted=cells.count((True, True)),
        true_rejected=cells.count((True, False)),
        false_rejected=cells.count((False, False)),
        false_accepted=cells.count((False, True)),
        unreadable=verdicts.count(None),
    )


def roc_points(truths: Sequence[bool], scores: Sequence[float]) -> list[tuple[float, float, float]]:
    """Points de la courbe ROC : (seuil, 1 − spécificité, sensibilité), du seuil le plus strict au plus large.

    On accepte une affirmation quand son score est supérieur ou égal au seuil. Des scores égaux passent ensemble.

    Raises:
        ValueError: longueurs différentes, score nan, ou témoins d'une seule sorte.
    Source:
        Fawcett (2006), An Introduction to ROC Analysis, algorithme 1.
    """
    if len(truths) != len(scores):
        raise ValueError(f"{len(truths)} témoins et {len(scores)} scores : donnez un score par témoin.")
    if any(math.isnan(score) for score in scores):
        raise ValueError("un score est nan : il ne se compare à aucun seuil ; mettez ce témoin à part et comptez-le.")
    positives = sum(truths)
    negatives = len(truths) - positives
    if positives == 0 or negatives == 0:
        raise ValueError("témoins d'une seule sorte, la courbe n'est pas définie : "
                         "donnez des témoins vrais et des témoins faux.")
    points = [(math.inf, 0.0, 0.0)]
    for threshold in sorted(set(scores), reverse=True):
        accepted = [truth for truth, score in zip(truths, scores) if score >= threshold]
        points.append((threshold, (len(accepted) - sum(accepted)) / negatives, sum(accepted) / positives))
    return points


def area_under(points: Sequence[tuple[float, float, float]]) -> float:
    """Aire sous la courbe ROC, par trapèzes, entre 0 et 1.

    C'est la chance qu'un témoin vrai ait un meilleur score qu'un faux (égalité : 1/2).

    Args:
        points: points que rend `roc_points`.
    """
    return sum((x2 - x1) * (y1 + y2) / 2 for (_, x1, y1), (_, x2, y2) in zip(points, points[1:]))


def best_threshold(truths: Sequence[bool], scores: Sequence[float]) -> float:
    """Seuil qui maximise sensibilité + spécificité, placé à mi-chemin du score suivant ; à égalité, le plus strict.

    Raises:
        ValueError: voir `roc_points`.
    Source:
        Youden (1950), Index for Rating Diagnostic Tests.
    """
    points = roc_points(truths, scores)[1:]
    best = max(range(len(points)), key=lambda i: points[i][2] - points[i][1])
    if best + 1 == len(points):
        return points[best][0]
    return (points[best][0] + points[best + 1][0]) / 2


# --- Rappel des faits ---------------------------------------------------------------------------------------------


def fact_words(text: str) -> list[str]:
    """Mots d'un texte, en minuscules ; « 1 300 », avec une espace entre les milliers, est un seul mot."""
    return french_words(re.sub(r"(?<!\d)\d{1,3}(?:[ \u00a0\u202f]\d{3})+(?!\d)",
                               lambda number: re.sub(r"\D", "", number.group()), text))


def fact_in_answer(keywords: Sequence[str], answer: str) -> bool:
    """Dit si tous les mots-clés sont dans la réponse, en mots entiers.

    Un mot-clé de plusieurs mots doit y être d'un bloc. La règle ne comprend rien : une négation, un synonyme ou un
    pluriel lui échappent.

    Raises:
        ValueError: aucun mot-clé, ou un mot-clé sans lettre ni chiffre (il serait trouvé partout).
    """
    words = fact_words(answer)
    patterns = [fact_words(keyword) for keyword in keywords]
    if not patterns or not all(patterns):
        raise ValueError("un fait sans mot-clé serait trouvé dans toute réponse : donnez au moins un mot par fait.")
    return all(
        any(words[start : start + len(pattern)] == pattern for start in range(len(words))) for pattern in patterns
    )


def fact_recall(facts: Sequence[Sequence[str]], answer: str) -> float:
    """Part des faits attendus que la réponse contient, entre 0 et 1 ; nan si aucun fait n'est attendu.

    Args:
        facts: mots-clés de chaque fait.
        answer: texte de la réponse.
    Raises:
        ValueError: voir `fact_in_answer`.
    """
    if not facts:
        return math.nan
    return sum(fact_in_answer(keywords, answer) for keywords in facts) / len(facts)


# --- Recherche ----------------------------------------------------------------------------------------------------


def check_ranking(ranking: Sequence[str], k: int) -> None:
    """Vérifie un classement et un rang de coupe.

    Raises:
        ValueError: un passage est classé deux fois, ou k n'est pas entre 1 et la taille du classement.
    """
    if len(set(ranking)) != len(ranking):
        raise ValueError("un passage est classé deux fois : il compterait double ; retirez les doublons.")
    if not 1 <= k <= len(ranking):
        raise ValueError(f"k = {k} pour {len(ranking)} passages classés : choisissez k entre 1 et {len(ranking)}.")


def recall_at_k(ranking: Sequence[str], relevance: Mapping[str, float], k: int) -> float:
    """Part des passages pertinents (gain > 0) qui sont parmi les k premiers ; nan si aucun n'est pertinent.

    Raises:
        ValueError: classement à doublons, ou k hors du classement.
    """
    check_ranking(ranking, k)
    relevant = {passage for passage, gain in relevance.items() if gain > 0}
    return len(relevant.intersection(ranking[:k])) / len(relevant) if relevant else math.nan


def dcg(gains: Sequence[float]) -> float:
    """Gain cumulé actualisé : somme des gains, chacun divisé par log2(rang + 1), le premier rang valant 1.

    Source:
        Järvelin et Kekäläinen (2002) pour l'idée ; la remise log2(rang + 1) est celle de scikit-learn.
    """
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, start=1))


def ndcg_at_k(ranking: Sequence[str], relevance: Mapping[str, float], k: int) -> float:
    """DCG des k premiers passages, rapporté à celui du meilleur classement possible ; nan si aucun n'est pertinent.

    Raises:
        ValueError: classement à doublons, k hors du classement, ou gain négatif.
    """
    check_ranking(ranking, k)
    if any(gain < 0 for gain in relevance.values()):
        raise ValueError("un gain est négatif : le score sortirait de [0, 1] ; notez la pertinence à partir de 0.")
    ideal = dcg(sorted(relevance.values(), reverse=True)[:k])
    return dcg([relevance.get(passage, 0) for passage in ranking[:k]]) / ideal if ideal else math.nan
