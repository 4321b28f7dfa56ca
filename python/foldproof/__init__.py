"""foldproof: test-driven verification of parallel reductions, from Python.

    import foldproof, numpy
    foldproof.verify(lambda x: x.sum(-1), claims=["bounded", "run_to_run", "batch_invariant"])   # raises foldproof.Refuted
    print(foldproof.reveal(lambda x: x.sum(-1), n=64))   # the tree by which it sums, found from its results only
    foldproof.exact(x)                          # each row's sum, rounded once
    foldproof.exact(A, B, problem="matmul")     # a product of matrices, each element rounded once
    foldproof.replay("flat/canonical", x)       # the bits that a declared order must give
    foldproof.measure(got, x[0])                # a result's error, and the bound of theory

Arrays are of any framework with DLPack or the array interface: numpy, torch, cupy, jax. A framework is imported only if like= names it.
"""

from __future__ import annotations

from typing import Any

from . import _arrays, _exact, _gate, _golden, _hunt, _inputs, _library, _result, _reveal, _verify
from ._arrays import Unavailable
from ._exact import exact, measure, replay
from ._golden import Differs, Stale, golden
from ._gate import Gate, gate
from ._hunt import Find, Hunt, KnownHolds, hunt
from ._library import Measure, library as _lib
from ._result import Broken, Failure, NothingJudged, Refuted, Result
from ._reveal import Tree, reveal
from ._verify import judge, verify

__all__ = ["Broken", "Differs", "Failure", "Find", "Gate", "Hunt", "KnownHolds", "Measure", "NothingJudged", "Refuted", "Result", "Stale", "Tree", "Unavailable", "exact", "gate", "golden", "hunt", "judge",
           "measure", "reduction", "reductions", "replay", "reveal", "verify"]


for _public in (exact, measure, replay, Broken, Differs, Failure, Find, Hunt, KnownHolds, NothingJudged, Refuted, Result, Stale, Unavailable):  # users import them from this package
    _public.__module__ = __name__
for _module in (_arrays, _exact, _gate, _golden, _hunt, _inputs, _library, _result, _reveal, _verify):  # so that pytest shows a failure at the caller's line
    setattr(_module, "__tracebackhide__", True)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return _lib().foldproof_version().decode()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def reduction(fn: Any = None, /, **asked: Any) -> Any:
    """A decorator for pytest: a test for each claim and dtype; see foldproof.pytest_plugin."""
    from .pytest_plugin import reduction as decorator

    return decorator(fn, **asked)


def reductions(subjects: Any, **asked: Any) -> Any:
    """For pytest: a test for each of {name: callable}, claim and dtype; see foldproof.pytest_plugin."""
    from .pytest_plugin import reductions as tests

    return tests(subjects, **asked)
