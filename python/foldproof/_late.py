"""Finds results that a callable's own thread writes to after the call has returned: whoever called it reads what is not there yet."""

from __future__ import annotations

import ctypes
import time
from _thread import _count as _threads  # of Python's; threading's own number takes longer, and lacks some
from typing import Any, Optional

from . import _see

_OF_A_LOOK, _OF_A_CALLABLE = 0.3, 1.0  # seconds, since its threads may never end
_PAUSE = 0.0005
_LOOKS, _OF_OTHERS = 3, 0.05  # at threads that were there before: a pool's, maybe, which is not seen to end its work


def _bytes_of(value: Any) -> bytes:
    seen = _see.tight(_see.see(value))
    return ctypes.string_at(seen.at, seen.nbytes) if seen.nbytes else b""


class Late:
    """For one callable with results in host memory."""

    def __init__(self) -> None:
        self._before = 0
        self._for_others = False  # the wait is for threads that were there before
        self._seconds = 0.0  # that were waited
        self._others = 0  # how often others' threads were waited for

    def begin_run(self) -> None:
        self._before = _threads()

    def end_run(self, value: Any) -> Optional[bytes]:
        """The results' bytes, if a thread that may write to them is there and may be waited for."""
        now = _threads()
        self._for_others = now <= self._before
        waits = now > 0 and (not self._for_others or self._others < _LOOKS)
        return _bytes_of(value) if waits and self._seconds < _OF_A_CALLABLE else None

    def is_written(self, value: Any, before: bytes) -> bool:
        """Waits for the run's threads, or a moment for others, and tells whether the results have changed."""
        self._others += self._for_others
        begun = now = time.monotonic()
        end = begun + min(_OF_OTHERS if self._for_others else _OF_A_LOOK, _OF_A_CALLABLE - self._seconds)
        while now < end and (self._for_others or _threads() > self._before):
            time.sleep(_PAUSE)
            now = time.monotonic()
        self._seconds += now - begun
        return _bytes_of(value) != before
