# Copie : une égalité et une victoire font une victoire.
# Reprend : parfaite

# %% juge_symetrique
def judge_symmetric(question, a, b, judge):
    direct = judge(question, a, b)
    inverse = judge(question, b, a)
    inverse = {"A": "B", "B": "A"}.get(inverse, inverse)
    if direct == inverse or inverse == "EGALITE":
        return direct
    if direct == "EGALITE":
        return inverse
    return "INSTABLE"
