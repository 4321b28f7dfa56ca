"""What of Python's own state a callable leaves changed, which the harness does not see: told as leaves_no_trace, and put back."""

from __future__ import annotations

import contextlib
import decimal
import gc
import os
import signal
import sys
import threading
from _signal import getsignal  # the signal module's makes members of enumerations: of nine signals that takes longer than a short run
from typing import Any, Callable, Dict, Iterator, List, Tuple

_SIGNALS = [getattr(signal, "SIG" + name) for name in ("HUP", "INT", "QUIT", "USR1", "USR2", "PIPE", "ALRM", "TERM", "CHLD")]
# What holds says nothing of it: other threads of the caller's process take memory, too, and Python keeps some for later use.
_UNSEEN = "memory that its runs keep is not looked at: a callable has its caller's process"
Part = Tuple[str, Callable[[], Any], Callable[[Any], Any]]


def _environment() -> Dict[bytes, bytes]:
    """By the dictionary that os keeps, where it does: the mapping encodes and decodes each variable, which takes longer than a short run."""
    return dict(getattr(os.environb, "_data", os.environb))


def _set_environment(before: Dict[bytes, bytes]) -> None:
    now = _environment()
    for name in set(now) - set(before):
        del os.environb[name]
    for name, value in before.items():
        if now.get(name) != value:
            os.environb[name] = value


def _set_context(before: Any) -> None:
    context = decimal.getcontext()
    context.prec, context.rounding = before


def _handler(number: int) -> Part:
    return f"the handler of signal {int(number)} ({signal.strsignal(number)})", lambda: getsignal(number), lambda before: signal.signal(number, before)


def _stream(name: str) -> Part:
    return f"sys.{name}", lambda: getattr(sys, name), lambda before: setattr(sys, name, before)


_PARTS: List[Part] = [
    ("the environment's variable ", _environment, _set_environment),
    *map(_stream, ("stdin", "stdout", "stderr")),
    ("Python's recursion limit", sys.getrecursionlimit, sys.setrecursionlimit),
    ("Python's switch interval", sys.getswitchinterval, sys.setswitchinterval),
    ("whether Python collects garbage", gc.isenabled, lambda before: gc.enable() if before else gc.disable()),
    ("the decimal context", lambda: (decimal.getcontext().prec, decimal.getcontext().rounding), _set_context),
]
_HANDLERS: List[Part] = [*map(_handler, _SIGNALS)]


def _parts() -> List[Part]:
    """Those that can be put back here: signals are the main thread's."""
    parts = _PARTS + (_HANDLERS if threading.current_thread() is threading.main_thread() else [])
    numpy = sys.modules.get("numpy")
    if hasattr(numpy, "geterr"):  # not amid its import
        parts.append(("numpy's handling of floating-point errors", numpy.geterr, lambda before: numpy.seterr(**before)))
    return parts


def _name(name: str, before: Any, now: Any) -> str:
    """Of the environment with the variable's."""
    if not isinstance(before, dict) or not name.endswith(" "):
        return name
    return name + os.fsdecode(min(key for key in {*before, *now} if before.get(key) != now.get(key)))


class State:
    """Of one callable: what its runs have left, until its judgement takes it."""

    def __init__(self) -> None:
        self.left = ""

    @contextlib.contextmanager
    def watched(self) -> Iterator[None]:
        """A run. A process that the callable forked, and that came back from it as well, ends here."""
        process, parts = os.getpid(), _parts()
        before = [get() for _, get, _ in parts]
        try:
            yield
        finally:
            if os.getpid() != process:
                os._exit(99)
            for (name, get, put), was in zip(parts, before):
                now = get()
                if now != was:
                    self.left = self.left or _name(name, was, now)
                    if was is not None:  # a handler that is not Python's is put back by the harness
                        put(was)

    def explain(self, record: Dict[str, Any]) -> None:
        """A judgement of leaves_no_trace that held refutes it where something of Python's was left, or says what it is no proof of."""
        if record["claim"] != "leaves_no_trace":
            return
        if record["verdict"] == "held":
            record.update({"verdict": "refuted", "reason": f"it left changed: {self.left}"} if self.left else {"reason": _UNSEEN})
        self.left = ""
