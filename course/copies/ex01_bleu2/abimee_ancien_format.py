# Copie : juste ; enregistrée au format 3 des notebooks, sans marques ni identifiants.
# Reprend : parfaite
# Dommage : ancien_format
