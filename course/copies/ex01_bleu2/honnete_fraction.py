# Copie : juste ; la précision est une Fraction, que le canal rend simple.
# Reprend : parfaite

# %% precision_bigrammes
from fractions import Fraction


def modified_bigram_precision(candidate, references):
    bigrams = Counter(zip(candidate, candidate[1:]))
    ceiling = Counter()
    for reference in references:
        ceiling |= Counter(zip(reference, reference[1:]))
    total = sum(bigrams.values())
    return Fraction(sum((bigrams & ceiling).values()), total) if total else Fraction(0)
