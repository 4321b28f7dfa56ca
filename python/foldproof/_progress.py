"""The progress of a long run: one line on standard error if that is a terminal, removed when the run ends."""

from __future__ import annotations

import sys
import time
from typing import Any

_SILENT = 2.0  # seconds from the start, so that short runs show nothing
_EVERY = 0.25


class Progress:
    def __init__(self, wanted: bool) -> None:
        self._out = sys.stderr if wanted and sys.stderr is not None and sys.stderr.isatty() else None
        self._next, self._shown = time.monotonic() + _SILENT, False

    def __enter__(self) -> "Progress":
        return self

    def tell(self, judged: int, case: str) -> None:
        self.say(f"{judged:,} judged, at {case}")

    def say(self, words: str) -> None:
        if self._out is None or time.monotonic() < self._next:
            return
        self._out.write(f"\r\x1b[Kfoldproof: {words}"[:79])
        self._out.flush()
        self._next, self._shown = time.monotonic() + _EVERY, True

    def __exit__(self, *_: Any) -> None:
        if self._out is not None and self._shown:
            self._out.write("\r\x1b[K")
            self._out.flush()
