"""Perplexité : valeurs du programme (S0, S3), cas publics (B3), NLTK, puis propriétés."""

import json
import math
import random
import unicodedata
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nltk.lm import MLE, Laplace, Lidstone
from nltk.lm.preprocessing import padded_everygram_pipeline
from nltk.util import bigrams, everygrams

from helpers.judge import scoring_request, token_logprobs
from helpers.perplexity import (
    END,
    START,
    UNKNOWN,
    BigramModel,
    bits_per_byte,
    cross_entropy,
    cross_entropy_from_logprobs,
    log_probability,
    perplexity,
    perplexity_from_logprobs,
)

# Un avertissement (log de zéro, division…) est une faute : rien ne doit sortir sur stderr.
pytestmark = pytest.mark.filterwarnings("error")

MAT = "the cat sat on the mat".split()
FISH = "the fish ate the cat on the mat".split()
ZEBRA = "zebra quantum ate banana".split()
S0_CORPUS = ["the cat sat on the mat the cat ate the fish".split()]
B3_CORPUS = ["le chat dort".split(), "le chien dort".split()]
B3_SENTENCE = "le chat dort".split()


def b3_model(k, unk=False, markers=True, extra_words=()):
    return BigramModel(B3_CORPUS, k=k, unk=unk, markers=markers, extra_words=extra_words)


# --- Définition ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("probabilities", "expected"),
    [
        pytest.param([1.0] * 6, "1.00", id="S3-11-parfait"),
        pytest.param([1 / 6] * 6, "6.00", id="S3-11-uniforme"),
        pytest.param([0.8, 0.7, 0.6, 0.7, 0.8, 0.6], "1.44", id="S3-11-bon"),
        pytest.param([0.2, 0.1, 0.15, 0.1, 0.2, 0.15], "6.93", id="S3-11-mauvais"),
        pytest.param([1 / 7] * 5, "7.00", id="S0-25-uniforme"),
        pytest.param([0.25] * 3, "4.00", id="PPL-10"),
        # Moyenne géométrique, pas arithmétique : 1/sqrt(0.9 * 0.1) = 10/3, et non 1/0.5 = 2.
        pytest.param([0.9, 0.1], "3.33", id="E-06-moyenne-geometrique"),
    ],
)
def test_perplexite_imprimee(probabilities, expected):
    """Les perplexités publiées, aux deux décimales où elles le sont."""
    assert f"{perplexity(probabilities):.2f}" == expected


@pytest.mark.parametrize(
    ("loss", "expected"), [(3.2, "24.53"), (2.4, "11.02"), (2.1, "8.17")], ids=["S0-20-a", "S0-20-b", "S0-20-c"]
)
def test_perplexite_est_exp_de_la_perte(loss, expected):
    assert f"{perplexity_from_logprobs([-loss] * 4):.2f}" == expected


def test_modele_parfait_sans_zero_negatif():
    assert cross_entropy([1.0, 1.0]) == 0.0
    assert math.copysign(1, cross_entropy([1.0, 1.0])) == 1.0
    assert perplexity([1.0, 1.0]) == 1.0


def test_zero_donne_l_infini():
    """PPL-05 : ni ValueError de math.log, ni avertissement."""
    assert log_probability(0) == -math.inf
    assert cross_entropy([0.5, 0.0]) == math.inf
    assert perplexity([0.5, 0.0]) == math.inf
    assert bits_per_byte([-math.inf, -1.0], "ab") == math.inf


def test_pas_de_debordement():
    """Le produit de 400 probabilités vaut 0 en flottants ; exp(744) dépasse le plus grand flottant."""
    assert perplexity([0.1] * 400) == pytest.approx(10, rel=1e-12)
    assert perplexity([5e-324]) == math.inf
    assert perplexity_from_logprobs([-1e4]) == math.inf


@pytest.mark.parametrize(
    ("text", "logprobs", "expected"),
    [
        pytest.param("abcd", [-math.log(2)] * 4, 1.0, id="un-bit-par-lettre"),
        pytest.param("abcd", [-4 * math.log(2)], 1.0, id="un-seul-jeton"),
        pytest.param("é", [-math.log(4)], 1.0, id="accent-deux-octets"),
        pytest.param("abc", [0.0], 0.0, id="certain"),
    ],
)
def test_bits_par_octet(text, logprobs, expected):
    assert bits_per_byte(logprobs, text) == pytest.approx(expected, abs=1e-12)


# --- Modèle bigramme : B3 -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "size", "expected"),
    [
        pytest.param(b3_model(0), 5, 1.189207, id="PPL-01-MLE"),
        pytest.param(b3_model(0, markers=False), 4, 1.414214, id="PPL-02-sans-marqueurs"),
        pytest.param(b3_model(1), 5, 2.749703, id="PPL-03-V5"),
        pytest.param(b3_model(1, unk=True), 6, 3.158758, id="PPL-03-V6"),
        pytest.param(b3_model(1, unk=True, extra_words=[START]), 7, 3.567621, id="PPL-03-V7"),
    ],
)
def test_b3(model, size, expected):
    assert len(model.vocabulary) == size
    assert model.perplexity(B3_SENTENCE) == pytest.approx(expected, abs=5e-7)


@pytest.mark.parametrize(
    ("sentence", "k", "expected"),
    [
        pytest.param("chat le", 0, math.inf, id="PPL-05"),
        pytest.param("le lion", 1, 4.338587, id="PPL-07"),
        pytest.param("chat", 1, 6.480741, id="PPL-08"),
    ],
)
def test_b3_autres_phrases(sentence, k, expected):
    assert b3_model(k).perplexity(sentence.split()) == pytest.approx(expected, abs=5e-7)


def test_b3_sommes():
    """PPL-04 : 1 sur V = 5 ; 7/9 sur les cinq mots possibles quand V compte à tort <s> et <unk>."""
    reachable = ["le", "chat", "chien", "dort", END]
    right, wrong = b3_model(1), b3_model(1, unk=True, extra_words=[START])
    assert math.fsum(right.next_token_prob("le", word) for word in reachable) == pytest.approx(1)
    assert math.fsum(wrong.next_token_prob("le", word) for word in reachable) == pytest.approx(7 / 9)


def test_debut_de_phrase_non_predit():
    assert START not in b3_model(1).vocabulary
    assert b3_model(0).next_token_prob(START, "le") == 1.0


@pytest.mark.parametrize(("cls", "k"), [(MLE, 0), (Laplace, 1)])
def test_b3_concorde_avec_nltk(cls, k):
    train, vocabulary = padded_everygram_pipeline(2, B3_CORPUS)
    reference = cls(2)
    reference.fit(train, vocabulary)
    expected = reference.perplexity(list(bigrams([START, *B3_SENTENCE, END])))
    ours = b3_model(k, unk=True, extra_words=[START])
    assert ours.perplexity(B3_SENTENCE) == pytest.approx(expected, abs=1e-9)


# --- Modèle bigramme : le corpus de S0 ----------------------------------------------------------


@pytest.mark.parametrize(
    ("sentence", "expected", "entropy", "probabilities"),
    [
        pytest.param(MAT, 1.797583, 0.586, [0.49386, 0.48792, 0.94393, 0.94393, 0.24816], id="S0-22"),
        pytest.param(
            FISH, 4.736398, 1.555, [0.24816, 0.14286, 0.94393, 0.49386, 0.00483, 0.94393, 0.24816], id="S0-23"
        ),
        pytest.param(ZEBRA, 17.372405, 2.855, [0.14286, 0.14286, 0.00935], id="S0-24"),
    ],
)
def test_s0_sans_unk(sentence, expected, entropy, probabilities):
    model = BigramModel(S0_CORPUS, k=0.01, unk=False)
    assert len(model.vocabulary) == 7
    assert model.token_probabilities(sentence) == pytest.approx(probabilities, abs=5e-6)
    assert cross_entropy(model.token_probabilities(sentence)) == pytest.approx(entropy, abs=5e-4)
    assert model.perplexity(sentence) == pytest.approx(expected, abs=5e-7)


@pytest.mark.parametrize(
    ("k", "unk", "expected"),
    [
        pytest.param(0.01, True, ["1.8078", "4.8489", "19.0488"], id="E-06-unk"),
        pytest.param(1, False, ["4.29", "5.26", "7.32"], id="E-07-k1"),
        pytest.param(0.001, False, ["1.75", "6.43", "36.68"], id="E-07-k0.001"),
    ],
)
def test_s0_effet_de_unk_et_de_k(k, unk, expected):
    model = BigramModel(S0_CORPUS, k=k, unk=unk)
    for sentence, printed in zip((MAT, FISH, ZEBRA), expected, strict=True):
        decimals = len(printed.split(".")[1])
        assert f"{model.perplexity(sentence):.{decimals}f}" == printed


def test_s0_somme_sans_unk():
    """E-06 : avec un mot inconnu en plus des sept, le total après « ate » vaut 1 + 0,01/1,07."""
    model = BigramModel(S0_CORPUS, k=0.01, unk=False)
    total = math.fsum(model.next_token_prob("ate", word) for word in [*model.vocabulary, "banana"])
    assert f"{total:.4f}" == "1.0093"


@pytest.mark.parametrize("k", [0.001, 0.01, 1])
@pytest.mark.parametrize("sentence", [MAT, FISH, ZEBRA], ids=["S0-22", "S0-23", "S0-24"])
def test_s0_concorde_avec_nltk(sentence, k):
    reference = Lidstone(k, 2)
    reference.fit([list(everygrams(S0_CORPUS[0], max_len=2))], S0_CORPUS[0])
    expected = reference.perplexity(list(bigrams(sentence)))
    assert BigramModel(S0_CORPUS, k=k).perplexity(sentence) == pytest.approx(expected, abs=1e-9)


# --- Entrées fautives : un message français, d'une phrase ---------------------------------------

MODEL = BigramModel(B3_CORPUS)

WRONG_INPUTS = [
    pytest.param(lambda: perplexity([0.5, math.nan]), ValueError, "entre 0 et 1", id="nan"),
    pytest.param(lambda: perplexity([1.2]), ValueError, "entre 0 et 1", id="au-dessus-de-1"),
    pytest.param(lambda: cross_entropy([-0.1]), ValueError, "entre 0 et 1", id="negative"),
    pytest.param(lambda: perplexity([]), ValueError, "vide", id="liste-vide"),
    pytest.param(lambda: perplexity("0.5"), TypeError, ".split()", id="texte"),
    pytest.param(lambda: perplexity(0.5), TypeError, "liste", id="nombre-seul"),
    pytest.param(lambda: perplexity(["0.5"]), TypeError, "nombre", id="nombre-en-texte"),
    pytest.param(lambda: perplexity_from_logprobs([None, -1.0]), TypeError, "None", id="premier-jeton-none"),
    pytest.param(lambda: perplexity_from_logprobs([0.5]), ValueError, "négative", id="logprob-positive"),
    pytest.param(lambda: cross_entropy_from_logprobs([math.nan]), ValueError, "nan", id="logprob-nan"),
    pytest.param(lambda: bits_per_byte([-1.0], ""), ValueError, "vide", id="octets-texte-vide"),
    pytest.param(lambda: bits_per_byte([-1.0], ["le"]), TypeError, "chaîne", id="octets-liste"),
    pytest.param(lambda: bits_per_byte([-1.0], b"le"), TypeError, "chaîne", id="octets-bytes"),
    pytest.param(lambda: BigramModel([]), ValueError, "vide", id="corpus-vide"),
    pytest.param(lambda: BigramModel([[]]), ValueError, "vide", id="phrase-vide-au-corpus"),
    pytest.param(lambda: BigramModel("le chat dort"), TypeError, ".split()", id="corpus-texte"),
    pytest.param(lambda: BigramModel(["le chat", "dort"]), TypeError, ".split()", id="phrases-textes"),
    pytest.param(lambda: BigramModel([["le", 3]]), TypeError, "mot", id="mot-nombre"),
    pytest.param(lambda: BigramModel(B3_CORPUS, extra_words="lion"), TypeError, ".split()", id="extra-texte"),
    pytest.param(lambda: BigramModel(B3_CORPUS, k=-1), ValueError, "k vaut", id="k-negatif"),
    pytest.param(lambda: BigramModel(B3_CORPUS, k=math.nan), ValueError, "k vaut", id="k-nan"),
    pytest.param(lambda: BigramModel(B3_CORPUS, k="1"), ValueError, "k vaut", id="k-texte"),
    pytest.param(lambda: MODEL.perplexity(["chat"]), ValueError, "seul mot", id="PPL-08-un-mot"),
    pytest.param(lambda: MODEL.perplexity([]), ValueError, "vide", id="PPL-09-phrase-vide"),
    pytest.param(lambda: b3_model(1).perplexity([]), ValueError, "vide", id="PPL-09-avec-marqueurs"),
    pytest.param(lambda: MODEL.perplexity("le chat"), TypeError, ".split()", id="phrase-texte"),
    pytest.param(lambda: MODEL.perplexity(["le", None]), TypeError, "mot", id="mot-none"),
    pytest.param(lambda: MODEL.next_token_prob("le", 3), TypeError, "mot", id="suivant-nombre"),
]


@pytest.mark.parametrize(("call", "error", "fragment"), WRONG_INPUTS)
def test_entree_fautive(call, error, fragment):
    with pytest.raises(error) as caught:
        call()
    message = str(caught.value)
    assert fragment in message
    assert "\n" not in message and " ; " in message, "un message dit la cause, puis la réparation"


# --- Requête de la leçon --------------------------------------------------------------------------


def vllm_reply(entries):
    return SimpleNamespace(choices=[SimpleNamespace(prompt_logprobs=entries)])


def test_requete_de_notation():
    """Le texte part tel quel ; vLLM note ses jetons et n'en produit qu'un, ignoré."""
    request = scoring_request("Le chat dort.")
    assert request["prompt"] == "Le chat dort."
    assert (request["max_tokens"], request["temperature"]) == (1, 0)
    assert request["extra_body"] == {"prompt_logprobs": 0}


def test_lecture_des_log_probabilites():
    """Forme réelle de vLLM : null, puis un jeton par position."""
    entries = [None, {"7026": {"logprob": -11.09, "rank": 2499, "decoded_token": "Le"}}, {"30": {"logprob": 0.0}}]
    assert token_logprobs(vllm_reply(entries)) == [None, -11.09, 0.0]


@pytest.mark.parametrize("entries", [None, []], ids=["absent", "vide"])
def test_serveur_sans_log_probabilites(entries):
    with pytest.raises(ValueError, match="prompt_logprobs"):
        token_logprobs(vllm_reply(entries))


@pytest.mark.parametrize(("text", "error"), [("", ValueError), (["Le"], TypeError), (None, TypeError)])
def test_requete_fautive(text, error):
    with pytest.raises(error):
        scoring_request(text)


# --- Données de la leçon ------------------------------------------------------------------------


def test_phrases_de_la_lecon():
    """Vingt phrases NFC ; le mélange se refait depuis la graine écrite dans le fichier."""
    path = Path(__file__).parents[1] / "helpers" / "donnees" / "phrases.json"
    content = path.read_text(encoding="utf-8")
    assert content == unicodedata.normalize("NFC", content)
    data = json.loads(content)
    rng = random.Random(data["graine"])
    assert len(data["phrases"]) == 20
    for item in data["phrases"]:
        words = item["francais"].removesuffix(".").split()
        words[0] = words[0][0].lower() + words[0][1:]
        mixed = words[:]
        rng.shuffle(mixed)
        text = " ".join(mixed) + "."
        assert item["melange"] == text[0].upper() + text[1:]
        assert mixed != words
        assert len(item["melange"].encode()) == len(item["francais"].encode())


# --- Propriétés ---------------------------------------------------------------------------------

probability = st.floats(min_value=1e-6, max_value=1)
words = st.sampled_from(["le", "chat", "chien", "dort", "été"])
sentences = st.lists(st.lists(words, min_size=1, max_size=8), min_size=1, max_size=5)


@given(st.integers(1, 1000), st.integers(1, 50))
def test_uniforme_donne_la_taille_du_vocabulaire(size, length):
    """PPL-12."""
    assert perplexity([1 / size] * length) == pytest.approx(size)


@given(st.lists(probability, min_size=1, max_size=30))
def test_encadree_par_les_probabilites_extremes(probabilities):
    value = perplexity(probabilities)
    assert 1 <= value <= 1 / min(probabilities) * (1 + 1e-9)
    assert value >= 1 / max(probabilities) * (1 - 1e-9)
    assert value == pytest.approx(math.prod(p ** (-1 / len(probabilities)) for p in probabilities))


@given(st.lists(probability, min_size=1, max_size=30), st.randoms(use_true_random=False))
def test_l_ordre_des_jetons_ne_compte_pas(probabilities, rng):
    shuffled = probabilities[:]
    rng.shuffle(shuffled)
    assert perplexity(shuffled) == perplexity(probabilities)


@given(sentences, st.floats(min_value=1e-3, max_value=10), st.booleans(), words)
def test_les_probabilites_somment_a_un(corpus, k, markers, context):
    """PPL-04, avec <unk> : après tout contexte, vu ou non, la somme sur le vocabulaire vaut 1."""
    model = BigramModel(corpus, k=k, markers=markers)
    for prev in [context, "jamais vu", UNKNOWN]:
        total = math.fsum(model.next_token_prob(prev, word) for word in model.vocabulary)
        assert total == pytest.approx(1)


@given(st.lists(st.floats(-20, 0), min_size=2, max_size=20), st.text(st.characters(codec="utf-8"), min_size=1))
def test_bits_par_octet_ignore_le_decoupage(logprobs, text):
    """Réunir deux jetons en un seul, de même probabilité, ne change rien."""
    merged = [logprobs[0] + logprobs[1], *logprobs[2:]]
    assert bits_per_byte(merged, text) == pytest.approx(bits_per_byte(logprobs, text))
