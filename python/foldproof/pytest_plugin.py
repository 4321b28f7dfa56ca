"""foldproof in pytest: the fixture `foldproof`, tests by foldproof.reduction, --foldproof-record FILE and --foldproof-hunt TIME.

    @foldproof.reduction(dtypes=["f32", "f64"], claims=["run_to_run", "batch_invariant"])
    def test_row_sum(x):
        return x.sum(-1)              # test_row_sum[run_to_run-f32], ...

    test_all = foldproof.reductions({"torch": torch_sum, "triton": triton_sum}, claims="reproducible")
                                      # test_all[torch-run_to_run-f32], ...

    @pytest.mark.foldproof(device="cuda")        # what all calls in a test, a class or a module (pytestmark) say
    def test_by_hand(foldproof):
        foldproof.verify(my_sum, claims=["bounded"])

`pytest -m foldproof` runs the tests that are made so, marked, or take the fixture. Records come with the tests' reports to the one process that writes
them: xdist's workers write nothing. Without foldproof's library the tests that use it fail, and all others run.
"""

from __future__ import annotations

import inspect
import operator
import os
from typing import Any, Callable, Dict, List, Mapping, Optional, Tuple

import pytest

from ._claims import TIDY, claimed, words
from ._problem import inputs_of

# A traceback without entries makes pytest print a line that says so; this hides the entries only if the test is skipped.
_IF_SKIPPED = operator.methodcaller("errisinstance", pytest.skip.Exception)
_FILE = "--foldproof-record"
_HUNT = "--foldproof-hunt"
_NO_SELF = "in a class write `@foldproof.reduction() def test_sum(self, x)`, or `test_sums = staticmethod(foldproof.reductions({...}))`"

_NO_TEST_CASE = "unittest.TestCase calls its methods by itself, and gives them no claim: write a class that is none"


def pytest_addoption(parser: Any) -> None:
    group = parser.getgroup("foldproof")
    group.addoption(_FILE, metavar="FILE", help="write a record of each judgement, as JSON lines")
    group.addoption(_HUNT, metavar="TIME", help="hunt each callable of a reduction so long, for each dtype, in place of judging it on fixtures: 60s, 5m, 2h")


def pytest_configure(config: Any) -> None:
    config.addinivalue_line("markers", "foldproof(**asked): judged by foldproof; what its calls of verify say")
    _check_time(config.getoption(_HUNT))
    file = config.getoption(_FILE)
    if file and not hasattr(config, "workerinput"):
        from ._records import Records

        try:
            records = Records(config.invocation_params.dir / file)
        except (OSError, ValueError) as error:
            raise pytest.UsageError(f"{_FILE}: {error}") from None
        config.pluginmanager.register(_Records(records), "foldproof_records")


def _check_time(time: Optional[str]) -> None:
    if time is None:
        return
    from ._hunt import seconds_of

    try:
        seconds_of(time)
    except ValueError as error:
        raise pytest.UsageError(f"{_HUNT}: {error}") from None


def pytest_itemcollected(item: Any) -> None:
    """Lets -m foldproof also select tests that use the fixture."""
    if "foldproof" in getattr(item, "fixturenames", ()):
        item.add_marker("foldproof")


def _parametrized(metafunc: Any) -> List[str]:
    """The parameters that marks give to a test that does not take them."""
    found: List[str] = []
    for mark in metafunc.definition.iter_markers("parametrize"):
        names = mark.kwargs.get("argnames", mark.args[0] if mark.args else ())
        found += [name.strip() for name in (names.split(",") if isinstance(names, str) else names)]
    return [name for name in found if name not in metafunc.fixturenames]


def _beside_arrays(fn: Callable[..., Any], n_arrays: int) -> List[str]:
    """The parameters that a callable needs in addition to so many arrays."""
    try:
        taken = list(inspect.signature(fn).parameters.values())
    except (TypeError, ValueError):  # many C functions have no signature
        return []
    taken = taken[1:] if taken and taken[0].name == "self" else taken
    by_place = [p for p in taken if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    by_name = [p for p in taken if p.kind == p.KEYWORD_ONLY]
    return [p.name for p in by_place[n_arrays:] + by_name if p.default is p.empty]


def _marked(node: Any, asked: Mapping[str, Any]) -> Dict[str, Any]:
    """The keywords, with those of marks; the nearest mark wins."""
    both: Dict[str, Any] = {}
    for mark in node.iter_markers("foldproof"):
        both = {**mark.kwargs, **both}
    return {**both, **asked}


def _check_marks(node: Any, is_reduction: bool) -> None:
    """Refuses marks that say what verify does not take, or golden where a test may call it."""
    from ._golden import golden
    from ._verify import check_options, options_of

    beside = () if is_reduction else options_of(golden)
    for mark in node.iter_markers("foldproof"):
        if mark.args:
            raise TypeError(f"pytest.mark.foldproof({mark.args[0]!r}): its options have names, as claims='bounded'")
        check_options(mark.kwargs, beside)


@pytest.hookimpl(tryfirst=True)
def pytest_generate_tests(metafunc: Any) -> None:
    """Makes the tests of a reduction. Refuses parameters that it cannot be given, before pytest says that our function lacks them, or the
    callable fails without them."""
    node = metafunc.definition
    subjects: Any = getattr(metafunc.function, "foldproof_subjects", None)
    try:
        _check_marks(node, subjects is not None)
        if subjects is None:
            return
        asked = _Asked(subjects, _marked(node, metafunc.function.foldproof_asked))
    except TypeError as mistake:
        pytest.fail(f"{node.name}: {mistake}", pytrace=False)
    try:
        n_arrays = len(inputs_of(asked.rest.get("problem", "sum")))
    except ValueError as mistake:
        pytest.fail(f"{node.name}: {mistake}", pytrace=False)
    beside = _parametrized(metafunc) or [name for fn in subjects.values() for name in _beside_arrays(fn, n_arrays)]
    if beside:
        what = beside[0]
        pytest.fail(f"{node.name} gets arrays only, and no {what!r}: write a test that takes the fixture foldproof and {what!r}, "
                    "and call foldproof.verify(lambda x: ...) in it", pytrace=False)
    if _has_names(subjects):
        metafunc.parametrize("foldproof_subject", list(subjects))
    metafunc.parametrize("foldproof_claim", asked.judged)
    metafunc.parametrize("foldproof_dtype", asked.dtypes)


class _Records:
    """Writes records, in the one process that gets all reports."""

    def __init__(self, records: Any) -> None:
        self._records, self._whole = records, False

    def pytest_runtest_logreport(self, report: Any) -> None:
        for record in getattr(report, "foldproof_records", ()):
            self._records.add(record)

    def pytest_sessionfinish(self, session: Any, exitstatus: int) -> None:
        """Whether no test was left out: neither Ctrl-C, an error of pytest's own nor -x ended the session."""
        ended = exitstatus in (pytest.ExitCode.INTERRUPTED, pytest.ExitCode.INTERNAL_ERROR, pytest.ExitCode.USAGE_ERROR)
        self._whole = not (ended or session.shouldfail or session.shouldstop)

    def pytest_unconfigure(self) -> None:
        self._records.close(self._whole)


def pytest_runtest_makereport(item: Any, call: Any) -> Any:
    """Attaches the judgements that were made since the last report to this one, because xdist sends reports to the main process."""
    records = item.__dict__.pop("_foldproof_records", None)
    if not records:
        return None
    report = pytest.TestReport.from_item_and_call(item, call)
    report.foldproof_records = records  # type: ignore[attr-defined]
    return report


def _requires_gpus() -> bool:
    """Whether the environment requires GPUs; then no test is skipped because there is none."""
    return os.environ.get("FOLDPROOF_REQUIRE_GPUS", "0") not in ("", "0")


def or_skip(call: Callable[..., Any], *what: Any, **asked: Any) -> Any:
    """Skips a test, with the reason, if nothing can be judged."""
    import foldproof as package

    __tracebackhide__ = True
    try:
        return call(*what, **asked)
    except (package.NothingJudged, package.Stale, package.Unavailable) as nothing:
        if isinstance(nothing, package.Unavailable) and asked.get("device") == "cuda" and _requires_gpus():
            raise
        pytest.skip(str(nothing))


class Foldproof:
    """The package foldproof, but judgements are recorded."""

    def __init__(self, request: Any) -> None:
        self._item = request.node

    def __getattr__(self, name: str) -> Any:
        import foldproof as package

        return getattr(package, name)

    def _judged(self, fn: Callable[..., Any], asked: Mapping[str, Any]) -> Any:
        import foldproof as package

        __tracebackhide__ = True
        return or_skip(package.judge, fn, **_marked(self._item, asked))

    def _kept(self, result: Any) -> Any:
        if self._item.config.getoption(_FILE):
            self._item.__dict__.setdefault("_foldproof_records", []).extend(result.judgements + result.unclaimed)
        return result

    @staticmethod
    def _checked(result: Any) -> Any:
        __tracebackhide__ = True
        return or_skip(result.check)

    def judge(self, fn: Callable[..., Any], **asked: Any) -> Any:
        """Like foldproof.judge."""
        __tracebackhide__ = True
        return self._kept(self._judged(fn, asked))

    def verify(self, fn: Callable[..., Any], **asked: Any) -> Any:
        """Like foldproof.verify; if everything was skipped, the test is skipped."""
        __tracebackhide__ = True
        return self._checked(self.judge(fn, **asked))

    def golden(self, fn: Callable[..., Any], file: Any, **asked: Any) -> str:
        """Like foldproof.golden; if all goldens are stale, the test is skipped."""
        import foldproof as package

        __tracebackhide__ = True
        return or_skip(package.golden, fn, file, **_marked(self._item, asked))


@pytest.fixture
def foldproof(request: Any) -> Foldproof:
    """foldproof.verify and the like, whose judgements also go to --foldproof-record."""
    return Foldproof(request)


def _has_names(subjects: Mapping[str, Any]) -> bool:
    """Whether the tests' ids name their subjects: a decorated function has its own name."""
    return "" not in subjects


class _Asked:
    """What the tests of a reduction judge: `claims` are promised, `judged` are those of a test each, `dtypes` too, `rest` is for verify."""

    def __init__(self, subjects: Mapping[str, Any], asked: Mapping[str, Any]) -> None:
        self.rest = dict(asked)
        for name in ("fn", *(["name"] if _has_names(subjects) else [])):
            if name in asked:
                raise TypeError(f"{name!r} cannot be given: the tests have their own")
        self.claims = claimed(self.rest)
        self.rest.pop("claims", None)
        # What only= names may be a claim of a preset.
        self.judged = words(self.rest.pop("only", None), ",".join([*self.claims, *(claim for claim in TIDY if claim not in self.claims)]))
        self.dtypes = words(self.rest.pop("dtypes", None), "f32")


def _what(item: Any) -> Tuple[Any, ...]:
    """Identifies what a test judges, without the claim."""
    asked = item.callspec.params if hasattr(item, "callspec") else {}
    return item.parent, getattr(item, "function", None), asked.get("foldproof_subject"), asked.get("foldproof_dtype")


class _Shares:
    """A callable is judged once for a dtype and for all claims whose tests are selected; each of these tests takes the judgements of its
    claim. A test that runs again, for example by a plugin that repeats tests, judges again."""

    def __init__(self) -> None:
        self._left: Dict[Tuple[Any, ...], Dict[str, Any]] = {}
        self._hunts: Any = None

    def judge(self, foldproof: Foldproof, claim: str, fn: Callable[..., Any], asked: Dict[str, Any]) -> None:
        __tracebackhide__ = True
        time = foldproof._item.config.getoption(_HUNT)
        if not time:
            self.take(foldproof, claim, fn, asked)
            return
        from ._hunted_tests import Hunts

        self._hunts = self._hunts or Hunts()
        self._hunts.judge(foldproof._item, _what(foldproof._item), claim, fn, asked, time)

    def take(self, foldproof: Foldproof, claim: str, fn: Callable[..., Any], asked: Dict[str, Any]) -> Any:
        __tracebackhide__ = True
        item = foldproof._item
        what = _what(item)
        if what not in self._left:
            wanted = [other.callspec.params["foldproof_claim"] for other in item.session.items if _what(other) == what]
            result = foldproof._judged(fn, dict(asked, only=wanted))
            self._left[what] = {word: result.of(claim=word) for word in wanted}
        share = self._left[what].pop(claim, None)
        if share is None or not share.judgements:
            share = foldproof._judged(fn, dict(asked, only=claim))  # raises the reason if there is none
        return foldproof._checked(foldproof._kept(share))


def _test_of(subjects: Mapping[str, Callable[..., Any]], asked: Dict[str, Any], of_method: bool = False) -> Callable[..., None]:
    from ._verify import check_options

    check_options(asked)  # so that a mistake ends the import of the tests, and not each of them
    _Asked(subjects, asked)
    shares = _Shares()

    def judge(foldproof: Foldproof, fn: Callable[..., Any], name: str, claim: str, dtype: str) -> None:
        import foldproof as package

        __tracebackhide__ = True
        failed: Optional[str] = None
        all_asked = _Asked(subjects, _marked(foldproof._item, asked))
        if claim not in all_asked.judged or dtype not in all_asked.dtypes:
            pytest.fail("a mark foldproof with claims=, only= or dtypes= was added after the tests had been made", pytrace=False)
        try:
            shares.judge(foldproof, claim, fn, {"name": name, **all_asked.rest, "claims": all_asked.claims, "dtypes": dtype})
        except (package.Failure, ImportError, ValueError) as failure:
            failed = str(failure)
        if failed is not None:
            pytest.fail(failed, pytrace=False)

    def test(*instance: Any, foldproof_claim: str = "", foldproof_dtype: str = "", foldproof_subject: str = "", foldproof: Any = None) -> None:
        __tracebackhide__ = _IF_SKIPPED
        if not foldproof_claim:  # it was called by somebody else
            pytest.fail(_NO_TEST_CASE, pytrace=False)
        if foldproof is None:  # pytest bound it to the instance
            pytest.fail(_NO_SELF, pytrace=False)
        fn = subjects[foldproof_subject]
        judge(foldproof, fn.__get__(*instance) if instance else fn, foldproof_subject or f"py/{fn.__name__}", foldproof_claim, foldproof_dtype)

    takes = [*(["self"] if of_method else []), "foldproof", *(["foldproof_subject"] if _has_names(subjects) else []), "foldproof_claim", "foldproof_dtype"]
    test.__signature__ = inspect.Signature([inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in takes])  # type: ignore[attr-defined]
    test.foldproof_subjects, test.foldproof_asked = subjects, asked  # type: ignore[attr-defined]
    return pytest.mark.foldproof(test)


def reduction(fn: Optional[Callable[..., Any]] = None, /, **asked: Any) -> Callable[..., Any]:
    """Makes the decorated function or method a test for each claim and dtype, which judges it. Takes the keywords of foldproof.verify.

    A mark foldproof of the test, its class or its module may give them too; the decorator's win. Ids are "test_name[claim-dtype]"; besides `claims` (names, each an id; None: those of foldproof.verify) these are
    stays_in_bounds, leaves_no_trace and keeps_input."""

    def decorate(fn: Callable[..., Any]) -> Callable[..., None]:
        if hasattr(fn, "foldproof_subjects"):
            raise TypeError(f"{fn.__name__} is decorated twice: write a test for each, by foldproof.reductions of what both judge")
        if isinstance(fn, classmethod):
            raise TypeError(f"{fn.__name__} is a classmethod, which is no function before its class is made: {_NO_SELF}")
        test = _test_of({"": fn}, dict(asked), next(iter(inspect.signature(fn).parameters), "") == "self")
        test.__name__, test.__qualname__ = fn.__name__, fn.__qualname__
        test.__doc__, test.__module__ = fn.__doc__, fn.__module__
        test.foldproof_callable = fn  # type: ignore[attr-defined]
        test.pytestmark = [*getattr(fn, "pytestmark", ()), *test.pytestmark]  # type: ignore[attr-defined]
        return test

    return decorate(fn) if fn else decorate  # used as @foldproof.reduction, or with keywords


def reductions(subjects: Mapping[str, Callable[..., Any]], **asked: Any) -> Callable[..., None]:
    """A test for each of {name: callable}, claim and dtype. Assign it to a name that begins with "test". Ids are "name[subject-claim-dtype]",
    and foldproof names the subject in the same way. The keyword `name` cannot be given."""
    if not subjects:
        raise ValueError("foldproof.reductions of no callable: nothing would be judged")
    return _test_of(dict(subjects), dict(asked))
