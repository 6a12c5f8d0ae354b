# %% [markdown]
# # Leçon 03 · Perplexité : combien de choix reste-t-il au modèle ?
#
# **Objectifs**
# - calculer à la main l'entropie croisée et la perplexité d'une phrase, et dire ce que « nombre effectif de choix » signifie ;
# - construire un modèle bigramme lissé dont les probabilités somment à un, mots inconnus compris ;
# - reconnaître les conventions qui changent le résultat : jetons comptés, vocabulaire, lissage, base du logarithme ;
# - mesurer un vrai modèle sur des phrases françaises, anglaises et mélangées, et le lire en bits par octet.
#
# **Durée** : 75 minutes.
#
# **Prérequis**
# - la [leçon 01](01_bleu.ipynb) pour la notion de n-gramme ;
# - le logarithme et l'exponentielle ; Python : fonctions, listes, `Counter`.

# %% [markdown]
# BLEU et ROUGE comparent deux textes. La perplexité ne compare rien : elle demande à un **modèle de langue** s'il
# s'attendait au texte qu'il lit. Elle ne demande aucune référence, mais elle ne dit rien de l'utilité du texte.
#
# Toutes les importations de la leçon tiennent dans une cellule.

# %%
import json
import math
import random
import statistics
from collections import Counter
from collections.abc import Iterable
from numbers import Real
from pathlib import Path

import matplotlib.pyplot as plt
from nltk.lm import MLE, Laplace, Lidstone
from nltk.lm.preprocessing import padded_everygram_pipeline
from nltk.util import bigrams, everygrams

import helpers
from helpers import judge, plots
from helpers.agreement import wilson_interval
from helpers.judge import MODEL

# %% [markdown]
# ## 1. De la probabilité à la perplexité
#
# Un modèle lit « le chat dort », mot après mot. Au mot qui vient vraiment, il avait donné la probabilité 1/2, puis 1/4,
# puis 1/8. La phrase entière a pour probabilité leur produit. Pour comparer des phrases de longueurs différentes, on ramène
# ce produit à un seul mot : on prend la **moyenne géométrique**, puis son inverse.

# %% couvre="E-06"
first_example = [1 / 2, 1 / 4, 1 / 8]
product = math.prod(first_example)
geometric_mean = product ** (1 / len(first_example))
arithmetic_mean = sum(first_example) / len(first_example)

print(f"produit                            : {product:.6f} = 1/{1 / product:.0f}")
print(f"inverse de la moyenne géométrique  : {1 / geometric_mean:.4f}")
print(f"inverse de la moyenne arithmétique : {1 / arithmetic_mean:.4f}")

# %% [markdown] couvre="E-06"
# **Lecture du résultat.** La phrase a une chance sur 64. Ramenée à un mot, c'est comme si le modèle avait hésité, à chaque
# pas, entre 4 mots également probables : sa perplexité est 4. On lit parfois que la perplexité est « l'inverse de la
# probabilité moyenne ». C'est vrai de la moyenne géométrique seulement : la moyenne arithmétique donnerait 3,43.

# %% [markdown]
# Avec des logarithmes, le produit devient une somme. L'**entropie croisée** $H$ est la surprise moyenne, en nats par jeton ; la
# **perplexité** est son exponentielle :
#
# $$H = -\frac{1}{T}\sum_{t=1}^{T}\ln p(w_t \mid w_1 \dots w_{t-1}) \qquad \mathrm{PPL} = e^{H}
# = \Bigl(\prod_{t=1}^{T} p(w_t \mid w_1 \dots w_{t-1})\Bigr)^{-1/T}$$
#
# $T$ compte les jetons **notés**. La suite montrera qu'il faut toujours dire lesquels.
#
# Les fonctions vérifient d'abord ce qu'elles reçoivent : une liste, non vide, de nombres possibles.

# %%
def check_sequence(values, name):
    if isinstance(values, str) or not isinstance(values, Iterable):
        kind = type(values).__name__
        raise TypeError(f"{name} : une liste est attendue, pas {kind} ; pour un texte, donnez texte.split().")
    values = list(values)
    if not values:
        raise ValueError(f"{name} : la liste est vide, rien à évaluer ; donnez au moins un élément.")
    return values


def log_probability(probability):
    if not isinstance(probability, Real):
        raise TypeError(f"Une probabilité est un nombre, pas {probability!r} ; donnez un nombre entre 0 et 1.")
    # Écrite ainsi, la comparaison refuse aussi NaN, qui n'est comparable à rien.
    if not 0 <= probability <= 1:
        raise ValueError(f"Une probabilité est entre 0 et 1, or on a {probability} ; revoyez le calcul qui la donne.")
    return math.log(probability) if probability > 0 else -math.inf


def check_logprobs(logprobs):
    values = check_sequence(logprobs, "Log-probabilités")
    for value in values:
        if not isinstance(value, Real):
            raise TypeError(f"Une log-probabilité est un nombre, pas {value!r} ; retirez les jetons non notés.")
        if not value <= 0:
            raise ValueError(f"Une log-probabilité est négative ou nulle, or on a {value} ; "
                             "donnez le logarithme de la probabilité, non la probabilité.")
    return values


# %% [markdown]
# Un modèle rend d'ordinaire des log-probabilités. C'est donc sur elles que le calcul se fait ; les deux dernières fonctions
# partent des probabilités.

# %%
def cross_entropy_from_logprobs(logprobs):
    values = check_logprobs(logprobs)
    # « 0.0 - » plutôt que « - » : un modèle parfait a une entropie de 0.0, pas de -0.0.
    return 0.0 - math.fsum(values) / len(values)


def perplexity_from_logprobs(logprobs):
    try:
        return math.exp(cross_entropy_from_logprobs(logprobs))
    except OverflowError:
        return math.inf


def cross_entropy(probabilities):
    return cross_entropy_from_logprobs([log_probability(p) for p in check_sequence(probabilities, "Probabilités")])


def perplexity(probabilities):
    return perplexity_from_logprobs([log_probability(p) for p in check_sequence(probabilities, "Probabilités")])


print(f"premier exemple : H = {cross_entropy(first_example):.6f} nats, PPL = {perplexity(first_example):.4f}")
print(f"à la main       : H = {2 * math.log(2):.6f} nats = 2 ln 2")
long_text = [0.1] * 400
print(f"400 jetons de probabilité 0.1 : produit = {math.prod(long_text)}, PPL = {perplexity(long_text):.4f}")

# %% [markdown]
# **Lecture du résultat.** L'entropie croisée du premier exemple vaut 2 ln 2, soit 1,386 nat par mot, comme à la main. La
# dernière ligne dit pourquoi on additionne des logarithmes : sur 400 jetons, le produit est trop petit pour la
# machine, qui l'arrondit à 0,0, alors que la perplexité, 10, se calcule sans peine.

# %% [markdown]
# Quatre modèles lisent une même phrase de six mots. Le vocabulaire compte six mots. Les deux premiers modèles sont des
# repères ; les probabilités des deux autres sont les nôtres. Les dernières lignes partent d'une **perte** d'entraînement : c'est
# la même entropie croisée, et son exponentielle la rend lisible.

# %% couvre="S3-11 S0-25 S0-20"
models = {
    "parfait": [1, 1, 1, 1, 1, 1],
    "uniforme": [1 / 6] * 6,
    "bon": [0.8, 0.7, 0.6, 0.7, 0.8, 0.6],
    "mauvais": [0.2, 0.1, 0.15, 0.1, 0.2, 0.15],
}
for name, probabilities in models.items():
    print(f"{name:<9} H = {cross_entropy(probabilities):.4f}   PPL = {perplexity(probabilities):.2f}")
print(f"uniforme sur 7 mots : PPL = {perplexity([1 / 7] * 4):.2f}")

for loss in (3.2, 2.4, 2.1):
    print(f"perte d'entraînement {loss:.1f} : PPL = {perplexity_from_logprobs([-loss]):.2f}")

# %% [markdown]
# **Lecture du résultat.** Un modèle certain et juste a une perplexité de 1,00 : il n'hésite jamais. Un modèle uniforme
# hésite entre tous les mots : 6,00 pour six mots, 7,00 pour sept. Le bon modèle, à 1,44, hésite à peine. Le mauvais est à
# 6,93, **au-dessus** du modèle uniforme : il parie sur les mauvais mots. La taille du vocabulaire n'est donc pas un plafond.
#
# Quand la perte passe de 3,2 à 2,4, elle semble baisser de peu. La perplexité, elle, passe de 24,53 à 11,02 : le
# modèle hésite entre deux fois moins de mots. À 2,1, il n'en reste que 8,17.

# %% [markdown]
# Logarithme et exponentielle vont ensemble : base $e$ avec base $e$, base 2 avec base 2. Prenons un modèle uniforme sur
# quatre mots et mélangeons les bases.

# %%
nats, bits = -math.log(1 / 4), -math.log2(1 / 4)
print(f"e puissance nats : {math.exp(nats):.3f}")
print(f"2 puissance bits : {2**bits:.3f}")
print(f"e puissance bits : {math.exp(bits):.3f}   bases mélangées")
print(f"2 puissance nats : {2**nats:.3f}   bases mélangées")

# %% [markdown]
# **Lecture du résultat.** Les deux calculs cohérents donnent 4,000. Mélanger les bases donne 7,389 ou 2,614, sans aucune
# erreur visible. C'est une faute courante : un outil rend des bits, l'autre attend des nats
# (voir [evaluate, ticket 241](https://github.com/huggingface/evaluate/issues/241)).

# %% [markdown]
# Restent les entrées impossibles. Une probabilité **nulle** n'en est pas une : le modèle jugeait ce mot impossible, et la
# perplexité est infinie. Les autres cas reçoivent un message.

# %%
print("probabilité nulle :", perplexity([0.5, 0.0]))
wrong_inputs = {
    "NaN": [0.5, math.nan],
    "hors de [0, 1]": [1.2],
    "liste vide": [],
    "un texte": "0.5",
    "None": [None, 0.5],
}
for label, probabilities in wrong_inputs.items():
    try:
        perplexity(probabilities)
    except (TypeError, ValueError) as error:
        print(f"{label} → {type(error).__name__} : {error}")

# %% [markdown]
# **Lecture du résultat.** L'infini est une réponse, et elle dit vrai. Écarter le mot impossible pour obtenir un nombre fini
# serait noter un autre texte. Pour éviter l'infini honnêtement, on change le modèle : c'est le lissage.

# %% [markdown]
# ## 2. Un modèle bigramme
#
# Un modèle **bigramme** prédit chaque mot d'après le seul mot qui précède. Il s'apprend en comptant. Notre corpus tient
# en deux phrases. Deux marqueurs les encadrent : `<s>` ouvre la phrase, `</s>` la ferme. Une phrase est une **liste de mots** ;
# une petite fonction le vérifie, car un texte passé à sa place se lirait lettre par lettre.

# %%
START, END, UNKNOWN = "<s>", "</s>", "<unk>"


def check_sentence(sentence):
    words = check_sequence(sentence, "Phrase")
    for word in words:
        if not isinstance(word, str):
            raise TypeError(f"Un mot est un texte, pas {word!r} ; donnez la phrase comme une liste de mots.")
    return words


corpus = ["le chat dort".split(), "le chien dort".split()]
counts = Counter()
for words in corpus:
    marked = [START, *check_sentence(words), END]
    counts.update(zip(marked, marked[1:]))
for (prev, word), count in counts.items():
    print(f"{prev:>5} → {word:<5} : {count}")

# %% [markdown]
# Après « le », on a vu une fois « chat » et une fois « chien » : chacun reçoit la probabilité 1/2. « lion », jamais vu,
# reçoit zéro. Le lissage **add-k** ajoute une petite quantité $k$ à chaque compte, pour chacun des $V$ mots du vocabulaire :
#
# $$p(w \mid v) = \frac{c(v, w) + k}{c(v) + kV}$$
#
# où $c(v)$ compte les fois où $v$ est suivi d'un mot. Un mot hors vocabulaire est remplacé par `<unk>`, qui fait
# partie du vocabulaire. Le marqueur `<s>` n'en fait pas partie : on ne le prédit jamais.

# %%
class BigramModel:
    def __init__(self, sentences, k=0.01, unk=True, markers=False, extra_words=()):
        if not (isinstance(k, Real) and 0 <= k < math.inf):
            raise ValueError(f"k vaut {k!r} ; donnez au lissage un nombre fini, positif ou nul.")
        self.k, self.unk, self.markers = k, unk, markers
        self.vocabulary = {UNKNOWN} if unk else set()
        self.vocabulary.update(check_sentence(extra_words) if extra_words else ())
        self.pair_counts, self.context_counts = Counter(), Counter()
        for sentence in check_sequence(sentences, "Corpus"):
            words = self.marked(sentence)
            self.vocabulary.update(words[1:] if markers else words)
            self.pair_counts.update(zip(words, words[1:]))
            self.context_counts.update(words[:-1])

    def marked(self, sentence):
        words = check_sentence(sentence)
        return [START, *words, END] if self.markers else words

    def known(self, word):
        return word if word in self.vocabulary or not self.unk else UNKNOWN

    def next_token_prob(self, prev, word):
        prev, word = check_sentence([prev, word])
        prev = prev if prev in self.context_counts else self.known(prev)
        word = self.known(word)
        total = self.context_counts[prev] + self.k * len(self.vocabulary)
        return (self.pair_counts[prev, word] + self.k) / total if total else 0.0

    def token_probabilities(self, tokens):
        words = self.marked(tokens)
        if len(words) < 2:
            raise ValueError("Une phrase d'un seul mot n'a pas de transition ; donnez deux mots, ou markers=True.")
        return [self.next_token_prob(prev, word) for prev, word in zip(words, words[1:])]

    def perplexity(self, tokens):
        return perplexity(self.token_probabilities(tokens))


# %% [markdown]
# Sans lissage et sans `<unk>`, le modèle rend les fréquences observées.

# %%
observed = BigramModel(corpus, k=0, unk=False, markers=True)
sentence = ["le", "chat", "dort"]
probabilities = observed.token_probabilities(sentence)
print("probabilités   :", probabilities)
print(f"perplexité     : {observed.perplexity(sentence):.6f}")
print(f"à la main      : {2 ** (1 / 4):.6f} = racine quatrième de 2")
print("« chat le »    :", observed.perplexity(["chat", "le"]))

# %% [markdown]
# **Lecture du résultat.** Une seule hésitation, de probabilité 0,5, sur quatre événements : la perplexité est la racine
# quatrième de 2, soit 1,189207. « chat le » commence par une transition jamais vue : perplexité infinie.

# %% [markdown]
# Quatre événements pour trois mots ? On note chaque mot **et** la fin de phrase, mais pas `<s>`, qui est donné d'avance. D'autres
# choix existent. Ils changent le diviseur, donc le résultat.

# %% couvre="E-06"
total = math.fsum(log_probability(p) for p in probabilities)
for events, convention in [
    (4, "trois mots et </s>"),
    (3, "trois mots seulement"),
    (5, "trois mots, <s> et </s>"),
]:
    print(f"N = {events} : {math.exp(-total / events):.6f}   {convention}")
without_markers = BigramModel(corpus, k=0, unk=False)
events = len(without_markers.token_probabilities(sentence))
print(f"N = {events} : {without_markers.perplexity(sentence):.6f}   sans marqueurs, premier mot non noté")

# %% [markdown] couvre="E-06"
# **Lecture du résultat.** Même corpus, même phrase : 1,189207, 1,259921, 1,148698 ou 1,414214. Seuls le premier et le dernier
# calcul divisent par le nombre d'événements réellement notés. Diviser par 3 en gardant le terme de `</s>`, ou par 5 en comptant
# `<s>`, est une faute. Sans marqueurs, le premier mot n'a pas de contexte et n'est pas noté : $T$ vaut alors le nombre de
# mots moins un, ce que la formule ne dit pas.

# %% [markdown]
# Le lissage pose une autre question : que contient le vocabulaire ? Prenons $k = 1$, le lissage de Laplace, et comparons
# avec la bibliothèque NLTK.

# %%
def nltk_model(model, sentences):
    training, vocabulary = padded_everygram_pipeline(2, sentences)
    model.fit(training, vocabulary)
    return model


for unk, extra in [(False, []), (True, []), (True, [START])]:
    smoothed = BigramModel(corpus, k=1, unk=unk, markers=True, extra_words=extra)
    reachable = [word for word in smoothed.vocabulary if word != START]
    total = math.fsum(smoothed.next_token_prob("le", word) for word in reachable)
    size, value = len(smoothed.vocabulary), smoothed.perplexity(sentence)
    print(f"V = {size} : PPL = {value:.6f}, somme après « le » = {total:.4f}")

marked = list(bigrams([START, *sentence, END]))
for name, reference, k in [("MLE", MLE(2), 0), ("Laplace", Laplace(2), 1)]:
    expected = nltk_model(reference, corpus).perplexity(marked)
    ours = BigramModel(corpus, k=k, markers=True, extra_words=[START]).perplexity(sentence)
    close = abs(ours - expected) < 1e-9
    print(f"NLTK {name:<7} (V = {len(reference.vocab)}) : {expected:.6f}, écart sous 1e-9 : {close}")

# %% [markdown]
# **Lecture du résultat.** Cinq mots prévisibles donnent 2,749703 ; `<unk>` en ajoute un et donne 3,158758. NLTK compte aussi `<s>`,
# que rien ne prédit jamais : V = 7 et 3,567621. Nos valeurs concordent avec les siennes à 1e-9 près quand nous suivons sa
# convention. Mais la somme des probabilités utiles tombe alors à 0,8889 : une part de la probabilité va à un mot qui ne peut pas
# venir. Deux perplexités ne se comparent qu'à vocabulaire égal.

# %% [markdown]
# ## 3. Trois phrases, un mot inconnu, et le choix de k
#
# Le corpus suivant, en anglais, compte onze mots, sans marqueurs. Lissons avec $k = 0{,}01$, d'abord **sans** `<unk>`.

# %% couvre="S0-21 S0-22 S0-23 S0-24"
stream = ["the cat sat on the mat the cat ate the fish".split()]
mat = "the cat sat on the mat".split()
fish = "the fish ate the cat on the mat".split()
zebra = "zebra quantum ate banana".split()

without_unk = BigramModel(stream, k=0.01, unk=False)
print("V =", len(without_unk.vocabulary))
for words in (mat, fish, zebra):
    probabilities = without_unk.token_probabilities(words)
    print(" ".join(words))
    print("  probabilités :", " ".join(f"{p:.5f}" for p in probabilities))
    print(f"  H = {cross_entropy(probabilities):.3f}   PPL = {perplexity(probabilities):.6f}")

# %% [markdown]
# **Lecture du résultat.** La phrase vue à l'entraînement est à 1,80. La deuxième, à 4,74, contient surtout des
# transitions connues ; une seule, `cat → on`, tombe à 0,00483. La troisième monte à 17,37, bien au-dessus de V = 7. Il serait
# faux d'en conclure que le modèle est « réduit au hasard » : regardons ses trois transitions.

# %% couvre="E-05 E-07"
pairs = list(zip(zebra, zebra[1:]))
probabilities = without_unk.token_probabilities(zebra)
for (prev, word), p in zip(pairs, probabilities):
    print(f"{prev:>7} → {word:<7} : {p:.5f} = 1/{1 / p:.0f}")
print(f"PPL des deux premières : {perplexity(probabilities[:2]):.2f}")
print(f"PPL des trois          : {perplexity(probabilities):.2f}")
print(f"modèle uniforme        : {perplexity([1 / 7] * 3):.2f}")

without_jump = [p for p in without_unk.token_probabilities(fish) if p > 0.01]
print(f"« the fish… » sans la transition cat → on : {perplexity(without_jump):.2f}")

# %% [markdown] couvre="E-05 E-07"
# **Lecture du résultat.** Après un mot inconnu, le modèle ignore tout : il donne exactement 1/7 à chaque mot, et les deux
# premières transitions ont la perplexité du modèle uniforme, 7,00. Un seul mot, « banana », fait tout l'écart : une chance
# sur 107. La perplexité dépasse la taille du vocabulaire dès que le modèle croit savoir et se trompe. De même, sans
# `cat → on`, la deuxième phrase serait à 2,52 : c'est une transition rare qui la pénalise, non sa grammaire.

# %% [markdown]
# Il y a pire : ces nombres ne viennent pas d'une loi de probabilité. Sommons les probabilités de tous les mots
# qui peuvent suivre « ate ».

# %% couvre="E-06"
known_words = sorted(without_unk.vocabulary)
for label, words in [
    ("les sept mots du corpus", known_words),
    ("… et banana", [*known_words, "banana"]),
    ("… et zebra", [*known_words, "banana", "zebra"]),
]:
    total = math.fsum(without_unk.next_token_prob("ate", word) for word in words)
    print(f"{label:<24} : {total:.4f}")

with_unk = BigramModel(stream, k=0.01)
contexts = [*with_unk.vocabulary, "banana"]
gaps = [
    abs(math.fsum(with_unk.next_token_prob(prev, word) for word in with_unk.vocabulary) - 1) for prev in contexts
]
size = len(with_unk.vocabulary)
print(f"avec <unk>, V = {size}, {len(gaps)} contextes : somme = 1 à 1e-12 près :", max(gaps) < 1e-12)

# %% [markdown]
# Reprenons les trois phrases avec `<unk>`, et vérifions contre NLTK.

# %% couvre="E-06"
reference = Lidstone(0.01, 2)
reference.fit([list(everygrams(stream[0], max_len=2))], stream[0])
print(f"V = {len(with_unk.vocabulary)} chez nous, {len(reference.vocab)} chez NLTK")
for words in (mat, fish, zebra):
    ours, expected = with_unk.perplexity(words), reference.perplexity(list(bigrams(words)))
    close = abs(ours - expected) < 1e-9
    print(f"{' '.join(words):<32} {ours:8.4f}   NLTK {expected:8.4f}   écart sous 1e-9 : {close}")

# %% [markdown] couvre="E-06"
# **Lecture du résultat.** Sans `<unk>`, chaque mot inconnu ajoute sa part : 1,0093 avec « banana », 1,0187 avec « zebra » en plus,
# et ainsi de suite sans fin. Avec `<unk>`, tous les mots inconnus se partagent une seule place, et la somme vaut 1 dans
# les 9 contextes essayés, mot inconnu compris.
#
# Les valeurs correctes sont donc 1,8078, 4,8489 et 19,0488, avec V = 8. NLTK, qui réserve aussi une place à
# `<unk>` et ne compte pas de marqueurs ici, donne les mêmes à 1e-9 près.

# %% [markdown]
# L'exercice `ex02_perplexite` reprend ce modèle, et une quatrième phrase faite de mots connus dans un ordre nouveau. Voici la
# valeur à retrouver, à côté de celle que donnerait l'oubli de `<unk>`.

# %% couvre="S0-45"
novel = "the cat ate the fish on the mat".split()
for label, bigram_model in [("sans <unk>", without_unk), ("avec <unk>", with_unk)]:
    probabilities = bigram_model.token_probabilities(novel)
    h, value, size = cross_entropy(probabilities), perplexity(probabilities), len(bigram_model.vocabulary)
    print(f"{label}, V = {size} : H = {h:.6f}   PPL = {value:.6f}")

# %% [markdown]
# **Lecture du résultat.** La valeur attendue est 2,507906, avec V = 8. Sans `<unk>`, V = 7 et la perplexité descend à 2,4497. Ce
# nombre plus flatteur ne vient d'aucun progrès du modèle, seulement d'un vocabulaire plus petit.

# %% [markdown]
# Reste $k$, que nous avons pris à 0,01 sans raison. Faisons-le varier.

# %% couvre="E-07"
smoothings = [0.001, 0.01, 0.1, 1, 10, 1000]
curves = {}
print("k              " + "".join(f"{k:>9g}" for k in smoothings))
for unk in (False, True):
    print("avec <unk>" if unk else "sans <unk>")
    for words in (mat, fish, zebra):
        name = " ".join(words[:2]) + "…"
        values = [BigramModel(stream, k=k, unk=unk).perplexity(words) for k in smoothings]
        curves[name, unk] = values
        print(f"  {name:<13}" + "".join(f"{value:9.2f}" for value in values))

# %%
figure, axes = plt.subplots()
for style, words in enumerate((mat, fish, zebra)):
    name = " ".join(words[:2]) + "…"
    axes.plot(
        smoothings, curves[name, True], color=plots.COLORS[style],
        marker=plots.MARKERS[style], linestyle=plots.LINESTYLES[style], label=f"« {' '.join(words)} »",
    )
axes.axhline(8, color="0.3", linewidth=1)
axes.text(1000, 8.4, "modèle uniforme, V = 8", ha="right", va="bottom")
axes.set(xscale="log", yscale="log", xlabel="lissage k", ylabel="perplexité")
axes.set_yticks([1, 2, 4, 8, 16, 32], labels=["1", "2", "4", "8", "16", "32"])
axes.minorticks_off()
axes.legend(fontsize=9)
plots.show(
    figure,
    alt="Perplexité de trois phrases selon le lissage k, de 0,001 à 1000, échelles logarithmiques : "
    "la phrase inconnue descend depuis 40, la phrase du corpus monte depuis 1,75, la troisième descend un peu "
    "puis remonte, et toutes rejoignent 8, la taille du vocabulaire.",
)

# %% [markdown]
# *Figure 1. Perplexité des trois phrases selon le lissage k, avec `<unk>`. La ligne horizontale est le modèle uniforme.*

# %% [markdown] couvre="E-07"
# **Lecture du résultat.** Sans `<unk>`, les trois phrases sont à 1,75, 6,43 et 36,68 pour k = 0,001, mais à 4,29, 5,26 et 7,32
# pour k = 1. L'ordre tient, l'écart non : il est surtout fabriqué par $k$. Quand $k$ grandit, les comptes ne pèsent
# plus rien et toutes les phrases rejoignent 8,00, le modèle uniforme. Un $k$ se choisit sur un corpus de
# validation, jamais sur les phrases que l'on compare, et il s'écrit à côté du score.

# %% [markdown]
# ## 4. Comparer des découpes différentes : les bits par octet
#
# La perplexité est un nombre **par jeton**. Changer de jetons la change. Supposons deux modèles qui trouvent
# « le chat dort » exactement aussi probable : l'un lit trois mots, l'autre douze caractères.
#
# Les **bits par octet** rapportent l'information totale à une longueur qui ne dépend d'aucune découpe, celle du texte en
# UTF-8 :
#
# $$\mathrm{BPB} = \frac{-\sum_t \ln p(w_t \mid w_1 \dots w_{t-1})}{\ln 2 \times \text{nombre d'octets}}$$

# %% couvre="S3-12"
def bits_per_byte(logprobs, text):
    values = check_logprobs(logprobs)
    if not isinstance(text, str):
        raise TypeError(f"Le texte doit être une chaîne, pas {type(text).__name__} ; donnez le texte d'origine.")
    if not text:
        raise ValueError("Le texte est vide, aucun octet à compter ; donnez le texte que les jetons composent.")
    return (0.0 - math.fsum(values)) / math.log(2) / len(text.encode("utf-8"))


text = "le chat dort"
total = -9 * math.log(2)  # les deux modèles donnent à la phrase une chance sur 512
for label, pieces in [("mots", text.split()), ("caractères", list(text))]:
    logprobs = [total / len(pieces)] * len(pieces)
    print(
        f"{len(pieces):>2} {label:<10} : PPL = {perplexity_from_logprobs(logprobs):.4f}, "
        f"bits par octet = {bits_per_byte(logprobs, text):.4f}"
    )
print("« été » :", len("été"), "caractères,", len("été".encode("utf-8")), "octets")

# %% [markdown]
# **Lecture du résultat.** Par mots, la perplexité est 8 ; par caractères, 1,68. Le second modèle n'est pas meilleur : il
# dit la même chose en plus de morceaux. Les bits par octet, 0,75 dans les deux cas, le montrent. Deux perplexités ne se
# comparent donc qu'avec la même découpe et le même corpus. Une réserve pour le français : « été » a 3
# caractères mais 5 octets. D'une langue à l'autre, l'octet n'est pas non plus une unité neutre.

# %% [markdown]
# ## 5. La perplexité d'un vrai modèle
#
# Passons au modèle qui servira de juge dans la [leçon 04](04_juge_llm.ipynb) : SmolLM2-135M-Instruct, servi par vLLM. Sa
# fiche dit qu'il comprend et produit **surtout de l'anglais**. Nous lui donnons vingt phrases françaises,
# leur traduction anglaise, et les mêmes phrases françaises aux mots mélangés. Toutes sont écrites par les auteurs du cours.

# %%
folder = Path(helpers.__file__).parent / "donnees"
data = json.loads((folder / "phrases.json").read_text(encoding="utf-8"))
groups = {
    "français": [item["francais"] for item in data["phrases"]],
    "mélangé": [item["melange"] for item in data["phrases"]],
    "anglais": [item["anglais"] for item in data["phrases"]],
}
for name, texts in groups.items():
    size = sum(len(text.encode()) for text in texts)
    print(f"{name:<9} {len(texts)} phrases, {size} octets, ex. : {texts[7]}")

# Le mélange garde les mots, le point et la majuscule initiale ; la graine est écrite dans le fichier.
first, second = (sorted(groups[name][7].lower().removesuffix(".").split()) for name in ("français", "mélangé"))
print("mêmes mots dans les deux phrases :", first == second)

# %% [markdown]
# Une seule requête suffit par phrase. On demande à vLLM la log-probabilité des jetons **du texte envoyé**
# (`prompt_logprobs`) ; le jeton qu'il doit produire en plus est ignoré.

# %%
def scoring_request(text, *, model=MODEL):
    if not isinstance(text, str):
        raise TypeError(f"Le texte doit être une chaîne, pas {type(text).__name__} ; donnez une phrase entière.")
    if not text:
        raise ValueError("Le texte est vide, rien à noter ; donnez au moins un mot.")
    return {
        "model": model,
        "prompt": text,
        "max_tokens": 1,
        "temperature": 0,
        "extra_body": {"prompt_logprobs": 0},
    }


def token_logprobs(reply):
    entries = getattr(reply.choices[0], "prompt_logprobs", None)
    if not entries:
        raise ValueError("La réponse n'a pas de prompt_logprobs ; interrogez vLLM avec scoring_request.")
    # Avec prompt_logprobs à 0, chaque position ne porte qu'un jeton : celui du texte.
    return [entry and next(iter(entry.values()))["logprob"] for entry in entries]


# %% [markdown]
# Le premier jeton n'a pas de contexte : le modèle ne le note pas. Or le mélange change justement le premier mot. Pour noter
# **tous** les mots, nous plaçons devant chaque phrase `<|endoftext|>`, qui sépare les documents pendant l'entraînement de ce
# modèle : il joue le rôle de `<s>`. Avec certains modèles, un autre marqueur change la perplexité de plusieurs ordres
# de grandeur ([lm-evaluation-harness, ticket 1586](https://github.com/EleutherAI/lm-evaluation-harness/issues/1586)).

# %%
BEGIN = "<|endoftext|>"
client = judge.client("03_perplexite")
scores = {}
for name, texts in groups.items():
    replies = judge.ask_all(client.completions.create, [scoring_request(BEGIN + text) for text in texts])
    # Le None de tête est celui du marqueur : il reste la note de chaque jeton de la phrase.
    scores[name] = [token_logprobs(reply)[1:] for reply in replies]
    if name == "français":
        example = replies[7].choices[0].prompt_logprobs[1:]
print(judge.source(client))

# %% [markdown]
# Regardons d'abord une phrase de près. Pour chaque jeton, la surprise en bits, et le rang que le modèle lui donnait.

# %%
for entry in example:
    (token,) = entry.values()
    surprise = -token["logprob"] / math.log(2)
    print(f"{token['decoded_token']!r:<9} {surprise:5.2f} bits   rang {token['rank']:>5}")
print(f"PPL = {perplexity_from_logprobs(scores['français'][7]):.2f} sur {len(scores['français'][7])} jetons")

# %% [markdown]
# **Lecture du résultat.** Le modèle ne lit pas des mots mais 19 morceaux : « noir » en fait deux, « fenêtre » trois. Un premier
# morceau peut coûter cher et les suivants presque rien : 9,47 bits pour « fen », puis 0,33 et 0,03. Ou l'inverse : « d » coûte 8,11 bits
# et « ort » 14,34. Le mot « chat » est le plus surprenant, avec 22,50 bits, au rang 6970 : après « Un », en
# tête d'un document, ce modèle n'attend guère du français. La perplexité, 241,53, est une moyenne **par morceau** : elle dépend de la découpe autant que du texte.

# %% [markdown]
# Maintenant les trois groupes. La perplexité d'un groupe est celle de tous ses jetons mis bout à bout : faire la moyenne
# des perplexités donnerait trop de poids à quelques phrases. La dernière colonne est l'information totale d'une
# phrase : les traductions disent la même chose, et leurs bits se comparent directement.

# %%
def total_bits(logprobs):
    return -math.fsum(logprobs) / math.log(2)


print("groupe     jetons  jetons/mot    PPL  PPL médiane  moyenne des PPL  bits/octet  bits/phrase")
for name, texts in groups.items():
    tokens = [logprob for logprobs in scores[name] for logprob in logprobs]
    each = [perplexity_from_logprobs(logprobs) for logprobs in scores[name]]
    size = sum(len(text.split()) for text in texts)
    print(
        f"{name:<9} {len(tokens):>7} {len(tokens) / size:>11.2f} {perplexity_from_logprobs(tokens):>6.1f} "
        f"{statistics.median(each):>12.1f} {statistics.mean(each):>16.1f} "
        f"{bits_per_byte(tokens, ''.join(texts)):>11.3f} {total_bits(tokens) / len(texts):>12.1f}"
    )
print(f"signature : jetons de {MODEL} | marqueur {BEGIN} non noté | point final noté | texte NFC")

# %% [markdown]
# **Lecture du résultat.** Mélanger les mots fait passer la perplexité de 160,2 à 738,4 et les bits par octet de 2,441 à 3,193. Le
# modèle, qui sait surtout l'anglais, tire donc bien parti de l'ordre des mots français. L'anglais reste bien plus facile
# pour lui : perplexité 78,9, et 68,4 bits pour dire ce qui en demande 141,4 en français.
#
# La colonne des jetons explique la prudence. Le français est coupé en 1,94 jeton par mot, l'anglais en 1,12 : leurs perplexités
# n'ont pas la même unité. Et la moyenne des perplexités, 265,4 en français, dépasse de loin la perplexité du groupe : quelques
# phrases difficiles l'emportent.

# %% [markdown]
# Une moyenne peut cacher des exceptions. Comparons donc **par paires** : la phrase et son mélange ont les mêmes mots, le même
# nombre d'octets, et ne diffèrent que par l'ordre. On compte les paires où la phrase d'origine a la perplexité la plus
# basse, avec un intervalle de Wilson.

# %%
def paired_count(low, high):
    successes = sum(a < b for a, b in zip(low, high))
    bottom, top = wilson_interval(successes, len(low))
    return f"{successes}/{len(low)}, intervalle à 95 % [{bottom:.3f}, {top:.3f}]"


ppl = {name: [perplexity_from_logprobs(logprobs) for logprobs in scores[name]] for name in groups}
bits = {name: [total_bits(logprobs) for logprobs in scores[name]] for name in groups}
print("perplexité : origine < mélange   ", paired_count(ppl["français"], ppl["mélangé"]))
print("bits       : origine < mélange   ", paired_count(bits["français"], bits["mélangé"]))
print("perplexité : anglais < français  ", paired_count(ppl["anglais"], ppl["français"]))
print("bits       : anglais < français  ", paired_count(bits["anglais"], bits["français"]))
ratios = sorted(mixed / original for original, mixed in zip(ppl["français"], ppl["mélangé"]))
middle = statistics.median(ratios)
print(f"le mélange multiplie la perplexité par {ratios[0]:.1f} à {ratios[-1]:.1f}, {middle:.1f} en médiane")

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 4.2), width_ratios=[1.1, 1])
left.scatter(ppl["français"], ppl["mélangé"], color=plots.COLORS[0], marker=plots.MARKERS[0])
left.plot([30, 8000], [30, 8000], color="0.3", linestyle="--", linewidth=1)
left.text(2200, 1500, "égalité", rotation=40, ha="center", va="center")
left.set(xscale="log", yscale="log", xlabel="perplexité de la phrase d'origine", ylabel="perplexité de son mélange")

jitter = random.Random(0)
for rank, name in enumerate(groups):
    values = [bits_per_byte(logprobs, text) for logprobs, text in zip(scores[name], groups[name])]
    places = [rank + jitter.uniform(-0.12, 0.12) for _ in values]
    right.scatter(places, values, color=plots.COLORS[rank], marker=plots.MARKERS[rank])
    middle = statistics.median(values)
    right.hlines(middle, rank - 0.3, rank + 0.3, color="0.2")
    print(f"{name:<9} bits par octet : min {min(values):.2f}, médiane {middle:.2f}, max {max(values):.2f}")
right.set(ylabel="bits par octet", ylim=(0, None))
right.set_xticks(range(len(groups)), labels=list(groups))
plots.show(
    figure,
    alt="Deux graphiques. À gauche, la perplexité de chaque phrase française et celle de son mélange : "
    "les vingt points sont au-dessus de la diagonale. À droite, les bits par octet : l'anglais est le plus bas, "
    "autour de 1,3, puis le français, autour de 2,4, puis le mélange, autour de 3,2.",
)

# %% [markdown]
# *Figure 2. À gauche, chaque point est une phrase : au-dessus de la diagonale, le mélange est plus surprenant que
# l'original. À droite, les bits par octet de chaque phrase ; le trait est la médiane du groupe.*

# %% [markdown]
# **Lecture du résultat.** L'original bat son mélange dans 20 paires sur 20, en perplexité comme en bits : l'intervalle va de 0,839 à
# 1,000. L'effet va de 1,6 à 14,3 fois la perplexité, 4,3 en médiane. Vingt phrases simples, écrites par les mêmes personnes et
# mélangées une seule fois, ne permettent pas d'en dire plus.
#
# Entre les langues, les deux mesures se contredisent. En bits, l'anglais est plus facile dans 20 paires sur 20 ; en
# perplexité, dans 17 seulement. Pour trois phrases, la perplexité par jeton classe le français devant, alors que
# le modèle y dépense plus d'information : c'est la découpe qui parle, comme avec nos mots et nos caractères.

# %% [markdown]
# Ces nombres dépendent-ils de notre marqueur ? Posons les mêmes phrases après un simple retour à la ligne.

# %%
BREAK = "\n"
scores_break = {}
for name, texts in groups.items():
    replies = judge.ask_all(client.completions.create, [scoring_request(BREAK + text) for text in texts])
    scores_break[name] = [token_logprobs(reply)[1:] for reply in replies]

for label, results in [(BEGIN, scores), ("retour à la ligne", scores_break)]:
    print(f"{label} :")
    for name in groups:
        tokens = [logprob for logprobs in results[name] for logprob in logprobs]
        value, size = perplexity_from_logprobs(tokens), bits_per_byte(tokens, "".join(groups[name]))
        print(f"  {name:<9} {len(tokens)} jetons, PPL = {value:5.1f}, bits par octet = {size:.3f}")
    french, mixed = ([total_bits(logprobs) for logprobs in results[name]] for name in ("français", "mélangé"))
    print("  bits : origine < mélange", paired_count(french, mixed))

# %% [markdown]
# **Lecture du résultat.** Un seul caractère en tête, et le français passe de 160,2 à 119,9 quand l'anglais monte de 78,9 à 96,4. Les
# jetons notés sont les mêmes. L'ordre des trois groupes tient, et l'original bat encore son mélange 20 fois sur 20 ;
# mais l'écart entre les deux langues fond. Ici, le sens de la comparaison résiste à la convention ; la valeur, non.
# C'est pourquoi la signature accompagne le score.

# %% [markdown]
# Enfin, une expérience sur ce que la perplexité **ne** mesure **pas**. Répétons cinq fois la même phrase : le texte devient inutile.

# %% couvre="S3-12"
once = groups["français"][7]
repeated = " ".join([once] * 5)
reply = client.completions.create(**scoring_request(BEGIN + repeated))
repeated_logprobs = token_logprobs(reply)[1:]
for label, text, logprobs in [
    ("une fois", once, scores["français"][7]),
    ("cinq fois", repeated, repeated_logprobs),
]:
    value, size = perplexity_from_logprobs(logprobs), bits_per_byte(logprobs, text)
    print(f"{label:<10} PPL = {value:7.2f}   bits par octet = {size:.3f}")
length = len(scores["français"][7])
print(f"jetons : {length} une fois, {len(repeated_logprobs)} cinq fois")
print(f"dernière répétition seule : PPL = {perplexity_from_logprobs(repeated_logprobs[-length:]):.2f}")
print(judge.source(client))

# %% [markdown]
# **Lecture du résultat.** La perplexité tombe de 241,53 à 3,69, et de 2,785 à 0,653 bit par octet. La dernière répétition,
# seule, est à 1,19 : le modèle la récite. Un texte qui radote est donc, pour lui, bien plus « probable » qu'une phrase
# correcte. Une perplexité basse ne dit ni l'utilité, ni la vérité, ni la qualité d'un texte. Pour juger cela, il faut d'autres
# mesures : c'est l'objet de la [leçon 04](04_juge_llm.ipynb).

# %% [markdown]
# ## À retenir
#
# - La perplexité est l'exponentielle de la surprise moyenne : l'inverse de la **moyenne géométrique** des probabilités, un
#   nombre effectif de choix.
# - Elle vaut un pour un modèle parfait, la taille du vocabulaire pour un modèle uniforme, et **n'a pas de plafond** : un modèle sûr de
#   lui et qui se trompe fait pire que le hasard.
# - Une perplexité se donne avec ses conventions : jetons notés, marqueurs, vocabulaire et `<unk>`, lissage, base du logarithme.
# - Avant de lire une perplexité, on vérifie que les probabilités somment à un.
# - D'une découpe à l'autre, on compare des bits par octet ; d'une langue à l'autre, des bits par phrase traduite.
# - Une perplexité basse dit « texte attendu ». Elle ne dit ni vrai, ni utile, ni bien écrit.

# %% [markdown]
# ## Questions
#
# **1.** Un modèle annonce une perplexité de 12 sur un vocabulaire de 10 mots. Est-ce forcément une erreur de calcul ?
#
# <details><summary>Réponse</summary>
#
# Non. Le vocabulaire ne borne pas la perplexité. Il suffit que le modèle donne, en moyenne géométrique, moins de 1/10 aux mots qui
# viennent : il est sûr de lui et se trompe. On vérifie tout de même que ses probabilités somment à un.
#
# </details>
#
# **2.** Deux modèles ont des jetons différents. Le premier a une perplexité de 15, le second de 30. Lequel prédit le mieux le
# texte ?
#
# <details><summary>Réponse</summary>
#
# On ne peut pas le dire. Si le second découpe le texte en deux fois moins de jetons, il peut lui donner une
# probabilité totale plus grande. Il faut comparer les bits par octet sur le même texte.
#
# </details>
#
# **3.** Un programme remplace les probabilités nulles par un, « pour éviter l'infini ». Que devient la perplexité ?
#
# <details><summary>Réponse</summary>
#
# Elle baisse : le mot que le modèle jugeait impossible compte comme parfaitement prédit. Plus le modèle se trompe, meilleur
# est son score. L'infini était la bonne réponse ; pour un nombre fini, on lisse le modèle.
#
# </details>

# %% [markdown]
# ## Pour aller plus loin
#
# - L'exercice `ex02_perplexite` : écrire son propre modèle bigramme, puis expliquer pourquoi une phrase nouvelle est plus ou
#   moins probable.
# - La [leçon 04](04_juge_llm.ipynb) lit le même modèle de deux façons : par le verdict qu'il écrit, et par la probabilité qu'il donne
#   à chaque réponse.
# - Un texte plus long que la fenêtre du modèle se note par fenêtres qui se recouvrent : le pas choisi change la perplexité, et doit
#   être écrit avec elle.

# %% [markdown]
# ## Sources
#
# - Jelinek, Mercer, Bahl et Baker, [Perplexity, a measure of the difficulty of speech recognition tasks (1977)](https://doi.org/10.1121/1.2016299) :
#   la définition, et pourquoi la taille du vocabulaire ne mesure pas la difficulté.
# - Jurafsky et Martin, [Speech and Language Processing, chapitre 3](https://web.stanford.edu/~jurafsky/slp3/) : modèles n-grammes,
#   lissage, mots inconnus.
# - Gao et al., [The Pile, section 3.1 (2020)](https://arxiv.org/abs/2101.00027) : les bits par octet UTF-8.
# - Ben Allal et al., [SmolLM2 (2025)](https://arxiv.org/abs/2502.02737) : le modèle mesuré ici.
# - Heafield, [KenLM, ticket 181](https://github.com/kpu/kenlm/issues/181) : pourquoi `<s>` ne se compte pas.
