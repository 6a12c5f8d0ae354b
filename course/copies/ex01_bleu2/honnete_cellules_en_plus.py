# Copie : juste ; fonctions et classe d'appui dans des cellules de plus, essais, erreur laissée dans un brouillon, exit à la fin.
# Reprend : parfaite

# %% ajout
from collections import Counter


class Bigrams(Counter):
    def __init__(self, words):
        super().__init__(zip(words, words[1:]))


total_calls = 0

# %% precision_bigrammes
def modified_bigram_precision(candidate, references):
    global total_calls
    total_calls += 1
    bigrams = Bigrams(candidate)
    if not bigrams:
        return 0.0
    return kept(bigrams, references) / sum(bigrams.values())

# %% ajout precision_bigrammes
def kept(bigrams, references):
    ceiling = Counter()
    for reference in references:
        ceiling |= Bigrams(reference)
    return sum((bigrams & ceiling).values())

# %% ajout precision_bigrammes
%time modified_bigram_precision(["a", "b"], [["a", "b"]])

# %% ajout bleu2
print("essai :", bleu2(["a", "b"], [["a", "b"]]))
1 / 0

# %% ajout bleu2
exit
