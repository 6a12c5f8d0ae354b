# Copie : juste ; 200 000 lignes de sorties gardées dans le notebook (NB-14).
# Reprend : parfaite
# Dommage : sorties 200000
