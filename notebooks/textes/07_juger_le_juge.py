# %% [markdown]
# # Leçon 07 · Juger le juge
#
# **Objectifs**
#
# - mesurer l'accord d'un juge avec des personnes : exactitude, kappa, et ce que chacun cache ;
# - repérer ses biais de position et de longueur sur les deux passages, avec un intervalle ;
# - lire de vrais juges, de très bons et de très mauvais, sur des votes publiés ;
# - faire noter sur une échelle, lire la note sans la deviner, connaître le plafond que fixe le bruit humain ;
# - corriger un taux quand les erreurs du juge sont connues.
#
# **Durée** : environ 2 h.
#
# **Prérequis**
#
# - [leçon 04](04_juge_llm.ipynb) : requête d'un juge, choix contraint, intervalle de Wilson, kappa de Cohen.

# %% [markdown] couvre="S2-01"
# La [leçon 04](04_juge_llm.ipynb) a comparé un juge à des réponses dont nous connaissions la justesse. Le plus souvent,
# nous n'avons pas la vérité : nous avons des **avis de personnes**. Juger le juge, c'est mesurer s'il dit ce qu'elles
# disent.
#
# | mot | sens dans cette leçon |
# |---|---|
# | juge | un modèle qui donne un verdict ou une note |
# | jeu d'étalonnage | des exemples qui portent à la fois un avis humain et un verdict du juge |
# | kappa | l'accord, une fois retiré celui du hasard |
# | biais de position | la place d'un texte change le verdict |
# | biais de longueur | la longueur d'un texte change le verdict |
#
# Aucun avis humain n'est inventé ici. Les votes cités comme réels sont des comptes publiés, avec leur source. Les
# petits tableaux qui servent à apprendre les formules sont annoncés comme des exemples de calcul.

# %%
import json
import math
import re
from bisect import bisect_left, bisect_right
from collections import Counter
from itertools import permutations
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from nltk.metrics.agreement import AnnotationTask
from scipy import stats
from sklearn import metrics

from helpers import judge, plots
from helpers.agreement import cohen_kappa, wilson_interval
from helpers.judge import choice_logprobs, read_choice

DATA = Path(judge.__file__).parent / "donnees"
public = json.loads((DATA / "agregats.json").read_text(encoding="utf-8"))


def with_interval(successes, total):
    low, high = wilson_interval(successes, total)
    return f"{successes}/{total} = {successes / total:.3f}  Wilson 95 % [{low:.3f}, {high:.3f}]"


# %% [markdown]
# ## 1. L'exactitude face au hasard
#
# Premier exemple de calcul : vingt réponses, notées « r » (réussi) ou « e » (échoué) par une personne, puis par un
# juge. La **table de confusion** compte les quatre cas : une ligne par avis de la personne, une colonne par avis du
# juge.

# %% couvre="S2-02 S2-03"
def confusion_matrix(labels_a, labels_b, levels):
    if len(labels_a) != len(labels_b):
        raise ValueError(f"{len(labels_a)} étiquettes d'un côté et {len(labels_b)} de l'autre : "
                         "donnez une étiquette de chaque juge par exemple.")
    if len(labels_a) == 0:
        raise ValueError("aucune étiquette : l'accord n'est pas défini ; donnez au moins un exemple.")
    ranks = {level: rank for rank, level in enumerate(levels)}
    if len(ranks) < 2 or len(ranks) < len(levels):
        raise ValueError(f"échelle {list(levels)} : il faut au moins deux niveaux, tous différents ; corrigez `levels`.")
    table = [[0] * len(levels) for _ in levels]
    for a, b in zip(labels_a, labels_b):
        for label in (a, b):
            if label not in ranks:
                raise ValueError(f"note {label!r} hors de l'échelle {list(levels)} : corrigez la note ou complétez `levels`.")
        table[ranks[a]][ranks[b]] += 1
    return table


person, machine = public["graine_002"]["H"], public["graine_002"]["J"]
print("personne :", person, dict(Counter(person)))
print("juge     :", machine, dict(Counter(machine)))
table = confusion_matrix(person, machine, "re")
print("table :", table)
print("scikit-learn :", metrics.confusion_matrix(list(person), list(machine), labels=["r", "e"]).tolist())
print("accord :", with_interval(table[0][0] + table[1][1], 20))
print("juge qui dit toujours « r » :", with_interval(person.count("r"), 20))

# %% [markdown]
# **Lecture du résultat.** L'accord est de 18 sur 20, soit 0,900, dans un intervalle qui va de 0,699 à 0,972. Mais un
# juge qui dit toujours « r », sans rien lire, s'accorde déjà 16 fois sur 20, soit 0,800. La table montre où est la
# différence : les 2 désaccords sont des échecs que le juge déclare réussis, et il n'a retrouvé que 2 échecs sur 4.

# %% [markdown]
# ## 2. Le kappa à la main
#
# Combien d'accords le hasard donnerait-il ? Tirons, au hasard, un avis de la personne et un avis du juge, chacun dans
# ses propres réponses. Sur $20 \times 20 = 400$ couples d'avis, ceux qui disent la même chose sont les couples r–r et
# les couples e–e.
#
# Le **kappa de Cohen** mesure la part du chemin faite entre cet accord du hasard et l'accord parfait :
#
# $$\kappa = \frac{p_o - p_e}{1 - p_e} = \frac{n \times \text{accords} - \text{hasard}}{n^2 - \text{hasard}}$$

# %% couvre="S2-04 S2-05"
counts_p, counts_m = Counter(person), Counter(machine)
chance = sum(counts_p[label] * counts_m[label] for label in "re")
print(f"hasard : {counts_p['r']} × {counts_m['r']} + {counts_p['e']} × {counts_m['e']} = {chance} couples sur {20 * 20}, "
      f"soit {chance / 400:.2f}")
print(f"kappa  : ({20 * 18} − {chance})/({20 * 20} − {chance}) = {20 * 18 - chance}/{400 - chance} "
      f"= {(360 - chance) / (400 - chance):.4f}")
ours, sklearn = cohen_kappa(person, machine), metrics.cohen_kappa_score(list(person), list(machine))
print(f"cohen_kappa : {ours:.4f}   scikit-learn : {sklearn:.4f}   écart sous 1e-9 : {abs(ours - sklearn) < 1e-9}")
print(f"kappa du juge qui dit toujours « r » : {cohen_kappa(person, 'r' * 20):.4f}")

# %% [markdown]
# **Lecture du résultat.** Le hasard donnerait 296 accords pour 400 couples d'avis, soit 0,74. Le kappa vaut 64/104,
# soit 0,6154, que l'on écrit 0,62 ; scikit-learn dit la même chose. Le juge constant, lui, a un kappa de 0,0000 : tout
# son accord est celui du hasard. Un kappa peut aussi être négatif, quand l'accord est inférieur à celui du hasard, et
# il n'est pas défini quand les deux juges sont la même constante.

# %% [markdown]
# ## 3. Le paradoxe du kappa, PABAK et AC1
#
# Le kappa a son propre piège. Un autre exemple de calcul : vingt réponses, dont presque toutes sont réussies. Les deux
# juges s'accordent sur dix-huit, et chacun voit un échec que l'autre ne voit pas.

# %% couvre="S2-06"
first, second = "r" * 18 + "re", "r" * 18 + "er"
print("table :", confusion_matrix(first, second, "re"), "  accord :", 18 / 20)
print(f"hasard : 19 × 19 + 1 × 1 = {19 * 19 + 1} sur 400   "
      f"kappa : (360 − 362)/(400 − 362) = {cohen_kappa(first, second):.3f}")


def pabak(labels_a, labels_b, levels):
    table = confusion_matrix(labels_a, labels_b, levels)
    agreement = sum(table[i][i] for i in range(len(levels))) / len(labels_a)
    return (len(levels) * agreement - 1) / (len(levels) - 1)


def gwet_ac1(labels_a, labels_b, levels):
    table = confusion_matrix(labels_a, labels_b, levels)
    total = len(labels_a)
    agreement = sum(table[i][i] for i in range(len(levels))) / total
    # Part de chaque étiquette, les deux juges réunis : une ligne de la table, et la colonne de même rang.
    shares = [(sum(row) + sum(column)) / (2 * total) for row, column in zip(table, zip(*table))]
    chance = sum(share * (1 - share) for share in shares) / (len(levels) - 1)
    return (agreement - chance) / (1 - chance)


always = "r" * 20
for name, a, b in (("exemple de la section 1", person, machine), ("toujours « r »", person, always),
                   ("paradoxe", first, second)):
    failures = [y for x, y in zip(a, b) if x == "e"]
    mcc = metrics.matthews_corrcoef(list(a), list(b))
    print(f"{name:<24} accord {sum(x == y for x, y in zip(a, b)) / 20:.2f}  kappa {cohen_kappa(a, b):+.3f}  "
          f"PABAK {pabak(a, b, 're'):.3f}  AC1 {gwet_ac1(a, b, 're'):.3f}  MCC {mcc:+.3f}  "
          f"échecs retrouvés {failures.count('e')}/{len(failures)}")

# %% [markdown]
# Les deux remèdes changent ce qu'on appelle « hasard » :
#
# - **PABAK** fait tirer les étiquettes à parts égales. Pour deux étiquettes, il vaut $2 p_o - 1$ : c'est l'accord brut,
#   sur une autre échelle ;
# - l'**AC1 de Gwet** mesure le hasard par $2\pi(1-\pi)$, où $\pi$ est la part moyenne de « r ». Il devient petit quand
#   une étiquette domine.
#
# Un tableau publié permet de vérifier nos fonctions : cent dossiers classés en trois diagnostics par deux lecteurs,
# donné avec les valeurs de référence par le [paquet irrCAC de
# Gwet](https://cran.r-project.org/web/packages/irrCAC/vignettes/overview.html).

# %%
def expand(table, levels):
    """Deux suites d'étiquettes qui ont cette table de confusion."""
    cells = [(a, b, n) for a, row in zip(levels, table) for b, n in zip(levels, row)]
    return [a for a, _, n in cells for _ in range(n)], [b for _, b, n in cells for _ in range(n)]


PUBLISHED = {"kappa": 0.7964, "AC1": 0.8493, "PABAK": 0.835}
readers = expand([[13, 0, 0], [0, 20, 7], [0, 4, 56]], "EAN")
for name, value in (("kappa", cohen_kappa(*readers)), ("AC1", gwet_ac1(*readers, "EAN")),
                    ("PABAK", pabak(*readers, "EAN"))):
    print(f"{name:<6} calculé {value:.4f}   publié {PUBLISHED[name]}")

rng = np.random.default_rng(7)
draws = []
for _ in range(4000):
    picked = rng.integers(0, 20, 20)
    draws.append(cohen_kappa([person[i] for i in picked], [machine[i] for i in picked]))
low, high = np.nanpercentile(draws, [2.5, 97.5])
print(f"kappa de la section 1, bootstrap à 95 % (graine 7, 4000 tirages, dont {sum(map(math.isnan, draws))} indéfinis) : "
      f"[{low:.2f}, {high:.2f}]")

# %% [markdown]
# **Lecture du résultat.** L'accord est le même que dans la section 1, 0,90, et le kappa tombe de 0,615 à −0,053 : le
# hasard donne déjà 362 accords sur 400, et il ne reste presque rien à gagner. C'est le paradoxe du kappa. PABAK (0,800)
# et l'AC1 (0,890) ne s'effondrent pas. Ont-ils raison ? Le second juge a retrouvé 0 échec sur 1 : son accord ne montre
# aucune capacité à voir un échec, et le kappa le dit à sa façon. À l'inverse, PABAK donne 0,600 et l'AC1 0,756 à un
# juge qui dit toujours « r ». Aucun coefficient ne remplace la table. Nos fonctions retrouvent les valeurs publiées :
# 0,7964, 0,8493 et 0,835. Quant au kappa de 0,615, son bootstrap va de 0,00 à 1,00, et 45 tirages sur 4000, sans aucun
# échec, n'en donnent pas : vingt exemples, dont quatre échecs, ne disent presque rien.

# %%
# Cent exemples, 90 accords, 5 désaccords de chaque sorte : seule change la part de « r ».
shares, curves = [], {"kappa de Cohen": [], "AC1 de Gwet": [], "PABAK": []}
for both_r in range(0, 91, 5):
    a, b = expand([[both_r, 5], [5, 90 - both_r]], "re")
    shares.append((both_r + 5) / 100)
    for curve, value in zip(curves.values(), (cohen_kappa(a, b), gwet_ac1(a, b, "re"), pabak(a, b, "re"))):
        curve.append(value)
fig, ax = plt.subplots()
for k, (name, curve) in enumerate(curves.items()):
    ax.plot(shares, curve, marker=plots.MARKERS[k], linestyle=plots.LINESTYLES[k], color=plots.COLORS[k], label=name)
    print(f"{name:<15}", " ".join(f"{value:.2f}" for value in curve))
ax.axhline(0, color="black", linewidth=1)
ax.set(xlabel="part de « réussi » chez chacun des deux juges", ylabel="coefficient", ylim=(-0.15, 1))
ax.legend(loc="lower center")
plots.show(fig, alt=(
    "Trois coefficients pour un accord constant de 90 % quand la part de réussi va de 5 % à 95 % : le kappa, en ronds, "
    "monte de −0,05 à 0,80 puis redescend ; l'AC1, en carrés, fait l'inverse ; PABAK, en triangles, reste à 0,80."
))

# %% [markdown]
# *Figure 1. Un même accord de 90 %, trois coefficients, selon la part de « réussi ».*

# %% [markdown]
# **Lecture du résultat.** L'accord est partout de 90 %. Le kappa va pourtant de −0,05 aux bords à 0,80 au milieu ;
# l'AC1 va de 0,89 à 0,80 ; PABAK reste à 0,80. Deux kappas ne se comparent donc que sur des jeux où les étiquettes ont
# des parts voisines.

# %% [markdown] couvre="S2-14"
# **Une erreur courante** : « 90 % d'accord, donc le juge est fiable ». Un accord élevé ne prouve rien quand une
# étiquette domine. Il faut **assez d'exemples de chaque étiquette**, et surtout d'échecs, puisque c'est eux qu'on
# cherche. Le plus clair reste de montrer la table entière, avec les deux taux qu'elle contient : la **sensibilité**
# (part des réussites reconnues) et la **spécificité** (part des échecs reconnus).
#
# Et la corrélation ? Sur deux étiquettes, elle n'ajoute rien : toutes les corrélations y sont le même nombre.

# %%
x, y = [int(label == "r") for label in person], [int(label == "r") for label in machine]
for name, value in (("Pearson", stats.pearsonr(x, y)[0]), ("Spearman", stats.spearmanr(x, y)[0]),
                    ("tau de Kendall", stats.kendalltau(x, y)[0]), ("MCC (phi)", metrics.matthews_corrcoef(x, y)),
                    ("kappa", cohen_kappa(x, y))):
    print(f"{name:<15} {value:.4f}")

# %% [markdown]
# **Lecture du résultat.** Sur deux étiquettes, Pearson, Spearman, le tau de Kendall et le MCC sont le même nombre,
# 0,6667. Les citer tous les quatre n'ajoute rien. Le kappa, 0,6154, est plus bas : il compte aussi contre le juge de
# dire « r » plus souvent que la personne.

# %% [markdown]
# ## 4. Des notes ordonnées, plus de deux juges
#
# Quand les étiquettes sont des notes, tous les désaccords ne se valent pas : dire 3 au lieu de 4 est moins grave que
# dire 1. Le **kappa pondéré** compte chaque désaccord par son écart $|i - j|$ (poids linéaires) ou son carré (poids
# quadratiques), et compare au hasard :
#
# $$\kappa_w = 1 - \frac{\sum |i-j|^w \, \text{observé}_{ij}}{\sum |i-j|^w \, \text{attendu}_{ij}}$$

# %%
def weighted_kappa(labels_a, labels_b, levels, power=2):
    if power not in (1, 2):
        raise ValueError(f"puissance {power!r} : donnez 1 (poids linéaires) ou 2 (poids quadratiques).")
    table = confusion_matrix(labels_a, labels_b, levels)
    rows, columns = [sum(row) for row in table], [sum(column) for column in zip(*table)]
    cells = [(i, j) for i in range(len(levels)) for j in range(len(levels))]
    observed = sum(abs(i - j) ** power * table[i][j] for i, j in cells)
    expected = sum(abs(i - j) ** power * rows[i] * columns[j] for i, j in cells) / len(labels_a)
    return 1 - observed / expected if expected else math.nan


near = [1, 2, 3, 4, 1, 2, 3, 4], [1, 2, 3, 3, 2, 2, 3, 4]
far = [1, 2, 3, 4, 1, 2, 3, 4], [1, 2, 3, 1, 4, 2, 3, 4]
for name, (a, b) in (("deux écarts d'un point", near), ("deux écarts de trois points", far)):
    print(f"{name:<28} kappa {cohen_kappa(a, b):.3f}  linéaire {weighted_kappa(a, b, (1, 2, 3, 4), 1):.3f}  "
          f"quadratique {weighted_kappa(a, b, (1, 2, 3, 4)):.3f}")
gaps = [abs(weighted_kappa(*pair, (1, 2, 3, 4), power) - metrics.cohen_kappa_score(*pair, weights=name))
        for pair in (near, far) for power, name in ((1, "linear"), (2, "quadratic"))]
print("écart avec scikit-learn sous 1e-9 :", max(gaps) < 1e-9)
try:
    weighted_kappa([1, 2, 5], [1, 2, 4], (1, 2, 3, 4))
except ValueError as error:
    print("erreur :", error)

# %% [markdown]
# L'**alpha de Krippendorff** accepte deux juges ou plus, et des notes manquantes. Il compare le désaccord **observé**,
# entre notes d'une même unité, au désaccord **attendu** si l'on mêlait toutes les notes : $\alpha = 1 - D_o / D_e$. La
# distance entre deux notes dépend de l'échelle : étiquettes (nominale), rangs (ordinale), écarts (intervalle).
#
# Nous le vérifions sur l'exemple publié de [Krippendorff (2011)](https://repository.upenn.edu/asc_papers/43) : quatre
# juges, douze unités, des notes manquantes.

# %%
def krippendorff_alpha(ratings, metric="nominal"):
    if len(ratings) < 2:
        raise ValueError(f"{len(ratings)} juge : l'accord en demande au moins deux ; donnez une suite de notes par juge.")
    if len({len(notes) for notes in ratings}) > 1:
        raise ValueError("les juges n'ont pas le même nombre de notes : mettez None là où une note manque.")
    if metric not in ("nominal", "ordinal", "interval"):
        raise ValueError(f"métrique {metric!r} inconnue : choisissez nominal, ordinal ou interval.")
    # nan est la seule valeur qui diffère d'elle-même. Une unité notée une seule fois ne dit rien de l'accord.
    units = [[note for note in unit if note is not None and note == note] for unit in zip(*ratings)]
    units = [unit for unit in units if len(unit) >= 2]
    if not units:
        raise ValueError("aucune unité n'a deux notes : l'accord n'est pas défini ; faites noter les mêmes exemples.")
    counts = Counter(note for unit in units for note in unit)
    total = sum(counts.values())

    def distance(a, b):
        if metric == "nominal":
            return float(a != b)
        if metric == "interval":
            return (a - b) ** 2
        between = sum(count for note, count in counts.items() if min(a, b) <= note <= max(a, b))
        return (between - (counts[a] + counts[b]) / 2) ** 2

    observed = sum(distance(a, b) / (len(unit) - 1) for unit in units for a, b in permutations(unit, 2)) / total
    expected = sum(counts[a] * counts[b] * distance(a, b) for a in counts for b in counts) / (total * (total - 1))
    return 1 - observed / expected if expected else math.nan


# %%
o = None
four_judges = [[1, 2, 3, 3, 2, 1, 4, 1, 2, o, o, o], [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, o, 3],
               [o, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, o], [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, o]]
for metric, published in (("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)):
    print(f"{metric:<9} calculé {krippendorff_alpha(four_judges, metric):.4f}   publié {published}")
# nltk n'admet pas qu'une unité n'ait qu'une note : la dernière est retirée, ce qui ne change rien à l'alpha.
triples = [(str(k), str(u), note) for k, notes in enumerate(four_judges) for u, note in enumerate(notes[:11]) if note]
print("écart avec nltk sous 1e-9 :", abs(AnnotationTask(data=triples).alpha() - krippendorff_alpha(four_judges)) < 1e-9)
print("toutes les notes égales : alpha", krippendorff_alpha([[3, 3, 3], [3, 3, 3]]),
      " kappa", weighted_kappa([3, 3, 3], [3, 3, 3], (1, 2, 3, 4)))
for ratings in ([[1, 2, 3]], [[1, 2, 3], [1, 2]], [[1, None], [None, 2]]):
    try:
        krippendorff_alpha(ratings)
    except ValueError as error:
        print("erreur :", error)

# %% [markdown]
# **Lecture du résultat.** Deux écarts d'un point ou deux écarts de trois points : le kappa simple donne 0,667 dans les
# deux cas. Le kappa quadratique les sépare, 0,875 contre 0,100 ; le linéaire, moins sévère, donne 0,778 et 0,400.
# L'alpha retrouve les valeurs publiées, 0,743, 0,815 et 0,849 : sur ces données ordonnées, tenir compte des écarts rend
# l'accord meilleur. Une note hors de l'échelle, un seul juge ou des notes qui ne se recoupent pas sont des erreurs,
# dites ; et quand tout le monde a donné la même note, le coefficient est `nan` : il n'y a rien à distinguer.

# %% [markdown]
# ## 5. Place et longueur : les deux passages, et leurs intervalles
#
# Exemple de calcul suivant : douze paires de réponses, la longueur des deux textes, et le texte choisi à chaque
# passage. Au premier passage, le texte A est montré en premier ; au second, c'est B. **Les deux colonnes nomment le
# texte, pas la place** : si l'on croyait lire des places, on compterait autre chose.

# %% couvre="S2-07 S2-08 S2-11 E-29"
rows = []
for line in public["graine_002"]["lignes_longueurA_longueurB_choix1_choix2"]:
    number, length_a, length_b, pass_1, pass_2 = line.split()
    rows.append({"A": int(length_a), "B": int(length_b), 1: pass_1, 2: pass_2})
    print(f"{number:>2}  A {length_a} mots, B {length_b} mots   passage 1 : {pass_1}   passage 2 : {pass_2}")

changed = [row for row in rows if row[1] != row[2]]
# Le texte change, donc la place choisie ne change pas : A puis B est deux fois la première place.
first_place = sum(row[1] == "A" for row in changed)
print("verdicts changés :", with_interval(len(changed), len(rows)))
print(f"  première place deux fois : {first_place}, seconde place deux fois : {len(changed) - first_place}, "
      f"test binomial bilatéral p = {stats.binomtest(first_place, len(changed)).pvalue:.3f}")
print(f"  seuil d'alarme 1/4 : atteint = {len(changed) / len(rows) >= 1 / 4}")


# %% couvre="S2-09 S2-10 S2-11 E-29"
def longest_wins(rows, passes):
    """Choix du texte le plus long, et nombre de choix, sur les paires de longueurs inégales."""
    chosen = [(row[row[k]], row["A"] + row["B"] - row[row[k]]) for row in rows if row["A"] != row["B"] for k in passes]
    return sum(mine > other for mine, other in chosen), len(chosen)


stable = [row for row in rows if row[1] == row[2]]
for name, kept, passes in (("passage 1", rows, (1,)), ("passage 2", rows, (2,)), ("les deux réunis", rows, (1, 2)),
                           ("paires stables", stable, (1,))):
    wins, total = longest_wins(kept, passes)
    print(f"{name:<16} le plus long gagne : {with_interval(wins, total)}   seuil 3/4 atteint : {wins / total >= 3 / 4}   "
          f"p = {stats.binomtest(wins, total).pvalue:.3f}")

# %% [markdown] couvre="E-29"
# **Lecture du résultat.** Sur 12 paires, 5 verdicts changent avec l'ordre : 0,417, au-delà du seuil d'alarme de 1/4.
# Mais l'intervalle commence à 0,193, sous ce seuil. Parmi les 5, la première place l'emporte 4 fois et la seconde 1
# fois ; avec p = 0,375, ces données montrent un juge **incohérent**, et ne prouvent pas un biais pour la **première**
# place. Pour la longueur, le premier passage donne 9 sur 11, soit 0,818, au-delà du seuil de 3/4 ; le second, 8 sur 11,
# soit 0,727, au-dessous. Le même juge, sur les mêmes textes, déclenche l'alarme ou non selon le passage qu'on regarde.
# Réunir les passages donne p = 0,017, mais les deux portent sur les mêmes paires : ce ne sont pas 22 essais
# indépendants. Et sur les paires stables, 6 sur 6, un plancher de 0,610 reste plausible. Écrire « la longueur guide la
# note » irait trop loin : rien ne dit que le texte long n'était pas aussi le meilleur. Il faut des paires de même
# valeur, comme à la [leçon 04](04_juge_llm.ipynb).

# %% [markdown]
# ## 6. De vrais juges, dans les deux ordres
#
# [LLMBar (Zeng et al., 2023)](https://arxiv.org/abs/2310.07641) donne, pour chaque consigne, une réponse qui la suit et
# une qui ne la suit pas. Dans la partie *Adversarial*, la mauvaise réponse a des qualités de surface qui séduisent. Les
# auteurs ont publié les verdicts de plusieurs juges **dans les deux ordres** ; nous en avons recompté les cas. La
# vérité est connue, le hasard vaut 50 %.

# %%
def replay(name):
    """Vérité, texte choisi dans l'ordre 1, texte choisi dans l'ordre 2 ; None quand le verdict est illisible."""
    triples = []
    for key, count in public["llmbar"][name].items():
        triples += [tuple(None if value == "None" else value for value in re.findall(r"=(\w+)", key))] * count
    return [list(column) for column in zip(*triples)]


summary = {}
print(f"{'juge':<24}{'n':>4}  ordre 1  ordre 2  kappa 1  kappa 2   stables  1re place  illisibles")
for name in public["llmbar"]:
    if "|" in name:
        gold, one, two = replay(name)
        n = len(gold)
        right = [sum(g == v for g, v in zip(gold, order)) for order in (one, two)]
        same = sum(a == b and a is not None for a, b in zip(one, two))
        # Dans l'ordre 2, la première place montre le texte 2.
        places = sum(v == "1" for v in one) + sum(v == "2" for v in two)
        unread = one.count(None) + two.count(None)
        summary[name] = {"n": n, "right": right, "same": same, "places": places, "read": 2 * n - unread}
        print(f"{name:<24}{n:>4}  {right[0] / n:>7.3f}  {right[1] / n:>7.3f}  {cohen_kappa(gold, one):>+7.3f}  "
              f"{cohen_kappa(gold, two):>+7.3f}  {same / n:>7.3f}  {places / (2 * n - unread):>8.3f}  {unread:>8}")

# %%
row = summary["ChatGPT|Adversarial"]
gold, one, two = replay("ChatGPT|Adversarial")
print("ChatGPT, Adversarial, ordre 1 :", with_interval(row["right"][0], row["n"]))
print("ChatGPT, Adversarial, ordre 2 :", with_interval(row["right"][1], row["n"]))
print(f"les deux ordres réunis : {sum(row['right'])}/{2 * row['n']} = {sum(row['right']) / (2 * row['n']):.3f}")
twice = Counter((a == g, b == g) for g, a, b in zip(gold, one, two))
print(f"juste deux fois : {twice[True, True]}, faux deux fois : {twice[False, False]}, "
      f"instable : {row['n'] - row['same']}")
falcon = summary["Falcon|Adversarial"]
print("Falcon, Adversarial, première place :", with_interval(falcon["places"], falcon["read"]))

# %%
# Quatre points se touchent : leurs noms sont écartés à la main.
SHIFTS = {("Natural", "ChatGPT"): ((-7, 3), "right"), ("Natural", "ChatGPT-0301"): ((0, 8), "center"),
          ("Natural", "PaLM2"): ((8, -3), "left")}
fig, ax = plt.subplots(figsize=(7.2, 4.6))
for k, part in enumerate(("Natural", "Adversarial")):
    found = {name.split("|")[0]: row for name, row in summary.items() if name.endswith(part)}
    xs = [row["same"] / row["n"] for row in found.values()]
    ys = [sum(row["right"]) / (2 * row["n"]) for row in found.values()]
    ax.plot(xs, ys, plots.MARKERS[k], color=plots.COLORS[k], label=part)
    for label, px, py in zip(found, xs, ys):
        shift, side = SHIFTS.get((part, label), ((7, -12), "left"))
        ax.annotate(label, (px, py), textcoords="offset points", xytext=shift, ha=side, fontsize=9)
        print(f"{part:<12}{label:<13} stables {px:.2f}  exactitude moyenne {py:.2f}")
ax.axhline(0.5, color="black", linewidth=1, linestyle="--")
ax.text(0.98, 0.51, "hasard", fontsize=9)
ax.set(xlabel="part des paires jugées pareil dans les deux ordres", ylabel="exactitude, moyenne des deux ordres",
       xlim=(0.33, 1.05), ylim=(0.2, 1))
ax.legend(loc="upper left")
plots.show(fig, alt=(
    "Un point par juge et par partie de LLMBar : stabilité en abscisse, exactitude en ordonnée. Sur la partie Natural, en "
    "ronds, tous les juges dépassent le hasard. Sur la partie Adversarial, en carrés, les deux ChatGPT et LLaMA2 sont au-dessous, "
    "Falcon au niveau du hasard, PaLM2 au-dessus et GPT-4 bien au-dessus."
))

# %% [markdown]
# *Figure 2. Stabilité et exactitude de six juges de LLMBar. Un juge peut être stable et se tromper : l'accord entre les
# ordres n'est pas la validité.*

# %% [markdown]
# **Lecture du résultat.** GPT-4 résiste : 0,790 et 0,831 sur la partie difficile, et 0,922 des paires jugées pareil
# dans les deux ordres. ChatGPT est **au-dessous du hasard** dans les deux ordres : 0,282 puis 0,257, kappas de −0,448
# et −0,472, 27,0 % en tout, et des intervalles entièrement sous la moitié. Ce n'est pas du bruit : il se trompe deux
# fois de suite 176 fois sur 319, et n'a raison deux fois que 29 fois. Il est donc assez stable (0,643), et faux.
# Inverser ses verdicts ne le sauverait pas : sur la partie naturelle, il a raison à 0,800 et 0,830. Falcon est l'autre
# sorte de mauvais juge : exactitude 0,508 et 0,511, et la première place choisie 0,787 du temps ; il ne lit presque que
# la place. Les deux verdicts d'une paire ne sont pas indépendants : l'intervalle de Falcon est un peu trop étroit. Les
# verdicts illisibles comptent ici comme faux, et ils sont montrés.

# %% [markdown]
# D'autres mesures publiées vont dans le même sens. Chez [Zheng et al. (2023), table
# 2](https://arxiv.org/abs/2306.05685), les verdicts restent les mêmes dans les deux ordres pour 23,8 % des paires avec
# Claude-v1, 46,2 % avec GPT-3.5 et 65,0 % avec GPT-4 ; quelques exemples ajoutés à la consigne portent GPT-4 à 77,5 %.
# La consistance dépend aussi du sujet : 86 % en mathématiques et en code, 42 % en rédaction, 44 % en sciences, 36 % en
# humanités.
#
# Les personnes ont un biais de position, elles aussi.

# %%
llmfao = public["llmfao"]
print(f"votants de LLMFAO, réponse de gauche : {llmfao['humains_choisissent_gauche']:.3f}  "
      f"intervalle à 95 % {llmfao['ic95']}")
print(f"GPT-3.5 sur les mêmes paires : {llmfao['gpt-3.5_gauche']:.3f}   GPT-4 : {llmfao['gpt-4_gauche']:.3f}")

# %% [markdown]
# **Lecture du résultat.** Les votants choisissent la réponse de gauche 0,533 du temps, et l'intervalle, de 0,52 à
# 0,546, exclut la moitié. C'est peu à côté de GPT-3.5 (0,695). GPT-4 penche de l'autre côté, 0,455. Pour les personnes
# aussi, on tire la place au sort.

# %% [markdown] couvre="S3-16"
# ## 7. MT-Bench : d'accord avec les humains, mais comment compter ?
#
# On lit souvent que GPT-4 s'accorde avec les humains « à plus de 80 %, autant que les humains entre eux ». La phrase
# vient de [Zheng et al. (2023), table 5](https://arxiv.org/abs/2306.05685). Les votes sont publiés ; refaisons le
# compte, avec et sans égalités.

# %% couvre="E-20"
agreement = public["mtbench"]["accord_table5"]
for turn in ("tour1", "tour2"):
    for setup, meaning in (("S1", "avec égalités"), ("S2", "sans égalité ")):
        for pair, label in (("gpt4_humain", "GPT-4 – humain "), ("humain_humain", "humain – humain")):
            agreed, total = agreement[pair][turn][setup]
            print(f"{turn}, {meaning}, {label} : {with_interval(agreed, total)}")
agreed, total = agreement["gpt4_verdicts_incoherents"]
print(f"verdicts de GPT-4 qui changent avec l'ordre : {with_interval(agreed, total)}")

# %%
votes = []
for key, count in public["mtbench"]["confusion_vote_human_x_gpt4"].items():
    human, machine_vote = key.split("|")
    votes += [(human, "tie" if machine_vote.startswith("tie") else machine_vote)] * count
decided = [(h, m) for h, m in votes if "tie" not in (h, m)]
for name, kept in (("toutes les paires", votes), ("sans égalité", decided)):
    humans, machines = zip(*kept)
    share = sum(h == m for h, m in kept) / len(kept)
    print(f"{name:<18} votes {len(kept)}   accord {share:.3f}   kappa {cohen_kappa(humans, machines):.3f}")
print(f"écartés en retirant les égalités : {1 - len(decided) / len(votes):.3f}")

# %% [markdown] couvre="E-20"
# **Lecture du résultat.** Sans les égalités, le compte est bien celui que l'on cite : 85 % entre GPT-4 et les humains,
# 81 % entre humains. Avec elles, ce sont 66 % et 63 %. La phrase n'est donc vraie qu'en retirant 0,365 des votes, les
# plus difficiles. Au second tour avec égalités, les humains font même un peu mieux entre eux : 0,666 contre 0,657. Le
# kappa dit l'écart à sa façon : 0,483 sur tous les votes, 0,712 sans égalité. Et GPT-4 change d'avis avec l'ordre sur
# 380 paires sur 2400, soit 0,158, comptées ici comme des égalités. Plusieurs votes portent sur une même paire : les
# intervalles, qui supposent des votes indépendants, sont trop étroits.

# %% [markdown] couvre="S4-01 S4-03 S4-04 S4-12"
# ## 8. Faire noter sur une échelle
#
# L'autre forme de jugement montre une seule réponse et demande une **note**. Le [guide de Hugging Face (Roucher,
# 2024)](https://huggingface.co/learn/cookbook/llm_judge) en est le modèle : des réponses du jeu [FeedbackQA (Li et al.,
# 2022)](https://arxiv.org/abs/2204.03025), notées chacune par deux personnes (de « mauvaise », 1, à « excellente », 4),
# et un juge, Mixtral-8x7B, à qui l'on demande un nombre de 0 à 10. Le guide garde les réponses où les deux personnes
# s'accordent, et en tire sept par note. Nous en reprenons la méthode, et nous en corrigeons les pièges.
#
# ### Lire une note sans la deviner
#
# Première difficulté : extraire le nombre du texte. La lecture habituelle prend le premier nombre qui passe.

# %% couvre="S4-05 E-14"
SCORE_LINE = re.compile(
    r"(?:note(?: totale| finale)?\s*:)?\s*([-−]?[0-9]+(?:[.,][0-9]+)?)(?:\s*(?:/|sur)\s*([0-9]+))?\s*\.?", re.IGNORECASE
)


def extract_score(text, low, high):
    if not low < high:
        raise ValueError(f"échelle de {low} à {high} : elle est vide ; donnez low plus petit que high.")
    if text is None:
        return None
    if not isinstance(text, str):
        raise TypeError(f"la réponse doit être une chaîne ou None, pas {type(text).__name__} : donnez le texte de la réponse.")
    lines = [line.replace("*", "").strip() for line in text.splitlines() if line.strip()]
    matches = [SCORE_LINE.fullmatch(line) for line in lines]
    if not matches or matches[-1] is None:
        return None
    found = {match.groups() for match in matches if match}
    number, maximum = found.pop()
    score = float(number.replace(",", ".").replace("−", "-"))
    if found or not low <= score <= high or (maximum and float(maximum) != high):
        return None
    return score


replies = ["Sur la COVID-19, la réponse est exacte.\nNote : 3", "La COVID-19 est bien décrite : 3", "Note : 7,5", "7.5/10",
           "-1", "Sur 4 critères, 3", "Note : 3 sur 4", "Note : 2\nNote : 3\nNote : 4\nNote : 1", "**Note totale : 8**",
           "Note : 12", "", None]
print(f"{'réponse':<62}{'premier nombre':<16}lecture stricte, de 0 à 10")
for text in replies:
    number = re.search(r"\d+", text or "")
    print(f"{text!r:<62}{number.group() if number else '-':<16}{extract_score(text, 0, 10)}")
print("« Note : 3 sur 4 », sur une échelle de 1 à 4 :", extract_score("Note : 3 sur 4", 1, 4))

# %% [markdown] couvre="E-14"
# **Lecture du résultat.** Le premier nombre venu donne 19 pour une note de 3, 7 pour 7,5, 1 pour une note négative, et
# 4 pour « Sur 4 critères, 3 ». Il lit aussi 2 dans une réponse qui contient quatre notes contraires : le cas est réel,
# c'est la ligne [1976](https://huggingface.co/learn/cookbook/llm_judge) du guide. La lecture stricte n'invente rien :
# elle rend la note, ou `None`. Elle refuse « Sur 4 critères, 3 », qu'une personne comprendrait ; c'est le prix, et il
# se paie en illisibles, qu'on compte. Une note de 12 n'est pas ramenée à 10 : un juge qui sort de son échelle n'a pas
# suivi la consigne.

# %% [markdown]
# ### Écrire la consigne et sa lecture ensemble
#
# Une consigne est un modèle de texte, et la lecture attend une forme précise. Traduire l'une sans l'autre casse la
# chaîne, parfois sans bruit.

# %% couvre="E-27"
translated = "Question : {question}\nRéponse : {réponse}\nÉcrivez « Note totale : » suivi du nombre."
try:
    translated.format(question="Où est la bibliothèque ?", answer="Au deuxième étage.")
except KeyError as error:
    print("champ oublié à la traduction :", error)
english_reader = re.compile(r"Total rating: *(\d+)")
print("lecture anglaise d'une réponse française :", english_reader.search("Note totale : 3"))
print("lecture stricte de la même réponse :", extract_score("Note totale : 3", 1, 4))

# %% [markdown] couvre="E-27"
# **Lecture du résultat.** La première faute se voit : le champ « réponse » manque et tout s'arrête. La seconde est
# muette : la lecture anglaise ne trouve rien, et l'on croirait le juge illisible. La consigne et sa lecture s'écrivent,
# et se testent, ensemble. La lecture stricte rend bien 3.

# %% [markdown]
# ### Changer d'échelle
#
# Le juge note de 0 à 10, les personnes de 1 à 4. Pour comparer, on porte une échelle sur l'autre, bornes sur bornes :
# $1 + 3x/10$. Le guide écrit $1 + x/10$, qui ne va que de 1 à 2.

# %% couvre="E-24"
def change_scale(score, low, high, new_low, new_high):
    if not low < high or not new_low < new_high:
        raise ValueError("une échelle va d'une borne à une borne plus grande : corrigez les bornes.")
    if not low <= score <= high:
        raise ValueError(f"note {score} hors de son échelle [{low}, {high}] : vérifiez la lecture avant de convertir.")
    return new_low + (new_high - new_low) * (score - low) / (high - low)


scores, wanted = [0, 2, 5, 7.5, 10], [1, 2, 2, 3, 4]
right, wrong = [change_scale(s, 0, 10, 1, 4) for s in scores], [1 + s / 10 for s in scores]
print("notes de 0 à 10 :", scores, "  attendu :", wanted)
for name, values in (("1 + 3x/10", right), ("1 + x/10", wrong)):
    error = sum(abs(v - w) for v, w in zip(values, wanted)) / len(wanted)
    print(f"{name:<10} {[round(v, 2) for v in values]}   écart moyen {error:.2f}   "
          f"Pearson {stats.pearsonr(values, wanted)[0]:.4f}")
try:
    change_scale(11, 0, 10, 1, 4)
except ValueError as error:
    print("erreur :", error)

# %% [markdown] couvre="E-24"
# **Lecture du résultat.** Les deux conversions ont la même corrélation, 0,9613 : Pearson ne voit pas une échelle
# écrasée. L'écart moyen la voit : 0,23 avec la bonne formule, 0,91 avec celle du guide, qui donne 2 à une réponse
# parfaite. On rapporte donc les deux. Une note de 11 est refusée avant la conversion.

# %% [markdown]
# ### Deux corrélations
#
# La **corrélation de Pearson** mesure si deux suites de notes s'alignent sur une droite ; celle de **Spearman**, si
# elles se rangent dans le même ordre : c'est Pearson sur les rangs, les ex æquo partageant leur rang moyen. Ni l'une ni
# l'autre ne voit un juge trop généreux de deux points ; l'écart moyen et le kappa pondéré le voient.

# %%
def pearson(x, y):
    if len(x) != len(y) or len(x) < 2:
        raise ValueError(f"{len(x)} et {len(y)} notes : donnez deux suites de même longueur, d'au moins deux notes.")
    if len(set(x)) == 1 or len(set(y)) == 1:
        return math.nan
    mean_x, mean_y = math.fsum(x) / len(x), math.fsum(y) / len(y)
    covariance = math.fsum((a - mean_x) * (b - mean_y) for a, b in zip(x, y))
    return covariance / math.sqrt(math.fsum((a - mean_x) ** 2 for a in x) * math.fsum((b - mean_y) ** 2 for b in y))


def average_ranks(values):
    ordered = sorted(values)
    return [(bisect_left(ordered, value) + 1 + bisect_right(ordered, value)) / 2 for value in values]


def spearman(x, y):
    return pearson(average_ranks(x), average_ranks(y))


print("rangs de 10, 20, 20, 30 :", average_ranks([10, 20, 20, 30]))
x, y = [1, 2, 3, 4, 4, 2], [2, 1, 4, 9, 8, 3]
print(f"Pearson {pearson(x, y):.4f}   Spearman {spearman(x, y):.4f}   écarts avec scipy sous 1e-9 :",
      abs(pearson(x, y) - stats.pearsonr(x, y)[0]) < 1e-9, abs(spearman(x, y) - stats.spearmanr(x, y)[0]) < 1e-9)
print("juge constant :", pearson([1, 2, 3], [4, 4, 4]))
print(f"juge deux points trop généreux : Pearson {pearson([1, 2, 1, 2], [3, 4, 3, 4]):.3f}, "
      f"kappa quadratique {weighted_kappa([1, 2, 1, 2], [3, 4, 3, 4], (1, 2, 3, 4)):.3f}")

# %% [markdown]
# **Lecture du résultat.** Les deux 20 partagent le rang 2,5. Nos corrélations sont celles de scipy. Celle d'un juge
# constant est `nan` : l'écrire 0 serait inventer. Et un juge deux points trop généreux garde une corrélation de 1,000,
# avec un kappa quadratique de 0,111 : corrélation et accord sont deux questions différentes.

# %% [markdown] couvre="S4-07"
# ## 9. Notre vrai juge, sur une échelle
#
# Demandons des notes de 1 à 4 au petit juge de la [leçon 04](04_juge_llm.ipynb), pour dix questions dont nous
# connaissons la bonne et la mauvaise réponse. Trois consignes, toutes rapportées ; les deux premières avaient d'abord
# été essayées sur quatre de ces questions :
#
# - **simple** : un chiffre de 1 à 4 ;
# - **décrite** : chaque niveau est expliqué, comme le guide le recommande (il ajoute une demande d'évaluation écrite
#   d'abord, et une « carotte » de « 100 H100 » promise au modèle, dont l'effet n'est pas mesuré) ;
# - **renversée** : les mêmes niveaux, numérotés à l'envers. C'est l'échange des places, pour une échelle : un juge qui
#   lit les niveaux doit renverser ses notes.
#
# Le choix est contraint. Comme chaque chiffre est un seul jeton, nous lisons aussi sa probabilité, et donc une **note
# attendue** $\sum_k k\,P(k)$, l'idée de [G-Eval (Liu et al., 2023)](https://arxiv.org/abs/2303.16634). Sur une échelle
# de 0 à 10, « 1 » et « 10 » commencent par le même jeton : cette lecture ne serait plus possible.

# %%
client = judge.client("07_juger_le_juge")
pairs = json.loads((DATA / "paires.json").read_text(encoding="utf-8"))["paires"][:10]
LEVELS = ("1", "2", "3", "4")
DESCRIPTIONS = ("fausse, ou sans rapport avec la question", "en partie fausse",
                "juste, mais incomplète", "juste et complète")
CASE = "Question : {question}\nRéponse : {answer}\n\n"


def described(descriptions):
    lines = "\n".join(f"{level} : {text}." for level, text in zip(LEVELS, descriptions))
    return (f"Notez la réponse à la question sur une échelle de 1 à 4.\n{lines}\n\n{CASE}"
            "Répondez par un seul chiffre, de 1 à 4.")


PROMPTS = {"simple": f"Notez de 1 à 4 la réponse à la question.\n\n{CASE}Répondez par un seul chiffre.",
           "décrite": described(DESCRIPTIONS), "renversée": described(DESCRIPTIONS[::-1])}


def grading_request(question, answer, prompt, choices=None, max_tokens=1, schema=None):
    request = {"model": judge.MODEL, "temperature": 0.0, "max_tokens": max_tokens,
               "messages": [{"role": "user", "content": prompt.format(question=question, answer=answer)}]}
    if choices:
        request.update(logprobs=True, top_logprobs=5, extra_body={"structured_outputs": {"choice": list(choices)}})
    if schema:
        request.update(extra_body={"structured_outputs": {"json": schema}})
    return request


print(PROMPTS["décrite"])

# %%
def mean_score(reply):
    return sum(int(level) * math.exp(value) for level, value in choice_logprobs(reply, LEVELS).items())


truth = [4 if key == "bonne" else 1 for _ in pairs for key in ("bonne", "mauvaise")]
expected = {}
for name, prompt in PROMPTS.items():
    replies = judge.ask_all(client.chat.completions.create, [
        grading_request(pair["question"], pair[key], prompt, LEVELS) for pair in pairs for key in ("bonne", "mauvaise")])
    grades = [read_choice(reply.choices[0].message.content, LEVELS) for reply in replies]
    expected[name] = [mean_score(reply) for reply in replies]
    good, bad = expected[name][0::2], expected[name][1::2]
    numbers = [int(grade) for grade in grades]
    print(f"{name:<10} notes {dict(sorted(Counter(grades).items()))}  "
          f"Pearson avec la justesse {pearson(numbers, truth):.3f}  kappa quadratique {weighted_kappa(numbers, truth, (1, 2, 3, 4)):.3f}")
    print(f"{'':<10} note attendue : juste {sum(good) / 10:.3f}, fausse {sum(bad) / 10:.3f}  "
          f"Pearson {pearson(expected[name], truth):+.3f}  Spearman {spearman(expected[name], truth):+.3f}")
    print(f"{'':<10} la juste dépasse la fausse : {with_interval(sum(g > b for g, b in zip(good, bad)), 10)}")

# %%
fig, ax = plt.subplots()
shifts = {name: [good - bad for good, bad in zip(values[0::2], values[1::2])] for name, values in expected.items()}
for k, (name, differences) in enumerate(shifts.items()):
    ax.plot(range(1, 11), differences, plots.MARKERS[k], color=plots.COLORS[k], label=name)
    print(f"{name:<10}", " ".join(f"{value:+.3f}" for value in differences))
ax.axhline(0, color="black", linewidth=1)
print(f"corrélation des différences, décrite et renversée : {pearson(shifts['décrite'], shifts['renversée']):+.3f}")
ax.set(xlabel="paire", ylabel="note attendue : juste − fausse", xticks=range(1, 11))
ax.set_ylim(-0.13, 0.26)
ax.legend(ncols=3, title="consigne", loc="upper right")
plots.show(fig, alt=(
    "Différence de note attendue entre la réponse juste et la fausse, pour dix paires et trois consignes : des ronds, des "
    "carrés et des triangles proches de zéro, de part et d'autre de la ligne, alors que l'échelle a trois points d'étendue."
))

# %% [markdown]
# *Figure 3. Ce que la justesse change à la note attendue, paire par paire. Au-dessus de zéro, la réponse juste est
# mieux notée ; avec l'échelle renversée, un bon juge serait au-dessous.*

# %% [markdown]
# **Lecture du résultat.** Le juge donne la note 1 aux 20 réponses, justes ou fausses, quelle que soit la consigne :
# c'est une constante. La corrélation n'est pas nulle, elle n'est **pas définie** (`nan`) ; le kappa quadratique vaut
# 0,000. Les probabilités bougent un peu sous cette constante, mais pas dans le bon sens : la réponse juste a 1,431 de
# note attendue contre 1,441 pour la fausse, et elle ne la dépasse que 4 fois sur 10, puis 3 et 3 ; les intervalles,
# [0,168 ; 0,687] et [0,108 ; 0,603], contiennent la moitié. L'échelle renversée tranche : les différences devraient
# changer de signe, et leur corrélation avec celles de la consigne décrite est de +0,997. Ce juge ne lit pas les niveaux
# ; il choisit un **chiffre**. Décrire les niveaux ne sert qu'à un juge qui les lit.

# %% [markdown] couvre="S4-06 S4-08 S4-09 E-25 E-26"
# ### Ce que le guide mesure, et ce qu'il compare
#
# Avec Mixtral-8x7B, le guide annonce 0,567 de corrélation avec la consigne de base, puis 0,843 avec la consigne
# améliorée. Trois prudences :
#
# - sept réponses par note font **28** exemples, et non 30 ; l'intervalle est large, et le gain se dit de plusieurs
#   façons ;
# - la consigne a été corrigée **en regardant les erreurs de ces mêmes exemples** (les lignes 1976, 2026 et 5375 du
#   jeu), puis notée sur eux ;
# - ces corrélations ne se comparent pas aux 0,563 entre humains : celles-ci portent sur toutes les réponses, celles-là
#   sur les seules réponses où les deux personnes s'accordent, à parts égales par note. La sélection retire le bruit
#   humain.
#
# Une simulation montre la part de la sélection : un même juge, mesuré des deux façons. Rien n'y est un vote réel.

# %% couvre="S4-06 S4-08 E-25"
def fisher_interval(r, n, z=1.959964):
    """Intervalle d'une corrélation de Pearson (Fisher, 1921)."""
    return tuple(math.tanh(math.atanh(r) + sign * z / math.sqrt(n - 3)) for sign in (-1, 1))


base, better = 0.567, 0.843
for r in (base, better):
    low, high = fisher_interval(r, 28)
    print(f"r = {r}, 28 exemples : intervalle de Fisher [{low:.3f}, {high:.3f}]")
print(f"gain : {better - base:+.3f} en r, {(better - base) / base:+.3f} en proportion, {better**2 - base**2:+.3f} en r²")

rng = np.random.default_rng(7)
quality = rng.normal(size=20000)
# Chaque personne voit la qualité avec du bruit, et la range en quatre niveaux.
one, two = (1 + np.digitize(quality + rng.normal(scale=0.8, size=20000), [-0.8, 0, 0.8]) for _ in range(2))
noisy_judge = quality + rng.normal(size=20000)
kept = np.concatenate([np.flatnonzero((one == two) & (one == level))[:500] for level in (1, 2, 3, 4)])
print(f"simulation : humain – humain {np.corrcoef(one, two)[0, 1]:.3f} ; juge – humain, toutes les réponses "
      f"{np.corrcoef(noisy_judge, one)[0, 1]:.3f}, réponses d'accord et équilibrées "
      f"{np.corrcoef(noisy_judge[kept], one[kept])[0, 1]:.3f}")

# %% [markdown]
# **Lecture du résultat.** Les deux intervalles, [0,246 ; 0,776] et [0,686 ; 0,925], se recouvrent. Le gain est de 0,276
# en corrélation, soit 48,7 % de plus, ou 0,389 de plus en variance expliquée : « près d'un tiers de mieux » ne dit pas
# de quoi. La simulation montre le reste : sans que le juge change, ne garder que les réponses où les personnes
# s'accordent, à parts égales, porte sa corrélation de 0,506 à 0,622, au-dessus de celle des personnes entre elles,
# 0,538. Une corrélation ne se compare qu'à une autre mesurée sur les mêmes exemples.

# %% [markdown]
# ## 10. Une grille additive, une sortie structurée
#
# Plutôt qu'une note globale, on peut demander **quatre critères, un point chacun**, dans une sortie structurée : le
# serveur n'autorise qu'un objet JSON du schéma demandé. La lecture reste stricte : les quatre clés, et de vrais
# booléens. Un texte comme `"false"` est vrai pour `bool`, et compterait un point.

# %% couvre="S4-10 E-28"
CRITERIA = ("repond", "exacte", "claire", "precise")
SCHEMA = {"type": "object", "properties": {key: {"type": "boolean"} for key in CRITERIA},
          "required": list(CRITERIA), "additionalProperties": False}


def additive_score(text):
    """Somme des critères vrais, ou None si la réponse n'est pas exactement l'objet demandé."""
    try:
        answers = json.loads(text)
    except (TypeError, json.JSONDecodeError):
        return None
    if not isinstance(answers, dict) or set(answers) != set(CRITERIA):
        return None
    return sum(answers.values()) if all(type(value) is bool for value in answers.values()) else None


full = '{"repond": true, "exacte": true, "claire": true, "precise": %s}'
for text in (full % "true", full % "false", full % '"false"', '{"repond": true}', '{"repond": tr', None):
    print(f"{text!s:<75} → {additive_score(text)}")
print("bool('false') vaut", bool("false"))
levels = sorted({sum(map(int, f"{case:04b}")) for case in range(16)})
print(f"sommes possibles : {levels}, soit {len(levels)} niveaux")

# %%
ADDITIVE_PROMPT = (
    "Évaluez la réponse selon quatre critères, chacun vrai ou faux.\n"
    "repond : elle répond à la question posée.\nexacte : elle ne contient rien de faux.\n"
    "claire : elle se comprend à la première lecture.\nprecise : elle ajoute une précision utile.\n\n"
    f"{CASE}Répondez en JSON."
)
lengths = json.loads((DATA / "longueurs.json").read_text(encoding="utf-8"))["paires"][:2]
replies = judge.ask_all(client.chat.completions.create, [
    grading_request(pair["question"], pair[key], ADDITIVE_PROMPT, max_tokens=80, schema=SCHEMA)
    for pair in lengths for key in ("courte", "longue")])
for reply, kind in zip(replies, ("courte", "longue") * 2):
    text = reply.choices[0].message.content
    print(f"{kind} : {' '.join(text.split())}  somme {additive_score(text)}  fin : {reply.choices[0].finish_reason}")

FREE_PROMPT = ("Notez de 0 à 10 la réponse à la question. Écrivez une phrase de justification puis, seule sur la dernière "
               f"ligne, « Note : » suivi du nombre.\n\n{CASE}")
replies = judge.ask_all(client.chat.completions.create, [
    grading_request(pair["question"], pair["bonne"], FREE_PROMPT, max_tokens=60) for pair in pairs[:3]])
for reply in replies:
    text = reply.choices[0].message.content
    print(f"libre : {text[:70]!r}…  note {extract_score(text, 0, 10)}")

# %% [markdown] couvre="E-28"
# **Lecture du résultat.** La somme de 4 critères va de 0 à 4 : cela fait 5 niveaux, et non quatre ; on la porte sur une
# autre échelle par une conversion, comme plus haut. Le texte "false" est refusé, alors que `bool` l'aurait compté vrai.
# Sur notre juge, le schéma tient toujours, et le contenu non : les deux réponses courtes ont 3, les deux longues 0,
# alors que toutes sont exactes. Une longue réponse est jugée d'un bloc, et le critère « elle ajoute une précision utile
# », qui récompense la longueur par construction, ne l'a même pas aidée. Sur 2 paires, cela n'établit rien ; cela
# rappelle qu'une sortie **bien formée** n'est pas une sortie **juste**. Les réponses libres sont toutes illisibles.

# %% [markdown]
# ## 11. Le plafond du bruit humain, sur de vrais avis
#
# Aucun juge ne peut s'accorder avec des personnes mieux que leurs propres avis ne le permettent. FeedbackQA donne de
# **vrais** avis sur une échelle : 1 410 réponses de la partie « valid », notées chacune par deux personnes. En voici la
# table ; la partie « train » n'est pas ici, et le guide y trouve 0,563.

# %% couvre="S4-02"
feedback = public["feedbackqa_valid"]
print("échelle :", ", ".join(feedback["echelle"]))
for row in feedback["table_personne1_personne2"]:
    print(row)
one, two = expand(feedback["table_personne1_personne2"], (1, 2, 3, 4))
print("accord exact :", with_interval(sum(a == b for a, b in zip(one, two)), len(one)))
print(f"à un point près : {sum(abs(a - b) <= 1 for a, b in zip(one, two)) / len(one):.3f}")
scale = (1, 2, 3, 4)
values = {
    "Pearson": (pearson(one, two), stats.pearsonr(one, two)[0]),
    "Spearman": (spearman(one, two), stats.spearmanr(one, two)[0]),
    "kappa simple": (cohen_kappa(one, two), metrics.cohen_kappa_score(one, two)),
    "kappa linéaire": (weighted_kappa(one, two, scale, 1), metrics.cohen_kappa_score(one, two, weights="linear")),
    "kappa quadratique": (weighted_kappa(one, two, scale), metrics.cohen_kappa_score(one, two, weights="quadratic")),
}
for name, (ours, library) in values.items():
    print(f"{name:<18} {ours:.3f}   écart avec la bibliothèque sous 1e-9 : {abs(ours - library) < 1e-9}")
print(f"alpha ordinal      {krippendorff_alpha([one, two], 'ordinal'):.3f}   AC1 {gwet_ac1(one, two, scale):.3f}")

# %% [markdown]
# **Lecture du résultat.** Deux personnes donnent la même note à 689 réponses sur 1410, soit 0,489 ; à un point près,
# 0,823. Le kappa simple, 0,303, paraît faible ; le quadratique, 0,580, et la corrélation, 0,584, disent que les
# désaccords sont surtout des écarts d'un point. Les deux faits sont vrais : un même tableau se résume de 0,303 à 0,823,
# et l'on nomme toujours le coefficient. Il y a aussi de francs désaccords : 27 et 37 réponses ont reçu la plus basse
# note d'une personne et la plus haute de l'autre.

# %% [markdown]
# Si une note humaine est « valeur vraie + bruit », la corrélation entre deux personnes est la **fiabilité** d'une seule
# note. Deux formules en découlent :
#
# - **Spearman-Brown** : la moyenne de $k$ notes a pour fiabilité $\frac{k r}{1 + (k-1) r}$ ;
# - le **plafond** : un juge qui connaîtrait la valeur vraie aurait, avec des notes de fiabilité $r$, une corrélation de
#   $\sqrt r$.

# %% couvre="S4-11"
def spearman_brown(reliability, factor=2):
    if not 0 <= reliability <= 1:
        raise ValueError(f"fiabilité {reliability} : donnez une corrélation entre 0 et 1.")
    if not factor > 0:
        raise ValueError(f"facteur {factor} : donnez un nombre de notes positif.")
    return factor * reliability / (1 + (factor - 1) * reliability)


for name, r in (("train, publié", 0.563), ("valid, notre table", pearson(one, two))):
    mean = spearman_brown(r)
    print(f"{name:<19} une note : {r:.3f}, plafond {math.sqrt(r):.3f}   "
          f"moyenne de deux : {mean:.3f}, plafond {math.sqrt(mean):.3f}")

rng = np.random.default_rng(7)
true_value = rng.normal(size=20000)
people = [true_value + rng.normal(scale=math.sqrt(1 / 0.563 - 1), size=20000) for _ in range(2)]
between, with_one, with_mean = (np.corrcoef(x, y)[0, 1] for x, y in (
    people, (true_value, people[0]), (true_value, sum(people))))
print(f"simulation : entre deux personnes {between:.2f} ; juge parfait avec une {with_one:.2f}, "
      f"avec la moyenne de deux {with_mean:.2f}")

# %% [markdown]
# **Lecture du résultat.** Avec 0,563 entre deux personnes, même un juge **parfait** ne dépasse pas 0,750 de corrélation
# avec l'une d'elles ; avec la moyenne des deux, dont la fiabilité est de 0,720, le plafond monte à 0,849. Sur notre
# table, ce sont 0,764 et 0,859. La simulation retrouve ces plafonds : 0,75 et 0,85. On n'attend donc jamais 1, et un
# juge qui dépasse le plafond est un signal d'alarme. Deux façons de monter : faire noter par plus de personnes, ou ne
# garder que les réponses où elles s'accordent, ce qui change la question posée.

# %% [markdown]
# ## 12. Corriger un taux par les erreurs du juge
#
# Le juge de la section 1 dit « réussi » à dix-huit réponses sur vingt. Le vrai taux est de seize sur vingt. Peut-on
# retrouver ce taux sans relire toutes les réponses ? Oui, si l'on connaît les erreurs du juge. Avec sa sensibilité
# $q_1$ et sa spécificité $q_0$, il dit « réussi » avec la fréquence $p = \theta q_1 + (1 - \theta)(1 - q_0)$. On résout
# en $\theta$ (Rogan et Gladen, 1978 ; [Lee et al., 2025](https://arxiv.org/abs/2511.21140), pour les juges) :
#
# $$\hat\theta = \frac{p + q_0 - 1}{q_0 + q_1 - 1}$$

# %%
def rogan_gladen(rate, sensitivity, specificity):
    for name, share in (("rate", rate), ("sensitivity", sensitivity), ("specificity", specificity)):
        if not 0 <= share <= 1:
            raise ValueError(f"{name} vaut {share} : une part est entre 0 et 1 ; divisez le compte par son effectif.")
    gain = sensitivity + specificity - 1
    if math.isclose(gain, 0, abs_tol=1e-12):
        return math.nan
    return min(1.0, max(0.0, (rate + specificity - 1) / gain))


(rr, re_), (er, ee) = confusion_matrix(person, machine, "re")
sensitivity, specificity = rr / (rr + re_), ee / (er + ee)
print(f"sensibilité {sensitivity:.2f}   spécificité {specificity:.2f} ({with_interval(ee, er + ee)})")
print(f"taux du juge 0.90 → taux corrigé {rogan_gladen(0.90, sensitivity, specificity):.2f}   taux humain {16 / 20:.2f}")
print(f"cas de calcul : vrai taux 0.30, juge 0.90 et 0.80 → {0.3 * 0.9 + 0.7 * 0.2:.2f}, "
      f"corrigé {rogan_gladen(0.41, 0.9, 0.8):.2f}")
print("juge qui dit toujours « r » :", rogan_gladen(1.0, 1.0, 0.0))
print("taux sous les fausses alertes :", rogan_gladen(0.05, 0.9, 0.8))

rng = np.random.default_rng(7)
for label, copies in (("20 exemples", 1), ("200 exemples de mêmes proportions", 10)):
    cells = rng.multinomial(20 * copies, [rr / 20, re_ / 20, er / 20, ee / 20], size=4000)
    # Indéfini : un tirage sans aucun vrai échec, ou dont le juge ne distingue plus rien. Le taux 0.90 est supposé connu.
    drawn = [rogan_gladen(0.90, a / (a + b), d / (c + d)) if a + b and c + d else math.nan
             for a, b, c, d in cells.tolist()]
    low, high = np.nanpercentile(drawn, [2.5, 97.5])
    print(f"étalonnage de {label} : bootstrap à 95 % (graine 7) [{low:.2f}, {high:.2f}], "
          f"{sum(map(math.isnan, drawn))} tirages indéfinis sur 4000")

# %% [markdown]
# **Lecture du résultat.** La correction ramène 0,90 à 0,80, exactement le taux humain. Ce n'est pas un miracle : les
# erreurs du juge ont été mesurées sur ces mêmes réponses. L'intérêt est d'étalonner sur peu d'avis, puis de corriger le
# taux de milliers de réponses que personne n'a lues. Le prix est l'incertitude : la spécificité de 0,50 vient de 4
# échecs, et son intervalle va de 0,150 à 0,850. Le taux corrigé hérite de ce flou : de 0,50 à 0,90 avec vingt exemples,
# et 476 tirages sur 4000 ne donnent rien ; de 0,71 à 0,85 avec dix fois plus. Le juge constant donne `nan`. Et un taux
# plus bas que les fausses alertes du juge donne 0.0 : le jeu d'étalonnage ne ressemble pas aux réponses corrigées.

# %% [markdown]
# ## 13. Une note en direct : « Où est la bibliothèque ? »
#
# Terminons par l'usage le plus simple, réussi ou échoué, sur une vraie requête enregistrée. À la question « Où est la
# bibliothèque ? », la réponse « Demandez à quelqu'un. » n'aide pas ; nous ajoutons un **témoin** qui aide. Et nous
# demandons les deux mots dans les deux ordres, puisqu'un juge peut préférer le premier ou le dernier mot de la
# consigne.
#
# Comme à la [leçon 04](04_juge_llm.ipynb), le client a un délai : un serveur qui ne répond pas ne bloque pas la leçon.
# Sans serveur, c'est le journal qui répond, et nous le disons ; jamais un verdict de remplacement. Le compte de jetons
# de chaque appel est rendu par le serveur.

# %% couvre="S2-12 S2-13"
QUESTION = "Où est la bibliothèque ?"
GRADE_PROMPT = CASE + "La réponse aide-t-elle la personne ? Répondez par un seul mot : {words}."
LETTER_PROMPT = CASE + "La réponse aide-t-elle la personne ? Répondez par une seule lettre : {words}."
forms = [(GRADE_PROMPT.replace("{words}", words), ("réussi", "échoué"), 8)
         for words in ("réussi ou échoué", "échoué ou réussi")]
forms += [(LETTER_PROMPT.replace("{words}", words), ("R", "E"), 1)
          for words in ("R pour réussi, E pour échoué", "E pour échoué, R pour réussi")]
for answer in ("Demandez à quelqu'un.", "Au deuxième étage, à gauche de l'escalier."):
    replies = judge.ask_all(client.chat.completions.create, [
        grading_request(QUESTION, answer, prompt, choices, max_tokens) for prompt, choices, max_tokens in forms])
    print(answer)
    for (prompt, choices, _), reply in zip(forms, replies):
        verdict = read_choice(reply.choices[0].message.content, choices)
        values = choice_logprobs(reply, choices) if choices == ("R", "E") else None
        margin = f"   marge R − E {values['R'] - values['E']:+.2f}" if values else ""
        tokens = f"jetons lus {reply.usage.prompt_tokens}, écrits {reply.usage.completion_tokens}"
        print(f"  …{prompt[-32:]:<33} {verdict:<7} {tokens}{margin}")

first_tokens = replies[0].choices[0].logprobs.content[0].top_logprobs
print("premiers jetons de « réussi ou échoué » :", [(c.token, round(math.exp(c.logprob), 3)) for c in first_tokens[:4]])

# %% [markdown]
# **Lecture du résultat.** Le juge dit « échoué » pour la première réponse, et c'est le bon verdict. Mais il dit «
# échoué » aussi pour le témoin, dans les deux ordres : un bon verdict par une constante n'est pas un bon juge. Avec des
# lettres, il suit la première nommée : R, puis E. La marge passe de +0,75 à −0,08 quand on échange les deux mots de la
# consigne, et de +0,63 à −0,16 pour la réponse qui aide, un peu plus bas encore. Un dernier piège : le premier jeton de
# « échoué » est la **moitié** d'un « é », deux octets, affichée comme un texte vide, avec une probabilité de 0,997.
# `choice_logprobs` ne peut pas l'attribuer et ne créditerait « échoué » que de 0,001. Pour lire des probabilités, on
# prend des étiquettes d'un seul jeton.

# %% [markdown] couvre="E-31 E-32"
# ## 14. Ce que la littérature ajoute
#
# - **La longueur s'achète.** L'attaque par « liste répétitive » de [Zheng et al.
#   (2023)](https://arxiv.org/abs/2306.05685) trompe Claude et GPT-3.5 dans 91,3 % des cas, GPT-4 dans 8,7 %. Dans
#   [AlpacaEval corrigé de la longueur (Dubois et al., 2024)](https://arxiv.org/abs/2404.04475), le même modèle gagne
#   22,9 %, 50,0 % ou 64,3 % de ses comparaisons selon qu'on lui demande d'être concis, normal ou bavard ; après
#   correction, 41,9 %, 50,0 % et 51,6 %.
# - **Un texte constant peut gagner.** [Zheng et al. (2024)](https://arxiv.org/abs/2410.07137) obtiennent 86,5 % sur
#   AlpacaEval avec une réponse qui ne dépend pas de la question.
# - **Une réponse de référence aide.** Sur des corrections de mathématiques, GPT-4 se trompe 14 fois sur 20 ; 6 fois
#   s'il raisonne d'abord, 3 fois avec une [réponse de référence](https://arxiv.org/abs/2306.05685). Notre petit juge
#   n'en avait pas.
# - **Un juge ne vaut que pour sa tâche.** [JUDGE-BENCH (Bavaresco et al., 2024)](https://arxiv.org/abs/2406.18403)
#   compare onze modèles à des avis humains sur vingt jeux de données : l'accord varie beaucoup d'une tâche à l'autre.
# - **L'auto-préférence n'est pas établie par Zheng et al.** : ils observent +10 % pour GPT-4, +25 % pour Claude, rien
#   pour GPT-3.5, et écrivent qu'ils ne peuvent trancher. On cite [Panickssery et al.
#   (2024)](https://arxiv.org/abs/2404.13076) et [Wataoka et al. (2024)](https://arxiv.org/abs/2410.21819).
# - **« La comparaison par paire est plus fiable »** est discuté : [Jeong et al.
#   (2024)](https://arxiv.org/abs/2406.12319) mesurent qu'elle amplifie l'attrait de la longueur et du ton. Le biais de
#   position, lui, n'existe qu'en comparaison.
#
# **Avant les mesures, lire les erreurs.** [Husain (2024)](https://hamel.dev/blog/posts/llm-judge/) recommande de partir
# d'un expert qui tranche réussi ou échoué **et écrit pourquoi**, puis d'un juge par sorte d'échec, rapporté par ses
# deux taux plutôt que par son accord. C'est la table de la section 1, lue ligne par ligne.

# %%
print(judge.source(client))

# %% [markdown]
# ## À retenir
#
# - L'accord brut se lit à côté de celui d'un juge constant ; le kappa le fait, mais il s'effondre quand une étiquette
#   domine. On montre la **table**.
# - Il faut assez d'exemples **de chaque étiquette** : la spécificité se mesure sur les échecs, et eux seuls.
# - Un seuil d'alarme franchi sur douze paires n'est pas un verdict : l'intervalle d'abord, les deux passages toujours.
# - Stable n'est pas juste : un juge réel peut faire, dans les deux ordres, **moins bien que le hasard**.
# - Un pourcentage d'accord se cite avec ce qu'on a fait des égalités.
# - Une note se lit strictement, sur sa dernière ligne ; une note hors de l'échelle est illisible, et se compte.
# - La corrélation ne voit pas un juge trop généreux, et ne peut dépasser la racine de la fiabilité des personnes.
# - Un taux se corrige par les erreurs du juge ; l'incertitude de ces erreurs passe dans le taux corrigé.

# %% [markdown]
# ## Questions
#
# **1.** Un juge s'accorde à 95 % avec une personne. Celle-ci a dit « réussi » à 95 réponses sur 100. Que vaut ce juge ?
#
# <details><summary>Réponse</summary>
#
# On ne sait pas. « Toujours réussi » obtient exactement 95 %, avec un kappa nul. Il faut savoir combien des cinq échecs
# il retrouve, et cinq échecs sont trop peu pour le dire.
#
# </details>
#
# **2.** Dans quel cas la formule de Rogan et Gladen ne donne-t-elle rien ?
#
# <details><summary>Réponse</summary>
#
# Quand la sensibilité et la spécificité somment à 1 : le juge dit « réussi » aussi souvent pour un échec que pour une
# réussite. Le juge constant est de ceux-là. Aucune correction ne tire de l'information d'un verdict qui n'en contient
# pas.
#
# </details>
#
# **3.** Deux personnes ont entre elles une corrélation de 0,50. Un article annonce un juge à 0,90 avec l'une d'elles.
# Qu'en penser ?
#
# <details><summary>Réponse</summary>
#
# Le plafond est √0,50 ≈ 0,71 : 0,90 est trop beau. On cherche une sélection des exemples (ceux où les personnes
# s'accordent), un échantillon très petit, ou une consigne réglée sur ces mêmes exemples.
#
# </details>

# %% [markdown]
# ## Pour aller plus loin
#
# - Exercice `ex07_kappa` : écrire le kappa et la correction d'un taux, puis lire une table.
# - Estimez avec [ppi-python (Angelopoulos et al., 2023)](https://arxiv.org/abs/2301.09633) un taux et son intervalle à
#   partir de peu d'avis et de beaucoup de verdicts ; [Boyeau et al. (2024)](https://arxiv.org/abs/2403.07008)
#   l'appliquent aux juges.
# - Le [guide d'évaluation de Hugging Face](https://huggingface.co/spaces/CATIE-AQ/Guide_Evaluation_LLM), en français,
#   donne d'autres conseils pour composer une consigne.
# - Notez à deux, séparément, vingt réponses de votre propre projet, puis mesurez **votre** accord avant celui d'un
#   juge.

# %% [markdown]
# ## Sources
#
# - Cohen (1960), « A Coefficient of Agreement for Nominal Scales » ; Cohen (1968), « Weighted Kappa ».
# - Byrt, Bishop et Carlin (1993), « Bias, Prevalence and Kappa » ; Gwet (2008), « Computing Inter-Rater Reliability and
#   its Variance in the Presence of High Agreement ».
# - [Krippendorff (2011), « Computing Krippendorff's Alpha-Reliability »](https://repository.upenn.edu/asc_papers/43).
# - Rogan et Gladen (1978), « Estimating Prevalence from the Results of a Screening Test » ; [Lee et al.
#   (2025)](https://arxiv.org/abs/2511.21140).
# - [Zheng et al. (2023), « Judging LLM-as-a-Judge with MT-Bench and Chatbot Arena »](https://arxiv.org/abs/2306.05685)
#   ; votes publiés sous CC BY 4.0.
# - [Zeng et al. (2023), « Evaluating Large Language Models at Evaluating Instruction Following
#   »](https://arxiv.org/abs/2310.07641) ; dépôt sous licence MIT.
# - [Li et al. (2022), FeedbackQA](https://arxiv.org/abs/2204.03025) ; [Ustalov (2023),
#   LLMFAO](https://github.com/dustalov/llmfao), CC BY 4.0.
# - [Roucher (2024), « Using LLM-as-a-judge for an automated and versatile evaluation
#   »](https://huggingface.co/learn/cookbook/llm_judge), traduit par Bourdois ; Apache 2.0.
# - L'origine et la licence de chaque donnée sont dans `helpers/donnees/LISEZMOI.md`.
