# Copie : juste ; affiche ses calculs, et écrit un avertissement et un journal quand ses cellules s'exécutent.
# Reprend : parfaite

# %% rappel_des_faits
import logging
import warnings

warnings.warn("Le rappel dépend de la liste des faits.")
logging.warning("définition du rappel")


def fact_recall(facts, answer):
    found = [keywords for keywords in facts if fact_in_answer(keywords, answer)]
    print("faits trouvés :", found, "sur", len(facts))
    return len(found) / len(facts) if facts else math.nan
