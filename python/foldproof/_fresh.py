"""Judges fresh_process for a callable: runs the same cases in a new process of Python, which imports the callable's module.

    python3 -m foldproof._fresh FD < JSON        # the new process: writes a line for each case to that descriptor
"""

from __future__ import annotations

import base64
import contextlib
import functools
import importlib
import json
import math
import os
import select
import subprocess
import sys
import tempfile
import time
from typing import Any, Callable, Dict, Iterator, List, Tuple

from . import _library
from ._replay import place_of
from ._result import LEFT_OUT, Record
from ._rows import first_difference

_TO_IMPORT = 100  # seconds, in addition to the limit for a case
_MOST_ELEMENTS = 1 << 20  # as in the command's new processes
Key = Tuple[str, str]


def _limit() -> float:
    return float(os.environ.get("FOLDPROOF_TIMEOUT") or 20)


def _environment() -> Dict[str, str]:
    """Makes freed memory and the place of the stack differ from this process, as in the command's new processes."""
    other = "165" if os.environ.get("MALLOC_PERTURB_") == "64" else "64"
    # OpenMP's threads that spin between regions take the processor from the callable.
    return {"OMP_WAIT_POLICY": "passive", **os.environ, "MALLOC_PERTURB_": other, "FOLD_SHIFT_OF_THE_STACK": "x" * 1021}


def lines_of(fd: int, end: Callable[[], float]) -> Iterator[Dict[str, Any]]:
    """What the new process writes until it ends; TimeoutError if it writes nothing for too long."""
    text = b""
    waits = select.poll()  # select takes no descriptor above 1023
    waits.register(fd, select.POLLIN)
    while True:
        if not waits.poll(1000 * max(0.0, end() - time.monotonic())):
            raise TimeoutError
        more = os.read(fd, 1 << 16)
        if not more:
            return
        text += more
        *whole, text = text.split(b"\n")
        yield from map(json.loads, whole)


def _end_of(child: subprocess.Popen[bytes]) -> int:
    """Its exit code. One that has told all may not end by itself: a thread of the callable's module, or what it does at exit, goes on."""
    try:
        return child.wait(_limit())
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
        return 0


def ask(spec: Dict[str, Any], environment: Dict[str, str]) -> Tuple[Dict[Key, Record], str]:
    """The records that the new process wrote for each case, and why there are no more."""
    found: Dict[Key, Record] = {}
    heard = [time.monotonic() + _TO_IMPORT]
    ours, theirs = os.pipe()
    with tempfile.TemporaryFile() as errors, os.fdopen(ours, "rb", buffering=0) as from_it:
        child = subprocess.Popen([sys.executable, "-m", "foldproof._fresh", str(theirs)], stdin=subprocess.PIPE, stdout=errors,
                                 stderr=errors, pass_fds=[theirs], env={**environment, "PYTHONPATH": _library.search_path()})
        os.close(theirs)
        why = ""
        try:
            assert child.stdin is not None
            child.stdin.write(json.dumps(spec).encode())
            child.stdin.close()
            for record in lines_of(from_it.fileno(), lambda: heard[0] + _limit()):
                found[record["case"], record["dtype"]] = record
                heard[0] = time.monotonic()
        except TimeoutError:
            why = f"the new process said nothing for {time.monotonic() - heard[0] + (0 if found else _TO_IMPORT):.0f} s"
        except BrokenPipeError:
            pass
        finally:
            if why or sys.exc_info()[0]:
                child.kill()
            code = _end_of(child)
        if code and not why:
            errors.seek(0)
            last = errors.read().decode(errors="replace").strip().splitlines()[-1:]
            how = f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"
            why = ": ".join([f"the new process {how}", *last])
    return found, why


def _settle(record: Record, other: Record | None, why: str) -> None:
    """Turns a skipped judgement into the verdict that follows from the results of both processes."""
    record.pop("reason", None)
    if other is not None and other.get("reason", "").startswith(LEFT_OUT):
        record.update(verdict="skipped", reason=other["reason"])
    elif other is None or "results_xxh3" not in other:  # there its own claim of a new process is skipped, if the run gave results
        said = other.get("reason") if other else why
        record.update(verdict="broken", reason=said or "the new process did not come to this case")
    elif other["input_xxh3"] != record["input_xxh3"]:
        record.update(verdict="broken", reason="the new process had another input")
    elif other["results_xxh3"] == record["results_xxh3"]:
        record["verdict"] = "held"
    else:
        record.update(verdict="refuted", reason="different bits in a new process, which ran the cases in reverse, each after a different input")
        for row, (got, want) in enumerate(zip(other.get("results", ()), record.get("results", ()))):
            if got != want:
                record.update(row=row, got=got, want=want)
                break


def _to_import(fn: Callable[..., Any]) -> Tuple[str, str]:
    """The module, and the name in it, by which the new process imports the callable. ValueError with the reason if it cannot."""
    module, name = place_of(fn)
    if module == "__main__":
        raise ValueError("it is defined in __main__, which no other process can import")
    return module, name


def place_to_import(fn: Callable[..., Any], npy: List[str]) -> Dict[str, Any]:
    """What a new process needs to find the callable, and arrays; ValueError with the reason if it cannot."""
    module, name = _to_import(fn)
    return {"module": module, "name": name, "path": sys.path, "npy": npy}


def of_new_process(asked: Dict[str, Any]) -> Dict[str, Any]:
    """The rows of data are in files there, so that its axis is known."""
    left_out = ("same_bits_as", "data", *(["axis"] if "data" in asked else []))
    return {key: value for key, value in asked.items() if value is not None and key not in left_out}


def judge(fn: Callable[..., Any], asked: Dict[str, Any], judgements: List[Record], npy: List[str]) -> None:
    """Settles the skipped judgements of fresh_process if the callable can be imported; else adds the reason why it cannot."""
    waiting = [r for r in judgements if r["claim"] == "fresh_process" and r["verdict"] == "skipped" and "results_xxh3" in r]
    if not waiting:
        return
    try:
        place = place_to_import(fn, npy)
    except ValueError as error:
        for record in waiting:
            record["reason"] = f"no new process can import it: {error}"
        return
    asked = of_new_process(asked)
    cases = None if npy else sorted({record["case"] for record in waiting})
    try:
        found, why = ask({**place, "asked": asked, "cases": cases}, _environment())
    except OSError as error:  # such as too many open files, if the callable keeps each of its own
        found, why = {}, f"a new process cannot be started: {error.strerror}"
    for record in waiting:
        _settle(record, found.get((record["case"], record["dtype"])), why)
    beyond = [record for record in waiting if record["verdict"] == "refuted" and "row" not in record]
    if beyond:
        _find_rows(fn, asked, beyond, place)


def _find_rows(fn: Callable[..., Any], asked: Dict[str, Any], refuted: List[Record], place: Dict[str, Any]) -> None:
    """The row, and both results there, where they are in no record, which has the first rows alone: the cases run again, here and in one
    more new process. A callable that does not give this process's results again keeps a refutation without them."""
    from ._verify import judge as judge_callable

    here: Dict[Key, Any] = {}
    cases = None if place["npy"] else sorted({record["case"] for record in refuted})
    again = judge_callable(fn, claims="fresh_process", only="fresh_process", fixtures=cases, _take=lambda record: None, _results=here, _npy=place["npy"], **asked)
    hashes = {(r["case"], r["dtype"]): r.get("results_xxh3") for r in again.judgements}
    there, _ = ask({**place, "asked": asked, "cases": cases, "whole": True}, _environment())
    for record in refuted:
        key = record["case"], record["dtype"]
        theirs = there.get(key, {}).get("whole")
        if not here.get(key) or not theirs or hashes[key] != record["results_xxh3"]:
            continue
        (dtype, want), got = here[key], base64.b64decode(theirs[1])
        if theirs[0] == dtype and len(got) == len(want):
            _set_row(record, dtype, got, want)


def _set_row(record: Record, dtype: str, got: bytes, want: bytes) -> None:
    size = len(want) // record["rows"]
    for row in range(record["rows"]):
        part = slice(row * size, (row + 1) * size)
        found = first_difference(dtype, got[part], want[part]) if got[part] != want[part] else None
        if found:
            record.update(row=row, **found)
            if record.get("problem") != "rows":
                del record["element"], record["result_dtype"]
            return


def _after_another(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Before its first run of a shape, runs on another input of it, each term times -1/2: what the callable keeps by the shape shows then.
    Keys, and integers beside the first input, stay. Long inputs are left out."""

    def other(k: int, x: Any) -> Any:
        whole = isinstance(x, int) or "int" in str(x.dtype)
        return x * -0.5 if not whole else x if k else x // -2

    seen: set[Any] = set()

    @functools.wraps(fn, updated=())
    def run(*given: Any) -> Any:
        what = tuple((tuple(x.shape), x.dtype) if hasattr(x, "shape") else x for x in given)
        if what not in seen and math.prod(given[0].shape) <= _MOST_ELEMENTS:
            with contextlib.suppress(Exception):
                fn(*(other(k, x) for k, x in enumerate(given)))
        seen.add(what)
        return fn(*given)

    return run


def if_not_imported(fn: Callable[..., Any]) -> Callable[..., Any]:
    """The callable as it is run here: one that no new process can import comes after another input here instead of there."""
    try:
        _to_import(fn)
        return fn
    except ValueError:
        return _after_another(fn)


def main() -> None:
    """Runs in the new process."""
    spec = json.load(sys.stdin)
    sys.path[:] = spec["path"]
    from ._verify import judge as judge_callable

    found: Any = importlib.import_module(spec["module"])
    for part in spec["name"].split("."):
        found = getattr(found, part)
    with os.fdopen(int(sys.argv[1]), "w", buffering=1) as to:

        whole: Any = {} if spec.get("whole") else None

        def tell(record: Record) -> None:
            of_case = whole.get((record["case"], record["dtype"])) if whole else None
            if of_case:
                record = {**record, "whole": (of_case[0], base64.b64encode(of_case[1]).decode())}
            kept = ("case", "dtype", "verdict", "reason", "input_xxh3", "results_xxh3", "results", "whole")
            to.write(json.dumps({key: record[key] for key in kept if key in record}) + "\n")

        # Of this claim a case is run once.
        runs = found if spec.get("plain") else _after_another(found)
        judge_callable(runs, claims="fresh_process", only="fresh_process", fixtures=spec["cases"], _take=tell, _backwards=True, _results=whole, _npy=spec["npy"],
                       **spec["asked"])


if __name__ == "__main__":
    main()
