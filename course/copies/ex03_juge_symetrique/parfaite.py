# Copie : juste, dans le style du corrigé.

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
    return "INSTABLE"

# %% compte_instables
def count_unstable(verdicts):
    stable = [("A", "B"), ("B", "A"), ("EGALITE", "EGALITE")]
    return sum((direct, inverse) not in stable for direct, inverse in verdicts)

# %% instables_par_formulation
instables_par_formulation = [count_unstable(couples) for _, couples in verdicts_enregistres]

# %% conclusion
conclusion = "C"
