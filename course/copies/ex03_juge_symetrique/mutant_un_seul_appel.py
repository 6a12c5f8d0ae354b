# Copie : n'interroge le juge que dans un ordre.
# Reprend : parfaite

# %% juge_symetrique
def judge_symmetric(question, a, b, judge):
    return judge(question, a, b)
