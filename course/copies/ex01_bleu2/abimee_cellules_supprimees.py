# Copie : juste ; la réponse bleu2 et deux tests supprimés (NB-05).
# Reprend : parfaite
# Dommage : cellules_supprimees bleu2 bleu2_renvoie_un_float precision_plafonne_les_repetitions
