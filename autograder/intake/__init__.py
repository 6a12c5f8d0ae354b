"""Première étape : recevoir.

Entrent une archive Moodle ou un dossier de copies, tels que les étudiants et les outils les ont laissés, et les devoirs d'un cours
nbgrader. Sortent des notebooks réparés, que l'on peut exécuter, et ce qui a été réparé ou refusé, dit en français.

Rien n'est exécuté ici, et rien de ce qu'une copie contient n'est cru. N'importe que `autograder.settings`.
"""
