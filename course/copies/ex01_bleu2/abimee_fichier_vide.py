# Copie : le fichier fait zéro octet (NB-08).
# Dommage : fichier_vide
