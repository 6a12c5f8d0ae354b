# Copie : prend une limite annoncée pour une erreur de programmation.
# Reprend : parfaite

# %% limite
limite = "C"
