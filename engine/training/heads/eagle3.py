"""EAGLE-3 head (arXiv 2503.01840) in the layout of SafeAILab/EAGLE and SpecForge, one decoder layer."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import model_path  # noqa: F401
import torch
from eagle import llama_config
from losses import AskedPlaces, SoftCrossEntropy
from safetensors import read_tensors, write_tensors
from samples import Batch, Rows, all_rows
from target import FrozenTarget, tap_layers, visible_mask
from torch import Tensor, nn
from unroll import DraftAttention, DraftMLP, NormWeight, unroll
from whole_file import write_whole_json

STEP_DISCOUNT = 0.8


class MidLayer(nn.Module):
    """Published names: the layer of the head, whose attention reads the embedding beside the hidden state."""

    def __init__(self, target: FrozenTarget) -> None:
        super().__init__()
        # The token enters through the values alone: with fewer KV heads than heads there is little room for it.
        config = replace(target.config, kv_heads=target.config.heads)
        self.input_layernorm = NormWeight(config.hidden)
        self.hidden_norm = NormWeight(config.hidden)
        self.self_attn = DraftAttention(config, 2 * config.hidden)
        self.post_attention_layernorm = NormWeight(config.hidden)
        self.mlp = DraftMLP(config)


class Eagle3Head(nn.Module):
    """`draft_tokens` [draft vocabulary]: ids of the target's vocabulary, ascending."""

    steps = 4
    chain = 5
    rows_a_window = 128
    muon_rate = 0.02
    adam_rate = 1e-3
    adam_weights = ("lm_head.weight",)

    def __init__(self, target: FrozenTarget, draft_tokens: Tensor) -> None:
        super().__init__()
        self.config = target.config
        self.target = target  # no module: its weights are not the head's
        self.taps = tap_layers(target.config.layers)
        hidden = target.config.hidden
        self.fc = nn.Linear(3 * hidden, hidden, bias=False)
        self.midlayer = MidLayer(target)
        self.norm = NormWeight(hidden)
        self.lm_head = nn.Linear(hidden, len(draft_tokens), bias=False)
        self.register_buffer("draft_tokens", draft_tokens)
        self._start_from_target()

    @torch.no_grad()
    def _start_from_target(self) -> None:
        """Starts as the target's last layer upon the highest tap, with the target's output head."""
        hidden, last = self.config.hidden, self.target.model.layers[-1]
        nn.init.normal_(self.fc.weight, std=0.05 * hidden**-0.5)
        self.fc.weight[:, 2 * hidden :] += torch.eye(hidden)
        attention = self.midlayer.self_attn
        for name in ("q_proj", "k_proj", "v_proj"):
            weight, source = getattr(attention, name).weight, getattr(last.self_attn, name).weight
            by_head = source.unflatten(0, (-1, self.config.head_dim))
            nn.init.normal_(weight, std=0.5 * hidden**-0.5)
            weight[:, hidden:] = by_head.repeat_interleave(len(weight) // len(source), 0).flatten(0, 1)
        attention.o_proj.weight.copy_(last.self_attn.o_proj.weight)
        self.midlayer.mlp.load_state_dict(last.mlp.state_dict())
        self.midlayer.hidden_norm.weight.copy_(last.input_layernorm.weight)
        self.midlayer.post_attention_layernorm.weight.copy_(last.post_attention_layernorm.weight)
        self.norm.weight.copy_(self.target.model.norm.weight)
        self.lm_head.weight.copy_(self.target.embeddings[self.draft_tokens])

    @property
    def attention(self) -> DraftAttention:
        return self.midlayer.self_attn

    def enter(self, hidden: Tensor, embedding: Tensor) -> tuple[Tensor, Tensor]:
        layer = self.midlayer
        return torch.cat((layer.input_layernorm(embedding), layer.hidden_norm(hidden)), -1), hidden

    def leave(self, residual: Tensor) -> Tensor:
        layer = self.midlayer
        return residual + layer.mlp(layer.post_attention_layernorm(residual))

    def _unroll(self, ids: Tensor, streams: list[Tensor], rows: Rows) -> list[Tensor]:
        features = self.fc(torch.cat(streams, -1))
        embeddings = nn.functional.embedding(ids, self.target.embeddings)
        return unroll(self, features, embeddings, visible_mask(ids, self.target.end_of_text), rows)

    def loss(self, batch: Batch, rows: Rows) -> Tensor:
        """sum of 0.8^i * soft cross-entropy, over tokens whose best guess the draft vocabulary can say."""
        *streams, last = self.target.residuals(batch.ids, [*self.taps, self.config.layers])
        asked = AskedPlaces(rows, batch.ids.shape[1])
        with torch.no_grad():
            logits = self.target.logits(self.target.final_hidden(last.flatten(0, 1)[asked.places]))
            sayable = torch.isin(logits.argmax(-1), self.draft_tokens)
            probabilities = torch.softmax(logits[:, self.draft_tokens], -1)
        total = torch.zeros(())
        for step, hidden in enumerate(self._unroll(batch.ids, streams, rows)):
            normed, weights = self.norm(hidden).flatten(0, 1), asked.weights(step, STEP_DISCOUNT, sayable)
            total = total + SoftCrossEntropy.apply(
                normed, self.lm_head.weight, probabilities, asked.of_step(step), weights
            )
        return total

    @torch.no_grad()
    def guesses(self, batch: Batch, steps: int) -> tuple[Rows, Tensor]:
        """Every row of the windows and the most probable token of each step, [batch, rows, steps]."""
        rows = all_rows(batch, self.target.end_of_text, steps)
        streams = self.target.residuals(batch.ids, self.taps)
        hidden = self._unroll(batch.ids, streams, rows)
        guessed = [self.draft_tokens[self.lm_head(self.norm(state)).argmax(-1)] for state in hidden]
        return rows, torch.stack(guessed, -1)

    def save(self, folder: Path) -> None:
        tensors = {name: weight for name, weight in self.state_dict().items() if name != "draft_tokens"}
        said = torch.zeros(self.config.vocabulary, dtype=torch.bool)
        said[self.draft_tokens] = True
        tensors["d2t"] = self.draft_tokens - torch.arange(len(self.draft_tokens))
        tensors["t2d"] = said
        write_tensors(folder / "model.safetensors", tensors)
        write_whole_json(folder / "config.json", self._published_config())

    def _published_config(self) -> dict[str, Any]:
        return {
            **llama_config(self.target),
            "architectures": ["LlamaForCausalLMEagle3"],
            "num_key_value_heads": self.config.heads,
            "target_hidden_size": self.config.hidden,
            "draft_vocab_size": len(self.draft_tokens),
        }

    @classmethod
    def read(cls, target: FrozenTarget, folder: Path) -> Eagle3Head:
        tensors = read_tensors(folder / "model.safetensors")
        offsets = tensors.pop("d2t")
        head = cls(target, offsets + torch.arange(len(offsets)))
        if not torch.equal(tensors.pop("t2d").nonzero()[:, 0], head.draft_tokens):
            raise ValueError(f"{folder}: d2t and t2d name different tokens")
        head.load_state_dict({**tensors, "draft_tokens": head.draft_tokens})
        return head
