# Copie : juste ; le navigateur a renommé le fichier (NB-07).
# Reprend : parfaite
# Dommage : fichier_renomme ex01_bleu2 (1).ipynb
