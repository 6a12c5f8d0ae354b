# Copie : croit la cote d'un invaincu.
# Reprend : parfaite

# %% conclusion
conclusion = "D"
