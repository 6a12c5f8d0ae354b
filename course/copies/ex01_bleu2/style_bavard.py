# Copie : juste ; affiche ses calculs, et écrit un avertissement et un journal quand ses cellules s'exécutent.
# Reprend : parfaite

# %% precision_bigrammes
import logging
import warnings

warnings.warn("Cette cellule recalcule tous les bigrammes.")
logging.warning("définition de la précision")


def modified_bigram_precision(candidate, references):
    bigrams = list(zip(candidate, candidate[1:]))
    print("bigrammes du candidat :", bigrams)
    if not bigrams:
        return 0.0
    kept = 0
    for bigram in set(bigrams):
        in_references = [list(zip(reference, reference[1:])).count(bigram) for reference in references]
        print(bigram, bigrams.count(bigram), in_references)
        kept += min(bigrams.count(bigram), max(in_references))
    return kept / len(bigrams)
