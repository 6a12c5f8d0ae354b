# Copie : logarithme en base 2, exponentielle en base e.
# Reprend : parfaite

# %% perplexite
def perplexity(sentence):
    words = sentence.split()
    if len(words) < 2:
        raise ValueError("Il faut au moins deux mots.")
    log_probs = [math.log2(next_token_prob(prev, word)) for prev, word in zip(words, words[1:])]
    return math.exp(-sum(log_probs) / len(log_probs))
