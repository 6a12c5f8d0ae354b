# Copie : oublie que le second appel montre les textes renversés.
# Reprend : parfaite

# %% juge_symetrique
def judge_symmetric(question, a, b, judge):
    direct = judge(question, a, b)
    inverse = judge(question, b, a)
    if direct == inverse and direct in ("A", "B"):
        return direct
    return "INSTABLE"
