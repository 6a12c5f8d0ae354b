# Copie : n'ôte que la ponctuation de l'ASCII.
# Reprend : parfaite

# %% decoupe
def french_tokens(text):
    text = unicodedata.normalize("NFC", text).lower()
    for mark in "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~":
        text = text.replace(mark, " ")
    return text.split()
