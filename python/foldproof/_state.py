"""What of Python's own state a callable leaves changed, which the harness does not see: told as leaves_no_trace, and put back."""

from __future__ import annotations

import decimal
import gc
import os
import signal
import sys
import threading
from _signal import getsignal  # the signal module's makes members of enumerations: of nine signals that takes longer than a short run
from functools import lru_cache, partial
from typing import Any, Callable, Dict, List, Tuple

from ._kept import Kept

_SIGNALS = [getattr(signal, "SIG" + name) for name in ("HUP", "INT", "QUIT", "USR1", "USR2", "PIPE", "ALRM", "TERM", "CHLD")]
# What holds says nothing of it: other threads of the caller's process take memory, too, and Python keeps some for later use.
_UNSEEN = "memory that its runs keep is not looked at, but for results: a callable has its caller's process"
Part = Tuple[str, Callable[[], Any], Callable[[Any], Any]]


def _environment() -> Any:
    """The dictionary that os keeps, where it does: the mapping encodes and decodes each variable, which takes longer than a short run."""
    return getattr(os.environb, "_data", os.environb)


def _set_environment(before: Dict[bytes, bytes]) -> None:
    now = dict(_environment())
    for name in set(now) - set(before):
        del os.environb[name]
    for name, value in before.items():
        if now.get(name) != value:
            os.environb[name] = value


def _set_context(before: Any) -> None:
    context = decimal.getcontext()
    context.prec, context.rounding = before


def _handler(number: int) -> Part:
    return f"the handler of signal {int(number)} ({signal.strsignal(number)})", partial(getsignal, number), partial(signal.signal, number)


def _stream(name: str) -> Part:
    return f"sys.{name}", partial(getattr, sys, name, None), partial(setattr, sys, name)


# The first one is the environment: a mapping that changes, and is copied before a run.
_PARTS: List[Part] = [
    ("the environment's variable ", _environment, _set_environment),
    *map(_stream, ("stdin", "stdout", "stderr")),
    ("Python's recursion limit", sys.getrecursionlimit, sys.setrecursionlimit),
    ("Python's switch interval", sys.getswitchinterval, sys.setswitchinterval),
    ("whether Python collects garbage", gc.isenabled, lambda before: gc.enable() if before else gc.disable()),
    ("the decimal context", lambda: (decimal.getcontext().prec, decimal.getcontext().rounding), _set_context),
]
_HANDLERS: List[Part] = [*map(_handler, _SIGNALS)]


class _Parts:
    """Names, and how each is had and put back, in one sequence: a run asks for all of them twice."""

    def __init__(self, parts: List[Part]) -> None:
        self.names, self.gets, self.puts = zip(*parts)

    def now(self) -> List[Any]:
        return [get() for get in self.gets]


@lru_cache(None)
def _parts(is_main: bool, geterr: Any) -> _Parts:
    """Those that can be put back here: signals are the main thread's."""
    numpys = [("numpy's handling of floating-point errors", geterr, lambda before: sys.modules["numpy"].seterr(**before))]
    return _Parts(_PARTS + (_HANDLERS if is_main else []) + (numpys if geterr else []))


def _name(name: str, before: Any, now: Any) -> str:
    """Of the environment with the variable's."""
    if not isinstance(before, dict) or not name.endswith(" "):
        return name
    return name + os.fsdecode(min(key for key in {*before, *now} if before.get(key) != now.get(key)))


Before = Tuple[int, _Parts, List[Any]]


class State:
    """Of one callable: what its runs have left, until its judgement takes it."""

    def __init__(self) -> None:
        self.left = ""
        self.kept = Kept()

    def before_run(self) -> Before:
        is_main = threading.get_ident() == threading.main_thread().ident
        parts = _parts(is_main, getattr(sys.modules.get("numpy"), "geterr", None))  # not amid numpy's import
        before = parts.now()
        before[0] = dict(before[0])
        return os.getpid(), parts, before

    def after_run(self, was: Before) -> None:
        """A process that the callable forked, and that came back from it as well, ends here."""
        process, parts, before = was
        if os.getpid() != process:
            os._exit(99)
        now = parts.now()
        if now == before:
            return
        for name, put, old, new in zip(parts.names, parts.puts, before, now):
            if new != old:
                self.left = self.left or _name(name, old, new)
                if old is not None:  # a handler that is not Python's is put back by the harness
                    put(old)

    def explain(self, record: Dict[str, Any]) -> None:
        """A judgement of leaves_no_trace that held refutes it where something of Python's was left, or says what it is no proof of."""
        if record["claim"] != "leaves_no_trace":
            return
        if record["verdict"] == "held":
            why = f"it left changed: {self.left}" if self.left else self.kept.words
            record.update({"verdict": "refuted", "reason": why} if why else {"reason": _UNSEEN})
        self.left = ""
