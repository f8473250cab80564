"""Bits per byte by language and kind on held-out texts (see samples/encodeHeldOut.ts).

evaluate.py CHECKPOINT.pt|MODEL_FOLDER HELD_OUT.jsonl [--json FILE]

The bytes are those of the text. The end token after a `middle` is scored too, though it spells none: where to stop is a
part of filling a gap. A `plain` text ends without one.
"""

from __future__ import annotations

import argparse
import json
import math
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch

from architecture import LanguageModel, ModelConfig
from checkpoint import load_model
from safetensors import read_tensors
from whole_file import write_whole_text

NEVER = -1  # no token ends a sample here: each text is a sample of its own


def load(path: Path) -> LanguageModel:
    """A checkpoint of a run or a Qwen2 model in Hugging Face layout."""
    if path.is_file():
        return load_model(path)[0]
    sizes = json.loads((path / "config.json").read_text())
    config = ModelConfig(
        hidden=sizes["hidden_size"],
        layers=sizes["num_hidden_layers"],
        heads=sizes["num_attention_heads"],
        kv_heads=sizes["num_key_value_heads"],
        ffn=sizes["intermediate_size"],
        vocabulary=sizes["vocab_size"],
        head_dim=sizes.get("head_dim", sizes["hidden_size"] // sizes["num_attention_heads"]),
        rope_theta=sizes["rope_theta"],
    )
    model = LanguageModel(config)
    weights = read_tensors(path / "model.safetensors")
    model.load_state_dict({name.removeprefix("model."): weight for name, weight in weights.items()})
    return model


def bits_per_byte(model: LanguageModel, texts: Iterable[dict[str, Any]]) -> dict[str, dict[str, float]]:
    """By language and `all` of them, then by kind; a kind without texts is left out."""
    nats: dict[tuple[str, str], float] = defaultdict(float)
    byte_counts: dict[tuple[str, str], int] = defaultdict(int)
    for text in texts:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            losses = model.token_losses(torch.tensor([text["tokens"]]), NEVER)[0]
        for group in (text["language"], "all"):
            nats[group, text["kind"]] += float(losses[text["scoredFrom"] - 1 :].sum())
            byte_counts[group, text["kind"]] += text["bytes"]
    rows: dict[str, dict[str, float]] = defaultdict(dict)
    for language, kind in nats:
        rows[language][kind] = nats[language, kind] / math.log(2) / byte_counts[language, kind]
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("texts", type=Path)
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    torch.set_num_threads(2)
    texts = map(json.loads, args.texts.read_text().splitlines())
    rows = bits_per_byte(load(args.model), texts)
    for language, bits in rows.items():
        print(f"{language:12}", "  ".join(f"{kind} {value:.3f}" for kind, value in bits.items()))
    if args.json:
        rounded = {language: {kind: round(value, 4) for kind, value in bits.items()} for language, bits in rows.items()}
        write_whole_text(args.json, json.dumps(rounded, indent=1) + "\n")


if __name__ == "__main__":
    main()
