"""Les préprocesseurs nbgrader du cours : l'exécution isolée des copies, à la place de `Execute`.

`nbgrader autograde`, le bouton du formgrader et `cours noter` passent tous par ici. Ce module ne sait rien de ce cours : il
sert tout cours nbgrader en Python dont les tests appellent des fonctions et lisent des variables.
"""

import base64
import binascii
import copy as copying
import hashlib
import json
from collections.abc import Callable, Iterable
from dataclasses import asdict
from functools import lru_cache, partial
from pathlib import Path

import nbformat
from nbconvert.exporters.exporter import ResourcesDict
from nbformat import NotebookNode
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import NbGraderPreprocessor
from traitlets import Float, Integer, Unicode

from autograder.execution import forks
from autograder.execution.limits import Limits
from autograder.execution.sandbox import choose, package_paths, regular_files
from autograder.intake.assignment import grade_id, kind
from autograder.intake.repair import student_version
from autograder.judgement.tester import Starved
from autograder.judgement.verdicts import HIDDEN_PART, RESERVED, is_reserved
from autograder.settings import replacing

MODULES_KEY = "imports_autorises"


class GradingFailure(Exception):
    """Le correcteur n'a rendu aucun verdict : la copie n'a pas de note, et voici pourquoi."""


def correct(
    source: NotebookNode,
    copy: NotebookNode,
    files: Path | None,
    isolation: str,
    limits: Limits,
    packages: list[str] | None = None,
    secret: Iterable[str] = (),
    alone: bool | None = None,
) -> dict:
    """Corrige une copie dans un processus neuf et rend ce qu'il a vu.

    Si une limite d'attente l'arrête, la copie est relancée une fois : ce n'est un verdict que la seconde.

    Args:
        source: notebook du devoir, avec corrigé et tests cachés.
        copy: notebook de l'étudiant.
        files: dossier de la copie, pour ses fichiers de données.
        isolation: « bwrap » ou « processus ».
        limits: limites de la copie.
        packages: paquets à montrer à la copie, si on les connaît déjà (`allowed_packages`).
        secret: tests que l'étudiant n'a pas reçus en entier (`secret_tests`).
        alone: True, la copie est seule, et une limite d'attente est un verdict ; False, elle ne l'est pas, et c'est à l'appelant
            de la relancer ; None, elle est relancée d'ici.
    Returns:
        « outputs » et « errors » (par rang de cellule de la copie), « tests » (par identifiant), « incidents », « tainted » (voir
        `tester.Session.run`).
    Raises:
        Starved: une limite d'attente a arrêté la copie, et `alone` est False.
        GradingFailure: le correcteur a dépassé son temps ou s'est arrêté.
    """
    if alone is None:
        try:
            return correct(source, copy, files, isolation, limits, packages, secret, alone=False)
        except Starved:
            alone = True
    job = {
        "source": source,
        "copy": copy,
        "files": str(files) if files else None,
        "modules": source.metadata.get("cours", {}).get(MODULES_KEY),
        "packages": allowed_packages(source) if packages is None else packages,
        "isolation": isolation,
        "limits": asdict(limits),
        "secret": list(secret),
        "alone": alone,
    }
    try:
        result = forks.call("autograder.judgement.tester:run", job, limits.patience)
    except forks.Late:
        result = {"starved": f"la correction a pris plus de {limits.patience:g} s d'horloge"}
    except forks.Stopped as error:
        raise GradingFailure(f"le correcteur s'est arrêté : {str(error)[:300]}") from None
    if "starved" in result:
        raise (GradingFailure if alone else Starved)(result["starved"])
    return printable(result)


def secret_tests(source: NotebookNode, published: NotebookNode) -> set[str]:
    """Tests d'un devoir que l'étudiant n'a pas reçus, ou pas en entier, par identifiant."""
    received = {grade_id(cell): cell.source for cell in published.cells if kind(cell) == "test"}
    return {grade_id(cell) for cell in source.cells if kind(cell) == "test" and received.get(grade_id(cell)) != cell.source}


def without_hidden_tests(source: NotebookNode, published: NotebookNode) -> NotebookNode:
    """Le devoir, où chaque cellule de test est celle que l'étudiant a reçue."""
    visible = {grade_id(cell): cell.source for cell in published.cells if kind(cell) == "test"}
    result = copying.deepcopy(source)
    for cell in result.cells:
        if kind(cell) == "test":
            cell.source = visible.get(grade_id(cell), "")
    return result


def showable(result: dict, source: NotebookNode, published: NotebookNode, rerun: Callable[[], dict | None]) -> dict:
    """Le même résultat, dont rien ne vient d'un processus qui a vu un test caché.

    Ce qu'une copie affiche après un test caché peut en contenir les arguments, et ce que dit un test caché, les valeurs attendues.
    Verdicts et points restent ; sorties et messages sont repris d'une exécution sans tests cachés, faite seulement s'il y en a.

    Args:
        result: ce que `correct` a rendu.
        source, published: le devoir, avec et sans tests cachés.
        rerun: exécute la copie avec les seuls tests publiés ; None si elle ne se laisse pas exécuter.
    """
    tainted = set(result["tainted"])
    told = any(result["outputs"].get(place) or result["errors"].get(place) for place in tainted)
    told = told or any(not verdict["passed"] or verdict["printed"] for name, verdict in result["tests"].items() if name in tainted)
    visible = (rerun() if told else None) or {"outputs": {}, "errors": {}, "tests": {}}
    shown = {
        field: {place: value for place, value in result[field].items() if place not in tainted}
        | {place: visible[field][place] for place in tainted & visible[field].keys()}
        for field in ("outputs", "errors")
    }
    received = {grade_id(cell): cell for cell in published.cells}
    tests = {}
    for name, verdict in result["tests"].items():
        if name in tainted:
            seen = visible["tests"].get(name, {})
            error = None if verdict["passed"] else seen.get("error") or _reserved_failure(received.get(name))
            verdict = verdict | {"printed": seen.get("printed", ""), "error": error}
        tests[name] = verdict
    return result | shown | {"tests": tests}


def _reserved_failure(published: NotebookNode | None) -> dict:
    """Erreur d'un test dont seule la partie cachée échoue."""
    return {"name": "AssertionError", "message": RESERVED if is_reserved(published) else HIDDEN_PART, "traceback": []}


def allowed_packages(source: NotebookNode) -> list[str]:
    """Fichiers et dossiers des paquets que le devoir permet, à montrer dans le bac à sable."""
    modules = source.metadata.get("cours", {}).get(MODULES_KEY)
    return _packages(None if modules is None else tuple(modules))


def printable(value):
    """Le même résultat, dont chaque texte s'écrit en UTF-8 : une moitié de caractère affichée par une copie n'y passerait pas."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(value, list):
        return [printable(item) for item in value]
    if isinstance(value, dict):
        return {printable(key): printable(item) for key, item in value.items()}
    return value


@lru_cache
def _packages(modules: tuple[str, ...] | None) -> list[str]:
    return [str(path) for path in package_paths(None if modules is None else list(modules))]


def score(cell: NotebookNode, verdict: dict | None) -> float:
    """Points d'une cellule de test d'après son verdict ; 0 s'il n'y en a pas."""
    if verdict is None or not verdict["passed"]:
        return 0.0
    return cell.metadata.nbgrader.points if verdict["points"] is None else verdict["points"]


def digest(source: NotebookNode, copy: NotebookNode, files: Path) -> str:
    """Empreinte de tout ce dont dépend un résultat : devoir, copie (hors tests, sorties et métadonnées) et fichiers joints."""
    content = hashlib.sha256(repr(source.metadata.get("cours", {}).get(MODULES_KEY)).encode())
    for cell in source.cells:
        content.update(repr((kind(cell), grade_id(cell), cell.source, cell.metadata.get("nbgrader", {}).get("points"))).encode())
    for cell in copy.cells:
        content.update(repr((kind(cell), grade_id(cell), "" if kind(cell) in ("test", "texte") else cell.source)).encode())
    for path, name in regular_files(files):
        content.update(name.encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    return content.hexdigest()


@lru_cache
def program_digest() -> str:
    """Empreinte des modules qui décident d'un verdict : un résultat gardé par un autre correcteur n'est pas repris."""
    modules = ("execution/channel", "execution/limits", "execution/sandbox", "execution/worker")
    modules += ("intake/assignment", "judgement/proxy", "judgement/tester")
    package = Path(__file__).parent.parent
    content = b"".join((package / f"{name}.py").read_bytes() for name in modules)
    return hashlib.sha256(content).hexdigest()[:12]


def result_path(folder: Path, student: str, assignment: str, notebook: str) -> Path:
    """Fichier où un résultat d'exécution est gardé."""
    return folder / student / assignment / f"{notebook}.json"


def kept_result(path: Path, mark: str) -> dict | None:
    """Résultat gardé dans `path`, s'il y en a un et si son empreinte (`digest`) est celle-ci."""
    try:
        result = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return result if result.get("digest") == mark else None


def keep_result(result: dict, path: Path, mark: str) -> None:
    """Garde un résultat dans `path`, avec son empreinte."""
    with replacing(path) as partial:
        partial.write_text(json.dumps(result | {"digest": mark}), encoding="utf-8")


def rerun(
    source: NotebookNode,
    published: NotebookNode,
    copy: NotebookNode,
    files: Path,
    isolation: str,
    limits: Limits,
    kept: Path | None = None,
    packages: list[str] | None = None,
    alone: bool | None = None,
) -> dict | None:
    """Exécute une copie avec les seuls tests publiés ; None si elle ne se laisse pas exécuter.

    Args:
        source: notebook du devoir.
        published: sa version étudiante.
        copy: notebook de l'étudiant.
        files: dossier de la copie, pour ses fichiers de données.
        isolation: « bwrap » ou « processus ».
        limits: limites de la copie.
        kept: fichier où le résultat est gardé, et relu si rien n'a changé.
        packages, alone: voir `correct`.
    """
    visible = without_hidden_tests(source, published)
    mark = digest(visible, copy, files)
    result = None if kept is None else kept_result(kept, mark)
    if result is not None:
        return result
    try:
        result = correct(visible, copy, files, isolation, limits, packages, alone=alone)
    except (GradingFailure, OSError, ValueError):
        return None  # la page dit que les messages manquent ; les autres copies ont les leurs
    if kept is not None:
        keep_result(result, kept, mark)
    return result


class LimitedPreprocessor(NbGraderPreprocessor):
    """Préprocesseur qui exécute une copie : ses limites se règlent dans nbgrader_config.py."""

    cell_seconds = Float(30, help="temps de calcul d'une cellule ou d'un test, en secondes").tag(config=True)
    notebook_seconds = Float(180, help="temps de calcul d'une copie, en secondes").tag(config=True)
    memory_mib = Integer(2048, help="mémoire de la copie, en Mio").tag(config=True)

    @property
    def limits(self) -> Limits:
        """Limites d'une copie."""
        return Limits(cell_seconds=self.cell_seconds, notebook_seconds=self.notebook_seconds, memory_mib=self.memory_mib)


class IsolatedExecute(LimitedPreprocessor):
    """Exécute la copie dans un bac à sable et ses tests à côté ; écrit les verdicts dans les sorties des cellules de test."""

    isolation = Unicode("auto", help="auto, bwrap ou processus").tag(config=True)

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> tuple[NotebookNode, ResourcesDict]:
        """Corrige la copie ; « incidents » de `resources` dit ce qui a mal tourné sans empêcher la note."""
        source = read_source(self.config, resources["nbgrader"])
        published = student_version(source, self.config)
        run = partial(correct, copy=nb, files=Path(resources["metadata"]["path"]), isolation=choose(self.isolation), limits=self.limits)
        result = run(source, secret=secret_tests(source, published))
        shown = showable(result, source, published, lambda: run(without_hidden_tests(source, published)))
        apply(shown, nb, published)
        resources["nbgrader"]["incidents"] = result["incidents"]
        for incident in result["incidents"]:
            self.log.warning("%s", incident)
        return nb, resources


def read_source(config, resources: dict) -> NotebookNode:
    """Notebook source du devoir que l'on note.

    Raises:
        GradingFailure: source/ ne contient pas ce devoir.
    """
    course = CourseDirectory(config=config)
    folder = Path(course.format_path(course.source_directory, ".", resources["assignment"]))
    path = folder / f"{resources['notebook']}.ipynb"
    if not path.is_file():
        raise GradingFailure(f"le devoir source {path.name} manque dans {folder.name} : les tests ne peuvent pas être exécutés")
    return nbformat.read(path, as_version=4)


def apply(result: dict, nb: NotebookNode, published: NotebookNode) -> None:
    """Écrit dans la copie ce que le correcteur a vu : sorties de l'étudiant, verdicts des tests.

    Args:
        result: ce qui peut se montrer (`showable`).
        nb: la copie, où nbgrader a remis les cellules du devoir, tests cachés compris ; chaque test redevient celui de `published`.
        published: version étudiante du devoir.
    """
    received = {grade_id(cell): cell.source for cell in published.cells if kind(cell) == "test"}
    for place, cell in enumerate(nb.cells):
        if cell.cell_type != "code":
            continue
        role = kind(cell)
        if role == "test":
            cell.source = received.get(grade_id(cell), "")
            cell.outputs = verdict_outputs(result["tests"].get(grade_id(cell)))
        else:
            cell.outputs = safe_outputs(result["outputs"].get(str(place)), result["errors"].get(str(place)))
        cell.execution_count = None


def verdict_outputs(verdict: dict | None) -> list[NotebookNode]:
    """Sorties d'une cellule de test, telles que nbgrader les lit : une erreur vaut 0, un nombre est une note partielle.

    Un test sans verdict vaut 0 (NB-10) ; rien n'est écrit sur stderr, que nbgrader prendrait pour un échec (NB-21).
    """
    if verdict is None:
        verdict = {"passed": False, "error": {"name": "Interrompu", "message": "ce test n'a pas été exécuté", "traceback": []}}
    outputs = []
    if verdict.get("printed"):
        outputs.append(nbformat.v4.new_output("stream", name="stdout", text=verdict["printed"]))
    if not verdict["passed"]:
        error = verdict["error"]
        trace = [*error["traceback"], f"{error['name']}: {error['message']}"]
        outputs.append(nbformat.v4.new_output("error", ename=error["name"], evalue=error["message"], traceback=trace))
    elif verdict["points"] is not None:
        outputs.append(nbformat.v4.new_output("execute_result", data={"text/plain": repr(verdict["points"])}))
    return outputs


def safe_outputs(outputs, error) -> list[NotebookNode]:
    """Sorties venues du processus de l'étudiant, reconstruites : du texte et des images PNG, rien d'actif, rien de trop."""
    kept = []
    for output in outputs if isinstance(outputs, list) else []:
        if not isinstance(output, dict):
            continue
        if output.get("output_type") == "stream" and isinstance(output.get("text"), str):
            name = "stderr" if output.get("name") == "stderr" else "stdout"
            kept.append(nbformat.v4.new_output("stream", name=name, text=output["text"][:50_000]))
        elif isinstance(output.get("data"), dict):
            data = {}
            if isinstance(output["data"].get("text/plain"), str):
                data["text/plain"] = output["data"]["text/plain"][:50_000]
            if is_png(output["data"].get("image/png")):
                data["image/png"] = output["data"]["image/png"]
            if data:
                kept.append(nbformat.v4.new_output("display_data", data=data))
    if isinstance(error, dict):
        name, message = str(error.get("name", ""))[:100], str(error.get("message", ""))[:2000]
        lines = error.get("traceback") if isinstance(error.get("traceback"), list) else []
        trace = [line[:2000] for line in lines[:20] if isinstance(line, str)] or [f"{name}: {message}"]
        kept.append(nbformat.v4.new_output("error", ename=name, evalue=message, traceback=trace))
    return kept[:50]


def is_png(value) -> bool:
    """Le texte est-il une image PNG en base 64 ?"""
    try:
        return isinstance(value, str) and base64.b64decode(value, validate=True).startswith(b"\x89PNG")
    except (binascii.Error, ValueError):
        return False
