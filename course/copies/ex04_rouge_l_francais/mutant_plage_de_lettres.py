# Copie : ne connaît que les lettres de a à z et de à à ÿ.
# Reprend : parfaite

# %% decoupe
def french_tokens(text):
    return re.findall(r"[a-zà-ÿ]+", unicodedata.normalize("NFC", text).lower())
