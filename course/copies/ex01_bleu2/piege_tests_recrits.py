# Copie : récrit des tests, en supprime un, en double un autre, gonfle des points et marque une réponse comme notée (SEC-19).
# Piège : le correcteur croirait les cellules de la copie.
# Reprend : fausse
# Dommage : cellule_recrite bleu2_renvoie_un_float True
# Dommage : cellule_recrite bleu2_prend_la_moyenne_geometrique 1
# Dommage : cellules_supprimees bleu2_plafonne_les_mots_repetes
# Dommage : cellule_en_double precision_renvoie_un_float
# Dommage : marque_changee precision_renvoie_un_float points 100
# Dommage : marque_changee bleu2 grade true
# Dommage : marque_changee bleu2 points 50
# Dommage : cellule_renommee bleu2_penalise_un_candidat_court precision_renvoie_un_float
