"""Découpe d'un texte en mots, contrôle des jetons et signature d'un score (leçons 01 et 02)."""

import platform
import re
import unicodedata
from dataclasses import dataclass, field

FRENCH_WORDS = "mots français, minuscules, NFC"

# Apostrophes que l'on trouve dans les textes français : typographique, modificative, guillemet ouvrant, prime.
APOSTROPHES = "\u2019\u02bc\u2018\u2032"

# Un mot est une suite de lettres et de chiffres ; une virgule ou un point entre deux chiffres reste dans le nombre.
FRENCH_PATTERN = re.compile(r"[^\W_]+(?:(?<=\d)[.,](?=\d)[^\W_]+)*")
ASCII_PATTERN = re.compile(r"[a-z0-9]+")

# La forme NFC et la notion de lettre viennent des tables Unicode de Python : elles changent avec lui.
VERSIONS = (("python", platform.python_version()), ("unicode", unicodedata.unidata_version))


@dataclass(frozen=True)
class Signature:
    """Réglages qui rendent un score reproductible : métrique, réglages, découpe.

    Les versions sont un attribut, pour les rapports. Elles ne s'impriment pas et ne comptent pas dans l'égalité.

    Args:
        metric: nom de la métrique, tel qu'il s'imprime (« BLEU-4 »).
        settings: réglages de la métrique, en une phrase sans verbe.
        tokenization: découpe des textes en mots.
        versions: couples (logiciel, version) dont la découpe dépend.
    """

    metric: str
    settings: str
    tokenization: str
    versions: tuple[tuple[str, str], ...] = field(default=VERSIONS, compare=False, repr=False)

    def __str__(self) -> str:
        return f"{self.metric} | {self.settings} | découpe : {self.tokenization}"


def check_tokens(tokens: list[str], name: str) -> None:
    """Vérifie que `tokens` est une liste (ou un tuple) de chaînes.

    Une liste vide est admise : chaque métrique dit ce qu'elle en fait.

    Args:
        tokens: texte découpé, une chaîne par mot.
        name: nom de l'argument, pour le message.
    Raises:
        TypeError: une chaîne, un autre type, ou un jeton qui n'est pas une chaîne.
    """
    if not isinstance(tokens, (list, tuple)):
        raise TypeError(f"{name} : liste de mots attendue, {type(tokens).__name__} reçu ; découpez d'abord le texte, "
                        "par exemple avec french_words(texte).")
    for token in tokens:
        if not isinstance(token, str):
            raise TypeError(f"{name} : le jeton {token!r} n'est pas une chaîne ; convertissez chaque jeton avec str.")


def normalize(text: str) -> str:
    """Texte en forme NFC, avec une seule apostrophe, la droite.

    Args:
        text: texte entier, non découpé.
    Raises:
        TypeError: `text` n'est pas une chaîne.
    Source:
        Unicode Standard Annex 15 (formes de normalisation).
    """
    if not isinstance(text, str):
        raise TypeError(f"texte : chaîne attendue, {type(text).__name__} reçu ; passez le texte entier, non découpé.")
    text = unicodedata.normalize("NFC", text)
    for apostrophe in APOSTROPHES:
        text = text.replace(apostrophe, "'")
    return text


def french_words(text: str) -> list[str]:
    """Mots de `text` en minuscules : lettres accentuées, « œ » et nombres décimaux restent entiers.

    L'apostrophe et le trait d'union séparent (« l'été » donne « l », « été ») ; la ponctuation disparaît.

    Args:
        text: texte entier, non découpé.
    Returns:
        les mots, dans l'ordre du texte ; une liste vide pour un texte vide.
    Raises:
        TypeError: `text` n'est pas une chaîne.
    """
    return FRENCH_PATTERN.findall(normalize(text).lower())


def ascii_words(text: str) -> list[str]:
    """Découpe par défaut de rouge-score, sans racinisation : à ne pas employer en français.

    Toute lettre accentuée y est un séparateur.

    Args:
        text: texte entier, non découpé.
    Raises:
        TypeError: `text` n'est pas une chaîne.
    Source:
        rouge-score, module tokenize (motif `[^a-z0-9]+`).
    """
    if not isinstance(text, str):
        raise TypeError(f"texte : chaîne attendue, {type(text).__name__} reçu ; passez le texte entier, non découpé.")
    return ASCII_PATTERN.findall(text.lower())


def sentence_tokens(text: str, tokenizer=french_words) -> list[list[str]]:
    """Phrases de `text`, une par ligne, chacune découpée en mots ; les lignes vides sont ôtées.

    Args:
        text: texte entier, une phrase par ligne.
        tokenizer: fonction qui découpe une phrase en mots.
    Returns:
        une liste de mots par phrase.
    Raises:
        TypeError: `text` n'est pas une chaîne.
    """
    if not isinstance(text, str):
        raise TypeError(f"texte : chaîne attendue, {type(text).__name__} reçu ; passez le texte entier, non découpé.")
    return [tokenizer(line) for line in text.split("\n") if line]
