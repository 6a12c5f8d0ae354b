# Copie : la découpe seulement.

# %% decoupe
def french_tokens(text):
    text = unicodedata.normalize("NFC", text).lower()
    return re.findall(r"[^\W_]+", text)
