# Copie : un seul juge constant suffit à rendre nan.
# Reprend : parfaite

# %% kappa
def cohen_kappa(labels_a, labels_b):
    if not labels_a or len(labels_a) != len(labels_b):
        raise ValueError("Listes vides ou de longueurs différentes.")
    total = len(labels_a)
    agreements = sum(a == b for a, b in zip(labels_a, labels_b))
    counts_a, counts_b = Counter(labels_a), Counter(labels_b)
    chance = sum(counts_a[label] * counts_b[label] for label in counts_a)
    if len(counts_a) == 1 or len(counts_b) == 1:
        return math.nan
    return (total * agreements - chance) / (total**2 - chance)
