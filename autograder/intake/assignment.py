"""Le devoir, cellule par cellule : le rôle de chacune, et ce que son code définit et importe."""

import ast


def kind(cell: dict) -> str:
    """Rôle d'une cellule : « test » (notée sans réponse), « reponse », « autre », ou « texte » si elle n'est pas de code."""
    if cell["cell_type"] != "code":
        return "texte"
    marks = cell["metadata"].get("nbgrader", {})
    if marks.get("solution"):
        return "reponse"
    return "test" if marks.get("grade") else "autre"


def grade_id(cell: dict) -> str | None:
    """Identifiant nbgrader d'une cellule, s'il y en a un."""
    return cell["metadata"].get("nbgrader", {}).get("grade_id")


def defined_names(source: str) -> tuple[set[str], list[str]]:
    """Noms que définit une cellule réponse à son premier niveau, et ses imports (sources d'instructions), à part.

    Un import du corrigé est exécuté chez le correcteur : un test qui s'en sert ne doit pas dépendre de ceux de l'étudiant.
    """
    names, imports = set(), []

    def visit(statements: list[ast.stmt]) -> None:
        for statement in statements:
            if isinstance(statement, (ast.Import, ast.ImportFrom)):
                imports.append(ast.unparse(statement))
            elif isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                names.add(statement.name)
            else:
                for node in ast.walk(statement):
                    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                        names.add(node.id)
                for field in ("body", "orelse", "finalbody"):
                    visit([node for node in getattr(statement, field, []) if isinstance(node, ast.stmt)])

    visit(parse(source).body)
    return names, imports


def imported_modules(source: str) -> list[str]:
    """Modules qu'une cellule importe à son premier niveau, dans l'ordre ; aucun si elle ne se lit pas."""
    try:
        statements = parse(source).body
    except SyntaxError:
        return []
    names = []
    for statement in statements:
        if isinstance(statement, ast.Import):
            names += [alias.name for alias in statement.names]
        elif isinstance(statement, ast.ImportFrom) and statement.module and not statement.level:
            names.append(statement.module)
    return names


def parse(source: str) -> ast.Module:
    """Arbre d'une cellule ; les commandes magiques sont traduites comme le fait IPython."""
    try:
        return ast.parse(source)
    except SyntaxError:
        from IPython.core.inputtransformer2 import TransformerManager

        return ast.parse(TransformerManager().transform_cell(source))
