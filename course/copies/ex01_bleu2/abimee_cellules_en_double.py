# Copie : juste ; une réponse, un test et la première cellule copiés avec leur marque (NB-04).
# Reprend : parfaite
# Dommage : cellule_en_double titre
# Dommage : cellule_en_double bleu2
# Dommage : cellule_en_double bleu2_renvoie_un_float
