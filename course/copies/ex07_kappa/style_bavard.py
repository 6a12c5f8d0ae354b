# Copie : juste ; affiche ses calculs, et écrit un avertissement et un journal quand ses cellules s'exécutent.
# Reprend : parfaite

# %% kappa
import logging
import warnings

warnings.warn("Cette cellule recompte toutes les étiquettes.")
logging.warning("définition du kappa")


def cohen_kappa(labels_a, labels_b):
    if not labels_a or len(labels_a) != len(labels_b):
        raise ValueError("Listes vides ou de longueurs différentes.")
    total = len(labels_a)
    agreements = sum(a == b for a, b in zip(labels_a, labels_b))
    counts_a, counts_b = Counter(labels_a), Counter(labels_b)
    chance = sum(counts_a[label] * counts_b[label] for label in counts_a)
    print("accords :", agreements, "hasard :", chance, "sur", total**2)
    if chance == total**2:
        return math.nan
    return (total * agreements - chance) / (total**2 - chance)
