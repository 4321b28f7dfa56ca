"""foldproof.golden: compares a callable's results with those that a file keeps."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional, Union

from . import _arrays, _data, _library
from ._result import NothingJudged, Result
from ._verify import judge


class Differs(AssertionError):
    """Results, inputs or orders differ from those that were kept; or --bless refused the results. The message says which."""


class Stale(Exception):
    """All that is kept is for another environment: another machine, another version of the library."""


def _command() -> str:
    named = os.environ.get("FOLDPROOF_COMMAND")
    found = named or shutil.which(str(_library.HERE / "bin" / "foldproof")) or shutil.which("foldproof")
    if found is None:
        raise FileNotFoundError("the command foldproof is not here: FOLDPROOF_COMMAND names it")
    return found


def _version_of(framework: str) -> str:
    return f"{framework} {getattr(sys.modules.get(framework), '__version__', 'unknown')}"


def _unkept(records: List[Dict[str, Any]]) -> str:
    """Says of which cases the callable gave no results, with the reason of the first."""
    cases = {(r["case"], r["dtype"]): r.get("reason", "no result") for r in records if "results" not in r}
    if not cases:
        return ""
    first = min(cases)
    return f"\n{len(cases)} of {len({(r['case'], r['dtype']) for r in records})} cases gave no result, first {first[0]}: {cases[first]}"


def _unjudged(result: Result) -> Optional[NothingJudged]:
    """Raises what is refuted or broken. If nothing was judged, returns that: kept cases may still be missing."""
    __tracebackhide__ = True
    try:
        result.check()
    except NothingJudged as nothing:
        return nothing
    return None


def golden(
    fn: Callable[..., Any],
    file: Union[str, "os.PathLike[str]"],
    *,
    bless: bool = False,
    library: Optional[str] = None,
    **asked: Any,
) -> str:
    """Compares a callable's results with those that `file` keeps; raises Differs, also if fn gives no result of a case that is kept. Raises
    Stale if all were kept for another environment.

    bless    True: keeps the results instead, if the oracle certifies them
    library  the library that fn uses; None: the name and version of `like`. Results without a declared order are kept for this library
             and this machine
    asked    arguments of foldproof.verify: problem, dtypes, fixtures, name, order, ... Its claims (None: bounded) must hold, too. Of problem
             "rows" a hash of each row's result is kept: no oracle knows its value

    Returns the command's message; with bless it shows each change with both errors. The file has a record for each case: commit it with the
    test."""
    of_rows = asked.get("problem") == "rows"
    claims = asked.pop("claims", None) or ("run_to_run" if of_rows else "bounded",)
    claims = claims.split(",") if isinstance(claims, str) else list(claims)
    claims += [claim for claim in ("run_to_run", "replays" if asked.get("order") else "", "same_bits_as" if asked.get("same_bits_as") else "") if claim and claim not in claims]
    data = asked.get("data")
    if data is not None and not _data.are_paths(data):
        raise ValueError("a golden has to find its input again: write the array to a .npy file, and say data='PATH.npy'")
    result = judge(fn, claims=claims, only=claims, _full=True, **asked)
    unjudged = _unjudged(result)
    if unjudged and bless:
        raise unjudged
    framework = _arrays.pick(asked.get("like"), asked.get("device") == "cuda")
    with tempfile.TemporaryDirectory() as scratch:
        run = Path(scratch) / "run.jsonl"
        run.write_text("".join(json.dumps(record, separators=(",", ":")) + "\n" for record in result.judgements))
        words = [_command(), "recheck", "--quiet", "--golden", str(Path(file).resolve()), "--library", library or _version_of(framework)]
        folder = _library.fixtures()
        words += ["--fixture-folder", os.fsdecode(folder)] if folder else []
        words += ["--bless"] * bless + [str(run)]
        done = subprocess.run(words, capture_output=True, text=True)
    goldens = re.sub("^subject and claim .*", "", done.stdout, flags=re.M | re.S)  # check() has already reported the verdicts
    said = re.sub(re.escape(scratch) + r"\S*: ?", "", goldens + done.stderr).strip().removeprefix("foldproof recheck: ")
    for option, argument in (("see record --bless", "bless=True keeps these results"), ("record --bless", "bless=True"), ("--bless", "bless=True")):
        said = said.replace(option, argument)
    said += _unkept(result.judgements)
    if unjudged and done.returncode != 1:
        raise unjudged
    if done.returncode == 77:
        raise Stale(said)
    if done.returncode:
        raise Differs(said)
    return said
