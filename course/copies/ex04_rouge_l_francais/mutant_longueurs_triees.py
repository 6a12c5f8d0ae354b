# Copie : rapporte la précision au texte le plus long, le rappel au plus court.
# Reprend : parfaite

# %% rouge_l
def rouge_l(reference, candidate):
    reference_words, candidate_words = french_tokens(reference), french_tokens(candidate)
    common = lcs_length(reference_words, candidate_words)
    if common == 0:
        return 0.0, 0.0, 0.0
    shortest, longest = sorted((len(reference_words), len(candidate_words)))
    precision, recall = common / longest, common / shortest
    return precision, recall, 2 * precision * recall / (precision + recall)
