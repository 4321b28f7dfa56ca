"""foldproof in pytest: the fixture `foldproof`, foldproof.reduction, and --foldproof-record FILE.

    @foldproof.reduction(dtypes=["f32", "f64"], claims=["run_to_run", "batch_invariant"])
    def test_row_sum(x):
        return x.sum(-1)              # test_row_sum[run_to_run-f32], ...

    def test_by_hand(foldproof):
        foldproof.verify(my_sum, claims=["bounded"])
"""

from __future__ import annotations

import json
import os
from typing import Any, Callable

import pytest

import foldproof as package
from foldproof._verify import Failure, NothingJudged, Result, _list, judge

# What every callable is judged by besides its claims.
TIDY = ("writes_output", "stays_in_bounds", "leaves_no_trace", "keeps_input")


def pytest_addoption(parser: Any) -> None:
    group = parser.getgroup("foldproof")
    group.addoption("--foldproof-record", metavar="FILE", help="write a record of each judgement, as JSON lines")


def pytest_configure(config: Any) -> None:
    file = config.getoption("--foldproof-record")
    if file and not hasattr(config, "workerinput"):  # xdist's workers append to what its controller has begun
        open(file, "w").close()


class Foldproof:
    """The package, with records kept."""

    def __init__(self, config: Any) -> None:
        file = config.getoption("--foldproof-record")
        self._file = None if file is None else os.path.join(str(config.invocation_params.dir), file)

    def __getattr__(self, name: str) -> Any:
        return getattr(package, name)

    def judge(self, fn: Callable[..., Any], **asked: Any) -> Result:
        __tracebackhide__ = True
        result = judge(fn, **asked)
        if self._file is not None:
            lines = "".join(json.dumps(record, separators=(",", ":")) + "\n" for record in result.judgements)
            at = os.open(self._file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
            try:
                os.write(at, lines.encode())  # one write, so that workers' lines don't mix
            finally:
                os.close(at)
        return result

    def verify(self, fn: Callable[..., Any], **asked: Any) -> Result:
        """As foldproof.verify; a test of which all was skipped is skipped."""
        __tracebackhide__ = True
        try:
            return self.judge(fn, **asked).check()
        except NothingJudged as nothing:
            pytest.skip(str(nothing))


@pytest.fixture
def foldproof(request: Any) -> Foldproof:
    """foldproof.verify and its kin, whose judgements go to --foldproof-record too."""
    return Foldproof(request.config)


def reduction(**asked: Any) -> Callable[[Callable[..., Any]], Callable[..., None]]:
    """Makes the decorated callable's judging a test for each claim and dtype; takes what foldproof.verify takes.

    Ids are "test_name[claim-dtype]"; besides `claims` (names, each an id; None: bounded, run_to_run) these are writes_output,
    stays_in_bounds, leaves_no_trace and keeps_input."""
    claims = (_list(asked.pop("claims", None)) or "bounded,run_to_run").split(",")
    dtypes = (_list(asked.pop("dtypes", None)) or "f32").split(",")

    def decorate(fn: Callable[..., Any]) -> Callable[..., None]:
        @pytest.mark.parametrize("foldproof_dtype", dtypes)
        @pytest.mark.parametrize("foldproof_claim", [*claims, *(claim for claim in TIDY if claim not in claims)])
        def test(foldproof: Foldproof, foldproof_claim: str, foldproof_dtype: str) -> None:
            __tracebackhide__ = True
            named = dict({"name": f"py/{fn.__name__}"}, **asked)
            failed = ""
            try:
                foldproof.verify(fn, claims=claims, only=foldproof_claim, dtypes=foldproof_dtype, **named)
            except Failure as failure:
                failed = str(failure)
            if failed:
                pytest.fail(failed, pytrace=False)

        test.__name__, test.__qualname__ = fn.__name__, fn.__qualname__
        test.__doc__, test.__module__ = fn.__doc__, fn.__module__
        return test

    return decorate
