"""What the target gave for windows that were met before, on disk in float16: later epochs and other heads reuse it.

A window takes taps * length * hidden * 2 bytes (1 MB for four taps, 512 tokens and hidden 256). Worth it where the
target is slow beside the disk; all jobs meet the same windows in the same order.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path

import model_path  # noqa: F401
import numpy as np
import torch
from torch import Tensor
from whole_file import whole_file


class FeatureMemory:
    """One file a window, named by its tokens; the folder belongs to one target. `taps`: those that are kept."""

    def __init__(self, folder: Path, taps: Sequence[int]) -> None:
        self.folder = folder
        self.taps = list(taps)
        folder.mkdir(parents=True, exist_ok=True)

    def recall(
        self, ids: Tensor, taps: Sequence[int], compute: Callable[[Tensor, Sequence[int]], list[Tensor]]
    ) -> list[Tensor]:
        """`compute(ids, taps)`, from the files where they are; ids [batch, length]."""
        if not set(taps) <= set(self.taps):
            return compute(ids, taps)
        files = [self.folder / f"{hashlib.sha1(window.numpy().tobytes()).hexdigest()}.npy" for window in ids]
        unknown = [place for place, file in enumerate(files) if not file.exists()]
        if unknown:
            streams = torch.stack(compute(ids[unknown], self.taps), 1)  # [windows, taps, length, hidden]
            for place, stream in zip(unknown, streams):
                self._write(files[place], stream)
        known = torch.stack([torch.from_numpy(np.load(file)) for file in files], 1).float()
        return [known[self.taps.index(tap)] for tap in taps]

    @staticmethod
    def _write(file: Path, stream: Tensor) -> None:
        with whole_file(file) as partial, partial.open("wb") as opened:
            np.save(opened, stream.half().numpy())
