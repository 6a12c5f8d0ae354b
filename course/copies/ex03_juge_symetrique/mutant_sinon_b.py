# Copie : tout ce qui n'est pas « A » compte pour « B ».
# Reprend : parfaite

# %% juge_symetrique
def judge_symmetric(question, a, b, judge):
    winner_direct = "A" if judge(question, a, b) == "A" else "B"
    winner_inverse = "B" if judge(question, b, a) == "A" else "A"
    return winner_direct if winner_direct == winner_inverse else "INSTABLE"
