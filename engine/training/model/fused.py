"""Hand-written gradients for what PyTorch 1.13 does on CPU in several passes over memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

CHUNK_ROWS = 512


class RMSNormFunction(torch.autograd.Function):
    """y = x / rms(x) * weight."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, eps: float) -> Tensor:
        scale = torch.rsqrt(x.float().square().mean(-1, keepdim=True) + eps)
        normal = x * scale
        ctx.save_for_backward(normal, scale, weight)
        return normal * weight

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor, None]:
        normal, scale, weight = ctx.saved_tensors
        weighted = grad * weight
        grad_weight = (grad * normal).reshape(-1, weight.numel()).sum(0)
        grad_x = scale * (weighted - normal * (weighted * normal).mean(-1, keepdim=True))
        return grad_x, grad_weight, None


class SwiGLUFunction(torch.autograd.Function):
    """silu(gate) * up; keeps only its inputs."""

    @staticmethod
    def forward(ctx: Any, gate: Tensor, up: Tensor) -> Tensor:
        ctx.save_for_backward(gate, up)
        return gate * torch.sigmoid(gate) * up  # F.silu takes twice as long in bf16

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor]:
        gate, up = ctx.saved_tensors
        sigmoid = torch.sigmoid(gate)
        silu = gate * sigmoid
        return grad * up * (sigmoid + silu * (1 - sigmoid)), grad * silu


def loss_and_slopes(logits: Tensor, target: Tensor, rows: int) -> tuple[Tensor, Tensor]:
    """Summed cross-entropy of logits [chunk, vocabulary] at target [chunk, 1], and its gradient over `rows` in bfloat16."""
    shifted = logits.float()
    shifted.sub_(shifted.max(-1, keepdim=True).values)
    picked = shifted.gather(1, target)
    weights = shifted.exp_()
    sums = weights.sum(-1, keepdim=True)
    loss = (sums.log() - picked).sum()
    weights.div_(sums * rows)
    weights.scatter_add_(1, target, torch.full_like(picked, -1.0 / rows))
    return loss, weights.to(torch.bfloat16)


class LinearCrossEntropy(torch.autograd.Function):
    """Mean cross-entropy of `hidden @ weight.T`: logits exist for CHUNK_ROWS rows at a time, gradients come with them."""

    @staticmethod
    def forward(
        ctx: Any,
        hidden: Tensor,
        weight: Tensor,
        targets: Tensor,
        of_chunk: Callable[[Tensor, Tensor, int], tuple[Tensor, Tensor]] = loss_and_slopes,
    ) -> Tensor:
        rows = hidden.shape[0]
        weight16, hidden16 = weight.to(torch.bfloat16), hidden.to(torch.bfloat16)
        grad_hidden = torch.empty(rows, hidden.shape[1])
        grad_weight = torch.zeros_like(weight)
        total = torch.zeros(())
        for start in range(0, rows, CHUNK_ROWS):
            chunk = hidden16[start : start + CHUNK_ROWS]
            loss, slopes = of_chunk(chunk @ weight16.t(), targets[start : start + CHUNK_ROWS, None], rows)
            total += loss
            grad_hidden[start : start + CHUNK_ROWS] = (slopes @ weight16).float()
            grad_weight += (slopes.t() @ chunk).float()
        ctx.save_for_backward(grad_hidden, grad_weight)
        return total / rows

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor, None, None]:
        grad_hidden, grad_weight = ctx.saved_tensors
        return grad * grad_hidden, grad * grad_weight, None, None
