"""Troisième étape : juger.

Entrent un devoir, avec ses tests, et une copie réparée. Sort un verdict par test : réussi ou non, ses points, ce qu'on peut en dire à
l'étudiant. Les tests s'exécutent dans un processus de confiance, où la copie n'est que des doublures (`proxy`).

N'importe que `intake`, `execution` et `autograder.settings`.
"""
