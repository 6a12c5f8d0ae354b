# Copie : compte les couples dont les deux lettres diffèrent.
# Reprend : parfaite

# %% compte_instables
def count_unstable(verdicts):
    return sum(direct != inverse for direct, inverse in verdicts)
