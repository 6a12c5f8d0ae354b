# Copie : prend e au lieu de 10.
# Reprend : parfaite

# %% score_attendu
def expected_score(rating_a, rating_b):
    return 1 / (1 + math.exp((rating_b - rating_a) / 400))
