"""Files that a killed process never leaves half-written."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A path beside `path` to write to, of this process alone; it becomes `path` when all is written."""
    partial = path.with_name(f"{path.name}.partial-{os.getpid()}")
    try:
        yield partial
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def write_whole_text(path: Path, text: str) -> None:
    with whole_file(path) as partial:
        partial.write_text(text)


def write_whole_json(path: Path, content: dict[str, Any]) -> None:
    write_whole_text(path, json.dumps(content, indent=1) + "\n")
