# Copie : juste ; la première réponse et l'import glissés à la fin.
# Reprend : parfaite
# Dommage : cellule_deplacee_a_la_fin imports
# Dommage : cellule_deplacee_a_la_fin precision_bigrammes
