# Copie : rien n'est rempli.
