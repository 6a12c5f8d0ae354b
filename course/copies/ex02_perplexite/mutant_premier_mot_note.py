# Copie : note aussi le premier mot, par sa fréquence.
# Reprend : parfaite

# %% perplexite
def perplexity(sentence):
    words = sentence.split()
    if len(words) < 2:
        raise ValueError("Il faut au moins deux mots.")
    log_probs = [math.log(next_token_prob(prev, word)) for prev, word in zip(words, words[1:])]
    log_probs.append(math.log((TOKENS.count(words[0]) + K) / (len(TOKENS) + 8 * K)))
    return math.exp(-sum(log_probs) / len(log_probs))
