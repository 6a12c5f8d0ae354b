# Copie : lit « toujours A » comme une préférence pour le texte a.
# Reprend : parfaite

# %% conclusion
conclusion = "A"
