"""Le programme est couvert, et la vérification voit ce qu'on lui cache ; glossaire et pièges sont tenus."""

import contextlib
import io
import json
import re
import unicodedata
from pathlib import Path

import nbformat
import pytest
from nltk.translate import bleu_score
from rouge_score import rouge_scorer

from course import checks, coverage
from course.lessons import find
from course.settings import ROOT
from helpers import judge, rag
from helpers.bleu import modified_precision, sentence_bleu
from helpers.elo import elo_ratings, simulate_games
from helpers.perplexity import BigramModel
from helpers.rouge import f_measure, lcs_length, rouge_l, rouge_n
from helpers.tokens import ascii_words, french_words

DATA = Path(judge.__file__).parent / "donnees"


# --- Le dépôt ---------------------------------------------------------------------------------------------------


def test_rien_ne_manque():
    assert list(coverage.missing()) == []


def test_la_page_est_a_jour():
    assert list(coverage.outdated()) == []


def test_chaque_ligne_chiffree_a_son_test():
    """Une ligne qui a des valeurs est nommée dans un test, ou dans un test d'exercice."""
    files = [*(ROOT / "tests").glob("*.py"), *(ROOT / "source").glob("*/*.ipynb")]
    tests = "\n".join(path.read_text(encoding="utf-8") for path in files)
    unnamed = [
        row.id for row in coverage.programme()
        if row.family != "E" and row.values and not row.remark.startswith("corrélation citée")
        and not re.search(rf"{row.id}(?!\w)", tests)
    ]
    assert unnamed == []


# --- La vérification, sur une leçon et un programme de poche -----------------------------------------------------

HEADER = "id,intitule,valeurs,phrase,remarque\n"
POCKET = HEADER + "S0-01,Notion,,,\nS0-05,Précision,1/4|0.25,,\nE-01,Erreur,,n'a pas un meilleur rappel,\n"


def cell(kind, source, rows="", printed=""):
    """Cellule de poche ; `rows` est sa marque, `printed` sa sortie."""
    if kind == "markdown":
        made = nbformat.v4.new_markdown_cell(source)
    else:
        made = nbformat.v4.new_code_cell(source, outputs=[nbformat.v4.new_output("stream", text=printed)])
    if rows:
        made.metadata.couvre = rows
    return made


@pytest.fixture
def pocket(monkeypatch, tmp_path):
    """Programme, page et leçon de poche, que le test abîme ; rend (cellules, chemin du programme)."""
    cells = [
        cell("markdown", "# Leçon\n\n## 1. Une section", "S0-01"),
        cell("code", "print()", "S0-05", "p1 = 1/4 = 0.2500\n"),
        cell("markdown", "Le bavard n'a pas un\nmeilleur rappel.", "E-01"),
        cell("code", "print()", "", "1/3 = 0.3333\n"),
    ]
    path = tmp_path / "programme.csv"
    path.write_text(POCKET, encoding="utf-8")
    monkeypatch.setattr(coverage, "PROGRAMME", path)
    monkeypatch.setattr(coverage, "PAGE", tmp_path / "COUVERTURE.md")
    notebook = nbformat.v4.new_notebook(cells=cells)
    monkeypatch.setattr(checks, "lessons", lambda: [(Path("01_poche.py"), notebook)])
    return notebook.cells, path


def test_poche_saine(pocket):
    """Une phrase coupée par une fin de ligne et un nombre arrondi sont reconnus."""
    assert list(coverage.missing()) == []


@pytest.mark.parametrize(
    ("damage", "expected"),
    [
        (lambda cells: cells[0].metadata.pop("couvre"), ["S0-01", "aucune cellule"]),
        (lambda cells: cells[1].outputs[0].update(text="p1 = 11/40\n"), ["S0-05", "« 1/4 »", "aucune sortie"]),
        (lambda cells: cells[1].outputs[0].update(text="1/4 = 0.26\n"), ["S0-05", "« 0.25 »"]),
        (lambda cells: cells[1].update(outputs=[]), ["S0-05", "« 1/4 »"]),
        (lambda cells: cells[3].metadata.update(couvre=cells[1].metadata.pop("couvre")), ["S0-05", "« 1/4 »"]),
        (lambda cells: cells[2].update(source="Le bavard a un meilleur rappel."), ["E-01", "la phrase"]),
        (lambda cells: cells[0].metadata.update(couvre="S0-01 S9-99"), ["S9-99", "n'est pas une ligne du programme"]),
        (lambda cells: cells[0].metadata.update(couvre="S0-01 " * 7), ["7 lignes", "6 au plus"]),
    ],
    ids=["sans-cellule", "valeur-voisine", "arrondi-faux", "sans-sortie", "autre-cellule", "phrase-changee", "inconnue",
         "sept-lignes"],
)
def test_couverture_abimee(pocket, damage, expected):
    """Chaque sabotage d'une cellule donne une faute, en français, qui nomme la ligne."""
    damage(pocket[0])
    faults = list(coverage.missing())
    assert any(all(part in fault for part in expected) for fault in faults), faults


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("S0-01,Encore,,,\n", "S0-01 y est 2 fois"),
        ("E-02,Erreur,,,\n", "une erreur cite la phrase"),
        ("S0-02,Vide,1/4||0.25,,\n", "une valeur est vide"),
    ],
    ids=["repetee", "erreur-sans-phrase", "valeur-vide"],
)
def test_programme_abime(pocket, line, expected):
    pocket[1].write_text(POCKET + line, encoding="utf-8")
    assert any(expected in fault for fault in coverage.missing())


def test_colonnes_inconnues(pocket):
    pocket[1].write_text("id,titre\nS0-01,Notion\n", encoding="utf-8")
    with pytest.raises(ValueError, match="corrigez la première ligne"):
        coverage.programme()


def test_page_derivee(pocket):
    """Absente, à jour, retouchée : la page se récrit deux fois pareil, et une retouche se voit."""
    assert ["manque" in fault for fault in coverage.outdated()] == [True]
    assert coverage.write() and not coverage.write()
    assert list(coverage.outdated()) == []
    content = coverage.PAGE.read_text(encoding="utf-8")
    assert pocket[0][1].id in content and "1. Une section" in content
    coverage.PAGE.write_text(content + " ", encoding="utf-8")
    assert ["cours couverture" in fault for fault in coverage.outdated()] == [True]


@pytest.mark.parametrize(
    ("printed", "value", "expected"),
    [
        ("0.10928032", "0.1093", True),
        ("0.10928032", "0.109", True),
        ("0.10928032", "0.1094", False),
        ("vaut 0,1093", "0.1093", True),
        ("407 sur 1000, soit 0.407", "41 %", True),
        ("12 mots", "12", True),
        ("11.7", "12", False),
        ("11/40", "1/4", False),
        ("1/40", "1/4", False),
        ("p = 1/4 ;", "1/4", True),
        ("le      × 2\nchat", "le × 2 chat", True),
        ("[[16, 0], [2, 2]]", "[[16, 0], [2, 2]]", True),
        ("", "0", False),
    ],
)
def test_valeur_affichee(printed, value, expected):
    assert coverage.shows(printed, value) is expected


# --- Valeurs du programme qu'aucun autre test ne porte ----------------------------------------------------------

ENGLISH = ("the cat is on the mat".split(), "the cat sits on the red mat".split())
STREAM = "the cat sat on the mat the cat ate the fish".split()
CAT = ("le chat dort sur le canapé".split(), "le chat est allongé sur le canapé bleu".split())
NEWS = "Le conseil municipal a voté hier soir la rénovation complète du marché."
DENIAL = "Le conseil municipal n'a pas voté hier soir la rénovation complète du marché."


def data(name):
    """Contenu d'un fichier de helpers/donnees."""
    return json.loads((DATA / name).read_text(encoding="utf-8"))


def chance_agreements():
    """Couples d'avis égaux quand on tire un avis de la personne et un avis du juge, parmi quatre cents."""
    opinions = data("agregats.json")["graine_002"]
    return sum(person == machine for person in opinions["H"] for machine in opinions["J"])


def additive_score(text):
    """La fonction que la leçon 07 écrit (aucun module ne la garde), exécutée telle quelle."""
    sources = [made.source for _, notebook in checks.lessons() for made in notebook.cells]
    (source,) = [source for source in sources if "def additive_score(" in source]
    names = {"json": json}
    with contextlib.redirect_stdout(io.StringIO()):
        exec(source, names)
    return names["additive_score"](text)


FOUR = '{"repond": true, "exacte": true, "claire": true, "precise": %s}'


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        pytest.param(lambda: sentence_bleu(ENGLISH[0], [ENGLISH[1]], max_n=2).overlaps, (5, 2), id="S0-06"),
        pytest.param(lambda: ascii_words("L'été, à Noël, l'élève était déçu"), "l t no l l l ve tait d u".split(), id="S0-14"),
        pytest.param(lambda: (rouge_n(*CAT).matches, rouge_n(*CAT, n=2).matches), (5, 3), id="S0-15"),
        pytest.param(lambda: lcs_length(*CAT), 5, id="S0-16"),
        pytest.param(lambda: len(BigramModel([STREAM], unk=False).vocabulary), 7, id="S0-21"),
        pytest.param(lambda: judge.pairwise_request("Q ?", "x", "y")["temperature"], 0.0, id="S0-27-temperature"),
        pytest.param(lambda: list(map(judge.read_choice, ("A", "B", "Answer B"))), ["A", "B", "illisible"], id="S0-27"),
        pytest.param(lambda: len(data("paires.json")["paires"]), 24, id="S0-29"),
        pytest.param(lambda: len(data("longueurs.json")["paires"]), 12, id="S0-31"),
        pytest.param(lambda: rag.fact_in_answer(["gaz"], "Un groupe au gazole prend le relais."), False, id="S0-41"),
        pytest.param(lambda: rag.fact_in_answer(["gaz"], "Il est refroidi par un gaz."), True, id="S0-41-mot-entier"),
        pytest.param(lambda: modified_precision(ENGLISH[0], [ENGLISH[1]], 2), (2, 5), id="S0-44"),
        pytest.param(lambda: rag.controls([True] * 6, [True] * 6).sensitivity, 1.0, id="S0-39"),
        pytest.param(chance_agreements, 296, id="S2-04"),
        pytest.param(lambda: additive_score(FOUR % "true"), 4, id="S4-10"),
        pytest.param(lambda: additive_score(FOUR % "false"), 3, id="S4-10-un-critere-faux"),
        pytest.param(lambda: additive_score(FOUR % '"false"'), None, id="S4-10-booleen-en-texte"),
        pytest.param(lambda: additive_score('{"repond": true}'), None, id="S4-10-incomplet"),
    ],
)
def test_valeur_du_programme(found, expected):
    assert found() == expected


def test_accord_avec_nltk():
    """S0-08 : l'accord, à 1e-9, sur le premier couple ; les deux autres sont dans test_bleu."""
    smooth = bleu_score.SmoothingFunction(epsilon=0.1).method1
    ours = sentence_bleu(ENGLISH[0], [ENGLISH[1]], smoothing="method1").score
    theirs = bleu_score.sentence_bleu([ENGLISH[1]], ENGLISH[0], smoothing_function=smooth)
    assert ours == pytest.approx(theirs, abs=1e-9)
    assert ours == pytest.approx(0.109280, abs=5e-7)


def test_nouvelle_phrase():
    """S0-45 : « the cat ate the fish on the mat », sans puis avec <unk>."""
    corpus = [STREAM]
    new = "the cat ate the fish on the mat".split()
    assert BigramModel(corpus, k=0.01, unk=False).perplexity(new) == pytest.approx(2.4497, abs=5e-5)
    assert BigramModel(corpus, k=0.01).perplexity(new) == pytest.approx(2.507906, abs=5e-7)


def test_f_mesure_avec_beta():
    """S3-07 : F2 de P = 1 et R = 5/12 est 5·(5/12)/(5/12 + 4) = 25/53 ; de P = 12/26 et R = 1, 60/74."""
    assert f_measure(1, 5 / 12, 2) == pytest.approx(25 / 53)
    assert f_measure(12 / 26, 1, 2) == pytest.approx(60 / 74)


def test_metriques_cote_a_cote():
    """S3-10 : la négation, mesurée par nltk et par rouge-score."""

    class Tokenizer:
        def tokenize(self, text):
            return french_words(text)

    news, denial = french_words(NEWS), french_words(DENIAL)
    theirs = rouge_scorer.RougeScorer(["rouge1", "rougeL"], tokenizer=Tokenizer()).score(NEWS, DENIAL)
    smooth = bleu_score.SmoothingFunction(epsilon=0.1).method1
    expected = bleu_score.sentence_bleu([news], denial, smoothing_function=smooth)
    assert sentence_bleu(denial, [news], smoothing="method1").score == pytest.approx(expected, abs=1e-9)
    assert rouge_n(news, denial).fmeasure == pytest.approx(theirs["rouge1"].fmeasure, abs=1e-9)
    assert rouge_l(news, denial).fmeasure == pytest.approx(theirs["rougeL"].fmeasure, abs=1e-9)


def test_etiquettes_de_la_figure():
    """S3-21 : cotes finales arrondies, telles que la figure publiée les écrit."""
    strengths = {"A": 1250, "B": 1150, "C": 1050, "D": 950, "E": 850}
    ratings = elo_ratings(simulate_games(strengths, 500, seed=42), list(strengths))
    assert [round(value) for value in ratings.values()] == [1253, 1069, 979, 887, 812]


def test_douze_paires():
    """S2-07 : douze lignes ; une paire de longueurs égales, cinq verdicts changés."""
    lines = data("agregats.json")["graine_002"]["lignes_longueurA_longueurB_choix1_choix2"]
    rows = [line.split() for line in lines]
    assert len(rows) == 12
    assert sum(first == second for _, first, second, _, _ in rows) == 1
    assert sum(one != two for *_, one, two in rows) == 5


# --- Glossaire et pièges ----------------------------------------------------------------------------------------


def glossary() -> list[list[str]]:
    """Lignes du glossaire : terme, anglais, définition, leçon, mots écartés."""
    lines = (ROOT / "docs" / "GLOSSAIRE.md").read_text(encoding="utf-8").splitlines()
    return [[field.strip() for field in line.strip("|").split("|")] for line in lines if line.startswith("| ")][1:]


def alphabetical(term: str) -> str:
    """Clé de tri : sans accents, sans espaces ni signes."""
    bare = unicodedata.normalize("NFD", term.lower()).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]", "", bare)


def test_glossaire_range():
    """Au moins soixante termes, rangés, une fois chacun, une phrase de définition."""
    terms = [row[0] for row in glossary()]
    assert len(terms) >= 60 and len(set(terms)) == len(terms)
    assert terms == sorted(terms, key=alphabetical)
    for row in glossary():
        assert len(row) == 5 and row[1] and re.fullmatch(r"[^.]+(« .+\. »[^.]*)?\.", row[2]), row[0]


def prose(text: str) -> str:
    """Texte d'une leçon, ses cellules de prose seulement."""
    return "\n".join(line for line in text.splitlines() if line.startswith("#"))


REJECTED = sorted({word.strip() for row in glossary() for word in row[4].split(",") if word.strip()})


@pytest.mark.parametrize("rejected", REJECTED)
def test_un_mot_par_notion(rejected):
    """Aucune leçon n'emploie un mot que le glossaire écarte, au singulier ni au pluriel."""
    pattern = re.compile(r"(?<!\w)" + r"s?\s".join(map(re.escape, rejected.split())) + r"s?(?!\w)", re.IGNORECASE)
    assert [text.stem for text in find() if pattern.search(prose(text.read_text(encoding="utf-8")))] == []


@pytest.mark.parametrize("page", ["COUVERTURE.md", "GLOSSAIRE.md", "PIEGES.md"])
def test_liens_des_pages(page):
    """Chaque lien relatif mène à un fichier du cours, et chaque cellule nommée existe."""
    content = (ROOT / "docs" / page).read_text(encoding="utf-8")
    known = {made.id for _, notebook in checks.lessons() for made in notebook.cells}
    for target in re.findall(r"\]\(([^)#]+(?:#[^)]*)?)\)", content):
        path, _, anchor = target.partition("#cell-id=")
        assert path.startswith("https://") or (ROOT / "docs" / path).resolve().exists(), target
        assert not anchor or anchor in known, target


def test_chaque_erreur_a_son_piege():
    """PIEGES montre, pour chaque erreur du programme, une version fausse et une version juste."""
    content = (ROOT / "docs" / "PIEGES.md").read_text(encoding="utf-8")
    pieces = re.split(r"^\*\*.+\*\* \[(E-\w+)\]$", content, flags=re.MULTILINE)[1:]
    shown = dict(zip(pieces[0::2], pieces[1::2]))
    assert sorted(shown) == sorted(row.id for row in coverage.programme() if row.family == "E")
    for identifier, piece in shown.items():
        assert "✗" in piece and "✓" in piece and "../notebooks/" in piece, identifier
