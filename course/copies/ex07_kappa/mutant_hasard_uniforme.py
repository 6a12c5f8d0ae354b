# Copie : le hasard tire les étiquettes à parts égales (PABAK).
# Reprend : parfaite

# %% kappa
def cohen_kappa(labels_a, labels_b):
    if not labels_a or len(labels_a) != len(labels_b):
        raise ValueError("Listes vides ou de longueurs différentes.")
    total = len(labels_a)
    agreements = sum(a == b for a, b in zip(labels_a, labels_b))
    chance = 1 / len(set(labels_a) | set(labels_b))
    return (agreements / total - chance) / (1 - chance)
