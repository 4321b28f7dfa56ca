"""Has the library judge a callable in processes that are forked from this one: the first one asks the library, which forks those in which the callable runs. What the
callable does to its process changes neither this one nor the first."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import time as clock
from typing import Any, Callable, Dict, Iterator, List, Tuple

from . import _library
from ._apart import quiet_after_fork
from ._callable import Guest
from ._fresh import lines_of

_OMP_PAUSE_HARD = 2
_SILENCE = 600  # seconds: a hunt says something some times a second, except where it judges a find once more
Line = Dict[str, Any]


def _end_pool() -> None:
    """Ends OpenMP's other threads, which a forked process would wait for: they are not in it."""
    _library.library().omp_pause_resource_all(_OMP_PAUSE_HARD)


def run_forked(guests: List[Guest], each: Callable[[Line], None], run: Callable[[Any], int], fine: Tuple[int, ...] = (0,)) -> None:
    """Calls `each` for every line that run(take) gives, in a process that is forked from this one. `fine`: what it may return."""
    ours, theirs = os.pipe()
    parent = os.getpid()
    _end_pool()
    child = os.fork()
    if child == 0:
        try:
            os.close(ours)
            _run(guests, run, fine, theirs, parent)
        finally:
            os._exit(0)
    os.close(theirs)
    with contextlib.closing(os.fdopen(ours, "rb", buffering=0)) as from_it, _ended(child, lambda: _listen(from_it.fileno(), each)):
        _listen(from_it.fileno(), each)


def _run(guests: List[Guest], run: Callable[[Any], int], fine: Tuple[int, ...], to: int, parent: int) -> None:
    stop: List[int] = []
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.append(1))
    quiet_after_fork()

    def take(line: bytes, _context: Any) -> int:
        os.write(to, line.rstrip(b"\n") + b"\n")
        return bool(stop) or os.getppid() != parent

    with guests[0].quiet():
        code = run(_library.Take(take))
    last = {"type": "ended"} if code in fine else {"type": "error", "text": _library.library().foldproof_error().decode()}
    os.write(to, json.dumps(last).encode() + b"\n")


def _listen(fd: int, each: Callable[[Line], None]) -> None:
    ended = False
    for line in lines_of(fd, lambda: clock.monotonic() + _SILENCE):
        if line["type"] == "error":
            raise _library.mistake(line["text"])
        ended = line["type"] == "ended"
        if not ended:
            each(line)
    if not ended:
        raise OSError("the process that judges ended before its time; what a hunt had found is in its folder")


@contextlib.contextmanager
def _ended(child: int, listen: Callable[[], None]) -> Iterator[None]:
    """Ends the process where an exception ends the listening. After Ctrl-C it first keeps what is being made small, and says so: a second one ends it at once."""
    try:
        yield
    except BaseException as error:
        _signal(child, signal.SIGKILL if isinstance(error, TimeoutError) else signal.SIGTERM)
        if isinstance(error, KeyboardInterrupt):
            _listen_to_the_end(child, listen)
        raise
    finally:
        with contextlib.suppress(ChildProcessError):
            os.waitpid(child, 0)


def _listen_to_the_end(child: int, listen: Callable[[], None]) -> None:
    try:
        listen()
    except BaseException:
        _signal(child, signal.SIGKILL)


def _signal(child: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(child, number)
