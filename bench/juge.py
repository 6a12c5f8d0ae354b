"""Le juge : les verdicts d'un vrai serveur vLLM, demandés à la façon du cours ou par la boucle ordinaire.

À la façon du cours : des requêtes en nombre borné, en vol ensemble, et un seul jeton, contraint (`ask_all`, `pairwise_request`).
La boucle ordinaire : un client openai, une requête après l'autre, seize jetons de texte libre, lus par `read_verdict`. Même
serveur et mêmes consignes ; chaque passage a son sel de cache : aucun ne profite des préfixes qu'un autre a calculés.

Un serveur qui garde les préfixes ne calcule qu'une fois le début commun des consignes : les mêmes mots sont donc mesurés dans
deux ordres, la consigne d'abord, ou le cas d'abord comme dans la leçon 04.

    python bench/juge.py        démarre le juge s'il ne tourne pas, et ne l'arrête que dans ce cas
"""

import inspect
import json
import os
import statistics
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import psutil
from openai import OpenAI, OpenAIError
from rich.console import Console

from autograder.settings import UsageError
from course import judge_server
from helpers import judge
from mesure import COMPLETE, note, paired, reached, timed

GOAL = 8  # fois moins de temps
IN_FLIGHT = inspect.signature(judge.ask_all).parameters["workers"].default
FREE_TOKENS = 16
ROUNDS = 5 if COMPLETE else 1  # réponses fausses mises en face de chaque réponse juste
CASE = "Question : {question}\n\nRéponse A : {first}\nRéponse B : {second}"
INSTRUCTION = "Quelle réponse est correcte ? Répondez par [[A]] ou par [[B]]."  # ce que `read_verdict` sait lire
PROMPTS = {"consigne d'abord": f"{INSTRUCTION}\n\n{CASE}", "consigne de la leçon 04": f"{CASE}\n\n{INSTRUCTION}"}
CACHE_COUNTERS = ("vllm:prefix_cache_queries_total", "vllm:prefix_cache_hits_total")

Case = tuple[str, str, str]  # question, réponse A, réponse B


@dataclass(frozen=True)
class Pass:
    """Un passage sur tous les cas : ses réponses, ses secondes par verdict et la part de ses consignes tirée du cache."""

    replies: list
    pace: float
    cached: float


def cases() -> list[Case]:
    """Les paires de la leçon 04, chacune dans les deux ordres.

    En version complète, chaque réponse juste affronte aussi les réponses fausses des quatre paires qui suivent la sienne.
    """
    path = Path(judge.__file__).parent / "donnees" / "paires.json"
    pairs = json.loads(path.read_text(encoding="utf-8"))["paires"]
    found = []
    for shift in range(ROUNDS):
        for pair, other in zip(pairs, pairs[shift:] + pairs[:shift]):
            good, bad = pair["bonne"], other["mauvaise"]
            found += [(pair["question"], good, bad), (pair["question"], bad, good)]
    return found


def compose(asked: list[Case], prompt: str, **options) -> list[dict]:
    """Requêtes d'un passage, avec un sel de cache (`cache_salt` de vLLM) qui n'est qu'à lui."""
    salt = {"cache_salt": uuid.uuid4().hex}
    requests = [judge.pairwise_request(*case, prompt=prompt, **options) for case in asked]
    return [request | {"extra_body": request.get("extra_body", {}) | salt} for request in requests]


def constrained(create: Callable, asked: list[Case], prompt: str, workers: int = IN_FLIGHT) -> Pass:
    """À la façon du cours : `workers` requêtes en vol, un jeton contraint."""
    return measured(lambda: judge.ask_all(create, compose(asked, prompt), workers=workers))


def plain(create: Callable, asked: list[Case], prompt: str) -> Pass:
    """La boucle ordinaire : une requête après l'autre, du texte libre."""
    return measured(lambda: [create(**request) for request in compose(asked, prompt, choices=None, max_tokens=FREE_TOKENS)])


def measured(action: Callable) -> Pass:
    before = cache_counters()
    seconds, replies = timed(action)
    tokens, found = (after - start for after, start in zip(cache_counters(), before))
    return Pass(replies, seconds / len(replies), found / tokens)


def cache_counters() -> tuple[float, ...]:
    """Jetons cherchés dans le cache de préfixes depuis le démarrage du serveur, et jetons trouvés."""
    with judge_server.LOCAL.open(judge_server.URL.removesuffix("/v1") + "/metrics", timeout=60) as reply:
        lines = reply.read().decode().splitlines()
    return tuple(sum(float(line.split()[-1]) for line in lines if line.startswith(name)) for name in CACHE_COUNTERS)


def busy_elsewhere() -> float:
    """Secondes de processeur prises par d'autres programmes que cette mesure et le juge, à une constante près."""
    mine = [psutil.Process()]
    if pid := judge_server.status().pid:
        mine += [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]
    everyone = psutil.cpu_times()
    return everyone.user + everyone.nice + everyone.system - sum(sum(process.cpu_times()[:2]) for process in mine)


def texts(replies: list) -> list[str]:
    """Texte de chaque réponse.

    Raises:
        SystemExit: il en manque un.
    """
    found = [reply.choices[0].message.content for reply in replies]
    if missing := found.count(None):
        raise SystemExit(f"{missing} réponses sans texte sur {len(found)} : la comparaison ne vaut rien.")
    return found


def letters(replies: list) -> list[str]:
    """Verdict de chaque réponse contrainte.

    Raises:
        SystemExit: une réponse n'est ni A ni B.
    """
    found = [judge.read_choice(text) for text in texts(replies)]
    if unreadable := found.count("illisible"):
        raise SystemExit(f"{unreadable} réponses contraintes sur {len(found)} ne sont ni A ni B : la comparaison ne vaut rien.")
    return found


def describe(rounds: list[tuple[Pass, Pass]], alone: Pass) -> None:
    """D'où vient le rapport : durée d'un verdict et part du cache, façon par façon."""
    ours, theirs = zip(*rounds)
    usages = [reply.usage for run in theirs for reply in run.replies]
    read, written = (statistics.mean(getattr(usage, f"{kind}_tokens") for usage in usages) for kind in ("prompt", "completion"))
    for label, runs in (
        (f"{IN_FLIGHT} en vol, un jeton contraint", ours),
        ("une en vol, un jeton contraint", [alone]),
        (f"une en vol, texte libre ({written:.1f} jetons en moyenne)", theirs),
    ):
        pace, cached = (statistics.median(getattr(run, name) for run in runs) for name in ("pace", "cached"))
        note(f"{label} : {pace:.3f} s par verdict ; consigne ({read:.0f} jetons) tirée à {cached:.0%} du cache du même passage")


def compare_readings(ours: Pass, theirs: Pass) -> None:
    """Ce que les textes libres disent, et s'ils le disent comme les verdicts contraints."""
    free = [judge.read_verdict(text) for text in texts(theirs.replies)]
    agreed = [verdict == letter for verdict, letter in zip(free, letters(ours.replies)) if verdict != "illisible"]
    note(f"verdicts lisibles : {len(free)} sur {len(free)} contraints, {len(agreed)} sur {len(free)} en texte libre, "
         f"dont {sum(agreed)} du même avis")  # fmt: skip


def compare_batches(alone: Pass, together: list[Pass]) -> None:
    """À température 0, un verdict dépend-il du nombre de requêtes en vol ?"""
    flips, gaps, margins = 0, [], []
    for run in together:
        flips += sum(x != y for x, y in zip(letters(alone.replies), letters(run.replies)))
        for one, other in zip(map(judge.choice_logprobs, alone.replies), map(judge.choice_logprobs, run.replies)):
            gaps.append(max(abs(one[letter] - other[letter]) for letter in "AB"))
            margins.append(abs(one["A"] - one["B"]))
    note(f"température 0, une ou {IN_FLIGHT} en vol : {flips} verdicts différents sur {len(gaps)}, log-probabilités à "
         f"{max(gaps):.1g} nat près ; la marge la plus faible est de {min(margins):.2g} nat")  # fmt: skip
    if max(gaps):
        note("l'écart vient de l'arrondi : un lot d'une autre taille additionne les mêmes nombres dans un autre ordre ; "
             "seul un verdict dont la marge est de cette taille peut changer")  # fmt: skip


@contextmanager
def running_judge() -> Iterator[None]:
    """Le juge du cours, démarré s'il ne tourne pas ; il n'est arrêté que dans ce cas.

    Raises:
        SystemExit: il ne démarre pas, ou une réponse manque.
    """
    console, already_running = Console(stderr=True), judge_server.status().models
    try:
        judge_server.start(console)
    except UsageError as error:
        raise SystemExit(str(error)) from None
    try:
        yield
    except OpenAIError as error:  # JudgeError en est une
        raise SystemExit(f"Une réponse manque, la comparaison ne vaut rien : {error}") from None
    finally:
        if not already_running:
            judge_server.stop(console)


def measure(name: str, prompt: str, asked: list[Case], ask: Callable, loop: Callable) -> None:
    """Les deux façons, avec une consigne ; d'où vient le rapport ; les verdicts dépendent-ils du nombre de requêtes en vol ?"""
    rounds = []

    def same(ours: Pass, theirs: Pass) -> None:
        if len(letters(ours.replies)) != len(texts(theirs.replies)):
            raise SystemExit("Les deux façons n'ont pas rendu autant de réponses : la comparaison ne vaut rien.")
        rounds.append((ours, theirs))

    busy = busy_elsewhere()
    elapsed, ratios = timed(partial(
        paired,
        f"juge, {name}, {len(asked)} verdicts : {IN_FLIGHT} en vol et un jeton contraint, contre la boucle ordinaire",
        partial(constrained, ask, asked, prompt),
        partial(plain, loop, asked, prompt),
        same=same,
    ))  # fmt: skip
    load = (busy_elsewhere() - busy) / elapsed
    note(f"objectif : {GOAL} fois moins de temps ; {reached(statistics.median(ratios) >= GOAL)}")
    note(f"d'autres programmes prenaient {load:.2f} cœur, or la boucle en souffre plus que les lots : "
         "le rapport vaut pour une machine au calme")  # fmt: skip
    alone = constrained(ask, asked, prompt, workers=1)
    describe(rounds, alone)
    compare_readings(*rounds[-1])
    compare_batches(alone, [ours for ours, _ in rounds])


def main() -> None:
    os.environ |= {"COURS_JUGE_MODE": "direct", "COURS_JUGE_URL": judge_server.URL}  # « direct » n'écrit aucun journal
    asked = cases()
    with running_judge():
        ask = judge.client("bench").chat.completions.create
        loop = OpenAI(base_url=judge_server.URL, api_key="sans-cle").chat.completions.create
        for name, prompt in PROMPTS.items():
            constrained(ask, asked[:IN_FLIGHT], prompt)  # les premières requêtes sont plus lentes : hors de la mesure
            plain(loop, asked[:1], prompt)
            measure(name, prompt, asked, ask, loop)


if __name__ == "__main__":
    main()
