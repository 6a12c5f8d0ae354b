# Copie : croit qu'un mot-clé de plus écarte la négation.
# Reprend : parfaite

# %% limite
limite = "B"
