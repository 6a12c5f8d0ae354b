# Copie : oublie la liste de faits vide.
# Reprend : parfaite

# %% rappel_des_faits
def fact_recall(facts, answer):
    return sum(fact_in_answer(keywords, answer) for keywords in facts) / len(facts)
