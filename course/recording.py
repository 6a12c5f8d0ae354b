"""Enregistre les réponses du juge, et vérifie en direct que celles du journal tiennent encore."""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from rich.console import Console

from autograder.settings import UsageError
from course.lessons import LessonError, execute, find
from helpers.journal import Entry, Journal
from helpers.judge import JOURNAL_FOLDER

UNFINISHED = ".encours"
LOGPROB_TOLERANCE = 0.05  # nats
MIN_SAME_VERDICTS = 0.95
MIN_CLOSE_LOGPROBS = 0.90
LINE_SHIFT = 0.5  # nats : une ligne dont l'écart médian dépasse cela ne vient pas de ce modèle


def recorded_lessons(names: list[str] | None) -> list[Path]:
    """Leçons demandées qui interrogent le juge ; toutes celles qui l'interrogent, par défaut.

    Raises:
        UsageError: une leçon nommée n'interroge pas le juge.
    """
    texts = find(names)
    asking = [text for text in texts if "judge.client(" in text.read_text(encoding="utf-8")]
    if names and len(asking) < len(texts):
        silent = ", ".join(text.stem for text in texts if text not in asking)
        raise UsageError(f"Rien à enregistrer pour {silent} : cette leçon n'interroge pas le juge.")
    return asking


def record_lesson(text: Path, restart: bool, console: Console) -> LessonError | None:
    """Exécute la leçon en enregistrement ; ne remplace l'ancien journal qu'une fois la leçon entière.

    Un enregistrement interrompu reste dans `journal/.encours/` : le suivant reprend où il s'est arrêté.
    """
    folder = JOURNAL_FOLDER / UNFINISHED
    path = folder / f"{text.stem}.jsonl"
    if restart:
        path.unlink(missing_ok=True)
    elif path.exists():
        console.print(f"{text.stem} : reprise, {len(Journal(path, repair=True))} réponses déjà enregistrées.")
    names = ("COURS_JUGE_URL", "COURS_JUGE_MODELE", "COURS_JUGE_CLE")
    live = {name: os.environ[name] for name in names if name in os.environ}
    with console.status(f"{text.stem} : enregistrement…"):
        try:
            execute(text, live | {"COURS_JUGE_MODE": "enregistrement", "COURS_JUGE_JOURNAL": str(folder)})
        except LessonError as error:
            return error
    console.print(f"{text.stem} : {len(Journal(path))} réponses enregistrées.")
    path.replace(JOURNAL_FOLDER / path.name)
    if not any(folder.iterdir()):
        folder.rmdir()
    return None


def journals() -> list[Journal]:
    """Journaux du cours, dans l'ordre des leçons."""
    return [Journal(path) for path in sorted(JOURNAL_FOLDER.glob("*.jsonl"))]


def reproducible(entries: Iterable[Entry]) -> Iterator[Entry]:
    """Lignes qu'un même modèle doit rendre à l'identique : les requêtes à température 0."""
    return (entry for entry in entries if entry.request is not None and entry.request.get("temperature") == 0)


@dataclass(frozen=True)
class Comparison:
    """Ce que le serveur répond aujourd'hui, comparé au journal.

    Attributes:
        verdicts: une valeur par ligne : le texte rendu est-il le même ?
        gaps: écarts absolus des log-probabilités (nats), une liste par ligne.
        names: clé de chaque ligne, pour nommer celles qui diffèrent.
    """

    verdicts: list[bool]
    gaps: list[list[float]]
    names: list[str]

    @property
    def same_verdicts(self) -> float:
        """Part des verdicts inchangés."""
        return sum(self.verdicts) / len(self.verdicts)

    @property
    def close_logprobs(self) -> float:
        """Part des log-probabilités à moins de 0,05 nat de celles du journal."""
        gaps = [gap for line in self.gaps for gap in line]
        return sum(gap <= LOGPROB_TOLERANCE for gap in gaps) / len(gaps)

    @property
    def shifted(self) -> list[str]:
        """Lignes dont les log-probabilités ont toutes glissé : elles viennent d'un autre modèle, ou d'une main."""
        return [name for name, gaps in zip(self.names, self.gaps) if gaps and median(gaps) > LINE_SHIFT]

    def faults(self) -> list[str]:
        """Phrases qui disent en quoi le journal ne tient plus ; liste vide s'il tient."""
        faults = []
        if self.same_verdicts < MIN_SAME_VERDICTS:
            faults.append(f"seulement {self.same_verdicts:.1%} de verdicts inchangés (seuil {MIN_SAME_VERDICTS:.0%})")
        if self.close_logprobs < MIN_CLOSE_LOGPROBS:
            faults.append(f"seulement {self.close_logprobs:.1%} de log-probabilités proches (seuil {MIN_CLOSE_LOGPROBS:.0%})")
        faults += [f"log-probabilités de la ligne {name} toutes décalées de plus de {LINE_SHIFT} nat" for name in self.shifted]
        return faults


def compare(entries: list[Entry], replies: list[dict]) -> Comparison:
    """Compare ligne à ligne le journal et de nouvelles réponses (JSON de l'API) aux mêmes requêtes.

    Raises:
        ValueError: il manque une réponse, aucune ligne n'est à comparer, ou un autre modèle a répondu.
    """
    if not entries or len(entries) != len(replies):
        raise ValueError(f"Il faut une réponse par ligne : {len(entries)} lignes, {len(replies)} réponses.")
    others = {reply["model"] for entry, reply in zip(entries, replies) if reply["model"] != entry.model}
    if others:
        raise ValueError(f"Le serveur répond au nom d'un autre modèle ({', '.join(sorted(others))}) que le journal.")
    verdicts = [_text(entry.reply) == _text(reply) for entry, reply in zip(entries, replies)]
    gaps = [_gaps(_logprobs(entry.reply), _logprobs(reply)) for entry, reply in zip(entries, replies)]
    return Comparison(verdicts, gaps, [entry.key for entry in entries])


def _text(reply: dict) -> str | None:
    choice = reply["choices"][0]
    return choice["message"]["content"] if "message" in choice else choice["text"]


def _logprobs(reply: dict) -> dict[tuple, float]:
    """Log-probabilités d'une réponse, par position et token ; -9999 marque chez vLLM un token interdit."""
    choice, values = reply["choices"][0], {}
    for position, token in enumerate(((choice.get("logprobs") or {}).get("content")) or []):
        for alternative in token["top_logprobs"]:
            values["réponse", position, alternative["token"]] = alternative["logprob"]
    for position, tokens in enumerate(choice.get("prompt_logprobs") or []):
        for token, details in (tokens or {}).items():
            values["texte", position, token] = details["logprob"]
    return {place: value for place, value in values.items() if value > -1000}


def _gaps(recorded: dict[tuple, float], asked: dict[tuple, float]) -> list[float]:
    # Un token qui n'est plus parmi les premiers a changé d'un écart inconnu : on le compte comme lointain.
    return [abs(value - asked[place]) if place in asked else float("inf") for place, value in recorded.items()]
