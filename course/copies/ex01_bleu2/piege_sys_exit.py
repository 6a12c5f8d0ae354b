# Copie : s'arrête par sys.exit() dans une cellule et dans une fonction (SEC-09).
# Piège : le correcteur s'arrêterait avec elle.
# Reprend : fausse

# %% ajout
raise SystemExit(0)

# %% ajout
exit()

# %% bleu2
def bleu2(candidate, references):
    raise SystemExit(0)
