# Copie : juste ; affiche ses calculs, et écrit un avertissement et un journal quand ses cellules s'exécutent.
# Reprend : parfaite

# %% decoupe
import logging
import warnings

warnings.warn("Cette découpe ôte toute la ponctuation.")
logging.warning("définition de la découpe")


def french_tokens(text):
    words = re.findall(r"[^\W_]+", unicodedata.normalize("NFC", text).lower())
    print("mots :", words)
    return words
