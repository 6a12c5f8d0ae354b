"""BLEU : valeurs calculées à la main, publiées, ou rendues par nltk et sacreBLEU. Jamais les nôtres."""

import math
import warnings

import pytest
import sacrebleu
from hypothesis import given
from hypothesis import strategies as st
from nltk.translate import bleu_score as nltk_bleu

from helpers.bleu import (
    brevity_penalty,
    closest_reference_length,
    corpus_bleu,
    geometric_mean,
    modified_precision,
    ngrams,
    sentence_bleu,
    smoothed_precisions,
)
from helpers.tokens import french_words

METHOD1 = nltk_bleu.SmoothingFunction().method1
NLTK_REFERENCES = [
    "It is a guide to action that ensures that the military will forever heed Party commands".split(),
    ("It is the guiding principle which guarantees the military forces always being under the command of the "
     "Party").split(),
    "It is the practical guide for the army always to heed the directions of the party".split(),
]
NLTK_FIRST = "It is a guide to action which ensures that the military always obeys the commands of the party".split()
NLTK_SECOND = "It is to insure the troops forever hearing the activity guidebook that party direct".split()
READ = "he read the book because he was interested in world history".split()
READ_REFERENCE = "he was interested in world history because he read the book".split()

COUNTS = [
    pytest.param("le le le le", ["le chat"], 1, (1, 4), id="S0-05"),
    pytest.param("a b a b", ["a b c", "a b d"], 2, (1, 3), id="V1"),
    pytest.param("le le le le", ["le le chat"], 2, (1, 3), id="V2"),
    pytest.param("a b c d", ["a b x", "y c d"], 2, (2, 3), id="V3"),
    pytest.param("b a", ["a b"], 2, (0, 1), id="V4"),
    pytest.param("chat", ["le chat"], 2, (0, 0), id="V5"),
    pytest.param("", ["le chat"], 2, (0, 0), id="V6"),
    pytest.param("le chat dort", ["le chat dort sur le lit"], 2, (2, 2), id="V7"),
    pytest.param("x y", ["a b", "x y"], 2, (1, 1), id="V8"),
    pytest.param("the the the the the the the", ["the cat is on the mat", "there is a cat on the mat"], 1, (2, 7),
                 id="Papineni-2002-exemple-2"),
]


@pytest.mark.parametrize(("candidate", "references", "n", "expected"), COUNTS)
def test_precision_plafonnee(candidate, references, n, expected):
    """Comptes écrits à la main."""
    assert modified_precision(candidate.split(), [reference.split() for reference in references], n) == expected


@pytest.mark.parametrize(
    ("candidate", "n", "expected"),
    [
        pytest.param(NLTK_FIRST, 1, (17, 18), id="candidat1-unigrammes"),
        pytest.param(NLTK_FIRST, 2, (10, 17), id="candidat1-bigrammes"),
        pytest.param(NLTK_SECOND, 1, (8, 14), id="candidat2-unigrammes"),
        pytest.param(NLTK_SECOND, 2, (1, 13), id="candidat2-bigrammes"),
    ],
)
def test_precisions_publiees(candidate, n, expected):
    """Papineni et al. (2002), section 2.1."""
    assert modified_precision(candidate, NLTK_REFERENCES, n) == expected


def test_ngrams_de_la_main():
    """S0-04 : Counter de tuples, vide quand le texte est trop court."""
    assert ngrams("le chat voit le chat".split(), 2) == {("le", "chat"): 2, ("chat", "voit"): 1, ("voit", "le"): 1}
    assert ngrams(["le"], 2) == {} and ngrams([], 1) == {}


PENALTIES = [
    *[pytest.param(c, 7, value, id=f"S0-11-c{c}")
      for c, value in enumerate((0.0025, 0.0821, 0.2636, 0.4724, 0.6703, 0.8465), start=1)],
    pytest.param(7, 7, 1.0, id="E-12-egalite"),
    pytest.param(8, 7, 1.0, id="plus-long"),
    pytest.param(5, 12, 0.2466, id="BLEU-11-plus-longue"),
    pytest.param(5, 8, 0.5488, id="BLEU-11-moyenne"),
    pytest.param(0, 7, 0.0, id="BLEU-02"),
]


@pytest.mark.parametrize(("candidate_length", "reference_length", "expected"), PENALTIES)
def test_penalite_de_brievete(candidate_length, reference_length, expected):
    """exp(1 - r/c), arrondie à quatre décimales ; BLEU-10 : jamais plus de 1."""
    assert brevity_penalty(candidate_length, reference_length) == pytest.approx(expected, abs=5e-5)


@pytest.mark.parametrize(
    ("length", "references", "expected"),
    [
        pytest.param(5, (12, 4), 4, id="BLEU-11"),
        pytest.param(4, (3, 5), 3, id="BLEU-12"),
        pytest.param(4, (5, 3), 3, id="BLEU-12-inverse"),
        pytest.param(0, (6, 2), 2, id="candidat-vide"),
    ],
)
def test_longueur_de_reference(length, references, expected):
    """La plus proche ; à égalité, la plus courte, quel que soit l'ordre."""
    assert closest_reference_length(["mot"] * length, [["mot"] * count for count in references]) == expected


ENGLISH = ("the cat is on the mat", "the cat sits on the red mat")
FOX = ("un renard roux et vif saute devant le chien", "le renard brun saute par-dessus le chien paresseux")
MARKET = ("elle va au marché tous nos dimanches", "elle va au marché tous les samedis matin")
CAT = ("le chat est sur le tapis", "le chat est assis sur le tapis")
SEVEN = ("le le le le le le le", "le chat est assis sur le tapis")

SCORES = [
    pytest.param(*ENGLISH, 4, "method1", 0.10928032, id="S0-07"),
    pytest.param(*FOX, 4, "method1", 0.060307, id="S0-09"),
    pytest.param(*MARKET, 4, "method1", 0.532946, id="S0-10"),
    pytest.param(*MARKET, 4, "none", 0.532946, id="S0-10-sans-lissage"),
    pytest.param(*ENGLISH, 4, "none", 0.0, id="E-12b-none"),
    pytest.param(*ENGLISH, 2, "none", 0.4887, id="E-10"),
    pytest.param(*CAT, 4, "none", 0.0, id="S3-03"),
    pytest.param(*SEVEN, 4, "none", 0.0, id="S3-04"),
    pytest.param(*CAT, 4, "method1", 0.28764, id="S3-05-bon"),
    pytest.param(*SEVEN, 4, "method1", 0.03928, id="S3-05-mauvais"),
    pytest.param("1 2 3", "1 2 3 4", 4, "none", 0.0, id="BLEU-01"),
    pytest.param("", "le chat", 4, "none", 0.0, id="BLEU-02"),
    pytest.param("", "le chat", 4, "method1", 0.0, id="BLEU-02-lisse"),
    pytest.param("dort chat le", "le chat dort", 2, "none", 0.0, id="BLEU-03"),
    pytest.param("le chat dort", "le chat dort", 4, "none", 0.0, id="BLEU-04"),
    pytest.param("le chat dort", "le chat dort", 4, "method1", 0.5623, id="BLEU-04-lisse"),
    pytest.param("le chat dort", "le chat dort", 2, "none", 1.0, id="BLEU-04-ordre-2"),
    pytest.param("chat", "chat", 2, "method1", math.sqrt(0.1), id="BLEU-05"),
    pytest.param("dort chat le", "le chat dort", 2, "method1", math.sqrt(0.1 / 2), id="BLEU-06"),
    pytest.param("le chat sur le tapis", "le chat est sur le tapis", 2, "none", math.exp(-1 / 5) * math.sqrt(3 / 4),
                 id="BLEU-09"),
    pytest.param("a b c d e", "a b c d e f g", 4, "none", math.exp(1 - 7 / 5), id="BLEU-10"),
    pytest.param("un chien noir court", "le chat est assis sur le tapis", 4, "method1", 0.0, id="E-12-aucun-mot"),
    pytest.param("a b c d e", "a b c d e f g h i j k l", 4, "none", 0.2466, id="E-18-court"),
    pytest.param("a b c d e f g h i j k l " + " ".join(f"x{i}" for i in range(14)), "a b c d e f g h i j k l", 4,
                 "none", 0.4266, id="E-18-long"),
]


@pytest.mark.parametrize(("candidate", "reference", "max_n", "smoothing", "expected"), SCORES)
def test_score_de_phrase(candidate, reference, max_n, smoothing, expected):
    """Valeurs des sources ou de la main, à leur précision."""
    score = sentence_bleu(candidate.split(), [reference.split()], max_n=max_n, smoothing=smoothing).score
    decimals = len(str(expected).split(".")[1])
    assert score == pytest.approx(expected, abs=1e-9 if expected in (0.0, 1.0) else max(1e-9, 0.6 * 10**-decimals))


@pytest.mark.parametrize(
    ("pair", "overlaps", "totals", "penalty"),
    [
        pytest.param(ENGLISH, (5, 2, 0, 0), (6, 5, 4, 3), 0.846482, id="S0-07"),
        pytest.param(FOX, (4, 1, 0, 0), (9, 8, 7, 6), 1.0, id="S0-09"),
        pytest.param(MARKET, (5, 4, 3, 2), (7, 6, 5, 4), 0.866878, id="S0-10"),
        pytest.param(CAT, (6, 4, 2, 0), (6, 5, 4, 3), 0.846482, id="S3-03"),
        pytest.param(SEVEN, (2, 0, 0, 0), (7, 6, 5, 4), 1.0, id="S3-04"),
    ],
)
def test_composantes(pair, overlaps, totals, penalty):
    """Le score voyage avec ses comptes et sa pénalité."""
    score = sentence_bleu(pair[0].split(), [pair[1].split()], smoothing="method1")
    assert (score.overlaps, score.totals) == (overlaps, totals)
    assert score.brevity_penalty == pytest.approx(penalty, abs=5e-7)


@pytest.mark.parametrize(
    ("pair", "exp"), [pytest.param(CAT, 43.01, id="bon"), pytest.param(SEVEN, 7.81, id="mauvais")]
)
def test_valeurs_sacrebleu_citees(pair, exp):
    """S3-05 : les valeurs de sacreBLEU que la leçon cite restent celles de la bibliothèque."""
    assert sacrebleu.corpus_bleu([pair[0]], [[pair[1]]], tokenize="none").score == pytest.approx(exp, abs=5e-3)


@pytest.mark.parametrize(
    ("candidate", "smoothing", "documented"),
    [
        pytest.param(NLTK_FIRST, "none", 0.5045, id="candidat1"),
        pytest.param(NLTK_SECOND, "method1", 0.0370, id="candidat2"),
    ],
)
def test_scores_publies_par_nltk(candidate, smoothing, documented):
    """Documentation de nltk, tronquée à quatre décimales."""
    score = sentence_bleu(candidate, NLTK_REFERENCES, smoothing=smoothing).score
    assert math.floor(score * 1e4) / 1e4 == documented


def test_corpus_publie_par_nltk():
    """Corpus 0,5920…, moyenne des phrases 0,6223… : ce ne sont pas les mêmes nombres."""
    candidates, references = [NLTK_FIRST, READ], [NLTK_REFERENCES, [READ_REFERENCE]]
    corpus = corpus_bleu(candidates, references).score
    mean = sum(sentence_bleu(*pair).score for pair in zip(candidates, references)) / 2
    assert math.floor(corpus * 1e4) / 1e4 == 0.5920
    assert math.floor(mean * 1e4) / 1e4 == 0.6223
    assert corpus == pytest.approx(nltk_bleu.corpus_bleu(references, candidates), abs=1e-9)


def test_corpus_avec_phrase_courte():
    """Une phrase de trois mots : comme sacreBLEU ; nltk y compte un quadrigramme fantôme."""
    candidates = ["le chat est sur le tapis", "le chat dort"]
    references = ["le chat est assis sur le tapis", "le chat dort"]
    ours = corpus_bleu([text.split() for text in candidates], [[text.split()] for text in references],
                       smoothing="method1")
    sacre = sacrebleu.corpus_bleu(candidates, [references], tokenize="none", smooth_method="floor", smooth_value=0.1)
    assert ours.score == pytest.approx(sacre.score / 100, abs=1e-9)
    assert ours.totals == tuple(sacre.totals)


@pytest.mark.parametrize(
    ("candidate", "reference"),
    [
        pytest.param("l'école est fermée aujourd'hui", "l’école est fermée aujourd’hui", id="BLEU-19"),
        pytest.param("l'e\u0301le\u0300ve est alle\u0301 a\u0300 l'e\u0301cole", "l'élève est allé à l'école",
                     id="BLEU-20"),
        pytest.param("quelle journée d'été\u202f!", "quelle journée d'été !", id="BLEU-20-espace"),
        pytest.param("L' élève n' a pas compris aujourd' hui .", "L'élève n'a pas compris aujourd'hui.", id="decoupe"),
    ],
)
def test_pieges_du_francais(candidate, reference):
    """Le même texte, écrit autrement, vaut 1 avec notre découpe."""
    assert sentence_bleu(french_words(candidate), [french_words(reference)]).score == pytest.approx(1.0)


WORDS = st.lists(st.sampled_from("abcd"), max_size=8)
REFERENCES = st.lists(st.lists(st.sampled_from("abcd"), min_size=1, max_size=8), min_size=1, max_size=3)


@given(WORDS, REFERENCES, st.integers(1, 5))
def test_method1_egale_nltk(candidate, references, max_n):
    """Égalité à 1e-9 sur tout couple, bords compris (candidat vide, aucun mot commun, texte trop court)."""
    expected = nltk_bleu.sentence_bleu(references, candidate, weights=(1 / max_n,) * max_n, smoothing_function=METHOD1)
    assert sentence_bleu(candidate, references, max_n, "method1").score == pytest.approx(expected, abs=1e-9)


@given(WORDS, REFERENCES)
def test_sans_lissage_egale_nltk_et_sacrebleu(candidate, references):
    """Vrai zéro là où nltk rend un nombre minuscule ; sacreBLEU « none » sinon."""
    ours = sentence_bleu(candidate, references).score
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert ours == pytest.approx(nltk_bleu.sentence_bleu(references, candidate), abs=1e-9)
    texts = [[" ".join(reference)] for reference in references]
    sacre = sacrebleu.corpus_bleu([" ".join(candidate)], texts, tokenize="none", smooth_method="none").score
    assert ours == pytest.approx(sacre / 100, abs=1e-9)


@given(st.lists(st.tuples(WORDS, st.lists(st.sampled_from("abcd"), min_size=1, max_size=8)), min_size=1, max_size=5))
def test_corpus_egale_sacrebleu(pairs):
    """Corpus sans lissage : sacreBLEU à 1e-9, phrases courtes comprises."""
    ours = corpus_bleu([candidate for candidate, _ in pairs], [[reference] for _, reference in pairs]).score
    sacre = sacrebleu.corpus_bleu([" ".join(candidate) for candidate, _ in pairs],
                                  [[" ".join(reference) for _, reference in pairs]],
                                  tokenize="none", smooth_method="none")
    assert ours == pytest.approx(sacre.score / 100, abs=1e-9)


@given(WORDS, REFERENCES, st.sampled_from(["none", "method1"]))
def test_proprietes(candidate, references, smoothing):
    """S3-02 : dans [0, 1], insensible à l'ordre des références, 1 pour une copie d'au moins quatre mots."""
    score = sentence_bleu(candidate, references, smoothing=smoothing).score
    assert 0 <= score <= 1 + 1e-12
    assert sentence_bleu(candidate, references[::-1], smoothing=smoothing).score == score
    if len(candidate) >= 4:
        assert sentence_bleu(candidate, [*references, candidate], smoothing=smoothing).score == pytest.approx(1.0)


@given(WORDS, REFERENCES, st.integers(1, 4))
def test_plafond(candidate, references, n):
    """Le numérateur ne dépasse ni le total ni le compte de nltk."""
    overlap, total = modified_precision(candidate, references, n)
    assert 0 <= overlap <= total == max(0, len(candidate) - n + 1)
    # nltk rend une fraction non réduite, 0/1 quand il n'y a aucun n-gramme : nous comparons les quotients.
    assert overlap / max(total, 1) == float(nltk_bleu.modified_precision(references, candidate, n))


MISTAKES = [
    pytest.param(lambda: sentence_bleu("le chat dort", [["le", "chat", "dort"]]), TypeError,
                 "candidat : liste de mots attendue, str reçu", id="BLEU-14-candidat"),
    pytest.param(lambda: sentence_bleu(["le", "chat", "dort"], ["le chat dort"]), TypeError,
                 r"l'élément 1 est une chaîne.*\[reference\]", id="BLEU-14-reference"),
    pytest.param(lambda: sentence_bleu(["le", "chat"], ["le", "chat"]), TypeError,
                 r"l'élément 1 est une chaîne.*\[reference\]", id="BLEU-14-sans-liste"),
    pytest.param(lambda: sentence_bleu(["le"], "le chat"), TypeError, "liste de listes", id="references-en-chaine"),
    pytest.param(lambda: sentence_bleu(["le"], [["le"], [1]]), TypeError, "référence 2 : le jeton 1",
                 id="jeton-entier"),
    pytest.param(lambda: sentence_bleu([math.nan], [["le"]]), TypeError, "le jeton nan", id="jeton-nan"),
    pytest.param(lambda: sentence_bleu(["le"], []), ValueError, "références : la liste est vide", id="BLEU-18"),
    pytest.param(lambda: sentence_bleu(["le"], [["le"], []]), ValueError, "référence 2 : elle est vide",
                 id="reference-vide"),
    pytest.param(lambda: sentence_bleu(["le"], [["le"]], max_n=0), ValueError, "max_n : entier", id="ordre-nul"),
    pytest.param(lambda: sentence_bleu(["le"], [["le"]], max_n=2.5), ValueError, "max_n : entier", id="ordre-decimal"),
    pytest.param(lambda: sentence_bleu(["le"], [["le"]], smoothing="doux"), ValueError, "'doux' inconnu", id="lissage"),
    pytest.param(lambda: ngrams(["le"], 0), ValueError, "n : entier", id="ngrams"),
    pytest.param(lambda: brevity_penalty(math.nan, 3), ValueError, "longueurs : nan", id="longueur-nan"),
    pytest.param(lambda: brevity_penalty(-1, 3), ValueError, "longueurs : -1", id="longueur-negative"),
    pytest.param(lambda: geometric_mean([]), ValueError, "aucune valeur", id="moyenne-vide"),
    pytest.param(lambda: smoothed_precisions([1], [1], None), ValueError, "None inconnu", id="lissage-none"),
    pytest.param(lambda: corpus_bleu([], []), ValueError, "0 candidats", id="corpus-vide"),
    pytest.param(lambda: corpus_bleu([["le"]], []), ValueError, "1 candidats et 0", id="corpus-inegal"),
    pytest.param(lambda: corpus_bleu("le chat", [["le"]]), TypeError, "corpus : deux listes", id="corpus-chaine"),
    pytest.param(lambda: corpus_bleu([["le"], ["le"]], [[["le"]], []]), ValueError, "phrase 2 du corpus, références",
                 id="corpus-phrase-nommee"),
]


@pytest.mark.parametrize(("call", "error", "message"), MISTAKES)
def test_entrees_refusees(call, error, message):
    """Une phrase française qui dit la cause et la réparation, après un point-virgule."""
    with pytest.raises(error, match=message) as caught:
        call()
    text = str(caught.value)
    assert "\n" not in text and text.endswith(".")


def test_affichage():
    """Le score s'imprime avec ses composantes et sa signature ; la flèche marque le lissage."""
    text = str(sentence_bleu(ENGLISH[0].split(), [ENGLISH[1].split()], smoothing="method1", tokenization="espaces"))
    assert text == (
        "BLEU-4 = 0.1093 (p1 5/6 = 0.8333 ; p2 2/5 = 0.4000 ; p3 0/4 → 0.0250 ; p4 0/3 → 0.0333 ; BP 0.8465 ; "
        "c = 6, r = 7)\n  [BLEU-4 | lissage : method1 | références : 1 | découpe : espaces]"
    )
