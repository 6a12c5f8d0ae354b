# Copie : confond « a b » et « b a ».
# Reprend : parfaite

# %% precision_bigrammes
def modified_bigram_precision(candidate, references):
    bigrams = Counter(tuple(sorted(pair)) for pair in zip(candidate, candidate[1:]))
    total = sum(bigrams.values())
    if total == 0:
        return 0.0
    ceiling = Counter()
    for reference in references:
        ceiling |= Counter(tuple(sorted(pair)) for pair in zip(reference, reference[1:]))
    return sum((bigrams & ceiling).values()) / total
