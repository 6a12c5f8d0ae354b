# Copie : juste, avec des comptes préparés une fois pour toutes.

# %% modele_bigramme
from collections import defaultdict

followers = defaultdict(Counter)
for previous, following in zip(TOKENS, TOKENS[1:]):
    followers[previous][following] += 1
vocabulary = sorted(set(TOKENS)) + [UNK]


def normalise(token):
    return token if token in vocabulary else UNK


def next_token_prob(prev, word):
    row = followers.get(normalise(prev), Counter())
    return (row[normalise(word)] + K) / (sum(row.values()) + K * len(vocabulary))

# %% perplexite
def perplexity(sentence):
    words = [normalise(token) for token in sentence.split()]
    transitions = len(words) - 1
    if transitions < 1:
        raise ValueError(f"« {sentence} » : aucune transition.")
    product = 1.0
    for i in range(transitions):
        product *= next_token_prob(words[i], words[i + 1])
    return product ** (-1 / transitions)

# %% explication
explication = "D"
