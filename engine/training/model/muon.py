"""Muon (Keller Jordan 2024): momentum, made orthogonal by a Newton-Schulz iteration, for weight matrices."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import torch
from torch import Tensor

NEWTON_SCHULZ = (3.4445, -4.7750, 2.0315)
NEWTON_SCHULZ_STEPS = 5
WEIGHT_DECAY = 0.02
UPDATE_SCALE = 0.5
MOMENTUM = 0.95
WARM_MOMENTUM = 0.85
MOMENTUM_WARM_UP_STEPS = 200


def orthogonalise(gradients: Tensor) -> Tensor:
    """Moves the singular values of each matrix of [count, rows, columns] towards 1; bf16 inside."""
    a, b, c = NEWTON_SCHULZ
    x = gradients.bfloat16()
    tall = x.shape[1] > x.shape[2]
    if tall:
        x = x.transpose(1, 2)
    norms = x.float().flatten(1).norm(dim=1)[:, None, None]
    x = x / (norms + 1e-7).bfloat16()
    for _ in range(NEWTON_SCHULZ_STEPS):
        square = torch.bmm(x, x.transpose(1, 2))
        polynomial = b * square + c * torch.bmm(square, square)
        x = a * x + torch.bmm(polynomial, x)
    return (x.transpose(1, 2) if tall else x).float()


class Muon:
    """Matrices of one shape are orthogonalised in one batch."""

    def __init__(self, matrices: list[Tensor]) -> None:
        self.matrices = matrices
        self.momenta = [torch.zeros_like(matrix) for matrix in matrices]
        self.by_shape: dict[tuple[int, ...], list[int]] = defaultdict(list)
        for index, matrix in enumerate(matrices):
            self.by_shape[tuple(matrix.shape)].append(index)

    @torch.no_grad()
    def step(self, learning_rate: float, steps_done: int) -> None:
        warm = min(1.0, steps_done / MOMENTUM_WARM_UP_STEPS)
        decay = WARM_MOMENTUM + (MOMENTUM - WARM_MOMENTUM) * warm
        for shape, indices in self.by_shape.items():
            gradients = torch.stack([self.matrices[i].grad for i in indices])
            momenta = torch.stack([self.momenta[i].mul_(decay).add_(self.matrices[i].grad) for i in indices])
            updates = orthogonalise(gradients + decay * momenta)  # Nesterov
            scale = UPDATE_SCALE * max(1.0, shape[0] / shape[1]) ** 0.5
            for update, index in zip(updates, indices):
                self.matrices[index].mul_(1 - learning_rate * WEIGHT_DECAY).add_(update, alpha=-learning_rate * scale)

    def state_dict(self) -> dict[str, Any]:
        return {"momenta": self.momenta}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        for mine, saved in zip(self.momenta, state["momenta"]):
            mine.copy_(saved)
