# Copie : compte pour une part un fait dont un mot-clé manque.
# Reprend : parfaite

# %% rappel_des_faits
def fact_recall(facts, answer):
    if not facts:
        return math.nan
    parts = [sum(fact_in_answer([keyword], answer) for keyword in fact) / len(fact) for fact in facts]
    return sum(parts) / len(parts)
