# Copie : les lettres sont hors de la liste demandée.
# Reprend : parfaite

# %% denominateur
denominateur = "a"

# %% limite
limite = "d"
