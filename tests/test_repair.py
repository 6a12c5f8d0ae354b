"""Réparation des copies : chaque dommage a une réparation nommée, nbgrader accepte le résultat, rien n'est jamais perdu en silence.

Les valeurs attendues sont le texte du devoir publié et celui que le test donne à l'étudiant ; aucune ne vient de `repair`.
"""

import copy
import json
import os
import shutil
import sys
from functools import cache
from pathlib import Path

import nbformat
import nbgrader
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nbgrader.api import Gradebook
from nbgrader.apps import NbGraderAPI
from nbgrader.preprocessors import (
    CheckCellMetadata,
    ClearOutput,
    DeduplicateIds,
    OverwriteCells,
    OverwriteKernelspec,
    SaveAutoGrades,
)
from traitlets.config import Config

from autograder.intake.cells import is_answer, mark, repair
from autograder.intake.copyfiles import UnreadableError, read_notebook
from autograder.intake.repair import RepairCopy, load_copy, read_references, repair_folder, student_version
from autograder.settings import configure
from course.settings import RELEASE, SOURCE

QUICKSTART = Path(nbgrader.__file__).parent / "docs" / "source" / "user_guide" / "source" / "ps1"
OURS = ["ex01_bleu2", "ex02_perplexite", "ex03_juge_symetrique"]
EVERY = [*OURS, "problem1", "problem2"]


@cache
def _reference(name):
    if name in OURS:
        return nbformat.read(RELEASE / name / f"{name}.ipynb", as_version=4)
    return student_version(nbformat.read(QUICKSTART / f"{name}.ipynb", as_version=4))


def reference(name):
    """Version étudiante d'un notebook, à abîmer sans crainte."""
    return copy.deepcopy(_reference(name))


def answers_of(notebook):
    return [cell for cell in notebook.cells if is_answer(cell)]


def answered(name):
    """Copie honnête : chaque réponse prolonge l'amorce d'une ligne qui la nomme ; un texte y est remplacé."""
    notebook = reference(name)
    for cell in answers_of(notebook):
        line = f"reponse_{name}_{mark(cell)['grade_id']}"
        if cell.cell_type == "code":
            kept = [text for text in cell.source.split("\n") if "raise NotImplementedError" not in text]
            indent = "    " if kept and kept[0].startswith("def ") else ""
            cell.source = "\n".join([*kept, f'{indent}"{line}"'])
        else:
            cell.source = line
    return notebook


def marked_sources(notebook):
    return {mark(cell)["grade_id"]: cell.source for cell in notebook.cells if mark(cell)}


def expected_sources(name):
    """Ce que doit contenir toute copie réparée dont aucune réponse n'est perdue."""
    return marked_sources(answered(name))


def rank_of(notebook, grade_id):
    return next(rank for rank, cell in enumerate(notebook.cells) if mark(cell).get("grade_id") == grade_id)


def first_answer(notebook):
    return rank_of(notebook, mark(answers_of(notebook)[0])["grade_id"])


def first_given(notebook):
    return next(rank for rank, cell in enumerate(notebook.cells) if mark(cell) and not is_answer(cell))


def check(repaired, name):
    """Une cellule de chaque, dans l'ordre du devoir, avec sa marque ; un notebook valable, sans sorties ; rien de plus à réparer."""
    wanted = reference(name)
    assert [mark(cell)["grade_id"] for cell in repaired.cells if mark(cell)] == [mark(cell)["grade_id"] for cell in wanted.cells if mark(cell)]
    theirs = {mark(cell)["grade_id"]: cell for cell in repaired.cells if mark(cell)}
    for cell in wanted.cells:
        if mark(cell):
            assert theirs[mark(cell)["grade_id"]].metadata == cell.metadata
            assert theirs[mark(cell)["grade_id"]].cell_type == cell.cell_type
            if not is_answer(cell):
                assert theirs[mark(cell)["grade_id"]].source == cell.source
    assert not any(cell.get("outputs") for cell in repaired.cells)
    nbformat.validate(repaired)
    again, reasons = repair(repaired, wanted)
    assert reasons == []
    assert again == repaired


# --- Dommages faits aux cellules : chacun garde toutes les réponses ----------------------------------------------------


def nothing(notebook):
    pass


def duplicate_answer(notebook):
    rank = first_answer(notebook)
    notebook.cells.insert(rank + 1, copy.deepcopy(notebook.cells[rank]))


def duplicate_first(notebook):
    notebook.cells.insert(1, copy.deepcopy(notebook.cells[0]))


def duplicate_last(notebook):
    notebook.cells.append(copy.deepcopy(notebook.cells[-1]))


def duplicate_given(notebook):
    notebook.cells.append(copy.deepcopy(notebook.cells[first_given(notebook)]))


def duplicate_then_stub(notebook, stub):
    notebook.cells.append(copy.deepcopy(stub.cells[first_answer(stub)]))


def duplicate_then_empty(notebook):
    cell = copy.deepcopy(notebook.cells[first_answer(notebook)])
    cell.source = " \n"
    notebook.cells.append(cell)


def delete_given(notebook):
    notebook.cells = [cell for cell in notebook.cells if not mark(cell) or is_answer(cell)]


def move_answer_last(notebook):
    notebook.cells.append(notebook.cells.pop(first_answer(notebook)))


def reverse(notebook):
    notebook.cells.reverse()


def strip_marks(notebook):
    for cell in notebook.cells:
        cell.metadata = nbformat.NotebookNode()


def strip_marks_and_ids(notebook):
    """VS Code, Colab, cellules recopiées à la main : plus de marques, plus d'identifiants."""
    strip_marks(notebook)
    notebook.nbformat_minor = 4
    for cell in notebook.cells:
        cell.pop("id", None)


def no_ids(notebook):
    notebook.nbformat_minor = 2
    for cell in notebook.cells:
        cell.pop("id", None)


def same_ids(notebook):
    for cell in notebook.cells:
        cell.id = "meme"


def invalid_ids(notebook):
    for rank, cell in enumerate(notebook.cells):
        cell.id = [None, 3, "avec espace", "x" * 200, "é"][rank % 5]


def old_schema(notebook):
    for cell in notebook.cells:
        if mark(cell):
            cell.metadata.nbgrader["schema_version"] = 1


def future_schema(notebook):
    for cell in notebook.cells:
        if mark(cell):
            cell.metadata.nbgrader.update(schema_version=99, nouveau="champ")


def more_points(notebook):
    for cell in notebook.cells:
        if "points" in mark(cell):
            cell.metadata.nbgrader["points"] = 1000


def answer_to_text(notebook):
    cell = notebook.cells[first_answer(notebook)]
    cell.cell_type = "raw" if cell.cell_type == "markdown" else "markdown"
    cell.pop("outputs", None)
    cell.pop("execution_count", None)


def given_rewritten(notebook):
    cell = notebook.cells[first_given(notebook)]
    cell.source = "assert True"


def broken_metadata(notebook):
    notebook.metadata = nbformat.NotebookNode(kernelspec=3)
    notebook.cells.insert(0, nbformat.NotebookNode(cell_type="code", metadata=[], source=None))
    notebook.cells.insert(0, nbformat.NotebookNode(cell_type="code", metadata={"nbgrader": "oui"}, source=["a", 1, "b"]))
    notebook.cells.insert(0, nbformat.NotebookNode(cell_type="code", metadata={"nbgrader": {"grade_id": ["x"], "locked": True}}, source="x"))


def huge_outputs(notebook):
    cell = next((cell for cell in notebook.cells if cell.cell_type == "code"), None)
    if cell is not None:
        cell.outputs = [nbformat.v4.new_output("stream", text="ligne\n" * 200_000)]


def windows_newlines(notebook):
    for cell in notebook.cells:
        cell.source = cell.source.replace("\n", "\r\n")


DAMAGES = {  # dommage : (fonction, morceau de la phrase attendue ; None si rien n'est à signaler)
    "copie_honnete": (nothing, None),
    "reponse_dupliquee": (duplicate_answer, "en double"),
    "premiere_cellule_dupliquee": (duplicate_first, None),
    "derniere_cellule_dupliquee": (duplicate_last, None),
    "cellule_du_devoir_dupliquee": (duplicate_given, "en double"),
    "double_vide": (duplicate_then_empty, "en double"),
    "cellules_du_devoir_supprimees": (delete_given, "remise"),
    "reponse_deplacee": (move_answer_last, "déplacée"),
    "ordre_inverse": (reverse, "déplacée"),
    "marques_effacees": (strip_marks, "sans marque nbgrader"),
    "marques_et_identifiants_effaces": (strip_marks_and_ids, "sans marque nbgrader"),
    "sans_identifiants": (no_ids, None),
    "identifiants_identiques": (same_ids, None),
    "identifiants_invalides": (invalid_ids, None),
    "schema_ancien": (old_schema, "marque nbgrader modifiée"),
    "schema_futur": (future_schema, "marque nbgrader modifiée"),
    "points_augmentes": (more_points, "marque nbgrader modifiée"),
    "reponse_changee_en_texte": (answer_to_text, "d'un autre type"),
    "cellule_du_devoir_recrite": (given_rewritten, "modifiée"),
    "metadonnees_absurdes": (broken_metadata, None),
    "sorties_enormes": (huge_outputs, None),
    "fins_de_ligne_windows": (windows_newlines, None),
}


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("damage", DAMAGES)
def test_un_dommage_ne_perd_aucune_reponse(damage, name, gradebook):
    """NB-04, NB-05, NB-06, SEC-19 : toutes les réponses sont retrouvées, le dommage est nommé, nbgrader accepte la copie."""
    if name == "problem2" and damage in ("cellules_du_devoir_supprimees", "cellule_du_devoir_dupliquee", "cellule_du_devoir_recrite"):
        pytest.skip("ce notebook n'a pas de cellule en lecture seule")
    change, sentence = DAMAGES[damage]
    notebook = answered(name)
    change(notebook)
    repaired, reasons = repair(notebook, reference(name))
    check(repaired, name)
    assert marked_sources(repaired) == expected_sources(name)
    if sentence is None and damage in ("copie_honnete", "sans_identifiants", "identifiants_identiques", "identifiants_invalides"):
        assert reasons == []
    if sentence is not None:
        assert sentence in " ; ".join(reasons)
    sanitize(repaired, name, gradebook)


@pytest.mark.parametrize("name", EVERY)
def test_une_copie_honnete_n_est_pas_touchee(name):
    """Cellules de l'étudiant comprises : même ordre, mêmes textes."""
    notebook = answered(name)
    notebook.cells.insert(2, nbformat.v4.new_code_cell("import math  # ma cellule", id="mienne"))
    notebook.cells.append(nbformat.v4.new_markdown_cell("mes notes", id="notes"))
    repaired, reasons = repair(notebook, reference(name))
    assert reasons == []
    assert [cell.source for cell in repaired.cells] == [cell.source for cell in notebook.cells]


@pytest.mark.parametrize("name", EVERY)
def test_une_reponse_supprimee_reprend_l_amorce(name, gradebook):
    """Une réponse absente ne prend rien ailleurs ; les autres gardent la leur."""
    notebook = answered(name)
    lost = mark(notebook.cells.pop(first_answer(notebook)))["grade_id"]
    repaired, reasons = repair(notebook, reference(name))
    check(repaired, name)
    assert marked_sources(repaired) == expected_sources(name) | {lost: marked_sources(reference(name))[lost]}
    assert f"cellule réponse « {lost} » absente" in " ; ".join(reasons)
    sanitize(repaired, name, gradebook)


@pytest.mark.parametrize("name", EVERY)
def test_un_notebook_vide_est_le_devoir_publie(name):
    """Aucune cellule : une phrase le dit, et la copie vaut le devoir intact."""
    repaired, reasons = repair(nbformat.v4.new_notebook(), reference(name))
    assert marked_sources(repaired) == marked_sources(reference(name))
    assert "aucune cellule réponse du devoir n'a été retrouvée" in reasons[0]


# --- Quelle version d'une réponse est gardée ----------------------------------------------------------------------------

STUB = marked_sources(_reference("ex01_bleu2"))["bleu2"]
GOOD, BAD = "def bleu2(c, r):\n    return 1.0", "def bleu2(c, r):\n    return 0.0"


def with_versions(*versions, metadata=True):
    """ex01 dont la cellule bleu2 existe en plusieurs versions, l'une après l'autre."""
    notebook = answered("ex01_bleu2")
    rank = rank_of(notebook, "bleu2")
    cell = notebook.cells.pop(rank)
    for number, source in enumerate(versions):
        version = copy.deepcopy(cell)
        version.source, version.id = source, f"version-{number}"
        if not metadata:
            version.metadata = nbformat.NotebookNode()
        notebook.cells.insert(rank + number, version)
    return notebook


@pytest.mark.parametrize("metadata", [True, False], ids=["avec_marques", "sans_marques"])
@pytest.mark.parametrize(
    ("versions", "kept", "before"),
    [
        ((BAD, GOOD), GOOD, [BAD]),
        ((GOOD, BAD), BAD, [GOOD]),  # jamais la meilleure : la dernière
        ((GOOD, STUB), GOOD, []),
        ((STUB, GOOD), GOOD, []),
        ((GOOD, ""), GOOD, []),
        ((GOOD, GOOD), GOOD, []),
        ((STUB, STUB), STUB, []),
        ((GOOD, "def bleu2(c, r:"), "def bleu2(c, r:", [GOOD]),
    ],
    ids=["mauvaise_puis_bonne", "bonne_puis_mauvaise", "bonne_puis_amorce", "amorce_puis_bonne", "bonne_puis_vide", "identiques", "amorces", "erreur_de_syntaxe"],
)  # fmt: skip
def test_la_derniere_version_qui_contient_une_reponse(versions, kept, before, metadata):
    """Celle que garderait l'exécution de haut en bas ; les versions antérieures restent devant, sans note."""
    repaired, _ = repair(with_versions(*versions, metadata=metadata), reference("ex01_bleu2"))
    check(repaired, "ex01_bleu2")
    rank = rank_of(repaired, "bleu2")
    assert repaired.cells[rank].source == kept
    assert [cell.source for cell in repaired.cells[rank - len(before):rank]] == before
    others = [cell.source for cell in repaired.cells if not mark(cell) and cell.source.strip()]
    assert others == before


def test_une_cellule_coupee_garde_ses_deux_moities():
    """JupyterLab coupe une cellule en deux cellules de même marque."""
    helper = "def plafond(compte):\n    return min(compte, 1)"
    repaired, reasons = repair(with_versions(helper, GOOD), reference("ex01_bleu2"))
    rank = rank_of(repaired, "bleu2")
    assert [cell.source for cell in repaired.cells[rank - 1:rank + 1]] == [helper, GOOD]
    assert reasons == ["cellule « bleu2 » en double : la dernière version qui contient une réponse est gardée"]


def test_deux_reponses_dans_une_seule_cellule():
    """Cellules fusionnées : l'amorce de la seconde n'efface pas la réponse écrite dans la première."""
    notebook = answered("ex01_bleu2")
    second = notebook.cells.pop(rank_of(notebook, "bleu2"))
    notebook.cells[rank_of(notebook, "precision_bigrammes")].source += "\n\n" + second.source
    repaired, reasons = repair(notebook, reference("ex01_bleu2"))
    check(repaired, "ex01_bleu2")
    assert "NotImplementedError" not in repaired.cells[rank_of(repaired, "bleu2")].source
    assert "réponse de la cellule « bleu2 » donnée dans une autre cellule : elle est lue là" in reasons


def test_une_reponse_ecrite_hors_de_sa_cellule():
    """La cellule réponse garde son amorce, la fonction est écrite à la fin, sans marque."""
    notebook = answered("ex01_bleu2")
    notebook.cells[rank_of(notebook, "bleu2")].source = STUB
    notebook.cells.append(nbformat.v4.new_code_cell(GOOD))
    repaired, reasons = repair(notebook, reference("ex01_bleu2"))
    check(repaired, "ex01_bleu2")
    assert repaired.cells[rank_of(repaired, "bleu2")].source == GOOD
    assert reasons == ["cellule « bleu2 » sans marque nbgrader : reconnue à son contenu", "cellule « bleu2 » déplacée : remise à sa place"]


def test_une_auxiliaire_voyage_avec_la_reponse_deplacee():
    """Écrite juste avant elle, elle doit encore s'exécuter avant les tests."""
    notebook = answered("ex01_bleu2")
    cell = notebook.cells.pop(rank_of(notebook, "bleu2"))
    notebook.cells += [nbformat.v4.new_code_cell("def aide(): pass"), cell]
    repaired, _ = repair(notebook, reference("ex01_bleu2"))
    rank = rank_of(repaired, "bleu2")
    assert repaired.cells[rank - 1].source == "def aide(): pass"


def test_un_brouillon_dans_un_double_de_test_reste():
    """L'étudiant copie un test pour essayer : son essai est gardé, sans marque, et le test est celui du devoir."""
    notebook = answered("ex01_bleu2")
    rank = rank_of(notebook, "precision_renvoie_un_float")
    trial = copy.deepcopy(notebook.cells[rank])
    trial.source = "print(modified_bigram_precision(['a', 'b'], [['a', 'b']]))"
    notebook.cells.insert(rank + 1, trial)
    repaired, _ = repair(notebook, reference("ex01_bleu2"))
    check(repaired, "ex01_bleu2")
    assert [cell.source for cell in repaired.cells if not mark(cell)] == [trial.source]


def test_les_marques_d_un_autre_devoir_sont_nommees():
    """Le notebook d'un autre exercice : rien n'est noté pour lui, et une phrase fait vérifier le fichier."""
    repaired, reasons = repair(answered("ex02_perplexite"), reference("ex01_bleu2"))
    check(repaired, "ex01_bleu2")
    assert marked_sources(repaired)["bleu2"] == STUB
    assert "vérifiez que c'est le bon fichier" in reasons[0]
    assert any("marque inconnue" in reason for reason in reasons)


# --- Une suite quelconque de dommages ------------------------------------------------------------------------------------

RANK = st.integers(0, 60)
OPERATIONS = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(["delete", "strip", "blank", "retype", "unid", "stub", "junk"]), RANK),
        st.tuples(st.sampled_from(["duplicate", "move", "swap_marks", "swap_text"]), RANK, RANK),
    ),
    max_size=25,
)  # fmt: skip


def apply(notebook, operation):
    """Une maladresse ; les rangs sont pris modulo le nombre de cellules."""
    cells = notebook.cells
    if not cells:
        return
    kind, *ranks = operation
    ranks = [rank % len(cells) for rank in ranks]
    cell = cells[ranks[0]]
    match kind:
        case "delete":
            del cells[ranks[0]]
        case "strip":
            cell.metadata = nbformat.NotebookNode()
        case "blank":
            cell.source = ""
        case "retype":
            cell.cell_type = {"code": "markdown", "markdown": "raw", "raw": "code"}[cell.cell_type]
        case "unid":
            cell.pop("id", None)
        case "stub":
            cell.source = "# YOUR CODE HERE\nraise NotImplementedError()"
        case "junk":
            cell.metadata = nbformat.from_dict({"nbgrader": {"grade_id": "inconnu", "locked": True, "points": "x"}})
        case "duplicate":
            cells.insert(ranks[1], copy.deepcopy(cell))
        case "move":
            cells.insert(ranks[1], cells.pop(ranks[0]))
        case "swap_marks":
            other = cells[ranks[1]]
            cell.metadata, other.metadata = other.metadata, cell.metadata
        case "swap_text":
            other = cells[ranks[1]]
            cell.source, other.source = other.source, cell.source


@pytest.mark.parametrize("name", ["ex01_bleu2", "ex02_perplexite", "problem1"])
@settings(max_examples=60, deadline=None)
@given(operations=OPERATIONS)
def test_toute_suite_de_maladresses_se_repare(name, operations):
    """Jamais d'erreur, chaque cellule du devoir une fois, à sa place ; réparer encore ne change rien ; même entrée, même sortie."""
    notebook = answered(name)
    for operation in operations:
        apply(notebook, operation)
    before = copy.deepcopy(notebook)
    repaired, reasons = repair(notebook, reference(name))
    check(repaired, name)
    assert notebook == before
    assert repair(notebook, reference(name)) == (repaired, reasons)


# --- Fichiers ------------------------------------------------------------------------------------------------------------


def text_of(notebook):
    return json.dumps(notebook, ensure_ascii=False)


def nbformat3(notebook):
    """Le même notebook, au format 3 d'IPython."""
    cells = []
    for cell in notebook.cells:
        old = {"cell_type": cell.cell_type, "metadata": cell.metadata}
        old["input" if cell.cell_type == "code" else "source"] = cell.source.splitlines(keepends=True)
        cells.append(old | ({"language": "python", "collapsed": False, "outputs": []} if cell.cell_type == "code" else {}))
    return {"nbformat": 3, "nbformat_minor": 0, "metadata": {"name": ""}, "worksheets": [{"cells": cells, "metadata": {}}]}


@pytest.mark.parametrize(
    ("encode", "reason", "note"),
    [
        (lambda notebook: text_of(notebook).encode(), None, None),
        (lambda notebook: text_of(notebook).encode("utf-8-sig"), None, "BOM"),
        (lambda notebook: text_of(notebook).encode("utf-16"), "utf-16", None),
        (lambda notebook: text_of(notebook).encode("utf-16-le"), "utf-16-le", None),
        (lambda notebook: text_of(notebook).replace("…", "...").encode("cp1252", "replace"), "cp1252", None),
        (lambda notebook: json.dumps(nbformat3(notebook)).encode(), "ancien format", None),
    ],
    ids=["utf8", "bom", "utf16", "utf16_sans_bom", "latin1", "nbformat3"],
)  # fmt: skip
def test_un_notebook_d_un_autre_encodage_ou_format(encode, reason, note):
    """Les réponses sont retrouvées ; l'encodage inattendu est nommé."""
    notebook = answered("ex01_bleu2")
    read, reasons, notes = read_notebook(encode(notebook))
    repaired, _ = repair(read, reference("ex01_bleu2"))
    check(repaired, "ex01_bleu2")
    assert marked_sources(repaired) == expected_sources("ex01_bleu2")
    assert (reason or "") in " ".join(reasons) and bool(reasons) == bool(reason)
    assert (note or "") in " ".join(notes) and bool(notes) == bool(note)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "vide"),
        (b"\0\0\0\0", "vide"),
        (b"\xef\xbb\xbf", "pas du JSON"),
        (b"<!DOCTYPE html><html></html>", "page HTML"),
        (b"%PDF-1.7", "PDF"),
        (b"PK\x03\x04...", "archive ZIP"),
        (b'{"cells": [{"cell_type": "code", "source": "def', "incomplet"),
        (b"[1, 2]", "pas un notebook"),
        (b"3", "pas un notebook"),
        (b'{"a": 1}', "pas de cellules"),
        (b'{"cells": {"a": 1}}', "pas de cellules"),
        (b'{"cells": [' + b"[" * 100_000 + b"]" * 100_000 + b"]}", "trop profond"),
        (b'{"cells": ' + b"1" * 10_000 + b"}", "démesuré"),
        (b'{"cells": [' + b"[]," * 2_000_001 + b"1]}", "2000000"),
        (b'{"cells": [' + b"{}," * 6_000 + b"{}]}", "6001 cellules"),
        (json.dumps({"cells": [{"cell_type": "code", "source": "x" * 5_000_000}]}).encode(), "5 Mio sans ses sorties"),
        (b"\xff\xfe{\0\"", "encodage"),
    ],
    ids=["vide", "nuls", "bom_seul", "html", "pdf", "zip", "coupe", "liste", "nombre", "sans_cellules", "cellules_dict", "profond", "entier",
         "trop_de_valeurs", "trop_de_cellules", "trop_gros", "utf16_coupe"],
)  # fmt: skip
def test_ce_qui_n_est_pas_un_notebook_est_nomme(data, reason):
    """NB-08 : une seule erreur, nommée, avec sa raison."""
    with pytest.raises(UnreadableError, match=reason):
        read_notebook(data)


@settings(max_examples=100, deadline=None)
@given(st.one_of(st.binary(max_size=200), st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=5) | st.integers(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(
        st.sampled_from(["cells", "worksheets", "cell_type", "source", "input", "metadata", "nbgrader", "grade_id", "id", "attachments", "level", "locked"]),
        inner | st.sampled_from(["code", "markdown", "heading", "bleu2", "\ud800"]), max_size=6),
    max_leaves=30,
).map(lambda value: json.dumps({"cells": value if isinstance(value, list) else [value]}).encode())))  # fmt: skip
def test_un_fichier_quelconque_ne_fait_jamais_planter(data):
    """Tout fichier est lu puis réparé, ou refusé par la seule erreur prévue."""
    try:
        notebook, _, _ = read_notebook(data)
    except UnreadableError:
        return
    repaired, reasons = repair(notebook, reference("ex01_bleu2"))
    check(repaired, "ex01_bleu2")
    nbformat.writes(repaired).encode()
    " ".join(reasons).encode()


def test_200_000_lignes_de_sorties():
    """NB-14 : les sorties s'en vont, une note le dit, la note de la copie n'en dépend pas."""
    notebook = answered("ex01_bleu2")
    huge_outputs(notebook)
    read, reasons, notes = read_notebook(text_of(notebook).encode())
    assert len(nbformat.writes(repair(read, reference("ex01_bleu2"))[0])) < 100_000
    assert reasons == [] and "sorties sont effacées" in notes[0]


@pytest.fixture
def folder(tmp_path):
    """Dossier d'une copie, vide ; `clean` n'existe pas encore."""
    path = tmp_path / "submitted" / "é l" / "ex01_bleu2"
    path.mkdir(parents=True)
    return path


def references(*names):
    return {name: reference(name) for name in names or ["ex01_bleu2"]}


@pytest.mark.parametrize(
    "filename",
    ["ex01_bleu2 (1).ipynb", "ex01 bleu2.ipynb", "Éx01_Bleu2.ipynb", "ex01_bleu2 - Copie.ipynb", "ex01_bleu2-Copy1.ipynb", "EX01_BLEU2.IPYNB",
     "dupont_ex01_bleu2_final.ipynb", "ex01_bleu2.ipynb.txt", "ex01_bleu2.ipynb.json", "sans rapport.ipynb", "rendu/ex01_bleu2.ipynb"],
)  # fmt: skip
def test_un_fichier_renomme_est_reconnu(folder, tmp_path, filename):
    """NB-07, NB-26 : la copie est notée, sous le bon nom, et le changement est dit."""
    target = folder / filename
    target.parent.mkdir(exist_ok=True)
    nbformat.write(answered("ex01_bleu2"), target)
    report = repair_folder(folder, tmp_path / "clean", references())
    assert report.fatal is None and report.refused == ()
    assert [path.name for path in report.notebooks] == ["ex01_bleu2.ipynb"]
    assert marked_sources(nbformat.read(report.notebooks[0], as_version=4)) == expected_sources("ex01_bleu2")
    assert report.reasons == (f"fichier renommé : « {filename} » est lu comme « ex01_bleu2.ipynb »",)


def test_un_renommage_sans_versions_etudiantes(folder):
    """`load_copy` se contente des noms : le seul notebook du dossier est celui du devoir."""
    nbformat.write(answered("ex01_bleu2"), folder / "devoir.ipynb")
    loaded = load_copy(folder, ["ex01_bleu2"])
    assert list(loaded.notebooks) == ["ex01_bleu2"] and "renommé" in loaded.reasons[0]


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({}, "le dossier est vide"),
        ({"ex01_bleu2.ipynb": b""}, "le fichier est vide"),
        ({"ex01_bleu2.ipynb": b"bonjour"}, "pas du JSON"),
        ({"ex01_bleu2.ipynb": b'{"cells": 1}'}, "pas de cellules"),
        ({"ex01_bleu2.py": b"print()"}, "ex01_bleu2.py"),
        ({".ipynb_checkpoints/ex01_bleu2.ipynb": b"{}"}, "le dossier est vide"),
    ],
    ids=["dossier_vide", "zero_octet", "pas_du_json", "pas_un_notebook", "script", "point_de_reprise"],
)  # fmt: skip
def test_sans_notebook_la_copie_est_en_erreur(folder, tmp_path, files, reason):
    """NB-08 : une raison, rien d'écrit."""
    for name, data in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(data)
    report = repair_folder(folder, tmp_path / "clean", references())
    assert reason in report.fatal and report.notebooks == ()
    assert not (tmp_path / "clean").exists()


def test_un_dossier_absent(tmp_path):
    """Rien n'a été rendu : ce n'est pas un 0."""
    assert "n'existe pas" in repair_folder(tmp_path / "absent", tmp_path / "clean", references()).fatal


def test_plusieurs_notebooks(folder, tmp_path):
    """Celui qui contient des réponses, non celui qui a le nom exact ; l'autre est nommé."""
    nbformat.write(reference("ex01_bleu2"), folder / "ex01_bleu2.ipynb")
    nbformat.write(answered("ex01_bleu2"), folder / "ex01_bleu2 (1).ipynb")
    nbformat.write(answered("ex02_perplexite"), folder / "brouillon.ipynb")
    report = repair_folder(folder, tmp_path / "clean", references())
    assert marked_sources(nbformat.read(report.notebooks[0], as_version=4)) == expected_sources("ex01_bleu2")
    text = " ; ".join(report.reasons)
    assert "plusieurs fichiers" in text and "« ex01_bleu2.ipynb » : notebook en trop" in text


def test_un_devoir_de_deux_notebooks(folder, tmp_path):
    """Le cours de `nbgrader quickstart` : noms échangés, l'un illisible."""
    nbformat.write(answered("problem1"), folder / "problem2.ipynb")
    nbformat.write(answered("problem2"), folder / "problem1.ipynb")
    report = repair_folder(folder, tmp_path / "clean", references("problem1", "problem2"))
    for path in report.notebooks:
        assert marked_sources(nbformat.read(path, as_version=4)) == expected_sources(path.stem)
    (folder / "problem1.ipynb").write_bytes(b"")
    report = repair_folder(folder, tmp_path / "autre", references("problem1", "problem2"))
    assert [path.name for path in report.notebooks] == ["problem1.ipynb"] and report.fatal is None
    assert "notebook « problem2 » non rendu ou illisible : ses questions sont sans réponse" in report.reasons


def test_seuls_les_fichiers_ordinaires_passent(folder, tmp_path):
    """SEC-25 : liens, tubes et noms qui remontent sont refusés et nommés ; les données ordinaires suivent."""
    secret = tmp_path / "gradebook.db"
    secret.write_text("CANARI")
    nbformat.write(answered("ex01_bleu2"), folder / "ex01_bleu2.ipynb")
    (folder / "données brutes").mkdir()
    (folder / "données brutes" / "é.csv").write_text("1;2")
    (folder / "notes.dat").symlink_to(secret)
    (folder / "dossier").symlink_to(tmp_path)
    (folder / "perdu").symlink_to(tmp_path / "absent")
    os.mkfifo(folder / "tube")
    (folder / "..\\..\\source.txt").write_text("x")
    (folder / "timestamp.txt").write_text("hier soir")
    clean = tmp_path / "clean"
    report = repair_folder(folder, clean, references())
    written = {str(path.relative_to(clean)) for path in clean.rglob("*") if path.is_file()}
    assert written == {"ex01_bleu2.ipynb", "données brutes/é.csv"}
    assert not any("CANARI" in path.read_text() for path in clean.rglob("*") if path.is_file())
    for name in ("notes.dat", "dossier", "perdu", "tube", "source.txt", "timestamp.txt"):
        assert any(name in reason for reason in report.refused), name
    assert report.fatal is None and report.reasons == ()


@pytest.mark.parametrize("link", ["notebook", "dossier"])
def test_un_lien_vers_le_corrige_n_est_pas_lu(tmp_path, link):
    """La copie qui est un lien vers source/ n'a pas de note."""
    folder = tmp_path / "submitted" / "ex01_bleu2"
    if link == "dossier":
        folder.parent.mkdir()
        folder.symlink_to(SOURCE / "ex01_bleu2")
    else:
        folder.mkdir(parents=True)
        (folder / "ex01_bleu2.ipynb").symlink_to(SOURCE / "ex01_bleu2" / "ex01_bleu2.ipynb")
    report = repair_folder(folder, tmp_path / "clean", references())
    assert "lien" in report.fatal and not (tmp_path / "clean").exists()


def test_un_fichier_enorme_n_est_pas_lu(folder, tmp_path):
    """Un fichier creux de 1 Tio : refusé à sa taille, sans être lu."""
    with open(folder / "ex01_bleu2.ipynb", "wb") as file:
        file.truncate(2**40)
    assert "plus que les 64 permis" in repair_folder(folder, tmp_path / "clean", references()).fatal


def test_un_dossier_propre_deja_plein_est_refuse(folder, tmp_path):
    """Rien n'est jamais effacé."""
    (tmp_path / "clean").mkdir()
    (tmp_path / "clean" / "a").write_text("")
    with pytest.raises(ValueError, match="n'est pas vide"):
        repair_folder(folder, tmp_path / "clean", references())


# --- nbgrader lui-même ---------------------------------------------------------------------------------------------------


def course_config(course, ours):
    config = Config()
    if ours:
        configure(config, course)
    config.CourseDirectory.root = str(course)
    config.OverwriteCells.add_missing_cells = True
    config.NbGrader.logfile = ""
    return config


@pytest.fixture(scope="module")
def gradebook(tmp_path_factory):
    """Deux cours nbgrader publiés, le nôtre et celui de quickstart."""
    # NB-33 : nbgrader appelle « alembic » par le PATH, même quand l'environnement n'est pas activé.
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
        yield published(tmp_path_factory)


def published(tmp_path_factory):
    """Publie les deux cours : {notebook : (devoir, configuration, base)}."""
    found = {}
    for ours, sources in ((True, [SOURCE / name for name in OURS]), (False, [QUICKSTART])):
        course = tmp_path_factory.mktemp("cours")
        config = course_config(course, ours)
        for source in sources:
            shutil.copytree(source, course / "source" / source.name)
        api = NbGraderAPI(config=config)
        for source in sources:
            assert api.generate_assignment(source.name, force=True, create=True)["success"]
            for path in source.glob("*.ipynb"):
                found[path.stem] = (source.name, config, f"sqlite:///{course / 'gradebook.db'}")
    return found


def sanitize(repaired, name, gradebook):
    """Étape « sanitize » de nbgrader, sans notre préprocesseur : elle ne lève rien et ne perd aucune cellule."""
    assignment, config, url = gradebook[name]
    resources = {"nbgrader": {"notebook": name, "assignment": assignment, "db_url": url, "student": "x"}}
    notebook = nbformat.reads(nbformat.writes(repaired), as_version=4)
    for step in (ClearOutput, DeduplicateIds, OverwriteKernelspec, OverwriteCells, CheckCellMetadata):
        notebook, resources = step(config=config).preprocess(notebook, resources)
    wanted = [mark(cell)["grade_id"] for cell in reference(name).cells if mark(cell)]
    assert [mark(cell)["grade_id"] for cell in notebook.cells if mark(cell)] == wanted


def test_les_versions_etudiantes_viennent_de_release_ou_de_source(gradebook):
    """Les mêmes par les deux chemins ; sans l'un ni l'autre, une erreur qui dit quoi faire."""
    for name, (assignment, config, _) in gradebook.items():
        release = read_references(config, assignment)[name]
        derived = student_version(nbformat.read(Path(config.CourseDirectory.root) / "source" / assignment / f"{name}.ipynb", 4), config)
        assert [(cell.source, cell.metadata) for cell in release.cells] == [(cell.source, cell.metadata) for cell in derived.cells]
    with pytest.raises(ValueError, match="publiez-le"):
        read_references(config, "absent")


@pytest.mark.filterwarnings("ignore:Object of type")
def test_nbgrader_autograde_repare_et_n_emporte_aucun_lien(gradebook):
    """NB-04, SEC-25 par la commande de nbgrader : copie abîmée acceptée, liens ôtés d'autograded/, corrigé jamais lu."""
    assignment, config, url = gradebook["problem1"]
    course = Path(config.CourseDirectory.root)
    config = copy.deepcopy(config)
    config.Autograde.sanitize_preprocessors = [RepairCopy, ClearOutput, DeduplicateIds, OverwriteKernelspec, OverwriteCells, CheckCellMetadata]
    config.Autograde.autograde_preprocessors = [SaveAutoGrades, CheckCellMetadata]
    for student in ("abime", "voleuse"):
        (course / "submitted" / student / assignment / "sous").mkdir(parents=True)
    damaged, thief = (course / "submitted" / student / assignment for student in ("abime", "voleuse"))
    notebook = answered("problem1")
    duplicate_answer(notebook)
    strip = notebook.cells[rank_of(notebook, "correct_squares")]
    strip.metadata = nbformat.NotebookNode()
    future_schema(notebook)
    nbformat.write(notebook, damaged / "problem1.ipynb")
    nbformat.write(answered("problem2"), damaged / "problem2.ipynb")
    (damaged / "sous" / "vrai.txt").write_text("à moi")
    for link in ("notes.dat", "sous/notes.dat"):
        (damaged / link).symlink_to(course / "gradebook.db")
    (damaged / "jupyter.png").symlink_to(course / "gradebook.db")
    (thief / "problem1.ipynb").symlink_to(course / "source" / assignment / "problem1.ipynb")
    api = NbGraderAPI(config=config)
    assert api.autograde(assignment, "abime", force=True, create=True)["success"]
    autograded = course / "autograded" / "abime" / assignment
    files = {str(path.relative_to(autograded)) for path in autograded.rglob("*") if path.is_file()}
    assert files == {"problem1.ipynb", "problem2.ipynb", "sous/vrai.txt", "jupyter.png"}
    assert (autograded / "jupyter.png").read_bytes() == (QUICKSTART / "jupyter.png").read_bytes()
    with Gradebook(url) as book:
        assert book.find_submission(assignment, "abime").max_score > 0
    assert not api.autograde(assignment, "voleuse", force=True, create=True)["success"]
    assert not (course / "autograded" / "voleuse" / assignment).exists()
