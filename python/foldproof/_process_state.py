"""What a callable does besides computing and the harness does not see, for leaves_no_trace: Python's own state that it changes, which is restored;
results that a thread writes to later, or that it keeps."""

from __future__ import annotations

import ctypes
import decimal
import gc
import os
import signal
import sys
import threading
import time
import weakref
from _signal import getsignal  # the signal module's own makes members of enumerations: for nine signals that takes longer than a short run
from _thread import _count as _threads  # of Python's; threading's own number takes longer, and lacks some
from functools import lru_cache, partial
from typing import Any, Callable, Dict, List, Optional, Tuple

from . import _see

_SIGNALS = [getattr(signal, "SIG" + name) for name in ("HUP", "INT", "QUIT", "USR1", "USR2", "PIPE", "ALRM", "TERM", "CHLD")]
# Memory is not part of it, because other threads of the caller's process take memory too, and Python keeps some for later use.
_UNSEEN = "memory that its runs keep is not looked at, but for results: a callable has its caller's process"
Made = Optional["weakref.ref[Any]"]
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


_NO_PARTS = _Parts(_PARTS[:1])


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


_FEW, _MANY = 4, 256
_HAVE_BASES = ("numpy", "cupy")  # whose arrays' `base` has their memory; another's may be anything
_MOST_TIME = 5.0  # seconds: nothing is said about callables that are slower


class KeptResults:
    """Finds callables that keep their results: memory that grows with every run, and that is certainly not that of other threads.

    If each of a few runs in a row made a result that still exists, the run is repeated on the same input until there are very many
    of them. Before that, a cache returns an old result, a ring of buffers comes round, and garbage is collected; only a callable that
    keeps all results still has them. A view stands for the array that has its memory.
    """

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


Before = Tuple[int, _Parts, List[Any]]


class State:
    """For one callable: what its runs left changed, until its judgement reports it."""

    def __init__(self) -> None:
        self.left = ""
        self.runs = 0
        self.left_at = 0  # the last run that left something changed of what is seen here
        self.kept: List[KeptResults] = []  # of each output

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

    def note_results(self, made: List[Made], again: Callable[[], List[Made]]) -> None:
        """KeptResults.note for each output of a run."""
        while len(self.kept) < len(made):
            self.kept.append(KeptResults())
        for k, one in enumerate(made):
            self.kept[k].note(one, lambda: again()[k])

    def note(self, left: str) -> None:
        self.left = self.left or left
        self.left_at = self.runs

    def explain(self, record: Dict[str, Any]) -> None:
        """Changes a judgement of leaves_no_trace that held: it is refuted if Python's state was left changed; else it says what was not looked at."""
        if record["claim"] != "leaves_no_trace":
            return
        if record["verdict"] == "held":
            why = f"{LEFT_CHANGED}{self.left}" if self.left else next((kept.words for kept in self.kept if kept.words), "")
            record.update({"verdict": "refuted", "reason": why} if why else {"reason": _UNSEEN})
        self.left = ""


class NoState(State):
    """Looks at nothing: for callables that run in processes of their own, where each run is to take little time."""

    def before_run(self) -> Before:
        return os.getpid(), _NO_PARTS, []

    def after_run(self, was: Before) -> None:
        if os.getpid() != was[0]:
            os._exit(99)

    def note_results(self, made: List[Made], again: Callable[[], List[Made]]) -> None:
        pass


LEFT_CHANGED = "it left changed: "


class StrictState(State):
    """Fails the run, for callables that run where nobody hears what is noted."""

    def note(self, left: str) -> None:
        raise _see.Wrong(LEFT_CHANGED + left)

    def note_results(self, made: List[Made], again: Callable[[], List[Made]]) -> None:
        super().note_results(made, again)
        for kept in self.kept:
            if kept.words:
                raise _see.Wrong(kept.words)


_OF_A_LOOK, _OF_A_CALLABLE = 0.3, 1.0  # seconds, since its threads may never end
_PAUSE = 0.0005
_LOOKS, _OF_OTHERS = 3, 0.05  # at threads that were there before: a pool's, maybe, which is not seen to end its work


def _bytes_of(outputs: List[Any]) -> bytes:
    found = b""
    for seen in (_see.tight(_see.see(output)) for output in outputs):
        found += ctypes.string_at(seen.at, seen.nbytes) if seen.nbytes else b""
    return found


class LateWrites:
    """For one callable with results in host memory: finds results that a thread writes to after the call has returned, when the caller reads them."""

    def __init__(self) -> None:
        self._before = 0
        self._for_others = False  # the wait is for threads that were there before
        self._seconds = 0.0  # that were waited
        self._others = 0  # how often others' threads were waited for

    def begin_run(self) -> None:
        self._before = _threads()

    def end_run(self, outputs: List[Any]) -> Optional[bytes]:
        """The results' bytes, if a thread that may write to them is there and may be waited for."""
        now = _threads()
        self._for_others = now <= self._before
        waits = now > 0 and (not self._for_others or self._others < _LOOKS)
        return _bytes_of(outputs) if waits and self._seconds < _OF_A_CALLABLE else None

    def is_written(self, outputs: List[Any], before: bytes) -> bool:
        """Waits for the run's threads, or a moment for others, and tells whether the results have changed."""
        self._others += self._for_others
        begun = now = time.monotonic()
        end = begun + min(_OF_OTHERS if self._for_others else _OF_A_LOOK, _OF_A_CALLABLE - self._seconds)
        while now < end and (self._for_others or _threads() > self._before):
            time.sleep(_PAUSE)
            now = time.monotonic()
        self._seconds += now - begun
        return _bytes_of(outputs) != before


class NoLateWrites(LateWrites):
    """Looks at nothing."""

    def begin_run(self) -> None:
        pass

    def end_run(self, outputs: List[Any]) -> Optional[bytes]:
        return None
