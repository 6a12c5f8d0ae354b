"""Les retours : ce que l'étudiant apprend de chaque test, et ce qui ne sort jamais des tests cachés.

Le cours est fabriqué ici, pour que les secrets soient connus : un devoir à test visible, caché et en partie caché, une question
notée à la main, et des copies dont l'une retient ce que les tests cachés lui demandent pour l'afficher ensuite.
"""

import copy as copying
import re
from html import unescape
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_raw_cell
from nbgrader.api import Gradebook
from traitlets.config import Config

from autograder.execution import sandbox
from autograder.execution.limits import Limits
from autograder.intake.nbgrader_course import nbgrader_api, succeeded
from autograder.judgement.verdicts import behaviour, checked, clean, failure, is_reserved
from autograder.record.feedback import write_feedback
from autograder.record.grading import Class, Prepared, declare, found_copies, grade
from autograder.record.marks import write_marks
from autograder.settings import secure

CANARY = "canari_ne_doit_jamais_sortir"
# Chaque secret n'est écrit que dans un test caché : argument, valeur attendue, message.
SECRETS = [CANARY, "987654", "1975308", "424242", "848484", "message_reserve"]

CELLS = [
    ("texte", "titre", "# Exercice", {}),
    ("reponse", "double", "def double(x):\n    ### DÉBUT SOLUTION\n    return 2 * x\n    ### FIN SOLUTION", {}),
    ("test", "double_de_trois", "# Valeur : le double de trois. Deuxième phrase.\n"
     "assert double(3) == 6, f'Obtenu : {double(3)!r}. Attendu : 6.'", {"points": 1}),
    ("test", "double_d_un_grand_nombre", f"# Vérifie un grand nombre.\n### DÉBUT TESTS CACHÉS\n# {CANARY}\n"
     "assert double(987654) == 1975308, f'message_reserve {double(987654)}, et non 1975308'\n### FIN TESTS CACHÉS", {"points": 2}),
    ("reponse", "carre", "def carre(x):\n    ### DÉBUT SOLUTION\n    return x * x\n    ### FIN SOLUTION", {}),
    ("test", "carre_en_deux_parties", "# Carré : une partie visible, une partie cachée.\nassert carre(2) == 4, f'Obtenu : {carre(2)!r}. Attendu : 4.'\n"
     f"### DÉBUT TESTS CACHÉS\n# {CANARY}\nassert carre(424242) == 424242 ** 2, f'message_reserve {{carre(424242)}}'\n### FIN TESTS CACHÉS", {"points": 2}),
    ("test", "carre_de_cinq", "assert carre(5) == 25, f'Obtenu : {carre(5)!r}. Attendu : 25.'", {"points": 1}),
    ("main", "explication", "Expliquons.", {"points": 3}),
]  # fmt: skip

SPY = "vus = []\ndef {name}(x):\n    vus.append(x)\n    {body}"
COPIES = {
    "juste": {"double": "def double(x):\n    print('bonjour')\n    return 2 * x", "carre": "def carre(x):\n    return x ** 2", "explication": "Oui."},
    "fausse": {"double": "def double(x):\n    return x + 1", "carre": "def carre(x):\n    return 2 * x if x > 2 else x * x"},
    "espionne": {
        "double": SPY.format(name="double", body="return str(vus) if x == 3 else 0"),
        "carre": "print('VUS', vus, [hex(v) for v in vus])\nimport sys; print(vus, file=sys.stderr); print(''.join(map(chr, map(ord, str(vus)))))\n"
        + "def carre(x):\n    vus.append(x)\n    if x == 5: raise ValueError(vus)\n    return vus",
        "explication": "Rien.",
    },
    "pirate": {
        "double": "print('<script>alert(1)</script>')\nfrom IPython.display import HTML, display\n"
        "display(HTML('<img src=x onerror=alert(2)>'))\ndef double(x):\n    return '<script>alert(3)</script>'",
        "carre": "def carre(x):\n    raise ValueError('</pre><script>alert(4)</script>')\nraise KeyError('<svg onload=alert(5)>')",
        "explication": "<img alt=\"\n\n<script>alert(6)</script>\n\n\">\n\n[lien](javascript:alert(7)) ``` $\\href{javascript:alert(8)}{x}$",
    },
}  # fmt: skip
PREPROCESSORS = [
    "nbgrader.preprocessors.GetGrades",
    "autograder.record.feedback.HideHiddenTests",
    "nbconvert.preprocessors.CSSHTMLHeaderPreprocessor",
]


def cell(kind, name, source, marks):
    """Une cellule de devoir nbgrader."""
    made = new_markdown_cell(source) if kind in ("texte", "main") else new_code_cell(source)
    made.id = name.replace("_", "-")
    made.metadata.nbgrader = {
        "grade_id": name, "schema_version": 3, "grade": kind in ("test", "main"), "solution": kind in ("reponse", "main"),
        "locked": kind in ("test", "texte"), "task": False, **marks,
    }  # fmt: skip
    return made


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """Un cours noté, question à la main comprise : la classe, et le dossier du rapport."""
    root = tmp_path_factory.mktemp("cours")
    source = new_notebook(cells=[cell(*line) for line in CELLS])
    source.metadata.kernelspec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    source.metadata.language_info = {"name": "python"}
    (root / "source" / "secret").mkdir(parents=True)
    nbformat.write(source, root / "source" / "secret" / "secret.ipynb")
    (root / "nbgrader_config.py").write_text(
        "from pathlib import Path\nfrom autograder.settings import configure\nc = get_config()\n"
        f"configure(c, Path(__file__).parent)\nc.GenerateFeedback.preprocessors = {PREPROCESSORS!r}\n",
        encoding="utf-8",
    )
    isolation = "bwrap" if sandbox.available() is None else "processus"
    group = Class(root, root / "submitted", root / "rapport" / "travail", isolation, Limits(cell_seconds=10))
    declare(group, ["secret"])
    release = Prepared.read(group.prepared("secret")).release
    for student, answers in COPIES.items():
        copy = copying.deepcopy(release["secret"])
        for one in copy.cells:
            one.source = answers.get(one.metadata.nbgrader.grade_id, one.source)
        if student == "pirate":
            copy.cells += [new_raw_cell("<script>alert(9)</script>"), new_markdown_cell("<script>alert(10)</script>")]
        folder = root / "submitted" / student / "secret"
        folder.mkdir(parents=True)
        nbformat.write(copy, folder / "secret.ipynb")
    (root / "submitted" / "vide" / "secret").mkdir(parents=True)
    marks = list(grade(group, found_copies(group.copies), processes=2))
    write_marks(marks, root / "rapport" / "notes.csv")
    with Gradebook(f"sqlite:///{root / 'gradebook.db'}") as gradebook:
        given = gradebook.find_grade("explication", "secret", "secret", "juste")
        given.manual_score, given.needs_manual_grade = 2.5, False
        gradebook.find_comment("explication", "secret", "secret", "juste").manual_comment = "Bien <b>dit</b>."
        gradebook.db.commit()
    return group, root / "rapport"


@pytest.fixture(scope="module")
def french(graded):
    """Pages de « cours retours », par étudiant."""
    group, output = graded
    list(write_feedback(group, output))
    return {path.parts[-3]: path.read_text(encoding="utf-8") for path in (group.course / "feedback").glob("*/secret/secret.html")}


@pytest.fixture(scope="module")
def native(graded, french):
    """Pages de « nbgrader generate_feedback », par étudiant (après celles du cours, qu'elles remplacent)."""
    group, _ = graded
    with nbgrader_api(group.course) as api:
        for student in COPIES:
            succeeded(api.generate_feedback("secret", student, force=True), f"faire le retour de {student}")
    return {path.parts[-3]: path.read_text(encoding="utf-8") for path in (group.course / "feedback").glob("*/secret/secret.html")}


def text(page):
    """Texte lu dans une page, sans balises."""
    body = page.partition("</head>")[2]
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", body)))


def leaks(folder: Path) -> list[str]:
    """Secrets trouvés dans les fichiers d'un dossier, aussi écrits en hexadécimal."""
    wanted = [*SECRETS, *(hex(int(secret)) for secret in SECRETS if secret.isdigit())]
    return [
        f"{path.name} : {secret}" for path in sorted(folder.rglob("*")) if path.is_file()
        for secret in wanted if secret.encode() in path.read_bytes()
    ]  # fmt: skip


# --- Rien ne sort (NB-15, SEC-18) -------------------------------------------------------------------------------------


def test_le_secret_est_bien_chez_l_enseignant(graded):
    """Témoin : ce que l'on cherche existe, et là où le guide le dit, et là seulement."""
    group, _ = graded
    assert leaks(group.course / "source") and leaks(group.results)
    assert any(secret.encode() in (group.course / "gradebook.db").read_bytes() for secret in SECRETS)


@pytest.mark.parametrize("folder", ["release", "feedback", "autograded"])
def test_aucun_secret_dans_les_pages_du_cours(graded, french, folder):
    """Ni canari, ni argument, ni valeur, ni message caché, même par une copie qui retient ce qu'on lui demande."""
    assert leaks(graded[0].course / folder) == []


def test_aucun_secret_dans_les_pages_de_nbgrader(graded, native):
    """`nbgrader generate_feedback` ne laisse rien sortir non plus."""
    assert native.keys() >= COPIES.keys()
    assert leaks(graded[0].course / "feedback") == []


def test_le_reglage_de_nbgrader():
    """`secure` met le préprocesseur entre les notes et la mise en page."""
    config = Config()
    secure(config)
    assert config.GenerateFeedback.preprocessors == PREPROCESSORS


# --- Rien ne s'exécute (SEC-22) ---------------------------------------------------------------------------------------


def test_page_du_cours_sans_script(french):
    """Aucune balise ne vient de l'étudiant, et la page refuse tout script."""
    for page in french.values():
        assert "default-src 'none'" in page
        assert not re.search(r"<(script|svg|iframe|object|embed|link|a)\b|<[^>]*\bon\w+=", page, re.IGNORECASE)
    for number in range(1, 7):
        if number not in (2,):  # du HTML affiché, seul le texte est gardé
            assert f"alert({number})" in unescape(french["pirate"])


def test_page_de_nbgrader_sans_script_de_l_etudiant(native):
    """Le texte de l'étudiant est échappé ; son Markdown et ses cellules brutes sont montrés sans être interprétés."""
    page = native["pirate"]
    assert "alert(" in page
    assert not re.search(r"<script[^>]*>\s*alert|<img[^>]*onerror|<svg[^>]*onload|href=.javascript", page, re.IGNORECASE)
    assert "<pre><code>&lt;img alt=" in page


# --- Ce que l'étudiant apprend (NB-37) --------------------------------------------------------------------------------


def test_copie_juste(french):
    """Points, commentaire de l'enseignant échappé, sorties."""
    page = french["juste"]
    assert "8,5 / 9" in page and "Bien &lt;b&gt;dit&lt;/b&gt;." in page and "2,5 / 3" in page
    assert "4 réussi(s) sur 4" in text(page)


def test_titre_de_la_page(french):
    """Un notebook qui a le nom du devoir n'est pas nommé deux fois, et la note n'est pas dite « du devoir »."""
    read = " ".join(text(french["juste"]).split())
    assert "devoir secret." in read and "notebook" not in read.partition("Les tests")[0] and "Devoir :" not in read


def test_copie_fausse(french):
    """Visible : obtenu et attendu. Caché : son nom et son état. En partie caché : la partie visible n'est pas accusée."""
    page = text(french["fausse"])
    assert "✗ Manqué · Valeur : le double de trois. double_de_trois Obtenu : 4. Attendu : 6." in page
    assert "✗ Manqué · Vérifie un grand nombre. (réservé à la notation)" in page
    assert "La partie visible de ce test réussit ; un contrôle réservé à la notation échoue." in page
    assert "✗ Manqué · carre de cinq carre_de_cinq Obtenu : 10. Attendu : 25." in page
    assert "note provisoire" not in page  # l'amorce rendue telle quelle vaut 0, sans attendre personne


def test_copie_qui_attend_une_personne(french):
    assert "note provisoire" in french["espionne"] and "attend encore d'être lue" in french["espionne"]


def test_message_apres_un_test_cache(french):
    """Un message visible reste montré après un test caché ; il vient d'une exécution qui ne l'a pas vu."""
    assert "Le code lève ValueError : [3, 3, 2, 2, 5] (ligne 1" in text(french["espionne"])
    assert "VUS [3, 3] ['0x3', '0x3']" in text(french["espionne"])


def test_copie_sans_note(french):
    """Une copie en erreur a sa page, sa raison, et aucun zéro."""
    assert "Copie sans note" in french["vide"] and "le dossier est vide" in french["vide"] and " 0 /" not in text(french["vide"])


def test_index_de_l_enseignant(graded, french):
    """L'index nomme chaque copie et mène à sa page ; il n'est pas dans feedback/."""
    group, output = graded
    index = (output / "retours.html").read_text(encoding="utf-8")
    links = re.findall(r'href="([^"]+)"', index)
    assert len(links) == len(COPIES) + 1 and all((output / link).resolve().is_file() for link in links)


def test_messages_de_nbgrader(native):
    page = text(native["fausse"])
    assert "Manqué : Obtenu : 4. Attendu : 6." in page and "Manqué. Test réservé à la notation." in page
    assert "Réussi." in text(native["juste"])


def test_pages_de_nbgrader_sans_bubblewrap(graded, native, monkeypatch):
    """Là où la copie ne peut pas être relancée isolée, chaque test n'a que son état : rien ne vient de l'exécution notée."""
    group, _ = graded
    monkeypatch.setattr("autograder.record.feedback.available", lambda: "absent")
    with nbgrader_api(group.course) as api:
        succeeded(api.generate_feedback("secret", "espionne", force=True), "faire un retour")
    page = text((group.course / "feedback" / "espionne" / "secret" / "secret.html").read_text(encoding="utf-8"))
    assert page.count("Manqué.") == 4 and "VUS [" not in page
    assert leaks(group.course / "feedback") == []


# --- Les phrases ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("source", "title"), [
    ("# Valeur : 0.4887, et non p2 = 0.4. Puis autre chose.\nassert f(1)", "Valeur : 0.4887, et non p2 = 0.4."),
    ("# Vérifie un titre\n# sur deux lignes.\n# Contrôle réservé.", "Vérifie un titre sur deux lignes."),
    ('"""Check that squares\nis right. Then more."""\nassert f(1)', "Check that squares is right."),
    ("assert f(1)", "un nom lisible"),
    ("### un délimiteur", "un nom lisible"),
    (None, "un nom lisible"),
])  # fmt: skip
def test_titre(source, title):
    assert behaviour(None if source is None else new_code_cell(source), "un_nom_lisible") == title


@pytest.mark.parametrize(("source", "reserved"), [
    ("# Vérifie.", True), ('"""Vérifie."""', True), (None, True), ("for x in range(3):\n    # ici", True), ("assert f(1)", False),
])  # fmt: skip
def test_reserve(source, reserved):
    assert is_reserved(None if source is None else new_code_cell(source)) is reserved


@pytest.mark.parametrize(("name", "message", "start"), [
    ("AssertionError", "Obtenu : 1. Attendu : 2.", "Obtenu : 1. Attendu : 2."),
    ("AssertionError", "", "L'égalité ou la condition demandée est fausse (ligne 2 : assert f(1))."),
    ("NotImplementedError", "", "non implémenté"),
    ("NameError", "name 'bleu2' is not defined", "« bleu2 » n'est pas défini dans la copie (ligne 2"),
    ("Lost", "temps dépassé (10 s)", "La réponse n'a pas pu être lue : temps dépassé (10 s)."),
    ("ZeroDivisionError", "division by zero", "Le code lève ZeroDivisionError : division by zero (ligne 2"),
])  # fmt: skip
def test_phrase_d_un_echec(name, message, start):
    assert failure({"name": name, "message": message, "traceback": ["ligne 2 : assert f(1)"]}).startswith(start)


def test_etat_d_un_test():
    """L'état suit les points, qu'une personne a pu changer ; un test sans point suit son verdict."""
    visible = new_code_cell("assert f(1)")
    wrong = {"passed": False, "error": {"name": "AssertionError", "message": "non", "traceback": []}}
    assert checked("t", visible, visible, (0, 1, False), wrong).status == "manqué"
    assert checked("t", visible, visible, (0.5, 1, False), wrong).status == "partiel"
    assert checked("t", visible, visible, (1, 1, True), wrong) == checked("t", visible, visible, (1, 1, True), None)
    assert checked("t", visible, visible, (0, 0, False), wrong).status == "manqué"
    assert checked("t", visible, visible, (None, 1, False), wrong).status == "à noter"
    assert "du hasard ou du temps" in checked("t", visible, visible, (0, 1, False), {"passed": True, "error": None}).message


def test_texte_sans_caracteres_de_commande():
    assert clean("\x1b[31mrouge\x1b[0m\x00\ttab\n\ud800") == "rouge\ttab\n?"
