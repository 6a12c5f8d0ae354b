# Copie : cherche une sous-chaîne.
# Reprend : parfaite

# %% fait_dans_la_reponse
def fact_in_answer(keywords, answer):
    if not keywords:
        raise ValueError("Aucun mot-clé : ce fait serait dans toute réponse.")
    text = unicodedata.normalize("NFC", answer).lower()
    return all(unicodedata.normalize("NFC", keyword).lower() in text for keyword in keywords)
