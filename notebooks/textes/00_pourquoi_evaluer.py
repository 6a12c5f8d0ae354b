# %% [markdown]
# # Leçon 00 · Pourquoi évaluer, et pourquoi c'est difficile
#
# **Objectifs**
#
# - voir pourquoi un texte généré ne se corrige pas comme un calcul ;
# - choisir une mesure d'après la question posée, et non l'inverse ;
# - savoir ce qu'est un intervalle, et pourquoi « six sur six » n'est pas « cent pour cent » ;
# - savoir se servir de ce cours et de ses exercices.
#
# **Durée** : environ 45 minutes.
#
# **Prérequis** : savoir lire quelques lignes de Python. Aucun accès au réseau.

# %%
import importlib.util
import math
import random
from collections import Counter

import matplotlib.pyplot as plt

from helpers import plots
from helpers.agreement import wilson_interval
from helpers.bleu import sentence_bleu
from helpers.tokens import FRENCH_WORDS, french_words

# %% [markdown] couvre="S3-01"
# ## 1. Beaucoup de bonnes réponses
#
# « Combien font 6 fois 7 ? » a une bonne réponse. « Pourquoi le ciel est-il bleu ? » en a une infinité, et aucune liste
# ne les contient toutes. On parle de **génération ouverte**. Quatre difficultés en viennent :
#
# - **plusieurs réponses justes** : ressembler à une référence n'est pas avoir raison ;
# - **la subjectivité** : deux lecteurs sérieux préfèrent deux réponses différentes ;
# - **plusieurs dimensions** : exact, clair, complet, bref, poli ; un seul nombre les écrase ;
# - **le score devient un but** : on apprend à plaire à la mesure, et la mesure cesse de mesurer.
#
# Voyons-les une à une, sur de petits exemples écrits par les auteurs du cours.

# %% [markdown]
# ### Ressembler n'est pas avoir raison
#
# Prenons une réponse de référence et quatre réponses. La mesure la plus simple compte la part des mots de la
# référence que l'on retrouve dans la réponse.

# %% couvre="S3-01"
REFERENCE = "Le ciel est bleu parce que l'air disperse la lumière bleue plus que la lumière rouge."
ANSWERS = {
    "A, juste": "Les gaz de l'atmosphère dévient surtout les courtes longueurs d'onde : le bleu nous arrive de partout.",
    "B, juste": "L'air disperse davantage le bleu que le rouge.",
    "C, fausse": "Le ciel est bleu parce que l'air disperse la lumière rouge plus que la lumière bleue.",
    "D, fausse": "Le ciel est bleu parce que l'air est bleu.",
}


def shared_words(answer, reference):
    """Part des mots de la référence présents dans la réponse, répétitions comprises."""
    wanted, given = Counter(french_words(reference)), Counter(french_words(answer))
    return (wanted & given).total() / wanted.total()


for name, answer in ANSWERS.items():
    print(f"{name:<10} {shared_words(answer, REFERENCE):.2f}   {answer}")

# %% [markdown]
# **Lecture du résultat.** La réponse C dit le contraire de la référence, avec exactement ses mots : elle obtient 1,00. La réponse A,
# juste et bien dite, obtient 0,18. Compter des mots ne lit pas. Les mesures des leçons suivantes sont plus fines, et aucune n'échappe tout à
# fait à ce défaut : chacune dit où il reste.

# %% [markdown]
# ### Plusieurs dimensions, donc plusieurs gagnants
#
# Notons trois réponses sur trois critères, de 0 à 5. Ces notes sont imaginées par les auteurs, pour l'exemple. Un score
# unique suppose des poids ; trois lecteurs peuvent en avoir trois.

# %% couvre="S3-01"
marks = {
    "courte": {"exactitude": 3, "clarté": 4, "brièveté": 5},
    "savante": {"exactitude": 5, "clarté": 2, "brièveté": 2},
    "imagée": {"exactitude": 3, "clarté": 5, "brièveté": 3},
}
readers = {
    "un chercheur": {"exactitude": 4, "clarté": 1, "brièveté": 1},
    "un enfant": {"exactitude": 1, "clarté": 4, "brièveté": 1},
    "un lecteur pressé": {"exactitude": 1, "clarté": 1, "brièveté": 4},
}
for reader, weights in readers.items():
    scores = {name: sum(weights[criterion] * mark for criterion, mark in row.items()) / sum(weights.values())
              for name, row in marks.items()}
    best = max(scores, key=scores.get)
    print(f"{reader:<18}", "  ".join(f"{name} {score:.2f}" for name, score in scores.items()), f"  préférée : {best}")

# %% [markdown]
# **Lecture du résultat.** Les mêmes notes donnent trois gagnants. Aucun lecteur ne se trompe : ils ne veulent pas la même chose. Avant de
# demander « quelle est la meilleure réponse ? », il faut dire pour qui, et pour quoi faire.

# %% [markdown] couvre="E-23"
# ### Quand le score devient un but
#
# > « Quand une mesure devient un objectif, elle cesse d'être une bonne mesure. »
#
# Cette phrase célèbre (*When a measure becomes a target, it ceases to be a good measure*) est appelée loi de Goodhart. Sa forme est celle de l'anthropologue Marilyn Strathern, dans un article
# de 1997 sur l'évaluation des universités britanniques. L'économiste Charles Goodhart écrivait en 1975, à propos de politique
# monétaire, qu'une régularité statistique tend à s'effondrer dès qu'on s'en sert pour piloter.
#
# Donnons-nous pour but la part des mots communs. Le plus sûr n'est plus de répondre : c'est d'empiler des mots probables.

# %%
target = " ".join(sorted(french_words(REFERENCE)))
pile = "ciel bleu bleue lumière rouge air l que le la est plus parce disperse soleil nuage nuit jour étoile"
for name, answer in (("mots de la référence, triés", target), ("pile de mots du sujet", pile),
                     ("réponse A, juste", ANSWERS["A, juste"])):
    print(f"{name:<28} {shared_words(answer, REFERENCE):.2f}   {answer[:66]}…")

# %% [markdown]
# **Lecture du résultat.** Une liste triée, qui ne veut rien dire, obtient 1,00 ; une pile de mots du sujet, écrite sans comprendre,
# 0,82 ; la réponse juste, 0,18. Un système entraîné à monter ce score apprendrait à empiler. La même chose arrive aux benchmarks et aux juges,
# plus lentement : c'est un thème des leçons [04](04_juge_llm.ipynb) et [09](09_benchmarks.ipynb).

# %% [markdown] couvre="S0-01 S0-13"
# ## 2. Quelle mesure pour quelle question
#
# Il y a trois familles d'outils : les mesures **lexicales**, qui comparent des mots ; la **perplexité**, qui mesure la surprise d'un
# modèle ; le **juge**, un modèle qui lit et tranche. Une application, le RAG, les réunit. Partons de la question :
#
# | ce qu'on veut savoir | mesure | leçon |
# |---|---|---|
# | ma traduction reprend-elle les mots d'une bonne traduction ? | BLEU (une précision) | [01](01_bleu.ipynb) |
# | mon résumé garde-t-il ce que garde un bon résumé ? | ROUGE (un rappel) | [02](02_rouge.ipynb) |
# | ce modèle trouve-t-il ce texte plausible ? | perplexité, bits par octet | [03](03_perplexite.ipynb) |
# | laquelle de deux réponses est la meilleure ? | juge par paire, dans les deux ordres | [04](04_juge_llm.ipynb) |
# | ma réponse dit-elle seulement ce que disent les documents ? et tout ce qu'il fallait ? | fidélité, rappel des faits, rappel@k et nDCG | [05](05_rag_fidelite_rappel.ipynb) |
# | comment classer beaucoup de systèmes d'après des duels ? | Elo, Bradley–Terry | [06](06_elo.ipynb) |
# | mon juge est-il digne de confiance ? | kappa, sensibilité, accord avec des personnes | [07](07_juger_le_juge.ipynb) |
# | deux textes disent-ils la même chose avec d'autres mots ? | BERTScore | [08](08_bertscore.ipynb) |
# | ce modèle sait-il faire, en général ? ce programme marche-t-il ? | benchmarks, pass@k | [09](09_benchmarks.ipynb) |
#
# Pour un système RAG, on prend souvent BLEU ou ROUGE **et** la fidélité : les premiers comparent à une réponse attendue, la
# seconde aux documents. Et pour toute question : lire soi-même un échantillon de réponses, avant et après le calcul.

# %% [markdown]
# ## 3. Un score ne voyage pas seul
#
# Un nombre seul ne se vérifie pas et ne se compare pas. Nous donnons toujours ses **composantes** (de quoi est-il
# fait ?) et sa **signature** (avec quels réglages ?).

# %% couvre="S0-12"
candidate, reference = "le chat est sur le tapis", "le chat est assis sur le tapis"
for smoothing in ("none", "method1"):
    print(sentence_bleu(french_words(candidate), [french_words(reference)], smoothing=smoothing,
                        tokenization=FRENCH_WORDS))

# %% [markdown]
# **Lecture du résultat.** Deux réglages, deux scores : 0,0000 et 0,2876. Les composantes disent pourquoi : aucune suite de quatre mots n'est commune (0/3), et
# l'un des réglages en fait un zéro, l'autre non. Les composantes p1, 6/6, et p2, 4/5, sont les mêmes dans les deux. Qui publierait « BLEU = 0,29 » sans signature ne
# serait ni reproductible, ni comparable. La [leçon 01](01_bleu.ipynb) explique chaque terme.

# %% [markdown]
# ## 4. Ce qu'est un intervalle
#
# Un système a réussi six essais sur six. Est-il parfait ? Un système qui réussit huit fois sur dix fait aussi six sur
# six, assez souvent. Un **intervalle de confiance** dit quels taux restent plausibles après ce qu'on a vu. Nous employons celui de
# Wilson, écrit et expliqué à la [leçon 04](04_juge_llm.ipynb).

# %% couvre="S0-02"
print(f"chance de 6 sur 6, avec un taux véritable de 0.8 : {0.8**6:.3f}")
for successes, total in ((6, 6), (2, 5), (24, 24), (40, 100), (400, 1000)):
    low, high = wilson_interval(successes, total)
    print(f"{successes:>3}/{total:<4} = {successes / total:.3f}   Wilson 95 % [{low:.3f}, {high:.3f}]   "
          f"largeur {high - low:.3f}")

# %% [markdown]
# **Lecture du résultat.** Après 6 succès sur 6, l'intervalle va de 0,610 à 1,000 : « 100 % » et « 61 % » sont tous deux plausibles, et un système à 0,8
# fait ce sans-faute avec une probabilité de 0,262. De même, « 40 % » ne veut pas dire la même chose pour 2 sur 5 (largeur 0,652) et pour 400 sur 1000
# (largeur 0,061). Un pourcentage sans effectif n'est pas un résultat.

# %% [markdown]
# ### Que veut dire « 95 % » ?
#
# Pas que le taux a 95 chances sur 100 d'être dans **cet** intervalle-là. Cela veut dire que la **recette** est bonne : si l'on
# refaisait l'expérience beaucoup de fois, environ 95 intervalles sur 100 contiendraient le vrai taux. Vérifions : fixons le vrai taux à
# 0,7, tirons cent expériences de vingt-quatre essais, et dessinons les cent intervalles.

# %%
TRUE_RATE, TRIALS = 0.7, 24


def experiment(draw, rate, trials):
    """Nombre de succès d'une expérience simulée."""
    return sum(draw.random() < rate for _ in range(trials))


draw = random.Random(0)
intervals = [wilson_interval(experiment(draw, TRUE_RATE, TRIALS), TRIALS) for _ in range(100)]
fig, ax = plt.subplots(figsize=(7.2, 4.2))
missed = []
for rank, (low, high) in enumerate(intervals, start=1):
    inside = low <= TRUE_RATE <= high
    missed += [] if inside else [rank]
    k = 0 if inside else 1
    ax.plot([rank, rank], [low, high], linestyle=plots.LINESTYLES[k], color=plots.COLORS[k], linewidth=2)
    ax.plot(rank, (low + high) / 2, plots.MARKERS[k], color=plots.COLORS[k], markersize=3 + 3 * k)
ax.axhline(TRUE_RATE, color="black", linewidth=1)
ax.set(xlabel="expérience simulée", ylabel="taux de succès", ylim=(0, 1))
plots.show(fig, alt=(
    "Cent intervalles de Wilson, verticaux, autour de la ligne du vrai taux, sept dixièmes : presque tous la coupent ; "
    "les rares qui la manquent sont en tirets, avec un carré au milieu."
))
print(f"vrai taux {TRUE_RATE}, {TRIALS} essais : {len(missed)} intervalles sur {len(intervals)} le manquent, {missed}")

# %% [markdown]
# *Figure 1. Cent expériences simulées. Traits pleins et ronds : l'intervalle contient le vrai taux ; tirets et
# carrés : il le manque. Dans la réalité, on n'en voit qu'un, et l'on ne sait pas lequel.*

# %% [markdown]
# Comptons mieux : quatre mille expériences par cas, et deux recettes. La recette usuelle, $\hat p \pm 1{,}96\sqrt{\hat p(1-\hat p)/n}$,
# est celle de beaucoup de rapports.

# %%
def usual_interval(successes, total, z=1.959964):
    share = successes / total
    half_width = z * math.sqrt(share * (1 - share) / total)
    return share - half_width, share + half_width


draw = random.Random(2026)
print(f"{'essais':>6} {'vrai taux':>10} {'usuelle':>9} {'Wilson':>8}")
for trials in (6, 24, 100):
    for rate in (0.7, 0.9, 0.97):
        results = [experiment(draw, rate, trials) for _ in range(4000)]
        shares = []
        for recipe in (usual_interval, wilson_interval):
            bounds = {s: recipe(s, trials) for s in set(results)}
            shares.append(sum(bounds[s][0] <= rate <= bounds[s][1] for s in results) / len(results))
        print(f"{trials:>6} {rate:>10} {shares[0]:>9.3f} {shares[1]:>8.3f}")
print("après 6 succès sur 6, la recette usuelle donne :", usual_interval(6, 6))
low, high = wilson_interval(5, 6)
print(f"après 5 succès sur 6, Wilson donne : [{low:.4f}, {high:.4f}]")

# %% [markdown]
# **Lecture du résultat.** La recette usuelle promet 95 % et ne tient pas souvent parole : avec 6 essais et un vrai taux de 0,9, son intervalle ne contient ce taux que
# dans 0,459 des expériences, et après 6 succès sur 6 elle donne un intervalle de largeur nulle, (1,0 ; 1,0). Wilson reste près de 95 % presque partout. Il a
# son défaut : à 6 essais et 0,97, il tombe à 0,837, parce qu'avec si peu d'essais il n'y a que sept résultats possibles, et que le
# vrai taux passe de justesse au-dessus de l'intervalle de 5 succès, qui s'arrête à 0,9699. Aucune recette ne remplace des essais.

# %% [markdown] couvre="S3-26"
# ## 5. Cinq bonnes pratiques
#
# 1. **La question d'abord.** On choisit la mesure d'après la décision à prendre, avant de voir les résultats.
# 2. **L'instrument avant la mesure.** On l'essaie sur des cas dont on connaît la réponse, des deux sortes.
# 3. **Le score avec ses compagnons** : composantes, signature, effectif, intervalle.
# 4. **Plusieurs mesures, et des yeux.** Une seule mesure se contourne ; lire cinquante réponses apprend plus qu'une décimale.
# 5. **Des cas neufs.** Un jeu d'essai public finit dans les données d'entraînement ; on garde des cas secrets, et on les renouvelle.

# %% [markdown]
# ## 6. Se servir de ce cours
#
# - **Les leçons** sont des notebooks déjà exécutés. Les cellules « Lecture du résultat » commentent ce qui vient d'être affiché ; une
#   vérification automatique compare chaque nombre de ces textes aux sorties.
# - **Rien n'est caché dans une bibliothèque** : chaque mesure est écrite dans la leçon, puis comparée à une bibliothèque de référence.
# - **Les verdicts du juge sont vrais**, et enregistrés. Les leçons les rejouent, sans réseau ; elles donnent partout les mêmes nombres.
# - **Les exercices** sont dans le dossier `release/`. On écrit dans les cellules prévues, on exécute les tests visibles, et
#   d'autres tests, cachés, servent à la note. Une fonction non écrite le dit : elle ne rend jamais un nombre plausible.
# - **L'environnement** se vérifie dans un terminal par `cours verifier-env` : une ligne par exigence, avec la réparation. Depuis un
#   notebook, la cellule suivante dit seulement s'il manque un module.

# %%
NEEDED = ("matplotlib", "nltk", "numpy", "openai", "rouge_score", "sacrebleu", "scipy", "sklearn")
missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
print("modules demandés :", len(NEEDED), "; manquants :", missing)

# %% [markdown]
# **Lecture du résultat.** Les 8 modules sont là, et la liste des manquants est vide. S'il en manquait un, `cours verifier-env` nommerait la commande qui
# l'installe.

# %% [markdown] couvre="S3-26"
# ## À retenir
#
# Le cours en dix points, un par leçon :
#
# - **00.** Une génération ouverte a beaucoup de bonnes réponses : le score dépend de la question posée et du lecteur.
# - **01.** BLEU compte les suites de mots communes, et punit la brièveté ; il ne lit pas.
# - **02.** ROUGE demande ce qui a été gardé ; en français, la découpe décide du score.
# - **03.** La perplexité mesure la surprise d'un modèle, pas l'utilité d'un texte.
# - **04.** Un juge se lit strictement, dans les deux ordres, et peut n'être qu'une constante.
# - **05.** Recherche, fidélité et rappel sont trois choses ; l'instrument se vérifie avant de servir.
# - **06.** Un classement tiré de duels a des intervalles, et l'ordre des duels compte pour Elo.
# - **07.** Un accord élevé ne suffit pas : le hasard aussi est souvent d'accord.
# - **08.** Comparer des vecteurs voit la paraphrase, et voit mal la négation.
# - **09.** Un benchmark s'use : contamination, saturation, et pass@k mal calculé.

# %% [markdown]
# ## Questions
#
# **1.** Un rapport annonce : « notre modèle est préféré dans 40 % des cas ». Que demandez-vous ?
#
# <details><summary>Réponse</summary>
#
# Sur combien de cas, avec quel intervalle ; préféré à quoi, par qui, dans quel ordre d'affichage ; et comment les égalités ont été comptées. Sans cela, 40 %
# peut être une défaite, une victoire ou du bruit.
#
# </details>
#
# **2.** Deux intervalles à 95 % se recouvrent. Les deux systèmes sont-ils à égalité ?
#
# <details><summary>Réponse</summary>
#
# On ne peut pas le dire ainsi. Le recouvrement ne prouve pas l'égalité, et il ne prouve pas non plus l'absence de différence : s'ils ont répondu aux mêmes
# questions, il faut comparer question par question (mesures **appariées**), ce qui est souvent bien plus précis. La [leçon 09](09_benchmarks.ipynb) le fait.
#
# </details>
#
# **3.** Votre équipe choisit chaque semaine la consigne qui donne le meilleur score d'un juge. Au bout de dix semaines, le score a monté. Vos
# réponses sont-elles meilleures ?
#
# <details><summary>Réponse</summary>
#
# Peut-être. Mais vous avez choisi ce que le juge aime, dix fois. C'est la situation de Goodhart : il faut un autre instrument, que l'on n'a pas
# optimisé, et des cas neufs.
#
# </details>

# %% [markdown]
# ## Pour aller plus loin
#
# - Inventez une réponse fausse qui trompe la mesure « mots communs », puis essayez-la sur BLEU à la [leçon 01](01_bleu.ipynb).
# - Refaites la figure 1 avec la recette usuelle et un vrai taux de 0,97 : que voit-on en haut ?
# - [Miller (2024), « Adding Error Bars to Evals »](https://arxiv.org/abs/2411.00640) : les intervalles, pour les évaluations de modèles.

# %% [markdown]
# ## Sources
#
# - Strathern (1997), « Improving ratings: audit in the British University system », *European Review* 5(3).
# - Goodhart (1975), « Problems of Monetary Management: The U.K. Experience », Reserve Bank of Australia.
# - Wilson (1927), « Probable Inference, the Law of Succession, and Statistical Inference », *JASA* 22.
# - Les réponses et les notes de cette leçon sont imaginées par les auteurs du cours.
