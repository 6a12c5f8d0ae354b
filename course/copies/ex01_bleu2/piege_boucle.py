# Copie : bleu2 ne finit jamais (SEC-12, NB-12) ; la première question garde ses points.
# Piège : la notation de toute la classe attendrait.
# Reprend : parfaite

# %% bleu2
def bleu2(candidate, references):
    while True:
        pass
