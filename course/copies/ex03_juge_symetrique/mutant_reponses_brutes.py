# Copie : compare les deux lettres sans les rapporter aux textes.
# Reprend : parfaite

# %% juge_symetrique
def judge_symmetric(question, a, b, judge):
    direct = judge(question, a, b)
    inverse = judge(question, b, a)
    return direct if direct == inverse else "INSTABLE"
