# Copie : cherche les mots dans un dictionnaire qui n'a que <unk> et les mots du corpus.
# Reprend : parfaite

# %% modele_bigramme
rows = {prev: {word: K for word in [*TOKENS, UNK]} for prev in [*TOKENS, UNK]}
for prev, word in zip(TOKENS, TOKENS[1:]):
    rows[prev][word] += 1


def next_token_prob(prev, word):
    return rows[prev][word] / sum(rows[prev].values())
