"""A run that is asked to stop finishes its step first."""

from __future__ import annotations

import signal
from typing import Any


class StopSignal:
    """Remembers that the process was asked to stop."""

    def __init__(self) -> None:
        self.received = False
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._receive)

    def _receive(self, *_: Any) -> None:
        self.received = True
