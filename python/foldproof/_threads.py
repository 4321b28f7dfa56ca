"""Judges launch_invariant of a callable: in new processes whose libraries take another number of threads from the variables that they read when
they are loaded."""

from __future__ import annotations

import os
from typing import Any, Callable, Dict, List, Tuple

from . import _fresh
from ._result import LEFT_OUT, Record

NO_LAUNCH = "a callable takes no launch"
_NUMBERS = (0, 1, 2, 4)  # 0: the variables are as they are here; the other processes are compared with that one
_VARIABLES = [f"{library}_NUM_THREADS" for library in ("OMP", "OPENBLAS", "MKL", "BLIS", "NUMEXPR", "NUMBA", "RAYON")] + ["POLARS_MAX_THREADS", "VECLIB_MAXIMUM_THREADS"]
_LONG = 4096  # libraries share only long inputs among threads
Found = Dict[_fresh.Key, Record]


def _variables(threads: int) -> Dict[str, str]:
    return dict.fromkeys(_VARIABLES, str(threads)) if threads else {}


def _settle(record: Record, runs: List[Tuple[Found, str]]) -> None:
    key = record["case"], record["dtype"]
    others = [found.get(key, {"reason": why or "the new process did not come to this case"}) for found, why in runs]
    failed = next((other for other in others if other.get("input_xxh3") != record["input_xxh3"] or "results_xxh3" not in other), None)
    if failed is not None:
        reason = failed.get("reason", "the new process had another input")
        record.update(verdict="skipped" if reason.startswith(LEFT_OUT) else "broken", reason=reason)
        return
    for threads, other in zip(_NUMBERS[1:], others[1:]):
        if other["results_xxh3"] != others[0]["results_xxh3"]:
            record.update(verdict="refuted", reason=f"different bits in a new process with OMP_NUM_THREADS={threads}, and the same of OPENBLAS, MKL and others")
            pairs = zip(other.get("results", ()), others[0].get("results", ()))
            record.update(next(({"row": row, "got": got, "want": want} for row, (got, want) in enumerate(pairs) if got != want), {}))
            return
    record.update(verdict="held", reason=f"in new processes with {', '.join(map(str, _NUMBERS[1:-1]))} and {_NUMBERS[-1]} threads by OMP_NUM_THREADS and others")


def judge(fn: Callable[..., Any], asked: Dict[str, Any], judgements: List[Record], npy: List[str]) -> None:
    """Settles the judgements of launch_invariant that the library has skipped, or adds the reason why they stay so."""
    waiting = [r for r in judgements if r["claim"] == "launch_invariant" and r.get("reason") == NO_LAUNCH and "results_xxh3" in r]
    if not waiting:
        return
    longest = max(record["rows"] * record["cols"] for record in waiting)
    short = [record for record in waiting if record["rows"] * record["cols"] < min(longest, _LONG)]
    for record in short:
        record["reason"] = f"libraries share only long inputs among threads: cases of {_LONG:,} terms or more judge this"
    waiting = [record for record in waiting if not any(record is other for other in short)]
    try:
        place = _fresh.place_to_import(fn, npy)
    except ValueError as error:
        for record in waiting:
            record["reason"] = f"{NO_LAUNCH}: new processes try its threads, and none can import it ({error}); define it as a function of a module"
        return
    spec = {**place, "asked": dict(_fresh.of_new_process(asked), seconds=asked["seconds"] / len(_NUMBERS)), "plain": True}
    spec["cases"] = None if npy else sorted({record["case"] for record in waiting})
    runs: List[Tuple[Found, str]] = []
    for threads in _NUMBERS:
        try:
            runs.append(_fresh.ask(spec, {**os.environ, **_variables(threads)}))
        except OSError as error:
            runs.append(({}, f"a new process cannot be started: {error.strerror}"))
    for record in waiting:
        _settle(record, runs)
