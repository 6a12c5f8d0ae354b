# Copie : prend chaque mot dès qu'il se présente, sans jamais y renoncer.
# Reprend : parfaite

# %% sous_sequence
def lcs_length(a, b):
    place, length = 0, 0
    for word in a:
        if word in b[place:]:
            place = b.index(word, place) + 1
            length += 1
    return length
