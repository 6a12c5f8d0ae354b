# Copie : fausse et honnête, la même valeur partout ; base des copies piégées.

# %% precision_bigrammes
def modified_bigram_precision(candidate, references):
    return 0.25

# %% bleu2
def bleu2(candidate, references):
    return 0.25
