# Copie : compte les mots communs, sans leur ordre : c'est ROUGE-1.
# Reprend : parfaite

# %% rouge_l
from collections import Counter


def rouge_l(reference, candidate):
    reference_words, candidate_words = french_tokens(reference), french_tokens(candidate)
    common = sum((Counter(reference_words) & Counter(candidate_words)).values())
    if common == 0:
        return 0.0, 0.0, 0.0
    precision, recall = common / len(candidate_words), common / len(reference_words)
    return precision, recall, 2 * precision * recall / (precision + recall)
