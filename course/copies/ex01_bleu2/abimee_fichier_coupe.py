# Copie : le fichier est coupé : ce n'est plus du JSON (NB-08).
# Reprend : parfaite
# Dommage : fichier_coupe
