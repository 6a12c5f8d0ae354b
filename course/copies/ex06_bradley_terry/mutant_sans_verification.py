# Copie : ne vérifie pas qu'une solution existe.
# Reprend : parfaite

# %% cotes_bradley_terry
def bradley_terry(wins, draws):
    models = range(len(wins))
    points = [[wins[i][j] + draws[i][j] / 2 for j in models] for i in models]
    won = [sum(row) for row in points]
    strength = [1.0 for _ in models]
    for _ in range(20_000):
        expected = [
            sum((points[i][j] + points[j][i]) * strength[i] / (strength[i] + strength[j]) for j in models) for i in models
        ]
        if max(abs(observed - predicted) for observed, predicted in zip(won, expected)) < 1e-10:
            break
        strength = [force * observed / predicted for force, observed, predicted in zip(strength, won, expected)]
    ratings = [400 * math.log10(force) for force in strength]
    shift = 1000 - sum(ratings) / len(ratings)
    return [rating + shift for rating in ratings]
