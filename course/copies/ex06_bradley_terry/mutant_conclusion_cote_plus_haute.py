# Copie : lit les cotes sans leurs intervalles.
# Reprend : parfaite

# %% conclusion
conclusion = "A"
