# Copie : demande huit gigaoctets, une fois (SEC-14).
# Piège : la machine du correcteur étoufferait.
# Reprend : fausse

# %% ajout perplexite
block = bytearray(8 * 2**30)
perplexity = lambda sentence: 2.507906
