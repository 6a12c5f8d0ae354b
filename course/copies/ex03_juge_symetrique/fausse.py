# Copie : fausse et honnête, la même réponse partout ; base des copies piégées.

# %% juge_symetrique
def judge_symmetric(question, a, b, judge):
    return "INSTABLE"

# %% compte_instables
def count_unstable(verdicts):
    return 1

# %% instables_par_formulation
instables_par_formulation = [1, 1]

# %% conclusion
conclusion = "A"
