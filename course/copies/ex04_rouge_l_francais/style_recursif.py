# Copie : juste, par récurrence avec mémoire ; la découpe remplace les séparateurs par des espaces.

# %% decoupe
from functools import lru_cache


def french_tokens(text):
    composed = unicodedata.normalize("NFC", text.casefold())
    return re.sub(r"\W|_", " ", composed).split()

# %% sous_sequence
def lcs_length(a, b):
    @lru_cache(maxsize=None)
    def longest(i, j):
        if i == 0 or j == 0:
            return 0
        if a[i - 1] == b[j - 1]:
            return 1 + longest(i - 1, j - 1)
        return max(longest(i - 1, j), longest(i, j - 1))

    return longest(len(a), len(b))

# %% rouge_l
from statistics import harmonic_mean


def rouge_l(reference, candidate):
    r, c = french_tokens(reference), french_tokens(candidate)
    scores = [lcs_length(r, c) / len(words) if words else 0.0 for words in (c, r)]
    return (*scores, float(harmonic_mean(scores)))

# %% lecture
# Une sous-séquence commune n'emploie que des mots communs.
lecture = "C"
