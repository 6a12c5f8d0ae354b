# Copie : le plafond est la somme des comptes des références.
# Reprend : parfaite

# %% precision_bigrammes
def modified_bigram_precision(candidate, references):
    bigrams = Counter(zip(candidate, candidate[1:]))
    total = sum(bigrams.values())
    if total == 0:
        return 0.0
    ceiling = Counter()
    for reference in references:
        ceiling += Counter(zip(reference, reference[1:]))
    return sum((bigrams & ceiling).values()) / total
