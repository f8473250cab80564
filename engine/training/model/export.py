"""Writes a checkpoint in Hugging Face layout (bf16 safetensors).

export.py CHECKPOINT.pt TOKENIZER.json FOLDER [--longest-sequence N]

Prompts and what is written keep to `model_max_length`: the longest window of the training, or N where shorter prompts
were measured to be better.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from architecture import RMS_NORM_EPS
from checkpoint import load_checkpoint
from safetensors import write_bfloat16_shards, write_tensors
from whole_file import write_whole_json, write_whole_text

CONTEXT_LENGTH = 2048  # what is computed; prompts keep to `model_max_length`, what was trained
FIM_TEMPLATE = "<|fim_suffix|>{suffix}<|fim_prefix|>{prefix}<|fim_middle|>"


def _qwen2_config(config: dict[str, Any], end_of_text: int) -> dict[str, Any]:
    return {
        "architectures": ["Qwen2ForCausalLM"],
        "model_type": "qwen2",
        "vocab_size": config["vocabulary"],
        "hidden_size": config["hidden"],
        "intermediate_size": config["ffn"],
        "num_hidden_layers": config["layers"],
        "num_attention_heads": config["heads"],
        "num_key_value_heads": config["kv_heads"],
        "head_dim": config["head_dim"],
        "hidden_act": "silu",
        "max_position_embeddings": CONTEXT_LENGTH,
        "rms_norm_eps": RMS_NORM_EPS,
        "rope_theta": config["rope_theta"],
        "tie_word_embeddings": True,
        "use_sliding_window": False,
        "attention_dropout": 0.0,
        "bos_token_id": end_of_text,
        "eos_token_id": end_of_text,
        "torch_dtype": "bfloat16",
        "initializer_range": 0.02,
    }


def _tokenizer_config(special: list[str], longest_window: int) -> dict[str, Any]:
    return {
        "tokenizer_class": "Qwen2Tokenizer",
        "add_prefix_space": False,
        "bos_token": None,
        "eos_token": "<|endoftext|>",
        "pad_token": "<|endoftext|>",
        "model_max_length": longest_window,
        "clean_up_tokenization_spaces": False,
        "fim_template": FIM_TEMPLATE,
        "additional_special_tokens": special,
    }


def export_folder(state: dict[str, Any], tokenizer_file: Path, folder: Path, shard_bytes: int | None = None) -> None:
    """Writes the model of a checkpoint; with `shard_bytes`, weights in files of at most so many bytes of tensors."""
    tokenizer = json.loads(tokenizer_file.read_text())
    special = {token["content"]: token["id"] for token in tokenizer["added_tokens"]}
    end_of_text = special["<|endoftext|>"]
    if end_of_text != state["end_of_text"]:
        raise SystemExit(f"{tokenizer_file} is not the tokenizer that the model was trained with")
    folder.mkdir(parents=True, exist_ok=True)
    write_whole_json(folder / "config.json", _qwen2_config(state["config"], end_of_text))
    write_whole_json(folder / "tokenizer_config.json", _tokenizer_config(list(special), state["longest_window"]))
    generation = {"bos_token_id": end_of_text, "eos_token_id": list(special.values()), "do_sample": False}
    write_whole_json(folder / "generation_config.json", generation)
    write_whole_text(folder / "tokenizer.json", tokenizer_file.read_text())
    weights = {f"model.{name}": weight for name, weight in state["model"].items()}
    if shard_bytes is None:
        write_tensors(folder / "model.safetensors", weights)
    else:
        write_bfloat16_shards(folder, weights, shard_bytes)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("tokenizer", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--longest-sequence", type=int)
    args = parser.parse_args()
    state = load_checkpoint(args.checkpoint)
    if args.longest_sequence:
        state["longest_window"] = min(state["longest_window"], args.longest_sequence)
    export_folder(state, args.tokenizer, args.folder)


if __name__ == "__main__":
    main()
