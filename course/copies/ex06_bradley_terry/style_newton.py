# Copie : juste, par la méthode de Newton et un parcours en largeur du graphe.

# %% score_attendu
def expected_score(rating_a, rating_b):
    strength_a, strength_b = 10 ** (rating_a / 400), 10 ** (rating_b / 400)
    return strength_a / (strength_a + strength_b)

# %% cotes_bradley_terry
def reachable(start, linked, size):
    seen, waiting = {start}, [start]
    while waiting:
        here = waiting.pop()
        for there in range(size):
            if there not in seen and linked(here, there):
                seen.add(there)
                waiting.append(there)
    return seen


def solve(matrix, right):
    """Pivot de Gauss : la matrice est symétrique définie positive."""
    rows = [row[:] + [value] for row, value in zip(matrix, right)]
    for k in range(len(rows)):
        for i in range(k + 1, len(rows)):
            factor = rows[i][k] / rows[k][k]
            rows[i] = [a - factor * b for a, b in zip(rows[i], rows[k])]
    solution = [0.0] * len(rows)
    for k in reversed(range(len(rows))):
        known = sum(rows[k][j] * solution[j] for j in range(k + 1, len(rows)))
        solution[k] = (rows[k][-1] - known) / rows[k][k]
    return solution


def bradley_terry(wins, draws):
    size = len(wins)

    def score(i, j):
        return wins[i][j] + draws[i][j] / 2

    forward = reachable(0, lambda i, j: score(i, j) > 0, size)
    backward = reachable(0, lambda i, j: score(j, i) > 0, size)
    if len(forward) < size or len(backward) < size:
        raise ValueError("le graphe des victoires n'est pas fortement connexe")
    ratings = [0.0] * size
    unit = math.log(10) / 400
    for _ in range(200):
        gradient = [0.0] * size
        hessian = [[0.0] * size for _ in range(size)]
        for i in range(size):
            for j in range(size):
                if i != j:
                    games = score(i, j) + score(j, i)
                    p = expected_score(ratings[i], ratings[j])
                    gradient[i] += score(i, j) - games * p
                    hessian[i][i] += games * p * (1 - p)
                    hessian[i][j] -= games * p * (1 - p)
        # Le dernier modèle sert de référence : sans lui, la matrice n'est pas inversible.
        step = solve([row[:-1] for row in hessian[:-1]], gradient[:-1]) + [0.0]
        biggest = max(abs(value) for value in step)
        ratings = [rating + value / max(1.0, biggest) / unit for rating, value in zip(ratings, step)]
        if biggest < 1e-12:
            break
    mean = sum(ratings) / size
    return [rating - mean + 1000 for rating in ratings]

# %% conclusion
conclusion = "B"
