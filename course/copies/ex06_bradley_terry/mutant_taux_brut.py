# Copie : lit la cote dans le taux de victoire de chacun, sans regarder ses adversaires.
# Reprend : parfaite

# %% cotes_bradley_terry
def bradley_terry(wins, draws):
    models = range(len(wins))
    points = [[wins[i][j] + draws[i][j] / 2 for j in models] for i in models]
    reaches = [[i == j or points[i][j] > 0 for j in models] for i in models]
    for middle in models:
        for i in models:
            for j in models:
                reaches[i][j] = reaches[i][j] or (reaches[i][middle] and reaches[middle][j])
    if not all(all(row) for row in reaches):
        raise ValueError("Ces duels ne donnent pas de cotes finies.")
    ratings = [200 * math.log10(sum(points[i]) / sum(points[j][i] for j in models)) for i in models]
    shift = 1000 - sum(ratings) / len(ratings)
    return [rating + shift for rating in ratings]
