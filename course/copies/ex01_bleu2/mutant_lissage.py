# Copie : lisse une précision nulle au lieu de renvoyer zéro.
# Reprend : parfaite

# %% bleu2
def bleu2(candidate, references):
    p2 = modified_bigram_precision(candidate, references)
    if not candidate:
        return 0.0
    p2 = p2 or 0.1 / max(1, len(candidate) - 1)
    words = Counter(candidate)
    ceiling = Counter()
    for reference in references:
        ceiling |= Counter(reference)
    c = len(candidate)
    p1 = sum((words & ceiling).values()) / c
    r = min((len(reference) for reference in references), key=lambda length: (abs(length - c), length))
    brevity_penalty = 1.0 if c > r else math.exp(1 - r / c)
    return brevity_penalty * math.sqrt(p1 * p2)
