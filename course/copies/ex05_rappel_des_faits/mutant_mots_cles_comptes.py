# Copie : compte les mots-clés et non les faits.
# Reprend : parfaite

# %% rappel_des_faits
def fact_recall(facts, answer):
    if not facts:
        return math.nan
    keywords = [keyword for fact in facts for keyword in fact]
    return sum(fact_in_answer([keyword], answer) for keyword in keywords) / len(keywords)
