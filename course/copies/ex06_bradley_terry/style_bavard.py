# Copie : juste ; affiche ses calculs, et écrit un avertissement et un journal quand ses cellules s'exécutent.
# Reprend : parfaite

# %% score_attendu
import logging
import warnings

warnings.warn("Les cotes sont en points Elo.")
logging.warning("définition du score attendu")


def expected_score(rating_a, rating_b):
    print("écart :", rating_a - rating_b)
    return 1 / (1 + 10 ** ((rating_b - rating_a) / 400))
