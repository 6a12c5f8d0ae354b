# Copie : renvoie l'infini pour un seul mot.
# Reprend : parfaite

# %% perplexite
def perplexity(sentence):
    words = sentence.split()
    if len(words) < 2:
        return math.inf
    log_probs = [math.log(next_token_prob(prev, word)) for prev, word in zip(words, words[1:])]
    return math.exp(-sum(log_probs) / len(log_probs))
