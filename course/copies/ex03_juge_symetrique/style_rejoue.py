# Copie : juste ; le compte rejoue chaque couple dans le juge symétrique.
# Reprend : parfaite

# %% juge_symetrique
def winner(answer, first, second):
    if answer == "A":
        return first
    if answer == "B":
        return second
    return answer


def judge_symmetric(question, a, b, judge):
    winners = [winner(judge(question, x, y), x, y) for x, y in ((a, b), (b, a))]
    if winners[0] is None or winners[0] != winners[1]:
        return "INSTABLE"
    return {a: "A", b: "B"}.get(winners[0], "EGALITE")

# %% compte_instables
def count_unstable(verdicts):
    total = 0
    for direct, inverse in verdicts:
        verdict = judge_symmetric("?", "x", "y", lambda question, first, second: direct if first == "x" else inverse)
        if verdict == "INSTABLE":
            total = total + 1
    return total
