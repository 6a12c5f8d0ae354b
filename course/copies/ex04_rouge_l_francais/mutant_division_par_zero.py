# Copie : oublie les textes sans mot, ou sans mot commun.
# Reprend : parfaite

# %% rouge_l
def rouge_l(reference, candidate):
    reference_words, candidate_words = french_tokens(reference), french_tokens(candidate)
    common = lcs_length(reference_words, candidate_words)
    precision, recall = common / len(candidate_words), common / len(reference_words)
    return precision, recall, 2 * precision * recall / (precision + recall)
