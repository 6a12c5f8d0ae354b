# Copie : ne refuse que les lettres voisines, pas les chiffres.
# Reprend : parfaite

# %% fait_dans_la_reponse
def fact_in_answer(keywords, answer):
    if not keywords:
        raise ValueError("Aucun mot-clé : ce fait serait dans toute réponse.")
    text = unicodedata.normalize("NFC", answer).lower()
    for keyword in keywords:
        words = unicodedata.normalize("NFC", keyword).lower().split()
        if not re.search(r"(?<![^\W\d_])" + r"\s+".join(words) + r"(?![^\W\d_])", text):
            return False
    return True
