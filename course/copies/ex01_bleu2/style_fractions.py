# Copie : juste, avec des fractions exactes converties en float à la fin.

# %% precision_bigrammes
from fractions import Fraction
from itertools import pairwise


def clipped_fraction(units, references_units):
    if not units:
        return Fraction(0)
    kept = sum(min(units.count(unit), max(other.count(unit) for other in references_units)) for unit in set(units))
    return Fraction(kept, len(units))


def modified_bigram_precision(candidate, references):
    return float(clipped_fraction(list(pairwise(candidate)), [list(pairwise(r)) for r in references]))

# %% bleu2
from statistics import geometric_mean


def bleu2(candidate, references):
    p1 = clipped_fraction(candidate, references)
    p2 = modified_bigram_precision(candidate, references)
    if p1 * p2 == 0:
        return 0.0
    lengths = sorted(len(reference) for reference in references)
    # Le tri est stable : à égale distance, la plus courte reste devant.
    r = sorted(lengths, key=lambda length: abs(length - len(candidate)))[0]
    return min(1.0, math.exp(1 - r / len(candidate))) * geometric_mean([float(p1), p2])
