# Copie : l'accord de 91 % suffit.
# Reprend : parfaite

# %% lecture
lecture = "A"
