# Copie : prend la moyenne ordinaire de la précision et du rappel.
# Reprend : parfaite

# %% rouge_l
def rouge_l(reference, candidate):
    reference_words, candidate_words = french_tokens(reference), french_tokens(candidate)
    common = lcs_length(reference_words, candidate_words)
    if common == 0:
        return 0.0, 0.0, 0.0
    precision, recall = common / len(candidate_words), common / len(reference_words)
    return precision, recall, (precision + recall) / 2
