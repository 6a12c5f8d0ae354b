# Copie : lit un accord constant comme une certitude.
# Reprend : parfaite

# %% conclusion
conclusion = "B"
