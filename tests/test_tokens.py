"""Découpe, normalisation et contrôle des jetons : le français reste entier, l'entrée fautive est dite."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rouge_score import tokenize as rouge_tokenize

from helpers.tokens import (
    FRENCH_WORDS,
    Signature,
    ascii_words,
    check_tokens,
    french_words,
    normalize,
    sentence_tokens,
)

FRENCH = [
    pytest.param("L'été, à Noël, l'élève était déçu.", ["l", "été", "à", "noël", "l", "élève", "était", "déçu"],
                 id="E-13"),
    pytest.param("l’école l'école lʼécole", ["l", "école"] * 3, id="BLEU-19-apostrophes"),
    pytest.param("Œuvre, cœur, SŒUR", ["œuvre", "cœur", "sœur"], id="ligature"),
    pytest.param("Il mesure 3,14 m (ou 3.14) et 1 200 g",
                 ["il", "mesure", "3,14", "m", "ou", "3.14", "et", "1", "200", "g"],
                 id="decimales"),
    pytest.param("le 4e jour, H2O.", ["le", "4e", "jour", "h2o"], id="lettres-et-chiffres"),
    pytest.param("Fin 2020, 2021.", ["fin", "2020", "2021"], id="virgule-de-phrase"),
    pytest.param("peut-être, aujourd'hui\u202f!", ["peut", "être", "aujourd", "hui"], id="espace-insecable"),
    pytest.param("a_b « ÀÉÈÇ »", ["a", "b", "àéèç"], id="guillemets"),
    pytest.param("", [], id="vide"),
    pytest.param(" . … !", [], id="ponctuation-seule"),
]


@pytest.mark.parametrize(("text", "expected"), FRENCH)
def test_mots_francais(text, expected):
    """Découpe attendue, écrite à la main, en NFC comme en NFD."""
    assert french_words(text) == expected
    assert french_words(unicodedata.normalize("NFD", text)) == expected


ASCII = [
    pytest.param("L'élève a été reçu à l'école", "l l ve a t re u l cole", id="ROU-01"),
    pytest.param("L'été, à Noël, l'élève était déçu", "l t no l l l ve tait d u", id="E-13"),
    pytest.param("à é ô", "", id="ROU-01-mots-accentues"),
]


@pytest.mark.parametrize(("text", "expected"), ASCII)
def test_le_piege_des_accents(text, expected):
    """La découpe ASCII coupe aux accents, exactement comme le relevé publié."""
    assert ascii_words(text) == expected.split()


@given(st.text())
def test_ascii_words_est_la_decoupe_de_rouge_score(text):
    """Même découpe que la bibliothèque, sans racinisation, sur tout texte."""
    assert ascii_words(text) == rouge_tokenize.tokenize(text, None)


@given(st.text())
def test_normalisation_idempotente(text):
    """Normaliser deux fois ne change rien ; NFC et NFD du même texte se rejoignent."""
    assert normalize(normalize(text)) == normalize(text)
    assert normalize(unicodedata.normalize("NFD", text)) == normalize(text)


@given(st.text())
def test_mots_sans_espace_ni_ponctuation(text):
    """Aucun mot vide, aucun mot sans lettre ni chiffre."""
    assert all(word and any(character.isalnum() for character in word) for word in french_words(text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("Le chat dort.\nIl rêve.", [["le", "chat", "dort"], ["il", "rêve"]], id="deux-phrases"),
        pytest.param("\n\nLe chat.\n\n", [["le", "chat"]], id="lignes-vides"),
        pytest.param("", [], id="vide"),
    ],
)
def test_phrases_par_lignes(text, expected):
    """Une phrase par ligne, sans les lignes vides."""
    assert sentence_tokens(text) == expected


@pytest.mark.parametrize("function", [normalize, french_words, ascii_words, sentence_tokens])
@pytest.mark.parametrize("value", [None, 3, float("nan"), b"octets", ["déjà", "découpé"]], ids=repr)
def test_texte_exige(function, value):
    """Autre chose qu'une chaîne : une phrase française, cause et réparation."""
    with pytest.raises(TypeError, match="chaîne attendue, .* reçu ; passez"):
        function(value)


@pytest.mark.parametrize(
    ("tokens", "message"),
    [
        pytest.param("le chat", "liste de mots attendue, str reçu ; découpez", id="BLEU-14"),
        pytest.param(None, "liste de mots attendue, NoneType reçu", id="rien"),
        pytest.param({"le", "chat"}, "liste de mots attendue, set reçu", id="ensemble"),
        pytest.param(["le", float("nan")], "le jeton nan n'est pas une chaîne", id="nan"),
        pytest.param([["le"]], r"le jeton \['le'\] n'est pas une chaîne", id="liste-imbriquee"),
    ],
)
def test_jetons_refuses(tokens, message):
    """Chaque mauvaise entrée a son message, précédé du nom de l'argument."""
    with pytest.raises(TypeError, match=f"^candidat : {message}"):
        check_tokens(tokens, "candidat")


def test_jetons_admis():
    """Listes et tuples de chaînes, vides compris."""
    for tokens in ([], (), ["le"], ("le", "chat")):
        assert check_tokens(tokens, "candidat") is None


def test_signature_garde_les_versions_sans_les_imprimer():
    """Les versions sont un attribut ; elles ne paraissent ni dans le texte ni dans l'égalité."""
    signature = Signature("BLEU-4", "lissage : none", FRENCH_WORDS)
    assert {name for name, _ in signature.versions} == {"python", "unicode"}
    assert all(version not in str(signature) + repr(signature) for _, version in signature.versions)
    assert signature == Signature("BLEU-4", "lissage : none", FRENCH_WORDS, versions=())
    assert str(signature) == "BLEU-4 | lissage : none | découpe : mots français, minuscules, NFC"
