"""The frozen target: residual streams, final hidden states and logits of whole windows, in float32.

float32 throughout: with PyTorch 2's matrix products it is as fast on a CPU as bfloat16, and argmaxes are then the ones
that the engine's float32 kernels have, up to near-ties.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import model_path  # noqa: F401
import torch
import torch.nn.functional as F
from architecture import RMS_NORM_EPS, Attention, Block, LanguageModel, rope_tables, rotate
from evaluate import load
from feature_memory import FeatureMemory
from torch import Tensor

HIDDEN = -1e30


def normalise(x: Tensor, weight: Tensor) -> Tensor:
    return F.rms_norm(x, (x.shape[-1],), weight, RMS_NORM_EPS)


def heads_apart(x: Tensor, head_dim: int) -> Tensor:
    """[batch, length, heads * head_dim] to [batch, heads, length, head_dim]."""
    return x.unflatten(-1, (-1, head_dim)).transpose(1, 2)


def visible_mask(ids: Tensor, end_of_text: int) -> Tensor:
    """Causal within a sample and blind across samples: [batch, 1, length, length], to be added to scores."""
    ends = (ids == end_of_text).long()
    sample = ends.cumsum(1) - ends  # the end token belongs to the sample it ends
    visible = (sample[:, :, None] == sample[:, None, :]).tril()
    return torch.zeros(visible.shape).masked_fill_(~visible, HIDDEN)[:, None]


class NoPast:
    """Keys and values of this pass alone."""

    def extend(self, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        return keys, values


class Past:
    """Keys and values of one layer for passes that continue each other, [batch, kv_heads, capacity, head_dim]."""

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.length = 0
        self.keys = self.values = torch.empty(0)

    def extend(self, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        if self.length == 0:
            self.keys, self.values = (x.new_empty(*x.shape[:2], self.capacity, x.shape[3]) for x in (keys, values))
        end = self.length + keys.shape[2]
        self.keys[:, :, self.length : end] = keys
        self.values[:, :, self.length : end] = values
        self.length = end
        return self.keys[:, :, :end], self.values[:, :, :end]

    def keep(self, sequences: Tensor) -> None:
        """Drops all sequences but these."""
        self.keys, self.values = self.keys[sequences], self.values[sequences]


def attend(attention: Attention, x: Tensor, cos: Tensor, sin: Tensor, mask: Tensor, past: NoPast | Past) -> Tensor:
    """Attention of one layer over what `past` holds and x itself; mask is added to the scores."""
    q = rotate(heads_apart(attention.q_proj(x), attention.head_dim), cos, sin)
    k = rotate(heads_apart(attention.k_proj(x), attention.head_dim), cos, sin)
    keys, values = past.extend(k, heads_apart(attention.v_proj(x), attention.head_dim))
    mixed = _attend_token(q, keys, values, mask) if x.shape[1] == 1 else _attend_many(q, keys, values, mask)
    return attention.o_proj(mixed.transpose(1, 2).flatten(2))


def _attend_many(q: Tensor, keys: Tensor, values: Tensor, mask: Tensor) -> Tensor:
    return F.scaled_dot_product_attention(q, keys, values, attn_mask=mask, enable_gqa=True)


def _attend_token(q: Tensor, keys: Tensor, values: Tensor, mask: Tensor) -> Tensor:
    """Query heads of a group as rows of one product: `enable_gqa` would copy all keys for each of them."""
    grouped = q.view(q.shape[0], keys.shape[1], -1, q.shape[3])
    return F.scaled_dot_product_attention(grouped, keys, values, attn_mask=mask).view(q.shape)


def run_block(block: Block, x: Tensor, cos: Tensor, sin: Tensor, mask: Tensor, past: NoPast | Past) -> Tensor:
    x = x + attend(block.self_attn, normalise(x, block.input_layernorm.weight), cos, sin, mask, past)
    inner = normalise(x, block.post_attention_layernorm.weight)
    return x + block.mlp.down_proj(F.silu(block.mlp.gate_proj(inner)) * block.mlp.up_proj(inner))


def tap_layers(layers: int) -> tuple[int, int, int]:
    """What EAGLE-3 reads, by the input of a layer: layer 2, the middle, and the third from the end."""
    return 2, layers // 2, layers - 3


class FrozenTarget:
    """A Qwen2 model in Hugging Face layout (bfloat16 weights, tied embeddings) whose weights stay as they are."""

    def __init__(self, folder: Path, memory: FeatureMemory | None = None) -> None:
        self.memory = memory
        self.sizes = json.loads((folder / "config.json").read_text())
        self.model: LanguageModel = load(folder).requires_grad_(False)
        self.config = self.model.config
        self.end_of_text: int = self.sizes["eos_token_id"]
        self.embeddings: Tensor = self.model.embed_tokens.weight  # [vocabulary, hidden], also the output head

    @torch.no_grad()
    def residuals(self, ids: Tensor, taps: Sequence[int]) -> list[Tensor]:
        """Residual streams [batch, length, hidden]: tap i enters layer i; tap `layers` enters the final norm."""
        if self.memory is None:
            return self._compute(ids, taps)
        return self.memory.recall(ids, taps, self._compute)

    def _compute(self, ids: Tensor, taps: Sequence[int]) -> list[Tensor]:
        cos, sin = rope_tables(ids.shape[1], self.config.head_dim, self.config.rope_theta)
        mask = visible_mask(ids, self.end_of_text)
        x = F.embedding(ids, self.embeddings)
        streams = {0: x}
        for index, block in enumerate(self.model.layers):
            x = run_block(block, x, cos, sin, mask, NoPast())
            streams[index + 1] = x
        return [streams[tap] for tap in taps]

    @torch.no_grad()
    def final_hidden(self, residual: Tensor) -> Tensor:
        return normalise(residual, self.model.norm.weight)

    @torch.no_grad()
    def logits(self, final_hidden: Tensor) -> Tensor:
        return F.linear(final_hidden, self.embeddings)
