"""ROUGE : valeurs calculées à la main, publiées, ou rendues par rouge-score et RapidFuzz. Jamais les nôtres."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import LCSseq
from rouge_score import rouge_scorer

from helpers.bleu import sentence_bleu
from helpers.rouge import check_sentences, f_measure, lcs_length, lcs_positions, lcs_table, rouge_l, rouge_lsum, rouge_n
from helpers.tokens import ascii_words, french_words, sentence_tokens

CAT = ("le chat dort sur le canapé", "le chat est allongé sur le canapé bleu")
NEWS = "Le conseil municipal a voté hier soir la rénovation complète du marché."
SHORT = "Le conseil municipal a voté."
VERBOSE = "Après de longs débats, le conseil municipal a voté un budget assez important dimanche."
MOVED = "Hier, le conseil municipal a tout reporté."
LONG = ("Le conseil municipal a voté hier soir la rénovation complète du marché : les travaux commenceront sans doute "
        "au printemps prochain si aucun recours ne surgit avant.")
POLICE = "police killed the gunman"

SCORES = [
    pytest.param("rouge1", *CAT, 5 / 8, 5 / 6, 0.7143, id="S3-08-rouge1"),
    pytest.param("rouge2", *CAT, 3 / 7, 3 / 5, 0.5, id="S3-08-rouge2"),
    pytest.param("rougeL", *CAT, 5 / 8, 5 / 6, 0.7143, id="S3-08-rougeL"),
    pytest.param("rouge1", NEWS, SHORT, 1.0, 5 / 12, 0.5882, id="S0-17-rouge1"),
    pytest.param("rougeL", NEWS, SHORT, 1.0, 5 / 12, 0.5882, id="S0-17-rougeL"),
    pytest.param("rouge1", NEWS, VERBOSE, 5 / 14, 5 / 12, 0.3846, id="S0-18-rouge1"),
    pytest.param("rougeL", NEWS, VERBOSE, 5 / 14, 5 / 12, 0.3846, id="S0-18-rougeL"),
    pytest.param("rouge1", NEWS, MOVED, 5 / 7, 5 / 12, 0.5263, id="S0-19-rouge1"),
    pytest.param("rougeL", NEWS, MOVED, 4 / 7, 4 / 12, 0.4211, id="S0-19-rougeL"),
    pytest.param("rouge1", NEWS, LONG, 12 / 26, 1.0, 0.6316, id="E-01"),
    pytest.param("rougeL", POLICE, "police kill the gunman", 0.75, 0.75, 0.75, id="Lin-2004-S2"),
    pytest.param("rougeL", POLICE, "the gunman kill police", 0.5, 0.5, 0.5, id="Lin-2004-S3"),
    pytest.param("rougeL", POLICE, "the gunman police killed", 0.5, 0.5, 0.5, id="Lin-2004-S4"),
    pytest.param("rouge1", "le chat", "le chat dort", 2 / 3, 1.0, 0.8, id="ROU-06"),
    pytest.param("rouge1", "le chat dort", "le chat", 1.0, 2 / 3, 0.8, id="ROU-06-inverse"),
    pytest.param("rouge1", "le chat", "", 0.0, 0.0, 0.0, id="ROU-03-vide"),
    pytest.param("rougeL", "le chat", ".", 0.0, 0.0, 0.0, id="ROU-03-point"),
    pytest.param("rouge1", "", "", 0.0, 0.0, 0.0, id="ROU-04"),
    pytest.param("rougeL", "", "", 0.0, 0.0, 0.0, id="ROU-04-rougeL"),
    pytest.param("rougeLsum", "", "", 0.0, 0.0, 0.0, id="ROU-04-rougeLsum"),
    pytest.param("rouge2", "chat", "chat", 0.0, 0.0, 0.0, id="aucun-bigramme"),
    pytest.param("rouge1", "le le", "le le le le", 0.5, 1.0, 0.6667, id="plafond"),
    pytest.param("rougeL", "Un deux.\nTrois quatre.", "Trois quatre.\nUn deux.", 0.5, 0.5, 0.5,
                 id="phrases-permutees-L"),
    pytest.param("rougeLsum", "Un deux.\nTrois quatre.", "Trois quatre.\nUn deux.", 1.0, 1.0, 1.0,
                 id="phrases-permutees-Lsum"),
    pytest.param("rougeLsum", "w1 w2 w3 w4 w5", "w1 w2 w6 w7 w8\nw1 w3 w8 w9 w5", 4 / 10, 4 / 5, 0.5333,
                 id="Lin-2004-3.2"),
    # Deux lignes « a » dans la référence, une seule dans le candidat : un mot ne sert qu'une fois.
    pytest.param("rougeLsum", "a\na", "a", 1.0, 0.5, 0.6667, id="Lsum-plafond"),
    # Valeurs de rouge-score : l'autre départage, aussi long, donnerait 1/3 et 1/2.
    pytest.param("rougeLsum", "a a", "a b\na", 2 / 3, 1.0, 0.8, id="Lsum-departage"),
]


def score_of(metric, reference, candidate, cut=french_words):
    """Notre score pour un nom de métrique de rouge-score."""
    if metric == "rougeLsum":
        return rouge_lsum(sentence_tokens(reference, cut), sentence_tokens(candidate, cut))
    if metric == "rougeL":
        return rouge_l(cut(reference), cut(candidate))
    return rouge_n(cut(reference), cut(candidate), int(metric[-1]))


@pytest.mark.parametrize(("metric", "reference", "candidate", "precision", "recall", "fmeasure"), SCORES)
def test_scores(metric, reference, candidate, precision, recall, fmeasure):
    """Précision et rappel écrits à la main, F1 des sources à quatre décimales."""
    score = score_of(metric, reference, candidate)
    assert (score.precision, score.recall) == pytest.approx((precision, recall), abs=1e-12)
    assert score.fmeasure == pytest.approx(fmeasure, abs=5e-5)


ACCENTS = [
    pytest.param("pêche", "pâche", 1.0, 0.0, id="peche-pache"),
    pytest.param("il a mangé", "il a mang", 1.0, 2 / 3, id="mange-mang"),
    pytest.param("la pêche", "le péché", 1 / 3, 0.0, id="peche-peche"),
    pytest.param("l'élève a été reçu", "l'eleve a ete recu", 1 / 3, 0.4, id="sans-accents"),
    pytest.param("à", "à", 0.0, 1.0, id="mot-accentue"),
    pytest.param("l’été", "l'e\u0301te\u0301", None, 1.0, id="apostrophe-et-NFD"),
]


@pytest.mark.parametrize(("reference", "candidate", "ascii_value", "french_value"), ACCENTS)
def test_le_piege_des_accents(reference, candidate, ascii_value, french_value):
    """ROU-01 : valeurs relevées avec la découpe par défaut, et valeurs voulues."""
    assert score_of("rouge1", reference, candidate).fmeasure == pytest.approx(french_value, abs=5e-4)
    if ascii_value is not None:
        assert score_of("rouge1", reference, candidate, ascii_words).fmeasure == pytest.approx(ascii_value, abs=5e-4)
        default = rouge_scorer.RougeScorer(["rouge1"]).score(reference, candidate)["rouge1"]
        assert default.fmeasure == pytest.approx(ascii_value, abs=5e-4)


@pytest.mark.parametrize(
    ("beta", "short", "long"),
    [pytest.param(0.5, 0.78125, 0.51724, id="0.5"), pytest.param(1, 0.58824, 0.63158, id="1"),
     pytest.param(2, 0.47170, 0.81081, id="2")],
)
def test_beta(beta, short, long):
    """F_β à la main : (1 + β²)PR / (R + β²P), pour P = 1, R = 5/12 et P = 6/13, R = 1."""
    assert f_measure(1, 5 / 12, beta) == pytest.approx(short, abs=1e-5)
    assert f_measure(6 / 13, 1, beta) == pytest.approx(long, abs=1e-5)
    assert rouge_n(french_words(NEWS), french_words(SHORT), beta=beta).fmeasure == pytest.approx(short, abs=1e-5)


def test_court_et_long_en_bleu():
    """E-18 : le résumé court a le plus petit BLEU, contre l'idée reçue."""
    short, long = (sentence_bleu(french_words(text), [french_words(NEWS)]).score for text in (SHORT, LONG))
    assert (short, long) == pytest.approx((0.2466, 0.4266), abs=5e-5)


def test_table_et_positions():
    """Petite table remplie à la main."""
    assert lcs_table(["a", "b"], ["b", "a"]) == [[0, 0, 0], [0, 0, 1], [0, 1, 1]]
    assert lcs_positions("w1 w2 w3 w4 w5".split(), "w1 w3 w8 w9 w5".split()) == [0, 2, 4]


SERIES = [f"m{rank}" for rank in range(1500)]
LENGTHS = [
    pytest.param([], [], 0, id="deux-vides"),
    pytest.param([], ["a"], 0, id="premier-vide"),
    pytest.param(["a"], [], 0, id="second-vide"),
    pytest.param(["a"], ["a"], 1, id="un-mot"),
    pytest.param(["a"], ["b"], 0, id="disjoints"),
    pytest.param(list("abcbdab"), list("bdcaba"), 4, id="Cormen-et-al"),
    pytest.param(list("GCTAT"), list("CGATTA"), 3, id="Allison-Dix-1986"),
    pytest.param(list("aaaa"), list("aa"), 2, id="mot-repete"),
    pytest.param(list("abab"), list("baba"), 3, id="mots-repetes"),
    pytest.param(("a", "b"), ("b", "a"), 1, id="tuples"),
    # Autour d'un mot machine de 64 bits, puis au-delà de mille mots.
    *[pytest.param(SERIES[:size], SERIES[:size], size, id=f"identiques-{size}") for size in (63, 64, 65, 128, 1500)],
    *[pytest.param(["a"] * size, ["a"] * 1200, size, id=f"mot-repete-{size}") for size in (64, 65, 1100)],
    pytest.param(SERIES, SERIES[::-1], 1, id="inverse-1500"),
    pytest.param(SERIES, SERIES[::2], 750, id="un-mot-sur-deux"),
    pytest.param(SERIES, SERIES[700:] + SERIES[:700], 800, id="moities-echangees"),
    pytest.param(SERIES[:1100], SERIES[1100:], 0, id="disjoints-longs"),
]


@pytest.mark.parametrize(("first", "second", "expected"), LENGTHS)
def test_longueur(first, second, expected):
    """Longueurs connues d'avance, dans les deux ordres."""
    assert lcs_length(first, second) == lcs_length(second, first) == expected


def texts_of_words(words, most):
    """Textes d'au plus `most` mots."""
    return st.lists(st.sampled_from(words), max_size=most)


@given(st.one_of(st.tuples(texts_of_words("ab", 12), texts_of_words("abc", 12)),
                 st.tuples(texts_of_words("abcdé", 150), texts_of_words("abcdf", 150)),
                 st.tuples(texts_of_words(SERIES[:200], 300), texts_of_words(SERIES[:200], 300))))
def test_longueur_egale_rapidfuzz(texts):
    """Mêmes longueurs que RapidFuzz, textes courts ou de plusieurs mots machine."""
    assert lcs_length(*texts) == LCSseq.similarity(*texts)


@pytest.mark.parametrize("size", [500, 2000])
def test_longueur_egale_rapidfuzz_sur_de_longs_textes(size):
    """Textes longs, aux mots très inégalement fréquents, comme ceux d'une langue."""
    rng = random.Random(size)
    first, second = (rng.choices(SERIES, weights=[1 / rank for rank in range(1, 1501)], k=size) for _ in range(2))
    length = LCSseq.similarity(first, second)
    assert lcs_length(first, second) == length and 0 < length < size


class FrenchTokenizer:
    """Notre découpe sous la forme que rouge-score attend."""

    def tokenize(self, text):
        return french_words(text)


METRICS = ["rouge1", "rouge2", "rouge3", "rougeL", "rougeLsum"]
LIBRARY = {
    ascii_words: rouge_scorer.RougeScorer(METRICS),
    french_words: rouge_scorer.RougeScorer(METRICS, tokenizer=FrenchTokenizer()),
}
TEXTS = st.one_of(st.text(alphabet="aéb ’'.\n", max_size=40), st.text(alphabet="ab \n", max_size=20))


@pytest.mark.parametrize("cut", [ascii_words, french_words])
@given(reference=TEXTS, candidate=TEXTS)
def test_egale_rouge_score(cut, reference, candidate):
    """Égalité à 1e-9, sa découpe ou la nôtre, textes vides et lignes vides compris."""
    theirs = LIBRARY[cut].score(reference, candidate)
    for metric in METRICS:
        ours = score_of(metric, reference, candidate, cut)
        assert (ours.precision, ours.recall, ours.fmeasure) == pytest.approx(tuple(theirs[metric]), abs=1e-9), metric


WORDS = st.lists(st.sampled_from("abcd"), max_size=8)


@given(WORDS, WORDS)
def test_proprietes(reference, candidate):
    """Dans [0, 1] ; ROUGE-L ≤ ROUGE-1 ; échanger les textes échange P et R ; une copie non vide vaut 1."""
    one, longest = rouge_n(reference, candidate), rouge_l(reference, candidate)
    for score in (one, longest):
        assert 0 <= score.precision <= 1 and 0 <= score.recall <= 1 and 0 <= score.fmeasure <= 1
    assert longest.fmeasure <= one.fmeasure + 1e-12
    swapped = rouge_l(candidate, reference)
    assert (swapped.precision, swapped.recall) == (longest.recall, longest.precision)
    if reference:
        assert rouge_l(reference, reference).fmeasure == rouge_n(reference, reference).fmeasure == 1.0


@given(WORDS, WORDS)
def test_positions_de_la_sous_sequence(reference, candidate):
    """Les positions sont croissantes, de la bonne longueur, et leurs mots se lisent dans l'ordre dans le candidat."""
    positions = lcs_positions(reference, candidate)
    assert positions == sorted(set(positions)) and len(positions) == lcs_length(reference, candidate)
    remaining = iter(candidate)
    assert all(reference[position] in remaining for position in positions)


MISTAKES = [
    pytest.param(lambda: rouge_n("le chat", ["le"]), TypeError, "^référence : liste de mots attendue",
                 id="reference-chaine"),
    pytest.param(lambda: rouge_n(["le"], "le chat"), TypeError, "^candidat : liste de mots attendue",
                 id="candidat-chaine"),
    pytest.param(lambda: rouge_n([["le", "chat"]], ["le"]), TypeError, "^référence : le jeton",
                 id="references-multiples"),
    pytest.param(lambda: rouge_l("le chat", ["le"]), TypeError, "^référence : liste de mots attendue",
                 id="rougeL-chaine"),
    pytest.param(lambda: rouge_l(["le"], [math.nan]), TypeError, "^candidat : le jeton nan", id="rougeL-nan"),
    pytest.param(lambda: lcs_length("abc", ["a"]), TypeError, "^premier texte : liste", id="lcs-chaine"),
    pytest.param(lambda: rouge_lsum("le chat", [["le"]]), TypeError, "^référence : liste de phrases", id="lsum-chaine"),
    pytest.param(lambda: rouge_lsum([["le"]], [["le"], "le chat"]), TypeError, "^candidat, phrase 2 : liste",
                 id="lsum-phrase"),
    pytest.param(lambda: check_sentences(None, "candidat"), TypeError, "^candidat : liste de phrases",
                 id="phrases-rien"),
    pytest.param(lambda: rouge_n(["le"], ["le"], n=0), ValueError, "^n : entier", id="ordre-nul"),
    *[pytest.param(lambda beta=beta: f_measure(0.5, 0.5, beta), ValueError, "^β : nombre fini", id=f"beta-{beta}")
      for beta in (0, -1, math.nan, math.inf)],
]


@pytest.mark.parametrize(("call", "error", "message"), MISTAKES)
def test_entrees_refusees(call, error, message):
    """Une phrase française : la cause, puis la réparation."""
    with pytest.raises(error, match=message) as caught:
        call()
    text = str(caught.value)
    assert "\n" not in text and " ; " in text


def test_affichage():
    """Le score s'imprime avec ses comptes, son β et sa signature."""
    assert str(rouge_l(CAT[0].split(), CAT[1].split(), tokenization="espaces")) == (
        "ROUGE-L : précision 5/8 = 0.6250 ; rappel 5/6 = 0.8333 ; F1 = 0.7143\n  [ROUGE-L | β : 1 | découpe : espaces]"
    )
