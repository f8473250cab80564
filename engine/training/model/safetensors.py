"""Reads and writes safetensors files: bfloat16 weights, and the int64 and bool tensors that head files have beside them."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from whole_file import whole_file, write_whole_json

STORED = {"BF16": (np.int16, torch.bfloat16), "I64": (np.int64, torch.int64), "BOOL": (np.bool_, torch.bool)}


def _encode(tensor: Tensor) -> tuple[str, bytes]:
    if tensor.dtype == torch.int64:
        return "I64", tensor.contiguous().numpy().tobytes()
    if tensor.dtype == torch.bool:
        return "BOOL", tensor.contiguous().numpy().tobytes()
    return "BF16", tensor.detach().to(torch.bfloat16).contiguous().view(torch.int16).numpy().tobytes()


def write_tensors(path: Path, tensors: dict[str, Tensor]) -> None:
    """Floating-point tensors become bfloat16; wide types come first, so that each is aligned."""
    path.parent.mkdir(parents=True, exist_ok=True)
    header, blobs, offset = {}, [], 0
    for name, tensor in sorted(tensors.items(), key=lambda item: -item[1].element_size()):
        kind, blob = _encode(tensor)
        header[name] = {"dtype": kind, "shape": list(tensor.shape), "data_offsets": [offset, offset + len(blob)]}
        offset += len(blob)
        blobs.append(blob)
    encoded = json.dumps(header).encode()
    encoded += b" " * (-len(encoded) % 8)
    with whole_file(path) as partial:
        partial.write_bytes(struct.pack("<Q", len(encoded)) + encoded + b"".join(blobs))


def write_bfloat16_shards(folder: Path, tensors: dict[str, Tensor], most_bytes: int) -> None:
    """`model-I-of-N.safetensors`, each of at most `most_bytes` of tensors, and the index that Hugging Face's loaders read."""
    shards: list[dict[str, Tensor]] = [{}]
    size = 0
    for name, tensor in tensors.items():
        bytes_needed = tensor.numel() * 2
        if shards[-1] and size + bytes_needed > most_bytes:
            shards.append({})
            size = 0
        shards[-1][name] = tensor
        size += bytes_needed
    files = [f"model-{i + 1:05}-of-{len(shards):05}.safetensors" for i in range(len(shards))]
    for file, shard in zip(files, shards):
        write_tensors(folder / file, shard)
    index = {
        "metadata": {"total_size": sum(tensor.numel() * 2 for tensor in tensors.values())},
        "weight_map": {name: file for file, shard in zip(files, shards) for name in shard},
    }
    write_whole_json(folder / "model.safetensors.index.json", index)


def read_tensors(path: Path) -> dict[str, Tensor]:
    """All tensors, bfloat16 ones as float32; raises ValueError for a type that is not written here."""
    content = path.read_bytes()
    (header_size,) = struct.unpack_from("<Q", content)
    tensors = {}
    for name, entry in json.loads(content[8 : 8 + header_size]).items():
        if name == "__metadata__":
            continue
        if entry["dtype"] not in STORED:
            raise ValueError(f"{path}: {name} is {entry['dtype']}, expected one of {', '.join(STORED)}")
        raw_type, kind = STORED[entry["dtype"]]
        begin, end = (8 + header_size + place for place in entry["data_offsets"])
        raw = torch.from_numpy(np.frombuffer(content[begin:end], dtype=raw_type).copy())
        tensor = raw.view(torch.bfloat16).float() if kind == torch.bfloat16 else raw
        tensors[name] = tensor.view(entry["shape"])
    return tensors
