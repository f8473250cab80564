"""Medusa heads (arXiv 2401.10774): each guesses one more token ahead from the target's final hidden state alone."""

from __future__ import annotations

import json
from pathlib import Path

import model_path  # noqa: F401
import torch
import torch.nn.functional as F
from losses import AskedPlaces, SoftCrossEntropy
from safetensors import read_tensors, write_tensors
from samples import Batch, Rows, all_rows
from target import FrozenTarget
from torch import Tensor, nn
from unroll import take_rows
from whole_file import write_whole_json

HEADS = 3
BLOCKS = 3
HEAD_DISCOUNT = 0.8
OUTPUT_SHARE = 0.5  # the target's own head would be sure of the token before


class ResBlock(nn.Module):
    """x + SiLU(Wx + b), the identity at first."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.linear = nn.Linear(size, size)
        nn.init.zeros_(self.linear.weight)
        nn.init.zeros_(self.linear.bias)

    def forward(self, x: Tensor) -> Tensor:
        return x + F.silu(self.linear(x))


class MedusaHeads(nn.ModuleList):
    """Published names: `i.j.linear.{weight,bias}` of block j, `i.BLOCKS.weight` of the output.

    Outputs start from the target's. Three blocks where large models have one: a final hidden state of a few hundred numbers is made for the next token
    and needs more work to say the ones after it.
    """

    rows_a_window = 480
    muon_rate = 0.02
    adam_rate = 5e-4

    def __init__(self, target: FrozenTarget, heads: int = HEADS, blocks: int = BLOCKS) -> None:
        hidden, vocabulary = target.config.hidden, target.config.vocabulary
        super().__init__(
            nn.Sequential(*(ResBlock(hidden) for _ in range(blocks)), nn.Linear(hidden, vocabulary, bias=False))
            for _ in range(heads)
        )
        self.target, self.blocks = target, blocks
        self.steps = self.chain = heads
        # All: with Muon for the blocks position 0 fell from 0.24 to 0.21 within a few hundred steps.
        self.adam_weights = tuple(name for name, _ in self.named_parameters())
        with torch.no_grad():
            for head in self:
                head[-1].weight.copy_(target.embeddings * OUTPUT_SHARE)

    def _final_hidden(self, ids: Tensor) -> Tensor:
        (last,) = self.target.residuals(ids, [self.target.config.layers])
        return self.target.final_hidden(last)

    def loss(self, batch: Batch, rows: Rows) -> Tensor:
        """sum of 0.8^head * soft cross-entropy to the target's distributions.

        Text counts as far as it is what the target would have written. A head does not see the tokens before the one
        that it guesses, so text of others would teach it what follows the tokens that the target may have chosen,
        when it only has to know what follows the one that it chooses.
        """
        final = self._final_hidden(batch.ids)
        logits = self.target.logits(final)
        rows = rows.where_text_is(batch.ids, logits.argmax(-1))
        asked = AskedPlaces(rows, batch.ids.shape[1])
        probabilities = torch.softmax(logits.flatten(0, 1)[asked.places], -1)
        state = take_rows(final, rows.start).flatten(0, 1)
        total = torch.zeros(())
        for step, head in enumerate(self):
            hidden = head[:-1](state)
            places, weights = asked.of_step(step), asked.weights(step, HEAD_DISCOUNT)
            total = total + SoftCrossEntropy.apply(hidden, head[-1].weight, probabilities, places, weights)
        return total

    @torch.no_grad()
    def guesses(self, batch: Batch, steps: int) -> tuple[Rows, Tensor]:
        """Every row of the windows and the most probable token of each head, [batch, rows, steps]."""
        rows = all_rows(batch, self.target.end_of_text, steps)
        final = self._final_hidden(batch.ids)
        return rows, torch.stack([head(final).argmax(-1) for head, _ in zip(self, range(steps))], -1)

    def save(self, folder: Path) -> None:
        write_tensors(folder / "medusa_lm_head.safetensors", self.state_dict())
        config = {
            "medusa_num_heads": len(self),
            "medusa_num_layers": self.blocks,
            "hidden_size": self.target.config.hidden,
            "vocab_size": self.target.config.vocabulary,
            "max_position_embeddings": self.target.sizes["max_position_embeddings"],
            "rms_norm_eps": self.target.sizes["rms_norm_eps"],
            "rope_theta": self.target.config.rope_theta,
            "torch_dtype": "bfloat16",
        }
        write_whole_json(folder / "config.json", config)

    @classmethod
    def read(cls, target: FrozenTarget, folder: Path) -> MedusaHeads:
        tensors = read_tensors(folder / "medusa_lm_head.safetensors")
        config = json.loads((folder / "config.json").read_text())
        heads = cls(target, config["medusa_num_heads"], config["medusa_num_layers"])
        heads.load_state_dict(tensors)
        return heads
