# Copie : inverse de la moyenne ordinaire des probabilités.
# Reprend : parfaite

# %% perplexite
def perplexity(sentence):
    words = sentence.split()
    if len(words) < 2:
        raise ValueError("Il faut au moins deux mots.")
    probs = [next_token_prob(prev, word) for prev, word in zip(words, words[1:])]
    return len(probs) / sum(probs)
