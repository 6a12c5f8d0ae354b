# %% [markdown]
# # Leçon 06 · Elo et Bradley–Terry : classer des modèles par leurs duels
#
# **Objectifs**
#
# - calculer un score attendu et une mise à jour Elo, puis dire de quoi une cote Elo dépend ;
# - estimer des forces par maximum de vraisemblance (Bradley–Terry), et reconnaître les votes qui n'en donnent pas ;
# - accompagner une cote de son intervalle, et un rang du sien ;
# - comparer, sur de vrais votes, le classement des humains et celui d'un juge ;
# - ne plus confondre un taux de victoire et une force.
#
# **Durée** : deux heures.
#
# **Prérequis**
#
# - [leçon 04](04_juge_llm.ipynb) : comparaison par paire, égalités, intervalle d'une proportion ;
# - les tableaux de numpy, l'exponentielle et le logarithme.

# %% [markdown] couvre="S3-18 E-19"
# ## 1. Deux réponses, un vote
#
# Noter une réponse de un à dix est difficile. Dire laquelle de deux réponses on préfère l'est moins. Les
# **arènes** reposent sur ce geste :
#
# 1. une personne pose la question de son choix ;
# 2. deux modèles, anonymes et tirés au sort, répondent ;
# 3. la personne vote : l'une, l'autre, ou égalité ; les noms apparaissent ensuite ;
# 4. les votes de tous sont réunis en un **classement**.
#
# [Chatbot Arena](https://arxiv.org/abs/2403.04132) annonçait 240 000 votes en 2024, et plus d'un million depuis.
# Cette leçon porte sur la quatrième étape : passer d'un tableau de duels à un classement, et dire ce que ce
# classement vaut.
#
# Une précaution d'abord. On lit que ces arènes « ne peuvent pas être optimisées », puisque les questions sont
# toujours nouvelles. C'est faux. [Singh et al. (2025)](https://arxiv.org/abs/2504.20879) étudient deux millions de
# duels et décrivent jusqu'à 27 variantes privées essayées par un même fournisseur avant une sortie, dont il ne publie
# que la meilleure. Garder le meilleur de plusieurs essais bruités relève le score sans améliorer le modèle.

# %%
import json
import math
from collections import Counter
from numbers import Real
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression

from helpers import plots
from helpers.agreement import wilson_interval

# %% [markdown]
# ## 2. Le score attendu
#
# Le système d'Elo vient des échecs. Chaque modèle a une **cote**, en points. L'écart des cotes donne le résultat
# attendu d'un duel : une victoire vaut 1, une égalité 0,5, une défaite 0.
#
# Exemple : à cotes égales, le score attendu est un demi. Avec 400 points de plus, il est de dix contre un, soit 10/11.
#
# $$E_a = \frac{1}{1 + 10^{(R_b - R_a)/400}}$$
#
# La formule ne contient que la **différence** $R_b - R_a$ : ajouter cent points à tous les modèles n'y change rien.

# %%
def check_number(value, name):
    """Vérifie que `value` est un nombre fini ; `name` sert au message."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} : nombre attendu, {type(value).__name__} reçu ; donnez un nombre fini.")
    if not math.isfinite(value):
        raise ValueError(f"{name} vaut {value} : donnez un nombre fini.")


def expected_score(rating_a, rating_b):
    """Score attendu de a contre b : probabilité de victoire, plus la moitié de celle d'une égalité."""
    check_number(rating_a, "cote de a")
    check_number(rating_b, "cote de b")
    # Au-delà de 10 puissance 300, un float déborde ; le score est déjà nul à toute précision utile.
    exponent = min((rating_b - rating_a) / 400, 300.0)
    return 1 / (1 + 10**exponent)


for gap in (0, 10, 50, 100, 200, 400, 800):
    print(f"écart {gap:3d} : le mieux coté attend {expected_score(1000 + gap, 1000):.4f}, "
          f"l'autre {expected_score(1000, 1000 + gap):.4f}")

# %% [markdown]
# **Lecture du résultat.** Les deux scores attendus d'un duel somment toujours à un. Un écart de 100 points, qui a
# l'air net dans un tableau, donne 0,6401 : le moins bien coté garde 36 % des points. Un écart de 10 points donne
# 0,5144, presque pile ou face. À 800 points, il reste encore 1 % au plus faible.

# %% [markdown]
# ## 3. La mise à jour
#
# Après le duel, chacun reçoit la différence entre son score $S$ et son score attendu, multipliée par un pas $K$ :
#
# $$R_a \leftarrow R_a + K\,(S_a - E_a) \qquad R_b \leftarrow R_b - K\,(S_a - E_a)$$
#
# Une victoire attendue rapporte peu, une surprise rapporte beaucoup. $K$ est le plus grand déplacement possible
# en un duel ; 32 est un choix courant.

# %%
def update(rating_a, rating_b, score, k=32.0):
    """Nouvelles cotes de a et de b après un duel ; `score` est celui de a : 1, 0.5 ou 0."""
    check_number(score, "score")
    check_number(k, "k")
    if score not in (0, 0.5, 1):
        raise ValueError(f"score {score} : donnez 1 (a gagne), 0.5 (égalité) ou 0 (b gagne).")
    if k <= 0:
        raise ValueError(f"k = {k} : donnez un nombre de points positif, par exemple 32.")
    # Un seul gain, calculé sur les deux cotes d'avant : ce que l'un gagne, l'autre le perd.
    gain = k * (score - expected_score(rating_a, rating_b))
    return rating_a + gain, rating_b - gain

# %% couvre="S3-19"
for label, score in (("a gagne", 1), ("égalité", 0.5), ("b gagne", 0)):
    new_a, new_b = update(1200, 1000, score)
    print(f"1200 contre 1000, {label} : {new_a:.2f} et {new_b:.2f}, somme {new_a + new_b:.0f}")

print("\nDeux duels entre joueurs à 1500 : chacun en gagne un.")
a, b = update(*update(1500, 1500, 1), 0)
print(f"a gagne, puis b gagne : a {a:.4f}, b {b:.4f}")
a, b = update(*update(1500, 1500, 0), 1)
print(f"b gagne, puis a gagne : a {a:.4f}, b {b:.4f}")

print("\nErreur courante : la cote de b calculée avec la nouvelle cote de a.")
wrong_a = 1500 + 32 * (1 - expected_score(1500, 1500))
wrong_b = 1500 + 32 * (0 - expected_score(1500, wrong_a))
print(f"a {wrong_a:.4f}, b {wrong_b:.4f}, somme {wrong_a + wrong_b:.4f} au lieu de 3000")

# %% [markdown]
# **Lecture du résultat.** Le favori gagne moins de huit points s'il l'emporte (1207,69), il en perd plus de
# vingt-quatre s'il est battu (1175,69), et même une égalité lui coûte (1191,69). La somme reste 2200 : Elo déplace
# des points, il n'en crée pas. L'erreur courante, elle, en crée : 3000,7363.
#
# Le deuxième bloc annonce la suite. Une victoire chacun, et pourtant les cotes diffèrent, car **le dernier
# vainqueur est devant** : 1501,4695 contre 1498,5305, dans un sens ou dans l'autre selon l'ordre.

# %% [markdown]
# ## 4. Une simulation dont nous connaissons la vérité
#
# Un duel est un triplet `(a, b, score de a)`. `elo_ratings` rejoue une liste de duels, dans l'ordre. Elle vérifie
# d'abord chaque duel : un nom mal écrit créerait sinon un modèle de plus.

# %%
def check_models(models):
    """Vérifie que `models` nomme au moins deux modèles différents."""
    if isinstance(models, str) or len(models) < 2:
        raise ValueError("moins de deux modèles : un duel en oppose deux ; donnez une liste d'au moins deux noms.")
    if len(set(models)) != len(models):
        raise ValueError("un modèle est nommé deux fois : donnez à chacun un nom différent.")


def check_games(games, models):
    """Vérifie que chaque duel oppose deux modèles connus et différents, avec un score de 0, 0,5 ou 1."""
    check_models(models)
    known = set(models)
    for number, (a, b, score) in enumerate(games, start=1):
        for name in (a, b):
            if name not in known:
                raise ValueError(f"duel {number} : modèle inconnu {name!r} ; ajoutez-le à la liste des modèles "
                                 "ou corrigez son nom.")
        if a == b:
            raise ValueError(f"duel {number} : {a!r} joue contre lui-même ; retirez ce duel.")
        if score not in (0, 0.5, 1):
            raise ValueError(f"duel {number} : score {score!r} ; donnez 1 (a gagne), 0.5 (égalité) ou 0 (b gagne).")


def elo_ratings(games, models, k=32.0, start=1000.0):
    """Cotes Elo après tous les duels, joués dans l'ordre de la liste : modèle → points."""
    check_games(games, models)
    ratings = {model: float(start) for model in models}
    for a, b, score in games:
        ratings[a], ratings[b] = update(ratings[a], ratings[b], score, k)
    return ratings

# %%
for faulty in ([("Aube", "Brise", 1)], [("Aube", "Aube", 1)], [("Aube", "Cime", math.nan)], [("Aube", "Cime", 2)]):
    try:
        elo_ratings(faulty, ["Aube", "Cime"])
    except ValueError as error:
        print(error)

# %% [markdown]
# Cinq modèles, de A à E, ont des forces que nous choisissons : 1250, 1150, 1050, 950 et 850. Nous tirons cinq cents
# duels. Pour chacun : deux modèles au hasard, puis un seul nombre entre zéro et un, qui décide. Un duel sur dix est
# une égalité.

# %%
def simulate_games(strengths, count, seed, draw=0.10):
    """Duels `(a, b, score de a)` tirés au sort entre des modèles de forces connues, en points Elo."""
    models = list(strengths)
    check_models(models)
    if not 0 <= draw <= 1:
        raise ValueError(f"part d'égalités {draw} : donnez un nombre entre 0 et 1.")
    generator = np.random.RandomState(seed)
    games = []
    for _ in range(count):
        i, j = generator.choice(len(models), 2, replace=False)
        a, b = models[i], models[j]
        win = (1 - draw) * expected_score(strengths[a], strengths[b])
        u = generator.rand()
        games.append((a, b, 1.0 if u < win else 0.5 if u < win + draw else 0.0))
    return games

# %% couvre="S3-20"
strengths = {"A": 1250, "B": 1150, "C": 1050, "D": 950, "E": 850}
models = list(strengths)
games = simulate_games(strengths, 500, seed=42)
ratings = elo_ratings(games, models)

scores = [score for _, _, score in games]
print(f"{len(games)} duels : {scores.count(1.0)} victoires du premier nommé, "
      f"{scores.count(0.5)} égalités, {scores.count(0.0)} défaites")
print("force choisie :", "  ".join(f"{model} {value:.2f}" for model, value in strengths.items()))
print("cote Elo      :", "  ".join(f"{model} {value:.2f}" for model, value in ratings.items()))
print("arrondie      :", "  ".join(f"{model} {value:.0f}" for model, value in ratings.items()))
print(f"somme des cotes {sum(ratings.values()):.0f}, somme des forces {sum(strengths.values())}")

# %% [markdown]
# **Lecture du résultat.** Les 500 duels se partagent en 213 victoires, 51 égalités et 236 défaites. L'ordre des cotes
# est le bon. La cote de A, 1253,32, tombe à trois points de sa force 1250, et l'on conclurait volontiers que « Elo
# converge vers les forces réelles ». Regardons les autres : B a 1068,74 au lieu de 1150, C a 978,88 au lieu de 1050.
# La première cote est une coïncidence.

# %% couvre="S3-21"
steps = range(0, 501, 10)
history = {model: [] for model in models}
for step in steps:
    for model, value in elo_ratings(games[:step], models).items():
        history[model].append(value)

fig, (left, right) = plt.subplots(1, 2, width_ratios=(3, 2), figsize=(9.5, 4.2))
for index, model in enumerate(models):
    left.plot(steps, history[model], color=plots.COLORS[index], linestyle=plots.LINESTYLES[index],
              marker=plots.MARKERS[index], markevery=10, label=model)
left.set(xlabel="duels joués", ylabel="cote Elo", ylim=(670, 1300), title="Au fil des duels")
left.legend(ncols=5, fontsize=9, loc="lower left")
positions = np.arange(5)
right.bar(positions - 0.2, list(ratings.values()), 0.4, color=plots.COLORS[0], label="cote Elo finale")
right.bar(positions + 0.2, list(strengths.values()), 0.4, color=plots.COLORS[4], hatch="//", label="force choisie")
right.set(xticks=positions, xticklabels=models, ylim=(670, 1350), title="À la fin")
right.legend(fontsize=9)
print("duels   " + "".join(f"{model:>8}" for model in models))
for index in (0, 10, 20, 30, 40, 50):
    print(f"{steps[index]:5d}   " + "".join(f"{history[model][index]:8.0f}" for model in models))
plots.show(fig, alt=(
    "À gauche, les cotes Elo des cinq modèles au fil de cinq cents duels : elles partent de 1000, s'écartent, puis "
    "oscillent sans se fixer. À droite, cotes finales et forces choisies en barres : les cotes sont plus basses, "
    "sauf pour A."
))

# %% [markdown]
# *Figure 1. Cotes Elo de cinq modèles simulés, duel après duel, puis comparées aux forces qui ont servi à tirer les duels. Les
# barres partent de 670, et non de zéro.*

# %% [markdown]
# **Lecture du résultat.** Les courbes s'écartent pendant une centaine de duels, puis ondulent. La cote de C vaut 1001
# après 200 duels, 1092 après 300 et 979 après 500 : rien n'a changé dans C, seulement ses derniers résultats.

# %% [markdown] couvre="E-30"
# ## 5. Pourquoi Elo ne « converge » pas vers les forces
#
# Trois raisons, de nature différente.
#
# - **Le niveau est arbitraire.** Les cotes partent de 1000 et leur moyenne y reste ; nos forces ont 1050 pour
#   moyenne. Seuls les **écarts** ont un sens.
# - **Les égalités resserrent les écarts.** Dans notre tirage, le score moyen n'est pas $p$ mais $0{,}9\,p + 0{,}05$,
#   et c'est de lui que vivent les cotes.
# - **Le pas K ne diminue jamais.** Chaque duel déplace les cotes de plusieurs points, même après des milliers de duels.

# %% couvre="E-30"
print(f"moyenne des cotes {np.mean(list(ratings.values())):.0f}, "
      f"moyenne des forces {np.mean(list(strengths.values())):.0f}")

for gap in (100, 200, 300, 400):
    score = 0.9 * expected_score(gap, 0) + 0.05
    print(f"écart choisi {gap} : score moyen {score:.4f}, qui correspond à un écart de "
          f"{400 * math.log10(score / (1 - score)):.0f}")

long_run = simulate_games(strengths, 5000, seed=42)
print("\nles 500 premiers duels sont les mêmes :", long_run[:500] == games)
for count in (500, 1000, 2000, 3000, 4000, 5000):
    found = elo_ratings(long_run[:count], models)
    print(f"{count:5d} duels : " + "  ".join(f"{model} {value:.0f}" for model, value in found.items()))

# %% [markdown] couvre="E-30"
# **Lecture du résultat.** Un écart de 400 devient 327, un écart de 100 devient 90. Et dix fois plus de duels
# n'arrangent rien : après 5000 duels, D est à 819 et E à 876. Ils sont **échangés**, alors que D est vraiment plus
# fort de 100 points. Elo suit la forme du moment. C'est une qualité pour un joueur d'échecs, qui progresse ; un
# modèle figé, lui, ne change pas, et ce mouvement n'est que du bruit.

# %% [markdown]
# ## 6. Les mêmes duels, dans un autre ordre
#
# Nos cinq cents duels n'ont pas d'ordre naturel : les modèles ne changent pas. Mélangeons-les. Un classement honnête ne
# devrait pas bouger.

# %% couvre="S3-23"
def shuffled_elo(games, models, shuffles, seed, k=32.0):
    """Cotes Elo des mêmes duels dans `shuffles` ordres tirés au sort : tableau (ordres, modèles)."""
    generator = np.random.default_rng(seed)
    return np.array([
        list(elo_ratings([games[i] for i in generator.permutation(len(games))], models, k).values())
        for _ in range(shuffles)
    ])


orders = shuffled_elo(games, models, 200, seed=0)
right_order = (np.diff(orders) < 0).all(axis=1)
low, high = wilson_interval(int(right_order.sum()), len(orders))
print("ordre des duels   " + "".join(f"{model:>9}" for model in models))
print("d'origine         " + "".join(f"{value:9.1f}" for value in ratings.values()))
print("moyenne           " + "".join(f"{value:9.1f}" for value in orders.mean(axis=0)))
print("écart type        " + "".join(f"{value:9.1f}" for value in orders.std(axis=0)))
print("plus basse        " + "".join(f"{value:9.1f}" for value in orders.min(axis=0)))
print("plus haute        " + "".join(f"{value:9.1f}" for value in orders.max(axis=0)))
print(f"classement A, B, C, D, E retrouvé : {right_order.sum()} fois sur {len(orders)}, "
      f"soit {right_order.mean():.3f}, intervalle à 95 % [{low:.3f} ; {high:.3f}]")

# %% [markdown]
# **Lecture du résultat.** Avec exactement les mêmes votes, la cote d'un modèle a un écart type de 34,2 points (pour
# C) à 42,4 points (pour A). Le classement complet n'est juste que dans 55,5 % des ordres, intervalle à 95 % [48,6 % ;
# 62,2 %] : à peine plus d'une fois sur deux. Le classement publié aurait dépendu de l'ordre d'arrivée des votes.
#
# [Boubdir et al. (2023)](https://arxiv.org/abs/2311.17295) font la même observation sur des modèles de langue. Ils
# recommandent de moyenner au moins cent permutations, et un petit K quand les modèles sont proches.

# %%
print("   K   écart type   classement juste   écart A − E")
for k in (4, 8, 16, 32, 64):
    found = shuffled_elo(games, models, 100, seed=0, k=k)
    correct = (np.diff(found) < 0).all(axis=1).mean()
    print(f"{k:4d}   {found.std(axis=0).mean():10.1f}   {correct:16.2f}   {(found[:, 0] - found[:, -1]).mean():11.0f}")

# %% [markdown]
# **Lecture du résultat.** Un grand K bouge trop : 57,3 points d'écart type pour K = 64. Un petit K bouge peu, mais
# n'arrive pas : avec K = 4, l'écart entre A et E n'est encore que de 231 points, contre 369 pour K = 32. Aucun K ne
# fait disparaître le dilemme. La réponse est ailleurs : **ne pas mettre à jour**, et expliquer tous les votes à la
# fois.

# %% [markdown]
# ## 7. Bradley–Terry : toutes les parties à la fois
#
# Le modèle de Bradley et Terry garde la formule du score attendu. À chaque modèle, une force $p_i > 0$ :
#
# $$P(i \text{ bat } j) = \frac{p_i}{p_i + p_j} \qquad R_i = 400 \log_{10} p_i$$
#
# C'est la même courbe qu'Elo, écrite autrement. Ce qui change est la question : quelles forces rendent **l'ensemble**
# des votes le plus vraisemblable ? Seules comptent alors les victoires de chacun contre chacun, et l'ordre n'existe
# plus. Une lecture des duels suffit donc pour les compter : même un million de votes tient dans deux petits tableaux,
# les victoires et les égalités.

# %%
def count_votes(games, models):
    """Deux tableaux : victoires de i contre j, puis égalités entre i et j, écrites dans les deux sens."""
    check_models(models)
    rank = {model: index for index, model in enumerate(models)}
    beaten, tied = ({model: [] for model in models} for _ in range(2))
    wins, ties = np.zeros((2, len(models), len(models)))
    try:
        for a, b, score in games:  # D'abord le nom de chaque adversaire, battu ou tenu en échec…
            if score == 1.0:
                beaten[a].append(b)
            elif score == 0.0:
                beaten[b].append(a)
            elif score == 0.5:
                tied[a].append(b)
            else:
                raise KeyError(score)
        for table, opponents in ((wins, beaten), (ties, tied)):
            for model in models:  # … puis le compte de chaque nom.
                for opponent, count in Counter(opponents[model]).items():
                    table[rank[model], rank[opponent]] = count
        if np.diagonal(wins + ties).any():
            raise KeyError("duel contre soi-même")
    except (KeyError, TypeError):
        check_games(games, models)  # Elle dit quel duel est impossible, et pourquoi.
        raise
    return wins, ties + ties.T


def win_matrix(games, models):
    """Case (i, j) : victoires de i contre j, une égalité comptant une demi-victoire pour chacun."""
    wins, ties = count_votes(games, models)
    return wins + ties / 2


wins = win_matrix(games, models)
print("victoires de ↓ contre →" + "".join(f"{model:>7}" for model in models) + "   total   duels")
for model, row, played in zip(models, wins, (wins + wins.T).sum(axis=1)):
    print(f"{model:>22} " + "".join(f"{value:7.1f}" for value in row) + f"{row.sum():8.1f}{played:8.0f}")

# %% [markdown]
# **Lecture du résultat.** Tout ce que Bradley–Terry lira est dans ce tableau. A totalise 149,0 points en 185 duels.
# Deux listes de duels qui donnent le même tableau donneront les mêmes cotes.

# %% [markdown]
# Au maximum de vraisemblance, une condition toute simple : pour chaque modèle, les victoires **attendues** égalent les
# victoires **observées**.
#
# $$W_i = \sum_{j} n_{ij} \, \frac{p_i}{p_i + p_j}$$
#
# D'où une façon de chercher. Partons de forces égales. Un modèle a gagné plus que prévu ? Multiplions sa force par
# victoires observées / victoires attendues. Recommençons jusqu'à l'égalité. C'est l'itération étudiée par
# [Hunter (2004)](https://doi.org/10.1214/aos/1079120141) : la vraisemblance monte à chaque tour.

# %%
played, won = wins + wins.T, wins.sum(axis=1)
strength = np.ones(len(models))
print("tour" + "".join(f"{model:>9}" for model in models) + "   plus grand écart, en victoires")
for turn in range(41):
    expected = (played * strength[:, None] / (strength[:, None] + strength)).sum(axis=1)
    if turn in (0, 1, 2, 5, 10, 20, 40):
        points = 400 * np.log10(strength)
        print(f"{turn:4d}" + "".join(f"{value:9.1f}" for value in points - points.mean() + 1000)
              + f"{np.abs(won - expected).max():12.6f}")
    strength = strength * won / expected

# %% [markdown]
# **Lecture du résultat.** Partis tous de 1000,0, les modèles se séparent vite : au cinquième tour, A est déjà à 1181,0.
# La fin est plus lente : il reste un écart de 0,041948 victoire après vingt tours, et de 0,000094 après quarante.

# %% [markdown]
# Avant d'en faire une fonction, il faut savoir si un maximum **existe**. La suivante le dit ; la section 10 explique
# comment.

# %%
def check_wins(wins, models):
    """Tableau des victoires vérifié : carré, une ligne par modèle, comptes finis et positifs, diagonale nulle."""
    check_models(models)
    try:
        table = np.array(wins, dtype=float)
    except (TypeError, ValueError):
        raise ValueError("les victoires ne forment pas un tableau de nombres : donnez des lignes "
                         "de même longueur.") from None
    if table.shape != (len(models), len(models)):
        raise ValueError(f"tableau de forme {table.shape} pour {len(models)} modèles : donnez une ligne "
                         "et une colonne par modèle.")
    if not np.isfinite(table).all() or (table < 0).any():
        raise ValueError("un compte de victoires est négatif ou n'est pas fini : donnez des comptes d'au moins 0.")
    if np.diagonal(table).any():
        raise ValueError("la diagonale n'est pas nulle : un modèle ne joue pas contre lui-même ; mettez-y 0.")
    return table


def reachable(start, beats):
    """Modèles que l'on atteint depuis `start` en suivant les flèches, lui compris : un booléen par modèle."""
    reached = np.arange(len(beats)) == start
    while True:
        further = reached | beats[reached].any(axis=0)
        if (further == reached).all():
            return reached
        reached = further


def comparable_groups(wins):
    """Groupes de modèles reliés par des victoires dans les deux sens (composantes fortement connexes)."""
    beats = np.asarray(wins) > 0
    groups, grouped = [], set()
    for model in range(len(beats)):
        if model not in grouped:
            mutual = reachable(model, beats) & reachable(model, beats.T)
            groups.append(tuple(np.flatnonzero(mutual).tolist()))
            grouped.update(groups[-1])
    return groups

# %%
def why_not_estimable(wins, models):
    """Phrase qui dit pourquoi ces votes ne donnent pas de cotes finies ; chaîne vide s'ils en donnent."""
    table = check_wins(wins, models)
    groups = comparable_groups(table)
    if len(groups) == 1:
        return ""
    linked = comparable_groups(table + table.T)
    if len(linked) > 1:
        named = [" et ".join(models[index] for index in group) for group in linked]
        return f"aucun vote ne relie ces groupes : {' | '.join(named)}"
    # Tout est relié, mais dans un seul sens : un groupe au moins n'a jamais perdu contre le reste.
    for group in groups:
        others = [index for index in range(len(models)) if index not in group]
        if not table[np.ix_(others, group)].any():
            return f"{' et '.join(models[index] for index in group)} : aucune défaite contre les autres"

# %% [markdown]
# Et voici l'estimation elle-même, qui cherche la même égalité en moins de tours. L'itération de Hunter corrige chaque
# modèle sans regarder ce que la correction des autres va changer ; la **méthode de Newton** les corrige tous ensemble.
#
# Quand le logarithme de la force de i monte un peu, ses victoires attendues contre j montent de $n_{ij}\,p\,(1 - p)$
# fois ce peu, où $p$ est sa chance de battre j ; celles de j baissent d'autant. Ces **pentes** forment un tableau. Si
# elles ne changeaient pas, une seule correction annulerait tous les écarts : c'est un système d'équations, que numpy
# résout. Elles changent, alors on recommence ; près du but, le nombre de chiffres justes double à chaque tour.
#
# Deux précautions. Un modèle sert de référence, puisque le niveau est libre. Et une correction ne déplace aucun écart
# de plus d'une unité, soit 174 points : loin du but, la pente trompe.

# %%
def log_strengths(wins, start=None):
    """Logarithmes (naturels) des forces, de moyenne nulle : maximum de vraisemblance, par la méthode de Newton."""
    played, won, lost = wins + wins.T, wins.sum(axis=1), wins.sum(axis=0)
    logs = np.log(won) - np.log(lost) if start is None else start
    for _ in range(1000):
        strength = np.exp(logs)
        share = strength[:, None] / (strength[:, None] + strength)
        expected = played * share
        # Ce que i gagne de plus contre j quand son logarithme monte : n p (1 − p) ; j perd autant.
        slope = expected * share.T
        slopes = np.diag(slope.sum(axis=1)) - slope
        gap = won - expected.sum(axis=1)
        try:
            # Le dernier modèle sert de référence : les votes laissent le niveau libre.
            step = np.append(np.linalg.solve(slopes[:-1, :-1], gap[:-1]), 0)
        except np.linalg.LinAlgError:
            break
        spread = np.ptp(step)
        logs = logs + step / max(1, spread)
        if spread < 1e-6:
            return logs - logs.mean()
    raise ValueError("le calcul n'a pas convergé : des groupes ne se tiennent que par très peu de votes ; "
                     "récoltez-en d'autres.")


def fit_bradley_terry(wins, models, mean=1000.0):
    """Cotes de Bradley–Terry par maximum de vraisemblance : modèle → points Elo, de moyenne `mean`."""
    table = check_wins(wins, models)
    check_number(mean, "moyenne des cotes")
    reason = why_not_estimable(table, models)
    if reason:
        raise ValueError(f"pas de cotes finies ({reason}) : récoltez d'autres votes, "
                         "ou classez chaque groupe à part.")
    points = mean + 400 / math.log(10) * log_strengths(table)
    return dict(zip(models, points.tolist()))

# %% couvre="S3-22"
bradley_terry = fit_bradley_terry(wins, models)
shuffled = [games[i] for i in np.random.default_rng(1).permutation(len(games))]
again = fit_bradley_terry(win_matrix(shuffled, models), models)
centered = {model: value - 50 for model, value in strengths.items()}

print("                        " + "".join(f"{model:>9}" for model in models))
averaged = dict(zip(models, orders.mean(axis=0)))
for label, values in (("Elo, ordre d'origine", ratings), ("Elo, moyenne des ordres", averaged),
                      ("Bradley–Terry", bradley_terry), ("Bradley–Terry, mélangé", again),
                      ("force, recentrée", centered)):
    print(f"{label:<24}" + "".join(f"{values[model]:9.1f}" for model in models))

# Les forces que donnerait une infinité de ces duels, égalités comprises : le tableau des scores moyens.
limit = np.array([[0.9 * expected_score(strengths[a], strengths[b]) + 0.05 for b in models] for a in models])
np.fill_diagonal(limit, 0)
print(f"{'infinité de duels':<24}" + "".join(f"{value:9.1f}" for value in fit_bradley_terry(limit, models).values()))
values = list(bradley_terry.values())
expected = sum((wins + wins.T)[0, j] * expected_score(values[0], values[j]) for j in range(1, 5))
print(f"victoires de A : observées {wins[0].sum():.4f}, attendues {expected:.4f}")

# %% [markdown]
# **Lecture du résultat.** Bradley–Terry donne 1203,4 à A, 1063,9 à B, 1013,5 à C, 872,5 à D et 846,7 à E, quel que
# soit l'ordre des votes. La moyenne d'Elo sur beaucoup d'ordres s'en approche, à grands frais. Les victoires
# attendues de A, 149,0000, égalent les observées : c'est la condition annoncée.
#
# L'estimation n'est pas la vérité. Avec une infinité de duels, A serait à 1171,6 et non à 1200,0, parce que les
# égalités resserrent tout ; le reste de l'écart est le hasard de nos quelques centaines de duels. Nous le mesurerons
# par bootstrap.

# %% [markdown]
# ## 8. Concordance : une régression logistique
#
# Bradley–Terry est une régression logistique sans constante : chaque duel est une ligne, avec +1 pour a, −1 pour b.
# Une égalité compte pour une demi-ligne gagnée et une demi-ligne perdue. scikit-learn, **sans pénalité**, doit
# retrouver nos cotes. Un modèle sert de référence, à zéro : sans cela, le niveau resterait libre.

# %%
def logistic_ratings(wins, models):
    """Les mêmes cotes par la régression logistique non pénalisée de scikit-learn."""
    rows, outcomes, weights = [], [], []
    for i in range(len(models)):
        for j in range(len(models)):
            if wins[i, j] > 0:
                row = np.zeros(len(models))
                row[i], row[j] = 1, -1
                rows += [row, -row]
                outcomes += [1, 0]
                weights += [wins[i, j] / 2] * 2
    fitted = LogisticRegression(C=np.inf, fit_intercept=False, solver="newton-cholesky", tol=1e-12)
    fitted.fit(np.array(rows)[:, :-1], outcomes, sample_weight=weights)
    points = np.append(fitted.coef_[0], 0) * 400 / math.log(10)
    return dict(zip(models, points - points.mean() + 1000))


reference = logistic_ratings(wins, models)
for model in models:
    print(f"{model}   nous {bradley_terry[model]:.6f}   scikit-learn {reference[model]:.6f}")
gap = max(abs(bradley_terry[model] - reference[model]) for model in models)
print("plus grand écart inférieur à 1e-6 point :", bool(gap < 1e-6))

three_one = fit_bradley_terry([[0, 3], [1, 0]], ["a", "b"])
print(f"\ntrois victoires à une : écart {three_one['a'] - three_one['b']:.4f}, "
      f"à la main 400 log10(3) = {400 * math.log10(3):.4f}")

# %% [markdown]
# **Lecture du résultat.** Les deux calculs coïncident à 1e-6 point près, alors qu'ils n'ont aucune ligne en commun.
# Le cas à la main aussi : trois victoires contre une font un rapport de forces de trois, donc 190,8485 points.
#
# Le réglage `C=np.inf` n'est pas un détail. Par défaut, scikit-learn ajoute une pénalité qui rapproche toutes les
# cotes : c'est un choix défendable, mais c'en est un, et il se déclare.

# %% [markdown]
# ## 9. Que vaut une égalité ?
#
# a bat b deux fois, perd une fois, et fait une égalité. Trois conventions circulent, et une erreur.

# %%
conventions = {
    "une demi-victoire à chacun": [[0, 2.5], [1.5, 0]],
    "égalité ignorée": [[0, 2], [1, 0]],
    "égalité donnée au premier nommé": [[0, 3], [1, 0]],
    "une victoire à chacun (comptée deux fois)": [[0, 3], [2, 0]],
}
for label, table in conventions.items():
    found = fit_bradley_terry(table, ["a", "b"])
    print(f"{label:<42} écart {found['a'] - found['b']:7.2f}")

# %% [markdown]
# **Lecture du résultat.** Le même résultat vaut 88,74 points, 120,41 ou 190,85 selon la convention. Nous prenons la
# première, et nous le disons. La dernière est une erreur de programme déjà rencontrée : l'égalité, écrite dans les
# deux sens du tableau, y compte pour deux duels. Elle donne 70,44.

# %% [markdown]
# D'autres modèles donnent aux égalités une probabilité propre (Rao et Kupper, 1967 ; Davidson, 1970). Ils
# demandent un paramètre de plus ; la demi-victoire, elle, suffit pour classer.

# %% [markdown]
# ## 10. Quand il n'y a pas de réponse
#
# a bat b trois fois sur trois. Quelle est sa force ? Plus l'écart est grand, plus ces votes sont vraisemblables.
# Aucun écart n'est le meilleur : le maximum est à l'infini.

# %%
print("écart    vraisemblance de trois victoires sur trois")
for gap in (0, 200, 400, 800, 1600):
    print(f"{gap:5d}    {expected_score(gap, 0) ** 3:.6f}")

print("\nun optimiseur s'arrête quand la pente passe sous sa tolérance :")
for tolerance in (1e-3, 1e-5, 1e-8):
    print(f"  tolérance {tolerance:.0e} : écart {400 * math.log10(3 / tolerance - 1):.0f}")

print("\navec des victoires fictives, une fraction à chacun :")
for extra in (1, 0.5, 0.1):
    found = fit_bradley_terry([[0, 3 + extra], [extra, 0]], ["a", "b"])
    print(f"  {extra} ajoutée : écart {found['a'] - found['b']:.1f}")

# %% [markdown]
# **Lecture du résultat.** La vraisemblance monte sans jamais atteindre un. Un optimiseur général finit par rendre un
# nombre : 1391, 2191 ou 3391 selon sa tolérance. Ajouter des victoires fictives en rend un aussi : 240,8 pour une
# victoire, 596,5 pour un dixième. **Dans les deux cas, le nombre vient du réglage, pas des votes.** La seule phrase
# juste est « a n'a pas perdu ».

# %% [markdown]
# La condition générale est celle de Ford (1957). Traçons une flèche de i vers j quand i a battu j au moins une fois.
# Des cotes finies existent si et seulement si l'on peut aller de chaque modèle à chaque autre en suivant les flèches
# : le graphe est **fortement connexe**. Sinon, il se découpe en groupes, et ce sont eux qu'il faut rapporter.

# %%
cases = {
    "a invaincu": (["a", "b"], [[0, 3], [0, 0]]),
    "a invaincu, une égalité": (["a", "b"], [[0, 3.5], [0.5, 0]]),
    "d sans victoire": (["a", "b", "d"], [[0, 2, 1], [1, 0, 3], [0, 0, 0]]),
    "deux îles": (["a", "b", "c", "d"], [[0, 2, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 2, 0]]),
    "un pont à sens unique": (["a", "b", "c", "d"], [[0, 2, 1, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 2, 0]]),
    "un cercle": (["a", "b", "c"], [[0, 1, 0], [0, 0, 1], [1, 0, 0]]),
}
for label, (names, table) in cases.items():
    groups = [" ".join(names[index] for index in group) for group in comparable_groups(table)]
    print(f"{label} : {len(groups)} groupe(s), {' | '.join(groups)}")
    try:
        found = fit_bradley_terry(table, names)
        print("   ", "  ".join(f"{name} {value:.1f}" for name, value in found.items()))
    except ValueError as error:
        print("   ", error)

# %% [markdown]
# **Lecture du résultat.** Une seule égalité suffit à rendre a mesurable : 1169,0 contre 831,0. Deux îles sans vote
# commun ne se comparent pas, même si chacune est bien classée. Le pont à sens unique est le cas le plus traître :
# chaque modèle a perdu au moins une fois, tout est relié, et pourtant rien ne borne l'écart entre les deux groupes.
# Le cercle, où chacun bat le suivant, est mesurable : les trois sont à 1000,0.

# %% [markdown]
# ## 11. Un intervalle pour chaque cote, un intervalle pour chaque rang
#
# Le **bootstrap** répond à la question « et avec d'autres votes du même genre ? ». On tire cinq cents duels parmi nos
# cinq cents, avec remise ; on réestime ; on recommence mille fois. L'intervalle à 95 % va du centile 2,5 au centile
# 97,5.
#
# Inutile, pour cela, de relire la liste mille fois. Les cotes ne dépendent que des comptes ; et tirer un duel au
# hasard, c'est tirer une case des deux tableaux, avec une chance égale à sa part des duels. Les comptes d'un
# rééchantillon suivent donc une loi **multinomiale** : on les tire d'un coup, et c'est exactement la même loi.
#
# Un rééchantillon peut ne pas avoir de cotes finies. Il devient une ligne de `nan`, et nous **comptons** ces lignes.

# %%
def bootstrap_bradley_terry(games, models, resamples, seed):
    """Cotes de rééchantillons des duels : tableau (resamples, modèles) ; nan quand il n'y a pas de cotes finies."""
    wins, ties = count_votes(games, models)
    if len(games) == 0 or resamples < 1:
        raise ValueError("rien à tirer : donnez au moins un duel et au moins un rééchantillon.")
    samples = np.full((resamples, len(models)), np.nan)
    if why_not_estimable(wins + ties / 2, models):
        return samples  # Un rééchantillon n'a pas d'autres liens que ceux des duels.
    start = log_strengths(wins + ties / 2)
    counts = np.stack([wins, np.triu(ties)])  # Chaque duel compté dans une seule case.
    seen = counts > 0
    frequencies = counts[seen] / len(games)
    generator = np.random.default_rng(seed)
    for row in samples:
        counts[seen] = generator.multinomial(len(games), frequencies)
        won, tied = counts
        table = won + (tied + tied.T) / 2
        if len(comparable_groups(table)) == 1:
            row[:] = 1000 + 400 / math.log(10) * log_strengths(table, start)
    return samples

# %%
def percentile_intervals(samples, level=0.95):
    """Intervalle `(bas, haut)` de chaque colonne : centiles des rééchantillons, lignes de nan mises à part."""
    if not 0 < level < 1:
        raise ValueError(f"niveau {level} : donnez un nombre entre 0 et 1, par exemple 0.95.")
    finite = samples[np.isfinite(samples).all(axis=1)]
    if len(finite) == 0:
        raise ValueError("aucun rééchantillon n'a de cotes finies : il n'y a pas d'intervalle ; "
                         "récoltez d'autres votes.")
    tail = 50 * (1 - level)
    low, high = np.percentile(finite, [tail, 100 - tail], axis=0)
    return list(zip(low.tolist(), high.tolist()))


def rank_intervals(samples, level=0.95):
    """Intervalle des rangs de chaque colonne, 1 pour la plus haute cote : `(meilleur, pire)`, deux entiers."""
    ranks = 1.0 + (samples[:, None, :] > samples[:, :, None]).sum(axis=2)
    ranks[np.isnan(samples)] = np.nan
    # Un rang est entier : on prend l'entier qui contient le centile, du côté prudent.
    return [(math.floor(low), math.ceil(high)) for low, high in percentile_intervals(ranks, level)]

# %% couvre="S3-22"
samples = bootstrap_bradley_terry(games, models, 1000, seed=0)
print(f"rééchantillons sans cotes finies : {np.isnan(samples[:, 0]).sum()} sur {len(samples)} (graine 0)")
for model, (low, high), (best, worst) in zip(models, percentile_intervals(samples), rank_intervals(samples)):
    print(f"{model}   cote {bradley_terry[model]:7.1f}   intervalle [{low:.0f} ; {high:.0f}]   rang {best} à {worst}")

# %% [markdown]
# **Lecture du résultat.** A est à 1203,4, intervalle [1154 ; 1259] : son rang va de 1 à 1, il est premier. B et C se
# disputent les rangs 2 et 3, D et E les rangs 4 et 5. Leurs intervalles se recouvrent : [829 ; 913] pour D, [802 ;
# 887] pour E. Cinq cents votes ne suffisent pas à ordonner cinq modèles. Un classement honnête écrirait « D et E,
# quatrièmes ex æquo ».

# %% [markdown]
# ### Le point d'ancrage
#
# Les cotes n'ont de sens qu'à une constante près, et nous fixons leur moyenne. D'autres fixent la cote d'**un**
# modèle. Les écarts sont les mêmes ; les intervalles, non.

# %%
def widths(table):
    """Largeur de l'intervalle de chaque colonne, en points."""
    return [high - low for low, high in percentile_intervals(table)]


anchored = samples - samples[:, [4]] + 800
print("largeur des intervalles     " + "".join(f"{model:>7}" for model in models))
print("moyenne fixée à 1000        " + "".join(f"{width:7.0f}" for width in widths(samples)))
print("E fixé à 800                " + "".join(f"{width:7.0f}" for width in widths(anchored)))
for label, table in (("moyenne fixée", samples), ("E fixé", anchored)):
    low, high = percentile_intervals((table[:, 1] - table[:, 2])[:, None])[0]
    print(f"écart B − C, {label:<14} : [{low:.1f} ; {high:.1f}], largeur {high - low:.1f}")
print(f"somme des largeurs de B et de C : {sum(widths(samples)[1:3]):.1f}")

# %% [markdown]
# **Lecture du résultat.** Fixer E à 800 lui donne un intervalle de largeur 0, comme si on le connaissait
# parfaitement, et élargit tous les autres : A passe de 105 à 157. L'incertitude de E n'a pas disparu, elle a été
# versée chez les autres.
#
# L'intervalle d'un **écart**, lui, ne dépend d'aucun ancrage : [−9,3 ; 107,3] pour B − C dans les deux cas. Il
# contient zéro : ces duels ne séparent pas B de C. Sa largeur, 116,6, est loin de la somme 152,5 des deux largeurs :
# deux intervalles peuvent se recouvrir un peu sans que l'écart contienne zéro. Pour comparer deux modèles, c'est donc
# l'intervalle de l'écart que l'on rapporte.

# %% [markdown]
# ### Quand le bootstrap n'a pas de borne
#
# a bat b neuf fois sur dix. L'estimation est finie. Mais beaucoup de rééchantillons ne contiendront pas la seule
# défaite.

# %%
nine_one = [("a", "b", 1.0)] * 9 + [("a", "b", 0.0)]
draws = bootstrap_bradley_terry(nine_one, ["a", "b"], 2000, seed=0)
point = fit_bradley_terry(win_matrix(nine_one, ["a", "b"]), ["a", "b"])
gaps = (draws[:, 0] - draws[:, 1])[:, None]
low, high = percentile_intervals(gaps)[0]
print(f"écart estimé : {point['a'] - point['b']:.1f}")
print(f"rééchantillons sans aucune défaite de a : {np.isnan(gaps).mean():.3f} ; à la main 0,9^10 = {0.9**10:.4f}")
print(f"intervalle à 95 % des seuls autres : [{low:.1f} ; {high:.1f}] ; part laissée au-dessus de lui : {0.025}")

# %% [markdown]
# **Lecture du résultat.** Un rééchantillon sur trois environ (0,351 ici, 0,3487 à la main) donne un écart **infini**.
# C'est bien plus que les 2,5 % que l'on laisse au-dessus d'un intervalle : sa vraie borne haute est l'infini.
# L'intervalle calculé sur les autres, [147,2 ; 381,7], est trop étroit, et son bord haut coïncide avec l'estimation
# 381,7. On rapporte donc trois choses : l'estimation, la borne basse, et la part de rééchantillons sans réponse.

# %% [markdown]
# ## 12. De vrais votes : les humains et GPT-4
#
# MT-Bench pose quatre-vingts questions à deux tours à six modèles. Les réponses ont été comparées deux à deux par des
# personnes, et par GPT-4. Les comptes sont ceux des votes publiés par [Zheng et al.
# (2023)](https://arxiv.org/abs/2306.05685), sous licence CC BY 4.0.
#
# Ce sont des tableaux, sans ordre : une cote Elo de ces votes exigerait d'en inventer un. Bradley–Terry n'en a pas
# besoin.

# %%
def games_from_counts(wins, ties, models):
    """Un duel par vote, à partir de comptes ; l'ordre des duels est celui du tableau, il ne dit rien du temps."""
    won, tied = check_wins(wins, models), check_wins(ties, models)
    if (won % 1).any() or (tied % 1).any():
        raise ValueError("un compte n'est pas entier : donnez un nombre de votes, sans demi-victoire.")
    if (tied != tied.T).any():
        raise ValueError("le tableau des égalités n'est pas symétrique : écrivez chaque égalité dans les deux sens.")
    games = []
    for i, a in enumerate(models):
        for j, b in enumerate(models):
            games += [(a, b, 1.0)] * int(won[i, j])
            if i < j:
                games += [(a, b, 0.5)] * int(tied[i, j])
    return games


DATA = Path(plots.__file__).parent / "donnees"
counts = json.loads((DATA / "agregats.json").read_text(encoding="utf-8"))
mtbench = counts["mtbench"]
names = mtbench["models"]
votes = {judge: games_from_counts(mtbench[key]["wins"], mtbench[key]["ties"], names)
         for judge, key in (("humains", "human"), ("GPT-4", "gpt4_pair"))}
for judge, key in (("humains", "human"), ("GPT-4", "gpt4_pair")):
    tied = np.sum(mtbench[key]["ties"]) / 2
    print(f"{judge} : {len(votes[judge])} votes, dont {tied:.0f} égalités, soit {tied / len(votes[judge]):.3f}")
    for name, row, ties in zip(names, mtbench[key]["wins"], mtbench[key]["ties"]):
        print(f"  {name:<17}" + "".join(f"{win:5d}={tie:<3d}" for win, tie in zip(row, ties)))

# %% [markdown]
# **Lecture du résultat.** Une case « 91=55 » se lit : 91 victoires de la ligne sur la colonne, et 55 égalités. Les
# humains ont donné 3355 votes, dont 23,2 % d'égalités ; GPT-4, 2400 comparaisons, dont 25,0 %. Les effectifs ne sont
# pas équilibrés chez les humains : certains couples ont été votés bien plus que d'autres.

# %%
results = {}
for judge, listed in votes.items():
    point = fit_bradley_terry(win_matrix(listed, names), names)
    drawn = bootstrap_bradley_terry(listed, names, 500, seed=0)
    results[judge] = (point, percentile_intervals(drawn), rank_intervals(drawn), drawn)
    print(f"{judge} (signature : bt-mle | égalité 1/2 | moyenne 1000 | {len(listed)} votes | bootstrap 500, graine 0, "
          f"{np.isnan(drawn[:, 0]).sum()} sans cotes finies)")
    for name, (low, high), (best, worst) in zip(names, *results[judge][1:3]):
        print(f"  {name:<17}{point[name]:8.1f}   [{low:.0f} ; {high:.0f}]   rang {best} à {worst}")
    low, high = percentile_intervals((drawn[:, 1] - drawn[:, 2])[:, None])[0]
    print(f"  écart claude-v1 − gpt-3.5-turbo : {point[names[1]] - point[names[2]]:.1f} [{low:.1f} ; {high:.1f}]")
    print(f"  écart gpt-4 − llama-13b : {point[names[0]] - point[names[5]]:.0f}")

# %%
fig, ax = plt.subplots(figsize=(8, 4.2))
for index, (judge, (point, intervals, _, _)) in enumerate(results.items()):
    y = np.arange(len(names)) + (0.15 if index else -0.15)
    x = np.array([point[name] for name in names])
    spread = np.array([[value - low, high - value] for value, (low, high) in zip(x, intervals)]).T
    ax.errorbar(x, y, xerr=spread, fmt=plots.MARKERS[index], color=plots.COLORS[index], capsize=4, label=judge)
    print(f"{judge:<8} cotes  " + "".join(f"{value:8.0f}" for value in x))
    print(f"{judge:<8} écarts entre voisins" + "".join(f"{gap:8.0f}" for gap in -np.diff(x)))
ax.set(yticks=range(len(names)), yticklabels=names, xlabel="cote de Bradley–Terry (moyenne 1000)")
ax.invert_yaxis()
ax.legend()
plots.show(fig, alt=(
    "Cotes de Bradley–Terry de six modèles et leurs intervalles à 95 %, d'après les humains (ronds) et d'après "
    "GPT-4 (carrés). L'ordre est le même ; les carrés sont plus étalés, et seuls les humains laissent claude-v1 et "
    "gpt-3.5-turbo se recouvrir."
))

# %% [markdown]
# *Figure 2. Les mêmes six modèles, jugés par des humains et par GPT-4. Barres : intervalles à 95 %.*

# %% [markdown]
# **Lecture du résultat.** L'ordre est le même des deux côtés, et c'est tout ce qu'un classement montrerait. Les
# cotes, elles, diffèrent. Du premier au dernier, 428 points pour les humains, 649 pour GPT-4 : le juge est plus
# tranché. Entre claude-v1 et gpt-3.5-turbo, les humains voient 7,5 points, intervalle [−15,3 ; 30,5] : ils ne les
# séparent pas, et leurs rangs vont de 2 à 3. GPT-4 les sépare de 80,5 points.
#
# GPT-4 met gpt-4 à 143 points de claude-v1, les humains à 66. On voudrait y lire qu'il se préfère. Ces votes ne
# permettent pas de le dire : GPT-4 étire aussi les écarts où il n'est pour rien, comme 184 points au lieu de 122
# entre vicuna-13b et alpaca-13b. Un juge qui a plus souvent un avis, ou moins de bruit, ferait de même.

# %% [markdown]
# Ces intervalles supposent des votes **indépendants**. Ils ne le sont pas : plusieurs votes portent sur la même
# question, plusieurs viennent de la même personne. Il faudrait tirer des questions entières, et les comptes agrégés
# ne le permettent plus. Les vrais intervalles sont donc plus larges ; [Miller
# (2024)](https://arxiv.org/abs/2411.00640) montre des cas où ils le sont plus de trois fois.

# %% [markdown]
# ## 13. Un taux de victoire n'est pas une force
#
# Le plus simple des classements est la part de points gagnés. Il dépend de **qui** l'on a rencontré.

# %%
def win_rates(wins):
    """Part des points gagnés par chaque modèle, contre tous ses adversaires mêlés."""
    wins = np.asarray(wins)
    return wins.sum(axis=1) / (wins + wins.T).sum(axis=1)


human = win_matrix(votes["humains"], names)
played = human + human.T
cotes = np.array(list(results["humains"][0].values()))
print("votes humains       taux de victoire     cote   cote moyenne des adversaires")
for name, rate, cote, met in zip(names, win_rates(human), cotes, played @ cotes / played.sum(axis=1)):
    print(f"  {name:<17}{rate:17.4f}{cote:9.1f}{met:31.1f}")

# Trois modèles inventés : Ruse joue surtout contre Faible, que Fort ne rencontre presque pas.
club = ["Fort", "Ruse", "Faible"]
schedule = [[0, 30, 6], [20, 0, 80], [1, 20, 0]]
ladder = fit_bradley_terry(schedule, club)
print("\nFort bat Ruse 30 à 20 et Faible 6 à 1 ; Ruse bat Faible 80 à 20")
for name, rate in zip(club, win_rates(schedule)):
    print(f"  {name:<17}{rate:17.4f}{ladder[name]:9.1f}")

# %% [markdown]
# **Lecture du résultat.** Ruse a le meilleur taux, 0,6667 contre 0,6316, et il perd pourtant contre Fort 30 à 20. Son
# taux récompense son calendrier : il rencontre Faible cent fois. Bradley–Terry corrige : 1127,2 pour Fort, 1056,8
# pour Ruse.
#
# Les vrais votes en montrent une version discrète. Au taux de victoire, gpt-3.5-turbo passe devant claude-v1 (0,6519
# contre 0,6501) ; à la cote, c'est l'inverse (1104,2 contre 1111,7), car ses adversaires étaient en moyenne un peu
# plus faibles : 975,1 contre 979,9. Ces écarts-là sont trop petits pour conclure ; le sens, lui, s'inverse.

# %% [markdown]
# Cela se voit en grandeur réelle. Sur l'arène publique française [compar:IA](https://comparia.beta.gouv.fr), une
# extraction des votes plaçait gemini-2.0-flash au premier rang sur 93 par le taux de victoire (63,2 %), et au
# huitième par Bradley–Terry. Le premier de Bradley–Terry, mistral-medium-3.1, n'avait que 191 duels, et un intervalle
# de rangs de 1 à 8 : la force sans l'intervalle trompe aussi.

# %% [markdown]
# ## 14. Le côté gauche vaut combien de points ?
#
# Les humains aussi ont un biais de position. Dans les votes de [LLMFAO](https://github.com/dustalov/llmfao), sous
# licence CC BY 4.0, on connaît la part des votes qui vont à la réponse de gauche. La formule du score attendu la
# traduit en points Elo.

# %%
def gap_for(share):
    """Écart de cotes, en points, qui donne un score attendu de `share`."""
    return 400 * math.log10(share / (1 - share))


llmfao = counts["llmfao"]
low, high = llmfao["ic95"]
print(f"humains : gauche {llmfao['humains_choisissent_gauche']:.3f} [{low:.3f} ; {high:.3f}], "
      f"soit {gap_for(llmfao['humains_choisissent_gauche']):.0f} points [{gap_for(low):.0f} ; {gap_for(high):.0f}]")
for judge in ("gpt-3.5", "gpt-4"):
    print(f"{judge} : gauche {llmfao[judge + '_gauche']:.3f}, soit {gap_for(llmfao[judge + '_gauche']):.0f} points")

# %% [markdown]
# **Lecture du résultat.** Être à gauche vaut 23 points Elo auprès d'un humain, intervalle [14 ; 32], et 143 auprès de
# GPT-3.5 ; auprès de GPT-4, −31 : cela coûte. C'est plus que l'écart entre bien des modèles d'un classement. D'où la
# règle de la [leçon 04](04_juge_llm.ipynb) : les deux ordres, ou au moins une place tirée au sort à chaque vote. Le
# tirage au sort n'enlève pas le biais, il l'empêche de favoriser toujours le même modèle.

# %% [markdown]
# ## À retenir
#
# - Le score attendu ne dépend que de l'**écart** des cotes ; 400 points valent dix contre un, 100 points moins de
#   deux contre un.
# - Elo dépend de l'ordre des votes et du pas K. Il ne se fixe pas, et son niveau est arbitraire : pour des modèles
#   figés, il ajoute du bruit.
# - Bradley–Terry garde la même courbe et explique tous les votes à la fois : victoires attendues égales aux victoires
#   observées.
# - Un modèle invaincu, ou deux groupes reliés dans un seul sens, n'ont **pas de cote** : on le dit, au lieu de
#   publier le réglage d'un optimiseur.
# - Une cote se donne avec son intervalle et un rang avec le sien ; pour comparer deux modèles, on donne l'intervalle
#   de l'**écart**.
# - Une égalité, une pénalité, un ancrage sont des conventions : elles font partie de la signature.
# - Un taux de victoire brut mesure aussi le choix des adversaires.

# %% [markdown]
# ## Questions
#
# **1.** Deux équipes calculent Elo sur les mêmes votes, avec le même K, et n'ont pas le même premier. L'une
# s'est-elle trompée ?
#
# <details><summary>Réponse</summary>
#
# Pas forcément : il suffit que leurs votes soient rangés dans un ordre différent. Dans notre simulation, un ordre sur
# deux environ donne un classement faux quelque part. Bradley–Terry leur donnerait la même réponse.
#
# </details>
#
# **2.** Un nouveau modèle gagne ses quatre premiers duels. Sa cote affichée est de 1700. D'où vient ce nombre ?
#
# <details><summary>Réponse</summary>
#
# Pas de ses votes : quatre victoires sans défaite n'ont pas de maximum de vraisemblance. Le nombre vient d'un K,
# d'une pénalité, de victoires fictives ou d'une tolérance. On attend une défaite ou une égalité, ou l'on rapporte «
# invaincu en quatre duels ».
#
# </details>
#
# **3.** Les intervalles de deux modèles se recouvrent. Sont-ils à égalité ?
#
# <details><summary>Réponse</summary>
#
# On ne peut pas le dire ainsi. Il faut l'intervalle de leur **écart**, qui est plus étroit que la somme des deux :
# des intervalles peuvent se recouvrir un peu et l'écart exclure zéro. Et s'il contient zéro, les votes ne les
# séparent pas ; cela ne prouve pas qu'ils se valent.
#
# </details>

# %% [markdown]
# ## Pour aller plus loin
#
# - Exercice `ex06_bradley_terry` : le score attendu et les cotes de Bradley–Terry, sur de petits tableaux.
# - Ajoutez au modèle un avantage de place : une colonne de plus dans la régression logistique de la section 8.
# - Refaites la section 11 avec cinq mille duels : combien en faut-il pour séparer D et E ?
# - À grande échelle : `bench/elo.py` ajuste un million de votes entre cent modèles et mille rééchantillons, avec les
#   fonctions de cette leçon, et compare cotes et intervalles à ceux d'arena-rank, d'evalica et de choix.
# - [Chiang et al. (2024)](https://arxiv.org/abs/2403.04132) : comment Chatbot Arena choisit les duels à proposer et
#   calcule ses intervalles.
# - [Leçon 07](07_juger_le_juge.ipynb) : juger le juge, avec les mêmes votes de MT-Bench.

# %% [markdown]
# ## Sources
#
# - Elo (1978), *The Rating of Chessplayers, Past and Present*.
# - Bradley et Terry (1952), « Rank Analysis of Incomplete Block Designs », *Biometrika* 39 ; Zermelo (1929) avait
#   déjà le modèle.
# - Ford (1957), « Solution of a Ranking Problem from Binary Comparisons », *American Mathematical Monthly* 64.
# - [Hunter (2004), « MM Algorithms for Generalized Bradley–Terry Models »](https://doi.org/10.1214/aos/1079120141),
#   *Annals of Statistics* 32.
# - [Bach (2010), « Self-Concordant Analysis for Logistic Regression »](https://doi.org/10.1214/09-EJS521), *Electronic
#   Journal of Statistics* 4 : jusqu'où un pas de Newton reste sûr.
# - Efron et Tibshirani (1993), *An Introduction to the Bootstrap*.
# - [Zheng et al. (2023), « Judging LLM-as-a-Judge with MT-Bench and Chatbot Arena
#   »](https://arxiv.org/abs/2306.05685) : votes sous licence CC BY 4.0, comptés dans `helpers/donnees/agregats.json`.
# - [Boubdir et al. (2023), « Elo Uncovered »](https://arxiv.org/abs/2311.17295).
# - [Chiang et al. (2024), « Chatbot Arena: An Open Platform for Evaluating LLMs by Human Preference
#   »](https://arxiv.org/abs/2403.04132).
# - [Singh et al. (2025), « The Leaderboard Illusion »](https://arxiv.org/abs/2504.20879).
# - [Miller (2024), « Adding Error Bars to Evals »](https://arxiv.org/abs/2411.00640).
# - [Ustalov (2023), LLMFAO](https://github.com/dustalov/llmfao), CC BY 4.0.
