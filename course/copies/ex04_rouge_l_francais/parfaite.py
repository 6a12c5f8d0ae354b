# Copie : juste, dans le style du corrigé.

# %% decoupe
def french_tokens(text):
    text = unicodedata.normalize("NFC", text).lower()
    return re.findall(r"[^\W_]+", text)

# %% sous_sequence
def lcs_length(a, b):
    previous = [0] * (len(b) + 1)
    for left in a:
        current = [0]
        for j, right in enumerate(b):
            current.append(previous[j] + 1 if left == right else max(previous[j + 1], current[j]))
        previous = current
    return previous[-1]

# %% rouge_l
def rouge_l(reference, candidate):
    reference_words, candidate_words = french_tokens(reference), french_tokens(candidate)
    common = lcs_length(reference_words, candidate_words)
    if common == 0:
        return 0.0, 0.0, 0.0
    precision, recall = common / len(candidate_words), common / len(reference_words)
    return precision, recall, 2 * precision * recall / (precision + recall)

# %% lecture
lecture = "C"
