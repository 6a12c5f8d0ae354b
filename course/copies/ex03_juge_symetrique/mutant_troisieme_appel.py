# Copie : départage un désaccord par un troisième appel.
# Reprend : parfaite

# %% juge_symetrique
def judge_symmetric(question, a, b, judge):
    direct = judge(question, a, b)
    swapped = judge(question, b, a)
    if (direct, swapped) == ("A", "B"):
        return "A"
    if (direct, swapped) == ("B", "A"):
        return "B"
    if direct == swapped == "EGALITE":
        return "EGALITE"
    third = judge(question, a, b)
    return third if third in ("A", "B") else "INSTABLE"
