"""Le juge de la leçon 04 : requête, lecture stricte du verdict, log-probabilités des choix, données."""

import json
import math
import unicodedata
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.judge import choice_logprobs, pairwise_request, read_choice, read_verdict

DATA = Path(__file__).parents[1] / "helpers" / "donnees"


# Table B4 (cas publics). La règle de ce tableau : jamais la mauvaise lettre ; « illisible » est permis.
@pytest.mark.parametrize(
    ("reply", "wanted"),
    [
        pytest.param("Answer B", "B", id="JUG-01-anglais"),
        pytest.param("Assistant B est meilleur", "B", id="JUG-01-francais"),
        pytest.param("Both are good", None, id="JUG-02-both"),
        pytest.param("Bonne question. A", "A", id="JUG-02-bonne"),
        pytest.param("Aucune des deux", None, id="JUG-03-aucune"),
        pytest.param("À mon avis, B", "B", id="JUG-03-a-accent"),
        pytest.param("La réponse B a raison", "B", id="JUG-04-verbe-a"),
        pytest.param("Il y a égalité", "EGALITE", id="JUG-04-egalite"),
        pytest.param("<think>A semble bon</think>B", "B", id="JUG-07-think"),
        pytest.param("", None, id="JUG-08-vide"),
        pytest.param(None, None, id="JUG-08-none"),
        pytest.param("Désolé, je ne peux pas juger", None, id="JUG-08-refus"),
        pytest.param("INCORRECT", None, id="JUG-09"),
        pytest.param('{"match":"false"}', None, id="JUG-10"),
        pytest.param("erreur 500", None, id="JUG-11-jamais-de-verdict-par-defaut"),
        pytest.param("Answer: B", "B", id="E-08-deux-points"),
        pytest.param("As a judge, I choose B", "B", id="E-08-as-a-judge"),
        pytest.param("The better answer is A", "A", id="E-08-a-la-fin"),
    ],
)
def test_never_the_wrong_letter(reply, wanted):
    assert read_verdict(reply) in {wanted or "illisible", "illisible"}


@pytest.mark.parametrize(
    ("reply", "verdict"),
    [
        pytest.param("[[A]]", "A", id="A"),
        pytest.param("[[B]]", "B", id="E-08-B"),
        pytest.param("[[C]]", "EGALITE", id="C"),
        pytest.param("[[Égalité]]", "EGALITE", id="S3-17-egalite"),
        pytest.param(unicodedata.normalize("NFD", "[[Égalité]]"), "EGALITE", id="egalite-NFD"),
        pytest.param("La première est fausse.\nVerdict : [[B]].", "B", id="S3-17-justification-avant"),
        pytest.param("[[B]]\n\n  \n", "B", id="lignes-vides-a-la-fin"),
        pytest.param("[[B]]\r\n", "B", id="fin-de-ligne-windows"),
        pytest.param("[[A]]\nEn fait, non : [[B]]", "B", id="derniere-ligne"),
        pytest.param("[[A]] donc [[A]]", "A", id="meme-marque-deux-fois"),
        pytest.param("<think>[[A]] ?\n[[A]]</think>\n[[B]]", "B", id="think-plusieurs-lignes"),
        pytest.param("<think>un</think>[[A]]<think>deux [[B]]</think>", "A", id="deux-think"),
        pytest.param("[[A]] ou [[B]]", "illisible", id="deux-marques-contraires"),
        pytest.param("[[A]] [[C]]", "illisible", id="lettre-et-egalite"),
        pytest.param("[[B]]\nMerci de votre confiance.", "illisible", id="marque-pas-sur-la-derniere-ligne"),
        pytest.param("[[b]]", "illisible", id="casse"),
        pytest.param("[[égalité]]", "illisible", id="casse-egalite"),
        pytest.param("[[Egalite]]", "illisible", id="sans-accent"),
        pytest.param("[B]", "illisible", id="simple-crochet"),
        pytest.param("[[ B ]]", "illisible", id="espaces"),
        pytest.param("[[D]]", "illisible", id="lettre-inconnue"),
        pytest.param("A", "illisible", id="lettre-nue"),
        pytest.param("<think>[[A]]", "illisible", id="reflexion-coupee"),
        pytest.param("[[A]] semble bon</think>[[B]]", "illisible", id="reflexion-sans-debut"),
        pytest.param("<think>[[A]]</think>", "illisible", id="rien-apres-la-reflexion"),
        pytest.param("   \n ", "illisible", id="espaces-seuls"),
    ],
)
def test_strict_rule(reply, verdict):
    assert read_verdict(reply) == verdict


@given(st.text(alphabet="ABCabcé[] \n<think>/", max_size=80))
def test_a_letter_is_always_written_as_a_tag(text):
    """Un verdict rendu est toujours écrit tel quel dans la réponse, et la marque contraire n'est pas à côté."""
    verdict = read_verdict(text)
    assert verdict in {"A", "B", "EGALITE", "illisible"}
    if verdict in {"A", "B"}:
        assert f"[[{verdict}]]" in text


@given(st.text(max_size=80).filter(lambda text: "[[" not in text and "think>" not in text), st.sampled_from("AB"))
def test_a_final_tag_is_read_after_any_rationale(rationale, letter):
    assert read_verdict(f"{rationale}\n[[{letter}]]") == letter


@pytest.mark.parametrize("reply", [3, b"[[A]]", ["[[A]]"], math.nan], ids=["entier", "octets", "liste", "nan"])
def test_read_verdict_refuses_what_is_not_text(reply):
    with pytest.raises(TypeError, match="chaîne"):
        read_verdict(reply)


@pytest.mark.parametrize(
    ("text", "choices", "verdict"),
    [
        pytest.param("A", ("A", "B"), "A", id="A"),
        pytest.param("B", ("A", "B"), "B", id="B"),
        pytest.param("Both", ("A", "B"), "illisible", id="JUG-16-contrainte-ignoree"),
        pytest.param("A.", ("A", "B"), "illisible", id="ponctuation"),
        pytest.param("a", ("A", "B"), "illisible", id="casse"),
        pytest.param("", ("A", "B"), "illisible", id="JUG-08-vide"),
        pytest.param(None, ("A", "B"), "illisible", id="JUG-08-none"),
        pytest.param("INCORRECT", ("CORRECT", "INCORRECT"), "INCORRECT", id="JUG-09"),
        pytest.param('{"match":"false"}', ("true", "false"), "illisible", id="JUG-10"),
        pytest.param("Yes, it is not stated", ("YES", "NO"), "illisible", id="E-08-yes"),
    ],
)
def test_read_choice(text, choices, verdict):
    assert read_choice(text, choices) == verdict


def reply_with(*candidates):
    """Une réponse de même forme que celles du client openai, avec ces premiers jetons candidats."""
    top = [SimpleNamespace(token=token, logprob=logprob) for token, logprob in candidates]
    logprobs = SimpleNamespace(content=[SimpleNamespace(top_logprobs=top)])
    return SimpleNamespace(choices=[SimpleNamespace(logprobs=logprobs)])


def test_choice_logprobs_of_single_tokens():
    values = choice_logprobs(reply_with(("A", math.log(0.75)), ("B", math.log(0.25)), ("C", -9999.0)))
    assert values == pytest.approx({"A": math.log(0.75), "B": math.log(0.25)}, abs=1e-12)


def test_choice_logprobs_sums_the_tokens_that_lead_to_a_choice():
    """« NO » commence par le jeton NO (0,05) ou par N (0,03) : 0,08 en tout ; YES par Y."""
    reply = reply_with(("Y", math.log(0.9)), ("NO", math.log(0.05)), ("N", math.log(0.03)), ("", math.log(0.01)))
    values = choice_logprobs(reply, ("YES", "NO"))
    assert values == pytest.approx({"YES": math.log(0.9), "NO": math.log(0.08)}, abs=1e-12)


def test_choice_logprobs_of_an_absent_choice():
    assert choice_logprobs(reply_with(("A", -0.01)))["B"] == -math.inf
    assert choice_logprobs(reply_with(("A", 0.0), ("B", -9999.0)))["B"] == -math.inf


def test_choice_logprobs_refuses_an_ambiguous_first_token():
    with pytest.raises(ValueError, match="mène à plusieurs choix"):
        choice_logprobs(reply_with(("[[", -0.1)), ("[[A]]", "[[B]]"))


@pytest.mark.parametrize("logprobs", [None, SimpleNamespace(content=None), SimpleNamespace(content=[])])
def test_choice_logprobs_without_logprobs(logprobs):
    reply = SimpleNamespace(choices=[SimpleNamespace(logprobs=logprobs)])
    with pytest.raises(ValueError, match="logprobs=True"):
        choice_logprobs(reply)


def test_pairwise_request_constrained():
    request = pairwise_request("Capitale du Pérou ?", "Lima", "Oslo")
    assert request["extra_body"] == {"structured_outputs": {"choice": ["A", "B"]}}
    assert (request["logprobs"], request["top_logprobs"], request["max_tokens"]) == (True, 5, 1)
    assert request["temperature"] == 0.0
    text = request["messages"][0]["content"]
    assert text.index("Capitale du Pérou ?") < text.index("Lima") < text.index("Oslo")


def test_pairwise_request_swaps_the_texts_only():
    first = pairwise_request("Q ?", "Lima", "Oslo")["messages"][0]["content"]
    second = pairwise_request("Q ?", "Oslo", "Lima")["messages"][0]["content"]
    assert first != second
    assert first.replace("Lima", "·").replace("Oslo", "Lima").replace("·", "Oslo") == second


def test_pairwise_request_free_text():
    request = pairwise_request("Q ?", "un", "deux", 1.2, choices=None, max_tokens=16)
    assert "extra_body" not in request and "logprobs" not in request
    assert (request["temperature"], request["max_tokens"]) == (1.2, 16)


def test_pairwise_request_keeps_braces_of_the_texts():
    """E-27 : des accolades dans une réponse ne sont pas des champs du modèle de texte."""
    assert "{first} {x}" in pairwise_request("Q ?", "{first} {x}", "deux")["messages"][0]["content"]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        pytest.param(("", "a", "b"), ValueError, "« question » est vide", id="question-vide"),
        pytest.param(("q", " \n", "b"), ValueError, "« first » est vide", id="reponse-blanche"),
        pytest.param(("q", "a", None), TypeError, "« second » doit être une chaîne", id="none"),
        pytest.param(("q", ["a"], "b"), TypeError, "« first » doit être une chaîne", id="jetons"),
    ],
)
def test_pairwise_request_bad_input(arguments, error, message):
    with pytest.raises(error, match=message):
        pairwise_request(*arguments)


def test_pairs_have_the_same_shape():
    data = json.loads((DATA / "paires.json").read_text(encoding="utf-8"))
    assert "_lire" in data and len(data["paires"]) == 24
    assert len({pair["question"] for pair in data["paires"]}) == 24
    for pair in data["paires"]:
        assert len(pair["bonne"].split()) == len(pair["mauvaise"].split()), pair["id"]
        assert abs(len(pair["bonne"]) - len(pair["mauvaise"])) <= 2, pair["id"]
        assert set(pair["anglais"]) == {"question", "bonne", "mauvaise"}, pair["id"]


def test_length_pairs_differ_in_length():
    data = json.loads((DATA / "longueurs.json").read_text(encoding="utf-8"))
    assert "_lire" in data and len(data["paires"]) == 12
    for pair in data["paires"]:
        assert len(pair["longue"].split()) >= 8 * len(pair["courte"].split()), pair["id"]


@pytest.mark.parametrize("name", ["paires.json", "longueurs.json"])
def test_data_is_nfc(name):
    text = (DATA / name).read_text(encoding="utf-8")
    assert text == unicodedata.normalize("NFC", text)
