# %% [markdown]
# # Leçon 09 · Les benchmarks : ce qu'un score public prouve, et ce qu'il ne prouve pas
#
# **Objectifs**
#
# - savoir ce que mesurent huit benchmarks courants, et comment ;
# - calculer pass@k sans biais, et voir l'erreur de la formule naïve ;
# - mettre une barre d'erreur sur un score, comparer deux modèles sur les mêmes questions, prévoir combien de questions il faut ;
# - chercher une contamination par n-grammes, et savoir ce que cette sonde ne voit pas ;
# - reconnaître la saturation, et un score obtenu en visant le score.
#
# **Durée** : environ 1 h 15.
#
# **Prérequis** : les n-grammes de la [leçon 01](01_bleu.ipynb), l'intervalle de Wilson de la [leçon 04](04_juge_llm.ipynb). Aucun
# accès au réseau, aucun juge.

# %% [markdown]
# ## 1. Ce qu'est un benchmark
#
# Un **benchmark** est un examen public : des questions, un format de réponse, une règle de correction, un score. Deux équipes qui
# passent le même examen peuvent comparer leurs notes. C'est toute son utilité, et toute sa fragilité : l'examen se prépare, se
# récite, et finit par devenir trop facile.

# %% [markdown] couvre="S3-13"
# | benchmark | ce qu'il veut mesurer | format | règle et score |
# |---|---|---|---|
# | [MMLU](https://arxiv.org/abs/2009.03300) | connaissances, 57 matières scolaires et professionnelles | choix parmi quatre | exactitude, le plus souvent avec cinq exemples |
# | [HumanEval](https://arxiv.org/abs/2107.03374) | programmer en Python, 164 problèmes | écrire une fonction | tests unitaires (7,7 par problème en moyenne), pass@k |
# | [GSM8K](https://arxiv.org/abs/2110.14168) | arithmétique en plusieurs étapes, 1 319 problèmes de test | rédiger un calcul | le nombre final est exact |
# | [MATH](https://arxiv.org/abs/2103.03874) | mathématiques de concours, 5 000 problèmes de test | rédiger une solution | la réponse finale est exacte, après mise en forme |
# | [TruthfulQA](https://arxiv.org/abs/2109.07958) | véracité : ne pas répéter une idée fausse répandue, 817 questions | réponse libre, ou choix | réponses jugées vraies et informatives, ou exactitude |
# | [MT-Bench](https://arxiv.org/abs/2306.05685) | dialogue en deux tours, 80 questions | réponse libre | note d'un juge LLM, de 1 à 10 |
# | [ARC](https://arxiv.org/abs/1803.05457) | sciences de l'école, partie difficile à part | choix, en général parmi quatre | exactitude |
# | [HellaSwag](https://arxiv.org/abs/1905.07830) | bon sens : la suite plausible d'une scène | choix parmi quatre | exactitude |
#
# Trois familles se dessinent. La réponse **fermée** se corrige sans discussion, mais le hasard rapporte déjà un quart des points.
# La réponse **vérifiable** (un nombre, un programme) se corrige par un calcul. La réponse **libre** demande un juge, avec tous
# les défauts mesurés à la leçon 04.

# %% [markdown] couvre="S3-14 E-23"
# Cinq propriétés font un bon benchmark :
#
# 1. **discriminant** : il sépare des systèmes de niveaux différents ;
# 2. **non saturé** : il reste de la place au-dessus du meilleur ;
# 3. **difficile à contaminer** : ses réponses ne traînent pas dans les données d'entraînement ;
# 4. **représentatif** : réussir l'examen va avec réussir la tâche réelle ;
# 5. **reproductible** : la consigne, la correction et le code sont publiés.
#
# Aucun des huit ne les a toutes. Notons un mot qui glisse souvent : TruthfulQA est parfois rangé avec la « sécurité ». Il mesure
# la *véracité* : un modèle peut dire vrai et rester dangereux, ou l'inverse.

# %%
import math
from collections import Counter, defaultdict
from itertools import combinations
from numbers import Integral
from statistics import NormalDist

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import binomtest

from helpers import plots
from helpers.agreement import wilson_interval
from helpers.bleu import ngrams
from helpers.rouge import rouge_n
from helpers.tokens import check_tokens, french_words

# %% [markdown]
# ## 2. pass@k : réussir au moins une fois
#
# Un programme se vérifie : on peut donc laisser le modèle essayer plusieurs fois. **pass@k** est la probabilité qu'au moins un
# essai sur k passe les tests.
#
# Exemple. Sur un problème, dix essais, trois réussis. Quelle est la chance qu'un tirage de cinq essais *parmi ces dix* contienne
# un essai réussi ? On compte les tirages sans aucun réussi : il faut prendre les cinq parmi les sept ratés.
#
# $$\text{pass@}k = 1 - \frac{\binom{n-c}{k}}{\binom{n}{k}}$$
#
# La formule naïve estime d'abord la réussite d'un essai, $c/n$, puis fait comme si les k essais étaient tirés **avec remise** :
# $1-(1-c/n)^k$.

# %%
def check_samples(n, correct, k):
    """Vérifie les trois comptes de pass@k : `n` essais, `correct` réussis, `k` tirés."""
    for name, value in (("n", n), ("correct", correct), ("k", k)):
        if not isinstance(value, Integral) or isinstance(value, bool):
            raise TypeError(f"{name} : entier attendu, {value!r} reçu ; donnez un nombre d'essais.")
    if n < 1:
        raise ValueError(f"n = {n} : aucun essai à tirer ; donnez au moins un essai.")
    if not 1 <= k <= n:
        raise ValueError(f"k = {k} hors de 1..{n} : on ne tire pas plus d'essais qu'il n'y en a ; "
                         "augmentez n ou baissez k.")
    if not 0 <= correct <= n:
        raise ValueError(f"{correct} essais réussis sur {n} est impossible ; donnez un compte entre 0 et {n}.")


def pass_at_k(n, correct, k):
    """pass@k sans biais, écrit comme un produit de facteurs entre 0 et 1 : rien ne déborde."""
    check_samples(n, correct, k)
    return 1.0 - math.prod((n - correct - i) / (n - i) for i in range(k))


def biased_pass_at_k(n, correct, k):
    """pass@k biaisé : comme si les k essais étaient tirés avec remise."""
    check_samples(n, correct, k)
    return 1.0 - (1.0 - correct / n) ** k

# %% couvre="S3-26"
def enumerated_pass_at_k(n, correct, k):
    """La définition elle-même : on énumère tous les tirages de k essais parmi n."""
    draws = list(combinations([True] * correct + [False] * (n - correct), k))
    return sum(any(draw) for draw in draws) / len(draws)


print("n = 10 essais, c = 3 réussis")
print(f"tirages de 5 : {math.comb(10, 5)}, dont sans aucun réussi : {math.comb(7, 5)}")
print(" k   énuméré   formule   naïve")
for k in (1, 2, 5, 7, 8):
    values = [estimator(10, 3, k) for estimator in (enumerated_pass_at_k, pass_at_k, biased_pass_at_k)]
    print(f"{k:2d}   " + "    ".join(f"{value:.4f}" for value in values))

cases = [(n, c, k) for n in range(1, 11) for c in range(n + 1) for k in range(1, n + 1)]
gap = max(abs(enumerated_pass_at_k(*case) - pass_at_k(*case)) for case in cases)
print(f"{len(cases)} triplets énumérés, tous égaux à la formule à 1e-12 près : {gap < 1e-12}")

# %% [markdown]
# **Lecture du résultat.** Sur 252 tirages de cinq essais, 21 ne contiennent aucun réussi : pass@5 vaut 0,9167. La formule naïve
# dit 0,8319. Pour k = 1, les deux valent 0,3000. À partir de k = 8, la vraie valeur est 1,0000, puisqu'il n'y a que 7 ratés ; la
# naïve reste en dessous, 0,9424. Notre formule égale l'énumération sur 440 triplets.

# %% [markdown]
# Un tirage réel a plus d'essais : [Chen et al. (2021)](https://arxiv.org/abs/2107.03374) en prennent deux cents par problème. Les
# coefficients binomiaux deviennent alors énormes ; le produit, lui, reste entre zéro et un.

# %%
n, c, k = 2000, 5, 1000
exact = 1 - math.comb(n - c, k) / math.comb(n, k)  # entiers exacts de Python : lents, mais sans débordement
print(f"entiers exacts : {exact:.6f}   produit : {pass_at_k(n, c, k):.6f}")
try:
    float(math.comb(n, k))
except OverflowError:
    print(f"C({n}, {k}) a {len(str(math.comb(n, k)))} chiffres : il ne tient pas dans un nombre à virgule")
for arguments in ((10, 3, 11), (10, 11, 2), (10, -1, 2), (0, 0, 1), (10, 2.5, 1)):
    try:
        pass_at_k(*arguments)
    except (TypeError, ValueError) as error:
        print(f"{arguments} → {type(error).__name__} : {error}")

# %% [markdown]
# **Lecture du résultat.** Les deux calculs donnent 0,968906, mais C(2000, 1000) a 601 chiffres : une version écrite avec des
# nombres à virgule échoue. Un k plus grand que n, plus de réussis que d'essais ou un compte négatif sont des erreurs, pas des
# scores.

# %% [markdown]
# ### Le biais, calculé
#
# Supposons un problème que le modèle réussit une fois sur dix. La vraie valeur de pass@10 est $1-0{,}9^{10}$. Avec n essais, le
# nombre de réussis suit une loi binomiale : l'espérance de chaque estimateur se calcule exactement, sans simulation.

# %%
def expected(estimator, n, k, p):
    """Espérance de `estimator` quand chacun des n essais réussit avec la probabilité p."""
    return sum(math.comb(n, c) * p**c * (1 - p) ** (n - c) * estimator(n, c, k) for c in range(n + 1))


p, k = 0.1, 10
truth = 1 - (1 - p) ** k
sizes = (10, 15, 20, 30, 50, 100, 200)
curves = {"sans biais": [expected(pass_at_k, n, k, p) for n in sizes],
          "naïve": [expected(biased_pass_at_k, n, k, p) for n in sizes]}
print(f"vraie valeur de pass@10 : {truth:.4f}")
for i, n in enumerate(sizes):
    print(f"n = {n:3d}   sans biais {curves['sans biais'][i]:.4f}   naïve {curves['naïve'][i]:.4f}")

fig, ax = plt.subplots()
ax.axhline(truth, color="black", linewidth=1, label="vraie valeur")
for index, (name, values) in enumerate(curves.items()):
    ax.plot(sizes, values, label=name, color=plots.COLORS[index], marker=plots.MARKERS[index],
            linestyle=plots.LINESTYLES[index])
ax.set(xlabel="nombre d'essais n", ylabel="espérance de l'estimateur", ylim=(0.45, 0.7))
ax.legend()
plots.show(fig, alt="Espérance de deux estimateurs de pass@10 selon le nombre d'essais : celui sans biais suit la "
           "ligne de la vraie valeur, la formule naïve part de bien plus bas et s'en approche sans la rejoindre.")

# %% [markdown]
# *Figure 1. Espérance de pass@10 pour un problème réussi une fois sur dix, selon le nombre d'essais.*

# %% [markdown]
# **Lecture du résultat.** L'estimateur sans biais vaut 0,6513 quel que soit n. La formule naïve annonce 0,4937 avec n = 10 et
# 0,6426 avec n = 200 : elle *sous-estime*, et d'autant plus que n est proche de k. Deux articles qui l'emploient avec des n
# différents ne se comparent pas.

# %% [markdown]
# pass@k répond à « le modèle y arrive-t-il en k essais ? ». Si personne ne peut vérifier les k réponses, c'est pass@1 qui compte.

# %% [markdown]
# ## 3. Un modèle, trois scores MMLU
#
# Le nom d'un benchmark ne suffit pas à dire ce qui a été mesuré. En 2023, le même LLaMA-65B obtient trois scores MMLU selon le
# code qui le note ([Fourrier et al., 2023](https://huggingface.co/blog/open-llm-leaderboard-mmlu)). Les trois codes posent les
# mêmes questions ; ils ne lisent pas la réponse de la même façon :
#
# - le code **d'origine** compare les probabilités des quatre lettres ;
# - **HELM** laisse le modèle écrire, et attend la bonne lettre ;
# - le **Harness** d'alors compare les probabilités du *texte entier* des quatre réponses.

# %%
MMLU_SCORES = {
    "HELM": {"LLaMA-65B": 0.637, "Falcon-40B": 0.571},
    "Harness": {"LLaMA-65B": 0.488, "Falcon-40B": 0.527},
    "code d'origine": {"LLaMA-65B": 0.636, "Falcon-40B": 0.558},
}
for code, scores in MMLU_SCORES.items():
    gap = scores["LLaMA-65B"] - scores["Falcon-40B"]
    print(f"{code:18s} " + "   ".join(f"{name} {value:.3f}" for name, value in scores.items()) + f"   écart {gap:+.3f}")
llama = [scores["LLaMA-65B"] for scores in MMLU_SCORES.values()]
print(f"LLaMA-65B : du plus bas au plus haut, {max(llama) - min(llama):.3f}")

# %% [markdown]
# **Lecture du résultat.** LLaMA-65B perd 0,149 d'un code à l'autre, sans qu'aucun poids ait changé. Et le *classement* s'inverse :
# LLaMA devance Falcon de 0,066 et de 0,078 avec deux codes, et l'écart vaut −0,039 avec le troisième. Un score se publie avec
# son code, sa consigne et ses exemples ; deux scores de sources différentes ne se soustraient pas.

# %% [markdown]
# ## 4. La barre d'erreur d'un score
#
# Les questions d'un benchmark sont un échantillon de toutes celles qu'on aurait pu écrire. Le score a donc une incertitude, même
# si le modèle est déterministe ([Miller, 2024](https://arxiv.org/abs/2411.00640)). Pour des réponses justes ou fausses,
# l'intervalle de Wilson la donne. Prenons un modèle à 67 % sur trois tailles d'examen : les 80 questions de MT-Bench, les 164
# problèmes de HumanEval, les 5 000 de MATH.

# %%
def check_scores(scores):
    """Vérifie une suite de scores : au moins deux nombres, tous finis."""
    if len(scores) < 2:
        raise ValueError(f"{len(scores)} score : l'erreur type en demande au moins deux ; "
                         "donnez un score par question.")
    if not all(math.isfinite(score) for score in scores):
        raise ValueError("un score n'est pas un nombre fini : comptez les questions sans score à part.")


def standard_error(scores):
    """Erreur type de la moyenne : racine de (variance sans biais / nombre de questions)."""
    check_scores(scores)
    mean = math.fsum(scores) / len(scores)
    variance = math.fsum((score - mean) ** 2 for score in scores) / (len(scores) - 1)
    return math.sqrt(variance / len(scores))


for total in (80, 164, 5000):
    right = round(0.67 * total)
    low, high = wilson_interval(right, total)
    error = standard_error([1] * right + [0] * (total - right))
    print(f"{right:4d} justes sur {total:4d} : {100 * right / total:.1f} %   erreur type {100 * error:.2f} point   "
          f"Wilson 95 % [{100 * low:.1f}, {100 * high:.1f}]   largeur {100 * (high - low):.1f} points")

# %% [markdown]
# **Lecture du résultat.** Sur 164 problèmes, 67,1 % veut dire « entre 59,6 et 73,8 » : l'intervalle fait 14,2 points. Sur 80
# questions, il en fait 20,1 ; sur 5000, 2,6. Un gain d'un point sur HumanEval, soit moins de deux problèmes, n'est pas une
# nouvelle.

# %% [markdown]
# ### Des questions en grappes
#
# Un examen de lecture pose plusieurs questions sur le même texte. Si le texte est mal compris, toutes tombent ensemble : dix
# questions sur un texte n'apportent pas dix informations. L'erreur type doit en tenir compte. On ajoute à la variance les
# produits d'écarts entre questions de la même grappe :
#
# $$\text{ET}_{\text{grappes}}^2 = \text{ET}^2 + \frac{1}{n^2}\sum_{g}\sum_{i \ne j \in g}(s_i-\bar s)(s_j-\bar s)$$

# %%
def clustered_standard_error(scores, clusters):
    """Erreur type de la moyenne quand des questions vont par grappes (même texte, même thème)."""
    if len(scores) != len(clusters):
        raise ValueError(f"{len(scores)} scores et {len(clusters)} grappes : donnez la grappe de chaque question.")
    independent = standard_error(scores)
    mean = math.fsum(scores) / len(scores)
    sums, squares = defaultdict(float), 0.0
    for score, cluster in zip(scores, clusters):
        sums[cluster] += score - mean
        squares += (score - mean) ** 2
    # Σ_i Σ_{j≠i} e_i e_j dans une grappe vaut (Σ e)² − Σ e².
    cross_products = math.fsum(total**2 for total in sums.values()) - squares
    return math.sqrt(max(0.0, independent**2 + cross_products / len(scores) ** 2))

# %%
def reading_exam(rng, texts=50, questions=10):
    """Un examen simulé : un texte est bien compris (90 % de justes) ou mal compris (30 %)."""
    success = np.repeat(np.where(rng.random(texts) < 0.6, 0.9, 0.3), questions)
    scores = (rng.random(texts * questions) < success).astype(int).tolist()
    return scores, np.repeat(np.arange(texts), questions).tolist()


scores, clusters = reading_exam(np.random.default_rng(9))
print(f"{len(scores)} questions, 50 textes, score {np.mean(scores):.3f}")
print(f"erreur type, questions indépendantes : {standard_error(scores):.4f}   par grappes : "
      f"{clustered_standard_error(scores, clusters):.4f}")

rng, covered = np.random.default_rng(90), Counter()
for _ in range(1000):
    scores, clusters = reading_exam(rng)
    distance = abs(np.mean(scores) - 0.66)
    covered["indépendantes"] += distance <= 1.96 * standard_error(scores)
    covered["grappes"] += distance <= 1.96 * clustered_standard_error(scores, clusters)
print("sur 1000 examens, l'intervalle à 95 % contient la vraie moyenne (0.66) :",
      ", ".join(f"{name} {count / 10:.1f} %" for name, count in covered.items()))

# %% [markdown]
# **Lecture du résultat.** Sur cet examen simulé (graine 9), l'erreur type passe de 0,0220 à 0,0503 quand on compte les grappes :
# plus du double. Cet examen-là donne 0,590 ; la vraie moyenne, 0,66, est hors de l'intervalle étroit et dans l'intervalle large.
# Le contrôle est la dernière ligne : l'intervalle qui ignore les grappes ne contient la vraie moyenne que dans 66,5 % des cas au
# lieu de 95 % ; celui des grappes, dans 95,2 %.

# %% [markdown]
# Sur de vrais benchmarks de lecture, Miller mesure des erreurs types par grappes plus de trois fois plus grandes.

# %% [markdown]
# ## 5. Comparer deux modèles : les mêmes questions
#
# Les intervalles de deux modèles se recouvrent : peut-on conclure qu'ils se valent ? Non. Les deux ont passé *les mêmes
# questions*. Une question difficile l'est souvent pour les deux : en soustrayant question par question, cette difficulté commune
# disparaît.
#
# Données simulées : 400 questions de difficultés variées, deux modèles presque aussi bons.

# %%
def paired_difference(scores_a, scores_b):
    """Écart moyen de A à B sur les mêmes questions, et son erreur type appariée."""
    if len(scores_a) != len(scores_b):
        raise ValueError(f"{len(scores_a)} scores pour A et {len(scores_b)} pour B : donnez ceux des mêmes questions.")
    differences = [a - b for a, b in zip(scores_a, scores_b)]
    error = standard_error(differences)
    return math.fsum(differences) / len(differences), error


def two_models(rng, questions=400, skill_a=1.0, skill_b=0.4, spread=3.0):
    """Réponses (1 juste, 0 fausse) de deux modèles aux mêmes questions, de difficulté commune."""
    difficulty = rng.normal(0, spread, questions)
    draws = [rng.random(questions) < 1 / (1 + np.exp(difficulty - skill)) for skill in (skill_a, skill_b)]
    return [draw.astype(int).tolist() for draw in draws]


a, b = two_models(np.random.default_rng(9))
gap, paired = paired_difference(a, b)
unpaired = math.hypot(standard_error(a), standard_error(b))
for name, scores in (("A", a), ("B", b)):
    low, high = wilson_interval(sum(scores), len(scores))
    print(f"modèle {name} : {sum(scores)}/{len(scores)} = {np.mean(scores):.4f}   Wilson 95 % [{low:.3f}, {high:.3f}]")
print(f"corrélation des réponses : {np.corrcoef(a, b)[0, 1]:.2f}")
for name, error in (("non appariée", unpaired), ("appariée", paired)):
    low, high = gap - 1.96 * error, gap + 1.96 * error
    print(f"écart {gap:.4f}, erreur type {name} {error:.4f} : intervalle 95 % [{low:+.4f}, {high:+.4f}]")

# %% [markdown]
# **Lecture du résultat.** Les deux intervalles de Wilson se recouvrent. L'écart est de 0,0800 ; son erreur type est de 0,0351 si
# l'on fait comme si les questions étaient différentes, de 0,0234 avec les mêmes questions. L'intervalle apparié va de 0,0341 à
# 0,1259 ; l'autre, de 0,0112 à 0,1488 : un tiers de largeur en moins, sans poser une question de plus. Même écart, mêmes données :
# seule l'analyse a changé.

# %% [markdown]
# ### Le test de McNemar
#
# Pour des réponses justes ou fausses, il y a plus direct. Les questions que les deux réussissent, ou ratent, ne disent rien de
# l'écart. Seules comptent celles qu'**un seul** des deux réussit. Si les modèles se valent, chacune est un pile ou face.

# %%
def mcnemar_exact(only_a, only_b):
    """p-valeur bilatérale du test de McNemar exact : seules comptent les questions qu'un seul modèle réussit."""
    for count in (only_a, only_b):
        if not isinstance(count, Integral) or isinstance(count, bool):
            raise TypeError(f"entier attendu, {count!r} reçu : donnez des nombres de questions.")
        if count < 0:
            raise ValueError(f"{count} questions est impossible : donnez un compte positif ou nul.")
    total = only_a + only_b
    tail = sum(math.comb(total, i) for i in range(min(only_a, only_b) + 1))
    return min(1.0, 2 * tail / 2**total)


table = Counter(zip(a, b))
only_a, only_b = table[1, 0], table[0, 1]
print(f"réussies par les deux {table[1, 1]}, par aucun {table[0, 0]}, par A seul {only_a}, par B seul {only_b}")
print(f"McNemar exact : p = {mcnemar_exact(only_a, only_b):.4f}")
theirs = [binomtest(i, i + j).pvalue for i in range(40) for j in range(1, 40)]
ours = [mcnemar_exact(i, j) for i in range(40) for j in range(1, 40)]
close = max(abs(x - y) for x, y in zip(ours, theirs)) < 1e-9
print(f"{len(ours)} tables comparées à scipy, égales à 1e-9 près : {close}")
print(f"deux modèles identiques : p = {mcnemar_exact(0, 0):.0f} ; 6 contre 0 : p = {mcnemar_exact(6, 0):.4f}")

# %% [markdown]
# **Lecture du résultat.** A est seul à réussir 61 questions, B est seul à en réussir 29 : p = 0,0010. Les 174 réussies par les
# deux et les 136 ratées par les deux ne comptent pas. Six victoires à 0 ne donnent déjà que p = 0,0312 : avec moins, aucun test
# au seuil de cinq pour cent ne peut conclure.

# %% [markdown]
# ### La puissance : combien de questions faut-il ?
#
# Un test qui ne conclut pas ne prouve pas l'égalité : il manquait peut-être de questions. La **puissance** est la probabilité de
# voir un écart qui existe. Pour un écart $\delta$ et un écart type $\sigma$ de la différence par question :
#
# $$n = \left(\frac{(z_{1-\alpha/2} + z_{\text{puissance}})\,\sigma}{\delta}\right)^2$$

# %%
def required_questions(gap, deviation, alpha=0.05, power=0.8):
    """Nombre de questions pour voir un écart `gap` avec la puissance voulue, au seuil bilatéral `alpha`."""
    if not math.isfinite(gap) or gap == 0:
        raise ValueError(f"écart {gap!r} : nombre fini et non nul attendu ; "
                         "donnez le plus petit écart à détecter.")
    if not 0 < deviation < math.inf:
        raise ValueError(f"écart type {deviation!r} : nombre fini et positif attendu ; mesurez-le sur un essai pilote.")
    if not 0 < alpha < 1 or not 0 < power < 1:
        raise ValueError(f"alpha = {alpha!r}, power = {power!r} : donnez deux probabilités entre 0 et 1 exclus.")
    z = NormalDist().inv_cdf(1 - alpha / 2) + NormalDist().inv_cdf(power)
    return math.ceil((z * deviation / gap) ** 2)


deviations = {"appariée": paired * math.sqrt(len(a)), "non appariée": unpaired * math.sqrt(len(a))}
print("écart type par question :", ", ".join(f"{name} {value:.3f}" for name, value in deviations.items()))
for points in (1, 2, 5, 10):
    needed = {name: required_questions(points / 100, value) for name, value in deviations.items()}
    print(f"écart de {points:2d} points, puissance 80 % : "
          + ", ".join(f"{name} {n} questions" for name, n in needed.items()))
for name, value in deviations.items():
    detectable = (NormalDist().inv_cdf(0.975) + NormalDist().inv_cdf(0.8)) * value / math.sqrt(164)
    print(f"plus petit écart visible avec 164 questions, {name} : {100 * detectable:.1f} points")

# %% [markdown]
# **Lecture du résultat.** Pour voir un écart de 5 points, l'analyse appariée demande 689 questions, l'autre 1550 : plus du
# double. Pour 1 point, il en faut 17201. Et un examen de 164 questions ne montre, dans ces conditions, que des écarts d'au moins
# 10,2 points. Ces nombres dépendent de la corrélation entre les modèles : mesurons-la sur un essai pilote avant de lancer
# l'examen.

# %%
sizes = (50, 100, 200, 400, 800, 1600)
rng, rates = np.random.default_rng(91), {"appariée": [], "non appariée": []}
for size in sizes:
    seen = Counter()
    for _ in range(400):
        left, right = (np.array(scores) for scores in two_models(rng, size))
        gap = left.mean() - right.mean()
        seen["appariée"] += abs(gap) > 1.96 * (left - right).std(ddof=1) / math.sqrt(size)
        seen["non appariée"] += abs(gap) > 1.96 * math.sqrt((left.var(ddof=1) + right.var(ddof=1)) / size)
    for name in rates:
        rates[name].append(seen[name] / 400)
for name, values in rates.items():
    print(f"{name:13s}", "   ".join(f"{size} : {value:.3f}" for size, value in zip(sizes, values)))

fig, ax = plt.subplots()
for index, (name, values) in enumerate(rates.items()):
    ax.plot(sizes, values, label=f"analyse {name}", color=plots.COLORS[index], marker=plots.MARKERS[index],
            linestyle=plots.LINESTYLES[index])
ax.axhline(0.8, color="black", linewidth=1, linestyle=":", label="puissance voulue")
ax.set(xlabel="nombre de questions", ylabel="part des examens qui voient l'écart", xscale="log", ylim=(0, 1.05),
       xticks=sizes, xticklabels=sizes)
ax.minorticks_off()
ax.legend()
plots.show(fig, alt="Part des examens simulés qui détectent l'écart, selon le nombre de questions : les deux courbes "
           "montent, celle de l'analyse appariée reste nettement au-dessus de l'autre.")

# %% [markdown]
# *Figure 2. Puissance mesurée sur 400 examens simulés par taille, pour deux modèles de niveaux différents.*

# %% [markdown]
# **Lecture du résultat.** L'écart est réel dans les 400 examens de chaque taille. Avec 400 questions, l'analyse appariée le voit
# dans 0,790 des cas, l'autre dans 0,487. Avec 100 questions, ne pas le voir est le cas ordinaire (0,307 et 0,085), même si un
# modèle est vraiment meilleur.

# %% [markdown]
# ## 6. La contamination : l'examen était-il dans le cours ?
#
# Un modèle qui a lu les questions et les réponses pendant son entraînement les récite. La sonde la plus simple cherche, pour
# chaque énoncé, la part de ses n-grammes qui figurent dans le corpus. Nous avons écrit six énoncés, et un petit « corpus » où
# certains ont fui, de quatre façons.

# %%
CORPUS = [french_words(text) for text in (
    "Forum des élèves. J'ai trouvé le sujet : un train part de Lyon à huit heures et roule à cent vingt kilomètres "
    "par heure pendant trois heures, quelle distance parcourt-il ? Réponse : trois cent soixante.",
    "Une fermière possède quatorze poules. Chaque poule pond cinq œufs par semaine. Elle vend les œufs par six.",
    "A baker sells forty loaves in the morning and twice as many in the afternoon. How many loaves does he sell?",
    "Pour réussir ce type de problème, lisez bien : combien lui reste-t-il d'argent à la fin de la journée ?",
    "Le musée ouvre à dix heures et ferme à dix-huit heures, sauf le mardi.",
)]
ITEMS = {
    "mot pour mot": "Un train part de Lyon à huit heures et roule à cent vingt kilomètres par heure pendant trois "
                    "heures. Quelle distance parcourt-il ?",
    "reformulé": "Quatorze poules donnent chacune cinq œufs tous les sept jours. Combien de boîtes de six la fermière "
                 "vend-elle ?",
    "traduit": "Un boulanger vend quarante pains le matin et deux fois plus l'après-midi. Combien de pains vend-il ?",
    "tournure": "Nadia achète trois cahiers à deux euros et un stylo à quatre euros. Combien lui reste-t-il d'argent à "
                "la fin de la journée si elle avait vingt euros ?",
    "neuf": "Une citerne de neuf cents litres perd quinze litres par minute. En combien de minutes est-elle vide ?",
    "très court": "Combien font sept fois huit ?",
}


def contamination(item, corpus, n=8):
    """Part des n-grammes distincts de `item` qui figurent dans l'un des documents de `corpus`."""
    check_tokens(item, "énoncé")
    seen = set()
    for document in corpus:
        check_tokens(document, "document")
        seen.update(ngrams(document, n))
    wanted = set(ngrams(item, n))
    if not wanted:
        return math.nan
    return len(wanted & seen) / len(wanted)

# %% couvre="S3-24 E-21"
sizes = (2, 3, 5, 8, 13)
print(" " * 13 + "".join(f"   n = {n:2d}" for n in sizes))
for name, text in ITEMS.items():
    print(f"{name:13s}" + "".join(f"{contamination(french_words(text), CORPUS, n):9.2f}" for n in sizes))

GSM1K_FIRST, GSM1K_REVISED = 13, 8  # baisse au plus, en % : première version de l'article, puis révision
print(f"GSM1k : jusqu'à {GSM1K_FIRST} % de baisse annoncés d'abord, {GSM1K_REVISED} % après révision")

# %% [markdown]
# **Lecture du résultat.** Avec n = 8, la copie mot pour mot donne 1,00, et la tournure toute faite 0,25 : un texte innocent
# partage une phrase de manuel. L'énoncé reformulé et l'énoncé traduit donnent 0,00, alors que les deux ont fui. Avec n = 2, le
# reformulé remonte à 0,11, mais la tournure innocente est à 0,40 : aucun seuil ne les sépare. L'énoncé trop court donne `nan` :
# la sonde ne peut rien en dire, et ne doit pas écrire zéro. Une sonde positive est un indice fort ; une sonde négative ne prouve
# rien.

# %% [markdown] couvre="E-21"
# L'autre méthode est de refaire l'examen. [GSM1k](https://arxiv.org/abs/2405.00332) réécrit mille problèmes dans le style de
# GSM8K et compare. On cite souvent « dix à quinze points » de contamination, sans source. La première version de l'article
# annonçait jusqu'à 13 % de baisse ; la révision dit 8 %, pour les modèles les plus touchés, et presque rien pour les meilleurs.
# Une baisse peut aussi venir d'un nouvel examen un peu plus difficile : on la rapporte avec son intervalle.

# %% [markdown]
# ## 7. La saturation
#
# Un benchmark meurt de son succès. Nous ne traçons ici que des scores publiés, avec leur source ; les protocoles (nombre
# d'exemples, code) diffèrent, ce qui interdit de lire ces écarts au point près.

# %% couvre="S3-15 S3-25 E-22"
# GPT-3.5 et GPT-4 : OpenAI (2023), tableau 2. GPT-3 : Hendrycks et al. (2021). BERT-large : Zellers et al. (2019).
PUBLISHED = {
    "MMLU": {"hasard": 25.0, "GPT-3": 43.9, "GPT-3.5": 70.0, "GPT-4": 86.4},
    "HellaSwag": {"hasard": 25.0, "BERT-large": 47.3, "GPT-3.5": 85.5, "GPT-4": 95.3},
    "ARC difficile": {"GPT-3.5": 85.2, "GPT-4": 96.3},
    "GSM8K": {"GPT-3.5": 57.1, "GPT-4": 92.0},
    "HumanEval": {"GPT-3.5": 48.1, "GPT-4": 67.0},
}
for name, points in PUBLISHED.items():
    print(f"{name:14s}", " → ".join(f"{model} {value:.1f}" for model, value in points.items()))
print(f"MMLU : place au-dessus de GPT-4 {100 - 86.4:.1f} points, questions fautives 6.49 %")
print("HellaSwag : personnes, plus de 95 %")

MODELS = ["hasard", "BERT-large", "GPT-3", "GPT-3.5", "GPT-4"]
fig, ax = plt.subplots()
for row, (name, points) in enumerate(PUBLISHED.items()):
    ax.plot(list(points.values()), [row] * len(points), color="grey", linewidth=1, zorder=1)
for index, model in enumerate(MODELS):
    found = [(points[model], row) for row, points in enumerate(PUBLISHED.values()) if model in points]
    ax.scatter(*zip(*found), label=model, color=plots.COLORS[index], marker=plots.MARKERS[index], s=60, zorder=2)
ax.set(yticks=range(len(PUBLISHED)), yticklabels=PUBLISHED, xlabel="score publié (%)", xlim=(20, 101))
ax.invert_yaxis()
ax.legend(loc="upper center", bbox_to_anchor=(0.5, 1.15), ncols=5, fontsize=9)
plots.show(fig, alt="Scores publiés de plusieurs modèles sur cinq benchmarks, un par ligne : sur MMLU et HellaSwag les "
           "points vont du hasard, à vingt-cinq pour cent, jusque près de cent pour GPT-4 ; HumanEval garde le plus "
           "de place.")

# %% [markdown]
# *Figure 3. Scores publiés sur cinq benchmarks. Chaque forme est un modèle ; sources : Hendrycks et al. (2021), Zellers et al.
# (2019), OpenAI (2023).*

# %% [markdown] couvre="E-22"
# **Lecture du résultat.** HellaSwag passe de 47,3 à 95,3 en quatre ans, là où les personnes ont plus de 95 % : il ne sépare plus
# les meilleurs. Sur MMLU, GPT-4 laisse 13,6 points, mais [Gema et al. (2024)](https://arxiv.org/abs/2406.04127) estiment que
# 6,49 % des questions sont fautives : le plafond n'est pas 100 %. Le plancher n'est pas zéro non plus : le hasard donne 25,0, et un
# score un peu supérieur n'est presque rien.

# %% [markdown]
# Quand un examen est saturé, on en écrit un plus dur : [MMLU-Pro](https://arxiv.org/abs/2406.01574) (dix choix au lieu de
# quatre), [GPQA](https://arxiv.org/abs/2311.12022) (questions d'experts), [FrontierMath](https://arxiv.org/abs/2411.04872)
# (mathématiques de recherche). Le cycle recommence.

# %% [markdown] couvre="E-23"
# ## 8. Viser le score
#
# « Quand une mesure devient un objectif, elle cesse d'être une bonne mesure. » On appelle cela la loi de Goodhart ; la phrase,
# sous cette forme, est de [Strathern (1997)](https://doi.org/10.1002/(SICI)1234-981X(199707)5:3%3C305::AID-EURO184%3E3.0.CO;2-4).
# Deux exemples.
#
# ### Ne publier que la meilleure variante
#
# Une équipe essaie en privé N variantes de son modèle, et publie la meilleure. Supposons les variantes *toutes de même niveau*,
# exactement 60 %, et un examen de 400 questions. Que vaut le score publié ?

# %%
rng = np.random.default_rng(27)
variants, questions, skill, repeats = (1, 3, 10, 27, 100), 400, 0.60, 2000
scores = rng.binomial(questions, skill, size=(repeats, max(variants))) / questions
best = {n: scores[:, :n].max(axis=1) for n in variants}
for n, values in best.items():
    mean = 100 * values.mean()
    print(f"{n:3d} variante(s) : score publié moyen {mean:.1f} %, gain {mean - 100 * skill:+.1f} points")
again = rng.binomial(questions, skill, size=repeats) / questions
print(f"la variante publiée, repassée sur un examen neuf : {100 * again.mean():.1f} %")

fig, ax = plt.subplots()
means = [100 * values.mean() for values in best.values()]
bars = np.array([np.percentile(100 * values, [5, 95]) for values in best.values()])
ax.errorbar(range(len(variants)), means, yerr=np.abs(bars.T - means), color=plots.COLORS[1], marker=plots.MARKERS[1],
            capsize=4, label="score publié (barres : de 5 à 95 % des cas)")
ax.axhline(100 * skill, color="black", linestyle="--", linewidth=1, label="vrai niveau de toutes les variantes")
ax.set(xticks=range(len(variants)), xticklabels=variants, xlabel="variantes essayées en privé",
       ylabel="score publié (%)")
ax.legend()
plots.show(fig, alt="Score publié selon le nombre de variantes essayées : il monte de soixante à plus de soixante-cinq "
           "pour cent, alors que le vrai niveau, une ligne horizontale à soixante, ne change pas.")

# %% [markdown]
# *Figure 4. Score de la meilleure de N variantes de même niveau, sur un examen de quatre cents questions (deux mille tirages,
# graine 27).*

# %% [markdown]
# **Lecture du résultat.** Avec 27 variantes, le score publié gagne 4,8 points sans qu'aucun modèle soit meilleur ; avec 100, 6,1.
# Sur un examen neuf, il retombe à 60,0 %. Ce n'est pas de la fraude, c'est un maximum.

# %% [markdown]
# Le nombre 27 n'est pas pris au hasard : c'est celui des variantes privées qu'une entreprise a essayées dans Chatbot Arena avant
# une seule publication, selon [Singh et al. (2025)](https://arxiv.org/abs/2504.20879). Un classement fait de votes n'est donc pas
# « impossible à optimiser ».
#
# ### Une réponse constante qui gagne
#
# Un candidat peut viser la *règle de correction* elle-même. Écrivons un petit examen noté par le rappel de ROUGE-1, et deux
# candidats : l'un répond juste, en un mot ; l'autre écrit toujours la même phrase, sans lire la question.

# %%
EXAM = [
    ("Quelle est la capitale du Pérou ?", "La capitale du Pérou est Lima.", "Lima."),
    ("Qui a peint la Joconde ?", "C'est Léonard de Vinci qui a peint la Joconde.", "Léonard de Vinci."),
    ("Combien de côtés a un hexagone ?", "Un hexagone a six côtés.", "Six."),
    ("Quelle planète est la plus proche du Soleil ?", "La planète la plus proche du Soleil est Mercure.", "Mercure."),
    ("Quel gaz les plantes absorbent-elles ?", "Elles absorbent le gaz carbonique de l'air.", "Le gaz carbonique."),
    ("Quand commence la Révolution ?", "La Révolution commence en 1789, avec la prise de la Bastille.", "En 1789."),
    ("Quel est le plus long fleuve de France ?", "La Loire est le plus long fleuve de France.", "La Loire."),
    ("Quelle langue parle-t-on au Brésil ?", "Au Brésil, on parle le portugais.", "Le portugais."),
]
CONSTANT = ("La réponse est, dans le cas de la question qui a été posée : la plus proche du sujet, c'est le cas, en un "
            "mot, on l'a vu avec les exemples, de la France au Soleil.")


def exam_score(answers):
    return [rouge_n(reference=french_words(expected), candidate=french_words(answer)).recall
            for (_, expected, _), answer in zip(EXAM, answers)]


honest, constant = exam_score([short for _, _, short in EXAM]), exam_score([CONSTANT] * len(EXAM))
for (question, _, _), x, y in zip(EXAM, honest, constant):
    print(f"{question:50s} honnête {x:.3f}   constante {y:.3f}")
print(f"moyenne : honnête {np.mean(honest):.3f}, constante {np.mean(constant):.3f}")
wins = [sum(x > y for x, y in zip(*pair)) for pair in ((honest, constant), (constant, honest))]
print(f"l'emporte : honnête {wins[0]}, constante {wins[1]}")

# %% [markdown]
# **Lecture du résultat.** La phrase constante obtient 0,546, le candidat qui a toujours raison 0,236. Elle gagne sur 7
# questions et n'est battue sur aucune, sans en avoir lu une seule : elle est faite des petits mots que toute référence contient. Le défaut est dans la
# règle, et un examen ne le montre que si l'on y fait passer un candidat nul.

# %% [markdown]
# Les juges LLM y sont exposés aussi. Un texte constant, sans rapport avec les questions, mais écrit pour égarer le juge, obtient
# 86,5 % de victoires sur AlpacaEval corrigé de la longueur, 83,0 sur Arena-Hard-Auto et 9,55 sur MT-Bench ([Zheng et al.,
# 2024](https://arxiv.org/abs/2410.07137)). Faisons donc toujours passer trois candidats témoins : le vide, la constante,
# l'aléatoire. Si l'un d'eux brille, l'examen est cassé.

# %% [markdown] couvre="S3-26"
# ## 9. Bonnes pratiques
#
# 1. **Plusieurs mesures**, dont au moins une proche de la tâche réelle ; ne jamais résumer par un seul nombre.
# 2. **Le protocole avec le score** : code et version, consigne, exemples, température, nombre d'essais, règle de lecture de la réponse.
# 3. **Un intervalle**, par grappes s'il y a lieu ; une comparaison appariée ; la puissance prévue avant l'examen.
# 4. **La contamination cherchée**, et un examen privé ou neuf pour confirmer ; la date des données d'entraînement à côté de celle de l'examen.
# 5. **Des témoins** : hasard, réponse vide, réponse constante ; et des personnes, sur un échantillon.
#
# Ajoutons-y ce qu'on oublie : annoncer le nombre de variantes essayées, et publier les réponses, question par question. Sans
# elles, personne ne peut refaire la comparaison appariée.

# %% [markdown]
# ## À retenir
#
# - Un score de benchmark est un score *de ce code, avec cette consigne* ; le nom ne suffit pas.
# - pass@k se calcule par tirage sans remise ; la formule naïve est trop basse.
# - Un score a une barre d'erreur ; deux modèles se comparent sur les mêmes questions, question par question.
# - Un écart non significatif n'est pas une égalité : regarder la puissance.
# - Une sonde par n-grammes trouve les copies, pas les reformulations ni les traductions.
# - Le plancher est le hasard, le plafond est la part de questions justes.
# - Le meilleur de N est plus haut que le niveau ; un candidat constant révèle une règle cassée.

# %% [markdown]
# ## Questions
#
# **1.** Un modèle réussit deux essais sur quatre. Que vaut pass@2, et que dit la formule naïve ?
#
# <details><summary>Réponse</summary>
#
# Six tirages de deux essais, dont un seul sans réussi : cinq sixièmes, soit 0,833. La formule naïve dit 0,75.
# </details>
#
# **2.** Deux modèles ont 71 % et 69 % sur 200 questions, et leurs intervalles se recouvrent. Peut-on dire qu'ils se valent ?
#
# <details><summary>Réponse</summary>
#
# Non. Il faut les réponses question par question : si l'un réussit tout ce que l'autre réussit et quatre questions de plus, ce
# n'est pas la même chose que vingt contre seize. Et 200 questions donnent peu de puissance pour deux points.
# </details>
#
# **3.** La sonde par n-grammes ne trouve rien dans un corpus d'entraînement. Le benchmark est-il propre ?
#
# <details><summary>Réponse</summary>
#
# On ne peut pas l'affirmer : une traduction, une reformulation, ou un document absent du corpus sondé passent au travers. Seul un
# examen neuf, de même difficulté, apporte une autre preuve.
# </details>

# %% [markdown]
# ## Pour aller plus loin
#
# - Refaire la simulation du meilleur de N avec des variantes dont le niveau varie un peu : quelle part du gain reste vraie ?
# - Écrire une sonde qui compare des n-grammes de mots pleins, sans les mots-outils : que gagne-t-elle sur l'énoncé reformulé ?
# - Chercher la plus courte réponse constante qui batte le candidat honnête, avec F1 au lieu du rappel.

# %% [markdown]
# ## Sources
#
# - [Chen et al. (2021), *Evaluating Large Language Models Trained on Code*](https://arxiv.org/abs/2107.03374)
# - [Hendrycks et al. (2021), *Measuring Massive Multitask Language Understanding*](https://arxiv.org/abs/2009.03300)
# - [Zellers et al. (2019), *HellaSwag*](https://arxiv.org/abs/1905.07830)
# - [OpenAI (2023), *GPT-4 Technical Report*](https://arxiv.org/abs/2303.08774)
# - [Miller (2024), *Adding Error Bars to Evals*](https://arxiv.org/abs/2411.00640)
# - [Fourrier et al. (2023), *What's going on with the Open LLM Leaderboard?*](https://huggingface.co/blog/open-llm-leaderboard-mmlu)
# - [Zhang et al. (2024), *A Careful Examination of Large Language Model Performance on Grade School Arithmetic*](https://arxiv.org/abs/2405.00332)
# - [Gema et al. (2024), *Are We Done with MMLU?*](https://arxiv.org/abs/2406.04127)
# - [Singh et al. (2025), *The Leaderboard Illusion*](https://arxiv.org/abs/2504.20879)
# - [Zheng et al. (2024), *Cheating Automatic LLM Benchmarks: Null Models Achieve High Win Rates*](https://arxiv.org/abs/2410.07137)
