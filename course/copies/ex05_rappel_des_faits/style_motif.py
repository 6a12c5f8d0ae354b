# Copie : juste, avec une expression régulière par mot-clé.

# %% fait_dans_la_reponse
def fact_in_answer(keywords, answer):
    if len(keywords) == 0:
        raise ValueError("Donnez au moins un mot-clé.")
    composed = unicodedata.normalize("NFC", answer)
    for keyword in keywords:
        parts = re.findall(r"\w+", unicodedata.normalize("NFC", keyword))
        if not re.search(r"\b" + r"\W+".join(parts) + r"\b", composed, re.IGNORECASE):
            return False
    return True

# %% rappel_des_faits
from statistics import mean


def fact_recall(facts, answer):
    return float(mean(float(fact_in_answer(fact, answer)) for fact in facts)) if facts else float("nan")

# %% denominateur
denominateur = "A"

# %% limite
limite = "D"
