# %% [markdown]
# # Leçon 01 · BLEU : compter ce qu'un texte partage avec sa référence
#
# **Objectifs**
#
# - compter des n-grammes et calculer une précision plafonnée, à la main puis en Python ;
# - assembler BLEU : précisions, pénalité de brièveté, moyenne géométrique, lissage ;
# - retrouver les valeurs de nltk, de sacreBLEU et des articles, et expliquer les cas où elles diffèrent ;
# - éviter les pièges du français : apostrophes, accents décomposés, découpe ;
# - lire un score avec ses composantes et sa signature, jamais seul.
#
# **Durée** : une heure et demie.
#
# **Prérequis** : Python (listes, dictionnaires, fonctions) ; la moyenne et le logarithme. Aucun accès au réseau.

# %% [markdown] couvre="S0-01"
# ## 1. Trois familles d'outils, un réflexe
#
# Un modèle écrit un texte. Est-il bon ? Trois familles d'outils répondent, chacune à sa question.
#
# | famille | question posée | leçons |
# |---|---|---|
# | métriques lexicales | le texte ressemble-t-il, mot à mot, à une référence humaine ? | celle-ci et [02](02_rouge.ipynb) |
# | perplexité | le texte est-il probable pour un modèle de langue ? | [03](03_perplexite.ipynb) |
# | juge LLM | un autre modèle le préfère-t-il ? | [04](04_juge_llm.ipynb) |
#
# Une application réelle, comme un assistant qui répond d'après des documents, emploie les trois.
#
# Le réflexe commun : aucun pourcentage ne se lit seul. « 40 % de préférence » ne dit rien sans le nombre d'essais,
# « 100 % » non plus. Commençons par là.

# %%
import math
import platform
import re
import unicodedata
import warnings
from collections import Counter
from dataclasses import dataclass, field

import matplotlib.pyplot as plt
import sacrebleu
from nltk.translate import bleu_score as nltk_bleu

from helpers import plots
from helpers.agreement import wilson_interval

# %% couvre="S0-02"
for successes, total in ((6, 6), (60, 60), (600, 600)):
    low, high = wilson_interval(successes, total)
    print(f"{successes:3d} réussites sur {total:3d} : 100 % observés, intervalle à 95 % [{low:.3f} ; {high:.3f}]")

# %% [markdown]
# **Lecture du résultat.** Six réussites sur 6 font 100 %, mais le taux réel peut n'être que de 0,610. Il faut 600 essais
# pour que l'intervalle à 95 % remonte à 0,994. La [leçon 04](04_juge_llm.ipynb) construit cet intervalle, dit de Wilson ;
# retenons ici le geste : à côté du score, le nombre d'essais.

# %% [markdown]
# ## 2. Compter des n-grammes
#
# BLEU compare deux textes déjà découpés en mots : le *candidat*, écrit par la machine, et une *référence*, écrite par une
# personne. Un n-gramme est une suite de n mots voisins. Dans « le chat dort », il y a trois mots, deux bigrammes
# (« le chat », « chat dort ») et un trigramme.
#
# Les deux fonctions suivantes vérifient l'entrée, puis une troisième compte. La vérification n'est pas une coquetterie :
# une chaîne est aussi une suite, et Python compterait ses *lettres* sans rien dire.

# %%
def check_tokens(tokens: list[str], name: str) -> None:
    """Vérifie que `tokens` est une liste (ou un tuple) de chaînes ; `name` sert au message."""
    if not isinstance(tokens, (list, tuple)):
        raise TypeError(f"{name} : liste de mots attendue, {type(tokens).__name__} reçu ; découpez d'abord le texte, "
                        "par exemple avec french_words(texte).")
    for token in tokens:
        if not isinstance(token, str):
            raise TypeError(f"{name} : le jeton {token!r} n'est pas une chaîne ; convertissez chaque jeton avec str.")


def check_order(n: int, name: str) -> None:
    """Vérifie qu'un ordre de n-grammes est un entier d'au moins 1."""
    if not isinstance(n, int) or n < 1:
        raise ValueError(f"{name} : entier d'au moins 1 attendu, {n!r} reçu ; donnez un ordre usuel, de 1 à 4.")


def ngrams(tokens: list[str], n: int) -> Counter:
    """Compte les n-grammes de `tokens` : Counter de tuples de n mots, vide si le texte a moins de n mots."""
    check_tokens(tokens, "jetons")
    check_order(n, "n")
    return Counter(tuple(tokens[i:i + n]) for i in range(len(tokens) - n + 1))

# %% couvre="S0-04"
tokens = "le chat voit le chat".split()
for n in (1, 2, 3):
    counts = ngrams(tokens, n)
    print(f"n = {n} : {counts.total()} n-grammes, {len(counts)} différents")
    for gram, count in counts.items():
        print(f"    {' '.join(gram):15s} × {count}")

# %% [markdown]
# **Lecture du résultat.** Pour n = 1, les 5 mots n'en font que 3 différents : « le » et « chat » comptent 2 fois.
# Un texte de 5 mots contient 4 bigrammes et 3 trigrammes : un de moins à chaque ordre.

# %% [markdown]
# ## 3. La précision plafonnée
#
# Première idée : la part des mots du candidat qui figurent dans la référence. Elle se trompe facilement. Pour la référence
# « le chat », le candidat « le le le le » aurait quatre mots justes sur quatre.
#
# BLEU plafonne : chaque n-gramme du candidat compte *au plus autant de fois que dans la référence*. « le » n'y figure qu'une
# fois, donc un seul des quatre compte. S'il y a plusieurs références, le plafond est le plus haut des leurs. En formule, avec
# $C$ les comptes du candidat et $R_j$ ceux de la référence $j$ :
#
# $$p_n = \frac{\sum_g \min\bigl(C(g), \max_j R_j(g)\bigr)}{\sum_g C(g)}$$
#
# La fonction rend le numérateur et le dénominateur, non leur quotient : nous en aurons besoin pour additionner.

# %%
def check_references(references: list[list[str]]) -> None:
    """Vérifie que `references` est une liste non vide de listes de mots non vides."""
    if not isinstance(references, (list, tuple)):
        raise TypeError(f"références : liste de listes de mots attendue, {type(references).__name__} reçu ; "
                        "écrivez [reference] même quand il n'y en a qu'une.")
    if not references:
        raise ValueError("références : la liste est vide ; donnez au moins une référence par candidat.")
    for number, reference in enumerate(references, start=1):
        if isinstance(reference, str):
            raise TypeError(f"références : l'élément {number} est une chaîne, pas une liste de mots ; découpez chaque "
                            "référence et écrivez [reference] même quand il n'y en a qu'une.")
        check_tokens(reference, f"référence {number}")
        if not reference:
            raise ValueError(f"référence {number} : elle est vide, rien à comparer ; ôtez-la ou remplissez-la.")


def modified_precision(candidate: list[str], references: list[list[str]], n: int) -> tuple[int, int]:
    """Précision plafonnée d'ordre n : (n-grammes communs, n-grammes du candidat)."""
    check_tokens(candidate, "candidat")
    check_references(references)
    counts = ngrams(candidate, n)
    ceiling = Counter()
    for reference in references:
        ceiling |= ngrams(reference, n)
    overlap = sum((counts & ceiling).values())
    return overlap, sum(counts.values())

# %% couvre="S0-05"
def naive_precision(candidate, reference, n):
    """Précision sans plafond : ce qu'il ne faut pas faire."""
    known = ngrams(reference, n)
    return sum(count for gram, count in ngrams(candidate, n).items() if gram in known), ngrams(candidate, n).total()


print("candidat / référence                        sans plafond   plafonnée")
for candidate_text, reference_text in (
    ("le le le le", "le chat"),
    ("le le le le le le le", "le chat est assis sur le tapis"),
    ("le chat est sur le tapis", "le chat est assis sur le tapis"),
):
    candidate, reference = candidate_text.split(), reference_text.split()
    naive, clipped = naive_precision(candidate, reference, 1), modified_precision(candidate, [reference], 1)
    print(f"{candidate_text} / {reference_text}")
    print(f"{'':44s}{naive[0]:8d}/{naive[1]}{clipped[0]:10d}/{clipped[1]}")

# %% [markdown]
# **Lecture du résultat.** Sans plafond, répéter « le » donne 4 sur 4, puis 7 sur 7 : la note parfaite. Le plafond ramène ces
# candidats à 1/4 et à 2/7. La phrase honnête garde ses 6 mots sur 6.

# %% [markdown]
# L'exemple des sept mots identiques vient de l'article fondateur, qui trouve lui aussi deux septièmes pour « the » répété sept
# fois. Gardons ces deux candidats français pour toute la suite, et regardons les quatre ordres.

# %% couvre="S3-03 S3-04"
reference = "le chat est assis sur le tapis".split()
good = "le chat est sur le tapis".split()
bad = ["le"] * 7

for name, candidate in (("bon", good), ("mauvais", bad)):
    print(f"{name} : « {' '.join(candidate)} »")
    for n in range(1, 5):
        overlap, total = modified_precision(candidate, [reference], n)
        print(f"    p{n} = {overlap}/{total} = {overlap / total:.4f}")

# %% [markdown]
# **Lecture du résultat.** Le bon candidat partage 6 mots sur 6, puis 4 bigrammes sur 5, 2 trigrammes sur 4, et aucun des 3
# quadrigrammes : le mot « assis », absent, coupe toute suite de quatre mots. Le mauvais n'a que 2 mots sur 7 (0,2857), et rien
# au-delà. Les ordres élevés punissent le désordre.

# %% [markdown]
# ## 4. La pénalité de brièveté
#
# Une précision se triche aussi par le silence : le candidat « le » a une précision parfaite. BLEU ne mesure pas le rappel ; il
# multiplie par une pénalité dès que le candidat (longueur $c$) n'est pas plus long que la référence (longueur $r$) :
#
# $$\mathrm{BP} = \begin{cases} 1 & \text{si } c > r \\ e^{\,1 - r/c} & \text{si } c \le r \end{cases}$$
#
# Avec plusieurs références, $r$ est la longueur la plus proche de $c$ ; à égale distance, la plus courte.

# %%
def closest_reference_length(candidate: list[str], references: list[list[str]]) -> int:
    """Longueur en mots de la référence la plus proche du candidat ; à égale distance, la plus courte."""
    check_tokens(candidate, "candidat")
    check_references(references)
    lengths = [len(reference) for reference in references]
    return min(lengths, key=lambda length: (abs(length - len(candidate)), length))


def brevity_penalty(candidate_length: int, reference_length: int) -> float:
    """Pénalité de brièveté, entre 0 et 1 : 1 si c > r, exp(1 - r/c) sinon, 0 si le candidat est vide."""
    if not (candidate_length >= 0 and reference_length >= 0):
        raise ValueError(f"longueurs : {candidate_length!r} et {reference_length!r} reçus ; "
                         "donnez deux nombres de mots, positifs ou nuls.")
    if candidate_length == 0:
        return 0.0
    if candidate_length > reference_length:
        return 1.0
    return math.exp(1 - reference_length / candidate_length)

# %% couvre="S0-11 S3-02"
lengths = list(range(1, 11))
penalties = [brevity_penalty(c, 7) for c in lengths]
for c, penalty in zip(lengths, penalties):
    print(f"c = {c:2d}, r = 7 : BP = {penalty:.4f}")

fig, ax = plt.subplots()
ax.plot(lengths, penalties, marker=plots.MARKERS[0], color=plots.COLORS[0])
ax.axvline(7, color=plots.COLORS[1], linestyle=plots.LINESTYLES[1])
ax.annotate("longueur de la référence", (7, 0.15), xytext=(7.2, 0.15))
ax.set(xlabel="longueur du candidat (mots)", ylabel="pénalité de brièveté", ylim=(0, 1.05), xticks=lengths)
plots.show(fig, alt="Courbe de la pénalité de brièveté pour une référence de sept mots : presque nulle pour "
           "un candidat d'un mot, elle monte jusqu'à un pour sept mots, puis reste à un.")

# %% [markdown]
# *Figure 1. Pénalité de brièveté selon la longueur du candidat, pour une référence de sept mots. Le trait vertical marque la
# longueur de la référence.*

# %% [markdown] couvre="E-12"
# **Lecture du résultat.** À 6 mots sur 7, la pénalité est douce : 0,8465. À 3 mots elle ne laisse que 0,2636, à 1 mot presque
# rien (0,0025). À partir de c = 7 elle vaut 1,0000 : écrire « c > r » ou « c ≥ r » ne change aucun nombre, car à
# longueurs égales l'exponentielle vaut déjà un. Cette pénalité
# ne punit pas un candidat trop long : les précisions s'en chargent, car leur dénominateur grandit.

# %% [markdown]
# ## 5. Assembler : la moyenne géométrique
#
# BLEU multiplie la pénalité par la moyenne géométrique des précisions d'ordre un à $N$, d'ordinaire quatre :
#
# $$\mathrm{BLEU}\text{-}N = \mathrm{BP} \times \Bigl(\prod_{n=1}^{N} p_n\Bigr)^{1/N}
# = \mathrm{BP} \times \exp\Bigl(\frac1N \sum_{n=1}^{N} \ln p_n\Bigr)$$
#
# La moyenne géométrique est sévère : un seul zéro annule tout. De là vient le lissage, que la section suivante explique ;
# les fonctions le prévoient déjà.

# %%
# Compte fictif donné à un ordre sans n-gramme commun.
EPSILON = 0.1


def smoothed_precisions(overlaps: list[int], totals: list[int], smoothing: str) -> list[float]:
    """Précisions d'ordre 1 à N, entre 0 et 1, sans lissage (« none ») ou lissées (« method1 »)."""
    if smoothing == "none":
        return [overlap / total if total else 0.0 for overlap, total in zip(overlaps, totals)]
    if smoothing == "method1":
        return [(overlap or EPSILON) / max(total, 1) for overlap, total in zip(overlaps, totals)]
    raise ValueError(f"lissage : {smoothing!r} inconnu ; choisissez « none » ou « method1 ».")


def geometric_mean(values: list[float]) -> float:
    """Moyenne géométrique de nombres positifs ; 0 dès qu'un nombre est nul."""
    if not values:
        raise ValueError("moyenne géométrique : aucune valeur reçue ; donnez au moins un ordre de n-grammes.")
    if min(values) == 0:
        return 0.0
    return math.exp(math.fsum(math.log(value) for value in values) / len(values))

# %% [markdown] couvre="S0-12"
# Un score ne voyage jamais seul. Nous le rangeons avec ses composantes et avec sa *signature* : métrique, ordre, lissage, nombre de
# références, découpe. Deux scores de signatures différentes ne se comparent pas. La signature garde aussi, sans les imprimer, les
# versions dont dépend la découpe : Python et ses tables Unicode.

# %%
VERSIONS = (("python", platform.python_version()), ("unicode", unicodedata.unidata_version))


@dataclass(frozen=True)
class Signature:
    """Réglages qui rendent un score reproductible : métrique, réglages, découpe."""

    metric: str
    settings: str
    tokenization: str
    versions: tuple[tuple[str, str], ...] = field(default=VERSIONS, compare=False, repr=False)

    def __str__(self) -> str:
        return f"{self.metric} | {self.settings} | découpe : {self.tokenization}"

# %%
@dataclass(frozen=True)
class BleuScore:
    """Score BLEU entre 0 et 1, avec ses composantes ; `precisions` est donné après lissage."""

    score: float
    overlaps: tuple[int, ...]
    totals: tuple[int, ...]
    precisions: tuple[float, ...]
    brevity_penalty: float
    candidate_length: int
    reference_length: int
    signature: Signature

    def __str__(self) -> str:
        parts = []
        for n, (overlap, total, value) in enumerate(zip(self.overlaps, self.totals, self.precisions), start=1):
            # La flèche marque une valeur qui n'est pas le quotient affiché : elle vient du lissage.
            exact = total > 0 and value == overlap / total
            parts.append(f"p{n} {overlap}/{total} {'=' if exact else '→'} {value:.4f}")
        return (f"{self.signature.metric} = {self.score:.4f} ({' ; '.join(parts)} ; BP {self.brevity_penalty:.4f} ; "
                f"c = {self.candidate_length}, r = {self.reference_length})\n  [{self.signature}]")

# %% [markdown]
# Il reste à assembler. Une convention se voit dans le code : s'il n'y a *aucun mot* en commun, le score est zéro, même lissé.

# %%
def score_from_counts(overlaps: list[int], totals: list[int], candidate_length: int, reference_length: int,
                      smoothing: str, signature: Signature) -> BleuScore:
    """Assemble BLEU = BP × moyenne géométrique des précisions, à partir des comptes."""
    precisions = smoothed_precisions(overlaps, totals, smoothing)
    penalty = brevity_penalty(candidate_length, reference_length)
    score = penalty * geometric_mean(precisions) if overlaps[0] else 0.0
    return BleuScore(score, tuple(overlaps), tuple(totals), tuple(precisions), penalty,
                     candidate_length, reference_length, signature)


def sentence_bleu(candidate: list[str], references: list[list[str]], max_n: int = 4, smoothing: str = "none",
                  tokenization: str = "non précisée") -> BleuScore:
    """BLEU d'une phrase découpée, contre une ou plusieurs références découpées."""
    check_order(max_n, "max_n")
    overlaps, totals = zip(*(modified_precision(candidate, references, n) for n in range(1, max_n + 1)))
    signature = Signature(f"BLEU-{max_n}", f"lissage : {smoothing} | références : {len(references)}", tokenization)
    reference_length = closest_reference_length(candidate, references)
    return score_from_counts(overlaps, totals, len(candidate), reference_length, smoothing, signature)

# %% couvre="S0-06 S3-03 S3-04"
for candidate in (good, bad):
    print(sentence_bleu(candidate, [reference], tokenization="espaces"))

# %% [markdown]
# **Lecture du résultat.** Les deux candidats obtiennent 0,0000. L'un est presque parfait, l'autre absurde, et BLEU sans lissage
# ne sait pas les ranger : dans les deux cas une précision au moins est nulle. Les composantes, elles, disent tout : le bon a
# p1 = 1,0000 et p3 = 0,5000, le mauvais p1 = 0,2857 puis des zéros.

# %% [markdown]
# ## 6. Le lissage
#
# Une phrase isolée a peu de quadrigrammes ; l'absence d'un seul ne devrait pas tout annuler. La « méthode 1 » de
# [Chen et Cherry (2014)](https://aclanthology.org/W14-3346/) donne à un ordre sans n-gramme commun un petit numérateur fictif,
# $\varepsilon$, et ne touche pas aux autres :
#
# $$p_n = \frac{\varepsilon}{\text{total}_n} \quad \text{si aucun n-gramme commun}$$
#
# Dans nos affichages, la flèche « → » marque une précision qui vient du lissage.

# %% couvre="S3-05"
for name, candidate in (("bon", good), ("mauvais", bad)):
    score = sentence_bleu(candidate, [reference], smoothing="method1", tokenization="espaces")
    print(score)
    exp = sacrebleu.corpus_bleu([" ".join(candidate)], [[" ".join(reference)]], tokenize="none", smooth_method="exp")
    print(f"  {name} : method1 (ε = {EPSILON}) {score.score:.5f} ; sacreBLEU, lissage exp, sur 100 : {exp.score:.2f}")

# %% [markdown]
# **Lecture du résultat.** Lissé, BLEU range les deux candidats : 0,28764 pour le bon, 0,03928 pour le mauvais. Le lissage par
# défaut de sacreBLEU, `exp`, les range de même mais avec d'autres valeurs : 43,01 et 7,81 sur 100. Le lissage fait donc partie du
# score : il figure dans la signature.

# %%
names = ["p1", "p2", "p3", "p4", "BP", "BLEU-4"]
fig, ax = plt.subplots()
for index, (label, candidate) in enumerate((("bon candidat", good), ("« le » répété", bad))):
    score = sentence_bleu(candidate, [reference], smoothing="method1")
    values = [*score.precisions, score.brevity_penalty, score.score]
    print(f"{label:14s}", "  ".join(f"{name} {value:.3f}" for name, value in zip(names, values)))
    positions = [position + 0.4 * index - 0.2 for position in range(len(names))]
    ax.bar(positions, values, width=0.38, label=label, color=plots.COLORS[index], hatch=plots.HATCHES[index])
ax.set(xticks=range(len(names)), xticklabels=names, ylabel="valeur (de 0 à 1)")
ax.legend()
plots.show(fig, alt="Barres des quatre précisions lissées, de la pénalité de brièveté et de BLEU-4 pour les "
           "deux candidats : le bon domine nettement sur p1, p2, p3 et sur le score, le mauvais seulement "
           "sur la pénalité.")

# %% [markdown]
# *Figure 2. Décomposition de BLEU-4 lissé pour les deux candidats. Les hachures doublent la couleur.*

# %% [markdown]
# **Lecture du résultat.** La seule composante où le mauvais candidat l'emporte est la pénalité de brièveté : 1,000 contre 0,846,
# car il a sept mots. Sa longueur ne le sauve pas : son score est 0,039, celui du bon 0,288.

# %% [markdown]
# ### BLEU-2 n'est pas p2
#
# Une confusion répandue : appeler « BLEU-2 » la seule précision des bigrammes. BLEU-2 est l'assemblage complet arrêté à l'ordre deux.
# Prenons le couple anglais qui sert de repère dans beaucoup de cours.

# %% couvre="E-10 S0-07 S0-44"
candidate_en, reference_en = "the cat is on the mat".split(), "the cat sits on the red mat".split()
print(sentence_bleu(candidate_en, [reference_en], smoothing="method1", tokenization="espaces"))
overlap, total = modified_precision(candidate_en, [reference_en], 2)
bleu2 = sentence_bleu(candidate_en, [reference_en], max_n=2, tokenization="espaces")
print(f"p2 seul : {overlap}/{total} = {overlap / total:.4f}")
print(bleu2)

# %% [markdown] couvre="E-10"
# **Lecture du résultat.** p2 vaut 0,4000, mais BLEU-2 vaut 0,4887 : il prend aussi p1 = 0,8333 et la pénalité 0,8465. BLEU-4,
# lissé, tombe à 0,1093, parce que p3 et p4 ne tiennent qu'au lissage (0,0250 et 0,0333).

# %% [markdown]
# ## 7. La preuve : à la main, puis contre nltk et sacreBLEU
#
# Une métrique réécrite se prouve de trois façons : un cas calculé à la main, un accord avec les bibliothèques, un nombre publié.
#
# À la main : pour « le chat sur le tapis » contre « le chat est sur le tapis », cinq mots sur cinq et trois bigrammes sur quatre sont
# communs, avec $c = $ cinq mots et $r = $ six. Donc $\mathrm{BLEU}\text{-}2 = e^{-1/5}\sqrt{3/4}$.

# %%
hand = math.exp(-1 / 5) * math.sqrt(3 / 4)
ours = sentence_bleu("le chat sur le tapis".split(), ["le chat est sur le tapis".split()], max_n=2)
print(f"à la main : {hand:.6f}   notre fonction : {ours.score:.6f}")
print(f"écart inférieur à 1e-9 : {abs(hand - ours.score) < 1e-9}")

# %% [markdown]
# **Lecture du résultat.** La fonction rend 0,709042, comme le calcul à la main.

# %% [markdown]
# Contre les bibliothèques, trois couples : l'anglais ci-dessus et deux français. nltk attend les références *avant* le candidat, à
# l'inverse de nous ; sacreBLEU attend des textes et appelle `floor` la méthode 1. Nous lui donnons `tokenize="none"` pour que tous
# comparent les mêmes mots.

# %% couvre="S0-08 S0-09 S0-10"
PAIRS = [
    ("the cat is on the mat", "the cat sits on the red mat"),
    ("un renard roux et vif saute devant le chien", "le renard brun saute par-dessus le chien paresseux"),
    ("elle va au marché tous nos dimanches", "elle va au marché tous les samedis matin"),
]
method1 = nltk_bleu.SmoothingFunction(epsilon=EPSILON).method1
worst = 0.0
for candidate_text, reference_text in PAIRS:
    candidate, one_reference = candidate_text.split(), reference_text.split()
    ours = sentence_bleu(candidate, [one_reference], smoothing="method1", tokenization="espaces")
    nltk_score = nltk_bleu.sentence_bleu([one_reference], candidate, smoothing_function=method1)
    floor = sacrebleu.corpus_bleu([candidate_text], [[reference_text]], tokenize="none", smooth_method="floor",
                                  smooth_value=EPSILON).score / 100
    worst = max(worst, abs(ours.score - nltk_score), abs(ours.score - floor))
    print(f"« {candidate_text} »")
    counts = ", ".join(f"{overlap}/{total}" for overlap, total in zip(ours.overlaps, ours.totals))
    print(f"    {counts} ; BP {ours.brevity_penalty:.6f} (c = {ours.candidate_length}, r = {ours.reference_length})")
    print(f"    nous {ours.score:.6f}   nltk {nltk_score:.6f}   sacreBLEU floor {floor:.6f}")
print(f"plus grand écart inférieur à 1e-9 : {worst < 1e-9}")

# %% [markdown]
# **Lecture du résultat.** Les trois programmes donnent 0,109280, 0,060307 et 0,532946. Dans le deuxième couple le candidat est plus
# long que la référence, donc sans pénalité, mais un seul bigramme sur 8 est commun. Le troisième n'a pas besoin de lissage : il partage
# encore 2 quadrigrammes sur 4, et sa pénalité est 0,866878.

# %% [markdown]
# Et les nombres publiés. L'article de [Papineni et al. (2002)](https://aclanthology.org/P02-1040/) compare deux traductions à trois
# références et donne leurs précisions ; la documentation de nltk donne les scores. Ces phrases anglaises ne servent qu'à cela.

# %%
PUBLISHED_REFERENCES = [text.split() for text in (
    "It is a guide to action that ensures that the military will forever heed Party commands",
    "It is the guiding principle which guarantees the military forces always being under the command of the Party",
    "It is the practical guide for the army always to heed the directions of the party",
)]
first = "It is a guide to action which ensures that the military always obeys the commands of the party".split()
second = "It is to insure the troops forever hearing the activity guidebook that party direct".split()
for candidate, smoothing, documented in ((first, "none", 0.5045), (second, "method1", 0.0370)):
    score = sentence_bleu(candidate, PUBLISHED_REFERENCES, smoothing=smoothing, tokenization="espaces")
    # La documentation tronque à quatre décimales (« 0.5045... ») : nous tronquons aussi pour comparer.
    print(score)
    truncated = math.floor(score.score * 1e4) / 1e4
    print(f"  documentation : {documented:.4f}… ; égal une fois tronqué : {truncated == documented}")

# %% [markdown]
# **Lecture du résultat.** L'article imprime 17/18 et 10/17 pour le premier candidat, 8/14 et 1/13 pour le second : ce sont nos p1
# et p2. La documentation de nltk imprime 0,5045 et 0,0370, tronqués à quatre décimales : les mêmes.

# %% [markdown] couvre="S3-02"
# Quatre propriétés se déduisent de la formule, et les tests du cours les vérifient sur des textes tirés au hasard :
#
# - le score reste entre zéro et un ;
# - il vaut un quand le candidat est égal à une référence et compte au moins quatre mots ;
# - sans lissage, il vaut zéro dès qu'un ordre n'a aucun n-gramme commun ;
# - changer l'ordre des références ne change rien.

# %% [markdown]
# ## 8. Là où les programmes diffèrent
#
# L'accord précédent vaut pour les cas ordinaires. Aux bords, chaque programme a ses conventions. Cette cellule fait taire
# l'avertissement que nltk écrit quand une précision est nulle : nous savons qu'il paraît, et c'est justement ce cas que nous montrons.

# %% couvre="E-12"
EDGES = [
    ("aucun mot commun", "un chien noir court", "le chat est assis sur le tapis"),
    ("candidat vide", "", "le chat dort"),
    ("identiques, trois mots", "le chat dort", "le chat dort"),
    ("trois mots, quatre en référence", "le chat dort", "le chat dort bien"),
    ("trigramme et quadrigramme absents", "the cat is on the mat", "the cat sits on the red mat"),
]
print("cas                                  nous none  nltk none  nous m1  nltk m1  sacreBLEU floor")
for name, candidate_text, reference_text in EDGES:
    candidate, one_reference = candidate_text.split(), reference_text.split()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # l'avertissement attendu de nltk, expliqué ci-dessus
        nltk_none = nltk_bleu.sentence_bleu([one_reference], candidate)
    nltk_m1 = nltk_bleu.sentence_bleu([one_reference], candidate, smoothing_function=method1)
    none = sentence_bleu(candidate, [one_reference]).score
    smoothed = sentence_bleu(candidate, [one_reference], smoothing="method1").score
    floor = sacrebleu.corpus_bleu([candidate_text], [[reference_text]], tokenize="none", smooth_method="floor",
                                  smooth_value=EPSILON).score / 100
    print(f"{name:35s}  {none:9.4f}  {nltk_none:9.1e}  {smoothed:7.4f}  {nltk_m1:7.4f}  {floor:7.4f}")
over_smoothed = brevity_penalty(4, 7) * geometric_mean(smoothed_precisions([0] * 4, [4, 3, 2, 1], "method1"))
print(f"aucun mot commun, si l'on lissait aussi p1 : {over_smoothed:.4f}")

# %% [markdown] couvre="E-12"
# **Lecture du résultat.** Sans aucun mot commun, et pour un candidat vide, tout le monde rend zéro, même lissé (0,0000). Un
# programme qui lisserait aussi p1 donnerait 0,0213 à une phrase sans rapport, et un candidat vide le ferait diviser par zéro. Pour un ordre nul, nltk sans lissage ne
# rend pas zéro mais un nombre minuscule : dans un test, comparons avec une tolérance.
# Deux phrases identiques de trois mots n'obtiennent que 0,5623 : elles n'ont pas de quadrigramme, et le lissage y met 0,1
# sur un total pris égal à un. sacreBLEU rend zéro pour ce même cas, sauf si on lui demande l'ordre effectif. La bonne réponse est
# de ne pas demander BLEU-4 à trois mots.

# %% couvre="E-12b"
print("même couple anglais, même métrique, quatre lissages (sur 100) :")
for method, value in (("none", None), ("floor", 0.1), ("add-k", 1), ("exp", None)):
    score = sacrebleu.corpus_bleu([" ".join(candidate_en)], [[" ".join(reference_en)]], tokenize="none",
                                  smooth_method=method, smooth_value=value).score
    print(f"    sacreBLEU {method:6s} {score:7.3f}")
ours = sentence_bleu(candidate_en, [reference_en], smoothing="method1").score
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    nltk_none = nltk_bleu.sentence_bleu([reference_en], candidate_en)
print(f"    nous method1     {100 * ours:7.3f}\n    nltk sans lissage {nltk_none:.1e} (sur 1)")

# %% [markdown] couvre="E-12b"
# **Lecture du résultat.** Le même couple obtient 0,000, 10,928, 20,55 ou 32,16 sur 100 selon le lissage. Aucune valeur n'est fausse ;
# comparer deux scores de lissages différents l'est. `floor` et `method1` sont la même chose sous deux noms (10,928).

# %% [markdown]
# Il reste les entrées qui n'ont pas de sens. Une chaîne à la place d'une liste de mots donne, dans beaucoup de programmes, un BLEU de
# *lettres* silencieux. Les nôtres refusent, en une phrase.

# %%
MISTAKES = [
    ("une chaîne", lambda: sentence_bleu("le chat dort", [["le", "chat", "dort"]])),
    ("référence non enveloppée", lambda: sentence_bleu(["le", "chat"], ["le", "chat"])),
    ("jeton non textuel", lambda: sentence_bleu(["le", math.nan], [["le", "chat"]])),
    ("aucune référence", lambda: sentence_bleu(["le", "chat"], [])),
    ("référence vide", lambda: sentence_bleu(["le", "chat"], [[]])),
    ("lissage inconnu", lambda: sentence_bleu(["le", "chat"], [["le", "chat"]], smoothing="doux")),
]
for name, call in MISTAKES:
    try:
        call()
    except (TypeError, ValueError) as error:
        print(f"{name} → {type(error).__name__} : {error}")

# %% [markdown]
# ## 9. Plusieurs références
#
# Une même idée se dit de plusieurs façons. BLEU accepte plusieurs références : le plafond de chaque n-gramme est le plus haut, et la
# longueur comparée est la plus proche. Ici nous laissons sacreBLEU découper des phrases ponctuées.

# %%
references_fr = ["Le chat est sur le tapis.", "Le chat se trouve sur le tapis.", "Sur le tapis se trouve le chat."]
hypothesis = "Le chat se trouve sur le tapis."
for number, one in enumerate(references_fr, start=1):
    print(f"contre la référence {number} seule : {sacrebleu.sentence_bleu(hypothesis, [one]).score:.1f}")
print(f"contre les trois              : {sacrebleu.sentence_bleu(hypothesis, references_fr).score:.1f}")
moved = "Sur le tapis se trouve le chat."
bleu_moved = sacrebleu.sentence_bleu(moved, references_fr[:1]).score
chrf_moved = sacrebleu.sentence_chrf(moved, references_fr[:1]).score
print(f"« {moved} » contre la référence 1 : BLEU {bleu_moved:.1f}, chrF {chrf_moved:.1f}")

# %% [markdown]
# **Lecture du résultat.** La même phrase vaut 41,1, 100,0 ou 17,3 selon la référence, et 100,0 contre les trois. Une bonne
# inversion, « Sur le tapis se trouve le chat. », n'obtient que 13,1 contre la référence 1 ; chrF, qui compte des caractères, est moins
# sévère (50,5). Le nombre de références fait partie de la signature.

# %% couvre="S3-02"
def words(count):
    """Référence factice de `count` mots : seule sa longueur compte ici."""
    return ["mot"] * count


five = words(5)
for lengths in ((12, 4), (4, 12)):
    r = closest_reference_length(five, [words(length) for length in lengths])
    print(f"c = 5, références de {lengths} mots : r = {r}, BP = {brevity_penalty(5, r):.4f}")
print(f"    si l'on prenait la plus longue : {brevity_penalty(5, 12):.4f} ; la moyenne : {brevity_penalty(5, 8):.4f}")
for lengths in ((3, 5), (5, 3)):
    r = closest_reference_length(words(4), [words(length) for length in lengths])
    print(f"c = 4, références de {lengths} mots : r = {r}")
for lengths in ((2,), (2, 7)):
    r = closest_reference_length(five, [words(length) for length in lengths])
    print(f"c = 5, références de {lengths} mots : r = {r}, BP = {brevity_penalty(5, r):.4f}")

# %% [markdown]
# **Lecture du résultat.** Pour 5 mots, la référence la plus proche parmi 12 et 4 est celle de 4 : pas de pénalité. Prendre la plus
# longue donnerait 0,2466, la moyenne 0,5488 ; ces deux erreurs se rencontrent dans des programmes publics. À égale distance (3 et 5
# pour 4 mots), la plus courte l'emporte, dans les deux ordres. Surprise de la dernière ligne : ajouter une référence peut *baisser* le
# score, car la longueur la plus proche passe de 2 à 7 et la pénalité de 1,0000 à 0,6703.

# %% [markdown]
# ## 10. Phrase ou corpus
#
# BLEU a été conçu pour un corpus. On n'y fait pas la moyenne des scores de phrases : on additionne d'abord tous les numérateurs, tous les
# dénominateurs et toutes les longueurs, puis on calcule une seule fois. Les zéros deviennent rares, et le lissage inutile.

# %%
def corpus_bleu(candidates: list[list[str]], references: list[list[list[str]]], max_n: int = 4,
                smoothing: str = "none", tokenization: str = "non précisée") -> BleuScore:
    """BLEU d'un corpus : les comptes et les longueurs s'ajoutent, puis le score se calcule une seule fois."""
    if not isinstance(candidates, (list, tuple)) or not isinstance(references, (list, tuple)):
        raise TypeError("corpus : deux listes attendues ; donnez les candidats découpés et leurs listes de références.")
    if not candidates or len(candidates) != len(references):
        raise ValueError(f"corpus : {len(candidates)} candidats et {len(references)} listes de références ; "
                         "donnez-en autant, et au moins une.")
    scores = []
    for number, (candidate, its_references) in enumerate(zip(candidates, references), start=1):
        try:
            scores.append(sentence_bleu(candidate, its_references, max_n))
        except (TypeError, ValueError) as error:
            raise type(error)(f"phrase {number} du corpus, {error}") from None
    overlaps = [sum(column) for column in zip(*(score.overlaps for score in scores))]
    totals = [sum(column) for column in zip(*(score.totals for score in scores))]
    candidate_length = sum(score.candidate_length for score in scores)
    reference_length = sum(score.reference_length for score in scores)
    settings = f"lissage : {smoothing} | phrases : {len(candidates)}"
    signature = Signature(f"BLEU-{max_n} de corpus", settings, tokenization)
    return score_from_counts(overlaps, totals, candidate_length, reference_length, smoothing, signature)

# %%
read_candidate = "he read the book because he was interested in world history".split()
read_reference = "he was interested in world history because he read the book".split()
candidates = [first, read_candidate]
references = [PUBLISHED_REFERENCES, [read_reference]]
corpus = corpus_bleu(candidates, references, tokenization="espaces")
mean = sum(sentence_bleu(*pair).score for pair in zip(candidates, references)) / len(candidates)
nltk_corpus = nltk_bleu.corpus_bleu(references, candidates)
print(corpus)
print(f"nltk : {nltk_corpus:.4f} ; écart inférieur à 1e-9 : {abs(corpus.score - nltk_corpus) < 1e-9}")
print(f"moyenne des scores de phrases : {mean:.4f}")
print(f"documentation de nltk, tronquée : {0.5920:.4f}… et {0.6223:.4f}…")

# %% [markdown]
# **Lecture du résultat.** Le BLEU de corpus vaut 0,5921, la moyenne des phrases 0,6223 : deux nombres différents, tous deux
# appelés « BLEU » dans des articles. La documentation de nltk imprime les mêmes, tronqués (0,5920 et 0,6223).

# %%
short_candidates = [good, "le chat dort".split()]
short_references = [[reference], ["le chat dort".split()]]
ours = corpus_bleu(short_candidates, short_references, smoothing="method1", tokenization="espaces")
nltk_short = nltk_bleu.corpus_bleu(short_references, short_candidates, smoothing_function=method1)
sacre_short = sacrebleu.corpus_bleu([" ".join(tokens) for tokens in short_candidates],
                                    [[" ".join(refs[0]) for refs in short_references]],
                                    tokenize="none", smooth_method="floor", smooth_value=EPSILON).score / 100
print(ours)
print(f"nous {ours.score:.4f}   sacreBLEU {sacre_short:.4f}   nltk {nltk_short:.4f}")
print(f"p4 chez nltk : 0/{ours.totals[3] + 1}, chez nous et sacreBLEU : 0/{ours.totals[3]}")

# %% [markdown]
# **Lecture du résultat.** Dès que le corpus contient une phrase de moins de quatre mots, nltk s'écarte : 0,3013 contre 0,3238 pour nous et
# pour sacreBLEU. nltk compte un n-gramme fantôme dans le total de chaque phrase trop courte : ici 4 quadrigrammes au lieu de 3. L'article
# additionne les n-grammes qui existent ; nous faisons de même.

# %% [markdown]
# ## 11. Les pièges du français
#
# Trois écritures d'un même texte français passent inaperçues à l'écran et ruinent BLEU :
#
# - l'apostrophe droite (') ou typographique (’) ;
# - l'accent composé (é, un caractère : forme NFC) ou décomposé (e suivi d'un accent : forme NFD) ;
# - l'espace qu'une découpe laisse après l'apostrophe (« l' élève »).
#
# sacreBLEU propose deux découpes : `13a`, par défaut, pensée pour l'anglais, et `intl`, qui sépare toute ponctuation Unicode.

# %%
text = "l'élève est allé à l'école"
TRAPS = [
    ("apostrophes droites / typographiques", "l'école est fermée aujourd'hui", "l’école est fermée aujourd’hui"),
    ("accents décomposés / composés", unicodedata.normalize("NFD", text), text),
    ("découpé / naturel", "L' élève n' a pas compris aujourd' hui .", "L'élève n'a pas compris aujourd'hui."),
    ("espace insécable / ordinaire", "quelle belle journée d'été\u202f!", "quelle belle journée d'été !"),
]


def sacre(candidate, reference, tokenizer):
    """BLEU de sacreBLEU, sur 100, avec l'une de ses découpes."""
    return sacrebleu.sentence_bleu(candidate, [reference], tokenize=tokenizer).score


for name, candidate_text, reference_text in TRAPS:
    print(f"{name:37s} 13a {sacre(candidate_text, reference_text, '13a'):6.2f}   "
          f"intl {sacre(candidate_text, reference_text, 'intl'):6.2f}")

# %% [markdown]
# **Lecture du résultat.** Ces textes sont les mêmes pour un lecteur. Les apostrophes font tomber BLEU à 31,95 (38,26 avec `intl`), les
# accents décomposés à 10,68 (14,26 avec `intl`). Un candidat découpé d'avance contre une référence naturelle perd presque tout avec
# `13a` (10,55) et rien avec `intl` (100,00). L'espace insécable, lui, ne coûte rien.

# %% [markdown]
# [Post (2018)](https://aclanthology.org/W18-6319/) mesure sur des systèmes réels jusqu'à 1,8 point de BLEU d'écart dû à la seule découpe :
# souvent plus que ce qui sépare deux systèmes. D'où la signature que sacreBLEU imprime (découpe, casse, lissage, version).
#
# La parade : normaliser d'abord, découper ensuite, et toujours des deux côtés. `normalize` met en forme NFC et ne garde qu'une apostrophe ;
# `french_words` met en minuscules et garde entiers les mots accentués, « œ » compris, et les nombres décimaux.

# %%
# Apostrophes que l'on trouve dans les textes français : typographique, modificative, guillemet ouvrant, prime.
APOSTROPHES = "\u2019\u02bc\u2018\u2032"

# Un mot est une suite de lettres et de chiffres ; une virgule ou un point entre deux chiffres reste dans le nombre.
FRENCH_PATTERN = re.compile(r"[^\W_]+(?:(?<=\d)[.,](?=\d)[^\W_]+)*")


def normalize(text: str) -> str:
    """Rend `text` en forme NFC, avec une seule apostrophe, la droite."""
    if not isinstance(text, str):
        raise TypeError(f"texte : chaîne attendue, {type(text).__name__} reçu ; passez le texte entier, non découpé.")
    text = unicodedata.normalize("NFC", text)
    for apostrophe in APOSTROPHES:
        text = text.replace(apostrophe, "'")
    return text


def french_words(text: str) -> list[str]:
    """Mots de `text` en minuscules : lettres accentuées, « œ » et nombres décimaux restent entiers."""
    return FRENCH_PATTERN.findall(normalize(text).lower())

# %%
FRENCH_WORDS = "mots français, minuscules, NFC"
print(french_words("L’été, à Noël, l'élève a eu 15,5 à son devoir : un chef-d'œuvre !"))
for name, candidate_text, reference_text in TRAPS:
    score = sentence_bleu(french_words(candidate_text), [french_words(reference_text)], tokenization=FRENCH_WORDS)
    sacre_fixed = sacre(normalize(candidate_text), normalize(reference_text), "intl")
    print(f"{name:37s} french_words {score.score:.4f}   normalize puis intl {sacre_fixed:6.2f}")
print(score.signature)

# %% [markdown]
# **Lecture du résultat.** Après normalisation, les quatre couples valent 1,0000 chez nous et 100,00 chez sacreBLEU. Notre découpe a un prix :
# elle ôte la ponctuation et sépare « chef », « d » et « œuvre ». C'est un choix, et la signature le dit.

# %% [markdown] couvre="S3-06"
# ## 12. Ce que BLEU ne voit pas
#
# BLEU compare des formes, pas des sens. Quatre limites, dans l'ordre où elles piègent :
#
# - le sens : une négation change un mot et renverse tout ;
# - la paraphrase : dire la même chose autrement ne rapporte rien ;
# - le rappel : seule la pénalité de brièveté le remplace, grossièrement ;
# - la découpe et la casse, vues plus haut.

# %%
reference_text = "le médecin a examiné le petit garçon ce matin"
for name, candidate_text in (
    ("négation", "le médecin n'a pas examiné le petit garçon ce matin"),
    ("mot faux", "le médecin a examiné le petit garçon ce soir"),
    ("paraphrase", "dans la matinée, le docteur a ausculté l'enfant"),
    ("mots mêlés", "matin ce garçon petit le examiné a médecin le"),
):
    score = sentence_bleu(french_words(candidate_text), [french_words(reference_text)], smoothing="method1",
                          tokenization=FRENCH_WORDS)
    print(f"{name:11s} {score.score:.3f}  p1 {score.precisions[0]:.3f}  « {candidate_text} »")

# %% [markdown]
# **Lecture du résultat.** La phrase fausse par un mot obtient 0,863, la négation 0,535, la paraphrase juste 0,029 : l'ordre inverse de celui
# d'un lecteur. Les mots mêlés gardent p1 = 1,000, mais leur score n'est que de 0,042 : les ordres élevés voient le désordre.
# BLEU sert à comparer des systèmes proches, sur beaucoup de phrases, avec la même signature ; il ne dit pas qu'une phrase est vraie.

# %% [markdown]
# ## À retenir
#
# - BLEU = pénalité de brièveté × moyenne géométrique des précisions plafonnées ; BLEU-2 n'est pas p2.
# - Sans lissage, un seul ordre nul annule le score ; avec lissage, la valeur dépend du lissage.
# - Aux bords (candidat vide, aucun mot commun, phrase trop courte), les programmes ont des conventions différentes : on les écrit.
# - Un BLEU de corpus additionne les comptes ; ce n'est pas la moyenne des BLEU de phrases.
# - En français : NFC, une seule apostrophe, même découpe des deux côtés.
# - Un score se donne avec ses composantes, sa signature et le nombre de phrases.

# %% [markdown]
# ## Questions
#
# **1.** Le candidat « a b a b » a pour références « a b c » et « a b d ». Combien vaut la précision plafonnée des bigrammes ?
#
# <details><summary>Réponse</summary>
#
# Le candidat a trois bigrammes : « a b », « b a », « a b ». Chaque référence contient « a b » une fois : le plafond est un, car on prend le
# maximum et non la somme. La précision est d'un tiers.
# </details>
#
# **2.** Pourquoi un candidat identique à sa référence peut-il obtenir moins de un ?
#
# <details><summary>Réponse</summary>
#
# S'il a moins de quatre mots, il n'a pas de quadrigramme : le quotient n'est pas défini. Sans lissage nous rendons zéro, avec la méthode 1
# environ 0,56 pour trois mots. Il faut choisir un ordre que la phrase contient.
# </details>
#
# **3.** Deux articles annoncent 27,1 et 28,4 de BLEU. Le second système est-il meilleur ?
#
# <details><summary>Réponse</summary>
#
# On ne peut pas le dire : il faut la même signature (découpe, casse, lissage, références), le même jeu de test, et un intervalle sur la
# différence. La découpe seule peut expliquer un tel écart.
# </details>

# %% [markdown]
# ## Pour aller plus loin
#
# - Refaire la figure 1 avec deux références de longueurs différentes : où la courbe casse-t-elle, et pourquoi ?
# - Construire un candidat et deux références tels qu'ajouter la seconde fasse baisser le score, précisions comprises.
# - Passer à la [leçon 02](02_rouge.ipynb), où le rappel reprend ses droits, puis à l'exercice `ex01_bleu2`.

# %% [markdown] couvre="S0-48"
# ## Sources
#
# - [Papineni, Roukos, Ward et Zhu (2002), *BLEU: a Method for Automatic Evaluation of Machine Translation*, ACL](https://aclanthology.org/P02-1040/)
# - [Chen et Cherry (2014), *A Systematic Comparison of Smoothing Techniques for Sentence-Level BLEU*, WMT](https://aclanthology.org/W14-3346/)
# - [Post (2018), *A Call for Clarity in Reporting BLEU Scores*, WMT](https://aclanthology.org/W18-6319/)
# - [Documentation de nltk, module `bleu_score`](https://www.nltk.org/api/nltk.translate.bleu_score.html), pour les scores publiés de la section 7
# - [Unicode, annexe 15 : formes de normalisation](https://unicode.org/reports/tr15/)
