"""foldproof.exact, foldproof.replay and foldproof.measure: what the library computes of a caller's own arrays."""

from __future__ import annotations

import ctypes
import math
import operator
from typing import Any, Callable, Optional, Sequence, Tuple, Union

from . import _arrays, _problem, _see
from ._inputs import Inputs, take
from ._library import Measure, Problem, check, library, text, whole


def _words(given: Sequence[Any], **named: Optional[str]) -> Tuple[Tuple[Any, ...], Tuple[Optional[str], ...]]:
    """The arrays, and the words that may follow them, as in exact(x, "max"), or are named."""
    n = next((k for k, one in enumerate(given) if isinstance(one, str)), len(given))
    words = given[n:]
    if len(words) > len(named):
        raise TypeError(f"{words[len(named)]!r} is one argument too many")
    return tuple(given[:n]), (*words, *list(named.values())[len(words) :])


def _of(given: Tuple[Any, ...], op: Optional[str], problem: Optional[str]) -> Tuple[Any, Inputs]:
    """The problem with its arrays as the library takes them; and what keeps them."""
    if problem is not None and op is not None:
        raise ValueError(f"op={op!r}, problem={problem!r}: op is the former name of problem")
    form = _problem.find(problem or op or "sum")
    inputs = take(form, given)
    at = (ctypes.c_void_p * 2)(*(array.at for array in inputs.arrays))
    extents = (ctypes.c_uint64 * 4)(*inputs.extents)
    return Problem(ctypes.sizeof(Problem), text(form.name), text(inputs.dtype), extents, at), inputs


def _results(x: Any, inputs: Inputs, dtype: str, like: Optional[str], call: Callable[[int], int]) -> Any:
    """What the call writes to memory, as an array of x's framework."""
    if dtype not in _arrays.DTYPES:
        raise ValueError(f"dtype {dtype!r}: not one of {', '.join(_arrays.DTYPES)}")
    room = ctypes.create_string_buffer(math.prod(inputs.results) * _arrays.DTYPES[dtype][1] // 8 + 8)
    at = ctypes.addressof(room)
    check(call(at))
    module = type(x).__module__.split(".")[0]
    like = like or (module if module in ("numpy", "torch") else "numpy")
    return _arrays.maker(like)(_arrays.Lent(at, inputs.results, dtype, owner=room))


def _threads(n: int) -> int:
    return whole("threads", n, 0, (1 << 32) - 1)


def exact(x: Any, *more: Any, op: Optional[str] = None, to: Optional[str] = None, problem: Optional[str] = None, threads: int = 0, like: Optional[str] = None) -> Any:
    """The exact results of a problem, each rounded once, to nearest even.

    x, *more: the problem's inputs, as foldproof.verify gives them to a callable: x of shape (rows, cols) or (cols,) for "sum", "prod", "max", "min", "sumsq",
    "asum" and scans; exact(x, y, problem="dot"); (W, x) for "matvec"; (A, B) for "matmul"; (values, keys, slots) for "keyed". Of f16, bf16, f32, f64,
    e4m3, e5m2, i8, i32 or i64, keys of any integers. problem: a name, or a signature as einsum has them ("ij,kj->ik"); None: "sum". (op is the former
    name of problem: exact(x, "max").) Returns what a callable returns, in dtype `to` (None: x's), as torch's array where x is one, else as numpy's, or as
    `like` says."""
    given, (op, to) = _words((x, *more), op=op, to=to)
    asked, inputs = _of(given, op, problem)
    dtype = to or inputs.dtype
    return _results(x, inputs, dtype, like, lambda at: library().foldproof_problem_exact(ctypes.byref(asked), text(dtype), _threads(threads), at))


def replay(order: str, x: Any, *more: Any, op: Optional[str] = None, problem: Optional[str] = None, threads: int = 0, like: Optional[str] = None) -> Any:
    """Each result joined in a declared order: the bits that every implementation of that order must give.

    order: a name of `foldproof list orders`, as "rows/par_256", or one of foldproof's subjects for hosts that declares an order and takes the problem,
    as "matmul/blocked" or "host/kahan". The rest, and what is returned, as of exact; results are of x's dtype."""
    given, (op,) = _words((x, *more), op=op)
    asked, inputs = _of(given, op, problem)
    return _results(x, inputs, inputs.dtype, like, lambda at: library().foldproof_problem_replay(text(order), ctypes.byref(asked), _threads(threads), at))


def _number(at: Union[int, Sequence[int], None], shape: Tuple[int, ...]) -> int:
    """The number of the result at those places."""
    n = math.prod(shape)
    if at is None and n == 1:
        return 0
    example = tuple(max(0, extent - 1) for extent in shape)
    if at is None:
        raise ValueError(f"one result is measured at a time, and there are {n}, of shape {shape}: say which by at={example if len(shape) > 1 else n - 1}")
    places = tuple(map(operator.index, at)) if isinstance(at, Sequence) else (operator.index(at),)
    if len(places) != len(shape) or not all(0 <= place < extent for place, extent in zip(places, shape)):
        raise ValueError(f"at={at!r}: the results have shape {shape}")
    return sum(place * stride for place, stride in zip(places, _arrays.contiguous(shape)))


def measure(got: Any, x: Any, *more: Any, op: Optional[str] = None, problem: Optional[str] = None, order: Optional[str] = None, at: Union[int, Sequence[int], None] = None) -> Measure:
    """How far one result is from the exact one, with the bounds of theory.

    got: the result, an array of one element of x's dtype, or all results. x, *more, problem: as of exact. at: the place of the result among all, as (row, column);
    None where there is one. order: whose height the bound goes by, as of replay; None: any order. Returns error, ulps, bound, exact, abs_sum,
    condition; errors and bounds are rounded up, so that error <= bound is a fact if it is true."""
    given, (op,) = _words((x, *more), op=op)
    asked, inputs = _of(given, op, problem)
    number, n, result = _number(at, inputs.results), math.prod(inputs.results), _see.tight(_see.see(got))
    if result.size not in (1, n) or result.dtype != inputs.dtype:
        raise ValueError(f"got has {result.size} elements of {result.dtype}: one of {inputs.dtype} is wanted{f', or all {n}' if n > 1 else ''}")
    plain, wanted = (tuple(extent for extent in shape if extent != 1) for shape in (result.shape, inputs.results))
    if result.size > 1 and len(plain) > 1 and plain != wanted:
        raise ValueError(f"got has shape {tuple(result.shape)}, and the results {inputs.results}")
    measured = Measure()
    address = result.at + (number * result.itemsize if result.size > 1 else 0)
    check(library().foldproof_problem_measure(text(order), ctypes.byref(asked), number, address, ctypes.byref(measured)))
    return measured
