# Copie : garde l'apostrophe à l'intérieur d'un mot.
# Reprend : parfaite

# %% decoupe
def french_tokens(text):
    return re.findall(r"[^\W_]+(?:['’][^\W_]+)*", unicodedata.normalize("NFC", text).lower())
