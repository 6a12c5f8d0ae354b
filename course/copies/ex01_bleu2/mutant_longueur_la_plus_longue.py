# Copie : prend toujours la référence la plus longue.
# Reprend : parfaite

# %% bleu2
def bleu2(candidate, references):
    p2 = modified_bigram_precision(candidate, references)
    if p2 == 0:
        return 0.0
    words = Counter(candidate)
    ceiling = Counter()
    for reference in references:
        ceiling |= Counter(reference)
    c = len(candidate)
    p1 = sum((words & ceiling).values()) / c
    r = max(len(reference) for reference in references)
    brevity_penalty = 1.0 if c > r else math.exp(1 - r / c)
    return brevity_penalty * math.sqrt(p1 * p2)
