"""A small draft model with the target's tokenizer, cut out of the target and distilled on its distributions."""

from __future__ import annotations

from pathlib import Path

import model_path  # noqa: F401
import torch
import torch.nn.functional as F
from architecture import Block, LanguageModel, ModelConfig, rope_tables
from evaluate import load
from losses import AskedPlaces, SoftCrossEntropy
from safetensors import write_tensors
from samples import Batch, Rows, all_rows
from target import FrozenTarget, NoPast, normalise, run_block, visible_mask
from torch import Tensor, nn
from whole_file import write_whole_json

LAYERS = 2
FFN_SHARE = 0.5


class DraftModel(nn.Module):
    """The target's first and last layers with the half of each FFN that weighs most, and its embeddings."""

    steps = 1
    chain = 5
    rows_a_window = 256
    muon_rate = 0.01
    adam_rate = 1e-3
    adam_weights = ("model.embed_tokens.weight",)

    def __init__(self, target: FrozenTarget, model: LanguageModel) -> None:
        super().__init__()
        self.target, self.model = target, model

    @classmethod
    def cut_from(cls, target: FrozenTarget) -> DraftModel:
        config = target.config
        ffn = int(config.ffn * FFN_SHARE)
        model = LanguageModel(ModelConfig(**{**config.to_dict(), "layers": LAYERS, "ffn": ffn}))
        with torch.no_grad():
            model.embed_tokens.weight.copy_(target.embeddings)
            model.norm.weight.copy_(target.model.norm.weight)
            for block, source in zip(model.layers, (target.model.layers[0], target.model.layers[-1])):
                _copy_block(block, source, ffn)
        return cls(target, model)

    @classmethod
    def read(cls, target: FrozenTarget, folder: Path) -> DraftModel:
        return cls(target, load(folder))

    def _final_hidden(self, ids: Tensor) -> Tensor:
        config = self.model.config
        cos, sin = rope_tables(ids.shape[1], config.head_dim, config.rope_theta)
        mask = visible_mask(ids, self.target.end_of_text)
        x = self.model.embed_tokens(ids)
        for block in self.model.layers:
            x = run_block(block, x, cos, sin, mask, NoPast())
        return normalise(x, self.model.norm.weight)

    def loss(self, batch: Batch, rows: Rows) -> Tensor:
        """Soft cross-entropy to the target's distributions."""
        (last,) = self.target.residuals(batch.ids, [self.target.config.layers])
        asked = AskedPlaces(rows, batch.ids.shape[1])
        logits = self.target.logits(self.target.final_hidden(last.flatten(0, 1)[asked.places]))
        hidden = self._final_hidden(batch.ids).flatten(0, 1)[asked.places][asked.of_step(0)]
        return SoftCrossEntropy.apply(
            hidden,
            self.model.embed_tokens.weight,
            torch.softmax(logits, -1),
            asked.of_step(0),
            asked.weights(0, 1.0),
        )

    @torch.no_grad()
    def guesses(self, batch: Batch, steps: int) -> tuple[Rows, Tensor]:
        """Every row of the windows and the most probable token of each step, [batch, rows, steps]."""
        rows = all_rows(batch, self.target.end_of_text, steps)
        best = F.linear(self._final_hidden(batch.ids), self.model.embed_tokens.weight).argmax(-1)
        return rows, torch.stack([rows.tokens_at(best, 1 + step) for step in range(steps)], -1)

    def save(self, folder: Path) -> None:
        write_tensors(folder / "model.safetensors", self.state_dict())
        sizes = {"num_hidden_layers": self.model.config.layers, "intermediate_size": self.model.config.ffn}
        write_whole_json(folder / "config.json", {**self.target.sizes, **sizes})


def _copy_block(block: Block, source: Block, ffn: int) -> None:
    block.self_attn.load_state_dict(source.self_attn.state_dict())
    block.input_layernorm.load_state_dict(source.input_layernorm.state_dict())
    block.post_attention_layernorm.load_state_dict(source.post_attention_layernorm.state_dict())
    gate, up, down = source.mlp.gate_proj.weight, source.mlp.up_proj.weight, source.mlp.down_proj.weight
    kept = (gate.norm(dim=1) * up.norm(dim=1) * down.norm(dim=0)).topk(ffn).indices.sort().values
    block.mlp.gate_proj.weight.copy_(gate[kept])
    block.mlp.up_proj.weight.copy_(up[kept])
    block.mlp.down_proj.weight.copy_(down[:, kept])
