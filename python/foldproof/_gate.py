"""foldproof.gate: pass or fail for a callable that nobody trusts, as the command's gate: random cases from a hidden seed, fixtures, and calls that are timed and
judged. With a reference, for functions that foldproof does not know, results are compared with the reference's in float64."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import select
import signal
import time as clock
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple, Union

from . import _arrays, _library
from ._hunt import Find, _quiet_after_fork, hunt, seconds_of
from ._result import NothingJudged
from ._verify import _name_of, check_callable, check_options, judge, listed

_OF_HUNT, _OF_FIXTURES, _OF_TIMED = 0.45, 0.3, 0.2  # of the time
_LARGE = 1 << 20  # terms of a timed call
_NUMPY = {"f16": "float16", "f32": "float32", "f64": "float64"}


class Gate:
    """An outcome. passed; name; reason: why it fails, or what was judged; seed; find: of the hunt, if that is the reason. It is true where it passed."""

    def __init__(self, name: str, passed: bool, reason: str, seed: int, find: Optional[Find] = None) -> None:
        self.name, self.passed, self.reason, self.seed, self.find = name, passed, reason, seed, find

    def __bool__(self) -> bool:
        return self.passed

    def __str__(self) -> str:
        last = f"{'PASS' if self.passed else 'FAIL'}: {self.name}: {self.reason} (seed {self.seed:#x})"
        return f"{self.find}\n{last}" if self.find else last

    def __repr__(self) -> str:
        return f"<foldproof.Gate: {'PASS' if self.passed else 'FAIL'}: {self.name}: {self.reason}>"


class _Refused(Exception):
    pass


class _Compared:
    """Calls of `fn`, each compared with `reference` in float64 within `tolerance` times the largest magnitude of its row."""

    def __init__(self, fn: Callable[..., Any], reference: Callable[..., Any], tolerance: float, like: str, dtype: str) -> None:
        import numpy as np

        self.np, self.fn, self.reference, self.tolerance, self.dtype = np, fn, reference, tolerance, dtype
        self.array = np.asarray if like == "numpy" else __import__("torch").from_numpy
        self.calls = 0

    def host(self, values: Any) -> Any:
        return self.np.array(values.detach() if hasattr(values, "detach") else values)

    def call(self, x: Any, what: str) -> Tuple[Any, float]:
        """The result, copied when the call returns, and the seconds of processors; its input must be as it was, and its result stay as it is."""
        want = self.host(self.reference(self.array(x.astype("float64")))).astype("float64")
        before, given = x.tobytes(), self.array(x)
        begun = clock.process_time()
        result = self.fn(given)
        seconds = clock.process_time() - begun
        got = self.host(result)
        if x.tobytes() != before:
            raise _Refused(f"changes its input: {what}")
        self.compare(got, want, what)
        if self.host(result).tobytes() != got.tobytes():
            raise _Refused(f"its result changes after the call: {what}")
        self.calls += 1
        return got, seconds

    def compare(self, got: Any, want: Any, what: str) -> None:
        np = self.np
        if got.size != want.size or (got.ndim > 1 and want.ndim > 1 and got.shape != want.shape):
            raise _Refused(f"gives shape {got.shape}, and the reference {want.shape}: {what}")
        got, want = got.reshape(want.shape).astype("float64"), np.atleast_1d(want)
        got = got.reshape(want.shape)
        rows = np.abs(want.reshape(want.shape[0], -1)).max(axis=1).reshape(-1, *[1] * (want.ndim - 1))
        wrong = ~(np.abs(got - want) <= self.tolerance * rows) & ~(np.isnan(got) & np.isnan(want)) & (got != want)
        if wrong.any():
            at = tuple(int(i) for i in np.argwhere(wrong)[0])
            raise _Refused(f"differs from the reference at {at}: got {got[at]!r}, want {want[at]!r}, within {self.tolerance:g} of {float(rows[at[0]].max()):.3g}: {what}")

    def draw(self, random: Any) -> Tuple[Any, str]:
        """Rows of one kind, at any scale: an absolute tolerance would not tell small results from zeros."""
        rows, cols = int(random.integers(1, 40)), int(2 ** random.uniform(0, 11))
        x = random.standard_normal((rows, cols)) if random.integers(3) else random.integers(-8, 9, (rows, cols))
        x = (x * 10.0 ** random.integers(-3, 4)).astype(self.dtype)
        return x, f"{rows}x{cols} of scale {float(self.np.abs(x).max()):.3g}"

    def case(self, random: Any) -> None:
        x, what = self.draw(random)
        first, _ = self.call(x, what)
        if self.call(x, what)[0].tobytes() != first.tobytes():
            raise _Refused(f"gives different bits on the same input: {what}")
        x[...] = x[::-1, ::-1] * self.np.asarray(0.5, self.dtype)
        self.call(x, f"{what}, changed in place")

    def timed(self, random: Any) -> None:
        """The median call on an input that was seen before takes less than half of what each on a new one takes."""
        new, seen, what = [], [], f"1x{_LARGE}"
        for _ in range(6):
            x = random.integers(-8, 9, (1, _LARGE)).astype(self.dtype)
            new.append(self.call(x, what)[1])
            seen.append(self.call(x, what)[1])
        usual, fastest = sorted(seen[1:])[2], min(new[1:])  # the first call makes memory and threads ready
        if 2 * usual < fastest:
            raise _Refused(f"keeps results: a call on an input seen before took {usual * 1e3:.3g} ms, on new ones at least {fastest * 1e3:.3g} ms")


@contextlib.contextmanager
def _child(run: Callable[[], str], seconds: float) -> Iterator[str]:
    """What `run` says in a process of its own."""
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(ours)
            _quiet_after_fork()
            os.write(theirs, json.dumps(run()).encode())
        finally:
            os._exit(0)
    os.close(theirs)
    try:
        ready = select.select([ours], [], [], seconds)[0]
        text = os.read(ours, 1 << 16) if ready else b""
        if not ready:
            os.kill(child, signal.SIGKILL)
        status = os.waitpid(child, 0)[1]
        ended = f"its process was killed by signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else "its process ended"
        yield json.loads(text) if text else f"a call takes longer than {seconds:.0f} s" if not ready else ended
    finally:
        os.close(ours)


def _compared(compared: _Compared, seed: int, seconds: float, draws: bool) -> str:
    """"" and a count, or why it is refused."""
    import numpy as np

    random, end = np.random.default_rng(seed), clock.monotonic() + seconds
    try:
        if draws:
            compared.case(random)
        while draws and clock.monotonic() < end:
            compared.case(random)
        compared.timed(random)
    except _Refused as refused:
        return str(refused)
    except Exception as error:  # whatever it raises on a plain array, it does not pass
        return f"raises {type(error).__name__}: {error}"
    return f"={compared.calls}"


# Of whole numbers up to 8 all orders give the same sum of so many terms.
_KNOWN: Dict[str, Callable[[Any], Any]] = {"sum": lambda x: x.sum(-1), "max": lambda x: x.max(-1) if hasattr(x, "tobytes") else x.amax(-1),
                                           "min": lambda x: x.min(-1) if hasattr(x, "tobytes") else x.amin(-1)}


def _with_reference(fn: Callable[..., Any], name: str, compared: _Compared, seed: int, time: float, draws: bool) -> Gate:
    with _child(lambda: _compared(compared, seed, time * _OF_HUNT if draws else 0, draws), max(5.0, 3 * time)) as said:
        return Gate(name, said[0] == "=", f"{said[1:]} calls agree with the reference" if said[0] == "=" else said, seed)


def _judged(fn: Callable[..., Any], name: str, seed: int, time: float, found: Any, asked: Dict[str, Any]) -> Gate:
    hunted = hunt(fn, time=time * _OF_HUNT, seed=seed, first=True, found=found, check=False, **asked)
    for find in hunted.found:
        return Gate(name, False, f"{'breaks, judged by' if find.record['verdict'] == 'broken' else 'violates'} {find.claim}: {find.record['found']['from']}", seed, find)
    result = judge(fn, seconds=max(1.0, time * _OF_FIXTURES), **asked)
    for record in result.judgements:
        if record["verdict"] in ("refuted", "broken"):
            return Gate(name, False, f"violates {record['claim']}: {record['case']}: {record['reason']}", seed)
    held = hunted.counts["held"] + sum(record["verdict"] == "held" for record in result.judgements)
    if not held:
        raise NothingJudged(f"of {hunted.cases:,} cases all were skipped")
    return Gate(name, True, f"{held:,} verdicts held on {hunted.cases:,} random cases and fixtures", seed)


def gate(
    fn: Callable[..., Any],
    *,
    problem: str = "sum",
    reference: Optional[Callable[..., Any]] = None,
    tolerance: Optional[float] = None,
    time: Union[float, str] = 10,
    seed: Optional[int] = None,
    found: Union[str, "os.PathLike[str]"] = "foldproof-found",
    **asked: Any,
) -> Gate:
    """Pass or fail for a callable that nobody trusts, in about `time` seconds; returns a Gate, which is true where it passed.

    reference  of problem "rows", whose values foldproof does not know: a callable that gives the right results of float64 arrays of the same shape
    tolerance  how far a result may be from the reference's, as a part of the largest magnitude in its row. It has no default: no number is right for all functions
    seed       draws from this seed, of 64 bits; None: a new one, told with the outcome
    found      folder for the fixture of what is found
    asked      arguments of foldproof.verify that say what fn is: dtypes, claims, like, order, finite, ...

    fn runs in forked processes, as in foldproof.hunt."""
    __tracebackhide__ = True
    check_callable(fn)
    check_options(asked)
    if reference is None and tolerance is not None:
        raise ValueError("tolerance= says how far results may be from reference=, which is missing")
    if reference is not None and problem != "rows":
        raise ValueError(f"problem={problem!r} with reference=: foldproof knows its values; a reference is for problem='rows'")
    if reference is not None and (isinstance(tolerance, bool) or not isinstance(tolerance, (int, float)) or not 0 <= tolerance < 1):
        raise ValueError(f"tolerance={tolerance!r}: it has no default. Say how far a result may be from the reference's, as a part of its row's largest magnitude: 1e-5")
    number = secrets.randbits(64) if seed is None else _library.whole("seed", seed, 0, 2**64 - 1)
    seconds, name = seconds_of(time), asked.get("name") or _name_of(fn)
    like = _arrays.pick(asked.get("like"), asked.get("device") == "cuda")
    if asked.get("device", "cpu") != "cpu" or like not in ("numpy", "torch"):
        raise ValueError(f"like={like!r}, device={asked.get('device', 'cpu')!r}: a callable runs in forked processes here: arrays of numpy or torch, on 'cpu'")
    dtypes: List[str] = listed(asked.get("dtypes"), "dtypes") or ["f32"]
    dtype = next((_NUMPY[each] for each in ("f32", "f64", "f16") if each in dtypes), None)
    if reference is not None:
        if dtype is None:
            raise ValueError(f"dtypes={dtypes}: with reference= arrays are f16, f32 or f64")
        compared = _Compared(fn, reference, float(tolerance or 0), like, dtype)
        outcome = _with_reference(fn, name, compared, number, seconds, True)
        if not outcome:
            return outcome
    judged = _judged(fn, name, number, seconds, found, dict(asked, problem=problem, like=like))
    if not judged or problem not in _KNOWN or dtype != "float32" or {"axis", "accumulator", "outputs", "nan"} & {*asked}:
        return judged
    timed = _with_reference(fn, name, _Compared(fn, _KNOWN[problem], 0, like, dtype), number, seconds * _OF_TIMED, False)
    return judged if timed else timed
