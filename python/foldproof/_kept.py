"""Results that a callable keeps: memory that grows with its runs, and the one such kind that can't be that of other threads.

Where a few runs one after the other each made a result that is still there, the run is made again, on the same input, until there are
so many of them. A cache then gives what it has, a ring of buffers comes to its end, and what nobody has is collected: who has them
all lets go of none. A view stands for the array that has its memory.
"""

from __future__ import annotations

import gc
import time
import weakref
from typing import Any, Callable, Dict, Optional

_FEW, _MANY = 4, 256
_MOST_TIME = 5.0  # seconds: of who is slower nothing is said

Made = Optional["weakref.ref[Any]"]


class Kept:
    def __init__(self) -> None:
        self.words = ""
        self._tried = False
        self._left: Dict[int, Any] = {}  # by the reference's own number: an object has one of them

    @staticmethod
    def of(result: Any) -> Made:
        """What a run has made; None where it can't be told whether it is there."""
        while isinstance(getattr(result, "base", None), type(result)):
            result = result.base
        try:
            return weakref.ref(result)
        except TypeError:
            return None

    def _is_new(self, made: Made) -> bool:
        if made is None or made() is None or id(made) in self._left:
            self._left.clear()
            return False
        self._left[id(made)] = made
        return True

    def note(self, made: Made, again: Callable[[], Made]) -> None:
        """After a run, when nobody of ours has its result. `again` makes the same one."""
        if self._tried or not self._is_new(made) or len(self._left) < _FEW:
            return
        self._tried, end = True, time.monotonic() + _MOST_TIME
        while len(self._left) < _MANY and time.monotonic() < end and self._is_new(again()):
            pass
        gc.collect()
        if len(self._left) == _MANY and all(made() is not None for made in self._left.values()):
            self.words = f"it keeps its results: those of {_MANY} runs are all there"
        self._left.clear()
