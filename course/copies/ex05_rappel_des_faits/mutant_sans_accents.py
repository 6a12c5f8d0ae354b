# Copie : ôte les accents.
# Reprend : parfaite

# %% fait_dans_la_reponse
def words_of(text):
    letters = unicodedata.normalize("NFD", text).lower()
    return re.findall(r"[^\W_]+", "".join(letter for letter in letters if not unicodedata.combining(letter)))


def fact_in_answer(keywords, answer):
    if not keywords:
        raise ValueError("Aucun mot-clé : ce fait serait dans toute réponse.")
    text = " " + " ".join(words_of(answer)) + " "
    return all(" " + " ".join(words_of(keyword)) + " " in text for keyword in keywords)
