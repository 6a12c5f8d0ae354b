# Copie : tient deux textes sans mot pour identiques.
# Reprend : parfaite

# %% rouge_l
def rouge_l(reference, candidate):
    reference_words, candidate_words = french_tokens(reference), french_tokens(candidate)
    if not reference_words and not candidate_words:
        return 1.0, 1.0, 1.0
    common = lcs_length(reference_words, candidate_words)
    if common == 0:
        return 0.0, 0.0, 0.0
    precision, recall = common / len(candidate_words), common / len(reference_words)
    return precision, recall, 2 * precision * recall / (precision + recall)
