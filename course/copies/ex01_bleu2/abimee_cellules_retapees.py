# Copie : juste ; toutes les cellules retapées dans un autre éditeur, sans marque ni identifiant (NB-06).
# Reprend : parfaite
# Dommage : cellules_retapees
