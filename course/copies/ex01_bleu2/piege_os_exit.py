# Copie : tue son processus entre les deux questions (SEC-10, NB-11) ; la première garde ses points.
# Piège : sans verdict, plus de note, ou tous les points.
# Reprend : parfaite

# %% bleu2
def bleu2(candidate, references):
    __import__("os")._exit(0)
