# Copie : la découpe par défaut de la bibliothèque la plus courante.
# Reprend : parfaite

# %% decoupe
def french_tokens(text):
    return re.findall(r"[a-z0-9]+", text.lower())
