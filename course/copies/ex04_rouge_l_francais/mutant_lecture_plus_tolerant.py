# Copie : croit que les trous rendent ROUGE-L plus tolérant.
# Reprend : parfaite

# %% lecture
lecture = "A"
