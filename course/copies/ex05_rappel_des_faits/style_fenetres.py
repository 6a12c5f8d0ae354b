# Copie : juste, avec des boucles et des fenêtres de mots, sans expression régulière.

# %% fait_dans_la_reponse
def split_words(text):
    letters = [letter if letter.isalnum() else " " for letter in unicodedata.normalize("NFC", text.casefold())]
    return "".join(letters).split()


def contains(words, wanted):
    for start in range(len(words) - len(wanted) + 1):
        if words[start:start + len(wanted)] == wanted:
            return True
    return False


def fact_in_answer(keywords, answer):
    if not keywords:
        raise ValueError("la liste des mots-clés est vide")
    words = split_words(answer)
    found = 0
    for keyword in keywords:
        if contains(words, split_words(keyword)):
            found += 1
    return found == len(keywords)

# %% rappel_des_faits
import numpy as np


def fact_recall(facts, answer):
    if len(facts) == 0:
        return np.nan
    return np.mean([fact_in_answer(fact, answer) for fact in facts])

# %% denominateur
denominateur = "A"

# %% limite
limite = "D"
