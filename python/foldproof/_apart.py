"""A callable in a process of its own, which is called from this one. Its arguments and results lie in memory that both processes have, and this one reads that process's
clock: so what the callable changes in its process, such as numpy's functions, foldproof's or a timer, changes neither the judging nor the times."""

from __future__ import annotations

import json
import mmap
import os
import select
import signal
import socket
import sys
import time as clock
from typing import Any, Callable, Dict, Optional, Tuple

_LONGEST = 1 << 16  # bytes of a message
_PROCESS_CLOCK = 2  # linux/posix-timers.h: CPUCLOCK_SCHED, of all threads of a process


class Ended(Exception):
    """The callable's process ended, or takes too long."""


class Raised(Exception):
    """The callable raised an exception, or returned what is no array."""


def on_host(result: Any) -> Any:
    """An array of numpy, torch, JAX or cupy as numpy's."""
    import numpy as np

    for method in ("detach", "cpu", "get"):
        result = getattr(result, method)() if hasattr(result, method) and not isinstance(result, np.ndarray) else result
    return np.asarray(result)


def values_of(result: Any) -> Any:
    """A copy of it."""
    import numpy as np

    return np.array(on_host(result))


def span_of(x: Any) -> int:
    """Bytes from the first element of an array to the last one."""
    return int(x.itemsize + sum((n - 1) * stride for n, stride in zip(x.shape, x.strides)))


def laid_as(x: Any, memory: Any) -> Any:
    """An array of the same shape and strides there."""
    import numpy as np

    return np.ndarray(x.shape, x.dtype, memory, strides=x.strides)


def array_of(values: Any, like: str, device: str) -> Any:
    """The array that the callable gets; on the CPU, numpy's and torch's lie where the values are."""
    if like == "torch":
        array = __import__("torch").from_numpy(values)
        return array.cuda() if device == "cuda" else array
    if like == "numpy":
        return values
    return __import__("jax.numpy", fromlist=["asarray"]).array(values) if like == "jax" else __import__("cupy").asarray(values)


def quiet_after_fork() -> None:
    """The threads of torch's own pool are not in a forked process."""
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.set_num_threads(1)


class Here:
    """The same in this process, for what does not work in a forked one. On a device it is timed by the time that passes."""

    def __init__(self, fn: Callable[..., Any], like: str, device: str) -> None:
        self.fn, self.like, self.device = fn, like, device
        self._memory = bytearray()
        self._clock = clock.perf_counter if device == "cuda" else clock.process_time

    def call(self, x: Any) -> Tuple[Any, float, bytes]:
        """Results; seconds; the bytes of the input after the call."""
        if span_of(x) > len(self._memory):
            self._memory = bytearray(span_of(x))
        copy = laid_as(x, self._memory)
        copy[...] = x
        given = array_of(copy, self.like, self.device)
        values_of(given)  # once it has arrived
        begun = self._clock()
        try:
            self.result = self.fn(given)
            values = values_of(self.result)
        except Exception as error:
            raise Raised(f"{type(error).__name__}: {error}") from None
        return values, self._clock() - begun, values_of(given).tobytes()

    def again(self) -> Any:
        """The results of the last call, as they are now."""
        return values_of(self.result)

    def close(self) -> None:
        pass


_MOST_GIVEN = 10.0  # seconds by which the end of a call is put off at most: a callable may have stopped its process itself
_LOOK = 0.05


def _state(process: int) -> str:
    """R: it runs or could; S: it waits; "" where the system does not tell."""
    try:
        with open(f"/proc/{process}/stat") as file:
            return file.read().rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return ""


class Apart:
    """`seconds`: after which a call is ended."""

    def __init__(self, fn: Callable[..., Any], like: str, nbytes: int, seconds: float) -> None:
        self._fn, self._like, self._limit = fn, like, seconds
        self._input, self._output = mmap.mmap(-1, nbytes), mmap.mmap(-1, nbytes)
        self._ours, theirs = socket.socketpair()
        self._child: Optional[int] = os.fork()
        if self._child == 0:
            try:
                self._ours.close()
                quiet_after_fork()
                self._serve(theirs)
            finally:
                os._exit(0)
        theirs.close()
        self._clock = (~(self._child or 0)) << 3 | _PROCESS_CLOCK

    def _serve(self, calls: socket.socket) -> None:
        """In the callable's process."""
        import numpy as np

        result: Any = None
        while asked := calls.recv(_LONGEST):
            said: Dict[str, Any]
            try:
                if asked != b"again":
                    shape, strides, dtype = json.loads(asked)
                    x = np.ndarray(shape, dtype, self._input, strides=strides)
                    result = self._fn(array_of(x, self._like, "cpu"))
                values = on_host(result)
                np.frombuffer(self._output, values.dtype, values.size).reshape(values.shape)[...] = values
                said = {"shape": values.shape, "dtype": values.dtype.str}
            except Exception as error:
                said = {"raised": f"{type(error).__name__}: {error}"[:2000]}
            calls.sendall(json.dumps(said).encode())

    def _end(self) -> str:
        child, self._child = self._child, None
        try:
            status = os.waitpid(child or 0, 0)[1]
        except ChildProcessError:  # where SIGCHLD is ignored, the system keeps no status
            return "its process ended"
        return f"its process was killed by signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else "its process ended"

    def _answers(self) -> bool:
        """Whether an answer comes in time. For as long as its process is stopped, or waits for a processor, none passes; nor while this one is stopped."""
        left, given, seen, used = self._limit, _MOST_GIVEN, clock.monotonic(), clock.clock_gettime(self._clock)
        while not select.select([self._ours], [], [], _LOOK)[0]:
            state, now, uses = _state(self._child or 0), clock.monotonic(), clock.clock_gettime(self._clock)
            passed = min(now - seen, 1.0)
            lost = passed if state in ("T", "t") else max(0.0, passed - (uses - used)) if state == "R" else 0.0
            lost, seen, used = min(lost, given), now, uses
            left, given = left - (passed - lost), given - lost
            if left <= 0:
                return False
        return True

    def _ask(self, what: bytes) -> Any:
        import numpy as np

        answer = b""
        try:
            self._ours.sendall(what)
            if not self._answers():
                self.close()
                raise Ended(f"a call takes longer than {self._limit:.0f} s")
            answer = self._ours.recv(_LONGEST)
        except ConnectionError:
            pass
        if not answer:
            raise Ended(self._end())
        try:
            said = json.loads(answer)
            if "raised" in said:
                raise Raised(said["raised"])
            return np.frombuffer(self._output, said["dtype"], int(np.prod(said["shape"], dtype=int))).reshape(said["shape"]).copy()
        except (KeyError, TypeError, ValueError):
            raise Raised("what it returns is no array of numbers") from None

    def call(self, x: Any) -> Tuple[Any, float, bytes]:
        """Results; seconds of processors; the bytes of the input after the call."""
        given = laid_as(x, self._input)
        given[...] = x
        begun = self._seconds()
        values = self._ask(json.dumps([x.shape, x.strides, x.dtype.str]).encode())
        return values, self._seconds() - begun, given.tobytes()

    def _seconds(self) -> float:
        """The system adds to the times of a process while it waits, and at ticks: reads them once the process waits for the next call."""
        end = clock.monotonic() + self._limit
        while clock.monotonic() < end and _state(self._child or 0) == "R":
            clock.sleep(50e-6)
        return clock.clock_gettime(self._clock)

    def again(self) -> Any:
        """The results of the last call, as they are now."""
        return self._ask(b"again")

    def close(self) -> None:
        if self._child is not None:
            os.kill(self._child, signal.SIGKILL)
            self._end()
        self._ours.close()
