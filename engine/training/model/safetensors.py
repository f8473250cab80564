"""Reads and writes safetensors files of bfloat16 tensors."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from whole_file import whole_file, write_whole_text


def write_bfloat16(path: Path, tensors: dict[str, Tensor]) -> None:
    header, blobs, offset = {}, [], 0
    for name, tensor in tensors.items():
        blob = tensor.to(torch.bfloat16).contiguous().view(torch.int16).numpy().tobytes()
        header[name] = {"dtype": "BF16", "shape": list(tensor.shape), "data_offsets": [offset, offset + len(blob)]}
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
        write_bfloat16(folder / file, shard)
    index = {
        "metadata": {"total_size": sum(tensor.numel() * 2 for tensor in tensors.values())},
        "weight_map": {name: file for file, shard in zip(files, shards) for name in shard},
    }
    write_whole_text(folder / "model.safetensors.index.json", json.dumps(index, indent=1) + "\n")


def read_bfloat16(path: Path) -> dict[str, Tensor]:
    """All tensors as float32; raises ValueError for another type."""
    content = path.read_bytes()
    (header_size,) = struct.unpack_from("<Q", content)
    header = json.loads(content[8 : 8 + header_size])
    tensors = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        if entry["dtype"] != "BF16":
            raise ValueError(f"{path}: {name} is {entry['dtype']}, expected BF16")
        begin, end = entry["data_offsets"]
        raw = np.frombuffer(content, dtype=np.int16, count=(end - begin) // 2, offset=8 + header_size + begin)
        tensors[name] = torch.from_numpy(raw.copy()).view(torch.bfloat16).view(entry["shape"]).float()
    return tensors
