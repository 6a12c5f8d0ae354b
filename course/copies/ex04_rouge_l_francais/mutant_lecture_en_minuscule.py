# Copie : la lettre est hors de la liste demandée.
# Reprend : parfaite

# %% lecture
lecture = "c"
