# Copie : des commandes magiques qui écrivent, lisent et changent de langage (SEC-01, SEC-02).
# Piège : elles atteindraient la base de notes.
# Reprend : fausse

# %% ajout
%%bash
find / -name gradebook.db 2>/dev/null; cat ../../gradebook.db ../../source/*/*.ipynb

# %% ajout
%%writefile ../notes_attendues.csv
etudiant,devoir,note

# %% ajout
!touch /usr/lib/trace /correcteur/trace /trace; echo 20
%cd /correcteur

# %% ajout conclusion
%reset -f
