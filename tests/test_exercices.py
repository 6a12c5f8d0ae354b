"""Les exercices et leur classe de démonstration, vérifiés sans lancer nbgrader.

Chaque notebook remis est construit depuis release/, puis exécuté cellule après cellule dans un seul espace de noms, avec
les cellules de test de source/ : c'est ce que fait nbgrader, tests cachés compris. Les notes attendues ont été calculées à
la main, test par test, d'après les valeurs attendues des tests ; elles ne viennent pas d'une exécution.
"""

import ast
import contextlib
import io
import json
import logging
import re
import warnings
from collections import defaultdict
from functools import cache

import nbformat
import pytest

from autograder.record.marks import read_marks
from autograder.settings import UsageError
from course import demonstration
from course.settings import COPIES, RELEASE, ROOT, SOURCE, TEXTS
from helpers import judge
from helpers.journal import Journal

ASSIGNMENTS = [
    "ex01_bleu2", "ex02_perplexite", "ex03_juge_symetrique", "ex04_rouge_l_francais", "ex05_rappel_des_faits",
    "ex06_bradley_terry", "ex07_kappa",
]
ALL_MARKS = {(mark.etudiant, mark.devoir): mark for mark in read_marks(COPIES / demonstration.MARKS_FILE)}
# Les copies piégées, abîmées, ou que nbgrader seul punit ont leurs tests (test_attaques.py) : on ne les exécute pas ici.
ORDINARY = ("parfaite", "vide", "partielle", "fausse", "mutant_", "style_")
MARKS = {key: mark for key, mark in ALL_MARKS.items() if key[0].startswith(ORDINARY)}
DATA = ROOT / "helpers" / "donnees"
HIDDEN = "### DÉBUT TESTS CACHÉS"


@cache
def source_cells(assignment):
    """Cellules du devoir, dans l'ordre : (grade_id, métadonnées nbgrader, code ou texte, type)."""
    notebook = nbformat.read(SOURCE / assignment / f"{assignment}.ipynb", as_version=4)
    return [(cell.metadata.nbgrader.grade_id, cell.metadata.nbgrader, cell.source, cell.cell_type) for cell in notebook.cells]


def code_cells(assignment):
    return [(name, meta, code) for name, meta, code, kind in source_cells(assignment) if kind == "code"]


def graded_cells(assignment):
    return {name: (meta.points, code) for name, meta, code in code_cells(assignment) if meta.grade}


def failures(assignment, answers):
    """Tests manqués quand les cellules réponses sont remplacées par `answers` ; un mot sur stderr est un échec."""
    namespace, failed = {"__name__": "__main__"}, {}
    for name, meta, code in code_cells(assignment):
        errors = io.StringIO()
        handler = logging.StreamHandler(errors)
        logging.getLogger().addHandler(handler)
        try:
            with warnings.catch_warnings(record=True) as caught, contextlib.redirect_stderr(errors), \
                    contextlib.redirect_stdout(io.StringIO()):
                warnings.simplefilter("always")
                exec(compile(answers.get(name, code), name, "exec"), namespace)
            if caught or errors.getvalue():
                failed[name] = RuntimeError("écrit sur stderr")
        except Exception as error:
            failed[name] = error
        finally:
            logging.getLogger().removeHandler(handler)
    return {name: error for name, error in failed.items() if name in graded_cells(assignment)}


def mark(assignment, failed):
    return sum(points for name, (points, _) in graded_cells(assignment).items() if name not in failed)


@pytest.fixture(scope="module")
def submissions(tmp_path_factory):
    """Cellules réponses de chaque copie construite : (étudiant, devoir) -> identifiant -> code."""
    folder = tmp_path_factory.mktemp("submitted")
    found = {}
    for path in demonstration.build(RELEASE, COPIES, folder):
        if not path.parent.parent.name.startswith(ORDINARY):
            continue
        notebook = nbformat.read(path, as_version=4)
        found[path.parent.parent.name, path.stem] = {
            cell.metadata.nbgrader.grade_id: cell.source for cell in notebook.cells if cell.metadata.nbgrader.solution
        }
    return found


@pytest.fixture(scope="module")
def failed_tests(submissions):
    return {key: failures(key[1], answers) for key, answers in submissions.items()}


@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_corrige_reussit_tout(assignment):
    """Les cellules du notebook source, exécutées dans l'ordre, passent tous les tests."""
    assert failures(assignment, {}) == {}
    assert mark(assignment, {}) == 20


@pytest.mark.parametrize(("student", "assignment"), MARKS, ids=lambda value: value)
def test_note_attendue(student, assignment, failed_tests):
    """Chaque copie de démonstration reçoit la note calculée à la main."""
    expected = MARKS[student, assignment]
    failed = failed_tests[student, assignment]
    assert mark(assignment, failed) == expected.note, sorted(failed)
    assert (expected.note_max, expected.statut) == (20, "note") and expected.motif


def test_toute_copie_a_sa_note(tmp_path):
    """Le tableau des notes et le dossier des copies nomment les mêmes copies."""
    built = demonstration.build(RELEASE, COPIES, tmp_path)
    assert {(path.parent.parent.name, path.stem) for path in built} == ALL_MARKS.keys()


@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_copie_vide_dit_non_implemente(assignment, submissions, failed_tests):
    """Une copie vide manque tous les tests, sur « non implémenté » et non sur une valeur plausible."""
    failed = failed_tests["vide", assignment]
    assert failed.keys() == graded_cells(assignment).keys()
    assert all("non implémenté" in str(error) for error in failed.values())
    assert all('raise NotImplementedError("non implémenté")' in code for code in submissions["vide", assignment].values())


@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_chaque_test_cache_sert(assignment, failed_tests):
    """Chaque test caché est manqué par au moins une copie fausse mais remplie ; chaque copie fausse perd un point."""
    killers = defaultdict(set)
    for (student, name), failed in failed_tests.items():
        if name == assignment and student.startswith("mutant_"):
            assert failed, student
            for test in failed:
                killers[test].add(student)
    useless = [test for test, (_, code) in graded_cells(assignment).items() if HIDDEN in code and not killers[test]]
    assert useless == []


@pytest.mark.parametrize(("student", "assignment"), [key for key in MARKS if key[0] == "parfaite" or "style_" in key[0]])
def test_tests_separes_de_l_etudiant(student, assignment, submissions):
    """Les tests n'ont besoin que des noms que le corrigé définit : ils passent dans un espace de noms à part."""
    theirs, ours = {}, {}
    answers = submissions[student, assignment]
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, meta, code in code_cells(assignment):
            if meta.solution:
                exec(answers[name], theirs)
                solution = {}
                exec(code, ours | solution, solution)
                ours |= {defined: theirs[defined] for defined in solution}
            elif meta.grade:
                exec(code, ours)
            else:
                exec(code, theirs)
                exec(code, ours)


# Tests de la précision manqués par chacune des neuf erreurs classiques quand bleu2 est juste : ceux-là, rien d'autre.
B1 = {
    "mutant_sans_plafond": {"precision_plafonne_les_repetitions", "precision_n_additionne_pas_les_references"},
    "mutant_plafonds_additionnes": {"precision_n_additionne_pas_les_references"},
    "mutant_ensembles": {"precision_plafonne_les_repetitions", "precision_n_additionne_pas_les_references"},
    "mutant_premiere_reference": {"precision_reunit_toutes_les_references"},
    "mutant_rappel": {
        "precision_compte_les_bigrammes_du_candidat", "precision_plafonne_les_repetitions",
        "precision_n_additionne_pas_les_references", "precision_reunit_toutes_les_references",
    },
    "mutant_mots_seuls": {
        "precision_sans_bigramme_vaut_zero", "precision_compte_les_bigrammes_du_candidat",
        "precision_plafonne_les_repetitions", "precision_n_additionne_pas_les_references",
        "precision_reunit_toutes_les_references", "precision_respecte_l_ordre_des_mots",
    },
    "mutant_divise_par_les_mots": {
        "precision_compte_les_bigrammes_du_candidat", "precision_plafonne_les_repetitions",
        "precision_n_additionne_pas_les_references", "precision_reunit_toutes_les_references",
    },
    "mutant_meilleure_reference": {"precision_reunit_toutes_les_references"},
    "mutant_paires_sans_ordre": {"precision_respecte_l_ordre_des_mots"},
}


@pytest.mark.parametrize("student", B1)
def test_table_b1(student, failed_tests):
    """Les neuf erreurs classiques de la précision manquent les tests prévus dans B1."""
    failed = failed_tests[student, "ex01_bleu2"]
    assert {test for test in failed if test.startswith("precision_")} == B1[student]


# Les seize couples de réponses d'un juge, et le verdict que chaque copie en tire : colonnes de B4, dans cet ordre.
PAIRS = [(direct, inverse) for direct in ("A", "B", "EGALITE", None) for inverse in ("A", "B", "EGALITE", None)]
I, E = "INSTABLE", "EGALITE"
B4 = {
    "parfaite":                       [I, "A", I, I, "B", I, I, I, I, I, E, I, I, I, I, I],
    "mutant_reponses_brutes":         ["A", I, I, I, I, "B", I, I, I, I, E, I, I, I, I, None],
    "mutant_sans_retournement":       ["A", I, I, I, I, "B", I, I, I, I, I, I, I, I, I, I],
    "mutant_un_seul_appel":           ["A", "A", "A", "A", "B", "B", "B", "B", E, E, E, E, None, None, None, None],
    "mutant_deux_absences_concordent": [I, "A", I, I, "B", I, I, I, I, I, E, I, I, I, I, None],
    "mutant_sinon_b":                 [I, "A", "A", "A", "B", I, I, I, "B", I, I, I, "B", I, I, I],
    "mutant_egalite_vaut_victoire":   [I, "A", "A", I, "B", I, "B", I, "B", "A", E, None, I, I, None, None],
}


@pytest.mark.parametrize("student", B4)
def test_table_b4(student, submissions):
    """Chaque copie rend, pour les seize couples de réponses, les verdicts prévus dans B4 (S0-46) ; la copie juste en est la référence."""
    namespace = {}
    exec(submissions[student, "ex03_juge_symetrique"]["juge_symetrique"], namespace)
    verdicts = [
        namespace["judge_symmetric"]("?", "x", "y", lambda question, first, second: direct if first == "x" else inverse)
        for direct, inverse in PAIRS
    ]
    assert dict(zip(PAIRS, verdicts)) == dict(zip(PAIRS, B4[student]))


@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_forme_des_cellules(assignment):
    """Nom en ASCII, phrase d'ouverture, messages complets ; rien d'importé, aucune valeur en fin de cellule."""
    for test, (points, code) in graded_cells(assignment).items():
        assert re.fullmatch(r"[a-z0-9_]+", test) and points in (1, 2), test
        assert re.match(r"# [A-ZÉÀ].*\.\n", code), test
        tree = ast.parse(code)
        assert isinstance(tree.body[-1], (ast.Assert, ast.For)), f"{test} : une valeur finale donnerait une note partielle"
        assert not any(isinstance(node, (ast.Import, ast.ImportFrom)) for node in ast.walk(tree)), test
        for node in ast.walk(tree):
            if isinstance(node, ast.Assert) and "non implémenté" not in ast.unparse(node.msg):
                words = ("Obtenu", "Attendu") if HIDDEN in code else ("Obtenu", "Attendu", "À relire")
                assert all(word in ast.unparse(node.msg) for word in words), test


def imported_modules(code):
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module


@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_modules_permis(assignment, submissions):
    """Corrigé, cellules données et copies n'importent que des modules permis ; l'énoncé donne la même liste."""
    notebook = nbformat.read(SOURCE / assignment / f"{assignment}.ipynb", as_version=4)
    allowed = notebook.metadata.cours.imports_autorises
    codes = [code for _, _, code in code_cells(assignment)]
    codes += [code for (_, name), answers in submissions.items() if name == assignment for code in answers.values()]
    assert {module for code in codes for module in imported_modules(code)} <= set(allowed)
    statement = next(text for name, _, text, _ in source_cells(assignment) if name == "mode_d_emploi")
    listed = re.search(r"Modules permis[^:]*:(.*?)\. Ni|Modules permis[^:]*:(.*?)\.\n", statement, re.DOTALL)
    assert re.findall(r"`(\w+)`", listed[0]) == list(allowed)


@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_sections_a_relire(assignment):
    """Chaque section citée par un message existe dans la leçon du devoir."""
    notebook = nbformat.read(SOURCE / assignment / f"{assignment}.ipynb", as_version=4)
    lesson = (TEXTS / f"{notebook.metadata.cours.lecon}.py").read_text(encoding="utf-8")
    titles = {re.sub(r"^\d+\. ", "", title) for title in re.findall(r"^# #{2,3} (.+)$", lesson, re.MULTILINE)}
    cited = {section for _, code in graded_cells(assignment).values() for section in re.findall(r"section « (.+?) »", code)}
    assert cited and cited <= titles


def exam_prompt():
    """Seconde consigne de la leçon 04 : elle est écrite dans la leçon, pas dans helpers."""
    lesson = ast.parse((TEXTS / "04_juge_llm.py").read_text(encoding="utf-8"))
    return next(
        ast.literal_eval(node.value)
        for node in lesson.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "EXAM_PROMPT"
    )


def test_verdicts_enregistres():
    """Les verdicts de l'exercice 03 sont ceux du journal de la leçon 04, paire par paire, dans les deux ordres."""
    answers = {
        json.dumps(entry.request, sort_keys=True): entry.reply["choices"][0]["message"]["content"]
        for entry in Journal(DATA / "journal" / "04_juge_llm.jsonl")
        if entry.occurrence == 1 and entry.path == "/chat/completions"
    }

    def recorded(prompt, question, first, second):
        request = judge.pairwise_request(question, first, second, prompt=prompt)
        return answers[json.dumps(request | request.pop("extra_body"), sort_keys=True)]

    expected = []
    for name, prompt in [("consigne directe", judge.PAIRWISE_PROMPT), ("consigne d'examen", exam_prompt())]:
        couples = []
        for number, pair in enumerate(json.loads((DATA / "paires.json").read_text(encoding="utf-8"))["paires"]):
            # La leçon place la bonne réponse dans `a` une fois sur deux.
            a, b = (pair["bonne"], pair["mauvaise"]) if number % 2 == 0 else (pair["mauvaise"], pair["bonne"])
            couples.append((recorded(prompt, pair["question"], a, b), recorded(prompt, pair["question"], b, a)))
        expected.append((name, couples))
    namespace = {}
    exec(next(code for name, _, code in code_cells("ex03_juge_symetrique") if name == "verdicts_enregistres"), namespace)
    assert namespace["verdicts_enregistres"] == expected, "recopier ces verdicts dans la cellule verdicts_enregistres"
    assert all(len(couples) == 24 for _, couples in expected)


ONE_CELL = "# Copie : essai.\n\n# %% {}\nx = 1\n"


@pytest.mark.parametrize(
    ("folder", "text", "message"),
    [
        ("ex01_bleu2", ONE_CELL.format("cellule_absente"), "« cellule_absente » n'existe pas"),
        ("ex01_bleu2", ONE_CELL.format("precision_renvoie_un_float"), "« precision_renvoie_un_float » n'existe pas"),
        ("ex01_bleu2", "# Copie : essai.\n# Reprend : absente\n", "absente.py n'existe pas"),
        ("ex01_bleu2", ONE_CELL.format("bleu2") + "# %% bleu2\nx = 2\n", "deux fois"),
        ("ex99_absent", ONE_CELL.format("bleu2"), "n'est pas publié"),
    ],
    ids=["cellule absente", "cellule de test", "copie reprise absente", "cellule répétée", "devoir absent"],
)
def test_copie_mal_formee(tmp_path, folder, text, message):
    """Une copie qui ne correspond pas au devoir publié est refusée par une phrase qui dit laquelle et pourquoi."""
    (tmp_path / folder).mkdir()
    (tmp_path / folder / "essai.py").write_text(text, encoding="utf-8")
    with pytest.raises(demonstration.DemonstrationError, match=re.escape(message)):
        demonstration.build(RELEASE, tmp_path, tmp_path / "submitted")


def test_note_en_double(tmp_path):
    """Deux lignes pour la même copie sont refusées."""
    lines = ["etudiant,devoir,note,note_max,statut,motif", "a,ex01_bleu2,1,20,note,x", "a,ex01_bleu2,2,20,note,y"]
    path = tmp_path / "notes.csv"
    path.write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(UsageError, match="2 lignes pour a, ex01_bleu2"):
        read_marks(path)
