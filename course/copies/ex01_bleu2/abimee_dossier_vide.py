# Copie : le dossier est vide (NB-08).
# Dommage : fichier_supprime
