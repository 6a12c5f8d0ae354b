# Copie : deux réponses illisibles passent pour un accord.
# Reprend : parfaite

# %% juge_symetrique
def judge_symmetric(question, a, b, judge):
    direct = judge(question, a, b)
    inverse = judge(question, b, a)
    inverse = {"A": "B", "B": "A"}.get(inverse, inverse)
    return direct if direct == inverse else "INSTABLE"
