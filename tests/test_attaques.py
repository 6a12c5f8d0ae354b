"""Les attaques de la classe de démonstration, essayées sur chaque exercice, et les copies honnêtes qu'un correcteur ordinaire punit.

Une attaque ne doit jamais valoir un point de plus que la réponse fausse et honnête qu'elle accompagne, et ne doit jamais faire
sortir une ligne d'un test caché ou d'un corrigé. Les notes des copies fausses sont comptées à la main, test par test.
Tout s'exécute dans le bac à sable, deux copies à la fois ; sans bac à sable, ces tests sont sautés avec la raison.
"""

import copy
import json
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import nbformat
import pytest

from autograder.execution import sandbox
from autograder.execution.limits import Limits
from autograder.intake.assignment import grade_id, kind
from autograder.intake.repair import repair_folder
from autograder.judgement.preprocessor import correct, score
from autograder.record.marks import read_marks
from course import demonstration
from course.publish import hidden_lines
from course.settings import COPIES, RELEASE, SOURCE

pytestmark = pytest.mark.skipif(sandbox.available() is not None, reason=f"pas de bac à sable : {sandbox.available()}")

WRONG = {"ex01_bleu2": 2, "ex02_perplexite": 4, "ex03_juge_symetrique": 8}  # points des copies « fausse »
CANARY = "canari_ne_doit_jamais_sortir"
SHORT = Limits(cell_seconds=1.5, notebook_seconds=4.5)
LONG = Limits(cell_seconds=20, notebook_seconds=60)

# Remplace chaque fonction de la copie, quel que soit l'exercice.
EVERY_FUNCTION = """
for name, value in list(globals().items()):
    if hasattr(value, "__code__") and getattr(value, "__module__", "") == "__main__" and name != "trick":
        globals()[name] = trick
"""
MORE = {
    "meurt_a_l_appel": "trick = lambda *args: __import__('os')._exit(0)" + EVERY_FUNCTION,
    "boucle_a_l_appel": "def trick(*args):\n    while True:\n        pass\n" + EVERY_FUNCTION,
    "boucle_sourde_a_l_appel": (
        "def trick(*args):\n    while True:\n        try:\n            while True:\n                pass\n"
        "        except BaseException:\n            pass\n" + EVERY_FUNCTION
    ),
    "recursion_a_l_appel": "def trick(*args):\n    return trick(*args)\n" + EVERY_FUNCTION,
    "sort_a_l_appel": "def trick(*args):\n    raise SystemExit(0)\n" + EVERY_FUNCTION,
    "leve_une_erreur_attendue": "def trick(*args):\n    raise type('ValueError', (ValueError, AssertionError), {})()\n" + EVERY_FUNCTION,
    "erreur_au_texte_piege": (
        "class Trap(ValueError):\n    def __str__(self):\n        while True:\n            pass\n"
        "def trick(*args):\n    raise Trap\n" + EVERY_FUNCTION
    ),
    "memoire_a_l_appel": "def trick(*args):\n    return [0.25] * 10**9\n" + EVERY_FUNCTION,
    "rappels_sans_fin": (
        "def trick(*args):\n    while True:\n        for judge in args:\n            if callable(judge):\n"
        "                judge('', '', '')\n" + EVERY_FUNCTION
    ),
    "rappelle_un_juge_inconnu": (
        "def trick(*args):\n    judge = args[-1]\n    judge.number = 10**6\n    return judge('', '', '')\n" + EVERY_FUNCTION
    ),
    "inonde_le_canal": (
        "os, threading = __import__('os'), __import__('threading')\n"
        "content = b'{\"kind\":\"ask\",\"op\":\"callback\",\"number\":0,\"args\":{\"t\":[]},\"kwargs\":{\"d\":[]}}'\n"
        "def flood():\n    for _ in range(10**5):\n        for number in range(3, 20):\n            try:\n"
        "                os.write(number, len(content).to_bytes(4, 'big') + content)\n"
        "            except OSError:\n                pass\n"
        "threading.Thread(target=flood, daemon=True).start()\n"
    ),
    "message_interminable": (
        "os = __import__('os')\ncontent = b'\"' + b'\\\\\\\\\"' * 1_000_000\n"
        "for number in range(3, 20):\n    try:\n        os.write(number, len(content).to_bytes(4, 'big') + content)\n"
        "    except OSError:\n        pass\n"
    ),
    "ferme_le_canal": "os = __import__('os')\nfor number in range(3, 20):\n    try:\n        os.close(number)\n    except OSError:\n        pass\n",
    "reveil_detourne": "signal = __import__('signal')\nsignal.setitimer = lambda *args: (0, 0)\nsignal.signal = lambda *args: None\n",
    "remplace_le_canal": (
        "sys = __import__('sys')\nfor module in list(sys.modules.values()):\n    if hasattr(module, 'MAX_DIGITS'):\n"
        "        module.encode = lambda *args: {'f': 'nan'}\n        module.Refused = BaseException\n"
    ),
}


@cache
def notebooks(assignment):
    """Notebooks source et publié d'un devoir."""
    return [nbformat.read(folder / assignment / f"{assignment}.ipynb", as_version=4) for folder in (SOURCE, RELEASE)]


def filled(assignment, answers, top=(), after=()):
    """Notebook publié, rempli ; `top` en tête et `after` après chaque cellule réponse, dans des cellules de plus."""
    notebook = copy.deepcopy(notebooks(assignment)[1])
    cells = [nbformat.v4.new_code_cell(code) for code in top]
    for cell in notebook.cells:
        cell.source = answers.get(grade_id(cell), cell.source)
        cells += [cell, *(nbformat.v4.new_code_cell(code) for code in after if kind(cell) == "reponse")]
    notebook.cells = cells
    return notebook


def points(assignment, notebook, limits, files=None):
    """Note de la copie et tout ce que le correcteur en a gardé."""
    source = notebooks(assignment)[0]
    result = correct(source, notebook, files, "bwrap", limits)
    return sum(score(cell, result["tests"].get(grade_id(cell))) for cell in source.cells if kind(cell) == "test"), result


def attacks():
    """Nom de chaque attaque → (cellules en tête, cellules après chaque réponse)."""
    texts = {path.stem: demonstration.read_copy(path) for path in sorted(COPIES.glob("*/piege_*.py"))}
    found = {
        name: ([code for place, code in text.extras if place is None], [code for place, code in text.extras if place is not None])
        for name, text in texts.items() if text.extras
    }  # fmt: skip
    return found | {name: ([], [code]) for name, code in MORE.items()}


CASES = [(name, assignment) for name in attacks() for assignment in WRONG]


@pytest.fixture(scope="module")
def attacked():
    """Résultat de chaque attaque sur chaque exercice, deux à la fois."""
    wrong = {assignment: demonstration.read_copy(COPIES / assignment / "fausse.py").answers for assignment in WRONG}

    def run(case):
        name, assignment = case
        top, after = attacks()[name]
        return points(assignment, filled(assignment, wrong[assignment], top, after), SHORT)

    with ThreadPoolExecutor(2) as pool:
        return dict(zip(CASES, pool.map(run, CASES)))


@pytest.mark.parametrize(("name", "assignment"), CASES, ids=lambda value: value)
def test_une_attaque_ne_rapporte_rien(name, assignment, attacked):
    """Jamais un point de plus que la réponse fausse et honnête."""
    assert attacked[name, assignment][0] <= WRONG[assignment]


@pytest.mark.parametrize("assignment", WRONG)
def test_une_attaque_ne_fait_rien_sortir(assignment, attacked):
    """Aucune sortie d'une copie piégée ne contient une ligne du corrigé ou d'un test caché, ni le canari."""
    secrets = {CANARY} | hidden_lines(notebooks(assignment)[0])
    for (name, where), (_, result) in attacked.items():
        shown = json.dumps([result["outputs"], result["errors"]], ensure_ascii=False) if where == assignment else ""
        assert not [line for line in secrets if line in shown], name


@pytest.mark.parametrize("assignment", WRONG)
def test_reponse_fausse_et_honnete(assignment):
    """La note que les attaques ne doivent pas dépasser est bien celle de la copie fausse."""
    answers = demonstration.read_copy(COPIES / assignment / "fausse.py").answers
    assert points(assignment, filled(assignment, answers), LONG)[0] == WRONG[assignment]


NOISE = """
import logging
import warnings

import numpy as np

warnings.warn("une mise en garde")
logging.warning("un message du journal")
print("un affichage")
np.log(np.zeros(2))
__import__("os").write(2, "écrit sur le descripteur 2".encode())
print("\\ud800", "une moitié de caractère")
from IPython.display import display
display({"un": "dictionnaire"})
%time 1 + 1
"""


@pytest.mark.parametrize("assignment", WRONG)
def test_du_bruit_ne_coute_rien(assignment):
    """Mise en garde, journal, stderr, affichages, brouillon en erreur, exit : tous les points (NB-21)."""
    answers = demonstration.read_copy(COPIES / assignment / "parfaite.py").answers
    notebook = filled(assignment, answers, top=[NOISE], after=[NOISE, "raise KeyError('brouillon')", "exit", "raise SystemExit(1)"])
    got, result = points(assignment, notebook, LONG)
    assert (got, result["incidents"]) == (20, [])


HONEST = sorted(COPIES.glob("*/honnete_*.py"))


@pytest.mark.parametrize("path", HONEST, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_copie_honnete(path, tmp_path):
    """Chaque copie honnête de la classe a tous les points, sans rien à relire."""
    assignment = path.parent.name
    references = {assignment: notebooks(assignment)[1]}
    demonstration.build_copy(RELEASE / assignment / f"{assignment}.ipynb", path, tmp_path / "remise")
    report = repair_folder(tmp_path / "remise", tmp_path / "propre", references)
    repaired = nbformat.read(tmp_path / "propre" / f"{assignment}.ipynb", as_version=4)
    got, result = points(assignment, repaired, LONG, tmp_path / "propre")
    assert (got, result["incidents"], report.reasons, report.fatal) == (20, [], (), None)


def test_une_mort_garde_les_points_d_avant():
    """Mort du processus, valeur immense : la question d'avant garde ses points, celle d'après aussi si le processus vit."""
    perfect = demonstration.read_copy(COPIES / "ex01_bleu2" / "parfaite.py").answers
    answers = perfect | {"bleu2": "def bleu2(candidate, references):\n    __import__('os')._exit(0)"}
    got, result = points("ex01_bleu2", filled("ex01_bleu2", answers), LONG)
    assert got == 10 and result["incidents"]
    answers = perfect | {"precision_bigrammes": "def modified_bigram_precision(candidate, references):\n    return [0] * 10**6"}
    answers["bleu2"] = "def bleu2(candidate, references):\n    return 0.0"
    # bleu2 rend 0.0 : un float (1 point), et 0.0 sans bigramme commun (1 point).
    assert points("ex01_bleu2", filled("ex01_bleu2", answers), LONG)[0] == 2


def test_le_temps_total_garde_les_points_d_avant():
    """Le temps de la copie s'épuise pendant bleu2 : la première question garde ses points, et la raison est dite (NB-12)."""
    answers = demonstration.read_copy(COPIES / "ex01_bleu2" / "parfaite.py").answers
    answers |= {"bleu2": "def bleu2(candidate, references):\n    while True: pass"}
    got, result = points("ex01_bleu2", filled("ex01_bleu2", answers), Limits(cell_seconds=2, notebook_seconds=4))
    assert got == 10 and "temps de calcul total (4 s)" in " ".join(result["incidents"])


def test_pieges_et_attaques_sont_nombreux():
    """La classe garde au moins une copie piégée par attaque connue (SEC-01 à SEC-25) qui concerne une copie."""
    said = " ".join(path.read_text(encoding="utf-8") for path in COPIES.glob("*/piege_*.py"))
    wanted = {1, 2, 3, 4, 5, 6, 7, 9, 10, 12, 13, 14, 15, 16, 17, 19, 21, 22, 25}
    assert [number for number in wanted if f"SEC-{number:02}" not in said] == []


def test_les_notes_des_pieges_ne_depassent_pas_celles_des_fausses():
    """Dans notes_attendues.csv, une copie piégée qui reprend la copie fausse n'a jamais plus qu'elle."""
    marks = {(mark.etudiant, mark.devoir): mark for mark in read_marks(COPIES / demonstration.MARKS_FILE)}
    for path in COPIES.glob("*/piege_*.py"):
        if "# Reprend : fausse" in path.read_text(encoding="utf-8"):
            assert marks[path.stem, path.parent.name].note <= WRONG[path.parent.name], path.name
