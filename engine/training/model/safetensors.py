"""Reads and writes safetensors files of bfloat16 tensors."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import numpy as np
import torch
from torch import Tensor


def write_bfloat16(path: Path, tensors: dict[str, Tensor]) -> None:
    header, blobs, offset = {}, [], 0
    for name, tensor in tensors.items():
        blob = tensor.to(torch.bfloat16).contiguous().view(torch.int16).numpy().tobytes()
        header[name] = {"dtype": "BF16", "shape": list(tensor.shape), "data_offsets": [offset, offset + len(blob)]}
        offset += len(blob)
        blobs.append(blob)
    encoded = json.dumps(header).encode()
    encoded += b" " * (-len(encoded) % 8)
    path.write_bytes(struct.pack("<Q", len(encoded)) + encoded + b"".join(blobs))


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
