# Copie : le dénominateur est celui de la référence.
# Reprend : parfaite

# %% precision_bigrammes
def modified_bigram_precision(candidate, references):
    bigrams = Counter(zip(candidate, candidate[1:]))
    expected = Counter(zip(references[0], references[0][1:]))
    return sum((bigrams & expected).values()) / sum(expected.values())
