"""Notre BERTScore contre bert-score, sur des vecteurs contextuels (make test-juge ; jamais dans make test).

Le calcul se fait dans .venv-juge, qui a torch, transformers et bert-score ; le modèle est SmolLM2-135M-Instruct, dont
les états cachés servent de vecteurs. La bibliothèque est appelée à son appariement (`greedy_cos_idf`) et à son idf
(`get_idf_dict`) : elle ne sait pas charger elle-même ce modèle.
"""

import json

import pytest
from rich.console import Console

from course import judge_server
from helpers.contextual import LAYERS, RECORD, request, run

pytestmark = pytest.mark.juge


@pytest.fixture(scope="module")
def answer():
    judge_server.install(Console())
    return run(request())


def test_accord_avec_bert_score(answer):
    """Précision, rappel et F : vecteurs français (poids égaux, puis idf) et sept couches contextuelles."""
    pairs = 12 * 2 * 2 + len(LAYERS) * (12 * 11 + 12 * 2)
    print(f"\n{answer['valeurs_comparees']} valeurs comparées à {answer['bibliotheque']} ; "
          f"écart maximal {answer['ecart_maximal']:.1e}")
    assert answer["valeurs_comparees"] == 3 * pairs
    assert answer["ecart_maximal"] < 1e-9


def test_l_enregistrement_tient_toujours(answer):
    """Ce que la leçon 08 montre est ce que la bibliothèque rend aujourd'hui."""
    recorded = json.loads(RECORD.read_text(encoding="utf-8"))
    for old, new in zip(recorded["statiques"], answer["statiques"], strict=True):
        assert (old["id"], old["candidat"]) == (new["id"], new["candidat"])
        assert old["egaux"] == pytest.approx(new["egaux"], abs=1e-9)
        assert old["idf"] == pytest.approx(new["idf"], abs=1e-9)
    assert recorded["couches"].keys() == answer["couches"].keys()
    for layer, old in recorded["couches"].items():
        for name, values in old.items():
            # Les états cachés sont en float32 : l'ordre des additions change avec le processeur.
            assert values == pytest.approx(answer["couches"][layer][name], abs=1e-3), f"couche {layer}, {name}"


def test_une_valeur_alteree_est_vue(answer):
    """Contrôle négatif : un score décalé d'un centième n'est pas pris pour un arrondi."""
    values = answer["couches"]["30"]["contraire"]
    assert [values[0] + 0.01, *values[1:]] != pytest.approx(values, abs=1e-3)
