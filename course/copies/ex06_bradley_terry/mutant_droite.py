# Copie : remplace la courbe par une droite.
# Reprend : parfaite

# %% score_attendu
def expected_score(rating_a, rating_b):
    return 0.5 + 0.2597 * (rating_a - rating_b) / 200
