# Copie : ne ramène pas le texte en forme NFC.
# Reprend : parfaite

# %% decoupe
def french_tokens(text):
    return re.findall(r"[^\W_]+", text.lower())
