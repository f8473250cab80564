"""EAGLE-1 / EAGLE-2 head (arXiv 2401.15077, 2406.16858) in SafeAILab's layout; the two differ in drafting alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import model_path  # noqa: F401
import torch
import torch.nn.functional as F
from losses import AskedPlaces, SoftCrossEntropy
from safetensors import read_tensors, write_tensors
from samples import Batch, Rows, all_rows
from target import FrozenTarget, visible_mask
from torch import Tensor, nn
from unroll import DraftAttention, DraftMLP, NormWeight, unroll
from whole_file import write_whole_json

FEATURE_WEIGHT = 1.0
TOKEN_WEIGHT = 1.0  # the paper has 0.1: with features this small the distance would drown the tokens
STEP_DISCOUNT = 0.8
WRITTEN_SHARE = 0.15
NOISE_WIDTH = 0.2  # of the uniform noise on features of a window of NOISE_LENGTH tokens (EAGLE's augmentation)
NOISE_LENGTH = 512

# Few samples are longer. A head that attends further back sees distances that it was not trained on: at a context of 1700
# tokens that took a chain of five from 2.3 to 1.5 tokens a step (EAGLE-3) and from 2.0 to 1.3 (EAGLE).
ATTENDED_POSITIONS = 256


class EagleLayer(nn.Module):
    """Llama's layer without a norm before its attention."""

    def __init__(self, target: FrozenTarget) -> None:
        super().__init__()
        self.self_attn = DraftAttention(target.config, target.config.hidden)
        self.post_attention_layernorm = NormWeight(target.config.hidden)
        self.mlp = DraftMLP(target.config)


class EagleHead(nn.Module):
    """Regresses the target's next final hidden state; the target's own output head makes tokens of it.

    Trained over three steps of its own output as in HASS (arXiv 2408.15766), since drafting feeds it with that.
    """

    steps = 3
    chain = 5
    rows_a_window = 128
    muon_rate = 0.02
    adam_rate = 1e-3
    adam_weights = ()

    def __init__(self, target: FrozenTarget) -> None:
        super().__init__()
        self.config, self.target = target.config, target
        hidden = target.config.hidden
        self.fc = nn.Linear(2 * hidden, hidden)
        self.layers = nn.ModuleList([EagleLayer(target)])
        self._start_from_target()

    @torch.no_grad()
    def _start_from_target(self) -> None:
        """Starts with the hidden state passed through and the layer as the target's last."""
        hidden, layer, last = self.config.hidden, self.layers[0], self.target.model.layers[-1]
        nn.init.normal_(self.fc.weight, std=0.25 * hidden**-0.5)
        self.fc.weight[:, hidden:] += torch.eye(hidden)
        nn.init.zeros_(self.fc.bias)
        for name in ("q_proj", "k_proj", "v_proj", "o_proj"):
            getattr(layer.self_attn, name).weight.copy_(getattr(last.self_attn, name).weight)
        layer.mlp.load_state_dict(last.mlp.state_dict())
        # That layer writes to the stream before the final norm, several times larger than the one after it.
        layer.self_attn.o_proj.weight.mul_(WRITTEN_SHARE)
        layer.mlp.down_proj.weight.mul_(WRITTEN_SHARE)
        layer.post_attention_layernorm.weight.copy_(last.post_attention_layernorm.weight)

    @property
    def attention(self) -> DraftAttention:
        return self.layers[0].self_attn

    def enter(self, hidden: Tensor, embedding: Tensor) -> tuple[Tensor, Tensor]:
        fused = self.fc(torch.cat((embedding, hidden), -1))
        return fused, fused

    def leave(self, residual: Tensor) -> Tensor:
        layer = self.layers[0]
        return residual + layer.mlp(layer.post_attention_layernorm(residual))

    def _final_hidden(self, ids: Tensor) -> Tensor:
        (last,) = self.target.residuals(ids, [self.config.layers])
        return self.target.final_hidden(last)

    def _unroll(self, ids: Tensor, features: Tensor, rows: Rows) -> list[Tensor]:
        embeddings = F.embedding(ids, self.target.embeddings)
        return unroll(self, features, embeddings, visible_mask(ids, self.target.end_of_text), rows)

    def loss(self, batch: Batch, rows: Rows) -> Tensor:
        """Smooth L1 to the target's final hidden states and soft cross-entropy to its distributions."""
        final, length = self._final_hidden(batch.ids), batch.ids.shape[1]
        asked = AskedPlaces(rows, length)
        wanted = final.flatten(0, 1)[asked.places]
        probabilities = torch.softmax(self.target.logits(wanted), -1)
        noise = (torch.rand(final.shape) - 0.5) * (NOISE_WIDTH * NOISE_LENGTH / length)
        total = torch.zeros(())
        for step, states in enumerate(self._unroll(batch.ids, final + noise, rows)):
            hidden, places, weights = states.flatten(0, 1), asked.of_step(step), asked.weights(step, STEP_DISCOUNT)
            distance = F.smooth_l1_loss(hidden, wanted[places], reduction="none").mean(-1)
            tokens = SoftCrossEntropy.apply(hidden, self.target.embeddings, probabilities, places, weights)
            total = total + FEATURE_WEIGHT * (distance * weights).sum() + TOKEN_WEIGHT * tokens
        return total

    @torch.no_grad()
    def guesses(self, batch: Batch, steps: int) -> tuple[Rows, Tensor]:
        """Every row of the windows and the most probable token of each step, [batch, rows, steps]."""
        rows = all_rows(batch, self.target.end_of_text, steps)
        hidden = self._unroll(batch.ids, self._final_hidden(batch.ids), rows)
        return rows, torch.stack([self.target.logits(state).argmax(-1) for state in hidden], -1)

    def save(self, folder: Path) -> None:
        write_tensors(folder / "model.safetensors", self.state_dict())
        write_whole_json(folder / "config.json", {**llama_config(self.target), "bias": True})

    @classmethod
    def read(cls, target: FrozenTarget, folder: Path) -> EagleHead:
        head = cls(target)
        head.load_state_dict(read_tensors(folder / "model.safetensors"))
        return head


def llama_config(target: FrozenTarget) -> dict[str, Any]:
    """The fields of Llama's config that published EAGLE heads have, for one layer of the target's sizes."""
    config, sizes = target.config, target.sizes
    return {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "hidden_size": config.hidden,
        "intermediate_size": config.ffn,
        "num_hidden_layers": 1,
        "num_attention_heads": config.heads,
        "num_key_value_heads": config.kv_heads,
        "head_dim": config.head_dim,
        "hidden_act": "silu",
        "vocab_size": config.vocabulary,
        "max_position_embeddings": ATTENDED_POSITIONS,
        "rms_norm_eps": sizes["rms_norm_eps"],
        "rope_theta": config.rope_theta,
        "attention_bias": False,
        "mlp_bias": False,
        "tie_word_embeddings": False,
        "bos_token_id": sizes["bos_token_id"],
        "eos_token_id": sizes["eos_token_id"],
        "torch_dtype": "bfloat16",
    }
