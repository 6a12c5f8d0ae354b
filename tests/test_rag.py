"""RAG : fidélité, témoins, rappel des faits et recherche ; valeurs à la main, scikit-learn, propriétés."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import dcg_score, ndcg_score, recall_score, roc_auc_score, roc_curve

from helpers import rag

DATA = json.loads((Path(rag.__file__).parent / "donnees" / "rag.json").read_text(encoding="utf-8"))
DOCUMENTS = [document["texte"] for document in DATA["documents"]]
PROMPT = "{documents}\n{claim}"


# --- Fidélité -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("verdicts", "value"),
    [
        pytest.param([], math.nan, id="RAG-01 aucune affirmation"),
        pytest.param([True, True, False], 2 / 3, id="RAG-05"),
        pytest.param([True], 1.0, id="E-15 « Le télescope Vega est au Chili. »"),
        pytest.param([False], 0.0, id="E-15 « Paris. »"),
        pytest.param([True, True, True, True, True, False], 5 / 6, id="S0-38"),
        pytest.param([True, None], math.nan, id="RAG-08 un verdict manque"),
        pytest.param([None, None], math.nan, id="RAG-08 aucun verdict lu"),
    ],
)
def test_faithfulness(verdicts, value):
    assert rag.faithfulness(verdicts).value == pytest.approx(value, nan_ok=True)


def test_missing_verdicts_give_bounds():
    """Un soutenu, un refusé, un manquant : entre 1/3 et 2/3."""
    score = rag.faithfulness([True, False, None])
    assert score.bounds == pytest.approx((1 / 3, 2 / 3))
    assert "nan" in str(score) and "2/3" in str(score)


def test_no_claim_is_told():
    assert "aucune affirmation" in str(rag.faithfulness([]))


@pytest.mark.parametrize("verdict", ["false", "OUI", 1, 0.5], ids=repr)
def test_a_verdict_is_a_boolean(verdict):
    """bool("false") est vrai : une chaîne n'est jamais un verdict."""
    with pytest.raises(TypeError, match="verdict"):
        rag.faithfulness([verdict])


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        pytest.param([1.0, math.nan], (1.0, 1, 2), id="RAG-02"),
        pytest.param([1.0, 0.5, math.nan, 0.0], (0.5, 3, 4), id="RAG-02 couverture 3/4"),
        pytest.param([math.nan], (math.nan, 0, 1), id="rien de notable"),
        pytest.param([], (math.nan, 0, 0), id="aucune réponse"),
    ],
)
def test_mean_keeps_its_coverage(scores, expected):
    assert rag.mean_with_coverage(scores) == pytest.approx(expected, nan_ok=True)


@given(st.lists(st.sampled_from([True, False, None]), min_size=1))
def test_faithfulness_properties(verdicts):
    """Les bornes encadrent ce que donnerait tout remplissage des verdicts manquants."""
    low, high = rag.faithfulness(verdicts).bounds
    filled = [rag.faithfulness([guess if v is None else v for v in verdicts]).value for guess in (False, True)]
    assert (low, high) == pytest.approx(tuple(filled))
    assert 0 <= low <= high <= 1


def test_the_fields_are_ours():
    """RAG-09 : une mise à jour de Ragas a renommé son champ ; les nôtres ne dépendent d'aucune bibliothèque."""
    assert list(rag.Faithfulness.__dataclass_fields__) == ["supported", "read", "claims"]
    assert "ragas" not in Path(rag.__file__).read_text(encoding="utf-8").split('"""', 2)[2].split("def ", 1)[0]


# --- Interroger le juge -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("OUI", True), (" NON.\n", False), ("Oui, ce n'est pas dit", None), ("OUI ou NON", None), ("oui", None),
        ("", None), (None, None), ("{\"verdict\":", None), ("NON SUPPORTÉ", None),
    ],
    ids=repr,
)  # fmt: skip
def test_read_support(text, verdict):
    assert rag.read_support(text) is verdict


@pytest.mark.parametrize(
    ("replies", "verdict", "reason", "calls"),
    [
        pytest.param(["OUI"], True, "essai 1", 1, id="lu"),
        pytest.param(["{", "NON"], False, "essai 2", 2, id="RAG-08 réparé à la reprise"),
        pytest.param(["{", "Je pense que oui"], None, "illisible", 2, id="RAG-08 illisible deux fois"),
        pytest.param([None, None], None, "pas de réponse", 2, id="RAG-08 sans réponse"),
    ],
)
def test_one_retry_then_a_reason(replies, verdict, reason, calls):
    asked = []

    def ask(claim, documents):
        asked.append(claim)
        return replies[len(asked) - 1]

    found, why = rag.verify_claim("Vega est au Chili.", DOCUMENTS, ask)
    assert found is verdict and reason in why and len(asked) == calls


def test_a_breakdown_is_not_a_verdict():
    def ask(claim, documents):
        raise TimeoutError("délai dépassé")

    with pytest.raises(TimeoutError):
        rag.verify_claim("Vega est au Chili.", DOCUMENTS, ask)


@pytest.mark.parametrize("documents", [[], ["", "  \n"]], ids=["aucun document", "documents vides"])
def test_empty_context(documents):
    """RAG-06 : sans contexte, les affirmations ne sont pas soutenues, et le juge n'est pas interrogé."""
    verdicts = [rag.verify_claim(claim["texte"], documents, None)[0] for claim in DATA["affirmations"]]
    assert rag.faithfulness(verdicts).value == 0.0
    with pytest.raises(ValueError, match="contexte est vide"):
        rag.support_request("Vega est au Chili.", documents, PROMPT, model="m")


def test_support_request():
    request = rag.support_request("Vega {0} est au Chili.", ["Un {document}.", "Deux."], PROMPT, model="m")
    assert request["messages"][0]["content"] == "Un {document}.\nDeux.\nVega {0} est au Chili."
    assert request["extra_body"] == {"structured_outputs": {"choice": ["OUI", "NON"]}}
    assert request["max_tokens"] >= 3 and request["temperature"] == 0
    with pytest.raises(ValueError, match="affirmation est vide"):
        rag.support_request(" ", DOCUMENTS, PROMPT, model="m")


def test_omitted_verdicts_are_none():
    assert rag.align_verdicts(["a est b.", "c est d."], {"c est d.": False}) == [None, False]
    assert rag.align_verdicts([], {}) == []


@pytest.mark.parametrize(
    ("claims", "verdicts", "message"),
    [
        pytest.param(["Vega est optique.", "vega  est optique"], {}, "répétée", id="doublon à la casse près"),
        pytest.param(["Déçu.", "De\u0301c\u0327u."], {}, "répétée", id="doublon NFC et NFD"),
        pytest.param(["a", " … "], {}, "vide", id="affirmation vide"),
        pytest.param(["a"], {"b": True}, "pas été posée", id="verdict en trop"),
    ],
)
def test_claims_are_checked(claims, verdicts, message):
    with pytest.raises(ValueError, match=message):
        rag.align_verdicts(claims, verdicts)


# --- Témoins et ROC -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("verdicts", "sensitivity", "specificity", "unreadable"),
    [
        pytest.param([True] * 12, 1.0, 0.0, 0, id="JUGE-4 toujours OUI"),
        pytest.param([False] * 12, 0.0, 1.0, 0, id="toujours NON"),
        pytest.param([True] * 6 + [False] * 6, 1.0, 1.0, 0, id="parfait"),
        pytest.param([True] * 3 + [False] * 3 + [None] * 6, 0.5, math.nan, 6, id="faux illisibles"),
    ],
)
def test_controls(verdicts, sensitivity, specificity, unreadable):
    found = rag.controls([True] * 6 + [False] * 6, verdicts)
    assert (found.sensitivity, found.specificity) == pytest.approx((sensitivity, specificity), nan_ok=True)
    assert found.unreadable == unreadable


def test_positives_alone_say_nothing_of_specificity():
    """E-17 : six vrais reconnus sur six, et une spécificité indéfinie."""
    assert math.isnan(rag.controls([True] * 6, [True] * 6).specificity)


@pytest.mark.parametrize(
    ("truths", "scores", "area"),
    [
        pytest.param([True, True, False, True, False], [0.9, 0.8, 0.7, 0.4, 0.1], 5 / 6, id="à la main"),
        pytest.param([True, False], [1.0, 1.0], 0.5, id="égalité"),
        pytest.param([True, False], [0.0, 1.0], 0.0, id="à l'envers"),
        pytest.param([False, False, True, True], [0.1, 0.4, 0.35, 0.8], 0.75, id="documentation de scikit-learn"),
    ],
)
def test_area(truths, scores, area):
    assert rag.area_under(rag.roc_points(truths, scores)) == pytest.approx(area)


labelled = st.lists(st.tuples(st.booleans(), st.integers(-5, 5)), min_size=2).filter(
    lambda rows: len({truth for truth, _ in rows}) == 2
)


@given(labelled)
def test_roc_agrees_with_scikit_learn(rows):
    truths, scores = zip(*rows)
    points = rag.roc_points(truths, scores)
    false_rate, true_rate, _ = roc_curve(truths, scores, drop_intermediate=False)
    assert np.allclose([(x, y) for _, x, y in points], list(zip(false_rate, true_rate)), atol=1e-9)
    assert rag.area_under(points) == pytest.approx(roc_auc_score(truths, scores), abs=1e-9)


@given(labelled)
def test_threshold_is_the_best_one(rows):
    """Aucun autre seuil ne fait une plus grande somme sensibilité + spécificité."""
    truths, scores = zip(*rows)

    def total(threshold):
        found = rag.controls(truths, [score >= threshold for score in scores])
        return found.sensitivity + found.specificity

    assert total(rag.best_threshold(truths, scores)) == pytest.approx(max(total(score) for score in scores))


@pytest.mark.parametrize(
    ("function", "arguments", "message"),
    [
        pytest.param(rag.controls, ([True], []), "témoins et 0 verdicts", id="longueurs"),
        pytest.param(rag.roc_points, ([True, False], [1.0]), "2 témoins et 1 scores", id="longueurs, ROC"),
        pytest.param(rag.roc_points, ([True, True], [1.0, 2.0]), "témoins faux", id="une seule sorte"),
        pytest.param(rag.roc_points, ([True, False], [1.0, math.nan]), "nan", id="score nan"),
    ],
)
def test_controls_refuse(function, arguments, message):
    with pytest.raises(ValueError, match=message):
        function(*arguments)


# --- Rappel des faits ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("keywords", "answer", "found"),
    [
        pytest.param(["gaz"], "Un groupe au gazole.", False, id="E-16 gaz dans gazole"),
        pytest.param(["gas"], "It runs on gasoline.", False, id="E-16 gas dans gasoline"),
        pytest.param(["300"], "1300 images", False, id="E-16 300 dans 1300"),
        pytest.param(["300"], "1 300 images", False, id="E-16 300 dans 1 300"),
        pytest.param(["300"], "1\u202f300 images", False, id="E-16 300 dans 1 300 (fine insécable)"),
        pytest.param(["300"], "en 2022 300 images", True, id="une année n'est pas un millier"),
        pytest.param(["2 600"], "à 2600 m", True, id="milliers collés"),
        pytest.param(["hélium"], "L'he\u0301lium refroidit.", True, id="NFD"),
        pytest.param(["Hélium"], "HÉLIUM", True, id="casse"),
        pytest.param(["helium"], "hélium", False, id="accent"),
        pytest.param(["8 mètres"], "8 gros mètres", False, id="d'un bloc"),
        pytest.param(["comète", "Lamia"], "la comète", False, id="tous les mots-clés"),
        pytest.param(["hélium"], "Elle n'est pas refroidie à l'hélium.", True, id="E-16 négation : limite de la règle"),
        pytest.param(["fait"], "", False, id="réponse vide"),
    ],
)
def test_fact_in_answer(keywords, answer, found):
    assert rag.fact_in_answer(keywords, answer) is found


@pytest.mark.parametrize("keywords", [[], [""], ["Vega", "…"]], ids=repr)
def test_a_fact_has_keywords(keywords):
    with pytest.raises(ValueError, match="sans mot-clé"):
        rag.fact_in_answer(keywords, "Vega est au Chili.")


def test_key_facts():
    """S0-42 : [False, True, True], soit 2/3."""
    assert [rag.fact_in_answer(fact, DATA["reponse"]) for fact in DATA["faits_cles"]] == [False, True, True]
    assert rag.fact_recall(DATA["faits_cles"], DATA["reponse"]) == pytest.approx(2 / 3)


def test_the_denominator_decides():
    """E-16 : la même réponse, 5/6 sur la liste complète."""
    assert rag.fact_recall(DATA["faits"], DATA["reponse"]) == pytest.approx(5 / 6)


def test_no_expected_fact():
    """RAG-07 : 0/0."""
    assert math.isnan(rag.fact_recall([], "Vega est au Chili."))


# --- Recherche ----------------------------------------------------------------------------------------------------


def test_hand_cases():
    """5 + 1/log2(3) + 10/log2(6) ; 0,6957 est l'exemple de la documentation de scikit-learn."""
    gains = {"a": 10, "b": 0, "c": 0, "d": 1, "e": 5}
    assert rag.dcg([5, 1, 0, 0, 10]) == pytest.approx(5 + 1 / math.log2(3) + 10 / math.log2(6))
    assert rag.ndcg_at_k(list("edcba"), gains, 5) == pytest.approx(0.69569, abs=1e-5)
    assert [rag.recall_at_k(list("edcba"), gains, k) for k in (1, 2, 5)] == pytest.approx([1 / 3, 2 / 3, 1])


@pytest.mark.parametrize("relevance", [{}, {"a": 0}], ids=["aucun jugement", "rien de pertinent"])
def test_no_relevant_passage(relevance):
    """RAG-07 : 0/0 vaut nan, jamais 0."""
    assert math.isnan(rag.recall_at_k(["a", "b"], relevance, 1))
    assert math.isnan(rag.ndcg_at_k(["a", "b"], relevance, 1))


@given(st.data(), st.lists(st.integers(0, 3), min_size=2, max_size=12))
def test_retrieval_agrees_with_scikit_learn(data, gains):
    k = data.draw(st.integers(1, len(gains)))
    names = [f"p{place}" for place in range(len(gains))]
    relevance = dict(zip(names, gains))
    order = [list(range(len(gains), 0, -1))]
    assert rag.dcg(gains[:k]) == pytest.approx(dcg_score([gains], order, k=k), abs=1e-9)
    if any(gains):
        assert rag.ndcg_at_k(names, relevance, k) == pytest.approx(ndcg_score([gains], order, k=k), abs=1e-9)
        top = [place < k for place in range(len(gains))]
        expected = recall_score([gain > 0 for gain in gains], top)
        assert rag.recall_at_k(names, relevance, k) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    ("ranking", "relevance", "k", "message"),
    [
        pytest.param(["a", "b"], {"a": 1}, 3, "k = 3 pour 2 passages", id="k plus grand que l'index"),
        pytest.param(["a", "b"], {"a": 1}, 0, "k = 0", id="k nul"),
        pytest.param([], {"a": 1}, 1, "k = 1 pour 0", id="index vide"),
        pytest.param(["a", "a"], {"a": 1}, 1, "deux fois", id="doublon"),
    ],
)
def test_rankings_are_checked(ranking, relevance, k, message):
    for measure in (rag.recall_at_k, rag.ndcg_at_k):
        with pytest.raises(ValueError, match=message):
            measure(ranking, relevance, k)


def test_negative_gain():
    with pytest.raises(ValueError, match="négatif"):
        rag.ndcg_at_k(["a"], {"a": -1}, 1)


# --- Les données --------------------------------------------------------------------------------------------------


def test_corpus():
    """S0-36 : 4 documents, 6 affirmations dont 1 piège, 6 faits, 3 faits clés ; 20 témoins de chaque sorte."""
    assert len(DATA["documents"]) == 4
    assert [claim["soutenue"] for claim in DATA["affirmations"]].count(False) == 1 and len(DATA["affirmations"]) == 6
    assert (len(DATA["faits"]), len(DATA["faits_cles"]), len(DATA["controles"])) == (6, 3, 20)
    halves = [pair["moitie"] for pair in DATA["controles"]]
    assert halves.count("étalonnage") == halves.count("test") == 10


def test_data_are_consistent():
    context = " ".join(DOCUMENTS)
    assert rag.fact_recall([pair["mots"] for pair in DATA["controles"]], context) == 1.0
    assert all(claim["phrase"] in DATA["reponse"] for claim in DATA["affirmations"])
    everything = [pair[side] for pair in DATA["controles"] for side in ("vraie", "fausse")]
    assert rag.align_verdicts(everything, {}) == [None] * 40
    passages = {passage["id"] for passage in DATA["recherche"]["passages"]}
    assert all(passages.issuperset(query["pertinence"]) for query in DATA["recherche"]["questions"])
