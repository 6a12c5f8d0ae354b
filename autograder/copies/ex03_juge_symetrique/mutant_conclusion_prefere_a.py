# Copie : lit « toujours A » comme une préférence pour le texte a (CONTENU E-02).
# Reprend : parfaite

# %% conclusion
conclusion = "A"
