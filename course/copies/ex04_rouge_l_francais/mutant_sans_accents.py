# Copie : ôte les accents avant de découper.
# Reprend : parfaite

# %% decoupe
def french_tokens(text):
    letters = unicodedata.normalize("NFD", text).lower()
    return re.findall(r"[^\W_]+", "".join(letter for letter in letters if not unicodedata.combining(letter)))
