# Copie : la bonne lettre, en minuscule.
# Reprend : parfaite

# %% explication
explication = "d"
