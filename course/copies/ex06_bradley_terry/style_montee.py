# Copie : juste, par petites mises à jour de toutes les cotes à la fois, avec des ensembles pour le graphe.

# %% score_attendu
def expected_score(rating_a, rating_b):
    gap = (rating_a - rating_b) * math.log(10) / 400
    return 0.5 * (1 + math.tanh(gap / 2))

# %% cotes_bradley_terry
from itertools import permutations


def bradley_terry(wins, draws):
    n = len(wins)
    total = {(i, j): wins[i][j] + 0.5 * draws[i][j] for i, j in permutations(range(n), 2)}
    above = {i: {j for j in range(n) if j != i and total[i, j] > 0} for i in range(n)}
    for _ in range(n):
        for i in range(n):
            above[i] |= set().union(*(above[j] for j in above[i])) if above[i] else set()
    if any(set(range(n)) - above[i] - {i} for i in range(n)):
        raise ValueError("un modèle, ou un groupe, n'a rien pris aux autres")
    ratings = [1000.0] * n
    busiest = max(sum(total[i, j] + total[j, i] for j in range(n) if j != i) for i in range(n))
    step = 400 / math.log(10) * 2 / busiest
    for _ in range(20_000):
        missing = [
            sum(total[i, j] - (total[i, j] + total[j, i]) * expected_score(ratings[i], ratings[j]) for j in range(n) if j != i)
            for i in range(n)
        ]
        ratings = [rating + step * value for rating, value in zip(ratings, missing)]
        if max(map(abs, missing)) < 1e-9:
            break
    return [rating + 1000 - sum(ratings) / n for rating in ratings]

# %% conclusion
conclusion = "B"
