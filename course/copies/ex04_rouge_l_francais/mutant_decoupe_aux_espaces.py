# Copie : découpe aux espaces seulement.
# Reprend : parfaite

# %% decoupe
def french_tokens(text):
    return unicodedata.normalize("NFC", text).lower().split()
