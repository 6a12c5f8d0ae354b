"""Le correcteur et la commande « cours »."""

import sys

# jsonschema charge rfc3987_syntax s'il est là, pour vérifier des IRI : il compile sa grammaire pendant une seconde, à chaque
# démarrage, et ni nbformat ni nbgrader ne s'en servent. Absent, il est simplement laissé de côté.
sys.modules.setdefault("rfc3987_syntax", None)
