"""ROUGE et BLEU d'un corpus : nos fonctions contre rouge-score et sacreBLEU, mêmes textes, mêmes valeurs.

Les textes sont faits de phrases des leçons, tirées avec une graine ; un candidat partage avec sa référence des phrases
entières, d'autres échangées ou trouées, pour que la plus longue sous-séquence commune ne soit ni nulle ni évidente.

    python bench/textes.py [PAIRES]
"""

import random
import re
import statistics
import sys

import sacrebleu
from rouge_score import rouge_scorer

from course.lessons import derive, find
from helpers.bleu import corpus_bleu
from helpers.rouge import rouge_l, rouge_n
from helpers.tokens import french_words
from mesure import COMPLETE, note, paired

PAIRS = 6000 if COMPLETE else 1500
SHORTEST, LONGEST = 50, 500  # mots par texte
TOLERANCE = 1e-9
ROUGE = {"rougeL": rouge_l, "rouge1": rouge_n, "rouge2": lambda reference, candidate: rouge_n(reference, candidate, 2)}


class FrenchTokenizer:
    """Notre découpe, sous la forme que rouge-score attend."""

    def tokenize(self, text: str) -> list[str]:
        return french_words(text)


def course_sentences() -> list[list[str]]:
    """Phrases des leçons, de cinq à quarante mots, découpées."""
    prose = "\n\n".join(cell.source for text in find() for cell in derive(text).cells if cell.cell_type == "markdown")
    sentences = [french_words(part) for part in re.split(r"[.;:!?]\s|\n\n", prose)]
    return [sentence for sentence in sentences if 5 <= len(sentence) <= 40]


def cut(sentences: list[list[str]], size: int) -> str:
    """Les `size` premiers mots de ces phrases."""
    return " ".join([word for sentence in sentences for word in sentence][:size])


def draw_pair(pool: list[list[str]], rng: random.Random) -> tuple[str, str]:
    """Une référence et un candidat : phrases gardées, remplacées ou échangées, et un mot sur dix ôté."""
    sentences = rng.choices(pool, k=LONGEST // 4)
    others = [sentence if rng.random() < 0.6 else rng.choice(pool) for sentence in sentences]
    for rank in range(0, len(others) - 1, 4):
        others[rank], others[rank + 1] = others[rank + 1], others[rank]
    others = [[word for word in sentence if rng.random() < 0.9] for sentence in others]
    size = rng.randint(SHORTEST, LONGEST)
    return cut(sentences, size), cut(others, min(LONGEST, max(SHORTEST, round(size * rng.uniform(0.6, 1.4)))))


def same_values(ours: list[tuple], theirs: list[tuple]) -> None:
    """Arrête tout si une valeur diffère de plus de TOLERANCE."""
    gap = max(abs(a - b) for left, right in zip(ours, theirs, strict=True) for a, b in zip(left, right, strict=True))
    if not gap < TOLERANCE:
        raise SystemExit(f"Nos valeurs s'écartent de {gap} de celles de la bibliothèque : la mesure ne vaut rien.")


def compare_rouge(metric: str, pairs: list[tuple[str, str]]) -> None:
    """Précision, rappel et F-mesure de chaque paire ; la découpe est comptée des deux côtés."""
    ours = ROUGE[metric]
    library = rouge_scorer.RougeScorer([metric], tokenizer=FrenchTokenizer())

    def our_values() -> list[tuple]:
        scores = [ours(french_words(reference), french_words(candidate)) for reference, candidate in pairs]
        return [(score.precision, score.recall, score.fmeasure) for score in scores]

    def their_values() -> list[tuple]:
        return [tuple(library.score(reference, candidate)[metric]) for reference, candidate in pairs]

    name = metric.replace("rouge", "ROUGE-")
    paired(f"{name}, contre rouge-score ({len(pairs)} paires)", our_values, their_values, same_values)


def compare_bleu(pairs: list[tuple[str, str]]) -> None:
    """BLEU-4 du corpus, textes découpés aux espaces des deux côtés."""
    references, candidates = map(list, zip(*pairs))

    def our_value() -> list[tuple]:
        return [(corpus_bleu([text.split() for text in candidates], [[text.split()] for text in references]).score,)]

    def their_value() -> list[tuple]:
        score = sacrebleu.corpus_bleu(candidates, [references], smooth_method="none", tokenize="none", force=True)
        return [(score.score / 100,)]

    paired(f"BLEU de corpus, contre sacreBLEU ({len(pairs)} paires)", our_value, their_value, same_values)
    note(f"BLEU = {our_value()[0][0]:.4f}")


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else PAIRS
    pool, rng = course_sentences(), random.Random(2)
    pairs = [draw_pair(pool, rng) for _ in range(count)]
    sizes = [len(text.split()) for pair in pairs for text in pair]
    for metric in ROUGE:
        compare_rouge(metric, pairs)
    note(
        f"textes de {min(sizes)} à {max(sizes)} mots, {statistics.mean(sizes):.0f} en moyenne ; "
        f"ROUGE-L moyen : {statistics.mean(rouge_l(r.split(), c.split()).fmeasure for r, c in pairs):.2f}"
    )
    compare_bleu(pairs)


if __name__ == "__main__":
    main()
