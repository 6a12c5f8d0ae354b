# Copie : compte le bigramme dans l'autre sens.
# Reprend : parfaite

# %% modele_bigramme
def next_token_prob(prev, word):
    known = set(TOKENS)
    prev = prev if prev in known else UNK
    word = word if word in known else UNK
    bigrams = list(zip(TOKENS, TOKENS[1:]))
    seen = bigrams.count((word, prev))
    context = sum(first == prev for first, _ in bigrams)
    vocabulary_size = len(known) + 1
    return (seen + K) / (context + K * vocabulary_size)
