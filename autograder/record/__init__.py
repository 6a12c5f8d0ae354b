"""Dernière étape : consigner.

Entrent une classe et les verdicts de chaque copie. Sortent la base de notes de nbgrader, notes.csv, le rapport de l'enseignant, les
retours aux étudiants et les exports. Ce qui se montre à l'étudiant ne vient jamais d'un processus qui a vu un test caché.

Importe les trois étapes qui précèdent, et `autograder.settings`.
"""
