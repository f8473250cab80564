"""What a drafter's chain would have been accepted for, by the definitions of vLLM.

The tokens to guess are the target's own greedy choices, so teacher forcing changes nothing: a chain's accepted part is
exactly the tokens it was forced to continue with.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from samples import Batch, Rows
from torch import Tensor


def accepted_lengths(guesses: Tensor, rows: Rows, ids: Tensor) -> Tensor:
    """How many leading guesses of each row are right, [batch, rows]."""
    right = (guesses == rows.targets(ids)) & rows.valid
    return right.long().cumprod(-1).sum(-1)


@dataclass
class Acceptance:
    """Sums over rows of windows; `steps` is the chain's length."""

    steps: int
    asked: Tensor = field(init=False)
    accepted: Tensor = field(init=False)
    drafts: int = 0
    tokens: int = 0

    def __post_init__(self) -> None:
        self.asked, self.accepted = torch.zeros(self.steps), torch.zeros(self.steps)

    def add(self, batch: Batch, rows: Rows, guesses: Tensor) -> None:
        lengths = accepted_lengths(guesses, rows, batch.ids)
        for step in range(self.steps):
            asked = rows.valid[:, :, step] & (lengths >= step)
            self.asked[step] += asked.sum()
            self.accepted[step] += (asked & (lengths > step)).sum()
        for starts, valid, row_lengths in zip(rows.start, rows.valid[:, :, 0], lengths):
            self._walk(starts, valid, row_lengths)

    def _walk(self, starts: Tensor, valid: Tensor, lengths: Tensor) -> None:
        """Decodes each completion as an engine would: draft, accept, bonus, draft after that."""
        free_from = -1
        for start, accepted in zip(starts[valid].tolist(), lengths[valid].tolist()):
            if start < free_from:
                continue
            self.drafts += 1
            self.tokens += accepted + 1
            free_from = start + accepted + 1

    @property
    def by_position(self) -> list[float]:
        """Chance that guess i is right, of those whose guesses before were right."""
        return (self.accepted / self.asked.clamp(min=1)).tolist()

    @property
    def mean_length(self) -> float:
        """Tokens a verification gives, its bonus included."""
        return self.tokens / max(1, self.drafts)

    def summary(self) -> dict[str, object]:
        return {
            "acceptance": [round(rate, 3) for rate in self.by_position],
            "meanAcceptanceLength": round(self.mean_length, 3),
        }
