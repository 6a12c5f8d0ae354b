"""Deuxième étape : exécuter.

Entre le code d'une copie. Sortent, par un canal de valeurs simples, ce qu'il calcule, ce qu'il affiche, ou pourquoi il s'est arrêté :
mort, temps de calcul ou d'attente dépassé, mémoire, processus ou disque. Le code ne s'exécute que dans le bac à sable, qui ne contient
ni test ni corrigé ; `worker` et `channel` y sont montés tels quels.

N'importe que `autograder.settings`.
"""
