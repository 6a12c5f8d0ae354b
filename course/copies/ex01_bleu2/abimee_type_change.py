# Copie : juste ; une réponse passée en texte, un test passé en texte.
# Reprend : parfaite
# Dommage : type_change bleu2 markdown
# Dommage : type_change bleu2_renvoie_un_float markdown
