# Copie : les bigrammes sont mis dans des ensembles.
# Reprend : parfaite

# %% precision_bigrammes
def modified_bigram_precision(candidate, references):
    bigrams = set(zip(candidate, candidate[1:]))
    if not bigrams:
        return 0.0
    known = set()
    for reference in references:
        known |= set(zip(reference, reference[1:]))
    return len(bigrams & known) / len(bigrams)
