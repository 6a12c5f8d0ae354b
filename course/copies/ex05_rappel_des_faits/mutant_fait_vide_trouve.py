# Copie : trouve partout un fait sans mot-clé.
# Reprend : parfaite

# %% fait_dans_la_reponse
def words_of(text):
    return re.findall(r"[^\W_]+", unicodedata.normalize("NFC", text).lower())


def fact_in_answer(keywords, answer):
    text = " " + " ".join(words_of(answer)) + " "
    return all(" " + " ".join(words_of(keyword)) + " " in text for keyword in keywords)
