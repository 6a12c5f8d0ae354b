"""Les dossiers de ce cours."""

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = ROOT / "notebooks"
TEXTS = NOTEBOOKS / "textes"
SOURCE = ROOT / "source"
RELEASE = ROOT / "release"
COPIES = ROOT / "course" / "copies"
