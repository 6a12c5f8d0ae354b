# Copie : une récursion sans fin, limite relevée ; la première question garde ses points.
# Piège : la pile déborde.
# Reprend : parfaite

# %% perplexite
__import__("sys").setrecursionlimit(20_000)


def perplexity(sentence):
    return perplexity(sentence)
