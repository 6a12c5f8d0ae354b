# Copie : ne compte que « A » deux fois ou « B » deux fois.
# Reprend : parfaite

# %% compte_instables
def count_unstable(verdicts):
    return sum(direct == inverse and direct in ("A", "B") for direct, inverse in verdicts)
