"""« cours valider » : les tests visibles d'un exercice, sur la copie de l'étudiant et sur sa machine.

Le devoir publié (release/) suffit : ni corrigé ni test caché n'est lu. La copie est réparée, puis exécutée par le mécanisme même
de la notation, avec les modules que le devoir permet. Réussir les tests visibles n'est pas une note : d'autres restent réservés.
"""

import ast
import builtins
import copy as copying
import resource
import symtable
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from autograder.execution import sandbox
from autograder.execution.limits import Limits
from autograder.intake.assignment import defined_names, grade_id, kind, parse
from autograder.intake.cells import FUNCTION, VARIABLE, repair
from autograder.intake.copyfiles import MAX_FILE_BYTES, UnreadableError, read_notebook, read_regular
from autograder.judgement.preprocessor import GradingFailure, correct
from autograder.judgement.verdicts import NOT_DONE, behaviour, clean, failure, is_reserved
from autograder.settings import UsageError


@dataclass(frozen=True)
class VisibleTest:
    """Un test visible : ce qu'il vérifie, s'il est réussi, et ce qu'il dit sinon."""

    title: str
    passed: bool
    message: str = ""


@dataclass(frozen=True)
class Validation:
    """Ce que « cours valider » a vu d'un notebook.

    Attributes:
        name: notebook du devoir.
        tests: tests visibles, dans l'ordre du devoir.
        reserved: nombre de cellules notées sans test visible : tests réservés, réponses lues par une personne.
        remarks: ce qui a été réparé ou a mal tourné.
        failure: pourquoi rien n'a pu être vérifié, ou une chaîne vide.
    """

    name: str
    tests: list[VisibleTest]
    reserved: int = 0
    remarks: tuple[str, ...] = ()
    failure: str = ""

    @property
    def passed(self) -> bool:
        """Tous les tests visibles sont-ils réussis ?"""
        return not self.failure and all(test.passed for test in self.tests)


@dataclass(frozen=True)
class Target:
    """Un notebook à valider : la copie, le devoir publié dont elle vient, et le dossier de ses fichiers de données."""

    name: str
    copy: NotebookNode
    published: NotebookNode
    files: Path
    remarks: tuple[str, ...] = ()


# --- Trouver la copie et son devoir -----------------------------------------------------------------------------------


def targets(wanted: str | None, course: Path) -> list[Target]:
    """Notebooks à valider.

    Args:
        wanted: un notebook, un dossier qui en contient, ou le nom d'un exercice (alors celui de release/) ; par défaut, ceux du
            dossier courant, sinon tous les exercices de release/.
        course: dossier du cours.
    Raises:
        UsageError: rien de tel, ou un notebook qui ne se lit pas ou n'est d'aucun exercice.
    """
    exercises = {path.parent.name: path.parent for path in sorted((course / "release").glob("*/*.ipynb"))}
    if not exercises:
        raise UsageError("Aucun exercice dans release/ : placez-vous dans le dossier du cours, ou donnez-le par --cours.")
    if wanted is None:
        here = sorted(Path.cwd().glob("*.ipynb"))
        found = [target for path in here for target in _from_file(path, exercises, optional=True)]
        return found or [target for folder in exercises.values() for target in _from_folder(folder, exercises)]
    path = Path(wanted)
    if path.is_file():
        return _from_file(path.absolute(), exercises)
    if path.is_dir():
        return _from_folder(path.absolute(), exercises)
    name = wanted.removesuffix(".ipynb").strip("/")
    matching = [known for known in exercises if known == name or known.partition("_")[0] == name]
    if len(matching) == 1:
        return _from_folder(exercises[matching[0]], exercises)
    raise UsageError(
        f"{wanted!r} n'est ni un notebook, ni un dossier, ni un exercice : donnez un fichier .ipynb, ou l'un de "
        f"{', '.join(exercises)}."
    )


def _from_folder(folder: Path, exercises: dict[str, Path]) -> list[Target]:
    found = [target for path in sorted(folder.glob("*.ipynb")) for target in _from_file(path, exercises)]
    if not found:
        raise UsageError(f"Le dossier {folder.name} ne contient aucun notebook : donnez le fichier .ipynb de la copie.")
    return found


def _from_file(path: Path, exercises: dict[str, Path], optional: bool = False) -> list[Target]:
    try:
        notebook, told, _ = read_notebook(read_regular(path, MAX_FILE_BYTES))
    except UnreadableError as error:
        if optional:
            return []
        raise UsageError(f"{path.name} ne se lit pas : {error} ; ouvrez-le dans Jupyter et enregistrez-le de nouveau.") from None
    marks = {grade_id(cell) for cell in notebook.cells} - {None}
    exercise_files = [file for folder in exercises.values() for file in sorted(folder.glob("*.ipynb"))]
    published = {file: nbformat.read(file, as_version=4) for file in exercise_files}
    common = {file: len(marks & {grade_id(cell) for cell in reference.cells}) for file, reference in published.items()}
    best = max(common, key=lambda file: (file.samefile(path), common[file], file.name == path.name))
    if not common[best] and best.name != path.name and not best.samefile(path):
        if optional:
            return []
        raise UsageError(f"{path.name} n'est d'aucun exercice de release/ : donnez la copie d'un de {', '.join(exercises)}.")
    try:
        repaired, reasons = repair(notebook, published[best])
    except UnreadableError as error:
        raise UsageError(f"{path.name} ne se lit pas : {error}.") from None
    # Les fichiers voisins d'une copie posée n'importe où (un dossier de téléchargements) n'en font pas partie.
    files = path.parent if path.parent.name == best.parent.name else best.parent
    return [Target(best.stem, repaired, published[best], files, tuple(told + reasons))]


# --- Exécuter les tests visibles --------------------------------------------------------------------------------------


def validate(target: Target) -> Validation:
    """Exécute les tests visibles d'une copie, sous bubblewrap s'il est là, sinon dans un processus : le code est à l'étudiant."""
    tests = [cell for cell in target.published.cells if kind(cell) == "test"]
    visible = [cell for cell in tests if not is_reserved(cell)]
    by_hand = [cell for cell in target.published.cells if _by_hand(cell)]
    reserved = len(tests) - len(visible) + len(by_hand)
    isolation = "bwrap" if sandbox.available() is None else "processus"
    limits = Limits() if isolation == "bwrap" else Limits(processes=_allowed_processes())
    try:
        result = correct(with_names(target.published, target.copy), target.copy, target.files, isolation, limits)
    except GradingFailure as error:
        return Validation(target.name, [], reserved, target.remarks, f"rien n'a pu être vérifié : {error}")
    stopped = {error["name"] for error in result["errors"].values() if isinstance(error, dict)}
    checked = [_checked(cell, result["tests"].get(grade_id(cell)), "NotImplementedError" in stopped) for cell in visible]
    remarks = (*target.remarks, *result["incidents"], *_errors(target.copy, result["errors"]))
    return Validation(target.name, checked, reserved, remarks)


def report(validation: Validation) -> list[str]:
    """Lignes à lire : ce que chaque test vérifie, ce qu'il a obtenu, et ce que cela ne dit pas."""
    lines = [validation.name]
    lines += [f"  ! {remark}" for remark in validation.remarks]
    if validation.failure:
        return [*lines, f"  ✗ {validation.failure}"]
    for test in validation.tests:
        lines.append(f"  {'✓' if test.passed else '✗'} {test.title}")
        lines += [f"      {line}" for line in test.message.splitlines()]
    passed = sum(test.passed for test in validation.tests)
    lines.append(f"  Tests visibles : {passed} réussi(s) sur {len(validation.tests)}.")
    others = f"{validation.reserved} autre(s) contrôle(s)" if validation.reserved else "D'autres contrôles"
    verb = "est réservé" if validation.reserved == 1 else "sont réservés" if validation.reserved else "peuvent être réservés"
    lines.append(f"  {others} {verb} à la notation : réussir les tests visibles n'est pas une note.")
    return lines


def _by_hand(cell: NotebookNode) -> bool:
    marks = cell.metadata.get("nbgrader", {})
    return bool(marks.get("task") or (marks.get("grade") and marks.get("solution")))


def _allowed_processes() -> int:
    """Sans espace de noms, la limite du noyau compte tous les processus de la personne : on garde celle qu'elle a déjà."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NPROC)
    return soft if soft != resource.RLIM_INFINITY else hard


def _checked(cell: NotebookNode, verdict: dict | None, stopped: bool) -> VisibleTest:
    title = behaviour(cell, grade_id(cell))
    if verdict is None:
        return VisibleTest(title, False, "Ce test n'a pas été exécuté.")
    if verdict["passed"]:
        return VisibleTest(title, True)
    error = verdict["error"]
    if stopped and error["name"] == "NameError":
        return VisibleTest(title, False, NOT_DONE)  # l'amorce s'est arrêtée avant de donner la variable
    return VisibleTest(title, False, clean(failure(error)))


def _errors(copy: NotebookNode, errors: dict) -> list[str]:
    """Une phrase par cellule de la copie qui s'arrête sur une erreur, hors amorces."""
    said = []
    for place, error in errors.items():
        cell = copy.cells[int(place)]
        if isinstance(error, dict) and error.get("name") not in ("NotImplementedError", "Interrompu"):
            name = grade_id(cell) or int(place) + 1
            said.append(clean(f"la cellule {name} s'arrête sur {error.get('name')} : {error.get('message')}"))
    return said


def with_names(published: NotebookNode, copy: NotebookNode) -> NotebookNode:
    """Le devoir publié, dont chaque cellule réponse ne fait plus qu'annoncer les noms attendus de la copie.

    Le corrigé, que l'étudiant n'a pas, peut seul définir une variable ou importer un module dont un test se sert : un nom que les
    tests lisent sans que rien ne le définisse est donc attendu de la copie, et son import, s'il y est, repris.
    """
    result = copying.deepcopy(published)
    answers = [cell for cell in result.cells if kind(cell) == "reponse"]
    known = set(dir(builtins)) | {"__name__", "get_ipython"}
    for cell in answers:
        names, imports = _defined(cell.source)
        known |= names | {name for line in imports for name in _bound(line)}
        cell.source = "\n".join([*imports, *(f"{name} = None" for name in sorted(names))])
    theirs = [cell for cell in copy.cells if kind(cell) in ("reponse", "autre")]
    imports = {name: line for cell in theirs for line in _defined(cell.source)[1] for name in _bound(line)}
    for cell in result.cells:
        if kind(cell) in ("test", "autre") and answers:
            read, given = _names(cell.source)
            for name in sorted(read - known):
                answers[0].source += "\n" + imports.get(name, f"{name} = None")
            known |= read | given
    return result


def _defined(source: str) -> tuple[set[str], list[str]]:
    """Noms et imports d'une cellule réponse ; de son texte seul si ce n'est pas (encore) du Python."""
    try:
        return defined_names(source)
    except SyntaxError:
        return {*FUNCTION.findall(source), *VARIABLE.findall(source)}, []


def _bound(statement: str) -> set[str]:
    """Noms que donne une instruction d'import."""
    return {alias.asname or alias.name.partition(".")[0] for alias in parse(statement).body[0].names}


def _names(source: str) -> tuple[set[str], set[str]]:
    """Noms globaux qu'une cellule lit sans les donner elle-même, et ceux qu'elle donne."""
    try:
        top = symtable.symtable(ast.unparse(parse(source)), "<cellule>", "exec")
    except SyntaxError:
        return set(), set()
    given = {symbol.get_name() for symbol in top.get_symbols() if symbol.is_assigned() or symbol.is_imported()}
    read, tables = set(), [top]
    while tables:
        table = tables.pop()
        tables += table.get_children()
        for symbol in table.get_symbols():
            if symbol.is_referenced() and (table is top or symbol.is_global()):
                read.add(symbol.get_name())
    return read - given, given
