# Copie : juste ; affiche chaque réponse et avertit quand sa cellule s'exécute.
# Reprend : parfaite

# %% juge_symetrique
import logging
import warnings

warnings.warn("Deux appels par paire.")
logging.warning("définition du juge symétrique")


def judge_symmetric(question, a, b, judge):
    answers = []
    for first, second in [(a, b), (b, a)]:
        answers.append(judge(question, first, second))
        print(question, "|", first, "|", second, "->", answers[-1])
    if answers == ["A", "B"]:
        return "A"
    elif answers == ["B", "A"]:
        return "B"
    elif answers == ["EGALITE", "EGALITE"]:
        return "EGALITE"
    else:
        return "INSTABLE"
