"""Les vérifications statiques : ce qui est sain passe, chaque sabotage est vu et nommé."""

import copy
import shutil

import nbformat
import pytest

from course import checks, publish
from course.lessons import code_cells, derive, find, notebook_path, outputs_digest
from course.settings import RELEASE, ROOT


@pytest.mark.parametrize("check", checks.CHECKS, ids=lambda check: check.__name__)
def test_le_cours_est_coherent(check):
    """Ce que `cours verifier` dit du dépôt : rien."""
    assert list(check()) == []


@pytest.fixture
def lesson():
    """Une leçon exécutée, dans une copie que le test peut abîmer : (texte, notebook)."""
    text = find(["01"])[0]
    return text, checks.read(notebook_path(text))


@pytest.fixture
def sabotaged(monkeypatch, lesson):
    """Fait voir aux vérifications la leçon abîmée à la place de toutes les autres."""
    monkeypatch.setattr(checks, "lessons", lambda: [lesson])
    return lesson[1]


def reading(notebook) -> nbformat.NotebookNode:
    """Première lecture du résultat qui cite un nombre."""
    for cell in notebook.cells:
        if cell.source.startswith(checks.READING) and checks.PROSE_NUMBER.search(checks.MARKDOWN_LINK.sub(" ", cell.source)):
            return cell
    raise AssertionError("aucune lecture ne cite de nombre")


def test_un_nombre_change_dans_une_lecture_est_nomme(sabotaged):
    """Chaque nombre de la première lecture, changé, fait nommer la cellule."""
    cell = reading(sabotaged)
    text = cell.source
    for match in checks.PROSE_NUMBER.finditer(checks.MARKDOWN_LINK.sub(lambda link: "·" * len(link.group()), text)):
        start, end = match.span(1)
        cell.source = text[:start] + "98765" + text[end:]
        faults = list(checks.prose_quotes_outputs())
        assert any(cell.id in fault and "98765" in fault for fault in faults)


def test_une_sortie_retiree_est_vue(sabotaged):
    """Pour chaque cellule qui affiche quelque chose : retirer ou retoucher sa sortie se voit."""
    for cell in code_cells(sabotaged):
        if not cell.outputs:
            continue
        kept, cell.outputs = cell.outputs, cell.outputs[1:]
        assert any(cell.id in fault and "sorties" in fault for fault in checks.lessons_are_executed())
        cell.outputs = kept


@pytest.mark.parametrize(
    ("damage", "expected"),
    [
        (lambda cell: cell.update(execution_count=None), "numéro d'exécution None"),
        (lambda cell: cell.outputs.append(nbformat.v4.new_output("stream", name="stderr", text="attention")), "stderr"),
        (lambda cell: cell.outputs.append(nbformat.v4.new_output("error", ename="E", evalue="", traceback=[])), "erreur"),
    ],
    ids=["jamais-executee", "stderr", "erreur"],
)
def test_execution_incomplete(sabotaged, damage, expected):
    """Cellule jamais exécutée (VAL-08), stderr (VAL-03) ou erreur enregistrés : nommés."""
    cell = code_cells(sabotaged)[0]
    damage(cell)
    assert any(cell.id in fault and expected in fault for fault in checks.lessons_are_executed())


@pytest.mark.parametrize(
    "printed",
    ["voir /home/eleve/x", "<objet at 0x7f3a2b4c>", "12:45:01", "2026-11-30", "fait en 12,3 ms", "sk-" + "a" * 20],
)
def test_sortie_non_portable(sabotaged, printed):
    cell = code_cells(sabotaged)[0]
    cell.outputs = [nbformat.v4.new_output("stream", name="stdout", text=printed)]
    assert any(cell.id in fault for fault in checks.outputs_are_portable())


def test_figure_sans_texte(sabotaged):
    """Une figure dont on retire le texte de remplacement est nommée."""
    cell = next(cell for cell in code_cells(sabotaged) for output in cell.outputs if "image/png" in output.get("data", {}))
    for output in cell.outputs:
        output.metadata = {}
    assert any(cell.id in fault and "remplacement" in fault for fault in checks.figures_have_alt_text())


@pytest.mark.parametrize(
    "damage",
    [
        lambda cells: cells.pop(3),
        lambda cells: cells.insert(1, cells.pop(2)),
        lambda cells: cells[4].update(source=cells[4].source + " "),
        lambda cells: cells[4].update(id="autre"),
        lambda cells: cells[4].metadata.update(cle=1),
    ],
    ids=["retiree", "deplacee", "retouchee", "renommee", "metadonnee"],
)
def test_lecon_qui_derive(lesson, damage):
    """Une cellule retirée, déplacée, retouchée ou renommée dans le notebook se voit sans l'exécuter."""
    text, notebook = lesson
    assert list(checks.drift(text.stem, derive(text), notebook)) == []
    damage(notebook.cells)
    assert len(list(checks.drift(text.stem, derive(text), notebook))) == 1


def test_fonction_enseignee_differente(sabotaged):
    """Changer une constante d'une fonction enseignée la rend différente de celle de helpers."""
    cell = next(cell for cell in code_cells(sabotaged) if "def ngrams(" in cell.source)
    cell.source = cell.source.replace("+ 1", "+ 2")
    assert any("ngrams diffère de helpers.bleu.ngrams" in fault for fault in checks.taught_code_is_helpers_code())


def test_identifiants_stables(lesson):
    """Deux dérivations donnent les mêmes identifiants ; corriger une cellule n'en renomme pas d'autre."""
    text, _ = lesson
    first, second = derive(text), derive(text)
    assert [cell.id for cell in first.cells] == [cell.id for cell in second.cells]
    assert len({cell.id for cell in first.cells}) == len(first.cells)


def test_release_editee(monkeypatch, tmp_path):
    """Un octet changé, un fichier de trop, un fichier de moins dans release/ : trois fautes nommées."""
    edited = tmp_path / "release"
    shutil.copytree(RELEASE, edited)
    notebooks = sorted(edited.rglob("*.ipynb"))
    notebooks[0].write_bytes(notebooks[0].read_bytes() + b" ")
    notebooks[1].unlink()
    (edited / "en_trop.txt").write_text("x", encoding="utf-8")
    monkeypatch.setattr(checks, "RELEASE", edited)
    faults = list(checks.release_matches_source())
    assert len(faults) == 3
    for name in (notebooks[0].name, notebooks[1].name, "en_trop.txt"):
        assert any(name in fault for fault in faults)


def test_corrige_dans_release(monkeypatch, tmp_path):
    """Une ligne de corrigé ou de test caché recopiée dans release/ est nommée."""
    edited = tmp_path / "release"
    shutil.copytree(RELEASE, edited)
    path = sorted(edited.rglob("*.ipynb"))[0]
    notebook = checks.read(path)
    source = checks.read(ROOT / "source" / path.relative_to(edited))
    secret = sorted(publish.hidden_lines(source))[0]
    notebook.cells[-1].source += f"\n{secret}"
    nbformat.write(notebook, path)
    monkeypatch.setattr(checks, "RELEASE", edited)
    assert any(secret in fault for fault in checks.release_reveals_nothing())


def test_sceau(lesson):
    """Le sceau d'une cellule ne dépend que de ses sorties."""
    cell = copy.deepcopy(code_cells(lesson[1])[0])
    digest = outputs_digest(cell)
    cell.source = "autre"
    assert outputs_digest(cell) == digest
    cell.outputs = [*cell.outputs, nbformat.v4.new_output("stream", text="x")]
    assert outputs_digest(cell) != digest


# --- Les nombres de la prose ------------------------------------------------------------------------------------


def notebook_with(printed: str, prose: str, source: str = "pass") -> nbformat.NotebookNode:
    code = nbformat.v4.new_code_cell(source, outputs=[nbformat.v4.new_output("stream", text=printed)])
    return nbformat.v4.new_notebook(cells=[code, nbformat.v4.new_markdown_cell(f"{checks.READING} {prose}")])


@pytest.mark.parametrize(
    ("printed", "prose"),
    [
        ("0.40721", "vaut 0,41"),
        ("0.40721", "vaut 41 %"),
        ("0.40721", "vaut 40,7 %"),
        ("40.7 %", "vaut 41 %"),
        ("BP = 0,8465", "la pénalité est 0,8465."),
        ("(5, 12)", "5 mots sur 12"),
        ("5/12", "soit 5/12"),
        ("[0.610, 1.000]", "de 0,61 à 1"),
        ("-0.448", "kappa −0,448"),
        ("1.2e-05", "vaut 0,00001"),
        ("1500", "les 1\u202f500 paires"),
        ("rien", "le BLEU-4, p1 et ROUGE-2 n'ont pas de nombre"),
        ("rien", "voir [Papineni et al. (2002)](https://aclanthology.org/P02-1040/)"),
    ],
)
def test_nombre_cite(printed, prose):
    assert list(checks.unquoted_numbers("x", notebook_with(printed, prose))) == []


@pytest.mark.parametrize(
    ("printed", "prose"),
    [
        ("0.40721", "vaut 0,42"),
        ("0.40721", "vaut 42 %"),
        ("11.7", "soit 12 mots"),
        ("112", "soit 12 mots"),
        ("0.448", "kappa −0,448"),
        ("Figure size 640x480", "soit 640"),
        ("rien", "en 2002"),
    ],
)
def test_nombre_invente(printed, prose):
    assert len(list(checks.unquoted_numbers("x", notebook_with(printed, prose)))) == 1


def test_un_nombre_ne_sert_que_dans_son_bloc():
    """Une lecture ne cite que ce qui la précède depuis la lecture d'avant."""
    first, second = notebook_with("7", "vaut 7"), notebook_with("8", "vaut 7")
    first.cells += second.cells
    assert len(list(checks.unquoted_numbers("x", first))) == 1


def test_constante_du_code():
    assert list(checks.unquoted_numbers("x", notebook_with("", "avec 24 paires", "n = 24"))) == []


# --- Les environnements -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("file", "old", "new", "expected"),
    [
        ("requirements.txt", "nltk==", "nltk>=", "n'est pas une version exacte"),
        ("environment.yml", "-r requirements.txt", "nltk", "n'installe pas requirements.txt"),
        ("environment.yml", "python>=3.11", "python>=3.9", "même Python"),
        ("pyproject.toml", '"nltk"', '"nltk", "inconnu"', "demande inconnu"),
    ],
)
def test_environnements_qui_divergent(monkeypatch, tmp_path, file, old, new, expected):
    for name in ("requirements.txt", "requirements-juge.txt", "environment.yml", "pyproject.toml"):
        content = (ROOT / name).read_text(encoding="utf-8")
        (tmp_path / name).write_text(content.replace(old, new) if name == file else content, encoding="utf-8")
    monkeypatch.setattr(checks, "ROOT", tmp_path)
    assert any(expected in fault for fault in checks.environments_agree())
