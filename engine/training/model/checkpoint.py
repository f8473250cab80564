"""Checkpoints that a killed process never leaves half-written."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import torch

from architecture import LanguageModel, ModelConfig


def save_checkpoint(path: Path, content: dict[str, Any]) -> None:
    partial = path.with_suffix(".partial")
    torch.save(content, partial)
    os.replace(partial, path)


def load_checkpoint(path: Path) -> dict[str, Any]:
    return torch.load(path, map_location="cpu")


def load_model(path: Path) -> tuple[LanguageModel, dict[str, Any]]:
    """The model of a checkpoint and the checkpoint's whole content."""
    content = load_checkpoint(path)
    model = LanguageModel(ModelConfig(**content["config"]))
    model.load_state_dict(content["model"])
    return model, content
