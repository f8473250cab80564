"""Writes a GGUF file (version 3) of a Qwen2 model in f16, for llama.cpp as a peer in benchmarks.

Layout: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

from torch import Tensor

ALIGNMENT = 32
TYPE_F32, TYPE_F16 = 0, 1
NORMAL_TOKEN, CONTROL_TOKEN = 1, 3

LAYER_NAMES = {
    "input_layernorm": "attn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "post_attention_layernorm": "ffn_norm",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}


def _string(text: str) -> bytes:
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def _value(value: Any) -> bytes:
    """A metadata value with its type tag: bool, int (uint32), float, str, or a list of str or of int (int32)."""
    if isinstance(value, bool):
        return struct.pack("<IB", 7, value)
    if isinstance(value, int):
        return struct.pack("<II", 4, value)
    if isinstance(value, float):
        return struct.pack("<If", 6, value)
    if isinstance(value, str):
        return struct.pack("<I", 8) + _string(value)
    if isinstance(value[0], str):
        return struct.pack("<IIQ", 9, 8, len(value)) + b"".join(map(_string, value))
    return struct.pack("<IIQ", 9, 5, len(value)) + struct.pack(f"<{len(value)}i", *value)


def _gguf_name(name: str) -> str:
    if name.startswith("embed_tokens"):
        return "token_embd.weight"
    if name.startswith("norm"):
        return "output_norm.weight"
    _, layer, *middle, kind = name.split(".")
    return f"blk.{layer}.{LAYER_NAMES['.'.join(middle)]}.{kind}"


def _metadata(config: dict[str, Any], tokenizer: dict[str, Any]) -> dict[str, Any]:
    special = {token["content"]: token["id"] for token in tokenizer["added_tokens"]}
    names = {index: token for token, index in (tokenizer["model"]["vocab"] | special).items()}
    controls = set(special.values())
    order = range(config["vocabulary"])
    return {
        "general.architecture": "qwen2",
        "general.name": "slipstream",
        "general.file_type": 1,
        "qwen2.block_count": config["layers"],
        "qwen2.context_length": 2048,
        "qwen2.embedding_length": config["hidden"],
        "qwen2.feed_forward_length": config["ffn"],
        "qwen2.attention.head_count": config["heads"],
        "qwen2.attention.head_count_kv": config["kv_heads"],
        "qwen2.attention.layer_norm_rms_epsilon": 1e-6,
        "qwen2.attention.key_length": config["head_dim"],
        "qwen2.attention.value_length": config["head_dim"],
        "qwen2.rope.freq_base": float(config["rope_theta"]),
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": "qwen2",
        "tokenizer.ggml.tokens": [names[index] for index in order],
        "tokenizer.ggml.token_type": [CONTROL_TOKEN if index in controls else NORMAL_TOKEN for index in order],
        "tokenizer.ggml.merges": [" ".join(pair) for pair in tokenizer["model"]["merges"]],
        "tokenizer.ggml.eos_token_id": special["<|endoftext|>"],
        "tokenizer.ggml.bos_token_id": special["<|endoftext|>"],
        "tokenizer.ggml.fim_pre_token_id": special["<|fim_prefix|>"],
        "tokenizer.ggml.fim_suf_token_id": special["<|fim_suffix|>"],
        "tokenizer.ggml.fim_mid_token_id": special["<|fim_middle|>"],
        "tokenizer.ggml.add_bos_token": False,
    }


def write_gguf(path: Path, weights: dict[str, Tensor], config: dict[str, Any], tokenizer: dict[str, Any]) -> None:
    """`weights` by the names of LanguageModel: matrices become f16, vectors stay f32."""
    metadata = b"".join(_string(key) + _value(value) for key, value in _metadata(config, tokenizer).items())
    infos, data = b"", b""
    for name, tensor in weights.items():
        is_matrix = tensor.dim() == 2
        blob = (tensor.half() if is_matrix else tensor.float()).contiguous().numpy().tobytes()
        shape = b"".join(struct.pack("<Q", size) for size in reversed(tensor.shape))
        kind = TYPE_F16 if is_matrix else TYPE_F32
        infos += _string(_gguf_name(name)) + struct.pack("<I", tensor.dim()) + shape + struct.pack("<IQ", kind, len(data))
        data += blob + b"\0" * (-len(blob) % ALIGNMENT)
    count = len(_metadata(config, tokenizer))
    head = b"GGUF" + struct.pack("<IQQ", 3, len(weights), count) + metadata + infos
    path.write_bytes(head + b"\0" * (-len(head) % ALIGNMENT) + data)
