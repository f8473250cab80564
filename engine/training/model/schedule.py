"""Warm-up / stable / decay (Hu et al. 2024, MiniCPM): the decay starts on demand from any stable checkpoint."""

from __future__ import annotations

from dataclasses import dataclass

WARM_UP_STEPS = 60
LAST_FACTOR = 0.02


@dataclass(frozen=True)
class Schedule:
    """Factor on the learning rates; without `decay_steps` it stays at `peak` after the warm-up."""

    warm_up_from: int
    decay_from: int = 0
    decay_steps: int = 0
    peak: float = 1.0

    def factor(self, step: int) -> float:
        warm = min(1.0, (step - self.warm_up_from + 1) / WARM_UP_STEPS)
        if self.decay_steps == 0:
            return warm * self.peak
        left = 1.0 - (step - self.decay_from) / self.decay_steps
        return warm * max(LAST_FACTOR, self.peak * left)

    def is_over(self, step: int) -> bool:
        return self.decay_steps > 0 and step >= self.decay_from + self.decay_steps
