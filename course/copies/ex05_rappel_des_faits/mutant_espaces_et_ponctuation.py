# Copie : découpe aux espaces et ôte la ponctuation des bords.
# Reprend : parfaite

# %% fait_dans_la_reponse
def fact_in_answer(keywords, answer):
    if not keywords:
        raise ValueError("Aucun mot-clé : ce fait serait dans toute réponse.")
    words = {word.strip(".,;:!?…") for word in unicodedata.normalize("NFC", answer).lower().split()}
    return all(unicodedata.normalize("NFC", keyword).lower() in words for keyword in keywords)
