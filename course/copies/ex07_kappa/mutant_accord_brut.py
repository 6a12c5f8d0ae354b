# Copie : renvoie la part des accords, sans retirer le hasard.
# Reprend : parfaite

# %% kappa
def cohen_kappa(labels_a, labels_b):
    if not labels_a or len(labels_a) != len(labels_b):
        raise ValueError("Listes vides ou de longueurs différentes.")
    total = len(labels_a)
    agreements = sum(a == b for a, b in zip(labels_a, labels_b))
    return agreements / total
