# Copie : retire de la phrase les mots inconnus.
# Reprend : parfaite

# %% perplexite
def perplexity(sentence):
    words = [word for word in sentence.split() if word in TOKENS]
    if len(words) < 2:
        raise ValueError("Il faut au moins deux mots.")
    log_probs = [math.log(next_token_prob(prev, word)) for prev, word in zip(words, words[1:])]
    return math.exp(-sum(log_probs) / len(log_probs))
