"""Importing this makes the modules of `engine/training/model` importable: scripts here run from any folder."""

from __future__ import annotations

import sys
from pathlib import Path

MODEL_MODULES = Path(__file__).resolve().parent.parent / "model"
if str(MODEL_MODULES) not in sys.path:
    sys.path.append(str(MODEL_MODULES))
