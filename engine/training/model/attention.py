"""Causal attention in blocks of queries: keys after a block are never touched, and a block's scores stay in the cache."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

QUERY_BLOCK = 128


def sample_mask(ids: Tensor, end_of_text: int) -> Tensor:
    """Causal within a sample and blind across samples: [batch, 1, length, length], bf16, to be added to scores."""
    length = ids.shape[1]
    ends = ids == end_of_text
    sample = ends.cumsum(1) - ends.long()  # the end token belongs to the sample it ends
    visible = (sample[:, :, None] == sample[:, None, :]).tril()
    mask = torch.full(visible.shape, float("-inf"), dtype=torch.bfloat16)
    return mask.masked_fill_(visible, 0.0)[:, None]


class BlockAttention(torch.autograd.Function):
    """softmax(q k^T + mask) v with keys and values shared by groups of query heads.

    q [batch, heads, length, head_dim], already scaled; k, v [batch, kv_heads, length, head_dim]; all bf16.
    """

    @staticmethod
    def forward(ctx: Any, q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> Tensor:
        batch, heads, length, head_dim = q.shape
        kv_heads = k.shape[1]
        group = heads // kv_heads
        grouped = q.view(batch * kv_heads, group, length, head_dim)
        keys, values = k.reshape(-1, length, head_dim), v.reshape(-1, length, head_dim)
        output = torch.empty_like(grouped)
        weights = []
        for start in range(0, length, QUERY_BLOCK):
            end = min(start + QUERY_BLOCK, length)
            rows = end - start
            block = grouped[:, :, start:end].reshape(-1, group * rows, head_dim)
            scores = torch.bmm(block, keys[:, :end].transpose(1, 2))
            scores.view(batch, heads, rows, end).add_(mask[:, :, start:end, :end])
            weight = torch.softmax(scores, -1)
            output[:, :, start:end] = torch.bmm(weight, values[:, :end]).view(-1, group, rows, head_dim)
            weights.append(weight)
        ctx.save_for_backward(q, k, v, *weights)
        return output.view(batch, heads, length, head_dim)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor, Tensor, None]:
        q, k, v, *weights = ctx.saved_tensors
        batch, heads, length, head_dim = q.shape
        kv_heads = k.shape[1]
        group = heads // kv_heads
        grouped = q.view(batch * kv_heads, group, length, head_dim)
        grads = grad.reshape(batch * kv_heads, group, length, head_dim)
        keys, values = k.reshape(-1, length, head_dim), v.reshape(-1, length, head_dim)
        grad_q = torch.empty_like(grouped)
        grad_k = torch.zeros(keys.shape)
        grad_v = torch.zeros(values.shape)
        for weight, start in zip(weights, range(0, length, QUERY_BLOCK)):
            end = min(start + QUERY_BLOCK, length)
            rows = end - start
            block = grouped[:, :, start:end].reshape(-1, group * rows, head_dim)
            grad_block = grads[:, :, start:end].reshape(-1, group * rows, head_dim)
            grad_weight = torch.bmm(grad_block, values[:, :end].transpose(1, 2))
            grad_scores = torch._softmax_backward_data(grad_weight, weight, -1, weight.dtype)
            grad_v[:, :end] += torch.bmm(weight.transpose(1, 2), grad_block)
            grad_k[:, :end] += torch.bmm(grad_scores.transpose(1, 2), block)
            grad_q[:, :, start:end] = torch.bmm(grad_scores, keys[:, :end]).view(-1, group, rows, head_dim)
        return grad_q.view_as(q), grad_k.to(k.dtype).view_as(k), grad_v.to(v.dtype).view_as(v), None
