# Copie : croit le score.
# Reprend : parfaite

# %% limite
limite = "A"
