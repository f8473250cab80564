"""Muon for the matrices, AdamW for embeddings, norms and biases."""

from __future__ import annotations

from typing import Any

import torch

from architecture import LanguageModel
from muon import Muon

MUON_LEARNING_RATE = 0.02
ADAM_LEARNING_RATE = 2e-3
MAX_GRADIENT_NORM = 1.0


class Optimizers:
    def __init__(self, model: LanguageModel) -> None:
        named = list(model.named_parameters())
        matrices = [p for name, p in named if p.dim() == 2 and "embed" not in name]
        self.others = [p for name, p in named if p.dim() != 2 or "embed" in name]
        self.muon = Muon(matrices)
        self.adam = torch.optim.AdamW(self.others, lr=ADAM_LEARNING_RATE, betas=(0.9, 0.95), eps=1e-10, weight_decay=0.0)

    def step(self, factor: float, steps_done: int) -> None:
        """Applies the gradients; `factor` comes from the schedule."""
        torch.nn.utils.clip_grad_norm_(self.others, MAX_GRADIENT_NORM)
        for group in self.adam.param_groups:
            group["lr"] = ADAM_LEARNING_RATE * factor
        self.adam.step()
        self.muon.step(MUON_LEARNING_RATE * factor, steps_done)

    def state_dict(self) -> dict[str, Any]:
        return {"muon": self.muon.state_dict(), "adam": self.adam.state_dict()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.muon.load_state_dict(state["muon"])
        self.adam.load_state_dict(state["adam"])
