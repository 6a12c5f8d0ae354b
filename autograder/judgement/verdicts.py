"""Ce qu'un test dit à l'étudiant : ce qu'il vérifie, son état, son message.

Un message vient toujours d'une exécution sans tests cachés ; un test réservé à la notation n'a que son nom et son résultat.
"""

import ast
import re
from dataclasses import dataclass

from nbformat import NotebookNode

from autograder.intake.assignment import parse

NOT_DONE = "non implémenté"
HIDDEN_PART = "La partie visible de ce test réussit ; un contrôle réservé à la notation échoue."
RESERVED = "Ce test est réservé à la notation, et il échoue."
UNSTABLE = (
    "Ce test réussit quand la copie est relancée sans les contrôles réservés : la réponse dépend de ce qui a été appelé avant "
    "elle, du hasard ou du temps de calcul."
)
CONTROL = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|[\x00-\x08\x0b-\x1f\x7f]")


def behaviour(published: NotebookNode | None, name: str) -> str:
    """Titre d'un test : la première phrase du commentaire (ou du texte) qui l'ouvre, sinon son identifiant."""
    lines = published.source.strip().splitlines() if published is not None else []
    comment = []
    for line in lines:
        if not line.startswith("#") or line.startswith("###"):
            break
        comment.append(line.lstrip("# "))
    text = " ".join(comment)
    if not comment:
        tree = _tree(published)
        first = tree.body[0] if tree and tree.body else None
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
            text = " ".join(first.value.value.split())
    sentence = re.split(r"(?<=[.?!])\s", text.strip(), maxsplit=1)[0]
    return sentence or name.replace("_", " ")


def is_reserved(published: NotebookNode | None) -> bool:
    """Le test est-il tout entier réservé à la notation : absent de la version publiée, ou sans rien à y exécuter ?"""
    tree = _tree(published)
    return tree is None or all(isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) for node in tree.body)


def _tree(published: NotebookNode | None) -> ast.Module | None:
    try:
        return None if published is None else parse(published.source)
    except SyntaxError:  # ce qui reste d'une cellule dont la partie cachée est ôtée n'est pas toujours du Python
        return None


def failure(error: dict) -> str:
    """Ce qu'un test manqué dit à l'étudiant ; `error` vient d'une exécution sans tests cachés."""
    name, message = error["name"], error["message"].strip()
    place = f" ({error['traceback'][-1]})" if error["traceback"] else ""
    if name == "NotImplementedError":
        return NOT_DONE
    if name == "AssertionError":
        return message or f"L'égalité ou la condition demandée est fausse{place}."
    if name == "Lost":
        return f"La réponse n'a pas pu être lue : {message}."
    missing = re.fullmatch(r"name '(\w+)' is not defined.*", message)
    if name == "NameError" and missing:
        return f"« {missing[1]} » n'est pas défini dans la copie{place}."
    return f"Le code lève {name} : {message or 'sans message'}{place}"


@dataclass(frozen=True)
class Checked:
    """Un test dans un retour : ce qu'il vérifie, son état (« réussi », « partiel », « manqué », « à noter »), ses points."""

    name: str
    title: str
    status: str
    earned: float | None
    maximum: float
    message: str = ""
    reserved: bool = False


def checked(
    name: str, published: NotebookNode | None, source: NotebookNode | None, grade: tuple, verdict: dict | None
) -> Checked:
    """Ligne d'un test dans un retour.

    Args:
        name: identifiant de la cellule de test.
        published: la cellule telle que l'étudiant l'a reçue ; None si elle n'en a pas.
        source: la cellule du devoir, tests cachés compris ; None si on ne l'a pas.
        grade: points obtenus (None s'ils ne sont pas encore donnés), points de la cellule, et s'ils viennent d'une personne.
        verdict: ce qu'en dit l'exécution sans tests cachés, ou None.
    """
    earned, maximum, by_hand = grade
    reserved = is_reserved(published)
    if earned is None:
        status = "à noter"
    elif earned >= maximum and (maximum > 0 or reserved or verdict is None or verdict["passed"]):
        status = "réussi"
    else:
        status = "partiel" if earned > 0 else "manqué"
    message = ""
    if by_hand:
        message = "Points donnés par l'enseignant."
    elif status in ("manqué", "partiel") and not reserved and verdict is not None:
        if not verdict["passed"]:
            message = failure(verdict["error"])
        elif source is None or source.source != published.source:
            message = HIDDEN_PART
        elif status == "manqué":
            message = UNSTABLE
    return Checked(name, behaviour(published, name), status, earned, maximum, clean(message), reserved)


def clean(text: str) -> str:
    """Texte sans séquences de terminal ni caractères de commande, et qui s'écrit en UTF-8."""
    return CONTROL.sub("", text).encode("utf-8", "replace").decode("utf-8")
