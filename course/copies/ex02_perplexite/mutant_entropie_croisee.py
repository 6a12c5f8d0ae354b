# Copie : renvoie l'entropie croisée, sans l'exponentielle.
# Reprend : parfaite

# %% perplexite
def perplexity(sentence):
    words = sentence.split()
    if len(words) < 2:
        raise ValueError("Il faut au moins deux mots.")
    log_probs = [math.log(next_token_prob(prev, word)) for prev, word in zip(words, words[1:])]
    return -sum(log_probs) / len(log_probs)
