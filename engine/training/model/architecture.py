"""A plain Qwen2 decoder: RMSNorm, grouped-query attention with q/k/v bias, RoPE, SwiGLU, tied embeddings."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attention import BlockAttention, sample_mask
from fused import LinearCrossEntropy, RMSNormFunction, SwiGLUFunction

RMS_NORM_EPS = 1e-6


@dataclass(frozen=True)
class ModelConfig:
    """Sizes of the model; `heads * head_dim` need not equal `hidden`."""

    hidden: int
    layers: int
    heads: int
    kv_heads: int
    ffn: int
    vocabulary: int
    head_dim: int = 64
    rope_theta: float = 10_000.0

    def to_dict(self) -> dict[str, float]:
        return asdict(self)


class RMSNorm(nn.Module):
    def __init__(self, size: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))

    def forward(self, x: Tensor) -> Tensor:
        return RMSNormFunction.apply(x, self.weight, RMS_NORM_EPS)


def rope_tables(length: int, head_dim: int, theta: float) -> tuple[Tensor, Tensor]:
    """Cosines and sines, each [length, head_dim / 2]."""
    frequencies = 1.0 / (theta ** (torch.arange(0, head_dim, 2).float() / head_dim))
    angles = torch.outer(torch.arange(length).float(), frequencies)
    return angles.cos(), angles.sin()


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotary embedding in the half-split layout of Llama and Qwen2."""
    half = x.shape[-1] // 2
    first, second = x[..., :half], x[..., half:]
    return torch.cat((first * cos - second * sin, second * cos + first * sin), -1)


class Attention(nn.Module):
    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.heads, self.kv_heads, self.head_dim = config.heads, config.kv_heads, config.head_dim
        query, key = config.heads * config.head_dim, config.kv_heads * config.head_dim
        self.q_proj = nn.Linear(config.hidden, query)
        self.k_proj = nn.Linear(config.hidden, key)
        self.v_proj = nn.Linear(config.hidden, key)
        self.o_proj = nn.Linear(query, config.hidden, bias=False)

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor, mask: Tensor) -> Tensor:
        """x [batch, length, hidden], mask [batch, 1, length, length] (added to the scores)."""
        batch, length, _ = x.shape

        def split(y: Tensor, heads: int) -> Tensor:
            return y.view(batch, length, heads, self.head_dim).transpose(1, 2)

        q = rotate(split(self.q_proj(x), self.heads), cos, sin) * self.head_dim**-0.5
        k = rotate(split(self.k_proj(x), self.kv_heads), cos, sin)
        v = split(self.v_proj(x), self.kv_heads).contiguous()
        mixed = BlockAttention.apply(q.bfloat16(), k.bfloat16(), v.bfloat16(), mask)
        return self.o_proj(mixed.transpose(1, 2).reshape(batch, length, -1))


class MLP(nn.Module):
    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.gate_proj = nn.Linear(config.hidden, config.ffn, bias=False)
        self.up_proj = nn.Linear(config.hidden, config.ffn, bias=False)
        self.down_proj = nn.Linear(config.ffn, config.hidden, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return self.down_proj(SwiGLUFunction.apply(self.gate_proj(x), self.up_proj(x)))


class Block(nn.Module):
    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.input_layernorm = RMSNorm(config.hidden)
        self.self_attn = Attention(config)
        self.post_attention_layernorm = RMSNorm(config.hidden)
        self.mlp = MLP(config)

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor, mask: Tensor) -> Tensor:
        x = x + self.self_attn(self.input_layernorm(x), cos, sin, mask)
        return x + self.mlp(self.post_attention_layernorm(x))


class LanguageModel(nn.Module):
    """Parameter names are those of a Hugging Face Qwen2 checkpoint without the `model.` prefix."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        self.embed_tokens = nn.Embedding(config.vocabulary, config.hidden)
        self.layers = nn.ModuleList(Block(config) for _ in range(config.layers))
        self.norm = RMSNorm(config.hidden)
        for name, parameter in self.named_parameters():
            self._initialise(name, parameter)

    def _initialise(self, name: str, parameter: Tensor) -> None:
        if name.endswith("bias"):
            nn.init.zeros_(parameter)
        elif parameter.dim() == 2:
            std = 0.02 if "embed" in name else 1 / math.sqrt(parameter.shape[1])
            if "o_proj" in name or "down_proj" in name:
                std /= math.sqrt(2 * self.config.layers)
            nn.init.normal_(parameter, std=std)

    def hidden(self, ids: Tensor, end_of_text: int) -> Tensor:
        """Final hidden states after the norm, [batch, length, hidden]."""
        cos, sin = rope_tables(ids.shape[1], self.config.head_dim, self.config.rope_theta)
        cos, sin = cos.to(torch.bfloat16), sin.to(torch.bfloat16)
        mask = sample_mask(ids, end_of_text)
        x = self.embed_tokens(ids)
        for layer in self.layers:
            x = layer(x, cos, sin, mask)
        return self.norm(x)

    def loss(self, windows: Tensor, end_of_text: int) -> Tensor:
        """Mean cross-entropy (nats a token) of windows [batch, length + 1]."""
        hidden = self.hidden(windows[:, :-1], end_of_text)
        flat = hidden.reshape(-1, hidden.shape[-1])
        return LinearCrossEntropy.apply(flat, self.embed_tokens.weight, windows[:, 1:].reshape(-1))

    @torch.no_grad()
    def token_losses(self, windows: Tensor, end_of_text: int) -> Tensor:
        """Cross-entropy of each next token, [batch, length], float32."""
        hidden = self.hidden(windows[:, :-1], end_of_text)
        logits = F.linear(hidden, self.embed_tokens.weight).float()
        losses = F.cross_entropy(logits.flatten(0, 1), windows[:, 1:].flatten(), reduction="none")
        return losses.view(windows.shape[0], -1)
