"""Windows of tokens for training heads, each token marked: would the target be asked for it?

`NAME.LENGTH.bin`: windows of text (engine/training/samples); every token counts.
`NAME.LENGTH.npz`: windows with the target's own greedy completions (make_rollouts.py); only completed tokens count.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import model_path  # noqa: F401
import numpy as np
import torch
from torch import Tensor
from windows import EPOCH_SEED_STRIDE, WindowFile


ROWS_A_RUN = 32


@dataclass(frozen=True)
class Batch:
    """ids [batch, length] int64; counted [batch, length]: tokens that a drafter would have to guess."""

    ids: Tensor
    counted: Tensor

    def split(self, size: int) -> list[Batch]:
        return [Batch(ids, counted) for ids, counted in zip(self.ids.split(size), self.counted.split(size))]


class TextFile:
    def __init__(self, path: Path, seed: int, taken: int = 0) -> None:
        self.path = path
        self._file = WindowFile(path, seed, taken)

    @property
    def taken(self) -> int:
        return self._file.taken

    def take(self, count: int) -> Batch:
        return self._all_counted(self._file.take(count))

    def spread(self, count: int) -> Batch:
        return self._all_counted(self._file.spread(count))

    def every(self) -> Batch:
        return self.spread(self._file.count)

    @staticmethod
    def _all_counted(ids: Tensor) -> Batch:
        return Batch(ids, torch.ones_like(ids, dtype=torch.bool))


class RolloutFile:
    def __init__(self, path: Path, seed: int, taken: int = 0) -> None:
        self.path = path
        content = np.load(path)
        self._ids = torch.from_numpy(content["ids"].astype(np.int64))
        self._counted = torch.from_numpy(content["completed"])
        self._seed = seed
        self.taken = taken

    def take(self, count: int) -> Batch:
        """The next windows in a fixed pseudo-random order, another one in each pass over the file."""
        picked = [self._place(self.taken + i) for i in range(count)]
        self.taken += count
        return Batch(self._ids[picked], self._counted[picked])

    def spread(self, count: int) -> Batch:
        picked = np.linspace(0, len(self._ids) - 1, min(count, len(self._ids))).astype(int)
        return Batch(self._ids[picked], self._counted[picked])

    def every(self) -> Batch:
        return Batch(self._ids, self._counted)

    def _place(self, position: int) -> int:
        epoch, place = divmod(position, len(self._ids))
        order = np.random.default_rng(self._seed + epoch * EPOCH_SEED_STRIDE).permutation(len(self._ids))
        return int(order[place])


SampleFile = TextFile | RolloutFile


def open_samples(path: Path, seed: int, taken: int = 0) -> SampleFile:
    return RolloutFile(path, seed, taken) if path.suffix == ".npz" else TextFile(path, seed, taken)


@dataclass(frozen=True)
class Rows:
    """Places to draft from. Row t has the target's state after token t and knows token t + 1 (the bonus);
    step i guesses token t + 2 + i. All tensors are [batch, rows] or [batch, rows, steps].
    """

    start: Tensor  # t
    valid: Tensor  # [batch, rows, steps] bool: is the token to guess counted and in the same sample?

    @property
    def steps(self) -> int:
        return self.valid.shape[-1]

    def tokens_at(self, ids: Tensor, offset: int) -> Tensor:
        """ids at t + offset, [batch, rows]; the window's last token where that lies outside it."""
        return ids.gather(1, self.places(offset, ids.shape[1]))

    def places(self, offset: int, length: int) -> Tensor:
        return (self.start + offset).clamp(max=length - 1)

    def where_text_is(self, ids: Tensor, following: Tensor) -> Rows:
        """Steps only as far as the text goes on with `following` [batch, length], the token expected after each."""
        expected = torch.stack([following.gather(1, self.places(step, ids.shape[1])) for step in range(self.steps)], -1)
        written = torch.stack([self.tokens_at(ids, 1 + step) for step in range(self.steps)], -1)
        return Rows(self.start, self.valid & (written == expected).long().cumprod(-1).bool())

    def targets(self, ids: Tensor) -> Tensor:
        """The tokens to guess, [batch, rows, steps]."""
        return torch.stack([self.tokens_at(ids, 2 + step) for step in range(self.steps)], -1)


def guessable(batch: Batch, end_of_text: int, steps: int) -> Tensor:
    """[batch, length, steps]: may step i of row t be asked for token t + 2 + i?"""
    ids, counted = batch.ids, batch.counted
    ends = (ids == end_of_text).long()
    sample = ends.cumsum(1) - ends
    length = ids.shape[1]
    allowed = torch.zeros(*ids.shape, steps, dtype=torch.bool)
    for step in range(steps):
        reach = length - 2 - step
        same = sample[:, :reach] == sample[:, 2 + step :]
        allowed[:, :reach, step] = same & counted[:, 1 : 1 + reach] & counted[:, 2 + step :]
    return allowed


def choose_rows(batch: Batch, end_of_text: int, steps: int, count: int) -> Rows:
    """`count` rows of each window in runs at random places, rows with something to guess first.

    In runs, because neighbours guess the same tokens at different steps: the target's distributions serve them all.
    """
    allowed = guessable(batch, end_of_text, steps)
    windows, length = batch.ids.shape
    runs = torch.rand(windows, -(-length // ROWS_A_RUN)).repeat_interleave(ROWS_A_RUN, 1)[:, :length]
    start = (runs + allowed[:, :, 0]).topk(count, 1).indices.sort(1).values
    return Rows(start, allowed.gather(1, start[:, :, None].expand(-1, -1, steps)))


def all_rows(batch: Batch, end_of_text: int, steps: int) -> Rows:
    start = torch.arange(batch.ids.shape[1]).expand(batch.ids.shape[0], -1)
    return Rows(start, guessable(batch, end_of_text, steps))
