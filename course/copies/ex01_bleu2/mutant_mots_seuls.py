# Copie : compte des mots au lieu de bigrammes.
# Reprend : parfaite

# %% precision_bigrammes
def modified_bigram_precision(candidate, references):
    bigrams = Counter(candidate)
    total = sum(bigrams.values())
    if total == 0:
        return 0.0
    ceiling = Counter()
    for reference in references:
        ceiling |= Counter(reference)
    return sum((bigrams & ceiling).values()) / total
