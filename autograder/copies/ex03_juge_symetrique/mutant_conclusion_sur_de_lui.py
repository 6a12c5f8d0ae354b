# Copie : lit un accord constant comme une certitude (CONTENU E-04).
# Reprend : parfaite

# %% conclusion
conclusion = "B"
