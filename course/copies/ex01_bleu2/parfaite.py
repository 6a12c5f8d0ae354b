# Copie : juste, dans le style du corrigé.

# %% precision_bigrammes
def modified_bigram_precision(candidate, references):
    bigrams = Counter(zip(candidate, candidate[1:]))
    total = sum(bigrams.values())
    if total == 0:
        return 0.0
    ceiling = Counter()
    for reference in references:
        ceiling |= Counter(zip(reference, reference[1:]))
    return sum((bigrams & ceiling).values()) / total

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
    r = min((len(reference) for reference in references), key=lambda length: (abs(length - c), length))
    brevity_penalty = 1.0 if c > r else math.exp(1 - r / c)
    return brevity_penalty * math.sqrt(p1 * p2)
