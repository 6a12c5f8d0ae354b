"""Réglages communs des tests : en intégration continue, les propriétés essaient toujours les mêmes exemples."""

import os

from hypothesis import settings

settings.register_profile("ci", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("ci")
