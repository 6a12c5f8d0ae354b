# Copie : compte le mot précédent partout, même en fin de corpus.
# Reprend : parfaite

# %% modele_bigramme
def next_token_prob(prev, word):
    known = set(TOKENS)
    prev = prev if prev in known else UNK
    word = word if word in known else UNK
    bigrams = list(zip(TOKENS, TOKENS[1:]))
    seen = bigrams.count((prev, word))
    context = TOKENS.count(prev)
    vocabulary_size = len(known) + 1
    return (seen + K) / (context + K * vocabulary_size)
