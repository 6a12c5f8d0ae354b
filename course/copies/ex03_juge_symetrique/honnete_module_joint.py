# Copie : juste ; un fichier random.py et un fichier outils.py joints, importés ou non, qui masquent des modules de Python.
# Reprend : parfaite
# Dommage : fichier_joint random.py raise RuntimeError("ce n'est pas le module de Python")
# Dommage : fichier_joint outils.py STABLES = {("A", "B"), ("B", "A"), ("EGALITE", "EGALITE")}

# %% compte_instables
from outils import STABLES


def count_unstable(verdicts):
    return sum(tuple(couple) not in STABLES for couple in verdicts)

# %% instables_par_formulation
instables_par_formulation = tuple(count_unstable(couples) for _, couples in verdicts_enregistres)
