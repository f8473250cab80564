"""Training windows in a fixed pseudo-random order that a run can continue from any step."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from torch import Tensor

EPOCH_SEED_STRIDE = 1_000_003


class WindowFile:
    """Windows of `length + 1` tokens back to back; the name says the length and the type: `train.512.bin` uint16,
    `train.512.u32` uint32.
    """

    def __init__(self, path: Path, seed: int, taken: int = 0) -> None:
        self.path = path
        self.length = int(path.name.split(".")[-2])
        tokens = np.memmap(path, dtype=np.uint32 if path.suffix == ".u32" else np.uint16, mode="r")
        self.count = len(tokens) // (self.length + 1)
        if self.count == 0:
            raise ValueError(f"{path} holds no window of {self.length + 1} tokens")
        self.windows = tokens[: self.count * (self.length + 1)].reshape(self.count, self.length + 1)
        self.seed = seed
        self.taken = taken
        self._epoch = -1
        self._order = np.empty(0, dtype=np.int64)

    def take(self, count: int) -> Tensor:
        """The next windows, int64 [count, length + 1]; starts over in a new order after the last one."""
        return torch.from_numpy(np.stack([self._next() for _ in range(count)]).astype(np.int64))

    def _next(self) -> np.ndarray:
        epoch, position = divmod(self.taken, self.count)
        if epoch != self._epoch:
            self._epoch = epoch
            self._order = np.random.default_rng(self.seed + epoch * EPOCH_SEED_STRIDE).permutation(self.count)
        self.taken += 1
        return self.windows[self._order[position]]

    def spread(self, count: int) -> Tensor:
        """Windows at even distances over the file, the same at each call."""
        picked = np.linspace(0, self.count - 1, min(count, self.count)).astype(int)
        return torch.from_numpy(self.windows[picked].astype(np.int64))


class WindowMix:
    """Several files, one chosen for each step in proportion to its weight, by seed and step alone."""

    def __init__(self, files: list[WindowFile], weights: list[float], seed: int) -> None:
        self.files = files
        self.weights = np.array(weights) / sum(weights)
        self.seed = seed
        if len(self.taken) < len(files):
            raise ValueError("two files have one name: a checkpoint could not tell their places apart")

    @property
    def taken(self) -> dict[str, int]:
        """Windows taken of each file, by name: a run goes on where it was, whatever folder its files are in now."""
        return {file.path.name: file.taken for file in self.files}

    def file_for(self, step: int) -> WindowFile:
        choice = np.random.default_rng((self.seed, step)).choice(len(self.files), p=self.weights)
        return self.files[choice]
