# Copie : accepte un mot-clé qui n'est que le début d'un mot.
# Reprend : parfaite

# %% fait_dans_la_reponse
def words_of(text):
    return re.findall(r"[^\W_]+", unicodedata.normalize("NFC", text).lower())


def fact_in_answer(keywords, answer):
    if not keywords:
        raise ValueError("Aucun mot-clé : ce fait serait dans toute réponse.")
    text = " " + " ".join(words_of(answer)) + " "
    return all(" " + " ".join(words_of(keyword)) in text for keyword in keywords)
