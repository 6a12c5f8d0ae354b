# Copie : juste, avec une table des verdicts et des appels par nom d'argument, l'ordre renversé d'abord.
# Reprend : parfaite

# %% juge_symetrique
VERDICTS = {("A", "B"): "A", ("B", "A"): "B", ("EGALITE", "EGALITE"): "EGALITE"}


def judge_symmetric(question, a, b, judge):
    inverse = judge(question=question, first=b, second=a)
    direct = judge(question=question, first=a, second=b)
    return VERDICTS.get((direct, inverse), "INSTABLE")

# %% compte_instables
def count_unstable(verdicts):
    return len([couple for couple in verdicts if tuple(couple) not in VERDICTS])
