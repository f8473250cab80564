"""Makes a checkpoint to start from out of a model in Hugging Face layout, for another tokenizer and fewer KV heads.

import_model.py MODEL_FOLDER TOKENIZER.json CONFIG.json OUT.pt

An entry of the new vocabulary starts as the mean of the old entries that spell it; merged KV heads are averaged.
Layers beyond the old model's start as copies of the nearest old layer with a silent output.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from architecture import LanguageModel, ModelConfig
from checkpoint import save_checkpoint
from safetensors import read_tensors


def _spelled_ids(token: str, ranks: dict[tuple[str, str], int], vocabulary: dict[str, int]) -> list[int]:
    """The ids of a byte-level BPE token in another vocabulary."""
    symbols = list(token)
    while len(symbols) > 1:
        pairs = list(zip(symbols, symbols[1:]))
        best = min(pairs, key=lambda pair: ranks.get(pair, 1 << 30))
        if best not in ranks:
            break
        at = pairs.index(best)
        symbols[at : at + 2] = ["".join(best)]
    return [vocabulary[symbol] for symbol in symbols]


def _embeddings(old: Tensor, old_tokenizer: dict[str, Any], new_tokenizer: dict[str, Any]) -> Tensor:
    ranks = {tuple(pair): rank for rank, pair in enumerate(old_tokenizer["model"]["merges"])}
    vocabulary = old_tokenizer["model"]["vocab"]
    old_special = {token["content"]: token["id"] for token in old_tokenizer["added_tokens"]}
    new_vocabulary = new_tokenizer["model"]["vocab"]
    embeddings = torch.zeros(len(new_vocabulary) + len(new_tokenizer["added_tokens"]), old.shape[1])
    for token, index in new_vocabulary.items():
        embeddings[index] = old[_spelled_ids(token, ranks, vocabulary)].mean(0)
    for token in new_tokenizer["added_tokens"]:
        embeddings[token["id"]] = old[old_special[token["content"]]]
    return embeddings


def _merge_kv_heads(tensor: Tensor, kv_heads: int, head_dim: int) -> Tensor:
    """[old_kv * head_dim, ...] -> [kv_heads * head_dim, ...] by the mean over merged heads."""
    rest = tensor.shape[1:]
    return tensor.view(kv_heads, -1, head_dim, *rest).mean(1).reshape(kv_heads * head_dim, *rest)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("model", "tokenizer", "config", "out"):
        parser.add_argument(name, type=Path)
    args = parser.parse_args()
    sizes = json.loads(args.config.read_text())
    end_of_text = sizes.pop("end_of_text")
    config = ModelConfig(**sizes)
    old = {name.removeprefix("model."): w for name, w in read_tensors(args.model / "model.safetensors").items()}
    old_layers = json.loads((args.model / "config.json").read_text())["num_hidden_layers"]
    old_tokenizer = json.loads((args.model / "tokenizer.json").read_text())
    new = LanguageModel(config).state_dict()
    new["embed_tokens.weight"] = _embeddings(old["embed_tokens.weight"], old_tokenizer, json.loads(args.tokenizer.read_text()))
    new["norm.weight"] = old["norm.weight"]
    for name in new:
        if not name.startswith("layers."):
            continue
        _, layer, rest = name.split(".", 2)
        source = int(layer) * old_layers // config.layers
        weight = old[f"layers.{source}.{rest}"]
        if "k_proj" in name or "v_proj" in name:
            weight = _merge_kv_heads(weight, config.kv_heads, config.head_dim)
        is_copy = int(layer) > 0 and (int(layer) - 1) * old_layers // config.layers == source
        is_output = "o_proj" in name or "down_proj" in name
        new[name] = torch.zeros_like(weight) if is_copy and is_output else weight
    save_checkpoint(args.out, {"config": config.to_dict(), "end_of_text": end_of_text, "model": new})


if __name__ == "__main__":
    main()
