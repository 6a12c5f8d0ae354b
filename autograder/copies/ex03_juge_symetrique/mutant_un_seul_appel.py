# Copie : n'interroge le juge que dans un ordre (VECTEURS B4, one call).
# Reprend : parfaite

# %% juge_symetrique
def judge_symmetric(question, a, b, judge):
    return judge(question, a, b)
