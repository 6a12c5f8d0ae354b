# Copie : un kappa négatif est ramené à zéro.
# Reprend : parfaite

# %% kappa
def cohen_kappa(labels_a, labels_b):
    if not labels_a or len(labels_a) != len(labels_b):
        raise ValueError("Listes vides ou de longueurs différentes.")
    total = len(labels_a)
    agreements = sum(a == b for a, b in zip(labels_a, labels_b))
    counts_a, counts_b = Counter(labels_a), Counter(labels_b)
    chance = sum(counts_a[label] * counts_b[label] for label in counts_a)
    if chance == total**2:
        return math.nan
    return max(0.0, (total * agreements - chance) / (total**2 - chance))
