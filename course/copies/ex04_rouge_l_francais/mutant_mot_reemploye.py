# Copie : prolonge la case du dessus au lieu de celle de la diagonale.
# Reprend : parfaite

# %% sous_sequence
def lcs_length(a, b):
    table = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i, left in enumerate(a, start=1):
        for j, right in enumerate(b, start=1):
            if left == right:
                table[i][j] = table[i - 1][j] + 1
            else:
                table[i][j] = max(table[i - 1][j], table[i][j - 1])
    return table[-1][-1]
