# Copie : juste, dans le style du corrigé.

# %% modele_bigramme
def next_token_prob(prev, word):
    known = set(TOKENS)
    prev = prev if prev in known else UNK
    word = word if word in known else UNK
    bigrams = list(zip(TOKENS, TOKENS[1:]))
    seen = bigrams.count((prev, word))
    context = sum(first == prev for first, _ in bigrams)
    vocabulary_size = len(known) + 1
    return (seen + K) / (context + K * vocabulary_size)

# %% perplexite
def perplexity(sentence):
    words = sentence.split()
    if len(words) < 2:
        raise ValueError("Il faut au moins deux mots.")
    log_probs = [math.log(next_token_prob(prev, word)) for prev, word in zip(words, words[1:])]
    return math.exp(-sum(log_probs) / len(log_probs))

# %% explication
explication = "D"
