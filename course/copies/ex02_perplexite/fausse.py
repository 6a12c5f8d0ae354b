# Copie : fausse et honnête, la même valeur partout ; base des copies piégées.

# %% modele_bigramme
def next_token_prob(prev, word):
    return 0.25

# %% perplexite
def perplexity(sentence):
    return 4.0

# %% explication
explication = "A"
