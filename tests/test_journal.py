"""Journal et transport : rejeu, enregistrement, pannes. Le serveur est un vrai serveur HTTP local, scripté."""

import json
import os
import subprocess
import sys
import threading
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from openai import OpenAIError

from helpers.journal import Journal, JudgeError, request_key
from helpers.judge import ask_all, client, source

COMPLETION = {
    "id": "x", "object": "chat.completion", "created": 0, "model": "m", "system_fingerprint": "moteur-1",
    "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "A"}}],
}  # fmt: skip


def completion(content: str | None) -> dict:
    choice = COMPLETION["choices"][0] | {"message": {"role": "assistant", "content": content}}
    return COMPLETION | {"choices": [choice]}


class Server:
    """Serveur HTTP sur un port libre ; `answer(body, n)` rend (statut, octets) et `n` compte les requêtes."""

    def __init__(self, answer):
        outer = self
        self.requests, self.in_flight, self.peak, self.lock = [], 0, 0, threading.Lock()

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                with outer.lock:
                    outer.requests.append((self.path, dict(self.headers), body))
                    outer.in_flight += 1
                    outer.peak = max(outer.peak, outer.in_flight)
                    rank = len(outer.requests)
                status, content, *length = answer(body, rank)
                with outer.lock:
                    outer.in_flight -= 1
                self.send_response(status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(length[0] if length else len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *arguments):
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}/v1"
        threading.Thread(target=self.http.serve_forever, args=(0.01,), daemon=True).start()

    def close(self):
        self.http.shutdown()
        self.http.server_close()


@pytest.fixture
def serve(monkeypatch, tmp_path):
    """Démarre un serveur scripté et y pointe le juge ; le journal va dans un dossier neuf."""
    servers = []
    monkeypatch.setenv("COURS_JUGE_JOURNAL", str(tmp_path))

    def start(answer, mode="enregistrement"):
        servers.append(Server(answer))
        monkeypatch.setenv("COURS_JUGE_URL", servers[-1].url)
        monkeypatch.setenv("COURS_JUGE_MODE", mode)
        return servers[-1]

    yield start
    for server in servers:
        server.close()


def echo(body, rank):
    """Répond par le texte du message, après un délai qui mélange l'ordre d'arrivée."""
    time.sleep(0.02 * (3 - rank % 3))
    return 200, json.dumps(completion(body["messages"][0]["content"])).encode()


def message(text: str, **options) -> dict:
    return {"model": "m", "messages": [{"role": "user", "content": text}], **options}


def contents(replies) -> list[str]:
    return [reply.choices[0].message.content for reply in replies]


# --- Ce qu'un usager voit d'abord -----------------------------------------------------------------------------


def test_enregistrer_puis_rejouer_sans_serveur(serve, monkeypatch, tmp_path):
    """Ce qui est enregistré se rejoue à l'identique, serveur éteint ; `source` dit d'où cela vient."""
    server = serve(echo)
    first = client("essai").chat.completions.create(**message("Bonjour"))
    server.close()
    monkeypatch.setenv("COURS_JUGE_MODE", "rejeu")
    connection = client("essai")
    assert connection.chat.completions.create(**message("Bonjour")) == first
    assert source(connection) == "1 réponses rejouées du journal essai.jsonl ; modèle : m ; moteur : moteur-1."


def test_concurrence_bornee_et_ordre_garde(serve):
    """Dans un lot, les réponses suivent l'ordre des requêtes et le serveur n'en a jamais plus de `workers`."""
    server = serve(echo, "direct")
    texts = [f"q{number}" for number in range(20)]
    replies = ask_all(client("essai").chat.completions.create, [message(text) for text in texts], workers=4)
    assert contents(replies) == texts
    assert 1 < server.peak <= 4


def test_chaque_tirage_est_une_ligne(serve, monkeypatch, tmp_path):
    """Trois tirages d'une même requête font trois lignes, rejouées dans l'ordre des tirages."""
    serve(lambda body, rank: (200, json.dumps(completion(f"tirage {rank}")).encode()))
    live = ask_all(client("essai").chat.completions.create, [message("x", temperature=1.0)] * 3, workers=1)
    assert contents(live) == ["tirage 1", "tirage 2", "tirage 3"]
    lines = [json.loads(line) for line in (tmp_path / "essai.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [line["occurrence"] for line in lines] == [1, 2, 3]
    assert len({line["key"] for line in lines}) == 3
    monkeypatch.setenv("COURS_JUGE_MODE", "rejeu")
    again = ask_all(client("essai").chat.completions.create, [message("x", temperature=1.0)] * 3)
    assert contents(again) == contents(live)


def test_un_lot_relance_rend_les_memes_tirages(serve, monkeypatch):
    """Relancer la cellule d'un lot, dans la même session, rend les mêmes réponses."""
    serve(lambda body, rank: (200, json.dumps(completion(f"tirage {rank}")).encode()))
    ask_all(client("essai").chat.completions.create, [message("x")] * 2, workers=1)
    monkeypatch.setenv("COURS_JUGE_MODE", "rejeu")
    connection = client("essai")
    runs = [contents(ask_all(connection.chat.completions.create, [message("x")] * 2)) for _ in range(2)]
    assert runs[0] == runs[1] == ["tirage 1", "tirage 2"]


def test_appels_simples_numerotes_dans_l_ordre(serve, tmp_path):
    """Deux appels simples identiques sont deux tirages, numérotés dans l'ordre des appels."""
    serve(lambda body, rank: (200, json.dumps(completion(f"tirage {rank}")).encode()))
    connection = client("essai")
    assert contents(connection.chat.completions.create(**message("x")) for _ in range(2)) == ["tirage 1", "tirage 2"]
    assert sorted(entry.occurrence for entry in Journal(tmp_path / "essai.jsonl")) == [1, 2]


def test_reprise_apres_interruption(serve, tmp_path):
    """Un enregistrement coupé au milieu d'une ligne reprend : seules les requêtes manquantes sont reposées."""
    server = serve(echo)
    texts = [f"q{number}" for number in range(6)]
    ask_all(client("essai").chat.completions.create, [message(text) for text in texts[:4]], workers=1)
    path = tmp_path / "essai.jsonl"
    path.write_bytes(path.read_bytes()[:-30])
    replies = ask_all(client("essai").chat.completions.create, [message(text) for text in texts], workers=1)
    assert contents(replies) == texts
    assert Counter(body["messages"][0]["content"] for _, _, body in server.requests) == Counter(texts) + Counter(["q3"])
    assert len(Journal(path)) == 6


def test_la_cle_n_est_ecrite_nulle_part(serve, monkeypatch, tmp_path):
    """La clé part au serveur, et n'entre ni dans le journal ni dans un message d'erreur."""
    server = serve(echo)
    monkeypatch.setenv("COURS_JUGE_CLE", "secret-tres-secret")
    client("essai").chat.completions.create(**message("Bonjour"))
    assert server.requests[0][1]["authorization"] == "Bearer secret-tres-secret"
    assert "x-cours-tirage" not in {name.lower() for name in server.requests[0][1]}
    assert "secret" not in (tmp_path / "essai.jsonl").read_text(encoding="utf-8")
    serve(lambda body, rank: (401, b'{"error": {"message": "bad key secret-tres-secret"}}'))
    with pytest.raises(JudgeError) as caught:
        client("autre").chat.completions.create(**message("Bonjour"))
    assert "secret" not in str(caught.value) and "COURS_JUGE_CLE" in str(caught.value)


def test_direct_n_ecrit_rien(serve, tmp_path):
    serve(echo, "direct")
    client("essai").chat.completions.create(**message("Bonjour"))
    assert list(tmp_path.iterdir()) == []


# --- Pannes : une phrase française, la cause et la réparation --------------------------------------------------

NOT_FOUND = json.dumps({"error": {"message": "The model `m` does not exist.", "code": 404}}).encode()


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        pytest.param((500, b"boom"), "a répondu 500.*cours juge etat", id="500"),
        pytest.param((503, b'{"error": {"message": "overloaded"}}'), "a répondu 503.*overloaded", id="503"),
        pytest.param((404, NOT_FOUND), "ne sert pas le modèle 'm'.*COURS_JUGE_MODELE", id="modele-absent"),
        pytest.param((404, b"<html>"), "ne mène pas à une API.*COURS_JUGE_URL", id="mauvais-chemin"),
        pytest.param((400, b'{"error": {"message": "trop long"}}'), r"refusé la requête \(400\) : trop long", id="400"),
        pytest.param((200, b""), "vide ou coupée", id="reponse-vide"),
        pytest.param((200, b'{"choices": []}'), "vide ou coupée", id="aucun-choix"),
        pytest.param((200, b"[1, 2]"), "vide ou coupée", id="pas-un-objet"),
        pytest.param((200, b'{"choices": [{"logprob": NaN}]}'), "vide ou coupée", id="NaN"),
        pytest.param((200, json.dumps(COMPLETION).encode()[:40]), "vide ou coupée", id="json-coupe"),
        pytest.param((200, b'{"choi', 500), "coupée avant la fin", id="connexion-coupee"),
    ],
)
def test_panne_du_serveur(serve, tmp_path, answer, expected):
    """Chaque panne a sa phrase, et rien n'entre dans le journal."""
    serve(lambda body, rank: answer)
    with pytest.raises(JudgeError, match=f"(?s){expected}"):
        client("essai").chat.completions.create(**message("Bonjour"))
    assert not (tmp_path / "essai.jsonl").exists()


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://127.0.0.1:9/v1", "ne répond pas à http://127.0.0.1:9/v1.*cours juge demarrer"),
        ("ftp://127.0.0.1/v1", "n'est pas valable.*COURS_JUGE_URL"),
    ],
)
def test_adresse_sans_juge(monkeypatch, tmp_path, url, expected):
    monkeypatch.setenv("COURS_JUGE_JOURNAL", str(tmp_path))
    monkeypatch.setenv("COURS_JUGE_MODE", "direct")
    monkeypatch.setenv("COURS_JUGE_URL", url)
    with pytest.raises(JudgeError, match=expected):
        client("essai").chat.completions.create(**message("Bonjour"))


def test_delai_depasse_apres_des_verdicts(serve, tmp_path):
    """Un délai dépassé garde ce qui est déjà répondu : dans le journal, et dans l'erreur."""

    def slow_third(body, rank):
        if body["messages"][0]["content"] == "q2":
            time.sleep(1.5)
        return echo(body, rank)

    serve(slow_third)
    connection = client("essai", timeout=0.5)
    with pytest.raises(JudgeError, match=r"n'a pas répondu en 0.5 s.*2 réponse\(s\) sur 3") as caught:
        ask_all(connection.chat.completions.create, [message(f"q{number}") for number in range(3)], workers=1)
    assert [reply and reply.choices[0].message.content for reply in caught.value.replies] == ["q0", "q1", None]
    assert len(Journal(tmp_path / "essai.jsonl")) == 2


def test_reponse_sans_texte_enregistree_telle_quelle(serve):
    """Un contenu nul (« content: null ») est une réponse : on la garde, c'est la lecture qui la dira illisible."""
    serve(lambda body, rank: (200, json.dumps(completion(None)).encode()))
    assert contents([client("essai").chat.completions.create(**message("x"))]) == [None]


def test_l_erreur_est_celle_du_client_openai():
    """Le client openai laisse passer nos erreurs sans les envelopper, parce qu'elles héritent des siennes."""
    assert issubclass(JudgeError, OpenAIError)


@pytest.mark.parametrize("mode", ["rejoue", "", "DIRECT"])
def test_mode_inconnu(monkeypatch, mode):
    monkeypatch.setenv("COURS_JUGE_MODE", mode)
    with pytest.raises(JudgeError, match="COURS_JUGE_MODE.*rejeu, direct, enregistrement"):
        client("essai")


def test_flux_refuse(serve):
    serve(echo)
    with pytest.raises(JudgeError, match="stream=True"):
        client("essai").chat.completions.create(**message("x", stream=True))


# --- Le journal ------------------------------------------------------------------------------------------------


def test_requete_jamais_enregistree(serve, monkeypatch):
    """Trois causes, trois phrases : pas de journal, requête inconnue, tirage de trop."""
    serve(echo)
    monkeypatch.setenv("COURS_JUGE_MODE", "rejeu")
    with pytest.raises(JudgeError, match="vide.jsonl n'existe pas.*cours enregistrer vide"):
        client("vide").chat.completions.create(**message("x"))
    monkeypatch.setenv("COURS_JUGE_MODE", "enregistrement")
    client("essai").chat.completions.create(**message("x"))
    monkeypatch.setenv("COURS_JUGE_MODE", "rejeu")
    with pytest.raises(JudgeError, match="n'a jamais été enregistrée dans essai.jsonl.*cours enregistrer essai"):
        client("essai").chat.completions.create(**message("y"))
    with pytest.raises(JudgeError, match=r"garde 1 tirage\(s\).*le n° 2"):
        ask_all(client("essai").chat.completions.create, [message("x")] * 2, workers=1)


def valid_line(tmp_path, serve) -> str:
    serve(echo)
    client("essai").chat.completions.create(**message("x"))
    return (tmp_path / "essai.jsonl").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda line: "{", id="json-coupe"),
        pytest.param(lambda line: "\n", id="ligne-vide"),
        pytest.param(lambda line: '"texte"\n', id="pas-un-objet"),
        pytest.param(lambda line: line.replace('"reply"', '"response"'), id="champ-absent"),
        pytest.param(lambda line: line.replace('"content": "x"', '"content": "y"', 1), id="requete-retouchee"),
        pytest.param(lambda line: line.replace('"created": 0', '"created": NaN'), id="NaN"),
    ],
)
def test_ligne_abimee(serve, monkeypatch, tmp_path, damage):
    """Une ligne abîmée est nommée avec son numéro ; le reste n'est pas rejoué en silence."""
    good = valid_line(tmp_path, serve)
    damaged = damage(good)
    assert damaged != good
    (tmp_path / "essai.jsonl").write_text(good + damaged, encoding="utf-8")
    monkeypatch.setenv("COURS_JUGE_MODE", "rejeu")
    with pytest.raises(JudgeError, match="abîmé à la ligne 2.*git restore"):
        client("essai")


def test_cle_canonique():
    """L'ordre des champs ne change pas la clé ; le chemin, le tirage ou un texte la changent."""
    key = request_key("/chat/completions", {"a": 1, "b": "é"}, 1)
    assert key == request_key("/chat/completions", {"b": "é", "a": 1}, 1)
    others = [("/completions", {"a": 1, "b": "é"}, 1), ("/chat/completions", {"a": 1, "b": "é"}, 2), ("/chat/completions", {"a": 1, "b": "e"}, 1)]
    assert len({key, *(request_key(*other) for other in others)}) == 4


def test_import_helpers_leger():
    """`import helpers` ne charge aucune bibliothèque lourde."""
    code = "import sys, helpers; print(sorted({'openai', 'numpy', 'matplotlib', 'nltk', 'httpx2'} & sys.modules.keys()))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=os.environ | {"PYTHONPATH": ""})
    assert done.stdout.strip() == "[]"
