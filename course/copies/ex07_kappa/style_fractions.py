# Copie : juste, en fractions exactes, à partir de la table des couples.

# %% kappa
from fractions import Fraction
from itertools import product


def cohen_kappa(labels_a, labels_b):
    couples = Counter(zip(labels_a, labels_b))
    n = sum(couples.values())
    if not n or len(labels_a) != len(labels_b):
        raise ValueError("Une étiquette de chaque juge par exemple, et au moins un exemple.")
    observed = Fraction(sum(count for (a, b), count in couples.items() if a == b), n)
    # Tous les couples formés d'un avis du premier juge et d'un avis du second.
    expected = Fraction(sum(a == b for a, b in product(labels_a, labels_b)), n * n)
    return math.nan if expected == 1 else float((observed - expected) / (1 - expected))

# %% correction
def rogan_gladen(rate, sensitivity, specificity):
    rate, sensitivity, specificity = (Fraction(value).limit_denominator(10**12) for value in (rate, sensitivity, specificity))
    if sensitivity + specificity == 1:
        return math.nan
    corrected = (rate + specificity - 1) / (sensitivity + specificity - 1)
    return float(sorted([0, corrected, 1])[1])

# %% lecture
lecture = "B"
