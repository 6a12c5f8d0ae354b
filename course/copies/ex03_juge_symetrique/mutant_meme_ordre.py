# Copie : montre deux fois les textes dans le même ordre.
# Reprend : parfaite

# %% juge_symetrique
def judge_symmetric(question, a, b, judge):
    direct = judge(question, a, b)
    swapped = judge(question, a, b)
    if (direct, swapped) == ("A", "B"):
        return "A"
    if (direct, swapped) == ("B", "A"):
        return "B"
    if direct == swapped == "EGALITE":
        return "EGALITE"
    return "INSTABLE"
