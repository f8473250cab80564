"""The layer of an EAGLE head, and its steps as drafting runs them (training-time test, EAGLE-3 section 3.2).

Row t of step 0 sees the rows before it, made of the target's features. Step i > 0 continues each row with the head's
own output: it sees what step 0 saw and the same row of the steps between.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import model_path  # noqa: F401
import torch
import torch.nn.functional as F
from architecture import MLP, ModelConfig, rope_tables, rotate
from samples import Rows
from target import heads_apart, normalise
from torch import Tensor, nn


class NormWeight(nn.Module):
    def __init__(self, size: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))

    def forward(self, x: Tensor) -> Tensor:
        return normalise(x, self.weight)


class DraftAttention(nn.Module):
    """Projections of Llama's attention (no bias) from an input of `width`."""

    def __init__(self, config: ModelConfig, width: int) -> None:
        super().__init__()
        query, key = config.heads * config.head_dim, config.kv_heads * config.head_dim
        self.head_dim = config.head_dim
        self.q_proj = nn.Linear(width, query, bias=False)
        self.k_proj = nn.Linear(width, key, bias=False)
        self.v_proj = nn.Linear(width, key, bias=False)
        self.o_proj = nn.Linear(query, config.hidden, bias=False)


class DraftMLP(MLP):
    def forward(self, x: Tensor) -> Tensor:
        return self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))


class UnrolledHead(Protocol):
    """What differs between the kinds of EAGLE heads."""

    config: ModelConfig

    @property
    def attention(self) -> DraftAttention: ...

    def enter(self, hidden: Tensor, embedding: Tensor) -> tuple[Tensor, Tensor]:
        """The attention's input and the residual that its output is added to."""

    def leave(self, residual: Tensor) -> Tensor:
        """The rest of the layer: the hidden state that the next step is fed with."""


@dataclass
class SeenKeys:
    """Keys and values of step 0 [batch, kv_heads, length, head_dim] and of each later step's rows."""

    keys: Tensor
    values: Tensor
    later_keys: list[Tensor]
    later_values: list[Tensor]


def attend_rows(q: Tensor, seen: SeenKeys, mask: Tensor) -> Tensor:
    """q [batch, heads, rows, head_dim]; mask [batch, 1, rows, length] for the keys of step 0; returns like q."""
    batch, heads, rows, head_dim = q.shape
    kv_heads, length = seen.keys.shape[1:3]
    grouped = q.reshape(batch, kv_heads, -1, head_dim) * head_dim**-0.5
    scores = (grouped @ seen.keys.transpose(2, 3)).view(batch, heads, rows, length) + mask
    by_group = grouped.view(batch, kv_heads, -1, rows, head_dim)
    own = [(by_group * keys[:, :, None]).sum(-1).view(batch, heads, rows, 1) for keys in seen.later_keys]
    weights = torch.softmax(torch.cat((scores, *own), -1), -1)
    mixed = weights[..., :length].reshape(batch, kv_heads, -1, length) @ seen.values
    mixed = mixed.view(batch, kv_heads, -1, rows, head_dim)
    for step, values in enumerate(seen.later_values):
        weight = weights[..., length + step].view(batch, kv_heads, -1, rows, 1)
        mixed = mixed + weight * values[:, :, None]
    return mixed.reshape(batch, heads, rows, head_dim)


def take_rows(x: Tensor, places: Tensor) -> Tensor:
    """x [batch, length, width] at places [batch, rows]."""
    return x.gather(1, places[:, :, None].expand(-1, -1, x.shape[-1]))


def unroll(head: UnrolledHead, features: Tensor, embeddings: Tensor, mask: Tensor, rows: Rows) -> list[Tensor]:
    """Hidden states [batch, rows, hidden] after each step.

    features [batch, length, hidden]: the head's first hidden states, one a token; embeddings [batch, length, hidden] of
    the same tokens (row t enters with the embedding of token t + 1); mask [batch, 1, length, length] as for the target.
    """
    attention, length = head.attention, features.shape[1]
    cos, sin = rope_tables(length + rows.steps, attention.head_dim, head.config.rope_theta)
    following = torch.cat((embeddings[:, 1:], embeddings[:, -1:]), 1)
    context, _ = head.enter(features, following)
    seen = SeenKeys(
        rotate(heads_apart(attention.k_proj(context), attention.head_dim), cos[:length], sin[:length]),
        heads_apart(attention.v_proj(context), attention.head_dim),
        [],
        [],
    )
    row_mask = mask.gather(2, rows.start[:, None, :, None].expand(-1, -1, -1, length))
    hidden, outputs = take_rows(features, rows.start), []
    for step in range(rows.steps):
        entered, residual = head.enter(hidden, take_rows(embeddings, rows.places(1 + step, length)))
        turn = (rows.start + step)[:, None]
        row_cos, row_sin = cos[turn], sin[turn]  # [batch, 1, rows, head_dim / 2]
        q = rotate(heads_apart(attention.q_proj(entered), attention.head_dim), row_cos, row_sin)
        if step > 0:
            k = heads_apart(attention.k_proj(entered), attention.head_dim)
            seen.later_keys.append(rotate(k, row_cos, row_sin))
            seen.later_values.append(heads_apart(attention.v_proj(entered), attention.head_dim))
        mixed = attend_rows(q, seen, row_mask).transpose(1, 2).flatten(2)
        hidden = head.leave(residual + attention.o_proj(mixed))
        outputs.append(hidden)
    return outputs
