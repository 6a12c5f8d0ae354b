"""Le vrai serveur répond-il encore ce que le journal a gardé ? (make test-juge ; jamais dans make test)

Le serveur est démarré s'il ne l'est pas, et arrêté seulement si ce test l'a démarré.
"""

import copy

import httpx2
import pytest
from rich.console import Console

from course import judge_server
from course.recording import compare, journals, reproducible
from helpers.judge import MODEL, JudgeError, ask_all, client

pytestmark = pytest.mark.juge


@pytest.fixture(scope="module")
def server():
    already_running = judge_server.status().models
    judge_server.start(Console())
    yield judge_server.URL
    if not already_running:
        judge_server.stop(Console())


@pytest.fixture(scope="module")
def recorded(server):
    """Lignes du journal à température 0 et réponses d'aujourd'hui aux mêmes requêtes."""
    entries = [entry for journal in journals() for entry in reproducible(journal)]
    with httpx2.Client(base_url=server, timeout=300) as http:

        def ask(path, body, extra_headers):
            response = http.post(path, json=body)
            response.raise_for_status()
            return response.json()

        replies = ask_all(ask, [{"path": entry.path, "body": entry.request} for entry in entries])
    return entries, replies


def test_le_journal_tient_toujours(recorded):
    """Même modèle, au moins 95 % de verdicts inchangés, au moins 90 % de log-probabilités à moins de 0,05."""
    comparison = compare(*recorded)
    print(
        f"\n{len(comparison.verdicts)} requêtes reposées ; verdicts inchangés : {comparison.same_verdicts:.1%} ; "
        f"log-probabilités à moins de 0,05 : {comparison.close_logprobs:.1%}"
    )
    assert comparison.faults() == []


def test_une_ligne_alteree_est_vue(recorded):
    """Contrôle négatif : les log-probabilités d'une seule ligne décalées de 1 font échouer la vérification."""
    entries, replies = recorded
    altered = copy.deepcopy(entries)
    line = next(entry for entry in altered if (entry.reply["choices"][0].get("logprobs") or {}).get("content"))
    for token in line.reply["choices"][0]["logprobs"]["content"]:
        for alternative in token["top_logprobs"]:
            alternative["logprob"] += 1
    assert any(line.key in fault for fault in compare(altered, replies).faults())


def test_un_texte_note_altere_est_vu(recorded):
    """Contrôle négatif : même chose pour les log-probabilités d'un texte noté."""
    entries, replies = recorded
    altered = copy.deepcopy(entries)
    line = next(entry for entry in altered if entry.reply["choices"][0].get("prompt_logprobs"))
    for tokens in line.reply["choices"][0]["prompt_logprobs"][1:]:
        for details in tokens.values():
            details["logprob"] -= 1
    assert any(line.key in fault for fault in compare(altered, replies).faults())


def test_un_autre_modele_est_refuse(recorded):
    """Contrôle négatif : un serveur qui répond sous un autre nom de modèle est refusé."""
    entries, replies = recorded
    with pytest.raises(ValueError, match="autre modèle"):
        compare(entries, [reply | {"model": "un-autre"} for reply in replies])


def test_un_modele_absent_est_nomme(server, monkeypatch, tmp_path):
    """Le vrai serveur ne sert pas ce modèle : la phrase le dit et nomme la variable à corriger."""
    monkeypatch.setenv("COURS_JUGE_MODE", "direct")
    monkeypatch.setenv("COURS_JUGE_JOURNAL", str(tmp_path))
    with pytest.raises(JudgeError, match="ne sert pas le modèle 'absent'.*COURS_JUGE_MODELE"):
        client("essai").chat.completions.create(model="absent", messages=[{"role": "user", "content": "Bonjour"}])


def test_enregistrer_puis_rejouer(server, monkeypatch, tmp_path):
    """Une réponse enregistrée du vrai serveur se rejoue à l'identique, sans lui."""
    request = {"model": MODEL, "messages": [{"role": "user", "content": "Dis bonjour."}], "max_tokens": 4, "temperature": 0}
    monkeypatch.setenv("COURS_JUGE_JOURNAL", str(tmp_path))
    monkeypatch.setenv("COURS_JUGE_MODE", "enregistrement")
    live = client("essai").chat.completions.create(**request)
    monkeypatch.setenv("COURS_JUGE_MODE", "rejeu")
    monkeypatch.setenv("COURS_JUGE_URL", "http://127.0.0.1:9/v1")
    replayed = client("essai").chat.completions.create(**request)
    assert replayed == live
