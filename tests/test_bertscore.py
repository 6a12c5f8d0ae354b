"""BERTScore : valeurs calculées à la main, ou rendues par bert-score et enregistrées (bertscore.json)."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import french_vectors
from helpers.bertscore import bert_score, check_weights, cosine_matrix, idf_weights, rescale
from helpers.tokens import french_words

DATA = Path(french_vectors.__file__).parent / "donnees"
RECORDED = json.loads((DATA / "bertscore.json").read_text(encoding="utf-8"))
TRIPLETS = {row["id"]: row for row in json.loads((DATA / "paraphrases.json").read_text(encoding="utf-8"))["triplets"]}
REFERENCES = [french_words(row["reference"]) for row in TRIPLETS.values()]
X, Y, DIAGONAL = [1.0, 0.0], [0.0, 1.0], [0.6, 0.8]


@pytest.mark.parametrize(
    ("candidate", "reference", "candidate_weights", "reference_weights", "precision", "recall"),
    [
        pytest.param([X, Y], [DIAGONAL], None, None, 0.7, 0.8, id="S3-09-a-la-main"),
        pytest.param([DIAGONAL], [X, Y], None, None, 0.8, 0.7, id="S3-09-echange"),
        pytest.param([X, Y], [DIAGONAL], [3, 1], [1], 0.65, 0.8, id="S3-09-poids"),
        pytest.param([X], [[-1.0, 0.0]], None, None, -1.0, -1.0, id="opposes"),
        pytest.param([X], [Y], None, None, 0.0, 0.0, id="orthogonaux"),
        pytest.param([[3.0, 0.0], [0.0, 0.5]], [[6.0, 8.0]], None, None, 0.7, 0.8, id="longueurs-sans-effet"),
        pytest.param([], [X], None, None, 0.0, 0.0, id="candidat-vide"),
        pytest.param([X], [], None, None, 0.0, 0.0, id="reference-vide"),
    ],
)
def test_a_la_main(candidate, reference, candidate_weights, reference_weights, precision, recall):
    """cos = 0,6 et 0,8 ; pondéré : (3 × 0,6 + 0,8)/4 = 0,65."""
    score = bert_score(candidate, reference, candidate_weights, reference_weights)
    assert (score.precision, score.recall) == pytest.approx((precision, recall), abs=1e-12)
    total = precision + recall
    assert score.fmeasure == pytest.approx(2 * precision * recall / total if total else 0.0, abs=1e-12)


@pytest.mark.parametrize("row", RECORDED["statiques"], ids=lambda row: f"{row['id']}-{row['candidat']}")
def test_accord_avec_la_bibliotheque(row):
    """S3-09 : bert-score, avec les mêmes vecteurs français, sans puis avec idf ; ses valeurs sont enregistrées."""
    candidate, reference = (french_words(TRIPLETS[row["id"]][role]) for role in (row["candidat"], "reference"))
    vectors = french_vectors.vectors(candidate), french_vectors.vectors(reference)
    weights = idf_weights(candidate, REFERENCES), idf_weights(reference, REFERENCES)
    for score, expected in ((bert_score(*vectors), row["egaux"]), (bert_score(*vectors, *weights), row["idf"])):
        assert [score.precision, score.recall, score.fmeasure] == pytest.approx(expected, abs=1e-9)


def test_tous_les_triplets_sont_enregistres():
    assert [(row["id"], row["candidat"]) for row in RECORDED["statiques"]] == [
        (name, role) for name in TRIPLETS for role in ("paraphrase", "contraire")
    ]
    assert RECORDED["ecart_maximal"] < 1e-9


VECTORS = st.lists(st.lists(st.floats(-1, 1), min_size=3, max_size=3).filter(lambda v: np.linalg.norm(v) > 0.01),
                   min_size=1, max_size=6)


@given(VECTORS, VECTORS)
def test_contre_deux_boucles(candidate, reference):
    """La définition, mot par mot, sans matrice."""

    def cos(u, v):
        return sum(a * b for a, b in zip(u, v)) / math.sqrt(sum(a * a for a in u) * sum(b * b for b in v))

    score = bert_score(candidate, reference)
    precision = sum(max(cos(u, v) for v in reference) for u in candidate) / len(candidate)
    recall = sum(max(cos(u, v) for u in candidate) for v in reference) / len(reference)
    assert (score.precision, score.recall) == pytest.approx((precision, recall), abs=1e-9)


@given(VECTORS, VECTORS)
def test_proprietes(candidate, reference):
    """Un texte contre lui-même : 1. Échanger les textes échange précision et rappel. L'ordre des mots ne compte pas."""
    same = bert_score(candidate, candidate)
    assert (same.precision, same.recall) == pytest.approx((1, 1), abs=1e-9)
    score, swapped = bert_score(candidate, reference), bert_score(reference, candidate)
    assert (score.precision, score.recall) == pytest.approx((swapped.recall, swapped.precision), abs=1e-9)
    shuffled = bert_score(candidate[::-1], reference)
    assert (score.precision, score.recall) == pytest.approx((shuffled.precision, shuffled.recall), abs=1e-9)


@pytest.mark.parametrize(
    ("tokens", "references", "expected"),
    [
        pytest.param(["le", "chat"], [["le", "chat"], ["le", "chien"]], [0.0, math.log(3 / 2)], id="present-partout"),
        pytest.param(["lion"], [["le"], ["la"], ["les"]], [math.log(4)], id="jamais-vu"),
        pytest.param(["le"], [["le", "le", "le"], ["la"]], [math.log(3 / 2)], id="compte-une-fois-par-reference"),
        pytest.param([], [["le"]], [], id="aucun-mot"),
    ],
)
def test_idf_a_la_main(tokens, references, expected):
    assert idf_weights(tokens, references) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("value", "baseline", "expected"),
    [pytest.param(0.9, 0.8, 0.5, id="milieu"), pytest.param(0.8, 0.8, 0.0, id="base"),
     pytest.param(1, 0.3, 1.0, id="parfait"),
     pytest.param(0.7, 0.8, -0.5, id="sous-la-base"), pytest.param(0.5, -1, 0.75, id="base-minimale")],
)
def test_remise_a_l_echelle(value, baseline, expected):
    assert rescale(value, baseline) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        pytest.param(lambda: cosine_matrix(X, [X]), "1 axe", id="sans-liste"),
        pytest.param(lambda: cosine_matrix([X], [[1.0, 0.0, 0.0]]), "2 et de 3 dimensions", id="dimensions"),
        pytest.param(lambda: cosine_matrix([[0.0, 0.0]], [X]), "vecteur est nul", id="vecteur-nul"),
        pytest.param(lambda: cosine_matrix([X], [[math.nan, 1.0]]), "référence : un nombre", id="nan"),
        pytest.param(lambda: check_weights([1.0], 2, "candidat"), "2 poids attendus", id="poids-manquants"),
        pytest.param(lambda: check_weights([1.0, -1.0], 2, "candidat"), "positifs", id="poids-negatif"),
        pytest.param(lambda: check_weights([0.0, 0.0], 2, "candidat"), "non tous nuls", id="poids-nuls"),
        pytest.param(lambda: check_weights([math.inf, 1.0], 2, "candidat"), "finis", id="poids-infini"),
        pytest.param(lambda: idf_weights(["le"], []), "aucune référence", id="idf-sans-reference"),
        pytest.param(lambda: rescale(0.9, 1.0), "base 1.0", id="base-1"),
        pytest.param(lambda: rescale(0.9, math.nan), "base nan", id="base-nan"),
    ],
)
def test_mauvaises_entrees(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_idf_veut_des_listes_de_mots():
    with pytest.raises(TypeError, match="texte"):
        idf_weights("le chat", [["le"]])
    with pytest.raises(TypeError, match="référence 1"):
        idf_weights(["le"], ["le chat"])


@pytest.mark.parametrize("triplet", TRIPLETS.values(), ids=lambda triplet: triplet["id"])
def test_la_negation_est_invisible(triplet):
    """le contraire, dit avec les mêmes mots, bat la paraphrase fidèle."""
    faithful, opposite = (
        bert_score(*(french_vectors.vectors(french_words(triplet[name])) for name in (role, "reference"))).fmeasure
        for role in ("paraphrase", "contraire")
    )
    assert opposite > faithful


# --- Les vecteurs du paquet -----------------------------------------------------------------------------------


def test_empreinte_publiee():
    """La documentation de spaCy publie l'empreinte de « coffee »."""
    assert french_vectors.murmur_hash("coffee") == 3197928453018144401


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        pytest.param(b"\xde\x00\x02\x05\x06\xcc\xc8\xcd\x01\x00", {5: 6, 200: 256}, id="petit-dictionnaire"),
        pytest.param(b"\xdf\x00\x00\x00\x01\xcf" + (2**63).to_bytes(8, "big") + b"\xce\x00\x01\x00\x00",
                     {2**63: 65536}, id="grand"),
        pytest.param(b"\xde\x00\x00", {}, id="vide"),
    ],
)
def test_lecture_msgpack(content, expected):
    """Octets écrits à la main d'après la spécification msgpack."""
    assert french_vectors.read_rows(content) == expected


@pytest.mark.parametrize("content", [b"", b"\x93\x01\x02\x03", b"\xde\x00\x01\xa3chat\x01"],
                         ids=["vide", "liste", "chaine"])
def test_table_illisible(content):
    with pytest.raises(ValueError, match="réinstallez le paquet"):
        french_vectors.read_rows(content)


def test_vecteurs_francais():
    """20 000 vecteurs de 300 nombres, 500 000 mots ; « chien » est plus près de « canidé » que de « parlement »."""
    assert french_vectors.vectors(["chien", "été"]).shape == (2, 300)
    assert french_vectors.vectors([]).shape[0] == 0
    near, far = (cosine_matrix(french_vectors.vectors(["chien"]), french_vectors.vectors([word]))[0, 0]
                 for word in ("canidé", "parlement"))
    assert near > 0.5 > 0.2 > far
    assert french_vectors.row_of("plu") == french_vectors.row_of("déplu")


def test_mot_inconnu():
    assert french_vectors.row_of("zxqvw") is None
    with pytest.raises(KeyError, match="zxqvw, qvwzx"):
        french_vectors.vectors(["chat", "zxqvw", "qvwzx"])
    with pytest.raises(TypeError, match="chaîne attendue"):
        french_vectors.row_of(3)
