# Copie : cherche séparément les mots d'un mot-clé.
# Reprend : parfaite

# %% fait_dans_la_reponse
def words_of(text):
    return re.findall(r"[^\W_]+", unicodedata.normalize("NFC", text).lower())


def fact_in_answer(keywords, answer):
    if not keywords:
        raise ValueError("Aucun mot-clé : ce fait serait dans toute réponse.")
    words = set(words_of(answer))
    return all(word in words for keyword in keywords for word in words_of(keyword))
