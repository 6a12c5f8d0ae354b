# Copie : juste, en base 2 des deux côtés ; affiche ses calculs et avertit quand sa cellule s'exécute.
# Reprend : parfaite

# %% perplexite
import logging
import warnings

warnings.warn("Le premier mot n'est pas noté.")
logging.warning("définition de la perplexité")


def perplexity(sentence):
    words = sentence.split()
    print(len(words), "mots")
    if len(words) < 2:
        raise ValueError("Il faut au moins deux mots.")
    bits = 0.0
    for prev, word in zip(words, words[1:]):
        p = next_token_prob(prev, word)
        print(f"P({word} | {prev}) = {p:.5f}")
        bits -= math.log2(p)
    return 2 ** (bits / (len(words) - 1))
