# Copie : les listes de longueurs différentes ou vides sont acceptées.
# Reprend : parfaite

# %% kappa
def cohen_kappa(labels_a, labels_b):
    total = len(labels_a)
    agreements = sum(a == b for a, b in zip(labels_a, labels_b))
    counts_a, counts_b = Counter(labels_a), Counter(labels_b)
    chance = sum(counts_a[label] * counts_b[label] for label in counts_a)
    if chance == total**2:
        return math.nan
    return (total * agreements - chance) / (total**2 - chance)
