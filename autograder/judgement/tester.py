"""Le correcteur d'une copie : un processus neuf, de confiance, qui tient les tests et démarre le bac à sable.

Il reçoit un travail, exécute les cellules de la copie dans le bac à sable et les tests ici, dans l'ordre du devoir, et rend ce
qu'il a vu (`forks` le démarre et porte ces messages). Il ne touche ni aux fichiers du cours ni à la base de notes.
"""

import ast
import io
import json
import math
import sys
import traceback
from pathlib import Path

from autograder.execution import groups
from autograder.execution.limits import Limits
from autograder.execution.sandbox import Sandbox
from autograder.intake.assignment import defined_names, grade_id, imported_modules, kind, parse
from autograder.judgement.proxy import Lost, Namespace, Student
from autograder.settings import MIB

MAX_KEPT = 16 * MIB  # caractères de sorties gardés pour toute une copie


class Starved(Exception):
    """Une limite d'attente a arrêté la copie, qui n'avait pas assez calculé : la machine en est peut-être la cause."""


class Session:
    """Une copie en cours de correction.

    Args:
        job: « source » et « copy » (notebooks), « files » (dossier de la copie), « modules », « packages », « isolation »,
            « limits », « secret » (tests dont l'étudiant n'a pas tout reçu), et « alone » : la copie est seule, et une limite
            d'attente est un verdict.
    Raises:
        Starved: la copie n'a même pas pu démarrer à temps.
        RuntimeError: le bac à sable n'a pas démarré.
    """

    def __init__(self, job: dict):
        limits = Limits(**job["limits"])
        self.source, self.copy = job["source"]["cells"], job["copy"]["cells"]
        self.outputs: dict[int, list] = {}
        self.errors: dict[int, dict] = {}
        self.tests: dict[str, dict] = {}
        self.incidents: list[str] = []
        self.executed: set[int] = set()
        self.failed_tests: dict[str, list[str]] = {}
        self.kept_characters = 0
        self.alone, self.secret = job["alone"], set(job["secret"])
        self.knows = False  # le processus de l'étudiant a vu un test caché
        self.tainted: list[str] = []
        names, imports = set(), []
        for cell in self.source:
            if kind(cell) == "reponse":
                found, needed = defined_names(cell["source"])
                names |= found
                imports += needed
        given = [name for cell in self.source if kind(cell) == "autre" for name in imported_modules(cell["source"])]
        files = Path(job["files"]) if job["files"] else None
        self.sandbox = Sandbox(files, [Path(path) for path in job["packages"]], job["isolation"], limits)
        self.student = Student(self.sandbox.connection, self.sandbox.meter)
        self.namespace = Namespace(self.student, names)
        for statement in imports:
            self._run_here(statement)
        rlimits = limits.rlimits()
        if job["isolation"] == "processus":
            # Même compte que l'enseignant : cette limite compterait aussi tous ses autres programmes.
            del rlimits["RLIMIT_NPROC"]
        try:
            self.student.start(rlimits, job["modules"], given)
        except Lost as error:
            # Aucun code de la copie n'a tourné : la faute n'est pas la sienne, et un 0 serait faux.
            self.sandbox.kill()
            self._give_up_if_starved()
            raise RuntimeError(f"le bac à sable n'a pas démarré : {self.sandbox.last_words() or error}") from None

    def run(self) -> dict:
        """Parcourt le devoir dans son ordre ; rend les sorties de la copie, les verdicts et les incidents.

        « tainted » nomme les cellules (par rang) et les tests dont ce qu'on a gardé vient après un test caché : la copie en a vu
        les arguments, et a pu les y écrire.
        """
        try:
            for position, cell in enumerate(self.source):
                if kind(cell) == "test":
                    self._run_copy_until(position)
                    self._test(cell)
                elif kind(cell) == "autre":
                    self._run_here(cell["source"])
            self._run_copy(range(len(self.copy)))
        finally:
            self.sandbox.kill()
        self.incidents += [f"{_named(tests)} : {reason}" for reason, tests in self.failed_tests.items()]
        return {
            "outputs": self.outputs, "errors": self.errors, "tests": self.tests, "incidents": self.incidents,
            "tainted": self.tainted,
        }  # fmt: skip

    def _give_up_if_starved(self) -> None:
        if self.student.starved is not None and not self.alone:
            raise Starved(self.student.starved)

    def _run_copy_until(self, position: int) -> None:
        """Exécute, dans l'ordre de la copie, ce qui précède un test : tout ce que le devoir, ou la copie, place avant lui."""
        earlier = [cell for cell in self.source[:position] if kind(cell) in ("reponse", "autre")]
        before = {grade_id(cell) or cell.get("id") for cell in earlier} - {None}
        places = [place for place, cell in enumerate(self.copy) if (grade_id(cell) or cell.get("id")) in before]
        places += [place for place, cell in enumerate(self.copy) if grade_id(cell) == grade_id(self.source[position])]
        self._run_copy(range(max(places, default=-1) + 1))

    def _run_copy(self, places: range) -> None:
        for place in places:
            cell = self.copy[place]
            if place in self.executed or kind(cell) not in ("reponse", "autre"):
                continue
            self.executed.add(place)
            if self.knows:
                self.tainted.append(str(place))
            self.student.start_clock()
            alive = not self.student.dead
            try:
                answer = self.student.run(cell["source"])
            except Lost as error:
                self._give_up_if_starved()
                self.errors[place] = {"name": "Interrompu", "message": str(error), "traceback": []}
                if alive:
                    self.incidents.append(f"cellule {grade_id(cell) or place + 1} : {error}")
                continue
            self.kept_characters += len(json.dumps(answer))
            if self.kept_characters > MAX_KEPT:
                continue
            self.outputs[place] = answer.get("outputs")
            if answer.get("status") == "error":
                self.errors[place] = answer.get("error")

    def _run_here(self, source: str) -> None:
        """Exécute une cellule du devoir chez le correcteur ; si une réponse fausse la gêne, les tests qui suivent le diront."""
        self.student.start_clock()
        try:
            with quiet():
                exec(compile(parse(source), "<devoir>", "exec"), self.namespace)
        except (Exception, Lost):  # noqa: BLE001
            pass

    def _test(self, cell: dict) -> None:
        """Exécute un test ; son verdict est d'avoir levé une erreur ou non, quoi qu'il affiche."""
        self.student.start_clock()
        alive = not self.student.dead
        self.knows = self.knows or grade_id(cell) in self.secret
        if self.knows:
            self.tainted.append(grade_id(cell))
        verdict = {"passed": True, "points": None, "error": None}
        with quiet() as printed:
            try:
                verdict["points"] = self._points(cell)
            except BaseException as error:  # noqa: BLE001
                verdict["passed"] = False
                verdict["error"] = described(error, cell["source"])
            if self.student.lost is not None:
                # Un test qui attend une erreur ne doit pas prendre une défaillance pour elle.
                verdict["passed"] = False
                if verdict["error"] is None or verdict["error"]["name"] != "Lost":
                    verdict["error"] = {"name": "Lost", "message": self.student.lost, "traceback": []}
            if self.student.failed and alive:
                self.failed_tests.setdefault(self.student.lost, []).append(grade_id(cell))
            try:
                self.namespace.undo()
            except Lost as error:
                self.incidents.append(f"après le test {grade_id(cell)} : {error}")
        self._give_up_if_starved()
        verdict["printed"] = printed.getvalue()[:5000]
        self.tests[grade_id(cell)] = verdict

    def _points(self, cell: dict) -> float | None:
        """Exécute la cellule ; sa dernière expression, si elle vaut un nombre, est une note partielle."""
        tree = parse(cell["source"])
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, "<test>", "exec"), self.namespace)
        if last is None:
            return None
        value = eval(compile(ast.Expression(last.value), "<test>", "eval"), self.namespace)
        if isinstance(value, bool) or value is None or isinstance(value, str):
            return None
        try:
            points = float(value)
        except (TypeError, ValueError, OverflowError):
            return None
        maximum = cell["metadata"]["nbgrader"]["points"]
        if not (math.isfinite(points) and 0 <= points <= maximum):
            raise ValueError(f"note partielle {points} hors de l'intervalle de 0 à {maximum}")
        return points


def _named(tests: list[str], most: int = 3) -> str:
    shown = ", ".join(tests[:most]) + (f" et {len(tests) - most} autres" if len(tests) > most else "")
    return f"test {shown}" if len(tests) == 1 else f"tests {shown}"


class quiet:
    """Détourne ce que le test affiche : le processus n'écrit que son résultat."""

    def __enter__(self) -> io.StringIO:
        self.kept, printed = (sys.stdout, sys.stderr), io.StringIO()
        sys.stdout, sys.stderr = printed, io.StringIO()
        return printed

    def __exit__(self, *exception):
        sys.stdout, sys.stderr = self.kept


def described(error: BaseException, source: str) -> dict:
    """Nom, texte et ligne d'une erreur levée dans un test."""
    lines = source.splitlines()
    frames = []
    for frame in traceback.extract_tb(error.__traceback__):
        if frame.filename == "<test>" and 0 < (frame.lineno or 0) <= len(lines):
            frames.append(f"ligne {frame.lineno} : {lines[frame.lineno - 1].strip()}")
    return {"name": type(error).__name__, "message": str(error)[:2000], "traceback": frames[-5:]}


def run(job: dict) -> dict:
    """Corrige une copie ; voir `Session`. « starved » dit, seul, qu'il faut la relancer seule, et pourquoi."""
    try:
        return Session(job).run()
    except Starved as reason:
        return {"starved": str(reason)}


def warm_up() -> None:
    """Prépare un processus à se dédoubler : les protections de la machine sont essayées une fois."""
    groups.protection()
