"""Le correcteur : note les copies d'un cours nbgrader en Python, sans jamais exécuter le code d'un étudiant à côté des tests.

Une copie fait un voyage à sens unique, et chaque étape est un paquet qui n'importe que celles qui la précèdent :

1. `intake` reçoit : archives, copies abîmées, devoirs ; en sort un notebook que l'on peut exécuter ;
2. `execution` exécute : bac à sable, limites, canal ; en sortent des valeurs, des sorties, une mort ou un temps dépassé ;
3. `judgement` juge : les tests, d'un autre processus, à travers des doublures ; en sort un verdict par test ;
4. `record` consigne : base de notes, notes.csv, rapport, retours, exports.

`cli` les enchaîne. `settings` sert à tous. Rien ici ne sait quel cours on note.
"""

import sys

# jsonschema charge rfc3987_syntax s'il est là, pour vérifier des IRI : il compile sa grammaire pendant une seconde, à chaque
# démarrage, et ni nbformat ni nbgrader ne s'en servent. Absent, il est simplement laissé de côté.
sys.modules.setdefault("rfc3987_syntax", None)
