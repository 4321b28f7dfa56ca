"""foldproof.hunt: looks for the input that refutes a callable, as the command's hunt does. The hunt's process is forked from this one, and forks those in which
the callable runs: so this process is left as it was, and a callable that crashes loses only its case. What does not work in forked processes is called in this one."""

from __future__ import annotations

import contextlib
import ctypes
import os
import secrets
import sys
import warnings
from typing import Any, Callable, Dict, Iterator, List, Optional, Union

from . import _claims, _library
from ._callable import Guest
from ._forked import run_forked
from ._process_state import NoLateWrites, NoState
from ._progress import Progress
from ._result import Broken, NothingJudged, Record, Refuted, Result
from ._rows import Rows
from ._verify import check_options, judge, run_here

_USUAL_SECONDS = 60
_MOST_JOBS = 8
_UNITS = {"s": 1, "m": 60, "h": 3600}
# What verify takes that a hunt draws by itself.
DRAWN = ("fixtures", "set", "only", "around", "sweep", "data", "seconds", "repeats")
# What a callable is judged by in a hunt.
HUNTED = ("bounded", "compensated", "accurate_as", "ulps", "faithful", "correctly_rounded", "replays", "same_bits_as", "stays_in_bounds", "keeps_input", "run_to_run",
          "alignment_invariant", "batch_invariant", "length_invariant", "padding_invariant", "stride_invariant", "split_invariant", "permutation_invariant")
_KEPT = ("judgement", "holds", "hunt")  # lines that are taken after an interruption, too
_TIDY = ("stays_in_bounds", "keeps_input")  # not leaves_no_trace: memory that grows, which is looked for in many runs, is Python's as well


class KnownHolds(AssertionError):
    """A failure that a ledger has from an earlier hunt does not fail any more. The message names its fixture."""


class Find:
    """One claim that a hunt refuted. subject, claim, path: of the fixture; seed: of the hunt; text: all about it; replay: a line of Python that judges the fixture
    again; record: as `foldproof verify --jsonl` writes it, with how it was found in "found"."""

    def __init__(self, record: Record, result: Result, seed: int) -> None:
        self.record, self.seed, self.path = record, seed, record["found"]["file"]
        self.subject, self.claim, self.case = record["subject"], record["claim"], record["case"]
        self.replay = result.replay(record)
        self.text = "\n".join([*result.told(record), *_how_found(record["found"]), f"  reproduce: {self.replay}"])

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<foldproof.Find: {self.subject} violates {self.claim}, {self.path}>"


def _smallness(found: Dict[str, Any]) -> str:
    if found["generated"]:
        return f"not made smaller in {found['tries']} runs: {found['from']}"
    n = found["other_terms"]
    terms = "all terms are 0, 1 or -1" if n == 0 else f"{n} term{' is' if n == 1 else 's are'} neither 0, 1 nor -1"
    return f"made small from {found['from']} in {found['tries']} runs: {terms}"


def _how_found(found: Dict[str, Any]) -> List[str]:
    before = found["cases"] - 1
    told = [f"  {found['threshold']}"] if found["threshold"] else []
    told += [f"  seen in {found['seen']} of {found['looked']} new processes"] if found["seen"] < found["looked"] else []
    told += [f"  alone it holds: {before} case{'s' if before > 1 else ''} must run before it in the same process"] if before else []
    told.append(f"  {_smallness(found)}" if found["tries"] else f"  not made small: {found['from']}")
    told += ["  it is not run any more in this hunt"] if found["hangs"] else []
    return [*told, f"  fixture: {found['file']}"]


class Hunt:
    """What a hunt did. found: what it has found; cases: how many were drawn; runs, seconds; seed: the same seed draws the same cases; counts: of verdicts;
    problems, dtypes: how many cases of each; holds: fixtures of the ledger that do not fail any more."""

    def __init__(self, result: Result, seed: int) -> None:
        self._result, self.seed = result, seed
        self.found: List[Find] = []
        self.holds: List[str] = []
        self.cases, self.runs, self.seconds, self.expected = 0, 0, 0.0, 0
        self.counts = {"held": 0, "refuted": 0, "skipped": 0, "broken": 0}
        self.problems: Dict[str, int] = {}
        self.dtypes: Dict[str, int] = {}
        self.closest: Optional[float] = None

    def take(self, line: Dict[str, Any]) -> None:
        if line["type"] == "judgement":
            self._result.judgements.append(line)
            self.found.append(Find(line, self._result, self.seed))
            line["asked"] = dict(line.get("asked", {}), python=self.found[-1].replay)
        elif line["type"] == "holds":
            self.holds.append(f"{line['file']}: a known failure of {line['claim']} no longer fails")
        elif line["type"] == "gone":
            warnings.warn(f"{line['file']}: no such file: this line of the ledger is left out", stacklevel=2)
        elif line["type"] == "progress":
            self.cases, self.seconds = line["cases"], line["seconds"]
        elif line["type"] == "hunt":
            self.cases, self.runs, self.seconds, self.expected = line["cases"], line["trials"], line["seconds"], line["expected"]
            self.counts = {verdict: line[verdict] for verdict in self.counts}
            self.problems, self.dtypes, self.closest = line["problems"], line["dtypes"], line.get("closest")

    @property
    def summary(self) -> str:
        verdicts = ", ".join(f"{n:,} {verdict}" for verdict, n in self.counts.items() if n) or "nothing judged"
        speed = f"{self.cases / self.seconds:,.0f} a second" if self.seconds else "in no time"
        return f"{len(self.found)} found in {self.cases:,} cases ({speed}), seed {self.seed:#x}: {verdicts}"

    def __repr__(self) -> str:
        return f"<foldproof.Hunt: {self.summary}>"

    def __str__(self) -> str:
        return "\n".join([*(find.text for find in self.found), *(f"HOLDS: {line}" for line in self.holds), self.summary])

    def check(self) -> "Hunt":
        """Raises Refuted or Broken for the first find, KnownHolds, or NothingJudged; else returns itself."""
        for verdict, kind in (("refuted", Refuted), ("broken", Broken)):
            for find in self.found:
                if find.record["verdict"] == verdict:
                    raise kind(self._result, find.record, str(self))
        if self.holds:
            raise KnownHolds("\n".join(self.holds))
        if not self.counts["held"] and not self.expected:
            raise NothingJudged(f"of {self.cases:,} cases all were skipped")
        return self


def seconds_of(time: Union[float, str, None]) -> float:
    """90 from 90, "90", "90s"; "5m" and "2h" too; 0 from None."""
    if time is None:
        return 0.0
    number, unit = (time[:-1], _UNITS[time[-1]]) if isinstance(time, str) and time[-1:] in _UNITS else (time, 1)
    try:
        seconds = float(number) * unit
    except (TypeError, ValueError):
        seconds = -1.0
    if isinstance(time, bool) or not 0 < seconds < float("inf"):
        raise ValueError(f"time={time!r}: a number of seconds, or as '60s', '5m', '2h'")
    return seconds


def _refuse(asked: Dict[str, Any]) -> None:
    for name in DRAWN:
        if name in asked:
            raise TypeError(f"{name!r} is no option of foldproof.hunt, which draws the cases: foldproof.verify takes it")
    check_options(asked)


def runs_here(in_process: Optional[bool], like: str, device: str) -> bool:
    """Whether the callable is called in this process: JAX has threads, and CUDA's driver a context, that are not in a forked one."""
    why = "like='jax'" if like == "jax" else f"device={device!r}" if device != "cpu" else ""
    if why and in_process is False:
        raise ValueError(f"{why}, in_process=False: it does not work in forked processes")
    return bool(why) if in_process is None else bool(in_process)


class _Prey:
    """What the library is asked of a callable's table."""

    def __init__(self, asked: _library.HuntOptions, hunt: "Hunt") -> None:
        self.asked, self.hunt = asked, hunt

    def __call__(self, table: Any, options: Any, guests: List[Guest], _found: Result) -> None:
        for guest in guests:
            guest.state, guest.late = NoState(), NoLateWrites()

        def run(take: Any) -> int:
            return int(_library.library().foldproof_hunt(ctypes.byref(table), ctypes.byref(options), ctypes.byref(self.asked), take, None))

        def each(line: Dict[str, Any]) -> None:
            self._take(line, guests[0].rows, progress)

        with Progress(True) as progress:
            if self.asked.here:
                _library.check(run_here(guests, each, run, _KEPT))
            else:
                run_forked(guests, each, run)

    def _take(self, line: Dict[str, Any], rows: Optional[Rows], progress: Progress) -> None:
        if rows and line["type"] == "judgement":
            rows.explain(line)  # without the results, which are in the other process: there are only hashes of them
        self.hunt.take(line)
        progress.say(f"{self.hunt.cases:,} cases, {len(self.hunt.found)} found")


def _jobs(jobs: Optional[int]) -> int:
    return min(len(os.sched_getaffinity(0)), _MOST_JOBS) if jobs is None else _library.whole("jobs", jobs, 1, _MOST_JOBS)


def _jobs_here(jobs: Optional[int]) -> int:
    if jobs not in (None, 1):
        raise ValueError(f"jobs={jobs}: a callable that is called in this process has one")
    return 1


@contextlib.contextmanager
def _told(hunts: List[Hunt]) -> Iterator[None]:
    """Prints what was found where an exception such as Ctrl-C ends the hunt."""
    try:
        yield
    except BaseException:
        if hunts and (hunts[0].found or hunts[0].holds):
            print(hunts[0], file=sys.stderr, flush=True)
        raise


def hunt(
    fn: Callable[..., Any],
    *,
    time: Union[float, str, None] = None,
    cases: Optional[int] = None,
    seed: Optional[int] = None,
    first: bool = False,
    jobs: Optional[int] = None,
    found: Union[str, "os.PathLike[str]"] = "foldproof-found",
    ledger: Union[str, "os.PathLike[str]", None] = None,
    check: bool = True,
    in_process: Optional[bool] = None,
    _shrinking: float = 0,
    **asked: Any,
) -> Hunt:
    """Looks for the input on which a callable violates a claim: draws random cases, judges the callable on them, and makes each case that refutes a claim
    small. Raises Refuted or Broken if anything was found, with all that was found in the message; KnownHolds; or NothingJudged.

    time      hunts so long: seconds, or "60s", "5m", "2h"; None: 60 seconds, or without a limit if `cases` is given
    cases     hunts with so many cases
    seed      draws from this seed, of 64 bits: the same seed gives the same cases; None: a new one
    first     True: ends with the first find
    jobs      processes that hunt, from 1 to 8; None: one for each core
    found     folder for the fixtures of what is found
    ledger    a file of JSON lines that keeps what is found, too. What it has from earlier hunts is run first and expected to fail
    check     False: raises nothing, and returns what was found
    in_process True: fn is called in this process, as foldproof.verify does; a crash ends it. None: so for JAX and for device="cuda", which do not work in
              forked processes
    asked     arguments of foldproof.verify that say what fn is: problem, dtypes, claims, like, same_bits_as, outputs, axis, order, finite, ...

    fn runs in processes that are forked from this one, and forked again for some hundreds of cases each. Threads that this process has are not in them; torch gets
    one thread there. leaves_no_trace is not judged there; foldproof.verify does."""
    __tracebackhide__ = True
    _refuse(asked)
    number = secrets.randbits(64) if seed is None else _library.whole("seed", seed, 0, 2**64 - 1)
    options = _library.HuntOptions(
        size=ctypes.sizeof(_library.HuntOptions),
        seed=number,
        cases=0 if cases is None else _library.whole("cases", cases, 1, 2**63),
        seconds=seconds_of(time if time is not None or cases is not None else _USUAL_SECONDS),
        jobs=_jobs(jobs),
        first=bool(first),
        found=os.fsencode(found),
        ledger=None if ledger is None else os.fsencode(ledger),
        shrinking=_shrinking,
    )
    hunts: List[Hunt] = []

    def run(table: Any, of_table: Any, guests: List[Guest], result: Result) -> None:
        if runs_here(in_process, guests[0].like, asked.get("device", "cpu")):
            options.here, options.jobs = 1, _jobs_here(jobs)
        hunts.append(Hunt(result, number))
        _Prey(options, hunts[0])(table, of_table, guests, result)

    with _told(hunts):
        judge(fn, **asked, only=[*_claims.claimed(asked), *_TIDY], _hunt=run)
    return hunts[0].check() if check else hunts[0]
