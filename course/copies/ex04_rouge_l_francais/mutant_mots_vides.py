# Copie : garde les chaînes vides que laisse re.split.
# Reprend : parfaite

# %% decoupe
def french_tokens(text):
    return re.split(r"[\W_]+", unicodedata.normalize("NFC", text).lower())
