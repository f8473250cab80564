"""The model of architecture.py in PyTorch's own operators: what a GPU has kernels for and torch.compile can fuse.

The hand-written functions of attention.py and fused.py are for a CPU; parameters and results are the same.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from architecture import RMS_NORM_EPS, Block, LanguageModel, ModelConfig, rope_tables, rotate

ROWS_A_CHUNK = 16_384


def sample_visibility(ids: Tensor, end_of_text: int) -> Tensor:
    """Causal within a sample and blind across samples: bool [batch, 1, length, length]."""
    ends = ids == end_of_text
    sample = ends.cumsum(1) - ends.long()  # the end token belongs to the sample it ends
    return (sample[:, :, None] == sample[:, None, :]).tril()[:, None]


def plain_loss(model: LanguageModel, windows: Tensor, end_of_text: int) -> Tensor:
    """Mean cross-entropy (nats a token) of windows [batch, length + 1]; call it under bf16 autocast."""
    ids, targets = windows[:, :-1], windows[:, 1:]
    cos, sin = rope_tables(ids.shape[1], model.config.head_dim, model.config.rope_theta)
    cos, sin = cos.to(ids.device), sin.to(ids.device)
    visible = sample_visibility(ids, end_of_text)
    x = model.embed_tokens(ids)
    for layer in model.layers:
        x = _block(layer, model.config, x, (cos, sin), visible)
    hidden = _norm(x, model.norm.weight).flatten(0, 1)
    return _cross_entropy(hidden, model.embed_tokens.weight, targets.flatten())


def _block(layer: Block, config: ModelConfig, x: Tensor, rope: tuple[Tensor, Tensor], visible: Tensor) -> Tensor:
    x = x + _attention(layer, config, _norm(x, layer.input_layernorm.weight), rope, visible)
    mlp, normal = layer.mlp, _norm(x, layer.post_attention_layernorm.weight)
    return x + mlp.down_proj(F.silu(mlp.gate_proj(normal)) * mlp.up_proj(normal))


def _attention(
    layer: Block, config: ModelConfig, x: Tensor, rope: tuple[Tensor, Tensor], visible: Tensor
) -> Tensor:
    batch, length, _ = x.shape
    attention = layer.self_attn

    def split(y: Tensor, heads: int) -> Tensor:
        return y.view(batch, length, heads, config.head_dim).transpose(1, 2)

    q = rotate(split(attention.q_proj(x), config.heads), *rope)
    k = rotate(split(attention.k_proj(x), config.kv_heads), *rope)
    v = split(attention.v_proj(x), config.kv_heads)
    group = config.heads // config.kv_heads
    k, v = k.repeat_interleave(group, 1), v.repeat_interleave(group, 1)
    mixed = F.scaled_dot_product_attention(q.to(v.dtype), k.to(v.dtype), v, attn_mask=visible)
    return attention.o_proj(mixed.transpose(1, 2).reshape(batch, length, -1))


def _norm(x: Tensor, weight: Tensor) -> Tensor:
    wide = x.float()
    return wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + RMS_NORM_EPS) * weight


def _cross_entropy(hidden: Tensor, weight: Tensor, targets: Tensor) -> Tensor:
    """Logits of all rows at once would take gigabytes."""
    total = hidden.new_zeros(())
    for rows, wanted in zip(hidden.split(ROWS_A_CHUNK), targets.split(ROWS_A_CHUNK)):
        logits = F.linear(rows, weight).float()
        total = total + F.cross_entropy(logits, wanted, reduction="sum")
    return total / targets.numel()
