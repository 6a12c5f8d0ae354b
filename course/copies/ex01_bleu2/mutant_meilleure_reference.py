# Copie : garde la meilleure précision obtenue contre une seule référence.
# Reprend : parfaite

# %% precision_bigrammes
def modified_bigram_precision(candidate, references):
    bigrams = Counter(zip(candidate, candidate[1:]))
    total = sum(bigrams.values())
    if total == 0:
        return 0.0
    return max(sum((bigrams & Counter(zip(reference, reference[1:]))).values()) / total for reference in references)
