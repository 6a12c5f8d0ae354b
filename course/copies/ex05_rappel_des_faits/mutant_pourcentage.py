# Copie : rend un pourcentage.
# Reprend : parfaite

# %% rappel_des_faits
def fact_recall(facts, answer):
    if not facts:
        return math.nan
    return 100 * sum(fact_in_answer(keywords, answer) for keywords in facts) / len(facts)
