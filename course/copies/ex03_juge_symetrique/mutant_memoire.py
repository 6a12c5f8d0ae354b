# Copie : garde en mémoire le verdict d'une paire, même si le juge change.
# Reprend : parfaite

# %% juge_symetrique
memory = {}


def judge_symmetric(question, a, b, judge):
    if (question, a, b) not in memory:
        answers = (judge(question, a, b), judge(question, b, a))
        stable = {("A", "B"): "A", ("B", "A"): "B", ("EGALITE", "EGALITE"): "EGALITE"}
        memory[question, a, b] = stable.get(answers, "INSTABLE")
    return memory[question, a, b]
