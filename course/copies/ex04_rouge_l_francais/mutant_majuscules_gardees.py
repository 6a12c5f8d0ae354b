# Copie : oublie de passer en minuscules.
# Reprend : parfaite

# %% decoupe
def french_tokens(text):
    return re.findall(r"[^\W_]+", unicodedata.normalize("NFC", text))
