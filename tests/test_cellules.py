"""Les cellules d'une copie s'exécutent comme dans Jupyter, qu'IPython ait dû s'ouvrir ou non."""

import nbformat
import pytest
from nbclient import NotebookClient

from autograder.execution import sandbox
from autograder.execution.limits import Limits
from autograder.execution.sandbox import Sandbox, package_paths
from autograder.judgement.proxy import Student

needs_bwrap = pytest.mark.skipif(sandbox.available() is not None, reason=f"pas de bac à sable : {sandbox.available()}")
LIMITS = Limits(cell_seconds=20, notebook_seconds=60)

# Suites de cellules ; le vrai noyau de Jupyter dit ce qu'elles affichent.
PLAIN = {
    "valeur": ["x = 3", "x"],
    "texte": ["'un\\ndeux'"],
    "nombres": ["1 / 3", "10 ** 30", "True", "2 + 3j", "b'a'", "float('nan')"],
    "rien": ["None", "x = 1;", "3;"],
    "affichage": ["print('a')\nprint('b', end='')", "import sys; print('e', file=sys.stderr)"],
    "fonction": ["def double(x):\n    return 2 * x", "double(21)"],
    "boucle": ["for _ in range(3):\n    pass", "print(_)"],
    "erreur": ["1 / 0", "print('encore là')", "undefined_name"],
    "vide": ["", "# rien", "'fin'"],
    "classe": ["class A:\n    def __repr__(self):\n        return 'un A'", "str(A())", "__name__"],
}
WITH_IPYTHON = {
    "magique": ["%precision 2", "print(1)"],
    "capture": ["%%capture sortie\nprint('dedans')", "sortie.stdout"],
    "aide": ["get_ipython().__class__.__mro__[-1].__name__"],
    "derniere valeur": ["40 + 2", "_ + 1", "Out[1] + 2", "In[1]"],
    "liste": ["list(range(3))", "{'b': 1, 'a': {3, 1, 2}}", "list(range(60))"],
    "attente": ["import asyncio\nawait asyncio.sleep(0)\n'fait'"],
    "affichage riche": ["from IPython.display import display\ndisplay('a', 3)", "4"],
    "syntaxe": ["def f(:", "5"],
    "nom a soi": ["display = print\nIn = 12", "display('x')", "In", "%precision 3", "In, display is print"],
    "futur": ["from __future__ import annotations\ndef f(x: inconnu): pass", "f.__annotations__"],
    "etat garde": ["x = [1]\ndef g():\n    return x", "%precision 4", "g().append(2)", "x"],
}


class Cells:
    """Un interpréteur de copie dans son bac à sable."""

    def __init__(self, isolation="bwrap"):
        self.sandbox = Sandbox(None, package_paths(["matplotlib"]), isolation, LIMITS)
        self.student = Student(self.sandbox.connection, self.sandbox.meter)
        self.student.start({} if isolation == "processus" else LIMITS.rlimits(), None)

    def run(self, source):
        self.student.start_clock()
        return self.student.run(source)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.sandbox.kill()


def seen(outputs, error):
    """Textes, valeurs affichées et nom de l'erreur d'une cellule."""
    texts = {name: "".join(one["text"] for one in outputs if one.get("name") == name) for name in ("stdout", "stderr")}
    values = [one["data"]["text/plain"] for one in outputs if "data" in one]
    return texts, values, error


def in_jupyter(cells):
    """Ce que montre le vrai noyau, cellule par cellule."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in cells])
    NotebookClient(notebook, kernel_name="python3", allow_errors=True).execute()
    found = []
    for cell in notebook.cells:
        errors = [output.ename for output in cell.outputs if output.output_type == "error"]
        found.append(seen([output for output in cell.outputs if output.output_type != "error"], errors[0] if errors else None))
    return found


@needs_bwrap
@pytest.mark.parametrize("cells", [*PLAIN.values(), *WITH_IPYTHON.values()], ids=[*PLAIN, *WITH_IPYTHON])
def test_comme_dans_jupyter(cells):
    with Cells() as copy:
        answers = [copy.run(source) for source in cells]
    obtained = [seen(answer["outputs"], answer["error"]["name"] if answer["status"] == "error" else None) for answer in answers]
    assert obtained == in_jupyter(cells)


LOADED = "__import__('sys').modules.get('IPyth' + 'on') is not None"


@needs_bwrap
@pytest.mark.parametrize(("group", "expected"), [(PLAIN, "False"), (WITH_IPYTHON, "True")], ids=["sans", "avec"])
def test_ipython_seulement_s_il_sert(group, expected):
    """Une copie ordinaire n'ouvre pas IPython : c'est le plus long d'un démarrage."""
    for name, cells in group.items():
        if name == "boucle":
            continue  # « _ » est le dernier résultat d'IPython, ou une variable : dans le doute, il s'ouvre
        with Cells() as copy:
            for source in cells:
                copy.run(source)
            assert copy.run(f"str({LOADED})")["outputs"][-1]["data"]["text/plain"] == f"'{expected}'", name


@needs_bwrap
def test_image():
    """Une valeur qui sait se montrer en PNG garde son image et son texte."""
    code = "class Point:\n    def _repr_png_(self):\n        return b'\\x89PNG...'\n    def __repr__(self):\n        return 'un point'\nPoint()"
    with Cells() as copy:
        (output,) = copy.run(code)["outputs"]
    assert output["data"] == {"text/plain": "un point", "image/png": "iVBORy4uLg=="}


@needs_bwrap
def test_sortie_demandee():
    """« SystemExit » n'arrête que sa cellule."""
    with Cells() as copy:
        assert copy.run("raise SystemExit(3)")["error"]["name"] == "SystemExit"
        assert copy.run("'après'")["outputs"][0]["data"]["text/plain"] == "'après'"


@needs_bwrap
def test_trace_lisible():
    """La trace d'une erreur montre la ligne de la copie, et rien de l'interpréteur."""
    with Cells() as copy:
        copy.run("def inverse(x):\n    return 1 / x")
        trace = "".join(copy.run("inverse(0)")["error"]["traceback"])
    assert "return 1 / x" in trace and "inverse(0)" in trace and "worker" not in trace and "ZeroDivisionError" in trace


@needs_bwrap
def test_fichier_de_la_copie_nomme_comme_un_module(tmp_path):
    """Un « random.py » joint à la copie ne remplace pas celui dont IPython a besoin ; la copie, elle, importe le sien."""
    (tmp_path / "random.py").write_text("valeur = 12\n", encoding="utf-8")
    limits = Limits(cell_seconds=20, notebook_seconds=60)
    opened = Sandbox(tmp_path, package_paths([]), "bwrap", limits)
    try:
        student = Student(opened.connection, opened.meter)
        student.start(limits.rlimits(), None)
        assert student.run("%precision 2")["status"] == "ok"
        student.start_clock()
        answer = student.run("import sys\nsys.modules.pop('random', None)\nimport random\nrandom.valeur")
    finally:
        opened.kill()
    assert answer["outputs"][-1]["data"]["text/plain"] == "12", answer
