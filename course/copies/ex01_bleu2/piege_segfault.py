# Copie : fait planter l'interpréteur par ctypes (SEC-10).
# Piège : un noyau mort laisse nbgrader sans note.
# Reprend : fausse

# %% ajout bleu2
__import__("ctypes").string_at(0)
