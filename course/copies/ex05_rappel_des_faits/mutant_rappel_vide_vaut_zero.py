# Copie : rend 0 quand aucun fait n'est attendu.
# Reprend : parfaite

# %% rappel_des_faits
def fact_recall(facts, answer):
    if not facts:
        return 0.0
    return sum(fact_in_answer(keywords, answer) for keywords in facts) / len(facts)
