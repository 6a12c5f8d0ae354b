# Copie : n'emploie pas sa propre découpe.
# Reprend : parfaite

# %% rouge_l
def rouge_l(reference, candidate):
    reference_words, candidate_words = reference.lower().split(), candidate.lower().split()
    common = lcs_length(reference_words, candidate_words)
    if common == 0:
        return 0.0, 0.0, 0.0
    precision, recall = common / len(candidate_words), common / len(reference_words)
    return precision, recall, 2 * precision * recall / (precision + recall)
