"""Cross-entropy between a head's and the target's distributions, with gradients made in the same pass over memory."""

from __future__ import annotations

from typing import Any

import torch
from samples import Rows
from torch import Tensor

CHUNK_ROWS = 256


class AskedPlaces:
    """The places of a batch whose distributions the rows need, each once."""

    def __init__(self, rows: Rows, length: int) -> None:
        window = torch.arange(len(rows.start))[:, None] * length
        by_step = torch.stack([window + rows.places(1 + step, length) for step in range(rows.steps)])
        self._rows = rows
        self.places, self._of_step = by_step.flatten(1).unique(return_inverse=True)

    def of_step(self, step: int) -> Tensor:
        """For each row of a step, flattened, its index into `places`."""
        return self._of_step[step]

    def weights(self, step: int, discount: float, counted: Tensor | None = None) -> Tensor:
        """Weights of a step's rows, flattened, that sum to discount^step; `counted` [places]: those that matter."""
        valid = self._rows.valid[:, :, step].flatten()
        if counted is not None:
            valid = valid & counted[self.of_step(step)]
        return valid.float() * (discount**step / valid.sum().clamp(min=1))


class SoftCrossEntropy(torch.autograd.Function):
    """sum over rows of weight * -sum(p log softmax(hidden @ head.T)).

    hidden [rows, width]; head [vocabulary, width]; probabilities [places, vocabulary], p of row r is at places[r];
    weights [rows]. Logits exist for CHUNK_ROWS rows at a time. Rows of weight 0 cost nothing.
    """

    @staticmethod
    def forward(
        ctx: Any, hidden: Tensor, head: Tensor, probabilities: Tensor, places: Tensor, weights: Tensor
    ) -> Tensor:
        learns_head = ctx.needs_input_grad[1]
        grad_hidden = torch.zeros_like(hidden)
        grad_head = torch.zeros_like(head) if learns_head else None
        total = torch.zeros(())
        for rows in weights.nonzero()[:, 0].split(CHUNK_ROWS):
            chunk, weight = hidden[rows], weights[rows, None]
            p = probabilities[places[rows]]
            log_q = torch.log_softmax(chunk @ head.t(), -1)
            total -= ((p * log_q).sum(-1) * weight[:, 0]).sum()
            slope = log_q.exp_().mul_(p.sum(-1, keepdim=True)).sub_(p).mul_(weight)
            grad_hidden[rows] = slope @ head
            if grad_head is not None:
                grad_head.addmm_(slope.t(), chunk)
        ctx.save_for_backward(grad_hidden, grad_head)
        return total

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor | None, None, None, None]:
        grad_hidden, grad_head = ctx.saved_tensors
        return grad * grad_hidden, None if grad_head is None else grad * grad_head, None, None, None
