# Copie : renvoie le texte gagnant au lieu de « A » ou « B ».
# Reprend : parfaite

# %% juge_symetrique
def judge_symmetric(question, a, b, judge):
    direct = judge(question, a, b)
    swapped = judge(question, b, a)
    if (direct, swapped) == ("A", "B"):
        return a
    if (direct, swapped) == ("B", "A"):
        return b
    if direct == swapped == "EGALITE":
        return "EGALITE"
    return "INSTABLE"
