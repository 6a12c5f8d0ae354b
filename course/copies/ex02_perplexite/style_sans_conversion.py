# Copie : juste sans remplacer les mots inconnus : leurs comptes sont nuls, comme ceux de <unk>.
# Reprend : parfaite

# %% modele_bigramme
pair_counts = Counter(zip(TOKENS, TOKENS[1:]))
context_counts = Counter(TOKENS[:-1])
V = len({*TOKENS, UNK})


def next_token_prob(prev, word):
    return (pair_counts[prev, word] + K) / (context_counts[prev] + K * V)

# %% perplexite
from statistics import geometric_mean


def perplexity(sentence):
    words = sentence.split()
    if len(words) <= 1:
        raise ValueError("phrase trop courte")
    return 1 / geometric_mean(map(next_token_prob, words, words[1:]))
