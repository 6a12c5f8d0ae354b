"""Le journal du juge : ce qu'il a vraiment répondu, rejoué sans réseau.

Un journal est un fichier JSONL, une réponse par ligne, qu'une personne peut lire. Le client
`openai` ordinaire passe par `JournalTransport`, qui rejoue ces lignes, interroge un serveur, ou
interroge et enregistre. Aucune clé d'accès n'y entre, et aucune réponse n'y est inventée.
"""

import hashlib
import json
import threading
from collections import Counter
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path

import httpx2
from openai import OpenAIError

MODES = ("rejeu", "direct", "enregistrement")
DRAW_HEADER = "x-cours-tirage"
FIELDS = ("key", "occurrence", "path", "request", "reply", "engine", "model", "date")


class JudgeError(OpenAIError):
    """Le juge n'a pas pu répondre : une phrase française, avec la cause et la réparation.

    Elle hérite de `OpenAIError` parce que le client openai laisse passer ces erreurs telles quelles,
    sans les envelopper ni réessayer. `replies` garde les réponses déjà obtenues d'un lot interrompu.
    """

    replies: tuple = ()


@dataclass(frozen=True)
class Entry:
    """Une ligne du journal : une requête, son numéro de tirage et la réponse reçue."""

    key: str
    occurrence: int
    path: str
    request: dict | None
    reply: dict
    engine: str
    model: str
    date: str


def request_key(path: str, request: dict | None, occurrence: int) -> str:
    """Clé d'une requête : empreinte (16 chiffres hexadécimaux) du JSON canonique et du tirage.

    Le JSON est canonique quand ses clés sont triées et ses espaces retirés : deux clients qui
    envoient la même requête obtiennent la même clé.
    """
    canonical = json.dumps([path, request, occurrence], sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()[:16]


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} n'est pas une valeur JSON")


class Journal:
    """Les réponses enregistrées d'une leçon, en mémoire et dans leur fichier.

    Args:
        path: fichier JSONL ; il peut ne pas exister encore.
        repair: retire une dernière ligne inachevée (enregistrement interrompu) au lieu de la refuser.
    Raises:
        JudgeError: une ligne est illisible, ou sa clé ne correspond pas à sa requête.
    """

    def __init__(self, path: Path, repair: bool = False):
        self.path = path
        self._lock = threading.Lock()
        if repair:
            self._drop_unfinished_line()
        self._entries: dict[str, Entry] = {}
        if path.exists():
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
                entry = self._read(line, number)
                self._entries[entry.key] = entry

    def _drop_unfinished_line(self) -> None:
        if self.path.exists():
            content = self.path.read_bytes()
            self.path.write_bytes(content[: content.rfind(b"\n") + 1])

    def _read(self, line: str, number: int) -> Entry:
        try:
            values = json.loads(line, parse_constant=_refuse_constant)
            entry = Entry(**{name: values[name] for name in FIELDS})
            if entry.key != request_key(entry.path, entry.request, entry.occurrence):
                raise ValueError("la clé ne correspond pas à la requête")
        except (ValueError, KeyError, TypeError) as error:
            raise JudgeError(
                f"Le journal {self.path.name} est abîmé à la ligne {number} ({error}) : "
                "reprenez la version d'origine (git restore), "
                f"ou refaites-le avec « cours enregistrer {self.path.stem} »."
            ) from None
        return entry

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self):
        return iter(self._entries.values())

    def get(self, path: str, request: dict | None, occurrence: int) -> Entry | None:
        """La ligne enregistrée pour cette requête et ce tirage, ou None."""
        return self._entries.get(request_key(path, request, occurrence))

    def draws(self, path: str, request: dict | None) -> int:
        """Nombre de tirages enregistrés de cette requête."""
        count = 0
        while self.get(path, request, count + 1):
            count += 1
        return count

    def add(self, entry: Entry) -> None:
        """Ajoute une ligne, écrite d'un coup et vidée sur le disque : un arrêt n'en perd aucune."""
        line = json.dumps(asdict(entry), ensure_ascii=False, allow_nan=False) + "\n"
        with self._lock:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("a", encoding="utf-8") as file:
                file.write(line)
                file.flush()
            self._entries[entry.key] = entry


class JournalTransport(httpx2.BaseTransport):
    """Transport HTTP placé sous le client openai : rejeu, direct ou enregistrement.

    Args:
        journal: journal de la leçon.
        mode: « rejeu » (jamais de réseau), « direct » (jamais d'écriture) ou « enregistrement ».
        url: adresse de base de l'API, telle que le client la connaît.
        live: transport qui parle au serveur ; celui de httpx2 par défaut.

    `entries` garde, dans l'ordre où elles ont servi, les lignes rendues au client.
    """

    def __init__(self, journal: Journal, mode: str, url: str, live: httpx2.BaseTransport | None = None):
        self.journal = journal
        self.mode = mode
        self.url = url
        self.entries: list[Entry] = []
        self._live = live
        self._counts: Counter[str] = Counter()
        self._lock = threading.Lock()

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Rend la réponse enregistrée ou celle du serveur.

        Raises:
            JudgeError: requête jamais enregistrée, réponse en flux, ou serveur qui ne répond pas comme il le doit.
        """
        path = request.url.path.removeprefix(httpx2.URL(self.url).path.rstrip("/"))
        content = request.read()
        body = json.loads(content) if content else None
        if body and body.get("stream"):
            raise JudgeError(
                "Le journal ne sait pas garder une réponse en flux : retirez « stream=True » de la requête."
            )
        occurrence = self._occurrence(request, path, body)
        entry = None if self.mode == "direct" else self.journal.get(path, body, occurrence)
        if entry is None and self.mode == "rejeu":
            raise self._never_recorded(path, body, occurrence)
        if entry is None:
            entry = self._ask(request, path, body, occurrence)
            if self.mode == "enregistrement":
                self.journal.add(entry)
        with self._lock:
            self.entries.append(entry)
        return httpx2.Response(200, json=entry.reply, request=request)

    def close(self) -> None:
        """Ferme la connexion au serveur, s'il y en a une."""
        if self._live is not None:
            self._live.close()

    def _occurrence(self, request: httpx2.Request, path: str, body: dict | None) -> int:
        """Numéro de tirage : celui que le lot a fixé, sinon le rang de cette requête chez ce client."""
        if DRAW_HEADER in request.headers:
            return int(request.headers[DRAW_HEADER])
        key = request_key(path, body, 0)
        with self._lock:
            self._counts[key] += 1
            return self._counts[key]

    def _never_recorded(self, path: str, body: dict | None, occurrence: int) -> JudgeError:
        name, lesson = self.journal.path.name, self.journal.path.stem
        if not self.journal.path.exists():
            return JudgeError(
                f"Le journal {name} n'existe pas : démarrez le juge (« cours juge demarrer »), "
                f"puis enregistrez la leçon avec « cours enregistrer {lesson} »."
            )
        known = self.journal.draws(path, body)
        if known:
            return JudgeError(
                f"Le journal {name} garde {known} tirage(s) de cette requête et la leçon demande le n° {occurrence} : "
                "relancez la cellule qui crée le client, "
                f"ou enregistrez de nouveau avec « cours enregistrer {lesson} »."
            )
        return JudgeError(
            f"Cette requête à {path} (modèle {(body or {}).get('model')}) n'a jamais été enregistrée dans {name} : "
            "posez-la en direct (COURS_JUGE_MODE=direct, serveur démarré) "
            f"ou enregistrez-la avec « cours enregistrer {lesson} »."
        )

    def _ask(self, request: httpx2.Request, path: str, body: dict | None, occurrence: int) -> Entry:
        with self._lock:
            if self._live is None:
                self._live = httpx2.HTTPTransport()
        request.headers.pop(DRAW_HEADER, None)
        reply = self._read_reply(self._send(request), body)
        return Entry(
            key=request_key(path, body, occurrence),
            occurrence=occurrence,
            path=path,
            request=body,
            reply=reply,
            engine=reply.get("system_fingerprint") or "inconnu",
            model=reply.get("model") or (body or {}).get("model") or "inconnu",
            date=date.today().isoformat(),
        )

    def _send(self, request: httpx2.Request) -> httpx2.Response:
        try:
            response = self._live.handle_request(request)
            response.read()
        except httpx2.TimeoutException:
            delay = request.extensions.get("timeout", {}).get("read")
            limit = f" en {delay:g} s" if delay else ""
            raise JudgeError(
                f"Le juge à {self.url} n'a pas répondu{limit} : il est surchargé ou bloqué ; "
                "regardez son état avec « cours juge etat », puis relancez (rien de ce qui est enregistré n'est perdu)."
            ) from None
        except (httpx2.UnsupportedProtocol, httpx2.InvalidURL, httpx2.LocalProtocolError) as error:
            raise JudgeError(
                f"L'adresse du juge {self.url!r} n'est pas valable ({error}) : "
                "donnez à COURS_JUGE_URL une adresse comme http://127.0.0.1:8185/v1."
            ) from None
        except (httpx2.RemoteProtocolError, httpx2.ReadError, httpx2.DecodingError):
            raise JudgeError(
                f"La réponse du juge à {self.url} a été coupée avant la fin : "
                "regardez son état avec « cours juge etat », puis relancez."
            ) from None
        except httpx2.TransportError as error:
            raise JudgeError(
                f"Le juge ne répond pas à {self.url} ({error}) : démarrez-le avec « cours juge demarrer », "
                "corrigez COURS_JUGE_URL, ou rejouez le journal (COURS_JUGE_MODE=rejeu)."
            ) from None
        return response

    def _read_reply(self, response: httpx2.Response, body: dict | None) -> dict:
        if response.status_code >= 400:
            raise self._refused(response, body)
        try:
            reply = json.loads(response.content, parse_constant=_refuse_constant)
            if body is not None and not reply["choices"]:
                raise ValueError("aucun choix")
        except (ValueError, KeyError, TypeError):
            raise JudgeError(
                f"La réponse du juge à {self.url} est vide ou coupée (aucun choix lisible) : "
                "vérifiez que cette adresse est celle d'une API compatible OpenAI, puis relancez."
            ) from None
        return reply

    def _refused(self, response: httpx2.Response, body: dict | None) -> JudgeError:
        status, model = response.status_code, (body or {}).get("model")
        try:
            reason = str(json.loads(response.content)["error"]["message"])[:200]
        except (ValueError, KeyError, TypeError):
            reason = ""
        if status in (401, 403):
            return JudgeError(
                f"Le juge à {self.url} refuse la clé d'accès ({status}) : donnez la bonne dans COURS_JUGE_CLE."
            )
        if status == 404 and reason and str(model) in reason:
            return JudgeError(
                f"Le serveur à {self.url} ne sert pas le modèle {model!r} : "
                "donnez son nom exact dans COURS_JUGE_MODELE."
            )
        if status == 404:
            return JudgeError(
                f"L'adresse {self.url} ne mène pas à une API compatible OpenAI (404) : "
                "corrigez COURS_JUGE_URL (elle finit d'ordinaire par /v1)."
            )
        detail = f" : {reason}" if reason else ""
        if status >= 500:
            return JudgeError(
                f"Le juge à {self.url} a répondu {status} (panne du serveur){detail} ; "
                "lisez son journal avec « cours juge etat », puis relancez."
            )
        return JudgeError(f"Le juge à {self.url} a refusé la requête ({status}){detail} ; corrigez la requête.")
