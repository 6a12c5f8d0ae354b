"""Ce que la leçon 08 montre de bert-score et de vecteurs contextuels, calculé dans l'environnement du juge.

    .venv/bin/python -m helpers.contextual          écrit helpers/donnees/bertscore.json (demande `make juge` une fois)
    .venv-juge/bin/python -m helpers.contextual POIDS   le calcul lui-même : demande sur stdin, réponse sur stdout

torch, transformers et bert-score ne sont que dans `.venv-juge` ; les vecteurs français, que dans l'environnement du
cours. Le modèle est le juge, SmolLM2-135M-Instruct : un modèle causal, où un mot ne voit que ce qui le précède. Ses
états cachés servent de vecteurs contextuels ; ce n'est ni un modèle que BERTScore recommande, ni un modèle du français.
"""

import importlib
import json
import subprocess
import sys
import types
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from helpers.bertscore import bert_score, idf_weights
from helpers.tokens import french_words

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "helpers" / "donnees"
RECORD = DATA / "bertscore.json"
PYTHON = ROOT / ".venv-juge" / "bin" / "python"
WEIGHTS = ROOT / ".venv-juge" / "SmolLM2-135M-Instruct"
LAYERS = [0, 5, 10, 15, 20, 25, 30]
ROLES = ("reference", "paraphrase", "contraire")


def triplets() -> list[dict]:
    """Les douze triplets de phrases des auteurs : référence, paraphrase, contraire."""
    return json.loads((DATA / "paraphrases.json").read_text(encoding="utf-8"))["triplets"]


def request() -> dict:
    """Ce qu'on demande au calcul : les phrases, leurs mots et leurs vecteurs français, et les couches voulues."""
    from helpers.french_vectors import vectors

    rows = []
    for triplet in triplets():
        words = {role: french_words(triplet[role]) for role in ROLES}
        rows.append({"id": triplet["id"], "phrases": {role: triplet[role] for role in ROLES}, "mots": words,
                     "vecteurs": {role: vectors(words[role]).tolist() for role in ROLES}})
    return {"triplets": rows, "couches": LAYERS}


def run(demand: dict) -> dict:
    """Fait faire le calcul par l'environnement du juge.

    Args:
        demand: ce que rend `request`.
    Returns:
        ce que rend `compute`.
    Raises:
        RuntimeError: l'environnement du juge manque, ou le calcul s'y est arrêté.
    """
    if not PYTHON.exists() or not WEIGHTS.exists():
        raise RuntimeError("l'environnement du juge manque : lancez « make juge » une fois, puis recommencez.")
    done = subprocess.run([str(PYTHON), "-m", "helpers.contextual", str(WEIGHTS)], cwd=ROOT, capture_output=True,
                          text=True, input=json.dumps(demand), env={"HF_HUB_OFFLINE": "1", "PATH": ""})
    if done.returncode:
        raise RuntimeError(f"le calcul s'est arrêté dans .venv-juge : {done.stderr.strip().splitlines()[-1]}")
    return json.loads(done.stdout)


def library():
    """Module `bert_score.utils`, sans l'__init__ du paquet, qui demande matplotlib et pandas pour ses figures."""
    package = types.ModuleType("bert_score")
    package.__path__ = find_spec("bert_score").submodule_search_locations
    package.__version__ = version("bert-score")
    sys.modules["bert_score"] = package
    return importlib.import_module("bert_score.utils")


def library_score(utils, candidate, reference, candidate_weights=None, reference_weights=None) -> list[float]:
    """[P, R, F] de bert-score pour une paire ; les vecteurs entrent en float64, sans remplissage."""
    import torch

    def batch(vectors, weights):
        tensor = torch.tensor(vectors, dtype=torch.float64)[None]  # une copie : la bibliothèque normalise sur place
        weights = [1.0] * tensor.shape[1] if weights is None else weights
        return tensor, torch.ones(tensor.shape[:2]), torch.tensor(weights, dtype=torch.float64)[None]

    values = utils.greedy_cos_idf(*batch(reference, reference_weights), *batch(candidate, candidate_weights))
    return [float(value[0]) for value in values]


def hidden_states(folder: str, sentences: list[str]) -> list[list]:
    """Pour chaque phrase, ses vecteurs à chaque couche, sans celui du jeton de départ.

    Ce jeton absorbe l'attention : sans lui, le premier mot de la phrase aurait un vecteur anormal.
    """
    import torch
    from transformers import AutoModel, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModel.from_pretrained(folder, dtype=torch.float32).eval()
    found = []
    with torch.no_grad():
        for sentence in sentences:
            tokens = [tokenizer.bos_token_id, *tokenizer(sentence, add_special_tokens=False)["input_ids"]]
            states = model(input_ids=torch.tensor([tokens]), output_hidden_states=True).hidden_states
            found.append([state[0, 1:].double().numpy() for state in states])
    return found


def compute(demand: dict, folder: str) -> dict:
    """Scores de bert-score sur les vecteurs français, puis sur chaque couche, et notre plus grand écart avec lui."""
    utils, rows = library(), demand["triplets"]
    documents = [row["mots"]["reference"] for row in rows]
    idf = utils.get_idf_dict(documents, None, nthreads=0)
    gaps = []

    def compare(candidate, reference, weights=(None, None), ours=None):
        theirs = library_score(utils, candidate, reference, *weights)
        mine = bert_score(candidate, reference, *(ours or weights))
        gaps.extend(abs(a - b) for a, b in zip(theirs, (mine.precision, mine.recall, mine.fmeasure)))
        return theirs

    static = []
    for row in rows:
        for role in ROLES[1:]:
            words, vectors = row["mots"], row["vecteurs"]
            weights = [[idf[word] for word in words[side]] for side in (role, "reference")]
            ours = [idf_weights(words[side], documents) for side in (role, "reference")]
            static.append({"id": row["id"], "candidat": role, "egaux": compare(vectors[role], vectors["reference"]),
                           "idf": compare(vectors[role], vectors["reference"], weights, ours)})

    sentences = [row["phrases"][role] for row in rows for role in ROLES]
    states = dict(zip([(i, role) for i in range(len(rows)) for role in ROLES], hidden_states(folder, sentences)))
    layers = {}
    for layer in demand["couches"]:
        def score(i, role, j):
            return compare(states[i, role][layer], states[j, "reference"][layer])[2]

        unrelated = [score(i, "paraphrase", j) for i in range(len(rows)) for j in range(len(rows)) if i != j]
        layers[str(layer)] = {role: [round(score(i, role, i), 6) for i in range(len(rows))] for role in ROLES[1:]}
        layers[str(layer)]["sans_rapport"] = round(sum(unrelated) / len(unrelated), 6)
    return {"bibliotheque": f"bert-score {version('bert-score')}", "statiques": static, "couches": layers,
            "valeurs_comparees": len(gaps), "ecart_maximal": max(gaps)}


def main() -> int:
    if len(sys.argv) == 2:
        json.dump(compute(json.load(sys.stdin), sys.argv[1]), sys.stdout)
        return 0
    try:
        answer = run(request())
    except RuntimeError as error:
        print(error, file=sys.stderr)
        return 2
    answer = {"modele": WEIGHTS.name} | answer
    RECORD.write_text(json.dumps(answer, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    print(f"{RECORD.relative_to(ROOT)} : {answer['valeurs_comparees']} valeurs, "
          f"écart maximal {answer['ecart_maximal']:.1e}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
