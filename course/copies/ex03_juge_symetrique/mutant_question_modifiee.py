# Copie : ajoute une consigne à la question.
# Reprend : parfaite

# %% juge_symetrique
def judge_symmetric(question, a, b, judge):
    question = question + " Répondez A ou B."
    direct = judge(question, a, b)
    swapped = judge(question, b, a)
    if (direct, swapped) == ("A", "B"):
        return "A"
    if (direct, swapped) == ("B", "A"):
        return "B"
    if direct == swapped == "EGALITE":
        return "EGALITE"
    return "INSTABLE"
