# Copie : juste, avec des boucles, une table entière et des fractions de comptes ; aucune expression régulière.

# %% decoupe
def french_tokens(text):
    words, word = [], ""
    for character in unicodedata.normalize("NFC", text) + " ":
        if character.isalnum():
            word += character.lower()
        elif word:
            words.append(word)
            word = ""
    return words

# %% sous_sequence
def lcs_length(a, b):
    table = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            if a[i - 1] == b[j - 1]:
                table[i][j] = table[i - 1][j - 1] + 1
            else:
                table[i][j] = max(table[i - 1][j], table[i][j - 1])
    return table[len(a)][len(b)]

# %% rouge_l
def rouge_l(reference, candidate):
    r, c = french_tokens(reference), french_tokens(candidate)
    common = lcs_length(r, c)
    if not r or not c or not common:
        return (0.0, 0.0, 0.0)
    # 2PR / (P + R) se simplifie : deux fois le commun, sur la somme des longueurs.
    return (common / len(c), common / len(r), 2 * common / (len(r) + len(c)))

# %% lecture
lecture = "C"
