"""Finds and restores Python's own state that a callable changes and that the harness does not see; it counts for leaves_no_trace."""

from __future__ import annotations

import decimal
import gc
import os
import signal
import sys
import threading
from _signal import getsignal  # the signal module's own makes members of enumerations: for nine signals that takes longer than a short run
from functools import lru_cache, partial
from typing import Any, Callable, Dict, List, Tuple

from ._kept import Kept

_SIGNALS = [getattr(signal, "SIG" + name) for name in ("HUP", "INT", "QUIT", "USR1", "USR2", "PIPE", "ALRM", "TERM", "CHLD")]
# Memory is not part of it, because other threads of the caller's process take memory too, and Python keeps some for later use.
_UNSEEN = "memory that its runs keep is not looked at, but for results: a callable has its caller's process"
Part = Tuple[str, Callable[[], Any], Callable[[Any], Any]]


def _environment() -> Any:
    """The dictionary inside os.environ, if there is one: the mapping itself encodes and decodes each variable, which takes longer than a short run."""
    return getattr(os.environb, "_data", os.environb)


def _set_environment(before: Dict[bytes, bytes]) -> None:
    now = dict(_environment())
    for name in set(now) - set(before):
        del os.environb[name]
    for name, value in before.items():
        if now.get(name) != value:
            os.environb[name] = value


def _context() -> Any:
    """All of it but the flags, which computing raises."""
    _, (*numbers, _flags, traps) = decimal.getcontext().__reduce__()
    return numbers, traps


def _set_context(before: Any) -> None:
    context = decimal.getcontext()
    numbers, traps = before
    context.prec, context.rounding, context.Emin, context.Emax, context.capitals, context.clamp = numbers
    for error in context.traps:
        context.traps[error] = error in traps


def _handler(number: int) -> Part:
    return f"the handler of signal {int(number)} ({signal.strsignal(number)})", partial(getsignal, number), partial(signal.signal, number)


def _stream(name: str) -> Part:
    return f"sys.{name}", partial(getattr, sys, name, None), partial(setattr, sys, name)


# The first one is the environment. It is a mapping that changes, so that it is copied before a run.
_PARTS: List[Part] = [
    ("the environment's variable ", _environment, _set_environment),
    *map(_stream, ("stdin", "stdout", "stderr")),
    ("Python's recursion limit", sys.getrecursionlimit, sys.setrecursionlimit),
    ("Python's switch interval", sys.getswitchinterval, sys.setswitchinterval),
    ("whether Python collects garbage", gc.isenabled, lambda before: gc.enable() if before else gc.disable()),
    ("the decimal context", _context, _set_context),
]
_HANDLERS: List[Part] = [*map(_handler, _SIGNALS)]


class _Parts:
    """The names of the parts, and how to read and restore each, as parallel lists: each run reads all of them twice."""

    def __init__(self, parts: List[Part]) -> None:
        self.names, self.gets, self.puts = zip(*parts)

    def now(self) -> List[Any]:
        return [get() for get in self.gets]


@lru_cache(None)
def _parts(is_main: bool, getbufsize: Any) -> _Parts:
    """The parts that can be restored in this thread: only the main thread can set signals."""
    numpys: List[Part] = []
    if getbufsize:
        numpy = sys.modules["numpy"]
        numpys = [("numpy's handling of floating-point errors", numpy.geterr, lambda before: numpy.seterr(**before)),
                  ("the size of numpy's buffers, by which it adds numbers that it converts", getbufsize, numpy.setbufsize)]
    return _Parts(_PARTS + (_HANDLERS if is_main else []) + numpys)


def _name(name: str, before: Any, now: Any) -> str:
    """The name of a part; for the environment with that of the variable."""
    if not isinstance(before, dict) or not name.endswith(" "):
        return name
    return name + os.fsdecode(min(key for key in {*before, *now} if before.get(key) != now.get(key)))


Before = Tuple[int, _Parts, List[Any]]


class State:
    """For one callable: what its runs left changed, until its judgement reports it."""

    def __init__(self) -> None:
        self.left = ""
        self.runs = 0
        self.left_at = 0  # the last run that left something changed of what is seen here
        self.kept = Kept()

    def before_run(self) -> Before:
        is_main = threading.get_ident() == threading.main_thread().ident
        parts = _parts(is_main, getattr(sys.modules.get("numpy"), "getbufsize", None))  # not while numpy is being imported
        before = parts.now()
        before[0] = dict(before[0])
        self.runs += 1
        return os.getpid(), parts, before

    def after_run(self, was: Before) -> None:
        """If the callable forked and the child returned from it as well, the child ends here."""
        process, parts, before = was
        if os.getpid() != process:
            os._exit(99)
        now = parts.now()
        if now == before:
            return
        for name, put, old, new in zip(parts.names, parts.puts, before, now):
            if new != old:
                self.note(_name(name, old, new))
                if old is not None:  # the harness restores a handler that is not Python's
                    put(old)

    def note(self, left: str) -> None:
        self.left = self.left or left
        self.left_at = self.runs

    def explain(self, record: Dict[str, Any]) -> None:
        """Changes a judgement of leaves_no_trace that held: it is refuted if Python's state was left changed; else it says what was not looked at."""
        if record["claim"] != "leaves_no_trace":
            return
        if record["verdict"] == "held":
            why = f"it left changed: {self.left}" if self.left else self.kept.words
            record.update({"verdict": "refuted", "reason": why} if why else {"reason": _UNSEEN})
        self.left = ""
