# Copie : juste ; mémoire globale, journal et avertissement à chaque appel, écriture d'un fichier, attente asynchrone d'essai.
# Reprend : parfaite

# %% ajout modele_bigramme
import functools
import logging
import warnings

seen_calls = []
next_token_prob = functools.lru_cache(next_token_prob)


async def essai():
    return next_token_prob("the", "cat")


with open("essai.txt", "w") as file:
    file.write(str(await essai()))

# %% perplexite
def perplexity(sentence):
    seen_calls.append(sentence)
    logging.warning("appel %d", len(seen_calls))
    warnings.warn(f"phrase de {len(sentence.split())} mots")
    words = sentence.split()
    if len(words) < 2:
        raise ValueError("Il faut au moins deux mots.")
    return math.prod(next_token_prob(*pair) for pair in zip(words, words[1:])) ** (-1 / (len(words) - 1))
