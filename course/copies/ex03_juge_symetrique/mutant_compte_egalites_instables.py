# Copie : tient deux égalités pour instables.
# Reprend : parfaite

# %% compte_instables
def count_unstable(verdicts):
    stable = [("A", "B"), ("B", "A")]
    return sum((direct, inverse) not in stable for direct, inverse in verdicts)
