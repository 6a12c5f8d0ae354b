# Copie : oublie le signe de l'écart.
# Reprend : parfaite

# %% score_attendu
def expected_score(rating_a, rating_b):
    return 1 / (1 + 10 ** (-abs(rating_b - rating_a) / 400))
