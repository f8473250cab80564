"""Checkpoints of runs: tensors and state in one file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from architecture import LanguageModel, ModelConfig
from whole_file import whole_file


def save_checkpoint(path: Path, content: dict[str, Any]) -> None:
    with whole_file(path) as partial:
        torch.save(content, partial)


def load_checkpoint(path: Path) -> dict[str, Any]:
    return torch.load(path, map_location="cpu")


def load_model(path: Path) -> tuple[LanguageModel, dict[str, Any]]:
    """The model of a checkpoint and the checkpoint's whole content."""
    content = load_checkpoint(path)
    model = LanguageModel(ModelConfig(**content["config"]))
    model.load_state_dict(content["model"])
    return model, content
