# %% [markdown]
# # Leçon 02 · ROUGE : ce qu'un résumé garde de sa référence
#
# **Objectifs**
#
# - calculer ROUGE-N, ROUGE-L et ROUGE-Lsum, chacun en précision, rappel et F-mesure ;
# - voir précision et rappel se croiser, et choisir β d'après le coût de l'erreur ;
# - découper du français sans perdre les accents, ce que la découpe par défaut de rouge-score ne fait pas ;
# - retrouver rouge-score à 1e-9, avec sa découpe comme avec la nôtre ;
# - choisir entre BLEU et ROUGE.
#
# **Durée** : une heure.
#
# **Prérequis** : la [leçon 01](01_bleu.ipynb) (n-grammes, comptes plafonnés, signature). Aucun accès au réseau.

# %% [markdown] couvre="E-33"
# ## 1. Une autre question que BLEU
#
# BLEU demande : *ce que la machine écrit figure-t-il dans la référence ?* C'est une précision. Pour un résumé, la question qui compte est
# souvent l'inverse : *ce que la référence dit figure-t-il dans le résumé ?* C'est un rappel, et ROUGE, de
# [Lin (2004)](https://aclanthology.org/W04-1013/), est né de là.
#
# Attention au mot « référence » : ROUGE compare à un *résumé* de référence, écrit par une personne, et non au document résumé. Un rappel
# parfait ne dit pas que tous les faits du document sont là.

# %%
import math
import re
from collections import Counter
from dataclasses import dataclass

import matplotlib.pyplot as plt
from rouge_score import rouge_scorer

from helpers import plots
from helpers.bleu import ngrams, sentence_bleu
from helpers.rouge import lcs_length
from helpers.tokens import FRENCH_WORDS, Signature, check_tokens, french_words

# %% [markdown]
# ## 2. ROUGE-N : précision, rappel, F-mesure
#
# Prenons un titre et un résumé d'une phrase :
#
# - référence : « le chat dort sur le canapé » (six mots) ;
# - candidat : « le chat est allongé sur le canapé bleu » (huit mots).
#
# Cinq mots sont communs : le, chat, sur, le, canapé. Le rappel les rapporte aux mots de la référence, la précision à ceux du candidat.
# La F-mesure les combine ; β dit combien de fois le rappel pèse plus que la précision :
#
# $$P = \frac{\text{communs}}{\text{candidat}} \qquad R = \frac{\text{communs}}{\text{référence}} \qquad
# F_\beta = \frac{(1+\beta^2)\,P\,R}{R + \beta^2 P}$$
#
# Comme dans BLEU, un n-gramme répété compte au plus autant de fois que dans chacun des deux textes.

# %%
def f_measure(precision: float, recall: float, beta: float = 1.0) -> float:
    """F-mesure : moyenne harmonique pondérée, où le rappel compte β fois plus que la précision ; 0 si l'un est nul."""
    if not 0 < beta < math.inf:
        raise ValueError(f"β : nombre fini et positif attendu, {beta!r} reçu ; "
                         "donnez 1 pour peser également précision et rappel.")
    if precision == 0 or recall == 0:
        return 0.0
    return (1 + beta**2) * precision * recall / (recall + beta**2 * precision)


@dataclass(frozen=True)
class RougeScore:
    """Précision, rappel et F-mesure entre 0 et 1, avec les comptes dont ils viennent et le β de la F-mesure."""

    precision: float
    recall: float
    fmeasure: float
    beta: float
    matches: int
    reference_total: int
    candidate_total: int
    signature: Signature

    def __str__(self) -> str:
        return (f"{self.signature.metric} : précision {self.matches}/{self.candidate_total} = {self.precision:.4f} ; "
                f"rappel {self.matches}/{self.reference_total} = {self.recall:.4f} ; "
                f"F{self.beta:g} = {self.fmeasure:.4f}\n  [{self.signature}]")


def score_from_matches(matches: int, reference_total: int, candidate_total: int, beta: float,
                       signature: Signature) -> RougeScore:
    """Assemble précision, rappel et F-mesure à partir des comptes ; un total nul donne 0."""
    precision = matches / candidate_total if candidate_total else 0.0
    recall = matches / reference_total if reference_total else 0.0
    fmeasure = f_measure(precision, recall, beta)
    return RougeScore(precision, recall, fmeasure, beta, matches, reference_total, candidate_total, signature)

# %% [markdown]
# L'ordre des arguments est *l'inverse* de celui de BLEU : la référence d'abord, comme dans rouge-score. Nous les nommons à l'appel.

# %% couvre="S0-15 S3-07"
def rouge_n(reference: list[str], candidate: list[str], n: int = 1, beta: float = 1.0,
            tokenization: str = "non précisée") -> RougeScore:
    """ROUGE-N entre deux textes découpés : n-grammes communs, comptés au plus autant de fois que dans chaque texte."""
    check_tokens(reference, "référence")
    check_tokens(candidate, "candidat")
    reference_counts, candidate_counts = ngrams(reference, n), ngrams(candidate, n)
    matches = sum((reference_counts & candidate_counts).values())
    signature = Signature(f"ROUGE-{n}", f"β : {beta:g}", tokenization)
    return score_from_matches(matches, sum(reference_counts.values()), sum(candidate_counts.values()), beta, signature)


reference = "le chat dort sur le canapé".split()
candidate = "le chat est allongé sur le canapé bleu".split()
for n in (1, 2):
    print(rouge_n(reference=reference, candidate=candidate, n=n, tokenization="espaces"))

# %% [markdown]
# **Lecture du résultat.** Le rappel de ROUGE-1 est 0,8333 : 5 mots de la référence sur 6 sont repris. La précision, 0,6250, rapporte les
# mêmes 5 mots aux 8 du candidat. Pour les bigrammes, 3 sont communs : rappel 0,6000, précision 0,4286.

# %%
print(rouge_n(reference=["le", "chat"], candidate=["le", "chat", "dort"], tokenization="espaces"))
print(rouge_n(reference=["le", "chat", "dort"], candidate=["le", "chat"], tokenization="espaces"))

# %% [markdown]
# **Lecture du résultat.** Échanger les deux textes échange précision et rappel (0,6667 et 1,0000) et laisse F1 à 0,8000. Qui ne publie
# que F1 ne voit pas l'erreur d'ordre : publions les trois.

# %% [markdown]
# ## 3. ROUGE-L : la plus longue sous-séquence commune
#
# Faut-il choisir n ? ROUGE-L s'en passe. Il cherche la plus longue *sous-séquence* commune (LCS) : des mots communs, *dans le même
# ordre*, avec des trous permis. La table se remplit de proche en proche : si les deux mots sont égaux, on prolonge la diagonale d'une
# unité, sinon on garde le meilleur des deux voisins.

# %%
def lcs_table(first: list[str], second: list[str]) -> list[list[int]]:
    """Table des plus longues sous-séquences communes : table[i][j] est leur longueur pour first[:i] et second[:j]."""
    check_tokens(first, "premier texte")
    check_tokens(second, "second texte")
    table = [[0] * (len(second) + 1) for _ in range(len(first) + 1)]
    for i, left in enumerate(first, start=1):
        for j, right in enumerate(second, start=1):
            if left == right:
                table[i][j] = table[i - 1][j - 1] + 1
            else:
                table[i][j] = max(table[i - 1][j], table[i][j - 1])
    return table

# %% couvre="S0-16"
table = lcs_table(reference, candidate)
print(" " * 9 + "".join(f"{word:>8s}" for word in ["·", *candidate]))
for word, row in zip(["·", *reference], table):
    print(f"{word:>8s} " + "".join(f"{value:8d}" for value in row))
print("longueur de la plus longue sous-séquence commune :", table[-1][-1])

# %% [markdown]
# **Lecture du résultat.** Le coin en bas à droite donne la réponse : 5. En remontant les hausses de la table, on lit la sous-séquence : le,
# chat, sur, le, canapé.

# %% [markdown]
# ROUGE-L n'a besoin que de ce coin. Or la table grandit vite : deux textes de 500 mots en remplissent 250 000 cases. `lcs_length`, prise
# dans `helpers`, rend le même nombre sans la table. Lisons-la pour l'instant comme « le coin de la table » ; nous l'écrirons, et
# vérifierons l'égalité, à la fin de la leçon (« Pour aller plus loin »).

# %% couvre="S3-08"
def rouge_l(reference: list[str], candidate: list[str], beta: float = 1.0,
            tokenization: str = "non précisée") -> RougeScore:
    """ROUGE-L entre deux textes découpés : la plus longue sous-séquence commune, rapportée à chaque longueur."""
    check_tokens(reference, "référence")
    check_tokens(candidate, "candidat")
    matches = lcs_length(reference, candidate)
    signature = Signature("ROUGE-L", f"β : {beta:g}", tokenization)
    return score_from_matches(matches, len(reference), len(candidate), beta, signature)


print(rouge_l(reference=reference, candidate=candidate, tokenization="espaces"))
for n in (1, 2):
    score = rouge_n(reference=reference, candidate=candidate, n=n)
    print(f"ROUGE-{n} : rappel {score.recall:.4f}, précision {score.precision:.4f}, F1 {score.fmeasure:.4f}")

# %% [markdown]
# **Lecture du résultat.** Ici ROUGE-L égale ROUGE-1 (F1 = 0,7143), car les 5 mots communs sont dans le même ordre. ROUGE-2 est plus
# sévère, 0,5000 : le verbe changé casse des bigrammes voisins, pas la sous-séquence.

# %% [markdown] couvre="E-13"
# On lit parfois que ROUGE-L serait « plus tolérant » que les n-grammes parce qu'il « tolérerait l'ordre ». C'est le contraire : il
# *exige* l'ordre et tolère les trous. ROUGE-L ne dépasse donc jamais ROUGE-1. L'article de Lin le montre avec quatre mots.

# %%
police = "police killed the gunman".split()
for text in ("police kill the gunman", "the gunman kill police", "the gunman police killed"):
    words = text.split()
    scores = [rouge_n(police, words, 1), rouge_l(police, words), rouge_n(police, words, 2)]
    print(f"{text:26s}", "   ".join(f"{score.signature.metric} {score.fmeasure:.2f}" for score in scores))

# %% [markdown]
# **Lecture du résultat.** L'article publie 0,75 pour la première phrase et 0,50 pour la deuxième, avec le même ROUGE-2 (0,33) : ROUGE-L
# les départage par l'ordre. La troisième contient les mêmes mots que la référence (ROUGE-1 = 1,00), mais ROUGE-L reste à 0,50, car il ne
# compte qu'un des deux groupes ; ROUGE-2 la préfère (0,67).

# %% [markdown]
# ## 4. Quand précision et rappel se croisent
#
# Une dépêche de douze mots et quatre résumés. Deux erreurs de lecture sont fréquentes : croire qu'un texte long a forcément un bon rappel,
# et croire que F1 tranche.

# %% couvre="S0-17 S0-18 S0-19 E-01"
news = french_words("Le conseil municipal a voté hier soir la rénovation complète du marché.")
SUMMARIES = {
    "court": "Le conseil municipal a voté.",
    "bavard": "Après de longs débats, le conseil municipal a voté un budget assez important dimanche.",
    "permuté": "Hier, le conseil municipal a tout reporté.",
    "complet et long": "Le conseil municipal a voté hier soir la rénovation complète du marché : les travaux "
                       "commenceront sans doute au printemps prochain si aucun recours ne surgit avant.",
}
library = rouge_scorer.RougeScorer(["rouge1", "rougeL"])
print(f"référence : {len(news)} mots")
for name, text in SUMMARIES.items():
    words = french_words(text)
    one, longest = rouge_n(reference=news, candidate=words), rouge_l(reference=news, candidate=words)
    print(f"{name:16s} {len(words):2d} mots  P {one.precision:.4f}  R {one.recall:.3f}  "
          f"ROUGE-1 {one.fmeasure:.4f}  ROUGE-L {longest.fmeasure:.4f}")

# %% [markdown] couvre="E-01"
# **Lecture du résultat.** Le résumé court est tout entier juste (P = 1,0000) mais ne couvre que 5 mots sur 12 (R = 0,417). Le bavard,
# presque trois fois plus long, n'a *pas* un meilleur rappel : 0,417 aussi, car ce sont les mêmes mots ; il a seulement perdu en
# précision (0,3571). Le vrai croisement est avec le résumé complet : rappel 1,000, précision 0,4615. F1 le préfère de peu, 0,6316 contre
# 0,5882. Le permuté perd sur ROUGE-L (0,4211) ce que l'ordre lui coûte, contre 0,5263 pour ROUGE-1.

# %% [markdown]
# ### β : le coût de l'erreur
#
# F1 suppose qu'un mot oublié coûte autant qu'un mot de trop. Ce n'est presque jamais vrai. β règle ce rapport : au-dessus de un, le rappel
# pèse plus ; au-dessous, la précision.

# %% couvre="S3-07"
pair = {name: rouge_n(reference=news, candidate=french_words(SUMMARIES[name])) for name in ("court", "complet et long")}
betas = [0.25 * step for step in range(1, 17)]
for beta in (0.5, 1, 2):
    values = "   ".join(f"{name} {f_measure(s.precision, s.recall, beta):.3f}" for name, s in pair.items())
    print(f"β = {beta:<3g} : {values}")

fig, ax = plt.subplots()
for index, (name, score) in enumerate(pair.items()):
    ax.plot(betas, [f_measure(score.precision, score.recall, beta) for beta in betas], label=name,
            color=plots.COLORS[index], marker=plots.MARKERS[index], linestyle=plots.LINESTYLES[index])
ax.set(xlabel="β (poids du rappel)", ylabel="F-mesure de ROUGE-1", ylim=(0, 1.05))
ax.legend()
plots.show(fig, alt="Deux courbes de F-mesure selon β : celle du résumé court descend, celle du résumé complet "
           "et long monte ; elles se croisent un peu avant β égal à un.")

# %% [markdown]
# *Figure 1. F-mesure de ROUGE-1 selon β, pour le résumé court et pour le résumé complet mais long.*

# %% [markdown]
# **Lecture du résultat.** Avec β = 0,5, le court gagne nettement (0,781 contre 0,517) ; avec β = 2, le complet (0,811 contre 0,472). Le
# classement dépend d'un choix qui n'est pas technique : qu'est-ce qui coûte, un oubli ou un ajout ?

# %% [markdown]
# Une idée voisine veut qu'un résumé trop court obtienne un *bon* BLEU, et un trop long un mauvais. Vérifions, avec le BLEU de la leçon 01.

# %% couvre="E-18"
for name in ("court", "complet et long"):
    bleu = sentence_bleu(french_words(SUMMARIES[name]), [news], tokenization=FRENCH_WORDS)
    print(f"{name} : p1 = {bleu.precisions[0]:.4f}, BP = {bleu.brevity_penalty:.4f}, BLEU = {bleu.score:.4f}")

# %% [markdown] couvre="E-18"
# **Lecture du résultat.** C'est l'inverse : le court obtient 0,2466 et le long 0,4266. La précision du court est parfaite (p1 = 1,0000), mais
# la pénalité de brièveté l'écrase. L'idée ne vaut que pour la précision seule.

# %% [markdown]
# ## 5. ROUGE-Lsum : phrase par phrase
#
# Sur un texte de plusieurs phrases, ROUGE-L exige un seul ordre global. ROUGE-Lsum compare chaque phrase de la référence à *toutes* celles
# du candidat, et réunit les mots qui entrent dans au moins une sous-séquence commune. Les phrases sont séparées par des fins de ligne.
#
# Plusieurs sous-séquences de même longueur peuvent exister ; leur union dépend de celle qu'on retient. Nous suivons le départage de
# rouge-score.

# %%
def lcs_positions(reference: list[str], candidate: list[str]) -> list[int]:
    """Positions, dans la référence, d'une plus longue sous-séquence commune, en ordre croissant."""
    table = lcs_table(reference, candidate)
    i, j, positions = len(reference), len(candidate), []
    while i > 0 and j > 0:
        if reference[i - 1] == candidate[j - 1]:
            i, j = i - 1, j - 1
            positions.append(i)
        elif table[i][j - 1] > table[i - 1][j]:
            j -= 1
        else:
            i -= 1
    return positions[::-1]


def sentence_tokens(text: str, tokenizer=french_words) -> list[list[str]]:
    """Phrases de `text`, une par ligne, chacune découpée par `tokenizer` ; les lignes vides sont ôtées."""
    if not isinstance(text, str):
        raise TypeError(f"texte : chaîne attendue, {type(text).__name__} reçu ; passez le texte entier, non découpé.")
    return [tokenizer(line) for line in text.split("\n") if line]

# %%
def check_sentences(sentences: list[list[str]], name: str) -> None:
    """Vérifie que `sentences` est une liste de phrases découpées."""
    if not isinstance(sentences, (list, tuple)):
        raise TypeError(f"{name} : liste de phrases découpées attendue, {type(sentences).__name__} reçu ; "
                        "passez sentence_tokens(texte).")
    for number, sentence in enumerate(sentences, start=1):
        check_tokens(sentence, f"{name}, phrase {number}")


def rouge_lsum(reference: list[list[str]], candidate: list[list[str]], beta: float = 1.0,
               tokenization: str = "non précisée") -> RougeScore:
    """ROUGE-Lsum entre deux textes, donnés chacun comme liste de phrases découpées (voir `sentence_tokens`)."""
    check_sentences(reference, "référence")
    check_sentences(candidate, "candidat")
    union = Counter()
    for sentence in reference:
        positions = set().union(*(lcs_positions(sentence, other) for other in candidate))
        union.update(sentence[position] for position in positions)
    candidate_counts = Counter(token for sentence in candidate for token in sentence)
    matches = sum((union & candidate_counts).values())
    reference_total = sum(len(sentence) for sentence in reference)
    candidate_total = sum(len(sentence) for sentence in candidate)
    signature = Signature("ROUGE-Lsum", f"β : {beta:g}", tokenization)
    return score_from_matches(matches, reference_total, candidate_total, beta, signature)

# %% [markdown]
# L'article donne un exemple abstrait : la phrase de référence `w1 w2 w3 w4 w5` et deux phrases candidates. Ajoutons un exemple
# français, où les deux phrases sont justes mais dans l'ordre inverse.

# %%
lin_reference = ["w1 w2 w3 w4 w5".split()]
lin_candidate = ["w1 w2 w6 w7 w8".split(), "w1 w3 w8 w9 w5".split()]
for other in lin_candidate:
    print(" ".join(other), "→ positions retrouvées :", lcs_positions(lin_reference[0], other))
print(rouge_lsum(reference=lin_reference, candidate=lin_candidate, tokenization="espaces"))

swapped_reference = "Le maire ouvre le marché.\nLes commerçants applaudissent."
swapped_candidate = "Les commerçants applaudissent.\nLe maire ouvre le marché."
print(rouge_l(reference=french_words(swapped_reference), candidate=french_words(swapped_candidate),
              tokenization=FRENCH_WORDS))
print(rouge_lsum(reference=sentence_tokens(swapped_reference), candidate=sentence_tokens(swapped_candidate),
                 tokenization=FRENCH_WORDS + ", une phrase par ligne"))

# %% [markdown]
# **Lecture du résultat.** L'union des positions couvre 4 mots de la référence sur 5 : le rappel publié, quatre cinquièmes, soit 0,8000. En
# français, intervertir deux phrases fait tomber ROUGE-L à 0,6250 ; ROUGE-Lsum reste à 1,0000. Sans fins de ligne, les deux seraient égaux :
# comment les phrases sont séparées fait partie de la mesure.

# %% [markdown]
# ## 6. Le piège des accents
#
# La bibliothèque la plus courante, rouge-score, découpe par défaut selon le motif `[a-z0-9]+` : une lettre accentuée y est un séparateur.
# Écrivons cette découpe pour voir ce qu'elle fait au français, à côté de celle de la leçon 01.

# %% couvre="S0-14 E-13"
ASCII_PATTERN = re.compile(r"[a-z0-9]+")


def ascii_words(text: str) -> list[str]:
    """Découpe par défaut de rouge-score, sans racinisation : à ne pas employer en français."""
    if not isinstance(text, str):
        raise TypeError(f"texte : chaîne attendue, {type(text).__name__} reçu ; passez le texte entier, non découpé.")
    return ASCII_PATTERN.findall(text.lower())


sentence = "L'été, à Noël, l'élève était déçu"
print("ascii_words  :", " ".join(ascii_words(sentence)))
print("french_words :", " ".join(french_words(sentence)))

# %% [markdown] couvre="E-13"
# **Lecture du résultat.** Huit mots français deviennent dix débris : « élève » devient « l » puis « ve », et « à » disparaît. Toute
# ressemblance mesurée sur ces débris est douteuse. La découpe française garde les mots.

# %%
ACCENTS = [
    ("pêche", "pâche"),
    ("il a mangé", "il a mang"),
    ("la pêche", "le péché"),
    ("l'élève a été reçu", "l'eleve a ete recu"),
    ("à côté", "à côté"),
    ("à", "à"),
]
print("référence / candidat                          ascii_words  french_words")
for reference_text, candidate_text in ACCENTS:
    scores = [rouge_n(cut(reference_text), cut(candidate_text)).fmeasure for cut in (ascii_words, french_words)]
    print(f"{reference_text + ' / ' + candidate_text:46s} {scores[0]:10.3f} {scores[1]:13.3f}")

# %% [markdown]
# **Lecture du résultat.** Avec les débris, « pêche » et « pâche » sont identiques (1,000 au lieu de 0,000), et « il a mang » vaut « il a
# mangé » (1,000 au lieu de 0,667). Dans l'autre sens, le mot « à » comparé à lui-même vaut 0,000 : il ne reste rien de lui. L'erreur va dans
# les deux sens, aucune correction moyenne ne la répare.

# %% [markdown]
# rouge-score accepte une autre découpe : un objet qui a une méthode `tokenize`. C'est la parade, en une classe.
#
# Vérifions du même coup l'accord, à 1e-9, avec les deux découpes, sur toutes les paires d'un petit ensemble de textes français, ponctuation,
# accents et textes vides compris.

# %% couvre="S0-19"
class FrenchTokenizer:
    """Notre découpe, sous la forme que rouge-score attend."""

    def tokenize(self, text):
        return french_words(text)


TEXTS = [*SUMMARIES.values(), swapped_reference, swapped_candidate, sentence, "Le marché.\n\nHier, à côté.", ".", ""]
METRICS = ["rouge1", "rouge2", "rougeL", "rougeLsum"]
for name, cut, tokenizer in (("sa découpe", ascii_words, None), ("la nôtre", french_words, FrenchTokenizer())):
    library = rouge_scorer.RougeScorer(METRICS, tokenizer=tokenizer)
    gaps = []
    for left in TEXTS:
        for right in TEXTS:
            theirs = library.score(left, right)
            one, two = cut(left), cut(right)
            ours = [rouge_n(one, two, 1), rouge_n(one, two, 2), rouge_l(one, two),
                    rouge_lsum(sentence_tokens(left, cut), sentence_tokens(right, cut))]
            for metric, mine in zip(METRICS, ours):
                values = (mine.precision, mine.recall, mine.fmeasure)
                gaps += [abs(a - b) for a, b in zip(values, theirs[metric])]
    print(f"{name} : {len(gaps)} valeurs comparées, toutes égales à 1e-9 près : {max(gaps) < 1e-9}")

library = rouge_scorer.RougeScorer(["rouge1", "rougeL"], tokenizer=FrenchTokenizer())
news_text = "Le conseil municipal a voté hier soir la rénovation complète du marché."
for name in ("court", "bavard", "permuté"):
    score = library.score(news_text, SUMMARIES[name])
    print(f"rouge-score, {name:8s} R1 {score['rouge1'].fmeasure:.4f}   RL {score['rougeL'].fmeasure:.4f}")

# %% [markdown]
# **Lecture du résultat.** Les 1200 valeurs comparées sont égales, avec chaque découpe. Les trois résumés de la dépêche retrouvent chez
# rouge-score les valeurs calculées plus haut : 0,5882, 0,3846, 0,5263 pour ROUGE-1, et 0,4211 pour ROUGE-L du permuté.

# %% [markdown] couvre="E-13b"
# Être d'accord avec rouge-score ne prouve pas qu'on a raison : c'est l'implémentation *la plus courante*, pas la norme.
# [Grusky (2023)](https://aclanthology.org/2023.acl-long.107/) la range parmi les paquets qui s'écartent du programme d'origine (racinisation,
# ROUGE-L par défaut, rééchantillonnage sans graine). Sa revue de 2 834 articles en trouve 20 % assez détaillés pour être refaits ; parmi ceux qui
# citent leur logiciel, 76 % en citent un fautif. Nommons donc le paquet, la découpe et les options.
#
# La racinisation (`use_stemmer`) mérite un mot : c'est celle de Porter, écrite pour l'anglais.

# %%
for stemmer in (False, True):
    library = rouge_scorer.RougeScorer(["rouge1"], use_stemmer=stemmer)
    score = library.score("les chats dorment", "les chat dorme")["rouge1"]
    print(f"use_stemmer={stemmer} : F1 = {score.fmeasure:.3f}")

# %% [markdown]
# **Lecture du résultat.** Le score passe de 0,333 à 0,667 : la racinisation reconnaît « chats » et « chat », par chance, mais ni la
# conjugaison française, ni rien d'accentué. Ne l'employons pas en français.

# %% [markdown]
# ## 7. Les bords, les erreurs, plusieurs références
#
# Un texte vide donne zéro partout ; deux textes vides aussi. C'est une convention, celle de rouge-score ; d'autres paquets lèvent une erreur.

# %%
for name, left, right in (("candidat vide", "le chat", ""), ("candidat « . »", "le chat", "."), ("deux vides", "", "")):
    score = rouge_n(reference=french_words(left), candidate=french_words(right))
    print(f"{name:15s} P {score.precision:.1f}  R {score.recall:.1f}  F1 {score.fmeasure:.1f}")
MISTAKES = [
    ("une chaîne", lambda: rouge_n("le chat dort", ["le", "chat"])),
    ("jeton non textuel", lambda: rouge_l(["le", "chat"], ["le", math.nan])),
    ("phrases non découpées", lambda: rouge_lsum("Le chat dort.", [["le", "chat"]])),
    ("β nul", lambda: rouge_n(["le"], ["le"], beta=0)),
    ("ordre nul", lambda: rouge_n(["le"], ["le"], n=0)),
]
for name, call in MISTAKES:
    try:
        call()
    except (TypeError, ValueError) as error:
        print(f"{name} → {type(error).__name__} : {error}")

# %% [markdown]
# Avec plusieurs résumés de référence, l'usage est de garder le meilleur, ici au sens de F1 ; `score_multi` de rouge-score fait de même.

# %%
references = [news_text, "La rénovation du marché est votée.", "Les élus ont adopté le projet de marché hier soir."]
summary = "Le conseil a voté la rénovation du marché hier soir."
scores = [rouge_n(reference=french_words(text), candidate=french_words(summary)) for text in references]
for number, score in enumerate(scores, start=1):
    print(f"référence {number} : F1 = {score.fmeasure:.4f}")
best = max(scores, key=lambda score: score.fmeasure)
theirs = rouge_scorer.RougeScorer(["rouge1"], tokenizer=FrenchTokenizer()).score_multi(references, summary)["rouge1"]
print(f"meilleure : {best.fmeasure:.4f} ; score_multi : {theirs.fmeasure:.4f}")

# %% [markdown]
# **Lecture du résultat.** La même phrase obtient de 0,4000 à 0,9091 selon la référence ; le meilleur des trois est aussi ce que rend
# `score_multi`. Plus il y a de références, plus le maximum monte : leur nombre se publie.

# %% [markdown]
# ## 8. BLEU et ROUGE côte à côte
#
# Cinq façons de se tromper, ou de ne pas se tromper, sur la même dépêche.

# %% couvre="S3-10"
CASES = {
    "copie": news_text,
    "tronqué": "Le conseil municipal a voté hier soir.",
    "désordre": "Du marché la rénovation complète hier soir a voté le conseil municipal.",
    "négation": "Le conseil municipal n'a pas voté hier soir la rénovation complète du marché.",
    "paraphrase": "Les élus ont adopté la veille le projet de réfection totale des halles.",
}
rows = {}
for name, text in CASES.items():
    words = french_words(text)
    bleu = sentence_bleu(words, [news], smoothing="method1", tokenization=FRENCH_WORDS)
    rows[name] = [bleu.score, rouge_n(news, words).fmeasure, rouge_l(news, words).fmeasure]
    print(f"{name:11s} BLEU-4 {rows[name][0]:.3f}   ROUGE-1 {rows[name][1]:.3f}   ROUGE-L {rows[name][2]:.3f}")

fig, ax = plt.subplots()
for index, metric in enumerate(("BLEU-4 (method1)", "ROUGE-1 (F1)", "ROUGE-L (F1)")):
    positions = [position + 0.27 * (index - 1) for position in range(len(rows))]
    ax.bar(positions, [values[index] for values in rows.values()], width=0.25, label=metric,
           color=plots.COLORS[index], hatch=plots.HATCHES[index])
ax.set(xticks=range(len(rows)), xticklabels=rows, ylabel="score (de 0 à 1)", ylim=(0, 1.2))
ax.legend(loc="upper center", ncols=3)
plots.show(fig, alt="Barres de BLEU-4, ROUGE-1 et ROUGE-L pour cinq candidats : tout est à un pour la copie, la "
           "négation reste haute, surtout en ROUGE, la paraphrase est basse partout, et le désordre garde un "
           "ROUGE-1 de un.")

# %% [markdown]
# *Figure 2. BLEU-4 lissé, ROUGE-1 et ROUGE-L de cinq candidats contre la même dépêche. Les hachures doublent la couleur.*

# %% [markdown]
# **Lecture du résultat.** Le désordre garde ROUGE-1 = 1,000 et perd ailleurs. La négation, qui dit le contraire de la dépêche, garde
# ROUGE-L = 0,923. La paraphrase, fidèle, n'a presque rien : ROUGE-1 = 0,160. Aucune des trois métriques ne voit le sens.

# %% [markdown] couvre="S0-13"
# ## 9. Choisir d'après le coût de l'erreur
#
# | tâche | erreur qui coûte | métrique naturelle | ce qu'elle ne dit pas |
# |---|---|---|---|
# | traduction | écrire ce que la source ne dit pas | BLEU de corpus, avec signature | le sens, la fluidité d'une phrase isolée |
# | résumé | oublier un fait | rappel de ROUGE-1 et ROUGE-L ; β > 1 | la vérité de ce qui est ajouté |
# | titre, alerte | être long ou faux | précision, ou β < 1 | les faits oubliés |
# | réponse d'après documents | inventer, ou omettre | les deux, *plus* la fidélité aux documents | la pertinence pour la personne |
#
# Aucune de ces métriques ne se lit sans ses voisines : la [leçon 03](03_perplexite.ipynb) regarde le texte sans référence, la
# [leçon 04](04_juge_llm.ipynb) demande à un autre modèle.

# %% [markdown]
# ## À retenir
#
# - ROUGE donne une précision, un rappel et une F-mesure : on publie les trois, avec β.
# - Un texte plus long n'a pas forcément un meilleur rappel ; F1 ne tranche que si les deux erreurs coûtent autant.
# - ROUGE-L exige l'ordre et tolère les trous ; il ne dépasse jamais ROUGE-1. ROUGE-Lsum le fait phrase par phrase.
# - La découpe par défaut de rouge-score détruit les mots accentués : passer la sienne par `tokenizer=`.
# - Ordre des arguments : (référence, candidat) pour ROUGE, (candidat, références) pour notre BLEU.
# - L'accord avec une bibliothèque courante n'est pas une preuve de justesse ; un cas à la main et un nombre publié, si.

# %% [markdown]
# ## Questions
#
# **1.** Un résumé reprend douze mots sur douze de la référence et en ajoute douze autres. Que valent précision, rappel et F1 de ROUGE-1 ?
#
# <details><summary>Réponse</summary>
#
# Précision douze sur vingt-quatre, soit 0,5 ; rappel 1 ; F1 deux tiers.
# </details>
#
# **2.** Pourquoi ROUGE-L ne peut-il pas dépasser ROUGE-1 ?
#
# <details><summary>Réponse</summary>
#
# Tout mot d'une sous-séquence commune est un mot commun, compté au plus autant de fois dans chaque texte. La longueur de la sous-séquence est
# donc au plus le nombre de mots communs, et les dénominateurs sont les mêmes.
# </details>
#
# **3.** Un collègue annonce que son système français gagne deux points de ROUGE-1. Que lui demander d'abord ?
#
# <details><summary>Réponse</summary>
#
# La découpe (accents coupés ou non), le paquet et ses options, la mesure (F1 ou rappel), le nombre de résumés et un intervalle sur la
# différence. Avec la découpe par défaut, une partie du gain peut venir de débris de mots.
# </details>

# %% [markdown]
# ## Pour aller plus loin
#
# ### La longueur sans la table
#
# La section 3 remplit une case par couple de mots, quand ROUGE-L n'en lit qu'une.
# [Allison et Dix (1986)](https://doi.org/10.1016/0020-0190%2886%2990091-8) passent d'une *ligne* à la suivante par quelques opérations
# sur un entier. Trois idées suffisent.
#
# **Une ligne tient dans un entier.** D'une case à sa voisine de droite, la table croît de 0 ou de 1. Retenons seulement où elle croît :
# un bit par mot du candidat, à 1 pour une *hausse*. La dernière case de la ligne est alors le nombre de bits à 1.
#
# **Une hausse ne va que vers la gauche.** La deuxième, par exemple, termine le plus court début du candidat où l'on trouve, dans l'ordre,
# deux mots déjà lus de la référence. Lisons un mot de plus. S'il figure entre la première hausse et la deuxième, un début plus court
# suffit désormais : la deuxième vient s'y placer. Sinon, elle reste. Il en va ainsi de chaque hausse ; et si le mot figure après la
# dernière, il en pose une nouvelle.
#
# **Une seule soustraction les déplace toutes.** Coupons la ligne après chaque hausse. Dans chaque bloc, les *places* possibles sont celles
# du mot lu et celle de l'ancienne hausse ; il faut garder la plus à gauche. Or retrancher 1 à un nombre éteint son bit à 1 le plus bas
# sans toucher à ceux du dessus : en binaire, 1100 − 1 = 1011. Donnons donc le bit le plus bas au premier mot, et retranchons aux
# places un nombre qui a un 1 au début de chaque bloc : les places qui s'éteignent sont les nouvelles hausses.
#
# Suivons le calcul sur une phrase dont les deux moitiés sont échangées. Les bits s'écrivent ici dans l'ordre des mots : le plus bas à
# gauche, à l'inverse de l'usage.

# %%
swapped = "dort bien le chat noir".split()
straight = "le chat noir dort bien".split()


def bits(number: int) -> str:
    """Un bit par mot du candidat, celui du premier mot à gauche."""
    return "".join(str(number >> j & 1) for j in range(len(straight)))


print("candidat :", " ".join(straight))
print("mot lu   places  débuts  différence  hausses   ligne de la table")
rises = 0
for word, row in zip(swapped, lcs_table(swapped, straight)[1:]):
    places = rises | sum(1 << j for j, other in enumerate(straight) if other == word)
    starts = rises << 1 | 1
    rises = places & ~(places - starts)
    print(f"{word:8s} {bits(places):7s} {bits(starts):7s} {bits(places - starts):11s} {bits(rises):9s} "
          f"{' '.join(map(str, row[1:]))}")
print("bits à 1 :", rises.bit_count())

# %% [markdown]
# **Lecture du résultat.** « dort » et « bien » posent chacun une hausse à leur place. « le » tire la première jusqu'à lui, au début du
# candidat ; « chat » tire de même la deuxième ; « noir » en pose une troisième. À chaque mot lu, les hausses sont là où la ligne de la
# table monte, et leur nombre final, 3, en est le coin : « le chat noir ».

# %% [markdown]
# Écrivons la fonction. Le *masque* d'un mot, c'est-à-dire ses places dans le second texte, se calcule une fois pour toutes. Les entiers de
# Python ont autant de bits qu'il en faut : un texte de mille mots tient dans un seul. Le bloc qui suit la dernière hausse peut n'avoir
# aucune place ; la soustraction emprunte alors au-delà du dernier mot, et la différence devient négative : `&` efface l'emprunt.

# %%
def lcs_length(first: list[str], second: list[str]) -> int:
    """Longueur, en mots, de la plus longue sous-séquence commune : mêmes mots, même ordre, trous permis."""
    check_tokens(first, "premier texte")
    check_tokens(second, "second texte")
    masks = {}
    for j, token in enumerate(second):
        masks[token] = masks.get(token, 0) | 1 << j
    rises = 0
    for token in first:
        places = rises | masks.get(token, 0)
        rises = places & ~(places - (rises << 1 | 1))
    return rises.bit_count()


long_text = french_words(" ".join(TEXTS))
samples = [*map(french_words, TEXTS), long_text, long_text[::-1]]
equal = [lcs_length(left, right) == lcs_table(left, right)[-1][-1] for left in samples for right in samples]
print(f"{len(equal)} couples, de {min(map(len, samples))} à {max(map(len, samples))} mots : "
      f"le coin de la table retrouvé {sum(equal)} fois")

# %% [markdown]
# **Lecture du résultat.** Les 144 longueurs sont le coin de la table, texte vide et texte de 81 mots compris.

# %% [markdown]
# S'accorder avec notre propre table ne suffit pas : les tests du cours comparent aussi `lcs_length` à la bibliothèque RapidFuzz, et
# `rouge_l` à rouge-score. On peut faire mieux que six opérations par mot lu : cinq chez
# [Crochemore et al. (2001)](https://doi.org/10.1016/S0020-0190%2801%2900182-X), quatre chez Hyyrö (2004), dont RapidFuzz suit l'article.
# ROUGE-Lsum, lui, demande *quels* mots sont communs : `lcs_positions` remonte la table, et ne s'en passe pas.
#
# ### À essayer
#
# - Échanger les deux arguments de `lcs_length` : pourquoi le nombre est-il le même, alors que ni les masques ni les lignes ne le sont ?
# - Refaire la figure 2 avec `ascii_words` : quels candidats montent, et pourquoi ?
# - Écrire un couple de textes dont le ROUGE-Lsum dépend du départage entre deux sous-séquences de même longueur.
# - Comparer le choix du maximum, avec plusieurs références, et celui de la moyenne : lequel favorise les textes passe-partout ?

# %% [markdown] couvre="S0-48"
# ## Sources
#
# - [Lin (2004), *ROUGE: A Package for Automatic Evaluation of Summaries*](https://aclanthology.org/W04-1013/)
# - [Allison et Dix (1986), *A bit-string longest-common-subsequence algorithm*](https://doi.org/10.1016/0020-0190%2886%2990091-8)
# - [Crochemore, Iliopoulos, Pinzon et Reid (2001), *A fast and practical bit-vector algorithm for the longest common subsequence
#   problem*](https://doi.org/10.1016/S0020-0190%2801%2900182-X)
# - Hyyrö (2004), *Bit-parallel LCS-length computation revisited*, AWOCA ; les nombres d'opérations sont comptés dans
#   [*Mining Bit-Parallel LCS-length Algorithms* (SPIRE 2017)](https://doi.org/10.1007/978-3-319-67428-5_18)
# - [Grusky (2023), *Rogue Scores*, ACL](https://aclanthology.org/2023.acl-long.107/)
# - [rouge-score, dépôt google-research](https://github.com/google-research/google-research/tree/master/rouge)
# - [Unicode, annexe 15 : formes de normalisation](https://unicode.org/reports/tr15/)
