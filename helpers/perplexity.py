"""Entropie croisée, perplexité, bits par octet, et un petit modèle bigramme.

Une perplexité n'a de sens qu'avec ses conventions : quels jetons sont comptés, et sur quel
vocabulaire les probabilités somment à 1. Chaque fonction dit les siennes. Leçon : 03_perplexite.
"""

import math
from collections import Counter
from collections.abc import Iterable
from numbers import Real

__all__ = [
    "END",
    "START",
    "UNKNOWN",
    "BigramModel",
    "bits_per_byte",
    "check_logprobs",
    "check_sentence",
    "check_sequence",
    "cross_entropy",
    "cross_entropy_from_logprobs",
    "log_probability",
    "perplexity",
    "perplexity_from_logprobs",
]

START, END, UNKNOWN = "<s>", "</s>", "<unk>"


def check_sequence(values: Iterable, name: str) -> list:
    """Liste non vide des valeurs reçues.

    Args:
        values: liste, tuple, générateur… mais pas un texte, qui se lirait lettre par lettre.
        name: ce que la liste contient, pour le message d'erreur.
    Raises:
        TypeError: `values` est un texte, ou ne se parcourt pas.
        ValueError: `values` est vide.
    """
    if isinstance(values, str) or not isinstance(values, Iterable):
        kind = type(values).__name__
        raise TypeError(f"{name} : une liste est attendue, pas {kind} ; pour un texte, donnez texte.split().")
    values = list(values)
    if not values:
        raise ValueError(f"{name} : la liste est vide, rien à évaluer ; donnez au moins un élément.")
    return values


def log_probability(probability: float) -> float:
    """Logarithme naturel d'une probabilité, en nats ; -inf pour une probabilité nulle.

    Raises:
        TypeError: ce n'est pas un nombre.
        ValueError: hors de [0, 1], ou NaN.
    """
    if not isinstance(probability, Real):
        raise TypeError(f"Une probabilité est un nombre, pas {probability!r} ; donnez un nombre entre 0 et 1.")
    # Écrite ainsi, la comparaison refuse aussi NaN, qui n'est comparable à rien.
    if not 0 <= probability <= 1:
        raise ValueError(f"Une probabilité est entre 0 et 1, or on a {probability} ; revoyez le calcul qui la donne.")
    return math.log(probability) if probability > 0 else -math.inf


def check_logprobs(logprobs: Iterable[float]) -> list[float]:
    """Liste non vide de log-probabilités : des nombres négatifs ou nuls, -inf compris.

    Raises:
        TypeError: un texte, ou un élément qui n'est pas un nombre (None, le plus souvent).
        ValueError: liste vide, NaN, ou valeur positive.
    """
    values = check_sequence(logprobs, "Log-probabilités")
    for value in values:
        if not isinstance(value, Real):
            raise TypeError(f"Une log-probabilité est un nombre, pas {value!r} ; retirez les jetons non notés.")
        if not value <= 0:
            raise ValueError(f"Une log-probabilité est négative ou nulle, or on a {value} ; "
                             "donnez le logarithme de la probabilité, non la probabilité.")
    return values


def cross_entropy_from_logprobs(logprobs: Iterable[float]) -> float:
    """Entropie croisée, en nats par jeton : l'opposé de la moyenne des log-probabilités.

    Args:
        logprobs: logarithme naturel de la probabilité de chaque jeton noté.
    Raises:
        TypeError, ValueError: voir `check_logprobs`.
    """
    values = check_logprobs(logprobs)
    # « 0.0 - » plutôt que « - » : un modèle parfait a une entropie de 0.0, pas de -0.0.
    return 0.0 - math.fsum(values) / len(values)


def perplexity_from_logprobs(logprobs: Iterable[float]) -> float:
    """Perplexité : exponentielle de l'entropie croisée ; entre 1 et l'infini, sans unité.

    Elle est infinie dès qu'un jeton a une probabilité nulle, ou si elle dépasse le plus grand flottant.

    Raises:
        TypeError, ValueError: voir `check_logprobs`.
    Source:
        Jelinek, Mercer, Bahl et Baker (1977), J. Acoust. Soc. Am. 62(S1), S63.
    """
    try:
        return math.exp(cross_entropy_from_logprobs(logprobs))
    except OverflowError:
        return math.inf


def cross_entropy(probabilities: Iterable[float]) -> float:
    """Entropie croisée, en nats par jeton, des probabilités données à chaque jeton.

    Raises:
        TypeError, ValueError: liste vide ou texte, valeur hors de [0, 1] ou NaN.
    """
    return cross_entropy_from_logprobs([log_probability(p) for p in check_sequence(probabilities, "Probabilités")])


def perplexity(probabilities: Iterable[float]) -> float:
    """Perplexité des probabilités données à chaque jeton : l'inverse de leur moyenne géométrique.

    Raises:
        TypeError, ValueError: liste vide ou texte, valeur hors de [0, 1] ou NaN.
    """
    return perplexity_from_logprobs([log_probability(p) for p in check_sequence(probabilities, "Probabilités")])


def bits_per_byte(logprobs: Iterable[float], text: str) -> float:
    """Bits par octet : information totale d'un texte, rapportée à sa longueur en octets UTF-8.

    Elle ne dépend pas de la découpe en jetons, à condition que `logprobs` couvre tout `text`.

    Args:
        logprobs: log-probabilités (nats) de tous les jetons de `text`.
        text: le texte que ces jetons composent.
    Raises:
        TypeError: `text` n'est pas un texte ; voir aussi `check_logprobs`.
        ValueError: `text` est vide.
    Source:
        Gao et al. (2020), The Pile, arXiv:2101.00027, § 3.1.
    """
    values = check_logprobs(logprobs)
    if not isinstance(text, str):
        raise TypeError(f"Le texte doit être une chaîne, pas {type(text).__name__} ; donnez le texte d'origine.")
    if not text:
        raise ValueError("Le texte est vide, aucun octet à compter ; donnez le texte que les jetons composent.")
    return (0.0 - math.fsum(values)) / math.log(2) / len(text.encode("utf-8"))


def check_sentence(sentence: Iterable[str]) -> list[str]:
    """Liste non vide des mots d'une phrase.

    Raises:
        TypeError: la phrase est un texte, ou l'un de ses mots n'en est pas un.
        ValueError: la phrase est vide.
    """
    words = check_sequence(sentence, "Phrase")
    for word in words:
        if not isinstance(word, str):
            raise TypeError(f"Un mot est un texte, pas {word!r} ; donnez la phrase comme une liste de mots.")
    return words


class BigramModel:
    """Modèle bigramme à lissage add-k : P(mot | précédent) = (c(précédent, mot) + k) / (c(précédent) + k·V).

    Conventions : c(précédent) compte les fois où le mot est suivi d'un autre. Le vocabulaire, de
    taille V, contient les mots du corpus, `<unk>` si `unk`, `</s>` si `markers` et les `extra_words` ; jamais
    `<s>`, qui n'est pas prédit. Sans marqueurs, le premier mot n'est pas noté.

    Args:
        sentences: le corpus, une liste de phrases, chacune une liste de mots.
        k: ce que le lissage ajoute à chaque compte ; 0 donne les fréquences observées.
        unk: remplace tout mot hors vocabulaire par `<unk>`. Sans lui, un mot inconnu reçoit une
            probabilité en plus des autres, et la somme dépasse 1 : c'est montré dans la leçon, à éviter ailleurs.
        markers: encadre chaque phrase de `<s>` et `</s>`.
        extra_words: mots du vocabulaire que le corpus ne contient pas.
    Raises:
        TypeError: des textes à la place de listes de mots, un mot qui n'est pas un texte.
        ValueError: corpus ou phrase vide, k négatif, infini ou NaN.
    """

    def __init__(
        self,
        sentences: Iterable[Iterable[str]],
        k: float = 0.01,
        unk: bool = True,
        markers: bool = False,
        extra_words: Iterable[str] = (),
    ):
        if not (isinstance(k, Real) and 0 <= k < math.inf):
            raise ValueError(f"k vaut {k!r} ; donnez au lissage un nombre fini, positif ou nul.")
        self.k, self.unk, self.markers = k, unk, markers
        self.vocabulary = {UNKNOWN} if unk else set()
        self.vocabulary.update(check_sentence(extra_words) if extra_words else ())
        self.pair_counts, self.context_counts = Counter(), Counter()
        for sentence in check_sequence(sentences, "Corpus"):
            words = self.marked(sentence)
            self.vocabulary.update(words[1:] if markers else words)
            self.pair_counts.update(zip(words, words[1:]))
            self.context_counts.update(words[:-1])

    def marked(self, sentence: Iterable[str]) -> list[str]:
        """Les mots de la phrase, entre `<s>` et `</s>` si le modèle a des marqueurs.

        Raises:
            TypeError, ValueError: voir `check_sentence`.
        """
        words = check_sentence(sentence)
        return [START, *words, END] if self.markers else words

    def known(self, word: str) -> str:
        """Le mot lui-même, ou `<unk>` s'il est hors vocabulaire."""
        return word if word in self.vocabulary or not self.unk else UNKNOWN

    def next_token_prob(self, prev: str, word: str) -> float:
        """Probabilité de `word` après `prev`.

        Avec k = 0, un contexte jamais vu donne 0/0 : par convention, 0.

        Raises:
            TypeError: un des deux mots n'est pas un texte.
        """
        prev, word = check_sentence([prev, word])
        prev = prev if prev in self.context_counts else self.known(prev)
        word = self.known(word)
        total = self.context_counts[prev] + self.k * len(self.vocabulary)
        return (self.pair_counts[prev, word] + self.k) / total if total else 0.0

    def token_probabilities(self, tokens: Iterable[str]) -> list[float]:
        """Probabilité de chaque transition de la phrase (n - 1 sans marqueurs, n + 1 avec, pour n mots).

        Raises:
            TypeError: voir `check_sentence`.
            ValueError: phrase vide, ou d'un seul mot pour un modèle sans marqueurs.
        """
        words = self.marked(tokens)
        if len(words) < 2:
            raise ValueError("Une phrase d'un seul mot n'a pas de transition ; donnez deux mots, ou markers=True.")
        return [self.next_token_prob(prev, word) for prev, word in zip(words, words[1:])]

    def perplexity(self, tokens: Iterable[str]) -> float:
        """Perplexité de la phrase sous ce modèle ; infinie si une transition est impossible.

        Raises:
            TypeError, ValueError: voir `token_probabilities`.
        """
        return perplexity(self.token_probabilities(tokens))
