"""La classe de démonstration : des copies gardées sous forme de texte, et la note que chacune doit recevoir.

Une copie est un fichier `copies/<devoir>/<etudiant>.py` :

    # Copie : une phrase qui dit ce qu'elle contient.
    # Reprend : parfaite
    # Dommage : cellule_en_double bleu2
    # %% identifiant_d_une_cellule_réponse
    le code qui remplace cette cellule
    # %% ajout
    une cellule de plus, en tête du notebook
    # %% ajout bleu2
    une cellule de plus, juste après la cellule bleu2

Lignes facultatives de l'en-tête :

- « Reprend » : les cellules non données viennent de cette autre copie ; sans elle, elles gardent leur amorce, comme si l'étudiant
  ne les avait pas touchées ;
- « Piège » : la copie attaque le correcteur ; elle ne s'exécute que dans un bac à sable ;
- « Dommage », autant de fois qu'il le faut : le notebook remis est abîmé ainsi (voir `DAMAGES`) ;
- « Étudiant » : nom du dossier de l'étudiant, quand ce n'est pas celui du fichier.

Les notebooks remis sont construits depuis release/.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from autograder.settings import UsageError

MARKS_FILE = "notes_attendues.csv"
EXTRA = "ajout"
CELL = re.compile(r"^# %%[ \t]+(\w+)(?:[ \t]+(\w+))?[ \t]*\n", re.MULTILINE)
HEADER = re.compile(r"^# (Reprend|Piège|Dommage|Étudiant) : (.+?)[ \t]*$", re.MULTILINE)


class DemonstrationError(UsageError):
    """Une copie de démonstration ne correspond pas au devoir publié, ou son texte est mal formé."""


@dataclass(frozen=True)
class CopyText:
    """Ce que dit le texte d'une copie.

    Attributes:
        student: dossier de l'étudiant.
        trap: la copie attaque le correcteur.
        answers: cellules réponses, identifiant → code, celles de la copie reprise comprises.
        extras: cellules de plus, dans l'ordre : (cellule qu'elle suit, ou None en tête ; code).
        damages: dommages du fichier remis, dans l'ordre : (nom, arguments).
    """

    student: str
    trap: bool = False
    answers: dict[str, str] = field(default_factory=dict)
    extras: list[tuple[str | None, str]] = field(default_factory=list)
    damages: list[tuple[str, list[str]]] = field(default_factory=list)


def read_copy(path: Path) -> CopyText:
    """Lit le texte d'une copie.

    Raises:
        DemonstrationError: la copie reprise n'existe pas, une cellule est donnée deux fois, ou un dommage est inconnu.
    """
    preamble, *parts = CELL.split(path.read_text(encoding="utf-8"))
    answers, extras = {}, []
    for name, place, code in zip(parts[::3], parts[1::3], parts[2::3]):
        code = code.strip("\n")
        if name == EXTRA:
            extras.append((place, code))
        elif name in answers:
            raise DemonstrationError(f"{path.name} : la cellule « {name} » est donnée deux fois ; n'en gardez qu'une.")
        else:
            answers[name] = code
    lines = HEADER.findall(preamble)
    header = dict(lines)
    if "Reprend" in header:
        base = path.with_name(f"{header['Reprend']}.py")
        if not base.is_file():
            raise DemonstrationError(f"{path.name} : reprend « {base.stem} », mais {base.name} n'existe pas à côté ; "
                                     "corrigez la ligne « Reprend ».")
        answers = read_copy(base).answers | answers
    damages = [text.split() for key, text in lines if key == "Dommage"]
    for name, *_ in damages:
        if name not in DAMAGES:
            known = ", ".join(sorted(DAMAGES))
            raise DemonstrationError(f"{path.name} : le dommage « {name} » n'existe pas ; choisissez parmi {known}.")
    damages = [(name, words) for name, *words in damages]
    return CopyText(header.get("Étudiant", path.stem), "Piège" in header, answers, extras, damages)


def build_copy(release: Path, copy: Path, folder: Path) -> Path:
    """Écrit dans `folder` le notebook de `release` rempli et abîmé comme le dit `copy` ; rend le chemin qu'il devait avoir.

    Raises:
        DemonstrationError: la copie nomme une cellule que le notebook publié n'a pas.
    """
    text = read_copy(copy)
    notebook = nbformat.read(release, as_version=4)
    answers = {_grade_id(cell) for cell in notebook.cells if cell.metadata.get("nbgrader", {}).get("solution")}
    for name in [*text.answers, *(place for place, _ in text.extras if place is not None)]:
        if name not in answers:
            raise DemonstrationError(f"{copy.parent.name}/{copy.name} : la cellule réponse « {name} » n'existe pas dans "
                                     f"{release.name} ; choisissez parmi {', '.join(sorted(answers))}, ou republiez le devoir.")
    cells = _extra_cells(text, None)
    for cell in notebook.cells:
        cell.source = text.answers.get(_grade_id(cell), cell.source)
        cells += [cell, *_extra_cells(text, _grade_id(cell))]
    notebook.cells = cells
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / release.name
    nbformat.write(notebook, target)
    for name, words in text.damages:
        DAMAGES[name](target, *words)
    return target


def _extra_cells(text: CopyText, place: str | None) -> list[NotebookNode]:
    codes = [code for after, code in text.extras if after == place]
    # Identifiant choisi, et non tiré au sort : la même copie donne toujours le même fichier.
    return [nbformat.v4.new_code_cell(code, id=f"ajout-{place or 'tete'}-{rank}"[:64]) for rank, code in enumerate(codes)]


def _grade_id(cell: NotebookNode) -> str | None:
    return cell.metadata.get("nbgrader", {}).get("grade_id")


def build(release_dir: Path, copies_dir: Path, submitted_dir: Path, harmless: bool = False) -> list[Path]:
    """Construit `submitted_dir/<etudiant>/<devoir>/<devoir>.ipynb` pour chaque copie, et renvoie ces chemins, triés.

    Un dommage peut faire que le notebook n'est plus là, ou plus sous ce nom. Avec `harmless`, les copies piégées sont laissées de
    côté.

    Raises:
        DemonstrationError: un devoir n'est pas publié, ou une copie ne correspond pas au devoir publié.
    """
    built = []
    for copy in sorted(Path(copies_dir).glob("*/*.py")):
        text = read_copy(copy)
        if harmless and text.trap:
            continue
        assignment = copy.parent.name
        release = Path(release_dir) / assignment / f"{assignment}.ipynb"
        if not release.is_file():
            raise DemonstrationError(f"Le devoir {assignment} n'est pas publié : {assignment}.ipynb manque dans le dossier "
                                     f"« {Path(release_dir).name} » ; lancez « cours publier ».")
        built.append(build_copy(release, copy, Path(submitted_dir) / text.student / assignment))
    return sorted(built)


# --- Dommages : chacun reçoit le chemin du notebook remis, puis les mots de la ligne « Dommage » ----------------------


def on_cells(change: Callable) -> Callable[..., None]:
    """Dommage qui ne touche que la liste des cellules (dictionnaires JSON) du notebook."""

    def damage(path: Path, *words: str) -> None:
        notebook = json.loads(path.read_text(encoding="utf-8"))
        change(notebook["cells"], *words)
        path.write_text(json.dumps(notebook, ensure_ascii=False), encoding="utf-8")

    return damage


def _place(cells: list[dict], name: str) -> int:
    return next(place for place, cell in enumerate(cells) if cell["metadata"].get("nbgrader", {}).get("grade_id") == name)


def _duplicate(cells: list[dict], name: str) -> None:
    """La cellule est copiée juste après elle, marque et identifiant compris (NB-04)."""
    place = _place(cells, name)
    cells.insert(place + 1, json.loads(json.dumps(cells[place])))


def _delete(cells: list[dict], *names: str) -> None:
    for name in names:
        del cells[_place(cells, name)]


def _move_to_end(cells: list[dict], name: str) -> None:
    cells.append(cells.pop(_place(cells, name)))


def _rewrite(cells: list[dict], name: str, *words: str) -> None:
    """Le texte d'une cellule en lecture seule est remplacé par l'étudiant."""
    cells[_place(cells, name)]["source"] = " ".join(words)


def _rename(cells: list[dict], name: str, new_name: str) -> None:
    cells[_place(cells, name)]["metadata"]["nbgrader"]["grade_id"] = new_name


def _set_mark(cells: list[dict], name: str, key: str, value: str) -> None:
    """Une clé de la marque nbgrader d'une cellule change (points, grade, solution…) ; la valeur est du JSON."""
    cells[_place(cells, name)]["metadata"]["nbgrader"][key] = json.loads(value)


def _retype(cells: list[dict], name: str, kind: str) -> None:
    cell = cells[_place(cells, name)]
    cell["cell_type"] = kind
    cell.pop("outputs", None), cell.pop("execution_count", None)


def _strip(cells: list[dict], *names: str) -> None:
    """Les cellules sont retapées : plus de marque nbgrader, un autre identifiant (NB-06) ; toutes, si aucune n'est nommée."""
    for rank, cell in enumerate(cells):
        if not names or cell["metadata"].get("nbgrader", {}).get("grade_id") in names:
            cell["metadata"], cell["id"] = {}, f"retapee-{rank}"


def _store_outputs(cells: list[dict], lines: str) -> None:
    """La première cellule de code garde une sortie de ce nombre de lignes (NB-14)."""
    code = next(cell for cell in cells if cell["cell_type"] == "code")
    code["outputs"] = [{"output_type": "stream", "name": "stdout", "text": ["une ligne de sortie\n"] * int(lines)}]


def _old_format(path: Path) -> None:
    """Le notebook passe au format 3 : des feuilles au lieu de cellules, ni identifiants ni marques."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    old = [
        {"cell_type": "code", "input": cell["source"], "language": "python", "metadata": {}, "outputs": []}
        if cell["cell_type"] == "code"
        else {"cell_type": cell["cell_type"], "source": cell["source"], "metadata": {}}
        for cell in cells
    ]
    content = {"nbformat": 3, "nbformat_minor": 0, "metadata": {"name": ""}, "worksheets": [{"metadata": {}, "cells": old}]}
    path.write_text(json.dumps(content), encoding="utf-8")


def _link(path: Path, name: str, goal: str) -> None:
    """Un lien vers un fichier du cours est joint à la copie (SEC-25)."""
    path.with_name(name).symlink_to(goal)


DAMAGES: dict[str, Callable[..., None]] = {
    "cellule_en_double": on_cells(_duplicate),
    "cellules_supprimees": on_cells(_delete),
    "cellule_deplacee_a_la_fin": on_cells(_move_to_end),
    "cellule_recrite": on_cells(_rewrite),
    "cellule_renommee": on_cells(_rename),
    "marque_changee": on_cells(_set_mark),
    "type_change": on_cells(_retype),
    "cellules_retapees": on_cells(_strip),
    "sorties": on_cells(_store_outputs),
    "ancien_format": _old_format,
    "fichier_renomme": lambda path, *words: path.rename(path.with_name(" ".join(words))),
    "fichier_supprime": lambda path: path.unlink(),
    "fichier_vide": lambda path: path.write_bytes(b""),
    "fichier_coupe": lambda path: path.write_bytes(path.read_bytes()[:2000]),
    "fichier_joint": lambda path, name, *words: path.with_name(name).write_text(" ".join(words), encoding="utf-8"),
    "lien": _link,
}
