"""Vérifications statiques du cours : rien n'est exécuté des leçons, chaque faute est nommée.

`cours verifier` les lance toutes ; les sorties elles-mêmes sont rejouées par nbval dans `make test`.
"""

import ast
import re
import subprocess
import tomllib
from collections.abc import Callable, Iterator
from decimal import Decimal
from importlib.metadata import metadata
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from packaging.specifiers import SpecifierSet

from course.lessons import SEAL, code_cells, derive, find, notebook_path, outputs_digest
from course.publish import MARKERS, generate_release, hidden_lines
from course.settings import NOTEBOOKS, RELEASE, ROOT, SOURCE
from helpers.journal import JudgeError

READING = "**Lecture du résultat.**"
TAUGHT_MODULES = ("tokens", "bleu", "rouge", "perplexity", "agreement", "rag", "elo", "bertscore", "benchmarks")


def lessons() -> list[tuple[Path, NotebookNode]]:
    """Leçons dont le notebook existe : (texte, notebook lu)."""
    return [(text, read(notebook_path(text))) for text in find() if notebook_path(text).exists()]


def read(path: Path) -> NotebookNode:
    """Notebook lu sans migration : tel qu'il est sur le disque."""
    return nbformat.read(path, as_version=nbformat.NO_CONVERT)


# --- Les leçons -----------------------------------------------------------------------------------------------


def lessons_match_their_text() -> Iterator[str]:
    """Chaque leçon est dérivée de son texte : mêmes cellules, même ordre, mêmes identifiants et métadonnées."""
    for text in find():
        if not notebook_path(text).exists():
            yield f"{text.stem} n'a pas de notebook : lancez « cours construire {text.stem[:2]} »."
    orphans = {path.stem for path in NOTEBOOKS.glob("*.ipynb")} - {text.stem for text in find()}
    yield from (f"notebooks/{name}.ipynb n'a pas de texte dans notebooks/textes : supprimez-le." for name in sorted(orphans))
    for text, notebook in lessons():
        yield from drift(text.stem, derive(text), notebook)


def drift(name: str, wanted: NotebookNode, actual: NotebookNode) -> Iterator[str]:
    """Première différence entre le notebook qui dérive du texte et celui du disque (sorties mises à part)."""
    repair = f"corrigez le texte puis lancez « cours construire {name[:2]} »."
    for expected, cell in zip(wanted.cells, actual.cells):
        for field in ("id", "cell_type", "source", "metadata"):
            if expected.get(field) != cell.get(field):
                yield f"{name}, cellule {cell.get('id')} : {field} diffère du texte (cellule {expected.id}) ; {repair}"
                return
    if len(wanted.cells) != len(actual.cells):
        yield f"{name} : {len(actual.cells)} cellules au lieu de {len(wanted.cells)} ; {repair}"
    metadata = {key: value for key, value in actual.metadata.items() if key != SEAL}
    if metadata != wanted.metadata:
        yield f"{name} : les métadonnées du notebook diffèrent du texte ; {repair}"


def lessons_are_executed() -> Iterator[str]:
    """Chaque cellule de code a été exécutée, dans l'ordre, sans erreur ni stderr, et ses sorties sont intactes."""
    for text, notebook in lessons():
        seal = notebook.metadata.get(SEAL, {}).get("sceau", {})
        for rank, cell in enumerate(code_cells(notebook), start=1):
            where = f"{text.stem}, cellule {cell.id}"
            if cell.execution_count != rank:
                yield f"{where} : numéro d'exécution {cell.execution_count} au lieu de {rank} ; relancez « cours construire »."
            if any(output.output_type == "error" or output.get("name") == "stderr" for output in cell.outputs):
                yield f"{where} : une erreur ou un texte sur stderr est enregistré dans ses sorties."
            if seal.get(cell.id) != outputs_digest(cell):
                yield f"{where} : ses sorties ont été retirées ou retouchées ; relancez « cours construire {text.stem[:2]} »."


ACCESS_KEY = r"\b(?:sk|hf)[-_][A-Za-z0-9]{16,}"
FORBIDDEN_OUTPUTS = {
    "un chemin absolu": r"(?<![\w.:/])/(?:home|root|work|tmp|Users|usr|opt|var)/\w",
    "une adresse mémoire": r"\bat 0x[0-9a-f]{6,}",
    "une heure": r"\b\d{1,2}:\d\d:\d\d\b",
    "une date d'exécution": r"\b20\d\d-\d\d-\d\d\b",
    "une durée mesurée": r"\b\d+(?:[.,]\d+)? ?(?:ms|µs|secondes?)\b",
    "une clé d'accès": ACCESS_KEY,
}


def outputs_are_portable() -> Iterator[str]:
    """Aucune sortie ne dépend de la machine, du jour ou d'une clé."""
    for text, notebook in lessons():
        for cell in code_cells(notebook):
            printed = output_text(cell)
            for what, pattern in FORBIDDEN_OUTPUTS.items():
                if match := re.search(pattern, printed):
                    yield f"{text.stem}, cellule {cell.id} : la sortie contient {what} ({match.group()!r})."


def figures_have_alt_text() -> Iterator[str]:
    """Chaque figure porte un texte de remplacement et une légende, et aucun affichage n'est muet."""
    for text, notebook in lessons():
        for index, cell in enumerate(notebook.cells):
            for output in cell.get("outputs", []):
                if "image/png" not in output.get("data", {}):
                    continue
                if not output.metadata.get("image/png", {}).get("alt"):
                    yield f"{text.stem}, cellule {cell.id} : figure sans texte de remplacement (plots.show)."
                following = "".join(other.source for other in notebook.cells[index + 1 : index + 3])
                if "*Figure" not in following:
                    yield f"{text.stem}, cellule {cell.id} : figure sans légende « *Figure N. …* » dans le texte qui suit."


def output_text(cell: NotebookNode) -> str:
    """Tout le texte affiché par une cellule ; la mention « <Figure size …> » n'en est pas."""
    parts = []
    for output in cell.get("outputs", []):
        if output.output_type == "stream":
            parts.append(output.text)
        elif "image/png" not in output.get("data", {}):
            parts.append(output.get("data", {}).get("text/plain", ""))
    return "\n".join(parts)


# --- Les nombres de la prose ----------------------------------------------------------------------------------

THIN_SPACES = "\u00a0\u202f\u2009"
PROSE_NUMBER = re.compile(rf"(?<![\w.,])(?<!\w-)([-−]?\d+(?:[{THIN_SPACES}]\d{{3}})*(?:[.,]\d+)?)(?![\w])([ {THIN_SPACES}]?%)?")
OUTPUT_NUMBER = re.compile(r"(?<![\w.])(?<!\w-)[-−]?\d+(?:[.,]\d+)?(?:e[-+]?\d+)?(?!\w)")
MARKDOWN_LINK = re.compile(r"\[[^\]]*\]\([^)]*\)")


def prose_quotes_outputs() -> Iterator[str]:
    """Chaque nombre d'une « Lecture du résultat » est dans une sortie, ou une constante, du bloc qu'elle commente."""
    for text, notebook in lessons():
        yield from unquoted_numbers(text.stem, notebook)


def unquoted_numbers(name: str, notebook: NotebookNode) -> Iterator[str]:
    """Nombres d'une lecture que rien n'affiche depuis la lecture précédente ; les liens sont des références."""
    known: list[Decimal] = []
    for cell in notebook.cells:
        if cell.cell_type == "code":
            known += printed_numbers(output_text(cell)) + constants(cell.source)
        elif cell.cell_type == "markdown" and cell.source.startswith(READING):
            for match in PROSE_NUMBER.finditer(MARKDOWN_LINK.sub(" ", cell.source)):
                if not is_quoted(match.group(1), bool(match.group(2)), known):
                    yield (
                        f"{name}, cellule {cell.id} : « {match.group().strip()} » n'est dans aucune sortie du bloc "
                        "que cette lecture commente ; corrigez la prose ou affichez ce nombre."
                    )
            known = []


def to_decimal(token: str) -> Decimal:
    """Nombre écrit à la française ou à l'anglaise : « −0,5 », « 1 000 », « 1e-3 »."""
    return Decimal(re.sub(f"[{THIN_SPACES}]", "", token).replace("−", "-").replace(",", "."))


def printed_numbers(printed: str) -> list[Decimal]:
    """Nombres affichés ; « 1,2 » compte aussi comme deux entiers, car une liste s'écrit pareil."""
    tokens = OUTPUT_NUMBER.findall(printed)
    pieces = [piece for token in tokens if "," in token for piece in token.split(",")]
    return [to_decimal(token) for token in [*tokens, *pieces]]


def constants(source: str) -> list[Decimal]:
    """Constantes numériques d'une cellule de code."""
    return [
        Decimal(str(node.value))
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Constant) and type(node.value) in (int, float)
    ]


def is_quoted(token: str, percent: bool, known: list[Decimal]) -> bool:
    """Le nombre de la prose est-il l'arrondi d'un nombre connu ?

    Un entier sans « % » doit être exactement affiché : « 12 » n'arrondit pas 11,7.
    """
    value = to_decimal(token)
    digits = -value.as_tuple().exponent
    candidates = [*known, *(number * 100 for number in known)] if percent else known
    if digits == 0 and not percent:
        return value in candidates
    half = Decimal(5) * Decimal(10) ** (-digits - 1)
    return any(number.is_finite() and abs(number - value) <= half for number in candidates)


# --- Le code enseigné -----------------------------------------------------------------------------------------


def taught_code_is_helpers_code() -> Iterator[str]:
    """Une fonction écrite dans une leçon et présente dans helpers y est la même ; rien de helpers n'est tu."""
    held = {}
    for path in sorted((ROOT / "helpers").glob("*.py")):
        held |= {name: (path.stem, node) for name, node in definitions(path.read_text(encoding="utf-8")).items()}
    taught = set()
    for text, notebook in lessons():
        for cell in code_cells(notebook):
            for name, node in definitions(cell.source).items():
                module, reference = held.get(name, (None, None))
                if module and bare(node) != bare(reference):
                    yield f"{text.stem}, cellule {cell.id} : {name} diffère de helpers.{module}.{name}."
                taught.add(name)
    for name, (module, _) in held.items():
        if module in TAUGHT_MODULES and not name.startswith("_") and name not in taught:
            yield f"helpers.{module}.{name} n'est enseignée dans aucune leçon : écrivez-la dans une cellule, ou retirez-la."


def definitions(source: str) -> dict[str, ast.AST]:
    """Fonctions et classes définies au premier niveau d'un source."""
    return {
        node.name: node for node in ast.parse(source).body if isinstance(node, (ast.FunctionDef, ast.ClassDef))
    }


def bare(node: ast.AST) -> str:
    """Arbre syntaxique sans docstrings ni annotations, sous forme de texte comparable."""
    node = ast.parse(ast.unparse(node))
    for part in ast.walk(node):
        if isinstance(part, (ast.FunctionDef, ast.ClassDef)):
            if ast.get_docstring(part) is not None:
                part.body = part.body[1:] or [ast.Pass()]
        if isinstance(part, ast.FunctionDef):
            part.returns = None
        if isinstance(part, ast.arg):
            part.annotation = None
    return ast.dump(node)


# --- Les exercices --------------------------------------------------------------------------------------------


def sources_are_clean() -> Iterator[str]:
    """Les devoirs de source/ n'ont ni sortie, ni appariement jupytext, ni identifiant nbgrader répété."""
    for path in sorted(SOURCE.glob("*/*.ipynb")):
        notebook, seen = read(path), set()
        if "jupytext" in notebook.metadata:
            yield f"{path.relative_to(ROOT)} est apparié à un texte : l'appariement a déjà fait fuir des corrigés ; retirez-le."
        for cell in notebook.cells:
            if cell.cell_type == "code" and (cell.outputs or cell.execution_count):
                yield f"{path.relative_to(ROOT)}, cellule {cell.id} : effacez ses sorties avant de l'enregistrer."
            identifier = cell.metadata.get("nbgrader", {}).get("grade_id")
            if identifier and identifier in seen:
                yield f"{path.relative_to(ROOT)} : l'identifiant nbgrader {identifier!r} est répété."
            seen.add(identifier)


def release_matches_source() -> Iterator[str]:
    """release/ est, à l'octet près, ce que nbgrader tire de source/."""
    wanted = generate_release()
    actual = {path.relative_to(RELEASE): path.read_bytes() for path in RELEASE.rglob("*") if path.is_file()}
    for path in sorted(wanted.keys() | actual.keys()):
        if path not in actual:
            yield f"release/{path} manque : lancez « cours publier »."
        elif path not in wanted:
            yield f"release/{path} ne vient d'aucun devoir de source/ : supprimez-le."
        elif wanted[path] != actual[path]:
            yield f"release/{path} diffère de ce que donne source/ : on ne l'édite pas, lancez « cours publier »."


def release_reveals_nothing() -> Iterator[str]:
    """Aucun corrigé ni test caché dans release/."""
    for path in sorted(file for file in RELEASE.rglob("*") if file.is_file()):
        content = path.read_text(encoding="utf-8")
        yield from (f"release/{path.relative_to(RELEASE)} contient {marker!r}." for marker in MARKERS if marker in content)
        source = SOURCE / path.relative_to(RELEASE)
        if path.suffix == ".ipynb" and source.exists():
            published = {line.strip() for cell in read(path).cells for line in cell.source.splitlines()}
            for line in hidden_lines(read(source)):
                if line in published:
                    yield f"release/{path.relative_to(RELEASE)} montre une ligne du corrigé ou d'un test caché : {line!r}."


def recorded_verdicts_agree() -> Iterator[str]:
    """Les journaux se lisent, chaque ligne a sa clé, aucune ne porte de clé d'accès."""
    from course.recording import journals

    try:
        for journal in journals():
            content = journal.path.read_text(encoding="utf-8")
            if re.search(rf"(?i)authorization|bearer |{ACCESS_KEY}", content):
                yield f"{journal.path.name} contient une clé d'accès ou un en-tête d'autorisation."
    except JudgeError as error:
        yield str(error)


def programme_is_covered() -> Iterator[str]:
    """Chaque ligne du programme a sa cellule, avec ses valeurs affichées et sa phrase écrite."""
    from course import coverage

    yield from coverage.missing()


def coverage_page_is_current() -> Iterator[str]:
    """docs/COUVERTURE.md est ce que donnent le programme et les leçons."""
    from course import coverage

    yield from coverage.outdated()


# --- Le projet ------------------------------------------------------------------------------------------------


def environments_agree() -> Iterator[str]:
    """requirements.txt fixe chaque version ; pyproject.toml et environment.yml n'en disent pas plus que lui."""
    pinned = {}
    for file in ("requirements.txt", "requirements-juge.txt"):
        for line in (ROOT / file).read_text(encoding="utf-8").splitlines():
            if line.strip() and not line.startswith("#"):
                if not re.fullmatch(r"[A-Za-z0-9._-]+==[^=<>~\s]+", line):
                    yield f"{file} : « {line} » n'est pas une version exacte (nom==version)."
                elif file == "requirements.txt":
                    pinned[canonical(line.split("==")[0])] = line.split("==")[1]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for name in [*project["dependencies"], *project["optional-dependencies"]["test"]]:
        if canonical(name) not in pinned:
            yield f"pyproject.toml demande {name}, absent de requirements.txt."
    conda = (ROOT / "environment.yml").read_text(encoding="utf-8")
    if "-r requirements.txt" not in conda:
        yield "environment.yml n'installe pas requirements.txt : ajoutez « -r requirements.txt » à sa partie pip."
    minimum = project["requires-python"].removeprefix(">=")
    if f"python>={minimum}" not in conda.replace(" ", ""):
        yield f"environment.yml et pyproject.toml ne demandent pas le même Python (>={minimum})."


def pins_accept_the_oldest_python() -> Iterator[str]:
    """Chaque version épinglée s'installe avec le plus ancien Python que le cours accepte."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    oldest = project["requires-python"].removeprefix(">=") + ".0"
    for line in (ROOT / "requirements.txt").read_text(encoding="utf-8").split():
        wanted = metadata(line.split("==")[0]).get("Requires-Python")
        if wanted and not SpecifierSet(wanted).contains(oldest):
            yield f"{line} demande Python {wanted}, et non {oldest} : épinglez une version plus ancienne."


def canonical(name: str) -> str:
    """Nom de paquet sous sa forme canonique (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def files_are_portable() -> Iterator[str]:
    """Aucun fichier suivi ne nomme cette machine ou un registre de paquets."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    hosts = [".".join(parts) for parts in (("pypi", "org"), ("pythonhosted", "org"), ("npmjs", "org"), ("deb.debian", "org"))]
    for name in listed.stdout.splitlines():
        path = ROOT / name
        if not path.is_file() or path.suffix in (".png", ".jpg"):
            continue
        content = path.read_text(encoding="utf-8", errors="replace")
        yield from (f"{name} nomme un registre de paquets ({host})." for host in hosts if host in content)
        if f"{ROOT}/" in content:
            yield f"{name} contient un chemin de cette machine ({ROOT})."


CHECKS: tuple[Callable[[], Iterator[str]], ...] = (
    lessons_match_their_text,
    lessons_are_executed,
    outputs_are_portable,
    figures_have_alt_text,
    prose_quotes_outputs,
    taught_code_is_helpers_code,
    sources_are_clean,
    release_matches_source,
    release_reveals_nothing,
    recorded_verdicts_agree,
    programme_is_covered,
    coverage_page_is_current,
    environments_agree,
    pins_accept_the_oldest_python,
    files_are_portable,
)
