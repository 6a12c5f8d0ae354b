# Copie : juste, avec des boucles et des listes, sans aucun module.

# %% precision_bigrammes
def clipped(candidate_units, references_units):
    common = 0
    for unit in set(candidate_units):
        best = 0
        for units in references_units:
            if units.count(unit) > best:
                best = units.count(unit)
        common += min(candidate_units.count(unit), best)
    return common


def pairs(words):
    found = []
    for i in range(len(words) - 1):
        found.append((words[i], words[i + 1]))
    return found


def modified_bigram_precision(candidate, references):
    if len(candidate) < 2:
        return 0.0
    return clipped(pairs(candidate), [pairs(reference) for reference in references]) / (len(candidate) - 1)

# %% bleu2
def bleu2(candidate, references):
    if not candidate:
        return 0.0
    p1 = clipped(candidate, references) / len(candidate)
    p2 = modified_bigram_precision(candidate, references)
    closest = None
    for reference in references:
        gap = abs(len(reference) - len(candidate))
        if closest is None or (gap, len(reference)) < closest:
            closest = (gap, len(reference))
    score = (p1 * p2) ** 0.5
    if len(candidate) < closest[1]:
        score *= 2.718281828459045 ** (1 - closest[1] / len(candidate))
    return score
