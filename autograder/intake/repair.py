"""Remet d'aplomb une copie abîmée avant que nbgrader ne la voie : une note pour ce qui se corrige, une raison pour le reste.

`repair_folder` lit le dossier d'une copie (autograder.copyfiles), rend à ses notebooks les cellules du devoir (autograder.cells)
et écrit un dossier que nbgrader accepte. `RepairCopy` répare dans `nbgrader autograde`. Sert tout cours nbgrader.
"""

import copy as copying
import os
import re
import shutil
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
from nbconvert.exporters.exporter import ResourcesDict
from nbformat import NotebookNode
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import (
    ClearHiddenTests,
    ClearMarkScheme,
    ClearOutput,
    ClearSolutions,
    ComputeChecksums,
    LockCells,
    NbGraderPreprocessor,
)

from autograder.intake.cells import cells_in_common, has_answers, listed, repair
from autograder.intake.copyfiles import (
    MAX_FILE_BYTES,
    NOTEBOOK_SUFFIX,
    UnreadableError,
    copy_files,
    is_notebook_name,
    read_notebook,
    read_regular,
    shown_name,
    walk,
)


@dataclass(frozen=True)
class LoadedCopy:
    """Ce que contient le dossier d'une copie.

    Attributes:
        notebooks: notebooks lus, par nom de notebook du devoir.
        files: fichiers de données ordinaires, avec le chemin relatif sous lequel les recopier.
        refused: fichiers refusés et pourquoi (liens, fichiers spéciaux, noms qui remontent, excès de taille).
        reasons: réparations et manques qu'une personne doit connaître.
        fatal: pourquoi aucune note n'est possible, ou None.
    """

    notebooks: dict[str, NotebookNode] = field(default_factory=dict)
    files: tuple[tuple[Path, str], ...] = ()
    refused: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    fatal: str | None = None


@dataclass(frozen=True)
class RepairReport:
    """Ce qui a été écrit pour nbgrader, et ce qu'il faut en dire ; `fatal` n'est pas None si aucune note n'est possible."""

    notebooks: tuple[Path, ...] = ()
    reasons: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    fatal: str | None = None


@dataclass(frozen=True)
class _Candidate:
    name: str
    notebook: NotebookNode
    reasons: list[str]


def load_copy(folder: Path, assignment_notebooks: Iterable[str] | Mapping[str, NotebookNode]) -> LoadedCopy:
    """Trouve et lit les notebooks d'une copie, quels que soient leur nom et leur état ; ne lève rien pour une copie abîmée.

    Un fichier est reconnu à son nom (exact, puis aux accents, espaces, « (1) » et « copie » près), puis à son contenu si les
    versions étudiantes sont données, puis parce qu'il est le seul. Plusieurs fichiers pour un même notebook : on prend celui qui
    contient des réponses, puis celui qui a le nom exact, puis le plus de cellules du devoir, puis le premier dans l'ordre des
    noms ; les autres sont nommés.

    Args:
        folder: dossier submitted/<étudiant>/<devoir>.
        assignment_notebooks: noms des notebooks du devoir, sans extension, ou leurs versions étudiantes par nom.
    """
    references = assignment_notebooks if isinstance(assignment_notebooks, Mapping) else {}
    expected = list(assignment_notebooks)
    if folder.is_symlink():
        return LoadedCopy(fatal="le dossier de la copie est un lien : refusé")
    if not folder.is_dir():
        return LoadedCopy(fatal="le dossier de la copie n'existe pas")
    found, refused = walk(folder)
    reasons, candidates, files = [], [], []
    for path, name in found:
        if not is_notebook_name(name):
            files.append((path, name))
            continue
        try:
            notebook, told, _ = read_notebook(read_regular(path, MAX_FILE_BYTES))
        except UnreadableError as error:
            reasons.append(f"« {name} » : {error}")
        else:
            candidates.append(_Candidate(name, notebook, told))
    notebooks = {}
    for name, candidate, told in _assign(candidates, expected, references):
        notebooks[name] = candidate.notebook
        reasons += told + [f"« {candidate.name} » : {reason}" for reason in candidate.reasons]
    used = {id(notebook) for notebook in notebooks.values()}
    extra = [candidate for candidate in candidates if id(candidate.notebook) not in used]
    reasons += [f"« {candidate.name} » : notebook en trop, ignoré" for candidate in extra]
    if not notebooks:
        given = f"fichiers rendus : {listed([name for _, name in files])}" if files else "le dossier est vide"
        why = reasons or refused or [given]
        fatal = f"aucun notebook à noter ({' ; '.join(why)})"
        return LoadedCopy(files=tuple(files), refused=tuple(refused), reasons=tuple(reasons), fatal=fatal)
    missing = [name for name in expected if name not in notebooks]
    if missing:
        reasons.append(f"notebook {listed(missing)} non rendu ou illisible : ses questions sont sans réponse")
    return LoadedCopy(notebooks, tuple(files), tuple(refused), tuple(reasons))


def repair_folder(submitted: Path, clean: Path, references: dict[str, NotebookNode]) -> RepairReport:
    """Écrit dans `clean` une copie que `nbgrader autograde` accepte : notebooks réparés et fichiers de données, rien d'autre.

    Args:
        submitted: dossier submitted/<étudiant>/<devoir>, jamais modifié.
        clean: dossier à écrire, absent ou vide ; rien n'est écrit si la copie ne peut pas être notée.
        references: versions étudiantes des notebooks du devoir, par nom (`read_references`).
    Raises:
        ValueError: `clean` n'est pas vide.
    """
    if clean.exists() and any(clean.iterdir()):
        raise ValueError(f"Le dossier {clean.name} n'est pas vide : videz-le, ou donnez-en un autre.")
    loaded = load_copy(submitted, references)
    reasons, written, refused = list(loaded.reasons), [], list(loaded.refused)
    for name, notebook in loaded.notebooks.items():
        repaired, told = repair(notebook, references[name])
        reasons += told if len(references) == 1 else [f"{name} : {reason}" for reason in told]
        clean.mkdir(parents=True, exist_ok=True)
        path = clean / f"{name}.ipynb"
        nbformat.write(repaired, path)
        written.append(path)
    if loaded.fatal is None:
        refused += copy_files(loaded.files, clean)
    return RepairReport(tuple(written), tuple(reasons), tuple(refused), loaded.fatal)


# --- Quel fichier est quel notebook -----------------------------------------------------------------------------------



def _assign(
    candidates: list[_Candidate], expected: list[str], references: Mapping[str, NotebookNode]
) -> Iterator[tuple[str, _Candidate, list[str]]]:
    """Quel fichier est quel notebook du devoir ; rend (nom, fichier, raisons)."""
    claims: dict[str, list[_Candidate]] = {name: [] for name in expected}
    orphans = []
    for candidate in candidates:
        name = _recognised(candidate, expected, references)
        (orphans if name is None else claims[name]).append(candidate)
    empty = [name for name in expected if not claims[name]]
    if len(empty) == 1 and len(orphans) == 1:
        claims[empty[0]] = orphans
    for name in expected:
        if not claims[name]:
            continue
        best = min(claims[name], key=lambda item: _preference(item, name, references.get(name)))
        told = [] if best.name == f"{name}.ipynb" else [f"fichier renommé : « {best.name} » est lu comme « {name}.ipynb »"]
        if len(claims[name]) > 1:
            told.append(f"plusieurs fichiers pour « {name}.ipynb » : « {best.name} » est noté")
        yield name, best, told


def _preference(candidate: _Candidate, name: str, reference: NotebookNode | None) -> tuple:
    """Rang d'un fichier parmi ceux qui peuvent être le même notebook ; ce que valent les réponses n'y entre pas."""
    common = 0 if reference is None else cells_in_common(candidate.notebook, reference)
    return not has_answers(candidate.notebook, reference), candidate.name != f"{name}.ipynb", -common, candidate.name


def _recognised(candidate: _Candidate, expected: list[str], references: Mapping[str, NotebookNode]) -> str | None:
    wanted = _name_key(Path(candidate.name).name)
    named = [name for name in expected if Path(candidate.name).name == f"{name}.ipynb"]
    named = named or [name for name in expected if _name_key(name) == wanted]
    # « problem10 » contient « problem1 » : le nom le plus long l'emporte.
    named = named or sorted((name for name in expected if _name_key(name) and _name_key(name) in wanted), key=len)[-1:]
    common = {name: cells_in_common(candidate.notebook, references[name]) for name in expected if name in references}
    if named and (common.get(named[0], 0) or not any(common.values())):
        return named[0]
    best = max(common, key=common.get, default=None)
    return best if best is not None and common[best] else None


def _name_key(name: str) -> str:
    """Nom de fichier ramené à ses lettres et chiffres, sans accents, extension ni mention de copie."""
    name = unicodedata.normalize("NFKD", NOTEBOOK_SUFFIX.sub("", name)).casefold()
    name = re.sub(r"\(\d+\)|(?<![a-z])(copie|copy)([ _-]*(de|of)(?![a-z])|\d*)", "", name)
    return "".join(letter for letter in name if letter.isalnum())


# --- nbgrader ---------------------------------------------------------------------------------------------------------


def student_version(source: NotebookNode, config=None) -> NotebookNode:
    """Version étudiante d'un notebook source, telle que nbgrader la tire : sans corrigé, sans tests cachés, sans sorties."""
    notebook, resources = copying.deepcopy(source), ResourcesDict()
    for step in (LockCells, ClearSolutions, ClearOutput, ComputeChecksums, ClearHiddenTests, ClearMarkScheme, ComputeChecksums):
        notebook, resources = (step(config=config) if config else step()).preprocess(notebook, resources)
    return notebook


def read_references(config, assignment: str) -> dict[str, NotebookNode]:
    """Versions étudiantes des notebooks d'un devoir, par nom : celles de release/, sinon tirées de source/.

    Args:
        config: configuration de nbgrader (`CourseDirectory`, `ClearSolutions`…).
        assignment: nom du devoir.
    Raises:
        ValueError: ni release/ ni source/ ne contient ce devoir.
    """
    course = CourseDirectory(config=config)
    release = Path(course.format_path(course.release_directory, ".", assignment))
    source = Path(course.format_path(course.source_directory, ".", assignment))
    found = {path.stem: nbformat.read(path, as_version=4) for path in sorted(release.glob("*.ipynb"))}
    for path in sorted(source.glob("*.ipynb")):
        if path.stem not in found:
            found[path.stem] = student_version(nbformat.read(path, as_version=4), config)
    if not found:
        folders = f"ni dans {course.release_directory}/ ni dans {course.source_directory}/"
        raise ValueError(f"Le devoir {assignment} n'est {folders} : publiez-le.")
    return found


class RepairCopy(NbGraderPreprocessor):
    """Premier des `Autograde.sanitize_preprocessors` : répare le notebook, ôte d'autograded/ ce qui y vient de liens."""

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> tuple[NotebookNode, ResourcesDict]:
        """Répare la copie ; « reparations » de `resources["nbgrader"]` et le journal disent ce qui a été fait.

        Raises:
            UnreadableError: le notebook remis, ou son dossier, est un lien ou un fichier spécial.
            ValueError: le devoir n'est pas dans le cours.
        """
        names = resources["nbgrader"]
        course = CourseDirectory(config=self.config)
        student, assignment = names["student"], names["assignment"]
        submitted = Path(course.format_path(course.submitted_directory, student, assignment))
        autograded = Path(course.format_path(course.autograded_directory, student, assignment))
        source = Path(course.format_path(course.source_directory, ".", assignment))
        removed = remove_followed_links(submitted, autograded, source)
        notebook = f"{names['notebook']}.ipynb"
        if not _is_regular(submitted, notebook):
            raise UnreadableError(f"« {notebook} » n'est pas un fichier ordinaire de la copie : il n'est pas noté")
        references = read_references(self.config, assignment)
        if names["notebook"] not in references:
            raise ValueError(f"Le notebook {notebook} n'est pas dans le devoir {assignment} : publiez-le.")
        repaired, told = repair(nb, references[names["notebook"]])
        names["reparations"] = [f"« {name} » : lien ou fichier spécial, refusé" for name in removed] + told
        for reason in names["reparations"]:
            self.log.warning("%s, %s : %s", student, notebook, reason)
        return repaired, resources


def remove_followed_links(submitted: Path, autograded: Path, source: Path) -> list[str]:
    """Ôte d'autograded/ les fichiers qui viennent d'un lien de la copie ; rend leurs noms.

    nbgrader copie les fichiers d'une copie avec `shutil.copy`, qui suit les liens : le corrigé ou la base y arrivent ainsi. Un
    fichier que le devoir fournit sous le même nom est remis d'après source/.
    """
    removed = []
    for base, _, names in os.walk(autograded, followlinks=False):
        for name in sorted(names):
            path = Path(base, name)
            relative = str(path.relative_to(autograded))
            if not os.path.lexists(submitted / relative) or _is_regular(submitted, relative):
                continue
            path.unlink()
            removed.append(shown_name(relative))
            if path.suffix != ".ipynb" and _is_regular(source, relative):
                shutil.copyfile(source / relative, path)
    return removed


def _is_regular(folder: Path, relative: str) -> bool:
    """Le fichier est ordinaire et ni lui, ni un dossier qui y mène depuis `folder` (compris), n'est un lien."""
    path = folder / relative
    steps = [path, *(parent for parent in path.parents if parent == folder or folder in parent.parents)]
    return not any(step.is_symlink() for step in steps) and path.is_file()
