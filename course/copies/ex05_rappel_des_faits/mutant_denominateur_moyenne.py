# Copie : croit que la moyenne règle le choix.
# Reprend : parfaite

# %% denominateur
denominateur = "D"
