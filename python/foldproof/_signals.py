"""Whether a signal has arrived, such as that of Ctrl-C: what its handler raises is meant for the caller, and is not the callable's own."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import contextmanager
from types import FunctionType, MethodType
from typing import Any, Callable, Iterator, List


class Signals:
    """Reads the descriptor to which Python writes the number of each signal that it handles, before the handler runs."""

    def __init__(self, arrivals: int = -1) -> None:
        self._arrivals, self.numbers = arrivals, b""

    def came(self) -> bool:
        """Whether one has arrived since the last call."""
        try:
            new = os.read(self._arrivals, 1 << 16)
        except OSError:  # none, or they are not noted
            return False
        self.numbers += new
        return True


@contextmanager
def noted() -> Iterator[Signals]:
    """Notes signals if this is the main thread: handlers run in no other."""
    arrivals, to = os.pipe()
    os.set_blocking(arrivals, False)
    os.set_blocking(to, False)
    signals, former = Signals(arrivals), None
    try:
        try:
            former = signal.set_wakeup_fd(to, warn_on_full_buffer=False)
        except ValueError:
            pass
        yield signals
    finally:
        if former is not None:
            signal.set_wakeup_fd(former)
        signals.came()
        if former is not None and former >= 0 and signals.numbers:  # an event loop, say, waits for them
            os.write(former, signals.numbers)
        os.close(to)
        os.close(arrivals)


@contextmanager
def lost_kept(stop: List[BaseException], *callbacks: Callable[..., Any]) -> Iterator[None]:
    """Appends to `stop` what a handler raises where a callback begins or ends, outside its own `try`: ctypes would print it, go on, and give C a result that
    was not set."""
    former = sys.unraisablehook

    def keep(unraisable: Any) -> None:
        if isinstance(unraisable.object, (FunctionType, MethodType)) and unraisable.object in callbacks:
            stop.append(unraisable.exc_value)
        else:
            former(unraisable)

    sys.unraisablehook = keep
    try:
        yield
    finally:
        if sys.unraisablehook is keep:
            sys.unraisablehook = former
