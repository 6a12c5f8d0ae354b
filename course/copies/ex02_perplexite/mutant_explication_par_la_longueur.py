# Copie : croit que la perplexité augmente avec la longueur.
# Reprend : parfaite

# %% explication
explication = "A"
