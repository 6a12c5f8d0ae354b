# Copie : renvoie la place du gagnant au second appel, pas son nom.
# Reprend : parfaite

# %% juge_symetrique
def judge_symmetric(question, a, b, judge):
    direct = judge(question, a, b)
    swapped = judge(question, b, a)
    if (direct, swapped) == ("A", "B"):
        return swapped
    if (direct, swapped) == ("B", "A"):
        return swapped
    if direct == swapped == "EGALITE":
        return "EGALITE"
    return "INSTABLE"
