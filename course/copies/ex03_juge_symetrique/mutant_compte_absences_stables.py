# Copie : tient deux absences de réponse pour stables.
# Reprend : parfaite

# %% compte_instables
def count_unstable(verdicts):
    stable = [("A", "B"), ("B", "A"), ("EGALITE", "EGALITE"), (None, None)]
    return sum((direct, inverse) not in stable for direct, inverse in verdicts)
