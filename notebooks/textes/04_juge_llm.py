# %% [markdown]
# # Leçon 04 · Un modèle de langue comme juge
#
# **Objectifs**
#
# - écrire la requête d'un juge, et lire sa réponse sans jamais la deviner ;
# - mesurer ses biais avec un plan équilibré : place, longueur, température, égalités ;
# - rapporter un juge avec son exactitude, son kappa et un intervalle, même quand le résultat déçoit ;
# - relire le même modèle par la vraisemblance, et comparer.
#
# **Durée** : environ 1 h 30.
#
# **Prérequis**
#
# - [leçon 03](03_perplexite.ipynb) : log-probabilité d'un texte, entropie croisée ;
# - savoir ce qu'est une proportion.

# %% [markdown]
# Un **juge** est un modèle de langue à qui l'on montre une question et des réponses, et à qui l'on demande
# laquelle est la meilleure. Il ne coûte presque rien, il lit des milliers de réponses, et il n'a pas besoin
# d'un texte de référence. C'est séduisant, et c'est un instrument de mesure : on l'étalonne avant de le croire.
#
# Le juge de cette leçon est un vrai modèle, mais un très petit : 135 millions de paramètres. Il se trompera, et
# c'est utile ici : ses défauts se voient à l'œil nu, et ce qui les révèle sert aussi pour un grand modèle.

# %% [markdown]
# ## 1. Des questions dont nous connaissons la réponse
#
# Pour juger un juge, il faut des cas dont nous sommes sûrs. Nous en avons écrit vingt-quatre : une question
# de culture générale, une réponse juste, une réponse nettement fausse. Les deux réponses ont la même forme et
# la même longueur : le juge ne peut s'aider de rien d'autre que du sens.

# %% couvre="S0-29"
import json
import math
import re
import unicodedata
from collections import Counter
from numbers import Integral
from pathlib import Path

import matplotlib.pyplot as plt

from helpers import judge, plots
from helpers.judge import scoring_request, token_logprobs

DATA = Path(judge.__file__).parent / "donnees"
pairs = json.loads((DATA / "paires.json").read_text(encoding="utf-8"))["paires"]

print(f"{len(pairs)} paires")
for pair in pairs[:4]:
    print(f"{pair['id']}  {pair['question']}  juste : {pair['bonne']} ; fausse : {pair['mauvaise']}")

# %% [markdown]
# Chaque paire devient deux textes, `a` et `b`. La réponse juste est le texte `a` une fois sur deux : un juge
# qui choisirait toujours `a` n'y gagnerait rien. On dit que la vérité est **contrebalancée**.

# %%
items = []
for index, pair in enumerate(pairs):
    a, b = (pair["bonne"], pair["mauvaise"]) if index % 2 == 0 else (pair["mauvaise"], pair["bonne"])
    items.append({"id": pair["id"], "question": pair["question"], "a": a, "b": b,
                  "truth": "a" if index % 2 == 0 else "b"})

print("texte juste :", dict(Counter(item["truth"] for item in items)))

# %% [markdown] couvre="S0-03"
# ## 2. La requête du juge
#
# Le client est un client `openai` ordinaire. Ici, il rejoue des réponses **enregistrées** auprès d'un vrai
# serveur vLLM : la leçon se relit sans réseau, et donne toujours les mêmes nombres.
#
# Une comparaison **par paire** montre deux réponses sous deux étiquettes, A et B, et demande une lettre.
# L'autre forme, la **note directe**, montre une seule réponse et demande un nombre. Nous écrivons la première.

# %% couvre="S0-27"
MODEL = judge.MODEL
client = judge.client("04_juge_llm")

PAIRWISE_PROMPT = (
    "Question : {question}\n\n"
    "Réponse A : {first}\n"
    "Réponse B : {second}\n\n"
    "Quelle réponse est correcte ? Répondez par une seule lettre, A ou B."
)


def pairwise_request(question, first, second, temperature=0.0, *, model=MODEL, prompt=PAIRWISE_PROMPT,
                     choices=("A", "B"), max_tokens=1):
    for name, text in (("question", question), ("first", first), ("second", second)):
        if not isinstance(text, str):
            raise TypeError(f"« {name} » doit être une chaîne, pas {type(text).__name__} : donnez le texte à juger.")
        if not text.strip():
            raise ValueError(f"« {name} » est vide : rien à juger ; donnez un texte non vide.")
    content = prompt.format(question=question, first=first, second=second)
    request = {
        "model": model,
        "messages": [{"role": "user", "content": content}],
        "temperature": temperature,
        "max_tokens": max_tokens,
    }
    if choices is not None:
        request.update(logprobs=True, top_logprobs=5,
                       extra_body={"structured_outputs": {"choice": list(choices)}})
    return request


lima = (items[0]["question"], items[0]["a"], items[0]["b"])
print(json.dumps(pairwise_request(*lima), ensure_ascii=False, indent=1))

# %% [markdown]
# ## 3. Lire une réponse libre : pourquoi la première lettre ment
#
# Commençons comme beaucoup de tutoriels : une consigne courte, en anglais, et seize jetons de réponse libre. Nous
# avons retenu cette consigne parce que ses réponses ressemblent à des verdicts ; c'est là que le piège se voit.
# Nous posons douze questions, chacune **dans les deux ordres**, à température 0.

# %%
FREE_PROMPT = (
    "You are a strict judge. Question: {question}\n"
    "Answer A: {first}\n"
    "Answer B: {second}\n"
    "Which answer is better? Reply with A or B only."
)
shown = [(item, first, second) for item in items[:12]
         for first, second in ((item["a"], item["b"]), (item["b"], item["a"]))]
free_replies = judge.ask_all(client.chat.completions.create, [
    pairwise_request(item["question"], first, second, prompt=FREE_PROMPT, choices=None, max_tokens=16)
    for item, first, second in shown
])
free_texts = [reply.choices[0].message.content for reply in free_replies]
for (item, first, second), text in zip(shown, free_texts):
    print(f"{item['id']}  A={first:<17} B={second:<17} → {text!r}")

# %% [markdown]
# Trois lectures naïves, qu'on rencontre souvent dans du code d'évaluation :
#
# - **première lettre** : la réponse commence par A ou par B ;
# - **contient** : on cherche un A, puis un B, dans la réponse en majuscules ;
# - **dernière lettre isolée** : le dernier « a » ou « b » seul, sans regarder la casse.
#
# Nous leur ajoutons un témoin : le **texte nommé**, quand la réponse reprend l'une des deux réponses montrées
# et pas l'autre.

# %% couvre="S0-27 E-08"
def starts_with(text):
    upper = text.strip().upper()
    return upper[0] if upper[:1] in ("A", "B") else "?"


def contains(text):
    upper = text.upper()
    return "A" if "A" in upper else "B" if "B" in upper else "?"


def last_letter(text):
    letters = re.findall(r"\b[ab]\b", text, flags=re.IGNORECASE)
    return letters[-1].upper() if letters else "?"


def named_text(text, first, second):
    has_first, has_second = first in text, second in text
    return "?" if has_first == has_second else "A" if has_first else "B"


readings = [(starts_with(text), contains(text), last_letter(text), named_text(text, first, second))
            for (item, first, second), text in zip(shown, free_texts)]
for name, column in zip(("première lettre", "contient", "dernière lettre isolée", "texte nommé"), zip(*readings)):
    print(f"{name:<23}", {letter: column.count(letter) for letter in "AB?"})
both = [(r[0], r[3]) for r in readings if r[0] != "?" and r[3] != "?"]
print(f"première lettre et texte nommé tous deux lisibles : {len(both)} ; contraires : {sum(x != y for x, y in both)}")
different = sum(len(set(r[:3])) > 1 for r in readings)
print(f"les trois lectures naïves diffèrent sur {different} réponses sur {len(readings)}")

# %% [markdown]
# **Lecture du résultat.** Le juge écrit presque toujours l'étiquette A, suivie du texte qu'il préfère, ou qu'il
# recopie. Regardons P05 : « A: Le fer » dans les **deux** ordres, alors qu'au second passage, « Le fer » est en B. Sur
# les 16 réponses où l'étiquette et le texte se lisent tous deux, ils se contredisent 6 fois. La première lettre
# dit A 20 fois et jamais B : c'est peut-être le juge, c'est peut-être la lecture, et rien dans ces textes ne permet
# de trancher. Les trois lectures naïves ne sont même pas d'accord entre elles sur 8 réponses.

# %% [markdown]
# ## 4. Une lecture stricte, qui sait dire « illisible »
#
# La règle que nous adoptons pour un texte libre :
#
# 1. on retire la réflexion écrite entre `<think>` et `</think>` ;
# 2. on ne regarde que la **dernière ligne** non vide ;
# 3. on y cherche une marque `[[A]]`, `[[B]]`, `[[C]]` ou `[[Égalité]]`, casse respectée ;
# 4. aucune marque, ou deux marques contraires : **« illisible »**. Un verdict illisible se compte à part ; il
#    n'est ni un succès, ni un échec, ni une égalité.

# %% couvre="S3-17 E-08"
VERDICT_TAGS = {"[[A]]": "A", "[[B]]": "B", "[[C]]": "EGALITE", "[[Égalité]]": "EGALITE"}


def read_verdict(text):
    if text is None:
        return "illisible"
    if not isinstance(text, str):
        raise TypeError(f"la réponse doit être une chaîne ou None, pas {type(text).__name__} : "
                        "donnez le texte de la réponse.")
    visible = re.sub(r"<think>.*?</think>", "", unicodedata.normalize("NFC", text), flags=re.DOTALL)
    if "<think>" in visible or "</think>" in visible:
        return "illisible"
    lines = [line for line in visible.splitlines() if line.strip()]
    tags = re.findall(r"\[\[(?:A|B|C|Égalité)\]\]", lines[-1]) if lines else []
    verdicts = {VERDICT_TAGS[tag] for tag in tags}
    return verdicts.pop() if len(verdicts) == 1 else "illisible"


examples = [
    "Answer B", "As a judge, I choose B", "Both are good", "Bonne question. A", "À mon avis, B",
    "La réponse B a raison", "Aucune des deux", "Désolé, je ne peux pas juger", "<think>A semble bon</think>B",
    "La A est fausse.\nVerdict : [[B]]", "[[Égalité]]", "[[A]] ou [[B]]", "", None,
]
print(f"{'réponse':<40}{'première':<10}{'contient':<10}{'dernière':<10}stricte")
for text in examples:
    naive = [reader(text or "") for reader in (starts_with, contains, last_letter)]
    print(f"{text!r:<40}{naive[0]:<10}{naive[1]:<10}{naive[2]:<10}{read_verdict(text)}")

# %% [markdown] couvre="E-08"
# **Lecture du résultat.** Chaque lecture naïve donne au moins une mauvaise lettre : « Answer B » est lu A par la
# première, « La réponse B a raison » est lu A par la dernière, à cause du verbe « a », et la deuxième voit un A presque
# partout, même dans un refus. La lecture stricte ne se trompe jamais de lettre. Elle a un prix : elle ne lit que
# ce qui suit la consigne.

# %% [markdown]
# Encore faut-il que le juge écrive la marque. Nous la demandons, en français, sur les douze mêmes questions.

# %%
TAG_PROMPT = (
    "Question : {question}\n\n"
    "Réponse A : {first}\n"
    "Réponse B : {second}\n\n"
    "Quelle réponse est correcte ? Répondez par [[A]] ou par [[B]]."
)
tag_replies = judge.ask_all(client.chat.completions.create, [
    pairwise_request(item["question"], item["a"], item["b"], prompt=TAG_PROMPT, choices=None, max_tokens=16)
    for item in items[:12]
])
for item, reply in list(zip(items, tag_replies))[:3]:
    print(item["id"], repr(reply.choices[0].message.content))
print(dict(Counter(read_verdict(reply.choices[0].message.content) for reply in tag_replies)))

# %% [markdown]
# **Lecture du résultat.** Les 12 réponses sont illisibles : ce petit modèle ne suit pas la consigne de forme. Une lecture
# stricte le dit. Une lecture naïve aurait rendu des verdicts, et nous aurions calculé une exactitude sur du bruit.

# %% [markdown]
# ## 5. Contraindre le choix, et lire les probabilités
#
# Un serveur comme vLLM sait interdire tout ce qui n'est pas l'un des choix : c'est le sens de
# `structured_outputs` dans la requête. La réponse est alors exactement « A » ou « B ». Nous le vérifions tout
# de même, car certains serveurs ignorent cette option sans le dire.
#
# Avec `logprobs=True`, le serveur donne aussi la probabilité de chaque choix au premier jeton. C'est plus riche
# qu'une lettre : un juge à 51 % contre 49 % et un juge à 99 % contre 1 % répondent la même lettre.

# %%
def read_choice(text, choices=("A", "B")):
    return text if text in choices else "illisible"


def choice_logprobs(reply, choices=("A", "B")):
    logprobs = reply.choices[0].logprobs
    if logprobs is None or not logprobs.content:
        raise ValueError("la réponse n'a pas de log-probabilités : demandez logprobs=True et top_logprobs=5.")
    totals = dict.fromkeys(choices, 0.0)
    for candidate in logprobs.content[0].top_logprobs:
        matches = [choice for choice in choices if candidate.token and choice.startswith(candidate.token)]
        if len(matches) > 1:
            raise ValueError(f"le jeton « {candidate.token} » mène à plusieurs choix ({', '.join(matches)}) : "
                             "prenez des choix qui diffèrent dès le premier jeton.")
        if matches:
            totals[matches[0]] += math.exp(candidate.logprob)
    return {choice: math.log(total) if total > 0 else -math.inf for choice, total in totals.items()}


first_reply = client.chat.completions.create(**pairwise_request(*lima))
values = choice_logprobs(first_reply)
print("verdict :", read_choice(first_reply.choices[0].message.content))
for choice, value in values.items():
    print(f"log P({choice}) = {value:.3f}   P({choice}) = {math.exp(value):.3f}")
print(f"somme des probabilités : {sum(math.exp(value) for value in values.values()):.3f}")

# %% [markdown]
# **Lecture du résultat.** Le verdict est A, avec une probabilité de 0,769 contre 0,231 pour B. La somme vaut 1,000, car le
# serveur a retiré tous les autres jetons : ce sont des probabilités **sachant** que la réponse est A ou B, et non la
# chance que le modèle aurait eue d'écrire A librement. Contraindre rend la réponse lisible ; cela ne dit rien de sa justesse.

# %% [markdown]
# La différence $\log P(A) - \log P(B)$ est la **marge** du juge. Positive, il répond A ; négative, B ; proche
# de zéro, il hésite.

# %% [markdown]
# ## 6. Le juge est-il déterministe à température 0 ?
#
# À température 0, le modèle choisit toujours le jeton le plus probable. On en déduit parfois que le juge est
# déterministe. Nous reposons cinq fois la même question, l'une après l'autre, sous les deux formes.

# %% couvre="S0-28 E-33"
def margin(reply):
    values = choice_logprobs(reply)
    return values["A"] - values["B"]


constrained = judge.ask_all(client.chat.completions.create, [pairwise_request(*lima)] * 5, workers=1)
free = judge.ask_all(client.chat.completions.create,
                     [pairwise_request(*lima, prompt=FREE_PROMPT, choices=None, max_tokens=16)] * 5, workers=1)
print("verdicts contraints :", [reply.choices[0].message.content for reply in constrained])
print("marges :", [f"{margin(reply):.4f}" for reply in constrained])
print("réponses libres différentes :", len({reply.choices[0].message.content for reply in free}))

# %% [markdown] couvre="E-33"
# **Lecture du résultat.** Les verdicts sont les mêmes, la marge aussi (1,2052), et les réponses libres ne forment qu'un
# seul texte (1). C'est un fait sur ce serveur, cette machine, une requête à la fois. Ce n'est pas une preuve : quand
# un serveur traite plusieurs requêtes ensemble, il additionne les mêmes nombres dans un autre ordre, l'arrondi change, et
# deux choix presque à égalité peuvent s'échanger. Cela s'observe sur de vrais serveurs, même à température nulle
# ([vLLM, fil 5898](https://github.com/vllm-project/vllm/issues/5898),
# [fil 23138](https://github.com/vllm-project/vllm/issues/23138)). Répéter une même réponse ne la rend pas plus juste non plus.

# %% [markdown]
# ## 7. Deux outils : l'intervalle de Wilson et le kappa
#
# Six bonnes réponses sur six, est-ce un juge parfait ? Un juge juste sept fois sur dix y arrive aussi, parfois.
# L'**intervalle de Wilson** dit quelles proportions restent plausibles après $s$ succès sur $n$ essais. Avec
# $\hat p = s/n$ et $z = 1{,}96$ :
#
# $$\frac{\hat p + \frac{z^2}{2n} \pm z\sqrt{\frac{\hat p(1-\hat p)}{n} + \frac{z^2}{4n^2}}}{1 + \frac{z^2}{n}}$$
#
# Il reste large quand tous les essais réussissent, là où la formule usuelle donnerait un intervalle de largeur
# nulle.

# %% couvre="S0-02"
def wilson_interval(successes, total, z=1.959964):
    if not isinstance(successes, Integral) or not isinstance(total, Integral):
        raise TypeError("les succès et le total sont des comptes : donnez deux entiers.")
    if total < 1:
        raise ValueError("aucun essai : une proportion sur 0 n'est pas définie ; donnez un total d'au moins 1.")
    if not 0 <= successes <= total:
        raise ValueError(f"{successes} succès sur {total} est impossible : donnez un compte entre 0 et {total}.")
    share = successes / total
    denominator = 1 + z**2 / total
    center = (share + z**2 / (2 * total)) / denominator
    half_width = z * math.sqrt(share * (1 - share) / total + z**2 / (4 * total**2)) / denominator
    return max(0.0, center - half_width), min(1.0, center + half_width)


def with_interval(successes, total):
    low, high = wilson_interval(successes, total)
    return f"{successes}/{total} = {successes / total:.3f}  Wilson 95 % [{low:.3f}, {high:.3f}]"


for successes, total in ((6, 6), (12, 12), (0, 6), (10, 10), (18, 20)):
    print(with_interval(successes, total))

# %% [markdown]
# **Lecture du résultat.** Avec 6 succès sur 6, une exactitude de 0,610 reste plausible ; avec 12 sur 12, le plancher monte à
# 0,758. Le cas 0 sur 6 est le miroir du premier : jusqu'à 0,390. Sur 20 essais dont 18 réussis, l'intervalle va de
# 0,699 à 0,972. Un « 100 % » sans effectif ne veut rien dire.

# %% [markdown]
# L'**exactitude** ne suffit pas. Si la bonne réponse est toujours la première, un juge qui répond toujours
# « A » a 100 %. Le **kappa de Cohen** retire l'accord que deux répondants auraient par hasard, avec leurs
# propres fréquences de réponses :
#
# $$\kappa = \frac{p_o - p_e}{1 - p_e}$$
#
# où $p_o$ est l'accord observé et $p_e$ l'accord attendu du hasard. Vérifions sur un cas fait à la main : vingt
# réponses notées par une personne (seize « r », quatre « e ») et par un juge (dix-huit « r », deux « e »), dix-huit
# accords. En effectifs : $(20 \times 18 - 296)/(20^2 - 296) = 64/104$.

# %%
def cohen_kappa(labels_a, labels_b):
    if len(labels_a) != len(labels_b):
        raise ValueError(f"{len(labels_a)} étiquettes d'un côté et {len(labels_b)} de l'autre : "
                         "donnez une étiquette de chaque juge par exemple.")
    if len(labels_a) == 0:
        raise ValueError("aucune étiquette : l'accord n'est pas défini ; donnez au moins un exemple.")
    total = len(labels_a)
    agreements = sum(a == b for a, b in zip(labels_a, labels_b))
    counts_a, counts_b = Counter(labels_a), Counter(labels_b)
    chance = sum(counts_a[label] * counts_b[label] for label in counts_a)
    if chance == total**2:
        return math.nan
    return (total * agreements - chance) / (total**2 - chance)


person, machine = "rrrrrerrrrrerrrerrre", "rrrrrrrrrrrerrrrrrre"
print(f"kappa du cas fait à la main : {cohen_kappa(person, machine):.4f} (64/104 = {64 / 104:.4f})")
print(f"juge constant « r » contre la personne : {cohen_kappa(person, 'r' * 20):.4f}")
print(f"deux juges constants : {cohen_kappa('r' * 20, 'r' * 20)}")

# %% [markdown]
# **Lecture du résultat.** Le kappa du cas fait à la main vaut 0,6154, comme le calcul en effectifs. Un juge qui répond
# toujours « r » a raison chaque fois que la personne dit « r », et son kappa est nul : 0,0000. Deux juges constants et
# identiques donnent `nan` : l'accord observé et l'accord du hasard sont totaux tous deux, et la formule divise
# zéro par zéro. Écrire « accord parfait » serait une invention.

# %% [markdown] couvre="S0-26 S3-16"
# Quatre biais reviennent dans la littérature, et chacun a son garde-fou :
#
# | biais | ce que le juge préfère | garde-fou |
# |---|---|---|
# | position | une place, quel que soit le texte | les deux ordres, toujours |
# | longueur (verbosité) | le texte le plus long | des paires de même valeur, aux deux places |
# | style | le ton assuré, les listes, la mise en forme | une grille de critères |
# | auto-préférence | ses propres textes, ou ceux qui leur ressemblent | un juge d'une autre famille |
#
# S'y ajoutent des précautions générales : température 0, plusieurs tirages, et la mesure de l'accord avec des
# cas dont on connaît la réponse. Les deux premiers biais se mesurent ici.

# %% [markdown]
# ## 8. Le biais de position
#
# Nous posons chaque paire **deux fois** : `a` en premier, puis `b` en premier. Le verdict « A » désigne une
# **place**, pas un texte : au second passage, « A » veut dire le texte `b`. On rapporte donc les résultats deux
# fois, par place et par texte.

# %%
TEXT_SHOWN = ({"A": "a", "B": "b"}, {"A": "b", "B": "a"})  # passage 1, passage 2


def ask_both_orders(items, **options):
    requests = []
    for item in items:
        requests.append(pairwise_request(item["question"], item["a"], item["b"], **options))
        requests.append(pairwise_request(item["question"], item["b"], item["a"], **options))
    replies = judge.ask_all(client.chat.completions.create, requests)
    return list(zip(replies[0::2], replies[1::2]))


def slots(passes):
    return [[read_choice(reply.choices[0].message.content) for reply in couple] for couple in passes]


direct = ask_both_orders(items)
for item, couple in list(zip(items, slots(direct)))[:6]:
    texts = [TEXT_SHOWN[k].get(slot, "illisible") for k, slot in enumerate(couple)]
    print(f"{item['id']}  places : {couple}  textes : {texts}  juste : {item['truth']}")

# %% couvre="S0-30 E-02 S0-46"
def report(items, passes):
    verdicts = slots(passes)
    slot_of_truth = [["A", "B"] if item["truth"] == "a" else ["B", "A"] for item in items]
    calls = [(slot, truth) for couple, truths in zip(verdicts, slot_of_truth) for slot, truth in zip(couple, truths)]
    print("réponses par place :", {slot: sum(v == slot for v, _ in calls) for slot in ("A", "B", "illisible")})
    for slot in "AB":
        hits = [verdict == truth for verdict, truth in calls if truth == slot]
        print(f"  juste quand la vérité est en {slot} : {with_interval(sum(hits), len(hits))}")
    print(f"  exactitude sur {len(calls)} appels : {sum(v == t for v, t in calls) / len(calls):.3f}"
          f"   kappa avec la place de la vérité : {cohen_kappa(*zip(*calls)):.3f}")
    texts = [tuple(TEXT_SHOWN[k].get(slot) for k, slot in enumerate(couple)) for couple in verdicts]
    stable = [x is not None and x == y for x, y in texts]
    unstable = Counter(couple[0] for couple, kept in zip(verdicts, stable) if not kept and couple[0] == couple[1])
    right = sum(s and x == item["truth"] for s, (x, _), item in zip(stable, texts, items))
    print(f"par texte : {right} paires justes deux fois, {sum(stable) - right} fausses deux fois, "
          f"{len(items) - sum(stable)} instables (toujours A : {unstable['A']}, toujours B : {unstable['B']})")
    print(f"  justes deux fois : {with_interval(right, len(items))}")
    print(f"  taux de renversement : {with_interval(len(items) - sum(stable), len(items))}")


report(items, direct)
print("Un juge qui répondrait toujours A aurait :")
print(f"  renversements : {with_interval(12, 12)} sur 12 paires, exactitude 0.500, kappa 0")

# %% [markdown] couvre="E-02"
# **Lecture du résultat.** Ce juge est **presque une constante** : il répond A 44 fois sur 48. Il a raison 0,875 du temps
# quand la vérité est en A, et 0,042 quand elle est en B : c'est la place qui décide. Son exactitude est de 0,458, son kappa
# de −0,083 : pas mieux que le hasard. Par texte, aucune paire n'est jugée juste dans les deux ordres (0 sur 24), et 22 sont
# instables. Ces renversements pourraient venir d'un juge indécis ; le compte par place répond : 21 fois A deux fois de
# suite, contre 1 fois B. Ne disons pas « le juge préfère Lima » ; disons « le juge préfère la première place ».
# Un juge toujours A aurait 12 renversements sur 12 paires ; il aurait pourtant l'air parfait si la vérité était toujours en A.

# %% [markdown]
# ### Une seconde consigne
#
# Le résultat dépend-il de la formulation ? Nous reposons les mêmes questions autrement. Les deux consignes ont été
# écrites avant la mesure, et les deux sont rapportées : garder la meilleure après coup flatterait le juge.

# %%
EXAM_PROMPT = (
    "Vous corrigez un examen. Une seule des deux réponses est juste.\n\n"
    "Question : {question}\n"
    "[A] {first}\n"
    "[B] {second}\n\n"
    "Donnez la lettre de la réponse juste."
)
exam = ask_both_orders(items, prompt=EXAM_PROMPT)
report(items, exam)
same = sum(x == y for u, v in zip(slots(direct), slots(exam)) for x, y in zip(u, v))
pooled = [[slot for couple in slots(passes) for slot in couple] for passes in (direct, exam)]
print(f"les deux consignes donnent la même lettre sur {same} appels sur {2 * len(items)} ; "
      f"kappa {cohen_kappa(*pooled):.3f}")

# %% [markdown]
# **Lecture du résultat.** La seconde consigne atténue le penchant pour A (36 réponses sur 48) sans rendre le juge utile :
# exactitude 0,500, kappa 0,000, 22 paires instables, et 1 seule paire juste dans les deux ordres. Les deux consignes
# s'accordent sur 40 appels sur 48, ce qui semble beaucoup ; mais deux juges qui disent souvent A s'accordent sans
# regarder les textes, et le kappa entre elles n'est que de 0,429. Changer la consigne change le verdict : on la
# rapporte avec le résultat.

# %% [markdown]
# ### Les marges, paire par paire
#
# La lettre cache l'essentiel. Traçons les marges des deux passages.

# %%
def margins(passes):
    """Marge de chaque paire, la vérité montrée en premier puis en second."""
    by_pass = [[margin(reply) for reply in couple] for couple in passes]
    return [m if item["truth"] == "a" else m[::-1] for item, m in zip(items, by_pass)]


tables = {"consigne directe": margins(direct), "consigne d'examen": margins(exam)}
fig, axes = plt.subplots(2, 1, sharex=True, figsize=(7.2, 5.6))
for ax, (title, table) in zip(axes, tables.items()):
    for k, label in enumerate(("vérité en A", "vérité en B")):
        ax.plot(range(1, 25), [row[k] for row in table], plots.MARKERS[k], color=plots.COLORS[k], label=label)
    ax.axhline(0, color="black", linewidth=1)
    ax.set(title=title, ylabel="marge A − B (nats)")
axes[0].legend(ncols=2)
axes[1].set(xlabel="paire", xticks=range(1, 25))
plots.show(fig, alt=(
    "Deux nuages de points, un par consigne : la marge A moins B de chaque paire, un rond quand la vérité est en A, "
    "un carré quand elle est en B. Ronds et carrés d'une même paire se recouvrent presque, le plus souvent au-dessus de zéro."
))
for title, table in tables.items():
    for k, label in enumerate(("vérité en A", "vérité en B")):
        print(f"{title}, {label} :", " ".join(f"{row[k]:.2f}" for row in table))

# %% [markdown]
# *Figure 1. Marge du juge pour chaque paire, selon la place de la réponse juste. Au-dessus de zéro, il répond A ;
# au-dessous, B. Un bon juge aurait ses ronds au-dessus et ses carrés au-dessous.*

# %% [markdown]
# ### Retirer la place : la moyenne des deux ordres
#
# Si la marge est la somme d'une préférence pour la place et d'une préférence pour le texte, la
# **demi-différence** des deux passages retire la place : on garde ce qui change quand on échange les textes.

# %%
for title, table in tables.items():
    place = [(first + second) / 2 for first, second in table]
    content = [(first - second) / 2 for first, second in table]
    right = sum(value > 0 for value in content)
    print(f"{title}")
    print(f"  part de la place  : moyenne {sum(place) / 24:+.3f}, de {min(place):+.2f} à {max(place):+.2f}")
    print(f"  part du texte     : moyenne {sum(content) / 24:+.3f}, de {min(content):+.2f} à {max(content):+.2f}")
    print(f"  texte juste préféré après correction : {with_interval(right, 24)}")

# %% [markdown]
# **Lecture du résultat.** Ronds et carrés se touchent : la marge change beaucoup d'une question à l'autre, et presque pas
# quand on échange les réponses. La part de la place va jusqu'à +1,59 avec la consigne directe, celle du texte ne
# dépasse pas +0,27. Après correction, le texte juste l'emporte 15 fois sur 24, puis 16 fois sur 24 avec l'autre
# consigne : les intervalles [0,427 ; 0,788] et [0,467 ; 0,820] contiennent 0,5, le hasard. Corriger la place a retiré un
# biais ; cela n'a pas créé de savoir.

# %% [markdown]
# ## 9. Le biais de longueur
#
# On dit qu'un juge préfère les réponses longues. Pour le voir, il faut des réponses de **même valeur** et de
# longueurs différentes, montrées aux **deux places**. Si la courte est toujours en premier, un juge qui répond
# toujours « A » semble aimer la brièveté, et un juge qui répond toujours « B » semble aimer la longueur : la
# mesure ne dit rien de la longueur.

# %% couvre="S0-31"
lengths = json.loads((DATA / "longueurs.json").read_text(encoding="utf-8"))["paires"]
print(len(lengths), "paires ; par exemple :")
print("  courte :", lengths[0]["courte"])
print("  longue :", lengths[0]["longue"])

# %% couvre="S0-32 E-03"
length_items = [{"question": pair["question"], "a": pair["courte"], "b": pair["longue"]} for pair in lengths]
length_passes = ask_both_orders(length_items)
length_slots = slots(length_passes)
print("réponses par place :", dict(sorted(Counter(slot for couple in length_slots for slot in couple).items())))
long_second = sum(first == "B" for first, _ in length_slots)
long_first = sum(second == "A" for _, second in length_slots)
print(f"longue choisie quand elle est en B : {with_interval(long_second, 12)}")
print(f"longue choisie quand elle est en A : {with_interval(long_first, 12)}")
twice = sum(couple == ["B", "A"] for couple in length_slots)
print(f"longue choisie deux fois : {twice}, courte deux fois : {sum(c == ['A', 'B'] for c in length_slots)}, "
      f"instables : {sum(c[0] == c[1] for c in length_slots)}")
gaps = [(margin(second) - margin(first)) / 2 for first, second in length_passes]
print("part de la longueur dans la marge :", " ".join(f"{gap:+.2f}" for gap in gaps))
print(f"la longue gagne après correction de la place : {with_interval(sum(gap > 0 for gap in gaps), 12)}")
print(f"Avec la courte toujours en A, un juge « toujours A » donnerait, sur 6 paires : {with_interval(0, 6)}")

# %% [markdown] couvre="E-03"
# **Lecture du résultat.** La longue est choisie 1 fois sur 12 quand elle est en B et 11 fois sur 12 quand elle est en A. Seule
# la place explique ces deux nombres : les 12 paires sont instables. Une fois la place retirée, la longue gagne 7 fois sur 12,
# intervalle [0,320 ; 0,807], et la part de la longueur dans la marge va de −0,10 à +0,04. Sur ce juge, **aucun effet
# de la longueur n'est démontré**, ni dans un sens ni dans l'autre. Avec la courte toujours en A, nous aurions mesuré
# 0 sur 6, et cru à un goût pour la brièveté.

# %% [markdown]
# ## 10. La température
#
# Au-dessus de 0, le juge **tire** sa réponse : à température $T$, la probabilité de A devient
# $1/(1 + e^{-m/T})$, où $m$ est la marge. Un seul tirage par température ne montre rien. Nous prenons dix paires,
# dans les deux ordres, avec **trois tirages** à chacune des trois températures.

# %% couvre="S0-33 E-04"
TEMPERATURES, DRAWS = (0.0, 0.7, 1.2), 3
base = [(item, k, margin(direct[i][k])) for i, item in enumerate(items[:10]) for k in (0, 1)]
draws = {}
for temperature in TEMPERATURES:
    requests = [pairwise_request(item["question"], *((item["a"], item["b"]) if k == 0 else (item["b"], item["a"])),
                                 temperature) for item, k, _ in base for _ in range(DRAWS)]
    replies = judge.ask_all(client.chat.completions.create, requests)
    verdicts = [read_choice(reply.choices[0].message.content) for reply in replies]
    draws[temperature] = [verdicts[i:i + DRAWS] for i in range(0, len(verdicts), DRAWS)]
    if temperature == 0:
        zero_margins = [[margin(reply) for reply in replies[i:i + DRAWS]] for i in range(0, len(replies), DRAWS)]

for temperature, groups in draws.items():
    count_a = sum(group.count("A") for group in groups)
    expected = sum(3 / (1 + math.exp(-m / temperature)) if temperature else 3 * (m > 0) for _, _, m in base)
    unanimous = sum(len(set(group)) == 1 for group in groups)
    hits = sum(TEXT_SHOWN[k].get(v) == item["truth"] for (item, k, _), group in zip(base, groups) for v in group)
    agreement = cohen_kappa([g[0] for g in draws[0.0]], [g[1] for g in groups])
    print(f"T = {temperature} : A {count_a}/60 (attendu {expected:.1f}), trois tirages égaux {unanimous}/20, "
          f"justes {hits}/60, kappa avec T = 0 : {agreement:.3f}")
spread = max(max(group) - min(group) for group in zero_margins)
print(f"à T = 0, écart le plus grand entre les marges de trois tirages : {spread:.4f}")
print(f"Dix accords sur dix, même parfaits, laisseraient : {with_interval(10, 10)}")

# %% [markdown] couvre="E-04"
# **Lecture du résultat.** À T = 0, les 3 tirages sont toujours égaux et la marge ne bouge pas (écart 0,0000), même avec
# plusieurs requêtes en vol. À 0,7 et à 1,2, les 3 tirages ne s'accordent plus que sur 9 et 7 questions sur 20, et le compte
# de A suit la formule : 44 pour 42,3 attendus, 37 pour 37,9. La température ne fait donc que diluer la marge ; elle
# n'apporte aucune information : 27, 34 et 33 réponses justes sur 60, autour de la moitié. Le kappa avec les verdicts
# à T = 0 (0,138 et 0,385) montre un juge qui ne s'accorde guère avec lui-même. Un accord de 10 sur 10 sur un seul
# tirage n'aurait pas montré un juge sûr de lui : un juge constant le donne aussi.

# %% [markdown]
# ## 11. Les égalités
#
# Un juge honnête doit pouvoir dire « les deux se valent ». Nous ajoutons un choix C, et un **témoin** dont la
# réponse est connue : la même réponse aux deux places.

# %%
TIE_PROMPT = PAIRWISE_PROMPT.replace(
    "Répondez par une seule lettre, A ou B.", "Répondez par une seule lettre : A, B, ou C si les deux se valent."
)
groups = {
    "deux fois la même réponse": [pairwise_request(p["question"], p["bonne"], p["bonne"], prompt=TIE_PROMPT,
                                                   choices=("A", "B", "C")) for p in pairs[:12]],
    "une juste, une fausse": [pairwise_request(item["question"], item["a"], item["b"], prompt=TIE_PROMPT,
                                               choices=("A", "B", "C")) for item in items[:12]],
}
for name, requests in groups.items():
    replies = judge.ask_all(client.chat.completions.create, requests)
    verdicts = [read_choice(reply.choices[0].message.content, ("A", "B", "C")) for reply in replies]
    mean = {c: sum(math.exp(choice_logprobs(r, ("A", "B", "C"))[c]) for r in replies) / len(replies) for c in "ABC"}
    print(f"{name:<27}", {c: verdicts.count(c) for c in "ABC"},
          " probabilité moyenne :", " ".join(f"{c} {value:.3f}" for c, value in mean.items()))

# %% [markdown]
# **Lecture du résultat.** Même devant deux réponses **identiques**, le juge répond A 12 fois sur 12, et jamais C. Le choix
# existait, sa probabilité moyenne est de 0,290 ; elle est de 0,303 quand une réponse est fausse : le juge ne distingue
# pas une égalité d'une différence. Ce témoin ne demande aucune annotation ; il montre le biais de position tout seul.

# %% [markdown]
# ## 12. Une grille, une justification, une marque
#
# Les bonnes pratiques recommandent de donner au juge une **grille** de critères et de lui faire écrire sa
# justification **avant** le verdict, à marquer sans ambiguïté. Voici une telle consigne. La réponse est un texte
# libre de cent vingt jetons au plus ; une réponse coupée est illisible, quoi qu'elle contienne.
#
# La grille vient en tête, avant la question. Ce début est commun à toutes les requêtes : un serveur qui garde les
# préfixes, comme vLLM et bien des API, ne le calcule qu'une fois. Déplacée de la fin vers le début, une consigne
# courte prend un tiers de temps en moins ici (`bench/juge.py`) ; mais c'est une autre consigne, dont les verdicts se
# contrôlent à leur tour.

# %% couvre="S3-17"
RUBRIC_PROMPT = (
    "Vous comparez deux réponses à une question.\n"
    "Critères, par ordre d'importance : 1. l'exactitude ; 2. la réponse à la question posée ; 3. la clarté.\n"
    "La longueur et l'ordre des réponses ne comptent pas.\n\n"
    "Question : {question}\n\n"
    "Réponse A : {first}\n\n"
    "Réponse B : {second}\n\n"
    "Écrivez d'abord une phrase de justification. Puis écrivez, seul sur la dernière ligne, votre verdict : "
    "[[A]], [[B]] ou [[Égalité]]."
)


def read_free(reply):
    cut = reply.choices[0].finish_reason == "length"
    return "illisible" if cut else read_verdict(reply.choices[0].message.content)


rubric = [reply for couple in ask_both_orders(items[:4], prompt=RUBRIC_PROMPT, choices=None, max_tokens=120)
          for reply in couple]
print("verdicts :", dict(Counter(map(read_free, rubric))))
print("coupées :", sum(reply.choices[0].finish_reason == "length" for reply in rubric), "sur", len(rubric))
for reply in rubric[:2]:
    print(repr(reply.choices[0].message.content[:180]))

# %% [markdown]
# **Lecture du résultat.** Les 8 réponses sont illisibles, et 6 sur 8 sont coupées par la limite de longueur. Le modèle répète
# des morceaux de la consigne. La seconde recopie une phrase de la grille, ce qui n'est pas l'appliquer.
# Une bonne grille suppose un juge capable de la suivre ; le taux d'illisibles se vérifie avant tout le reste.

# %% [markdown] couvre="S0-34 E-04b E-33"
# ## 13. Un juge local contre un juge d'API
#
# On compare souvent un petit juge local à un grand juge d'API sur quelques paires, et l'on conclut de leur accord
# que le petit suffit. Deux pièges : si la bonne réponse est toujours en A, un juge qui répond toujours A
# s'accorde avec un juge parfait ; et deux températures différentes comparent aussi deux réglages. Il faut les
# mêmes requêtes, la même température, la vérité aux deux places, et un kappa.
#
# Cette leçon n'interroge aucune API. Chez vous, avec une clé et `COURS_JUGE_API=1`, ce code le fait :
#
# ```python
# import os
# from openai import OpenAI
#
# def ask_api(items):
#     if os.environ.get("COURS_JUGE_API") != "1":
#         raise RuntimeError("Aucune API n'est interrogée sans COURS_JUGE_API=1 : réglez cette variable et la clé.")
#     api = OpenAI(api_key=os.environ["COURS_JUGE_API_CLE"], base_url=os.environ.get("COURS_JUGE_API_URL"))
#     verdicts = []
#     for item in items:
#         for first, second in ((item["a"], item["b"]), (item["b"], item["a"])):
#             request = pairwise_request(item["question"], first, second, prompt=TAG_PROMPT, choices=None,
#                                        model=os.environ["COURS_JUGE_API_MODELE"], max_tokens=400)
#             verdicts.append(read_free(api.chat.completions.create(**request)))
#     return verdicts  # à comparer à ceux du juge local par cohen_kappa, place par place
# ```
#
# La réponse est libre, car toutes les API n'acceptent pas `structured_outputs`. Le budget est large : un modèle
# qui réfléchit avant de répondre épuise seize jetons sans rien dire, et certaines API veulent
# `max_completion_tokens` au lieu de `max_tokens`.

# %% couvre="S0-34 E-04b"
print("Aucune API n'a été interrogée : les réponses de cette leçon viennent toutes du juge local.")
print(f"Six accords sur six entre deux juges laisseraient : {with_interval(6, 6)}")

# %% [markdown] couvre="E-04b"
# **Lecture du résultat.** Aucun nombre de cette leçon ne compare un juge local à un juge d'API. Et 6 accords sur 6
# laisseraient place à un accord véritable de 0,610 : trop peu pour écrire que le petit juge suffit.

# %% [markdown]
# ## 14. Le même modèle, lu par la vraisemblance
#
# Le juge a répondu à une question **sur** des réponses. Posons-lui la question autrement : quelle réponse ce
# modèle trouve-t-il la plus **probable** après la question ? C'est la log-probabilité moyenne des jetons de la
# réponse, celle de la [leçon 03](03_perplexite.ipynb). Il n'y a plus ni place, ni étiquette, ni lettre à lire.
#
# Pour ne compter que les jetons de la réponse, nous demandons aussi le début seul : ses jetons sont les premiers
# de la suite, et nous les retirons.

# %%
def answer_logprobs(cases, template):
    """Pour chaque cas, les log-probabilités des jetons de la réponse juste, puis de la fausse."""
    starts = [template.format(question=case["question"]) for case in cases]
    texts = [start + ending for start, case in zip(starts, cases)
             for ending in ("", " " + case["bonne"], " " + case["mauvaise"])]
    replies = judge.ask_all(client.completions.create, map(scoring_request, texts))
    scored = [token_logprobs(reply) for reply in replies]
    triples = list(zip(scored[0::3], scored[1::3], scored[2::3]))
    shift = max(abs(x - y) for start, *wholes in triples for whole in wholes for x, y in zip(start[1:], whole[1:]))
    print(f"le début, seul ou suivi d'une réponse, est noté pareil : écart le plus grand {shift:.3f}")
    return [(good[len(start):], bad[len(start):]) for start, good, bad in triples]


def mean(values):
    return sum(values) / len(values)


french = answer_logprobs(pairs, "Question : {question}\nRéponse :")
for pair, (good, bad) in list(zip(pairs, french))[:4]:
    print(f"{pair['id']}  {pair['bonne']} : {mean(good):.2f} (jetons : {len(good)})   "
          f"{pair['mauvaise']} : {mean(bad):.2f} (jetons : {len(bad)})")
for name, score in (("moyenne par jeton", mean), ("somme", sum)):
    print(f"{name:<18} juste préférée : {with_interval(sum(score(good) > score(bad) for good, bad in french), 24)}")

# %% [markdown]
# **Lecture du résultat.** Lu en français par la vraisemblance, le modèle préfère la réponse juste 14 fois sur 24 en moyenne
# par jeton, 15 fois sur 24 en somme. Les intervalles [0,388 ; 0,755] et [0,427 ; 0,788] contiennent le hasard. Changer
# de lecture n'a pas suffi. Les quatre exemples montrent aussi un piège : « Vénus », faite de 3 jetons, a une moyenne de
# −5,42, bien meilleure que « Mars », 1 jeton, à −12,84, car la fin d'un mot commencé est facile à prédire.

# %% [markdown]
# ### Le modèle sait-il la réponse, dans une autre langue ?
#
# Deux causes restent possibles : la lecture est mauvaise, ou le modèle ne sait pas. Ce petit modèle a surtout lu
# de l'anglais. Nous traduisons donc les vingt-quatre paires, et nous refaisons les **deux** lectures : la
# comparaison par paire, dans les deux ordres, et la vraisemblance. Disons-le franchement : cette mesure a été décidée
# après avoir vu la précédente.

# %%
english_pairs = [pair["anglais"] for pair in pairs]
english_items = [{"question": case["question"], "a": case[a], "b": case[b], "truth": item["truth"]}
                 for item, case in zip(items, english_pairs)
                 for a, b in [("bonne", "mauvaise") if item["truth"] == "a" else ("mauvaise", "bonne")]]
ENGLISH_PROMPT = (
    "Question: {question}\n\n"
    "Answer A: {first}\n"
    "Answer B: {second}\n\n"
    "Which answer is correct? Reply with a single letter, A or B."
)
english_passes = ask_both_orders(english_items, prompt=ENGLISH_PROMPT)
report(english_items, english_passes)
english_margins = [[margin(reply) for reply in couple] for couple in english_passes]
content = [(m1 - m2) / 2 if item["truth"] == "a" else (m2 - m1) / 2
           for item, (m1, m2) in zip(english_items, english_margins)]
print(f"après correction de la place : {with_interval(sum(value > 0 for value in content), 24)}")

# %%
english = answer_logprobs(english_pairs, "Question: {question}\nAnswer:")
for name, score in (("moyenne par jeton", mean), ("somme", sum)):
    print(f"{name:<18} juste préférée : {with_interval(sum(score(good) > score(bad) for good, bad in english), 24)}")

# %% [markdown]
# **Lecture du résultat.** En anglais, le juge par paire est une **constante exacte** : A 48 fois sur 48, exactitude 0,500,
# kappa 0,000, les 24 paires instables. Le **même modèle**, sur les **mêmes paires**, lu par la vraisemblance, préfère la réponse
# juste 22 fois sur 24 en moyenne par jeton, et 24 fois sur 24 en somme, intervalle [0,862 ; 1,000]. Il sait donc, en
# anglais ; il ne sait pas **désigner**. Même en corrigeant la place, sa comparaison n'atteint que 16 sur 24. En français, il
# ne sait pas, et aucune lecture n'y change rien. Ces questions sont faciles et leurs réponses de même longueur : la vraisemblance
# serait moins flatteuse sur des textes longs, où elle récompense le banal.

# %%
fig, ax = plt.subplots()
for k, (label, table) in enumerate((("français", french), ("anglais", english))):
    gaps = [mean(good) - mean(bad) for good, bad in table]
    ax.plot(range(1, 25), gaps, plots.MARKERS[k], color=plots.COLORS[k], label=label)
    print(f"{label} :", " ".join(f"{gap:+.1f}" for gap in gaps))
ax.axhline(0, color="black", linewidth=1)
ax.set(xlabel="paire", ylabel="juste − fausse (nats par jeton)", xticks=range(1, 25))
ax.legend(ncols=2)
plots.show(fig, alt=(
    "Écart de log-probabilité moyenne entre la réponse juste et la fausse, pour les vingt-quatre paires : des ronds "
    "pour le français, dispersés de part et d'autre de zéro, et des carrés pour l'anglais, presque tous au-dessus de zéro."
))

# %% [markdown]
# *Figure 2. Écart de vraisemblance entre la réponse juste et la fausse. Au-dessus de zéro, le modèle trouve la
# réponse juste plus probable. Ronds : français ; carrés : anglais.*

# %% [markdown] couvre="E-20 E-31 E-32"
# ## 15. Ce que la littérature établit, et ce qu'elle n'établit pas
#
# - **Auto-préférence.** [Zheng et al. (2023)](https://arxiv.org/abs/2306.05685) observent que GPT-4 se favorise
#   de 10 % et Claude de 25 %, GPT-3.5 non, et concluent qu'ils *ne peuvent pas trancher* : les écarts sont
#   petits et les données peu nombreuses. Des mesures plus directes sont venues ensuite :
#   [Panickssery et al. (2024)](https://arxiv.org/abs/2404.13076) relient l'auto-préférence à la capacité de
#   reconnaître ses propres textes ; [Wataoka et al. (2024)](https://arxiv.org/abs/2410.21819), à la faible
#   perplexité de ces textes. Notre section 14 montre pourquoi l'idée est plausible : un modèle préfère ce
#   qu'il trouve probable.
# - **Comparer ou noter ?** « La comparaison par paire est plus fiable » est discuté :
#   [Jeong et al. (2024)](https://arxiv.org/abs/2406.12319) mesurent qu'elle amplifie l'attrait de la longueur et
#   du ton, alors que la note directe juge chaque texte seul. Le biais de position, lui, n'existe qu'en
#   comparaison.
# - **« Plus de 80 % d'accord avec les humains »** : chez Zheng et al., 85 % entre GPT-4 et les experts au premier
#   tour, mais **hors égalités** ; avec les égalités, 66 %. Les humains entre eux : 81 % et 63 %.
# - **Les humains aussi ont un biais de position** : dans les votes de
#   [LLMFAO (Ustalov, 2023)](https://github.com/dustalov/llmfao), ils choisissent la réponse de gauche 53,3 % du temps.

# %% [markdown] couvre="S0-35"
# ## 16. Placer un juge dans une chaîne d'évaluation
#
# Une architecture courante a **deux étages** : un juge local, gratuit, filtre les cas faciles ; un juge plus
# cher, ou une personne, arbitre ceux où le premier hésite ou se contredit. Elle suppose que le premier étage
# sache dire qu'il hésite : deux ordres en désaccord, une marge faible, « illisible ». Un juge constant, lui, ne
# change jamais d'avis d'un tirage à l'autre et ne vaut rien : on vérifie le premier étage sur des cas connus, étiquetés des deux
# façons.
#
# La **loi de Goodhart** s'applique aux juges : quand un score devient un but, on finit par optimiser ce que le
# juge aime (la longueur, le ton, la place) plutôt que ce qu'il devait mesurer. Un juge qui sert à choisir des modèles
# se réétalonne régulièrement, sur des cas qu'aucun modèle n'a vus.

# %%
print(judge.source(client))

# %% [markdown] couvre="S0-47"
# ## À retenir
#
# - Une réponse libre se lit par une règle stricte ; ce qu'elle ne peut pas lire est **illisible**, et se compte.
# - Un choix contraint supprime l'illisible, et donne les probabilités. Il ne rend pas le juge meilleur.
# - On demande toujours **les deux ordres**, on contrebalance la vérité, et l'on rapporte par place et par texte.
# - Un taux de renversement élevé montre une incohérence ; le compte par place dit si c'est un biais de position.
# - Un accord élevé, à lui seul, ne dit rien : un juge constant s'accorde toujours avec lui-même, et même avec un
#   juge parfait si la bonne réponse est toujours à la même place. D'où le kappa, et le contrebalancement.
# - Un résultat se donne avec son effectif et son intervalle ; sur six cas, presque tout reste plausible.
# - Juger est une tâche de plus que savoir : un modèle peut trouver la bonne réponse plus probable, et ne pas
#   savoir la désigner.

# %% [markdown]
# ## Questions
#
# **1.** Un juge préfère la réponse juste dans six paires sur six. La réponse juste était toujours montrée en
# premier. Que sait-on de ce juge ?
#
# <details><summary>Réponse</summary>
#
# Rien encore. Un juge qui répond toujours « A » donne exactement ce résultat. Il faut échanger les places ; et
# même alors, six sur six laisse plausible une exactitude de 61 %.
#
# </details>
#
# **2.** Un juge répond « illisible » aux deux ordres d'une paire. Est-il stable ?
#
# <details><summary>Réponse</summary>
#
# Non. Deux absences de verdict ne font pas un accord : la paire n'a pas de gagnant, et elle est comptée à part.
#
# </details>
#
# **3.** Au premier passage (`a` en premier), le juge répond A avec une marge de 1,2 ; au second (`b` en premier), il
# répond A avec une marge de 0,8. Quel texte préfère-t-il, une fois la place retirée ?
#
# <details><summary>Réponse</summary>
#
# Le texte `a`, un peu : la part du texte est (1,2 − 0,8)/2 = 0,2 en faveur de `a`, et la part de la place
# (1,2 + 0,8)/2 = 1,0 en faveur de A. La place compte cinq fois plus que le texte.
#
# </details>

# %% [markdown] couvre="E-09"
# ## Pour aller plus loin
#
# - Exercice `ex03_juge_symetrique` : un juge qui pose les deux ordres et sait dire « INSTABLE ». Tant qu'elle n'est pas
#   écrite, la fonction lève « non implémenté » : un compte de zéro paire instable serait un résultat inventé.
# - Rejouez la section 8 avec un modèle plus grand (le README dit comment brancher un autre serveur), et comparez
#   la part de la place à celle du texte.
# - Ajoutez des paires **difficiles**, où la fausse réponse est tentante : la vraisemblance anglaise tient-elle ?
# - [LLMBar, Zeng et al. (2023)](https://arxiv.org/abs/2310.07641) : un benchmark où un juge connu, ChatGPT,
#   fait moins bien que le hasard sur les cas conçus pour le piéger.

# %% [markdown] couvre="S0-48 E-11"
# ## Sources
#
# - [Zheng et al. (2023), « Judging LLM-as-a-Judge with MT-Bench and Chatbot Arena »](https://arxiv.org/abs/2306.05685),
#   NeurIPS *Datasets and Benchmarks*.
# - [Panickssery, Bowman et Feng (2024), « LLM Evaluators Recognize and Favor Their Own Generations »](https://arxiv.org/abs/2404.13076).
# - [Wataoka et al. (2024), « Self-Preference Bias in LLM-as-a-Judge »](https://arxiv.org/abs/2410.21819).
# - [Jeong et al. (2024), « The Comparative Trap: Pairwise Comparisons Amplifies Biased Preferences of LLM Evaluators »](https://arxiv.org/abs/2406.12319).
# - [Kwon et al. (2023), « Efficient Memory Management for Large Language Model Serving with PagedAttention »](https://arxiv.org/abs/2309.06180) : vLLM.
# - Wilson (1927), « Probable Inference, the Law of Succession, and Statistical Inference », *JASA* 22 ; Cohen (1960),
#   « A Coefficient of Agreement for Nominal Scales », *Educational and Psychological Measurement* 20.
# - Les paires de questions sont l'œuvre des auteurs du cours (`helpers/donnees/LISEZMOI.md`).
