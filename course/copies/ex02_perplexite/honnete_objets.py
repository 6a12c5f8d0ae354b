# Copie : juste ; un modèle objet dont les méthodes sont données aux tests, une erreur dérivée de ValueError.
# Étudiant : Zoé d'Été (groupe n° 3)

# %% modele_bigramme
from collections import defaultdict


class Model:
    def __init__(self, tokens):
        self.known = {*tokens, UNK}
        self.rows = defaultdict(Counter)
        for first, second in zip(tokens, tokens[1:]):
            self.rows[first][second] += 1

    def __call__(self, prev, word):
        prev, word = (token if token in self.known else UNK for token in (prev, word))
        return (self.rows[prev][word] + K) / (self.rows[prev].total() + K * len(self.known))

    def perplexity(self, sentence):
        words = sentence.split()
        if len(words) < 2:
            raise TooShort(sentence)
        return math.exp(-sum(math.log(self(*pair)) for pair in zip(words, words[1:])) / (len(words) - 1))


class TooShort(ValueError):
    pass


next_token_prob = Model(TOKENS)

# %% perplexite
perplexity = next_token_prob.perplexity

# %% explication
explication = "D"
