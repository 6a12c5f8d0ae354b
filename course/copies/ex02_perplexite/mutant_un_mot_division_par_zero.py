# Copie : ne vérifie pas la longueur de la phrase.
# Reprend : parfaite

# %% perplexite
def perplexity(sentence):
    words = sentence.split()
    log_probs = [math.log(next_token_prob(prev, word)) for prev, word in zip(words, words[1:])]
    return math.exp(-sum(log_probs) / len(log_probs))
