# Copie : prend une absence de preuve pour une preuve d'égalité.
# Reprend : parfaite

# %% conclusion
conclusion = "C"
