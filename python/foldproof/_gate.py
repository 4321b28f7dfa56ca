"""foldproof.gate: pass or fail for a callable that nobody trusts, as the command's gate: random cases from a hidden seed, fixtures, and calls that are timed and
judged. With a reference, for functions that foldproof does not know, results are compared with the reference's in float64. The callable runs in processes of its own."""

from __future__ import annotations

import contextlib
import ctypes
import os
import secrets
import time as clock
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple, Union

from . import _arrays, _fresh, _library
from ._apart import Apart, Ended, Here, Raised, array_of, values_of
from ._callable import Guest
from ._forked import run_forked
from ._hunt import Find, hunt, runs_here, seconds_of
from ._process_state import LEFT_CHANGED, StrictState
from ._result import NothingJudged, Result
from ._verify import _name_of, check_callable, check_options, judge, listed

# When each part ends, as a part of the time; the rest is for a new process.
_COMPARED, _TIMED, _HUNTED, _FIXTURES = 0.2, 0.3, 0.55, 0.75
_OF_SHRINKING, _OF_CALL, _OF_HUNG = 0.25, 0.5, 0.3
_LEAST = 0.1  # of the time, for a part that others have left none
_TIMES, _FEWEST_TIMES, _ALIKE = 8, 5, 1.4
_AGAIN = 2  # calls on an input seen before, so that each third call is on a new one: memory is often as new at each second call
_SHARED = 1 << 25  # bytes of memory for the arguments, and for the results
_FEWEST_FIXTURES, _LONGER = 8, 4
_MOST_DRAWN = 1 << 16  # elements
_TRANSPOSED, _EVERY_SECOND = ", transposed", ", every second column"
_LAYOUTS = ("", "", _TRANSPOSED, _EVERY_SECOND)
_LARGE, _ROWS = 1 << 20, 16  # of a timed call: terms, about; rows, at most
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


def _quartile(seconds: List[float]) -> float:
    return sorted(seconds)[len(seconds) // 4]


class _Compared:
    """Calls of a callable, each compared with `reference` in float64 within `tolerance` times the largest magnitude of its row. The reference runs in this process."""

    def __init__(self, run: Union[Apart, Here], reference: Callable[..., Any], tolerance: float, like: str, dtype: str) -> None:
        import numpy as np

        self.np, self.run, self.reference, self.tolerance, self.like, self.dtype = np, run, reference, tolerance, like, dtype
        self.calls = 0

    def call(self, x: Any, what: str) -> Tuple[Any, float]:
        """The results when the call returns, and its seconds; its input must be as it was, and its results stay as they are."""
        want = values_of(self.reference(array_of(x.astype("float64"), self.like, "cpu"))).astype("float64")
        got, seconds, after = self.run.call(x)
        if x.tobytes() != after:
            raise _Refused(f"changes its input: {what}")
        self.compare(got, want, what)
        if self.run.again().tobytes() != got.tobytes():
            raise _Refused(f"its result changes after the call: {what}")
        self.calls += 1
        return got, seconds

    def compare(self, got: Any, want: Any, what: str) -> None:
        np = self.np
        if got.size != want.size or (got.ndim > 1 and want.ndim > 1 and got.shape != want.shape):
            raise _Refused(f"gives shape {got.shape}, and the reference {want.shape}: {what}")
        if np.iscomplexobj(got) and not np.iscomplexobj(want):
            raise _Refused(f"gives complex numbers, and the reference real ones: {what}")
        got, want = got.reshape(want.shape).astype("float64"), np.atleast_1d(want)
        got = got.reshape(want.shape)
        sizes = np.where(np.isfinite(want), np.abs(want), 0)  # beside an infinity, too, a finite result has its own tolerance
        rows = sizes.reshape(want.shape[0], -1).max(axis=1).reshape(-1, *[1] * (want.ndim - 1))
        wrong = ~(np.abs(got - want) <= self.tolerance * rows) & ~(np.isnan(got) & np.isnan(want)) & (got != want)
        if wrong.any():
            at = tuple(int(i) for i in np.argwhere(wrong)[0])
            raise _Refused(f"differs from the reference at {at}: got {got[at].item()!r}, want {want[at].item()!r}, allowed is a difference of {self.tolerance:g} * {float(rows[at[0]].max()):.3g}: {what}")

    def draw(self, random: Any) -> Tuple[Any, str]:
        """Rows of one kind, at any scale: an absolute tolerance would not tell small results from zeros. Half of them are contiguous, others transposed or every second
        column."""
        layout = _LAYOUTS[random.integers(len(_LAYOUTS))]
        cols = int(2 ** random.uniform(0, 11 if layout else 14))  # NumPy adds up one by one where terms lie apart
        rows = int(random.integers(1, max(2, min(40, _MOST_DRAWN // cols))))
        x = random.standard_normal((rows, cols)) if random.integers(3) else random.integers(-8, 9, (rows, cols))
        x = (x * 10.0 ** random.integers(-3, 4)).astype(self.dtype)
        what = f"{rows}x{cols} of scale {float(self.np.abs(x).max()):.3g}"
        if layout == _TRANSPOSED:
            x = self.np.asfortranarray(x)
        elif layout == _EVERY_SECOND:
            x = self.np.repeat(x, 2, axis=1)[:, ::2]
        return x, f"{what}{layout}"

    def case(self, random: Any) -> None:
        """What is raised for inputs that are not contiguous counts as little as NotImplementedError."""
        x, what = self.draw(random)
        try:
            self.judge(x, what)
        except Raised:
            if x.flags.c_contiguous:
                raise

    def judge(self, x: Any, what: str) -> None:
        first, _ = self.call(x, what)
        if self.call(x, what)[0].tobytes() != first.tobytes():
            raise _Refused(f"gives different bits on the same input: {what}")
        x[...] = x[::-1, ::-1] * self.np.asarray(0.5, self.dtype)
        self.call(x, f"{what}, changed in place")

    def timed(self, random: Any, end: float) -> None:
        """A quarter of the calls on inputs that were seen before take less than half of the time in which a quarter of those on new inputs are done. Not the fastest
        calls: a clock may be wrong once; not the medians: other processes make calls slower. If they take clearly less than new ones, more calls decide."""
        new: List[float] = []
        seen: List[float] = []
        rows = int(random.integers(1, _ROWS + 1))
        cols = int(_LARGE * 2 ** random.uniform(-0.5, 0.5)) // rows
        what = f"{rows}x{cols}"

        for fewest in (_FEWEST_TIMES, 2 * _TIMES, 4 * _TIMES):
            while len(new) < fewest or (len(new) < _TIMES and clock.monotonic() < end):
                x = random.integers(-8, 9, (rows, cols)).astype(self.dtype)
                new.append(self.call(x, what)[1])
                seen += [self.call(x, what)[1] for _ in range(_AGAIN)]
            again, fresh = _quartile(seen[_AGAIN:]), _quartile(new[1:])  # the first call makes memory and threads ready
            if _ALIKE * again >= fresh:
                return
        if 2 * again >= fresh:
            return
        raise _Refused(f"keeps results: a call on an input seen before took {again * 1e3:.3g} ms, on new ones {fresh * 1e3:.3g} ms")

    def all(self, seed: int, draws_until: float, end: float) -> None:
        random = self.np.random.default_rng(seed)
        while clock.monotonic() < draws_until:
            self._if_taken(self.case, random)
        self._if_taken(self.timed, random, end)

    @staticmethod
    def _if_taken(part: Callable[..., None], *arguments: Any) -> None:
        """An input that the callable does not take is left out."""
        try:
            part(*arguments)
        except Raised as error:
            if not str(error).startswith(NotImplementedError.__name__):
                raise


# Of whole numbers up to 8 all orders give the same sum of so many terms.
_KNOWN: Dict[str, Callable[[Any], Any]] = {"sum": lambda x: x.sum(-1), "max": lambda x: x.max(-1) if hasattr(x, "tobytes") else x.amax(-1),
                                           "min": lambda x: x.min(-1) if hasattr(x, "tobytes") else x.amin(-1)}


def _what(record: Dict[str, Any]) -> str:
    """What the callable does to which claim."""
    if record["verdict"] == "broken" and LEFT_CHANGED in record.get("reason", ""):
        return "violates leaves_no_trace"
    return f"{'breaks, judged by' if record['verdict'] == 'broken' else 'violates'} {record['claim']}"


@contextlib.contextmanager
def _limited_calls(seconds: float) -> Iterator[None]:
    """A call that hangs must end before the time is over, unless the user says how long one may take."""
    name = "FOLDPROOF_TIMEOUT"
    given = name in os.environ
    os.environ.setdefault(name, str(int(max(2, _OF_HUNG * seconds))))
    try:
        yield
    finally:
        if not given:
            del os.environ[name]


class _Judging:
    """One gate: what is judged, and when each part ends."""

    def __init__(self, fn: Callable[..., Any], name: str, seed: int, seconds: float, here: bool, asked: Dict[str, Any]) -> None:
        self.fn, self.name, self.seed, self.seconds, self.here, self.asked = fn, name, seed, seconds, here, asked
        self.began = clock.monotonic()
        self.unknown = False  # nothing says which values are right

    def end(self, part: float) -> float:
        return self.began + part * self.seconds

    def left(self, part: float) -> float:
        return max(_LEAST * self.seconds, self.end(part) - clock.monotonic())

    def outcome(self, passed: bool, reason: str, find: Optional[Find] = None) -> Gate:
        return Gate(self.name, passed, reason, self.seed, find)

    def compared(self, reference: Any, tolerance: float, dtype: str, draws: bool) -> Gate:
        like, device = self.asked["like"], self.asked.get("device", "cpu")
        run: Union[Apart, Here] = Here(self.fn, like, device) if self.here else Apart(self.fn, like, _SHARED, max(2.0, _OF_CALL * self.seconds))
        compared = _Compared(run, reference, tolerance, like, dtype)
        try:
            compared.all(self.seed, self.end(_COMPARED) if draws else 0, self.end(_TIMED))
        except (_Refused, Ended) as refused:
            return self.outcome(False, str(refused))
        except Raised as error:
            return self.outcome(False, f"raises {error}")
        finally:
            run.close()
        if draws and not compared.calls:
            raise NothingJudged("the callable takes none of the inputs that were drawn")
        return self.outcome(True, f"{compared.calls} calls agree with the reference")

    def hunted(self, found: Any) -> Tuple[Optional[Gate], Dict[str, int], int]:
        hunted = hunt(self.fn, time=self.left(_HUNTED), seed=self.seed, first=True, found=found, check=False, in_process=self.here, _shrinking=_OF_SHRINKING * self.seconds, **self.asked)
        for find in hunted.found:
            return self.outcome(False, f"{_what(find.record)}: {find.record['found']['from']}", find), hunted.counts, hunted.cases
        return None, hunted.counts, hunted.cases

    def _forked(self, table: Any, options: Any, guests: List[Guest], result: Result) -> None:
        for guest in guests:
            guest.state = StrictState()
        options.apart = 1

        def each(line: Dict[str, Any]) -> None:
            if line["type"] == "explanation":
                return
            (result.judgements if line["promised"] else result.unclaimed).append(line)
            if guests[0].rows:
                guests[0].rows.explain(line)

        run_forked(guests, each, lambda take: int(_library.library().foldproof_verify(ctypes.byref(table), ctypes.byref(options), take, None)), (0, _library.UNSUPPORTED))

    def fixtures(self) -> Tuple[Result, int]:
        """In forked processes, and `fresh_process` in a new one; and the number of fixtures that were judged. A busy machine may have only started a process
        when the time is over: then once more, for longer."""
        seconds = self.left(_FIXTURES)
        for _ in range(_LONGER):
            result = judge(self.fn, seconds=seconds, **self.asked, _untrusted=True, _hunt=None if self.here else self._forked)
            judged = len({record["case"] for record in result.judgements if record["verdict"] != "skipped"})
            if judged >= _FEWEST_FIXTURES or not result.left_out:
                break
            seconds *= _LONGER
        if not self.here:
            in_new = {**result._asked, "dtypes": self.asked.get("dtypes"), "seconds": self.left(1) / 2, "set": self.asked.get("set", "guests")}
            _fresh.judge(self.fn, in_new, result.judgements, [])
        return result, judged

    def if_it_lives(self, found: Any) -> Gate:
        """Nothing else ran in a process that ended, so that the callable is to blame, were it by what it left behind."""
        try:
            return self.judged(found)
        except ValueError as error:
            if "a process ended, and the subject under test was not the cause" not in str(error):
                raise
            return self.outcome(False, f"processes that it ran in ended, first in {str(error).partition('first in ')[2]}")

    def judged(self, found: Any) -> Gate:
        failed, counts, cases = self.hunted(found)
        if failed is not None:
            return failed
        result, fixtures = self.fixtures()
        for record in result.judgements:
            if record["verdict"] in ("refuted", "broken"):
                return self.outcome(False, f"{_what(record)}: {record['case']}: {record['reason']}")
        held = counts["held"] + result.counts["held"]
        if not held:
            raise NothingJudged(f"of {cases:,} cases all were skipped")
        values = "; its values were not judged: reference= says what is right" if self.unknown else ""
        skipped = f"; of random cases {counts['skipped']:,} verdicts were skipped" if counts["skipped"] else ""
        return self.outcome(True, f"{held:,} verdicts held on {cases:,} random cases and {fixtures:,} fixtures, in {clock.monotonic() - self.began:.1f} s{skipped}{values}")


def gate(
    fn: Callable[..., Any],
    *,
    problem: str = "sum",
    reference: Optional[Callable[..., Any]] = None,
    tolerance: Optional[float] = None,
    time: Union[float, str] = 10,
    seed: Optional[int] = None,
    found: Union[str, "os.PathLike[str]"] = "foldproof-found",
    in_process: Optional[bool] = None,
    **asked: Any,
) -> Gate:
    """Pass or fail for a callable that nobody trusts, in about `time` seconds; returns a Gate, which is true where it passed.

    reference  of problem "rows", whose values foldproof does not know: a callable that gives the right results of float64 arrays of the same shape
    tolerance  how far a result may be from the reference's, as a part of the largest magnitude in its row. It has no default: no number is right for all functions
    seed       draws from this seed, of 64 bits; None: a new one, told with the outcome
    found      folder for the fixture of what is found
    in_process as of foldproof.hunt: None: for JAX and device="cuda" fn is called in this process, which it can change and end
    asked      arguments of foldproof.verify that say what fn is: dtypes, claims, like, order, finite, ...

    fn runs in forked processes, as in foldproof.hunt; the reference runs in this one."""
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
    seconds, name, device = seconds_of(time), asked.get("name") or _name_of(fn), asked.get("device", "cpu")
    like = _arrays.pick(asked.get("like"), device == "cuda")
    dtypes: List[str] = listed(asked.get("dtypes"), "dtypes") or ["f32"]
    dtype = next((_NUMPY[each] for each in ("f32", "f64", "f16") if each in dtypes), None)
    if reference is not None and dtype is None:
        raise ValueError(f"dtypes={dtypes}: with reference= arrays are f16, f32 or f64")
    if asked.get("strides") is None and problem not in ("rows", "matmul") and like != "jax":
        asked["strides"] = True  # what it raises for such inputs counts as little as other bits do
    judging = _Judging(fn, name, number, seconds, runs_here(in_process, like, device), dict(asked, problem=problem, like=like))
    judging.unknown = problem == "rows" and reference is None
    own = None if dtype != "float32" or {"axis", "accumulator", "outputs", "nan"} & {*asked} else _KNOWN.get(problem)
    compared = judging.compared(reference or own, float(tolerance or 0), dtype or "", reference is not None) if reference or own else None
    if compared is not None and not compared and reference:
        return compared
    with _limited_calls(seconds):
        judged = judging.if_it_lives(found)  # which says more of a wrong sum
    return judged if compared is None or compared or not judged else compared
