"""Finds callables that keep their results: memory that grows with every run, and that is certainly not that of other threads.

If each of a few runs in a row made a result that still exists, the run is repeated on the same input until there are very many
of them. Before that, a cache returns an old result, a ring of buffers comes round, and garbage is collected; only a callable that
keeps all results still has them. A view stands for the array that has its memory.
"""

from __future__ import annotations

import gc
import time
import weakref
from typing import Any, Callable, Dict, Optional

_FEW, _MANY = 4, 256
_HAVE_BASES = ("numpy", "cupy")  # whose arrays' `base` has their memory; another's may be anything
_MOST_TIME = 5.0  # seconds: nothing is said about callables that are slower

Made = Optional["weakref.ref[Any]"]


class Kept:
    def __init__(self) -> None:
        self.words = ""
        self._tried = False
        self._left: Dict[int, Any] = {}  # by the id of the weak reference, of which an object has only one

    @staticmethod
    def of(result: Any) -> Made:
        """A weak reference to a run's result; None if the result cannot have one."""
        while type(result).__module__.split(".")[0] in _HAVE_BASES and isinstance(result.base, type(result)):
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
        """To be called after a run, when we no longer refer to its result. `again` repeats the run."""
        if self._tried or not self._is_new(made) or len(self._left) < _FEW:
            return
        self._tried, end = True, time.monotonic() + _MOST_TIME
        while len(self._left) < _MANY and time.monotonic() < end and self._is_new(again()):
            pass
        gc.collect()
        if len(self._left) == _MANY and all(made() is not None for made in self._left.values()):
            self.words = f"it keeps its results: those of {_MANY} runs are all there"
        self._left.clear()
