"""Exceptions that ctypes loses: those that a handler of signals raises where a callback begins or ends, outside its own `try`."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from types import FunctionType, MethodType
from typing import Any, Callable, Iterator, List


@contextmanager
def kept(stop: List[BaseException], *callbacks: Callable[..., Any]) -> Iterator[None]:
    """Appends them to `stop`: ctypes would print them, go on, and give C a result that nobody set."""
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
