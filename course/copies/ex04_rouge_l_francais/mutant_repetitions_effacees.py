# Copie : ne garde que la première apparition de chaque mot.
# Reprend : parfaite

# %% sous_sequence
def lcs_length(a, b):
    a, b = list(dict.fromkeys(a)), list(dict.fromkeys(b))
    previous = [0] * (len(b) + 1)
    for left in a:
        current = [0]
        for j, right in enumerate(b):
            current.append(previous[j] + 1 if left == right else max(previous[j + 1], current[j]))
        previous = current
    return previous[-1]
