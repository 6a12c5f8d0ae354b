# Copie : le hasard vient des fréquences moyennes des deux juges (pi de Scott).
# Reprend : parfaite

# %% kappa
def cohen_kappa(labels_a, labels_b):
    if not labels_a or len(labels_a) != len(labels_b):
        raise ValueError("Listes vides ou de longueurs différentes.")
    total = len(labels_a)
    agreements = sum(a == b for a, b in zip(labels_a, labels_b))
    counts = Counter(labels_a) + Counter(labels_b)
    chance = sum((count / 2) ** 2 for count in counts.values())
    if chance == total**2:
        return math.nan
    return (total * agreements - chance) / (total**2 - chance)
