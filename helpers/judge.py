"""Le juge du cours : un client `openai` ordinaire, au-dessus d'un journal de vraies réponses.

Quatre variables d'environnement le règlent : COURS_JUGE_MODE (rejeu, direct, enregistrement),
COURS_JUGE_URL, COURS_JUGE_MODELE et COURS_JUGE_CLE ; COURS_JUGE_JOURNAL change le dossier des journaux.
"""

import json
import math
import os
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx2
from openai import OpenAI

from helpers.journal import DRAW_HEADER, MODES, Journal, JournalTransport, JudgeError

__all__ = [
    "MODEL",
    "JudgeError",
    "ask_all",
    "choice_logprobs",
    "client",
    "pairwise_request",
    "read_choice",
    "read_verdict",
    "scoring_request",
    "source",
    "token_logprobs",
]

MODEL = os.environ.get("COURS_JUGE_MODELE", "SmolLM2-135M-Instruct-local")
DEFAULT_URL = "http://127.0.0.1:8185/v1"
JOURNAL_FOLDER = Path(__file__).parent / "donnees" / "journal"


def client(lesson: str, *, timeout: float = 120.0) -> OpenAI:
    """Client openai de la leçon, branché sur son journal selon COURS_JUGE_MODE.

    Args:
        lesson: nom de la leçon (« 04_juge_llm ») : celui de son journal.
        timeout: délai d'une réponse, en secondes.
    Raises:
        JudgeError: mode inconnu, ou journal abîmé.
    """
    mode = os.environ.get("COURS_JUGE_MODE", "rejeu")
    if mode not in MODES:
        raise JudgeError(f"COURS_JUGE_MODE vaut {mode!r}, mode inconnu : choisissez {', '.join(MODES)}.")
    url = os.environ.get("COURS_JUGE_URL", DEFAULT_URL)
    folder = Path(os.environ.get("COURS_JUGE_JOURNAL", JOURNAL_FOLDER))
    journal = Journal(folder / f"{lesson}.jsonl", repair=mode == "enregistrement")
    transport = JournalTransport(journal, mode, url)
    key = os.environ.get("COURS_JUGE_CLE") or "sans-cle"
    connection = OpenAI(
        base_url=url, api_key=key, timeout=timeout, max_retries=0, http_client=httpx2.Client(transport=transport)
    )
    connection.transport = transport
    return connection


def ask_all(create: Callable, requests: Iterable[dict], workers: int = 8) -> list:
    """Pose toutes les requêtes, au plus `workers` à la fois, et rend les réponses dans leur ordre.

    Une requête répétée dans le lot est un nouveau tirage : sa première apparition est le tirage 1.

    Args:
        create: `client.chat.completions.create` ou `client.completions.create`.
        requests: arguments nommés de chaque appel.
        workers: nombre de requêtes en vol.
    Raises:
        JudgeError: à la première requête sans réponse ; `replies` garde celles qui ont abouti (None ailleurs).
    """
    requests = list(requests)
    draws = Counter()
    with ThreadPoolExecutor(max_workers=workers) as pool:
        futures = []
        for request in requests:
            canonical = json.dumps(request, sort_keys=True)
            draws[canonical] += 1
            futures.append(pool.submit(create, **request, extra_headers={DRAW_HEADER: str(draws[canonical])}))
        try:
            return [future.result() for future in futures]
        except JudgeError as error:
            for future in futures:
                future.cancel()
            pool.shutdown(wait=True)
            failure = error
    replies = tuple(None if future.cancelled() or future.exception() else future.result() for future in futures)
    done = sum(reply is not None for reply in replies)
    error = JudgeError(f"{failure} ({done} réponse(s) sur {len(requests)} déjà obtenue(s))")
    error.replies = replies
    raise error from None


def source(connection: OpenAI) -> str:
    """Une phrase qui dit d'où viennent les verdicts que ce client a rendus.

    Args:
        connection: client rendu par `client`.
    """
    transport = connection.transport
    origin = {
        "rejeu": f"rejouées du journal {transport.journal.path.name}",
        "direct": f"demandées en direct à {transport.url}",
        "enregistrement": f"enregistrées dans {transport.journal.path.name}",
    }[transport.mode]
    models = ", ".join(sorted({entry.model for entry in transport.entries})) or "aucun"
    engines = ", ".join(sorted({entry.engine for entry in transport.entries})) or "aucun"
    return f"{len(transport.entries)} réponses {origin} ; modèle : {models} ; moteur : {engines}."


PAIRWISE_PROMPT = (
    "Question : {question}\n\n"
    "Réponse A : {first}\n"
    "Réponse B : {second}\n\n"
    "Quelle réponse est correcte ? Répondez par une seule lettre, A ou B."
)

VERDICT_TAGS = {"[[A]]": "A", "[[B]]": "B", "[[C]]": "EGALITE", "[[Égalité]]": "EGALITE"}


def pairwise_request(question: str, first: str, second: str, temperature: float = 0.0, *,
                     model: str = MODEL, prompt: str = PAIRWISE_PROMPT,
                     choices: tuple[str, ...] | None = ("A", "B"), max_tokens: int = 1) -> dict:
    """Compose la requête d'un jugement par paire.

    Avec `choices`, la réponse est contrainte : le serveur (vLLM) n'autorise que ces textes, et donne les
    log-probabilités des cinq premiers jetons candidats. Sans eux, c'est un texte libre, à lire par `read_verdict`.

    Args:
        question: question posée.
        first, second: réponses, montrées sous les étiquettes A et B.
        temperature: température du tirage ; 0 pour le jeton le plus probable.
        model: nom du modèle servi.
        prompt: modèle de texte qui contient les champs {question}, {first} et {second}.
        choices: textes permis, ou None pour un texte libre.
        max_tokens: longueur de la réponse, en jetons ; elle doit suffire au plus long des choix.
    Returns:
        les arguments nommés de `client.chat.completions.create`.
    Raises:
        TypeError: un texte n'est pas une chaîne.
        ValueError: un texte est vide.
    Source:
        Zheng et al. (2023), Judging LLM-as-a-Judge with MT-Bench and Chatbot Arena, section 3.
    """
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


def read_verdict(text: str | None) -> str:
    """Lit le verdict d'une réponse libre, sans jamais deviner.

    Règle stricte : les passages <think>…</think> sont retirés ; dans la dernière ligne non vide, une seule
    sorte de marque [[A]], [[B]], [[C]] ou [[Égalité]] (casse respectée) donne le verdict.

    Args:
        text: réponse du juge, ou None s'il n'a rien répondu.
    Returns:
        "A", "B", "EGALITE", ou "illisible" : aucune marque, marques contraires, réponse absente ou vide, réflexion
        mal fermée.
    Raises:
        TypeError: `text` n'est ni une chaîne ni None.
    """
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


def read_choice(text: str | None, choices: tuple[str, ...] = ("A", "B")) -> str:
    """Lit une réponse contrainte : le texte doit être exactement l'un des choix.

    On vérifie même quand le serveur a promis la contrainte : certains serveurs l'ignorent sans le dire.

    Args:
        text: réponse du juge, ou None s'il n'a rien répondu.
        choices: textes permis.
    Returns:
        le choix, ou "illisible".
    """
    return text if text in choices else "illisible"


def choice_logprobs(reply, choices: tuple[str, ...] = ("A", "B")) -> dict[str, float]:
    """Log-probabilité (nats) de chaque choix, lue au premier jeton de la réponse.

    Un choix coupé en plusieurs jetons peut commencer de plusieurs façons (« NO » ou « N ») : on somme les
    probabilités des premiers jetons qui y mènent.

    Args:
        reply: réponse de `client.chat.completions.create`, demandée avec logprobs=True.
        choices: textes permis.
    Returns:
        choix → log-probabilité ; -inf pour un choix absent des candidats, moins probable que tous ceux que le serveur
        a listés.
    Raises:
        ValueError: la réponse n'a pas de log-probabilités, ou un même jeton mène à deux choix.
    """
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


def scoring_request(text: str, *, model: str = MODEL) -> dict:
    """Compose la requête qui fait noter un texte par le modèle, jeton par jeton.

    Le modèle lit `text` tel quel, sans gabarit de conversation, et rend la log-probabilité de chacun de ses jetons.
    L'API oblige à produire un jeton : il est ignoré.

    Args:
        text: texte à noter.
        model: nom du modèle servi.
    Returns:
        les arguments nommés de `client.completions.create`.
    Raises:
        TypeError: le texte n'est pas une chaîne.
        ValueError: le texte est vide.
    Source:
        documentation de vLLM, paramètre `prompt_logprobs`.
    """
    if not isinstance(text, str):
        raise TypeError(f"Le texte doit être une chaîne, pas {type(text).__name__} ; donnez une phrase entière.")
    if not text:
        raise ValueError("Le texte est vide, rien à noter ; donnez au moins un mot.")
    return {
        "model": model,
        "prompt": text,
        "max_tokens": 1,
        "temperature": 0,
        "extra_body": {"prompt_logprobs": 0},
    }


def token_logprobs(reply) -> list[float | None]:
    """Log-probabilité (nats) de chaque jeton du texte envoyé par `scoring_request`.

    Args:
        reply: réponse de `client.completions.create`.
    Returns:
        une valeur par jeton ; la première est None : sans contexte, le modèle ne note pas le premier jeton.
    Raises:
        ValueError: le serveur n'a pas rendu `prompt_logprobs` (ce champ est propre à vLLM).
    """
    entries = getattr(reply.choices[0], "prompt_logprobs", None)
    if not entries:
        raise ValueError("La réponse n'a pas de prompt_logprobs ; interrogez vLLM avec scoring_request.")
    # Avec prompt_logprobs à 0, chaque position ne porte qu'un jeton : celui du texte.
    return [entry and next(iter(entry.values()))["logprob"] for entry in entries]
