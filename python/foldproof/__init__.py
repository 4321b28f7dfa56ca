"""foldproof: test-driven verification of parallel reductions, from Python.

    import foldproof, numpy
    foldproof.verify(lambda x: x.sum(-1), claims=["bounded", "run_to_run", "batch_invariant"])   # raises foldproof.Refuted
    print(foldproof.reveal(lambda x: x.sum(-1), n=64))   # the tree by which it sums, found from its results only
    foldproof.exact(x)                          # each row's sum, rounded once
    foldproof.replay("flat/canonical", x)       # the bits that a declared order must give
    foldproof.measure(got, x[0])                # a result's error, and the bound of theory

Arrays are of any framework with DLPack or the array interface: numpy, torch, cupy, jax. A framework is imported only if like= names it.
"""

from __future__ import annotations

import ctypes
from typing import Any, Optional

from . import _arrays, _golden, _library, _result, _reveal, _see, _verify
from ._arrays import Unavailable
from ._golden import Differs, Stale, golden
from ._library import Measure, check as _check, library as _lib, text as _text, whole as _whole
from ._result import Broken, Failure, NothingJudged, Refuted, Result
from ._reveal import Tree, reveal
from ._verify import judge, verify

__all__ = ["Broken", "Differs", "Failure", "Measure", "NothingJudged", "Refuted", "Result", "Stale", "Tree", "Unavailable", "exact", "golden", "judge",
           "measure", "reduction", "reductions", "replay", "reveal", "verify"]


for _public in (Broken, Differs, Failure, NothingJudged, Refuted, Result, Stale, Unavailable):  # users import them from this package
    _public.__module__ = __name__
for _module in (_arrays, _golden, _library, _result, _reveal, _verify):  # so that pytest shows a failure at the caller's line
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


def _terms(x: Any) -> Any:
    """x in host memory, contiguous, with its shape as rows x cols; one dimension means one row."""
    seen = _see.see(x)
    if seen.dtype not in _arrays.DTYPES:
        raise TypeError(f"dtype {seen.dtype}: not one of {', '.join(_arrays.DTYPES)}")
    if len(seen.shape) not in (1, 2):
        raise ValueError(f"an array of one or two dimensions is wanted, and not of shape {seen.shape}")
    if not seen.contiguous or seen.on_cuda:
        raise ValueError("a contiguous array in host memory is wanted")
    return seen, (1 if len(seen.shape) == 1 else seen.shape[0]), seen.shape[-1]


def _reduced(x: Any, to: Optional[str], like: Optional[str], call: Any) -> Any:
    seen, rows, cols = _terms(x)
    dtype = to or seen.dtype
    if dtype not in _arrays.DTYPES:
        raise ValueError(f"dtype {dtype!r}: not one of {', '.join(_arrays.DTYPES)}")
    room = ctypes.create_string_buffer(rows * _arrays.DTYPES[dtype][1] // 8 + 8)
    at = ctypes.addressof(room)
    _check(call(seen, rows, cols, _text(dtype), at))
    module = type(x).__module__.split(".")[0]
    like = like or (module if module in ("numpy", "torch") else "numpy")
    return _arrays.maker(like)(_arrays.Lent(at, (rows,), dtype, owner=room))


def _threads(n: int) -> int:
    return _whole("threads", n, 0, (1 << 32) - 1)


def exact(x: Any, op: str = "sum", to: Optional[str] = None, *, threads: int = 0, like: Optional[str] = None) -> Any:
    """The exact result of each row, rounded once, to nearest even.

    x: (rows, cols) or (cols,), of f16, bf16, f32 or f64, contiguous, in host memory. op: "sum", "prod", "max", "min". Returns (rows,) of
    dtype `to` (None: x's), as torch's array where x is one, else as numpy's, or as `like` says."""

    def call(seen: Any, rows: int, cols: int, dtype: bytes, at: int) -> int:
        return _lib().foldproof_exact(_text(seen.dtype), _text(op), seen.at, rows, cols, dtype, _threads(threads), at)

    return _reduced(x, to, like, call)


def replay(order: str, x: Any, op: str = "sum", *, threads: int = 0, like: Optional[str] = None) -> Any:
    """Each row reduced in a declared order: the bits that every implementation of that order must give.

    order: a name of `foldproof list orders`, as "rows/par_256". x and what is returned: as of exact; results are of x's dtype."""

    def call(seen: Any, rows: int, cols: int, _dtype: bytes, at: int) -> int:
        return _lib().foldproof_replay(_text(order), _text(seen.dtype), _text(op), seen.at, rows, cols, _threads(threads), at)

    return _reduced(x, None, like, call)


def measure(got: Any, x: Any, op: str = "sum", *, order: Optional[str] = None) -> Measure:
    """How far one result is from the exact reduction of one row, with the bounds of theory.

    got: an array of one element of x's dtype. x: (cols,) or (1, cols). order: whose height the bound goes by; None: any order. Returns
    error, ulps, bound, exact, abs_sum, condition; errors and bounds are rounded up, so that error <= bound is a fact if it is true."""
    seen, rows, cols = _terms(x)
    result = _see.see(got)
    if rows != 1:
        raise ValueError(f"one row is measured at a time, and x has {rows}")
    if result.size != 1 or result.dtype != seen.dtype:
        raise ValueError(f"got has {result.size} elements of {result.dtype}: one of {seen.dtype} is wanted")
    measured = Measure()
    name = _text(order)
    dtype = _text(seen.dtype)
    _check(_lib().foldproof_measure(name, dtype, _text(op), seen.at, cols, result.at, ctypes.byref(measured)))
    return measured
