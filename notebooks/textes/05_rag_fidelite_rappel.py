# %% [markdown]
# # Leçon 05 · RAG : fidélité, rappel des faits, recherche
#
# **Objectifs**
#
# - distinguer trois questions que l'on confond : la recherche, la fidélité, le rappel des faits ;
# - vérifier l'instrument **avant** de s'en servir : témoins vrais et faux, sensibilité, spécificité, courbe ROC ;
# - mesurer une fidélité sans inventer de verdict : aucune affirmation, verdict omis ou illisible, contexte vide ;
# - calculer rappel@k et nDCG, et retrouver scikit-learn à 1e-9.
#
# **Durée** : environ 1 h 45.
#
# **Prérequis**
#
# - [leçon 04](04_juge_llm.ipynb) : choix contraint, marge, intervalle de Wilson ;
# - [leçon 03](03_perplexite.ipynb) : log-probabilité d'un texte.

# %% [markdown] couvre="S0-43"
# Un système **RAG** (*retrieval-augmented generation*, génération appuyée sur une recherche) travaille en deux
# temps : il cherche des documents, puis un modèle rédige une réponse à partir d'eux. Trois questions se posent
# alors, et chacune a sa mesure.
#
# | question | on compare | mesure |
# |---|---|---|
# | les bons documents ont-ils été trouvés ? | le classement et les documents pertinents | rappel@k, nDCG |
# | la réponse dit-elle seulement ce que disent les documents ? | chaque affirmation de la **réponse** et les **documents** | fidélité |
# | la réponse dit-elle ce qu'il fallait dire ? | chaque fait **attendu** et la **réponse** | rappel des faits |
#
# La fidélité part de la réponse, le rappel des faits part de ce qu'on attendait. Une réponse peut être fidèle et
# vide, ou complète et menteuse. Et « rappel » a deux sens : celui des documents (rappel@k) n'est pas celui des faits.

# %% [markdown]
# ## 1. Un petit monde dont nous savons tout
#
# Le télescope Vega est imaginaire : aucun modèle ne le connaît, tout doit venir des documents. Les documents, la
# réponse et les étiquettes sont l'œuvre des auteurs du cours. (Le réseau ALMA, lui, existe.)

# %%
import json
import math
import random
import re
import textwrap
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import matplotlib.pyplot as plt
from sklearn.metrics import dcg_score, ndcg_score, recall_score, roc_auc_score, roc_curve

from helpers import judge, plots
from helpers.agreement import wilson_interval
from helpers.judge import choice_logprobs, scoring_request, token_logprobs
from helpers.tokens import french_words

MODEL = judge.MODEL
client = judge.client("05_rag_fidelite_rappel")
data = json.loads((Path(judge.__file__).parent / "donnees" / "rag.json").read_text(encoding="utf-8"))
documents = [document["texte"] for document in data["documents"]]

# %% couvre="S0-36"
claims = [claim["texte"] for claim in data["affirmations"]]
supported = [claim["soutenue"] for claim in data["affirmations"]]

for document in data["documents"]:
    print(textwrap.fill(f"{document['id']}  {document['texte']}", 100, subsequent_indent="    "))
print("\nquestion :", data["question"])
print(textwrap.fill(f"réponse  : {data['reponse']}", 100, subsequent_indent="    "))
print(f"\n{len(documents)} documents ; {len(claims)} affirmations, dont {supported.count(False)} piège ; "
      f"{len(data['faits'])} faits ; {len(data['faits_cles'])} faits clés")
for claim in data["affirmations"]:
    print(f"{'soutenue' if claim['soutenue'] else 'PIÈGE':<9} {claim['texte']}")
    print(f"          tirée de : {claim['phrase']}")

# %% [markdown]
# **Lecture du résultat.** La réponse a été découpée, à la main, en 6 affirmations, chacune tirée d'une de ses phrases. Le
# piège est un emprunt : les documents parlent bien d'ondes radio, mais c'est ALMA qui les capte. C'est la forme d'erreur
# la plus difficile à voir : tous les mots sont dans les documents, et la phrase est fausse.
# Découper soi-même change déjà le résultat : fondre les deux premières en une seule donnerait un autre dénominateur.

# %% [markdown]
# ## 2. L'instrument d'abord : des témoins
#
# Nous voulons confier la vérification à un juge. On lit souvent : « le juge a reconnu nos six faits, il marche ».
# Mais un juge qui répond toujours OUI reconnaît aussi les six. Il faut des **témoins** des deux sortes : des
# affirmations que les documents soutiennent, et d'autres qu'ils ne soutiennent pas.
#
# Nous en avons écrit vingt de chaque, par paires : la vraie et la fausse ont la même forme. Chaque fausse a un **genre** :
#
# - *nom*, *nombre* : un mot ou un nombre est changé ;
# - *échange* : la valeur existe dans les documents, mais pour autre chose ;
# - *négation* : la phrase est niée ;
# - *absent* : les documents n'en disent rien.

# %% couvre="E-17"
twins = data["controles"]
truths = [True] * len(twins) + [False] * len(twins)
control_claims = [pair["vraie"] for pair in twins] + [pair["fausse"] for pair in twins]

print(f"{truths.count(True)} témoins vrais, {truths.count(False)} témoins faux")
print("genres :", dict(Counter(pair["genre"] for pair in twins)))
print("moitiés :", dict(Counter(pair["moitie"] for pair in twins)))
for pair in twins[11:16]:
    print(f"{pair['id']} {pair['genre']:<9} vraie : {pair['vraie']:<43} fausse : {pair['fausse']}")

# %% [markdown]
# Les paires sont partagées d'avance en deux moitiés, genre par genre : l'une servira à régler un seuil, l'autre à le
# vérifier. Deux jumelles restent ensemble : sinon, la moitié de test ressemblerait trop à celle du réglage.

# %% [markdown]
# ## 3. La requête du vérificateur
#
# Le juge voit les documents, une affirmation, et répond OUI ou NON. Nous contraignons la réponse, comme à la
# [leçon 04](04_juge_llm.ipynb). Une différence : A et B étaient chacun un seul jeton ; OUI et NON sont coupés en
# plusieurs, et peuvent commencer de plusieurs façons. Il faut donc laisser assez de jetons, et **sommer** les
# probabilités des premiers jetons qui mènent au même choix. C'est ce que fait `choice_logprobs`.

# %% couvre="S0-37"
def support_request(claim, documents, prompt, *, model, choices=("OUI", "NON"), max_tokens=4):
    if not claim.strip():
        raise ValueError("l'affirmation est vide : rien à vérifier ; donnez une phrase.")
    if not any(document.strip() for document in documents):
        raise ValueError("le contexte est vide : rien ne peut soutenir l'affirmation ; comptez-la non soutenue "
                         "sans interroger le juge.")
    content = prompt.format(documents="\n".join(documents), claim=claim)
    return {
        "model": model,
        "messages": [{"role": "user", "content": content}],
        "temperature": 0.0,
        "max_tokens": max_tokens,
        "logprobs": True,
        "top_logprobs": 5,
        "extra_body": {"structured_outputs": {"choice": list(choices)}},
    }


STRICT = (
    "Documents :\n{documents}\n\n"
    "Affirmation : {claim}\n\n"
    "Les documents disent-ils exactement cela ? Répondez OUI seulement si chaque détail de l'affirmation est écrit "
    "dans les documents. Si un détail manque ou diffère, répondez NON."
)
first = client.chat.completions.create(**support_request(control_claims[0], documents, STRICT, model=MODEL))
print("réponse :", first.choices[0].message.content)
print("jetons de la réponse :", [token.token for token in first.choices[0].logprobs.content])
for candidate in first.choices[0].logprobs.content[0].top_logprobs:
    if candidate.logprob > -20:
        print(f"premier jeton possible {candidate.token!r:<6} probabilité {math.exp(candidate.logprob):.4f}")
for choice, value in choice_logprobs(first, ("OUI", "NON")).items():
    print(f"P({choice}) = {math.exp(value):.4f}")

# %% [markdown]
# **Lecture du résultat.** La réponse OUI est faite de trois jetons, O, U et I, suivis de la fin. NON peut commencer de
# deux façons : par le jeton N (0,1522) ou par le jeton NO (0,0011). Ne lire que NO sous-estimerait de beaucoup son
# total, 0,1533. Le juge dit OUI avec une probabilité de 0,8467, sachant qu'il doit dire OUI ou NON.

# %% [markdown]
# Lire la réponse, c'est encore une règle stricte : le texte entier est OUI ou NON, sinon le verdict est **illisible**.
# « Oui, ce n'est pas dit dans les documents » commence par oui et veut dire non.

# %%
def read_support(text, choices=("OUI", "NON")):
    if text is None:
        return None
    return {choices[0]: True, choices[1]: False}.get(text.strip().removesuffix("."))


for text in ("OUI", " NON.\n", "Oui, ce n'est pas dit", "OUI ou NON", "", None):
    print(f"{text!r:<26} {read_support(text)}")

# %% [markdown]
# ## 4. Sensibilité et spécificité
#
# Deux nombres jugent le juge, et il faut les deux :
#
# - la **sensibilité** : parmi les témoins vrais, la part qu'il accepte ;
# - la **spécificité** : parmi les témoins faux, la part qu'il refuse.
#
# Leur somme vaut 1 pour tout juge qui répond sans regarder : constant, il a 1 et 0 ; à pile ou face, un demi et un demi.
# Un verdict illisible n'entre dans aucun des deux, et se compte à part.

# %%
@dataclass(frozen=True)
class Controls:
    true_accepted: int
    true_rejected: int
    false_rejected: int
    false_accepted: int
    unreadable: int

    @property
    def sensitivity(self):
        total = self.true_accepted + self.true_rejected
        return self.true_accepted / total if total else math.nan

    @property
    def specificity(self):
        total = self.false_rejected + self.false_accepted
        return self.false_rejected / total if total else math.nan


def controls(truths, verdicts):
    if len(truths) != len(verdicts):
        raise ValueError(f"{len(truths)} témoins et {len(verdicts)} verdicts : donnez un verdict, ou None, par témoin.")
    cells = list(zip(truths, verdicts))
    return Controls(
        true_accepted=cells.count((True, True)),
        true_rejected=cells.count((True, False)),
        false_rejected=cells.count((False, False)),
        false_accepted=cells.count((False, True)),
        unreadable=verdicts.count(None),
    )

# %% couvre="S0-39 E-17"
def with_interval(successes, total):
    low, high = wilson_interval(successes, total)
    return f"{successes}/{total} = {successes / total:.3f} [{low:.3f}, {high:.3f}]"


def report(name, result):
    print(f"{name}\n  sensibilité {with_interval(result.true_accepted, result.true_accepted + result.true_rejected)}"
          f"   spécificité {with_interval(result.false_rejected, result.false_rejected + result.false_accepted)}"
          f"   illisibles {result.unreadable}")


by_hand = controls([True] * 4 + [False] * 5, [True, True, True, False, False, False, True, None, None])
report("cas fait à la main (3 vrais sur 4 acceptés, 2 faux sur 3 refusés, 2 illisibles)", by_hand)
lucky = controls([True] * 6, [True] * 6)
print(f"« six faits reconnus sur six » : {with_interval(6, 6)}, spécificité {lucky.specificity}")
report("un juge qui dit toujours OUI, sur nos témoins", controls(truths, [True] * 40))

# %% [markdown] couvre="E-17"
# **Lecture du résultat.** Le cas fait à la main se vérifie de tête : 3 vrais acceptés sur 4 lus, 2 faux refusés sur 3
# lus, et 2 verdicts illisibles à part. La phrase « six faits reconnus sur six » laisse une sensibilité plausible dès
# 0,610, et surtout une spécificité `nan` : sans témoin faux, on n'en sait **rien**. Un juge qui dit toujours OUI y
# brille ; sur nos témoins, il se trahit : sensibilité 1,000, spécificité 0,000.

# %% [markdown]
# ### Consigne naïve, consigne stricte
#
# La consigne naïve demande si l'affirmation est vraie. La stricte, écrite plus haut, dit ce qui compte comme un OUI. On
# lit que la seconde fait tomber les pièges. Nous posons les deux sur les quarante témoins.

# %% couvre="S0-40"
NAIVE = (
    "Documents :\n{documents}\n\n"
    "Affirmation : {claim}\n\n"
    "Cette affirmation est-elle vraie ? Répondez OUI ou NON."
)


def ask_support(claims, prompt, documents=documents, choices=("OUI", "NON")):
    requests = [support_request(claim, documents, prompt, model=MODEL, choices=choices) for claim in claims]
    return judge.ask_all(client.chat.completions.create, requests)


def verdicts_of(replies, choices=("OUI", "NON")):
    return [read_support(reply.choices[0].message.content, choices) for reply in replies]


def margins_of(replies, choices=("OUI", "NON")):
    pairs = [choice_logprobs(reply, choices) for reply in replies]
    return [pair[choices[0]] - pair[choices[1]] for pair in pairs]


replies = {"naïve": ask_support(control_claims, NAIVE), "stricte": ask_support(control_claims, STRICT)}
for name, answers in replies.items():
    report(f"consigne {name}", controls(truths, verdicts_of(answers)))
    print(f"  OUI : {verdicts_of(answers).count(True)} fois sur {len(answers)} ; "
          f"marge OUI − NON de {min(margins_of(answers)):+.2f} à {max(margins_of(answers)):+.2f}")

# %% [markdown]
# **Lecture du résultat.** Ce juge est une **constante** : OUI 40 fois sur 40, avec les deux consignes. Sa sensibilité
# de 1,000 ne vaut donc rien, et sa spécificité est de 0,000, intervalle jusqu'à 0,161. La consigne stricte a bien un
# effet, mais pas celui qu'on voulait : la marge descend en bloc, de +2,21 au moins à +1,93 au plus, pour les vraies
# **et** pour les fausses. Elle rend le juge moins affirmatif, pas plus clairvoyant.

# %% [markdown]
# ### Des exemples dans la consigne, trop près du piège
#
# Autre remède souvent proposé : montrer des exemples corrigés dans la consigne (*few-shot*). S'ils ressemblent au
# piège, le juge peut l'attraper sans rien avoir compris : on lui a donné la réponse. Nous comparons deux jeux
# d'exemples, l'un étranger au sujet, l'autre collé au piège, sur les six affirmations **et** sur les témoins de la
# moitié d'étalonnage.

# %% couvre="S0-40"
FAR = STRICT + (
    "\n\nExemples, pour le document « Le phare de Kerlo date de 1860. » :\n"
    "Affirmation : Le phare de Kerlo date de 1860. Réponse : OUI\n"
    "Affirmation : Le phare de Kerlo date de 1900. Réponse : NON"
)
NEAR = STRICT + (
    "\n\nExemples :\n"
    "Affirmation : Vega est un télescope du Chili. Réponse : OUI\n"
    "Affirmation : Vega observe les ondes radio. Réponse : NON"
)
half = [pair["moitie"] for pair in twins] * 2
tuning = [index for index, name in enumerate(half) if name == "étalonnage"]
testing = [index for index, name in enumerate(half) if name == "test"]
on_claims = {}
for name, prompt in (("naïve", NAIVE), ("stricte", STRICT), ("exemples lointains", FAR), ("exemples proches", NEAR)):
    on_claims[name] = ask_support(claims, prompt)
    words = ["OUI" if verdict else "NON" for verdict in verdicts_of(on_claims[name])]
    print(f"{name:<19} affirmations 1 à 5 : {words[:5]}   piège : {words[5]}   "
          f"marge du piège {margins_of(on_claims[name])[5]:+.2f}")
for name, prompt in (("exemples lointains", FAR), ("exemples proches", NEAR)):
    answers = ask_support([control_claims[index] for index in tuning], prompt)
    report(f"{name}, moitié d'étalonnage", controls([truths[index] for index in tuning], verdicts_of(answers)))

# %% [markdown]
# **Lecture du résultat.** Avec ce juge, aucun jeu d'exemples ne fait tomber le piège : quatre fois OUI. Les exemples
# proches, qui contiennent presque le piège et sa correction, **remontent** même sa marge, de +1,86 sans exemples à
# +2,04 ; les lointains la baissent, à +1,63. Avec un juge plus souple, l'exemple proche pourrait faire dire NON au
# piège ; seuls les témoins diraient alors s'il a appris à vérifier ou à reconnaître une phrase. Ici, ils disent que
# rien n'a changé : 10 vrais acceptés sur 10, et 0 faux refusé sur 10.

# %% [markdown]
# ### Est-ce le français ?
#
# Ce petit modèle a surtout lu de l'anglais. Les mêmes documents et les mêmes témoins de la moitié d'étalonnage,
# traduits, avec la consigne stricte et YES ou NO.

# %%
STRICT_ENGLISH = (
    "Documents:\n{documents}\n\n"
    "Claim: {claim}\n\n"
    "Do the documents say exactly this? Answer YES only if every detail of the claim is written in the documents. "
    "If a detail is missing or different, answer NO."
)
english_documents = [document["anglais"] for document in data["documents"]]
english_claims = [pair["anglais"][side] for side in ("vraie", "fausse") for pair in twins if "anglais" in pair]
english = ask_support(english_claims, STRICT_ENGLISH, english_documents, ("YES", "NO"))
english_verdicts = verdicts_of(english, ("YES", "NO"))
report("anglais, consigne stricte", controls([True] * 10 + [False] * 10, english_verdicts))
starts = {candidate.token for reply in english for candidate in reply.choices[0].logprobs.content[0].top_logprobs
          if candidate.logprob > -20}
print("premiers jetons possibles :", sorted(starts))

# %% [markdown]
# **Lecture du résultat.** Non : en anglais, même constante. 10 vrais acceptés sur 10, 0 faux refusé sur 10. NO y
# commence aussi de deux façons, N et NO, et YES par Y. Le français
# n'explique donc pas, à lui seul, cette constante.

# %% [markdown]
# ## 5. La courbe ROC : y a-t-il un signal sous la constante ?
#
# Un juge qui répond toujours OUI peut tout de même hésiter davantage devant le faux. La marge
# $\log P(\text{OUI}) - \log P(\text{NON})$ est un **score** : au lieu de couper à zéro, on peut couper ailleurs. La courbe
# **ROC** montre tous les seuils à la fois : en abscisse, la part des faux acceptés (1 − spécificité) ; en ordonnée, la
# part des vrais acceptés (sensibilité).
#
# L'aire sous la courbe se lit ainsi : prenons au hasard un témoin vrai et un témoin faux ; c'est la chance que le vrai ait
# le meilleur score. Le hasard donne un demi.

# %%
def roc_points(truths, scores):
    if len(truths) != len(scores):
        raise ValueError(f"{len(truths)} témoins et {len(scores)} scores : donnez un score par témoin.")
    if any(math.isnan(score) for score in scores):
        raise ValueError("un score est nan : il ne se compare à aucun seuil ; mettez ce témoin à part et comptez-le.")
    positives = sum(truths)
    negatives = len(truths) - positives
    if positives == 0 or negatives == 0:
        raise ValueError("témoins d'une seule sorte, la courbe n'est pas définie : "
                         "donnez des témoins vrais et des témoins faux.")
    points = [(math.inf, 0.0, 0.0)]
    for threshold in sorted(set(scores), reverse=True):
        accepted = [truth for truth, score in zip(truths, scores) if score >= threshold]
        points.append((threshold, (len(accepted) - sum(accepted)) / negatives, sum(accepted) / positives))
    return points


def area_under(points):
    return sum((x2 - x1) * (y1 + y2) / 2 for (_, x1, y1), (_, x2, y2) in zip(points, points[1:]))


hand = roc_points([True, True, False, True, False], [0.9, 0.8, 0.7, 0.4, 0.1])
print("à la main :", " ".join(f"({x:.2f} ; {y:.2f})" for _, x, y in hand), f"aire {area_under(hand):.4f} = 5/6")
for name, answers in replies.items():
    points, scores = roc_points(truths, margins_of(answers)), margins_of(answers)
    theirs = roc_curve(truths, scores, drop_intermediate=False)
    same = max(abs(a - b) for k in (0, 1) for a, b in zip(theirs[k], [point[k + 1] for point in points]))
    print(f"marge, consigne {name} : accord avec scikit-learn à 1e-9 :",
          same < 1e-9 and abs(area_under(points) - roc_auc_score(truths, scores)) < 1e-9)

# %% [markdown]
# Une aire mesurée sur quarante témoins a elle aussi un intervalle. Nous rééchantillonnons les paires (*bootstrap*) :
# vingt paires tirées avec remise, l'aire recalculée, mille fois, avec une graine fixe. Et nous comptons, paire par
# paire, si la vraie passe devant sa jumelle fausse : c'est une question plus facile, car la forme des deux phrases est la même.

# %%
def describe(name, true, false):
    """Aire sous la courbe, son intervalle (rééchantillonnage des paires), et les paires bien ordonnées."""
    size = len(true)
    area = area_under(roc_points([True] * size + [False] * size, [*true, *false]))
    draw = random.Random(0)
    areas = []
    for _ in range(1000):
        rows = draw.choices(range(size), k=size)
        drawn = [true[row] for row in rows] + [false[row] for row in rows]
        areas.append(area_under(roc_points([True] * size + [False] * size, drawn)))
    areas.sort()
    wins = sum(x > y for x, y in zip(true, false))
    print(f"{name:<24} aire {area:.3f} [{areas[24]:.3f}, {areas[974]:.3f}] ; "
          f"vraie devant : {with_interval(wins, size)}")


for name, answers in replies.items():
    describe(f"marge, consigne {name}", margins_of(answers)[:20], margins_of(answers)[20:])
english_margins = margins_of(english, ("YES", "NO"))
describe("marge, en anglais", english_margins[:10], english_margins[10:])

# %% [markdown]
# **Lecture du résultat.** Sous la constante, presque pas de signal. Avec la consigne stricte, l'aire est de 0,500 :
# exactement le hasard, et en anglais 0,480. Avec la naïve, elle monte à 0,595, mais son intervalle [0,470 ; 0,723]
# contient 0,5, et la vraie passe devant sa jumelle 14 fois sur 20, ce que le pile ou face explique encore ([0,481 ;
# 0,855]). Aucun seuil sur cette marge n'en ferait un bon vérificateur.

# %% [markdown]
# ## 6. Le même modèle, lu par la vraisemblance
#
# Changeons de lecture, comme à la [leçon 04](04_juge_llm.ipynb) : au lieu de demander un verdict, nous mesurons à quel
# point l'affirmation est **prévisible après les documents**. C'est la log-probabilité moyenne de ses jetons, sachant
# les documents. Une phrase que le texte soutient devrait surprendre moins.
#
# Une phrase banale est prévisible partout. Nous notons donc aussi l'affirmation **sans** documents ; la différence des
# deux dit ce que les documents apportent.

# %%
WITH_DOCUMENTS = "Documents :\n" + "\n".join(documents) + "\n\nAffirmation :"
WITHOUT = "Affirmation :"


def mean_logprobs(claims, start):
    """Log-probabilité moyenne (nats par jeton) de chaque affirmation écrite après `start`."""
    texts = [start] + [f"{start} {claim}" for claim in claims]
    scored = [token_logprobs(reply) for reply in judge.ask_all(client.completions.create, map(scoring_request, texts))]
    shift = max(abs(x - y) for whole in scored[1:] for x, y in zip(scored[0][1:], whole[1:]))
    print(f"le début est noté pareil dans les {len(claims)} textes : écart le plus grand {shift:.3f}")
    return [sum(tail) / len(tail) for tail in (whole[len(scored[0]):] for whole in scored[1:])]


given = mean_logprobs(control_claims + claims, WITH_DOCUMENTS)
given, given_claims = given[:40], given[40:]
alone = mean_logprobs(control_claims, WITHOUT)
gain = [with_documents - without for with_documents, without in zip(given, alone)]
for name, values in (("sachant les documents", given), ("sans les documents", alone), ("différence", gain)):
    true, false = values[:20], values[20:]
    describe(name, true, false)
    print(f"  vrais de {min(true):+.2f} à {max(true):+.2f}, faux de {min(false):+.2f} à {max(false):+.2f}")

# %% [markdown]
# Et en anglais, sur les dix paires traduites ? Cette mesure a été décidée après avoir vu la précédente.

# %%
english_start = "Documents:\n" + "\n".join(english_documents) + "\n\nClaim:"
english_given = mean_logprobs(english_claims, english_start)
describe("anglais, avec documents", english_given[:10], english_given[10:])
chosen = [index for index in tuning if truths[index]]
describe("les mêmes, en français", [given[index] for index in chosen], [given[index + 20] for index in chosen])

# %% [markdown]
# **Lecture du résultat.** La vraisemblance sachant les documents fait mieux que la marge : aire 0,663, et la vraie
# devant sa jumelle 15 fois sur 20. Sans les documents, c'est l'inverse : 6 fois sur 20, aire 0,432. Nos phrases fausses
# sont donc un peu plus banales que les vraies, et cela joue contre la mesure. La différence corrige ce défaut : aire
# 0,725, et 18 fois sur 20, intervalle [0,699 ; 0,972]. En anglais, sur dix paires, l'aire est de 0,650 contre 0,660
# pour les mêmes en français : la langue n'y change rien de visible.
#
# Retenons l'écart entre les deux colonnes. **Comparer deux phrases jumelles** réussit souvent ; **ranger toutes les
# phrases sur une même échelle** réussit mal, car les nuages se recouvrent : des vraies descendent à −5,56, des fausses
# montent à −1,39. Or un vérificateur n'a pas de jumelle à comparer : il n'a qu'une phrase.

# %%
fig, ax = plt.subplots(figsize=(7.2, 4.6))
curves = {"marge, consigne stricte": margins_of(replies["stricte"]),
          "vraisemblance sachant les documents": given, "différence avec et sans documents": gain}
for k, (name, values) in enumerate(curves.items()):
    points = roc_points(truths, values)
    ax.plot([x for _, x, _ in points], [y for _, _, y in points], plots.MARKERS[k], linestyle=plots.LINESTYLES[k],
            color=plots.COLORS[k], markersize=4, label=f"{name} (aire {area_under(points):.3f})")
    at = [max(y for _, x, y in points if x <= limit) for limit in (0.1, 0.2, 0.5)]
    print(f"{name} : sensibilité quand 10 %, 20 %, 50 % des faux sont acceptés :", " ".join(f"{y:.2f}" for y in at))
ax.plot([0, 1], [0, 1], color="gray", linewidth=1, linestyle=":", label="hasard")
ax.set(xlabel="faux acceptés (1 − spécificité)", ylabel="vrais acceptés (sensibilité)")
ax.legend(loc="lower right", fontsize=9)
plots.show(fig, alt=(
    "Trois courbes ROC sur les quarante témoins : la marge du juge suit la diagonale du hasard ; la vraisemblance "
    "sachant les documents, et la différence avec et sans documents, passent au-dessus sans approcher du coin "
    "supérieur gauche."
))

# %% [markdown]
# *Figure 1. Courbes ROC de trois scores du même modèle, sur vingt témoins vrais et vingt faux. Plus la courbe monte
# vite à gauche, mieux le score sépare.*

# %% [markdown]
# ### Régler le seuil sur une moitié, le vérifier sur l'autre
#
# Pour rendre un verdict, il faut un seuil. Le choisir et le juger sur les mêmes témoins serait se noter soi-même. Nous
# le choisissons sur la moitié d'étalonnage (le seuil qui maximise sensibilité + spécificité, indice de Youden), et
# nous rapportons l'autre moitié.

# %%
def best_threshold(truths, scores):
    points = roc_points(truths, scores)[1:]
    best = max(range(len(points)), key=lambda i: points[i][2] - points[i][1])
    if best + 1 == len(points):
        return points[best][0]
    return (points[best][0] + points[best + 1][0]) / 2


def pick(values, indices):
    return [values[index] for index in indices]


thresholds = {}
for name, values in (("sachant les documents", given), ("différence", gain),
                     ("marge, consigne stricte", margins_of(replies["stricte"]))):
    thresholds[name] = best_threshold(pick(truths, tuning), pick(values, tuning))
    print(f"{name} : seuil {thresholds[name]:+.3f}")
    for side, indices in (("étalonnage", tuning), ("test", testing)):
        accepted = [value >= thresholds[name] for value in pick(values, indices)]
        report(f"  {side}", controls(pick(truths, indices), accepted))

# %% [markdown]
# **Lecture du résultat.** Sur la moitié d'étalonnage, le seuil de la vraisemblance donne une sensibilité de 0,600 et
# une spécificité de 0,800. Sur la moitié de test : 0,600 et 0,600. La différence, meilleure dans la section précédente,
# s'effondre davantage : sa spécificité passe de 0,600 à 0,200, et la somme avec sa sensibilité, 0,800, est celle d'un
# juge qui ne regarde pas. Un seuil choisi sur vingt témoins épouse leurs hasards ; la moitié de test est là pour le
# dire. Avec 10 témoins de chaque sorte, l'intervalle d'une spécificité de 0,600 va de 0,313 à 0,832 : nous ne pouvons
# pas affirmer que cet instrument vaut mieux que le hasard.

# %%
threshold = thresholds["sachant les documents"]
fig, ax = plt.subplots(figsize=(7.2, 4.2))
for k, (label, offset) in enumerate((("témoin vrai", 0), ("témoin faux", 20))):
    values = given[offset : offset + 20]
    # Un léger décalage, pour qu'une jumelle ne cache pas l'autre.
    ax.plot([x + 0.3 * k for x in range(1, 21)], values, plots.MARKERS[k], color=plots.COLORS[k], label=label)
    print(f"{label}, paires 1 à 10  :", " ".join(f"{value:.2f}" for value in values[:10]))
    print(f"{label}, paires 11 à 20 :", " ".join(f"{value:.2f}" for value in values[10:]))
ax.axhline(threshold, color="black", linewidth=1, linestyle="--", label="seuil réglé sur l'étalonnage")
ax.set(xlabel="paire de témoins", ylabel="log-probabilité moyenne (nats)", xticks=range(1, 21))
ax.legend(fontsize=9)
plots.show(fig, alt=(
    "Log-probabilité moyenne des vingt témoins vrais (ronds) et de leurs jumeaux faux (carrés), avec le seuil en "
    "tirets : les ronds sont le plus souvent au-dessus de leur carré, mais les deux nuages se recouvrent."
))
print("seuil :", f"{threshold:.2f}")
for kind in ("nom", "nombre", "échange", "négation", "absent"):
    rows = [k for k, pair in enumerate(twins) if pair["genre"] == kind]
    print(f"{kind:<9} faux refusés {sum(given[k + 20] < threshold for k in rows)}/{len(rows)}   "
          f"vraie devant sa jumelle {sum(given[k] > given[k + 20] for k in rows)}/{len(rows)}")

# %% [markdown]
# *Figure 2. Vraisemblance de chaque témoin sachant les documents. Ronds : vrais ; carrés : faux ; tirets : seuil réglé sur
# la moitié d'étalonnage.*

# %% [markdown]
# **Lecture du résultat.** Le détail par genre éclaire l'échec, sans le prouver : les effectifs sont petits. Quand un
# nom ou un nombre est changé, la vraie passe toujours devant sa jumelle (5 sur 5 et 5 sur 5). La négation passe
# inaperçue : 1 faux refusé sur 3, car « n'est pas gratuite » reprend les mots du texte. Les affirmations absentes sont
# refusées (2 sur 2), mais leurs jumelles vraies sont encore moins probables (0 sur 2) : elles sont dites autrement que
# dans les documents. La vraisemblance mesure la **ressemblance au texte**, plus que la vérité.

# %% [markdown] couvre="E-15"
# ## 7. La fidélité, sans rien inventer
#
# $$\text{fidélité} = \frac{\text{affirmations de la réponse que les documents soutiennent}}{\text{affirmations de la réponse}}$$
#
# C'est la définition de [Ragas (Es et al., 2023)](https://arxiv.org/abs/2309.15217). Elle laisse des cas ouverts, et nous
# les réglons ainsi :
#
# | cas | valeur | pourquoi |
# |---|---|---|
# | aucune affirmation (« Je ne sais pas. ») | `nan`, compté à part | 0/0 : ni fidèle, ni infidèle ; mettre 0 punit l'abstention, mettre 1 la récompense |
# | contexte vide, et des affirmations | 0 | rien ne peut les soutenir ; on n'interroge pas le juge |
# | verdict omis ou illisible | `nan`, avec les deux bornes | le compter faux, ou l'oublier, serait inventer |
# | affirmation répétée | erreur | elle compterait deux fois |
#
# Une réponse courte n'est pas fidèle parce qu'elle est courte. À la question « où est Vega ? », « Le télescope Vega est
# au Chili. » est fidèle : une affirmation, soutenue. « Paris. » affirme quelque chose que rien ne soutient : 0 sur 1.

# %%
@dataclass(frozen=True)
class Faithfulness:
    supported: int
    read: int
    claims: int

    @property
    def value(self):
        return self.supported / self.claims if self.claims and self.read == self.claims else math.nan

    @property
    def bounds(self):
        if not self.claims:
            return math.nan, math.nan
        return self.supported / self.claims, (self.supported + self.claims - self.read) / self.claims

    def __str__(self):
        if not self.claims:
            return "nan (aucune affirmation : la fidélité n'est pas définie)"
        score = f"soutenues {self.supported}/{self.claims}, verdicts lus {self.read}/{self.claims}"
        if self.read == self.claims:
            return f"{self.value:.3f} ({score})"
        return f"nan ({score} ; entre {self.bounds[0]:.3f} et {self.bounds[1]:.3f})"


def faithfulness(verdicts):
    for verdict in verdicts:
        if verdict is not None and not isinstance(verdict, bool):
            raise TypeError(f"verdict {verdict!r} : donnez True, False, ou None s'il est omis ou illisible.")
    read = [verdict for verdict in verdicts if verdict is not None]
    return Faithfulness(supported=sum(read), read=len(read), claims=len(verdicts))

# %% [markdown]
# Certains juges rendent tous les verdicts d'un coup, dans une liste. Ils en omettent parfois, ou en ajoutent :
# `align_verdicts` remet en face chaque affirmation et son verdict. D'autres répondent hors du format :
# `verify_claim` redemande **une** fois, puis dit « illisible » avec la raison. Une panne, elle, reste une erreur.
#
# Ces quelques lignes sont à nous, et c'est voulu : une mise à jour de bibliothèque a déjà renommé le champ où se
# lisaient les affirmations ([fil 4113 de langwatch](https://github.com/langwatch/langwatch/pull/4113)). Sinon, on fixe la version.

# %%
def align_verdicts(claims, verdicts):
    keys = [" ".join(french_words(claim)) for claim in claims]
    for key, claim in zip(keys, claims):
        if not key:
            raise ValueError("une affirmation est vide : rien à vérifier ; retirez-la de la liste.")
        if keys.count(key) > 1:
            raise ValueError(f"l'affirmation « {claim} » est répétée : elle compterait deux fois ; retirez le doublon.")
    unknown = [claim for claim in verdicts if claim not in claims]
    if unknown:
        raise ValueError(f"verdict sur « {unknown[0]} », qui n'a pas été posée : relisez la réponse du juge.")
    return [verdicts.get(claim) for claim in claims]


def verify_claim(claim, documents, ask):
    if not any(document.strip() for document in documents):
        return False, "contexte vide : rien ne soutient l'affirmation"
    for attempt in (1, 2):
        text = ask(claim, documents)
        verdict = read_support(text)
        if verdict is not None:
            return verdict, f"lu à l'essai {attempt}"
    return None, "pas de réponse" if text is None else f"illisible : {text!r}"

# %% couvre="E-15"
print("3 affirmations, 2 soutenues :", faithfulness([True, True, False]))
print("« Le télescope Vega est au Chili. » :", faithfulness([True]))
print("« Paris. »                          :", faithfulness([False]))
print("« Je ne sais pas. »                 :", faithfulness([]))
three = ["Vega est au Chili.", "Vega est optique.", "Vega capte les ondes radio."]
partial = align_verdicts(three, {three[0]: True, three[2]: False})
print("verdict omis par le juge            :", partial, faithfulness(partial))

scripted = iter(["Oui, mais…", "NON", "Je ne peux pas juger", None])
for claim in three[:2]:
    print("juge imité, bavard :", verify_claim(claim, documents, lambda claim, documents: next(scripted)))
empty = [verify_claim(claim, [], None)[0] for claim in three]
print("contexte vide      :", empty, faithfulness(empty))
for mistake in (lambda: align_verdicts(["Vega est optique.", "vega est optique"], {}),
                lambda: align_verdicts(three, {"Vega est rouge.": True}),
                lambda: faithfulness(["false"]),
                lambda: support_request(three[0], ["", "  "], STRICT, model=MODEL)):
    try:
        mistake()
    except (TypeError, ValueError) as error:
        print(f"{type(error).__name__} : {error}")

# %% [markdown]
# **Lecture du résultat.** Deux affirmations soutenues sur 3 donnent 0,667. L'abstention donne `nan`, et « Paris. »
# donne 0,000. Quand le juge omet un verdict, la fidélité n'est pas connue : elle est entre 0,333 et 0,667, et nous ne
# choisissons pas. Le juge bavard est redemandé : le premier verdict est lu à l'essai 2, le second n'arrive jamais, et
# la raison est gardée. Une chaîne comme « false » est refusée : en Python, elle serait vraie.

# %% [markdown]
# Sur plusieurs réponses, la moyenne ne vaut rien sans sa **couverture** : combien de réponses étaient notables ?

# %%
def mean_with_coverage(scores):
    defined = [score for score in scores if not math.isnan(score)]
    return (sum(defined) / len(defined) if defined else math.nan), len(defined), len(scores)


for answers in ([1.0, math.nan], [1.0, 0.5, math.nan, math.nan], [math.nan]):
    mean, scored, total = mean_with_coverage(answers)
    as_zero = sum(0.0 if math.isnan(score) else score for score in answers) / total
    print(f"{str(answers):<22} moyenne ordinaire {sum(answers) / total} ; nan changé en 0 : {as_zero:.3f} ; "
          f"la nôtre : {mean:.3f}, {scored}/{total} notés")

# %% [markdown]
# **Lecture du résultat.** Un seul `nan` rend la moyenne ordinaire `nan` ; le changer en 0 punit l'abstention (0,500,
# puis 0,375) ; l'ignorer en silence afficherait 1,000 pour un système qui n'a répondu qu'une fois sur deux. La moyenne
# et sa couverture, 1/2 ou 2/4, ne se séparent pas.

# %% [markdown]
# ### La fidélité de notre réponse, selon l'instrument
#
# Voici enfin les six affirmations. La vérité des auteurs d'abord, puis chaque instrument, tel qu'il est.

# %% couvre="S0-38"
by_likelihood = [value >= threshold for value in given_claims]
print(f"{'vérité des auteurs':<27}", faithfulness(supported), with_interval(5, 6))
for name, verdicts in [*((f"juge, {name}", verdicts_of(answers)) for name, answers in on_claims.items()),
                       ("vraisemblance et seuil", by_likelihood)]:
    right = sum(x == y for x, y in zip(verdicts, supported))
    print(f"{name:<27} {faithfulness(verdicts)} ; verdicts justes {right}/6 ; piège "
          f"{'accepté' if verdicts[5] else 'refusé'}")
print("vraisemblance des affirmations :", " ".join(f"{value:.2f}" for value in given_claims),
      f"; seuil {threshold:.2f}")

# %% [markdown]
# **Lecture du résultat.** La vérité des auteurs est de 5 sur 6, soit 83 %, avec un intervalle de 0,436 à 0,970. Chaque
# instrument annonce 1,000 : une fidélité **parfaite**, piège compris. Le juge a pourtant 5 verdicts justes sur 6, ce
# qui a l'air bon ; un juge qui dit toujours OUI ferait pareil. La vraisemblance du piège, −2,28, passe juste au-dessus
# du seuil de −2,37. Sans les témoins, nous aurions publié « 100 % de fidélité ». Avec eux, nous
# savons qu'aucun de ces instruments n'est qualifié pour rendre ce verdict, et nous le disons.

# %% [markdown]
# ## 8. Le rappel des faits
#
# La fidélité ne dit pas ce qui **manque**. Pour le savoir, nous listons les faits attendus, et nous cherchons chacun
# dans la réponse par ses mots-clés. La règle la plus courante cherche une sous-chaîne. Elle a des trous.

# %% couvre="S0-41 E-16"
def fact_words(text):
    return french_words(re.sub(r"(?<!\d)\d{1,3}(?:[ \u00a0\u202f]\d{3})+(?!\d)",
                               lambda number: re.sub(r"\D", "", number.group()), text))


def fact_in_answer(keywords, answer):
    words = fact_words(answer)
    patterns = [fact_words(keyword) for keyword in keywords]
    if not patterns or not all(patterns):
        raise ValueError("un fait sans mot-clé serait trouvé dans toute réponse : donnez au moins un mot par fait.")
    return all(
        any(words[start : start + len(pattern)] == pattern for start in range(len(words))) for pattern in patterns
    )


def by_substring(keywords, answer):
    return all(keyword.lower() in answer.lower() for keyword in keywords)


print(f"{'mots-clés':<22}{'réponse':<44}{'sous-chaîne':<13}{'mots entiers':<14}vérité")
for keywords, answer, truth in (
    (["gaz"], "Un groupe au gazole prend le relais.", False),
    (["300"], "Vega prend 1300 images par nuit.", False),
    (["300"], "Vega prend 1 300 images par nuit.", False),
    (["2 600"], "Il est à 2\u00a0600 mètres.", True),
    (["hélium"], "La caméra n'est pas refroidie à l'hélium.", False),
    (["gratuite"], "On entre gratuitement.", True),
    (["inauguré", "2019"], "Il a ouvert en 2019.", True),
):
    print(f"{str(keywords):<22}{answer:<44}{by_substring(keywords, answer)!s:<13}"
          f"{fact_in_answer(keywords, answer)!s:<14}{truth}")

# %% [markdown] couvre="E-16"
# **Lecture du résultat.** La sous-chaîne trouve « gaz » dans « gazole » et 300 dans « 1300 ». Les mots entiers n'ont
# pas ces deux défauts, à condition de recoller les milliers : « 1 300 » est un seul nombre, et l'espace insécable de 2
# 600 ne doit pas cacher le fait. Mais aucune des deux règles ne lit la négation (« n'est pas refroidie à l'hélium »
# compte pour elles), ni le synonyme (« ouvert » pour « inauguré »). Et les mots entiers perdent « gratuitement », que
# la sous-chaîne trouvait. Un rappel par mots-clés se relit, fait par fait, avant d'être cru.

# %% couvre="S0-42 E-16"
def fact_recall(facts, answer):
    if not facts:
        return math.nan
    return sum(fact_in_answer(keywords, answer) for keywords in facts) / len(facts)


every_fact = [pair["mots"] for pair in twins]
for name in ("faits_cles", "faits"):
    print(f"{name} :", data[name])
    print("  trouvés :", [fact_in_answer(keywords, data["reponse"]) for keywords in data[name]])
for name, facts in (("3 faits clés", data["faits_cles"]), ("6 faits", data["faits"]), ("tous les faits", every_fact)):
    found = sum(fact_in_answer(keywords, data["reponse"]) for keywords in facts)
    print(f"{name:<15} rappel {fact_recall(facts, data['reponse']):.3f}   {with_interval(found, len(facts))}")
print("aucun fait attendu :", fact_recall([], data["reponse"]))
print("les 20 faits, dans les documents :", fact_recall(every_fact, " ".join(documents)))

# %% [markdown] couvre="E-16"
# **Lecture du résultat.** La même réponse a un rappel de 67 %, de 83 % ou de 25 % selon la liste : 2 faits clés sur 3,
# 5 faits sur 6, 5 sur 20. Le fait manquant est le même, l'hélium ; c'est le **dénominateur** qui décide. Aucune liste
# n'est la bonne en soi : pour la question posée, l'hélium n'était pas demandé. On publie la liste avec le score. Les 20
# faits sont tous retrouvés dans les documents (1,0) : les mots-clés, au moins, y sont bien écrits.

# %% [markdown]
# ### Et si le juge cherchait les faits ?
#
# On demande parfois au juge lui-même quels faits sont dans la réponse. Attention au contexte qu'on lui montre : vérifier
# les faits contre les **documents**, où ils sont par construction, ne mesure rien de la réponse. Nous lui montrons la
# réponse seule, avec un fait qui n'y est pas et qu'ALMA concerne.

# %% couvre="S0-40 E-17"
sought = ["Vega est situé au Chili.", "Le télescope est dans le désert d'Atacama.", "Vega a ouvert en 2019.",
          "Le miroir a un diamètre de 8 mètres.", "La comète Lamia a été découverte en 2021.",
          "L'hélium refroidit la caméra.", "ALMA compte 66 antennes."]
keywords = [*data["faits"], ["ALMA", "66"]]
in_answer = verdicts_of(ask_support(sought, STRICT, [data["reponse"]]))
for fact, words, verdict in zip(sought, keywords, in_answer):
    print(f"{fact:<44} mots-clés : {fact_in_answer(words, data['reponse'])!s:<6} juge : {verdict}")
report("le juge cherche dans la réponse", controls([True] * 5 + [False] * 2, in_answer))

# %% [markdown]
# **Lecture du résultat.** Le juge trouve tout dans la réponse, même l'hélium, même les 66 antennes d'ALMA, dont elle ne
# dit pas un mot. Il reconnaît 5 faits présents sur 5, et c'est le résultat qu'on publierait ; il refuse 0 absent sur 2.
# Les mots-clés, eux, ne se trompent sur aucun des sept. L'outil le plus simple gagne ici, parce que ses erreurs sont
# connues.

# %% [markdown]
# ## 9. La recherche : rappel@k et nDCG
#
# Avant de rédiger, il a fallu trouver. Nous avons un index de douze passages et sept questions. Pour chaque question,
# les auteurs ont noté les passages : 2, il répond ; 1, il aide ; 0, il n'aide pas.
#
# Le moteur est volontairement simple : un passage marque, pour chaque mot qu'il partage avec la question, d'autant
# plus de points que le mot est rare dans l'index.

# %%
passages = {passage["id"]: passage["texte"] for passage in data["recherche"]["passages"]}
words_of = {name: set(french_words(text)) for name, text in passages.items()}
frequency = Counter(word for words in words_of.values() for word in words)


def search(question):
    """Identifiants des passages, du meilleur au moins bon ; à égalité, l'ordre de l'index."""
    wanted = set(french_words(question))
    points = {name: sum(math.log(len(passages) / frequency[word]) for word in sorted(wanted & words))
              for name, words in words_of.items()}
    return sorted(passages, key=lambda name: -points[name])


rankings = {}
for query in data["recherche"]["questions"]:
    rankings[query["id"]] = search(query["texte"])
    print(f"{query['id']}  {query['texte']:<52} {rankings[query['id']][:4]}  pertinents : {query['pertinence']}")

# %% [markdown]
# Le **rappel@k** est la part des passages pertinents qui sont dans les $k$ premiers. Il ignore l'ordre dans ces $k$, et
# le degré de pertinence. Le **nDCG** les compte : chaque passage apporte son gain, divisé par $\log_2(\text{rang}+1)$,
# et le total est rapporté à celui du meilleur classement possible.
#
# $$\text{DCG@}k = \sum_{i=1}^{k} \frac{g_i}{\log_2(i+1)} \qquad \text{nDCG@}k = \frac{\text{DCG@}k}{\text{DCG@}k \text{ idéal}}$$
#
# Il existe des variantes (gain $2^g - 1$, autre remise) : un nDCG se donne avec sa formule.

# %%
def check_ranking(ranking, k):
    if len(set(ranking)) != len(ranking):
        raise ValueError("un passage est classé deux fois : il compterait double ; retirez les doublons.")
    if not 1 <= k <= len(ranking):
        raise ValueError(f"k = {k} pour {len(ranking)} passages classés : choisissez k entre 1 et {len(ranking)}.")


def recall_at_k(ranking, relevance, k):
    check_ranking(ranking, k)
    relevant = {passage for passage, gain in relevance.items() if gain > 0}
    return len(relevant.intersection(ranking[:k])) / len(relevant) if relevant else math.nan


def dcg(gains):
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, start=1))


def ndcg_at_k(ranking, relevance, k):
    check_ranking(ranking, k)
    if any(gain < 0 for gain in relevance.values()):
        raise ValueError("un gain est négatif : le score sortirait de [0, 1] ; notez la pertinence à partir de 0.")
    ideal = dcg(sorted(relevance.values(), reverse=True)[:k])
    return dcg([relevance.get(passage, 0) for passage in ranking[:k]]) / ideal if ideal else math.nan


gains = {"a": 10, "b": 0, "c": 0, "d": 1, "e": 5}
print(f"à la main, gains 5, 1, 0, 0, 10 : {dcg([5, 1, 0, 0, 10]):.4f} = 5 + 1/log2(3) + 10/log2(6)")
print(f"exemple de la documentation de scikit-learn : {ndcg_at_k(list('edcba'), gains, 5):.4f}")
for mistake in (lambda: recall_at_k(list("edcba"), gains, 6), lambda: ndcg_at_k(list("edcbb"), gains, 3)):
    try:
        mistake()
    except ValueError as error:
        print("ValueError :", error)

# %%
worst = 0.0
recalls, ndcgs = [], []
for query in data["recherche"]["questions"]:
    ranking, relevance = rankings[query["id"]], query["pertinence"]
    recalls.append([recall_at_k(ranking, relevance, k) for k in (1, 3, 5)])
    ndcgs.append(ndcg_at_k(ranking, relevance, 3))
    shown = " ".join(f"{value:.2f}" for value in recalls[-1])
    print(f"{query['id']}  rappel@1, @3, @5 : {shown}   nDCG@3 {ndcgs[-1]:.3f}")
    if relevance:
        true = [[relevance.get(name, 0) for name in ranking]]
        order = [[len(ranking) - place for place in range(len(ranking))]]
        for k in range(1, len(ranking) + 1):
            top = [place < k for place in range(len(ranking))]
            worst = max(worst, abs(ndcg_score(true, order, k=k) - ndcg_at_k(ranking, relevance, k)),
                        abs(dcg_score(true, order, k=k) - dcg(true[0][:k])),
                        abs(recall_score([gain > 0 for gain in true[0]], top) - recall_at_k(ranking, relevance, k)))
print("accord avec scikit-learn à 1e-9, pour tout k :", worst < 1e-9)
first_ranks, third_ranks, _ = zip(*recalls)
for name, column in (("rappel@1", first_ranks), ("rappel@3", third_ranks), ("nDCG@3", ndcgs)):
    mean, scored, total = mean_with_coverage(column)
    print(f"{name} moyen {mean:.3f}, {scored}/{total} questions notées")
print("sans passage pertinent, scikit-learn donne :", ndcg_score([[0, 0, 0]], [[3, 2, 1]]))

# %% [markdown]
# **Lecture du résultat.** Nos valeurs sont celles de scikit-learn à 1e-9, pour tout k. En Q4 et Q6, le moteur échoue
# (0,00) : la question dit « visiter » et « froids », les passages disent « visite » et « refroidie » ; il ne connaît
# que les mots exacts. En Q1, le second passage utile n'arrive qu'au cinquième rang : le rappel@5 passe à 1,00, alors que
# le nDCG@3 vaut déjà 0,760, car le meilleur passage est en tête. Q7 n'a aucun passage pertinent : `nan` pour nous, 0,0
# pour scikit-learn, ce qui ferait baisser la moyenne à cause d'une question sans réponse. Nous notons 6 questions sur
# 7, et nous l'écrivons.

# %% [markdown]
# ## 10. Les trois mesures ensemble
#
# Prenons la question « Quel instrument observe le ciel en radio ? » et cinq scénarios faits à la main, étiquettes
# comprises.

# %%
relevance = {"R07": 2}
scenarios = (
    ("tout va bien", ["R07", "R03"], [True], "C'est ALMA."),
    ("recherche manquée, réponse inventée mais juste", ["R03", "R08"], [False], "C'est ALMA."),
    ("bien trouvé, mal lu", ["R07", "R03"], [False], "Vega capte les ondes radio."),
    ("bien trouvé, réponse à côté", ["R07", "R03"], [True], "Vega est un télescope optique."),
    ("bien trouvé, abstention", ["R07", "R03"], [], "Je ne sais pas."),
)
print(f"{'scénario':<48}{'rappel@2':<10}{'fidélité':<10}rappel des faits")
for name, ranking, verdicts, answer in scenarios:
    print(f"{name:<48}{recall_at_k(ranking, relevance, 2):<10.2f}{faithfulness(verdicts).value:<10.2f}"
          f"{fact_recall([['ALMA']], answer):.2f}")

# %% [markdown]
# **Lecture du résultat.** Chaque scénario a son profil. Une réponse peut être juste (rappel des faits 1,00) et infidèle
# (0,00), parce que le modèle savait sans les documents. Elle peut être fidèle (1,00) et à côté (0,00). L'abstention n'a
# pas de fidélité (`nan`), mais son rappel des faits est nul. Et un bon rappel@2 ne garantit ni l'un, ni l'autre. On
# publie les trois, avec leur effectif.

# %%
print(judge.source(client))

# %% [markdown]
# ## À retenir
#
# - Trois questions, trois mesures : recherche (rappel@k, nDCG), fidélité, rappel des faits. Aucune ne remplace les autres.
# - **L'instrument d'abord** : des témoins vrais **et** faux, la sensibilité **et** la spécificité. Un juge constant réussit la
#   moitié de tous les contrôles ; avec des témoins d'une seule sorte, il les réussit tous.
# - Une consigne plus stricte, des exemples, une autre langue : on le mesure sur les témoins, on ne le suppose pas.
# - Un seuil se règle sur une moitié et se rapporte sur l'autre.
# - Aucune affirmation : `nan`, compté à part. Contexte vide : 0. Verdict manquant : des bornes, jamais une valeur devinée.
# - Le dénominateur décide du rappel des faits : on publie la liste.
# - Un fait cherché par mots-clés ignore la négation et les synonymes, et « gaz » n'est pas « gazole ».

# %% [markdown]
# ## Questions
#
# **1.** Un vérificateur accepte les vingt témoins vrais et dix des vingt témoins faux. Il annonce une fidélité de 90 % sur vos
# réponses. Que croire ?
#
# <details><summary>Réponse</summary>
#
# Que la vraie fidélité est plus basse. La sensibilité est de 1 et la spécificité de 0,5 : la moitié des affirmations non soutenues
# passent. Si la part soutenue est $p$, il en accepte $p + (1-p)/2$ ; 0,9 correspond à $p$ = 0,8. La
# [leçon 07](07_juger_le_juge.ipynb) fait ce calcul, avec son intervalle.
#
# </details>
#
# **2.** Un système répond « Je ne sais pas. » à neuf questions sur dix, et une phrase fidèle à la dixième. Quelle est sa
# fidélité moyenne ?
#
# <details><summary>Réponse</summary>
#
# 1, sur 1 réponse notée sur 10. Le premier nombre sans le second serait trompeur. Et son rappel des faits, lui, est défini
# partout, et très bas.
#
# </details>
#
# **3.** Le rappel@5 d'un moteur est de 1 et son nDCG@5 de 0,4. Que se passe-t-il ?
#
# <details><summary>Réponse</summary>
#
# Tous les passages pertinents sont dans les cinq premiers, mais vers le bas de la liste, ou dans le désordre. Si le modèle ne lit que
# le premier passage, c'est un échec ; s'il lit les cinq, ce n'en est peut-être pas un.
#
# </details>

# %% [markdown]
# ## Pour aller plus loin
#
# - Refaites les sections 3 à 6 avec un modèle plus grand (le README dit comment brancher un autre serveur) : la spécificité
#   quitte-t-elle zéro ?
# - Ajoutez des témoins de négation, le genre où nos scores échouent le plus.
# - [Un cahier de Hugging Face](https://huggingface.co/learn/cookbook/rag_evaluation) fabrique les questions d'évaluation par un modèle, et
#   les filtre par d'autres modèles : à étalonner, lui aussi, sur des témoins.
# - Ce que deviennent `nan` et verdicts illisibles dans une bibliothèque répandue :
#   [Ragas, fil 733](https://github.com/vibrantlabsai/ragas/issues/733), [fil 2022](https://github.com/vibrantlabsai/ragas/issues/2022),
#   [fil 1228](https://github.com/vibrantlabsai/ragas/issues/1228).

# %% [markdown]
# ## Sources
#
# - [Es et al. (2023), « Ragas: Automated Evaluation of Retrieval Augmented Generation »](https://arxiv.org/abs/2309.15217).
# - Järvelin et Kekäläinen (2002), « Cumulated gain-based evaluation of IR techniques », *ACM TOIS* 20(4) : nDCG.
# - Fawcett (2006), « An introduction to ROC analysis », *Pattern Recognition Letters* 27 ; Youden (1950), « Index for rating
#   diagnostic tests », *Cancer* 3.
# - [Documentation de scikit-learn, `ndcg_score`](https://scikit-learn.org/stable/modules/generated/sklearn.metrics.ndcg_score.html).
# - Documents, réponse, témoins, faits et jugements de pertinence : les auteurs du cours (`helpers/donnees/rag.json`). Aucun lecteur
#   n'a été interrogé.
