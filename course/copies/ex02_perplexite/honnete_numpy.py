# Copie : juste, avec numpy ; np.log(0) avertit sur stderr dans une cellule d'essai (NB-21).

# %% modele_bigramme
import numpy as np

words = sorted(set(TOKENS)) + [UNK]
counts = np.zeros((len(words), len(words)))
for first, second in zip(TOKENS, TOKENS[1:]):
    counts[words.index(first), words.index(second)] += 1
table = (counts + K) / (counts.sum(axis=1, keepdims=True) + K * len(words))


def rank(word):
    return words.index(word if word in words else UNK)


def next_token_prob(prev, word):
    return table[rank(prev), rank(word)]

# %% ajout modele_bigramme
np.log(counts)

# %% perplexite
def perplexity(sentence):
    tokens = sentence.split()
    if len(tokens) < 2:
        raise ValueError("Il faut au moins deux mots.")
    return np.exp(-np.mean([np.log(next_token_prob(*pair)) for pair in zip(tokens, tokens[1:])]))

# %% explication
explication = np.str_("D")
