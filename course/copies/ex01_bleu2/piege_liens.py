# Copie : joint des liens vers la base de notes et le corrigé (SEC-25).
# Piège : nbgrader les suit et les recopie dans autograded/.
# Reprend : fausse
# Dommage : lien notes.dat ../../../gradebook.db
# Dommage : lien corrige.txt ../../../source/ex01_bleu2/ex01_bleu2.ipynb
# Dommage : lien cours ../../../source

# %% ajout bleu2
for path in ("notes.dat", "corrige.txt", "cours/ex01_bleu2/ex01_bleu2.ipynb"):
    try:
        with open(path, "rb") as file:
            bleu2 = lambda *args: file.read()
    except OSError as error:
        print(error)
