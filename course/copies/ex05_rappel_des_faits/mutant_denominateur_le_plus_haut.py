# Copie : croit la liste la plus longue.
# Reprend : parfaite

# %% denominateur
denominateur = "B"
