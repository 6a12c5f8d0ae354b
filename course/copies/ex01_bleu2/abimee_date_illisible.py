# Copie : juste ; un fichier timestamp.txt qui n'est pas une date, un fichier de données joint.
# Reprend : parfaite
# Dommage : fichier_joint timestamp.txt hier soir
# Dommage : fichier_joint mes données.txt le chat dort
