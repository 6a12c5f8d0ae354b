# Copie : cherche la plus longue suite de mots voisins.
# Reprend : parfaite

# %% sous_sequence
def lcs_length(a, b):
    best = 0
    for i in range(len(a)):
        for j in range(len(b)):
            size = 0
            while i + size < len(a) and j + size < len(b) and a[i + size] == b[j + size]:
                size += 1
            best = max(best, size)
    return best
