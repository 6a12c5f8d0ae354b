# Copie : compte les mots communs sans regarder leur ordre.
# Reprend : parfaite

# %% sous_sequence
from collections import Counter


def lcs_length(a, b):
    return sum((Counter(a) & Counter(b)).values())
