# Copie : croit que garder l'ordre fait dépasser ROUGE-1.
# Reprend : parfaite

# %% lecture
lecture = "B"
