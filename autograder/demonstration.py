"""La classe de démonstration : des copies gardées sous forme de texte, et la note que chacune doit recevoir.

Une copie est un fichier `copies/<devoir>/<etudiant>.py` :

    # Copie : une phrase qui dit ce qu'elle contient.
    # Reprend : parfaite
    # %% identifiant_d_une_cellule_réponse
    le code qui remplace cette cellule

La ligne « Reprend » est facultative : les cellules non données viennent alors de cette autre copie. Sans elle, elles
gardent leur amorce, comme si l'étudiant ne les avait pas touchées. Les notebooks remis sont construits depuis release/.
"""

import re
from pathlib import Path

import nbformat

from autograder.settings import UsageError

MARKS_FILE = "notes_attendues.csv"
CELL = re.compile(r"^# %%[ \t]+(\w+)[ \t]*\n", re.MULTILINE)
TRAP = re.compile(r"^# Piège", re.MULTILINE)
BASE = re.compile(r"^# Reprend : (\w+)[ \t]*$", re.MULTILINE)


class DemonstrationError(UsageError):
    """Une copie de démonstration ne correspond pas au devoir publié, ou son texte est mal formé."""


def read_copy(path: Path) -> dict[str, str]:
    """Cellules réponses d'une copie : identifiant -> code, celles de la copie reprise comprises.

    Raises:
        DemonstrationError: la copie reprise n'existe pas, ou une cellule est donnée deux fois.
    """
    preamble, *parts = CELL.split(path.read_text(encoding="utf-8"))
    names = parts[::2]
    for name in names:
        if names.count(name) > 1:
            raise DemonstrationError(f"{path.name} : la cellule « {name} » est donnée deux fois ; n'en garder qu'une.")
    cells = {name: code.strip("\n") for name, code in zip(names, parts[1::2])}
    base = BASE.search(preamble)
    if base is None:
        return cells
    base_path = path.with_name(f"{base[1]}.py")
    if not base_path.is_file():
        raise DemonstrationError(f"{path.name} : reprend « {base[1]} », mais {base_path.name} n'existe pas à côté ; "
                                 "corriger la ligne « Reprend ».")
    return read_copy(base_path) | cells


def build_copy(release: Path, copy: Path, target: Path) -> None:
    """Écrit dans `target` le notebook de `release` dont les cellules réponses sont remplacées par celles de `copy`.

    Raises:
        DemonstrationError: la copie nomme une cellule réponse que le notebook publié n'a pas.
    """
    notebook = nbformat.read(release, as_version=4)
    answers = {
        cell.metadata.nbgrader.grade_id: cell
        for cell in notebook.cells
        if cell.metadata.get("nbgrader", {}).get("solution")
    }
    for name, code in read_copy(copy).items():
        if name not in answers:
            raise DemonstrationError(f"{copy.parent.name}/{copy.name} : la cellule réponse « {name} » n'existe pas dans "
                                     f"{release.name} ; choisir parmi {', '.join(sorted(answers))}, ou republier le devoir.")
        answers[name].source = code
    target.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, target)


def build(release_dir: Path, copies_dir: Path, submitted_dir: Path, harmless: bool = False) -> list[Path]:
    """Construit `submitted_dir/<etudiant>/<devoir>/<devoir>.ipynb` pour chaque copie, et renvoie ces chemins, triés.

    Avec `harmless`, les copies piégées (ligne « # Piège ») sont laissées de côté : elles ne s'exécutent que dans un bac à sable.

    Raises:
        DemonstrationError: un devoir n'est pas publié, ou une copie ne correspond pas au devoir publié.
    """
    built = []
    for copy in sorted(Path(copies_dir).glob("*/*.py")):
        if harmless and TRAP.search(copy.read_text(encoding="utf-8")):
            continue
        student, assignment = copy.stem, copy.parent.name
        release = Path(release_dir) / assignment / f"{assignment}.ipynb"
        if not release.is_file():
            raise DemonstrationError(f"Le devoir {assignment} n'est pas publié : {assignment}.ipynb manque dans le dossier "
                                     f"« {Path(release_dir).name} » ; lancer « cours publier ».")
        target = Path(submitted_dir) / student / assignment / release.name
        build_copy(release, copy, target)
        built.append(target)
    return sorted(built)
