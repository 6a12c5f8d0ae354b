# Copie : donne 20 pour dernière valeur, une note partielle de -1, nan ou l'infini, et du HTML actif (NB-18, NB-20, SEC-22).
# Piège : nbgrader prend la dernière valeur affichée pour la note.
# Reprend : fausse

# %% ajout bleu2
from IPython.display import HTML, Javascript, display

display(HTML("<script>alert(1)</script>"), Javascript("alert(1)"))
print("<script>alert(1)</script>")
float("nan")

# %% ajout bleu2
20
