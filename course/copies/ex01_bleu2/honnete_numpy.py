# Copie : juste, avec numpy ; rend des np.float64.

# %% precision_bigrammes
import numpy as np


def clipped(units, references_units):
    names = sorted(set(units))
    own = np.array([units.count(name) for name in names])
    ceiling = np.array([[other.count(name) for other in references_units] for name in names]).max(axis=1)
    return np.minimum(own, ceiling).sum() / np.float64(len(units))


def modified_bigram_precision(candidate, references):
    pairs = list(zip(candidate, candidate[1:]))
    if not pairs:
        return np.float64(0)
    return clipped(pairs, [list(zip(reference, reference[1:])) for reference in references])

# %% bleu2
def bleu2(candidate, references):
    p2 = modified_bigram_precision(candidate, references)
    if p2 == 0:
        return np.float64(0)
    lengths = np.array(sorted(len(reference) for reference in references))
    r = lengths[np.abs(lengths - len(candidate)).argmin()]
    return np.minimum(1.0, np.exp(1 - r / len(candidate))) * np.sqrt(clipped(candidate, references) * p2)
