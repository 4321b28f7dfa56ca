"""What a callable takes of matrix products: where it raised, small products show whether it takes the dtype, batches, and inputs that are not contiguous."""

from __future__ import annotations

import ctypes
import itertools
from typing import Any, Dict, Sequence, Tuple

from . import _arrays, _library, _see
from ._problem import AXES, BY_NAME

PROBLEM = BY_NAME["matmul"]
_ONE = {"f16": 0x3C00, "bf16": 0x3F80, "f32": 0x3F800000, "f64": 0x3FF << 52, "e4m3": 0x38, "e5m2": 0x3C, "i8": 1, "i32": 1, "i64": 1}
_EXTENTS = {"b": 1, "m": 2, "n": 3, "k": 4}
_DTYPE, _BATCHES, _CONTIGUOUS = "no {}", "no batches", "contiguous inputs only"  # what a callable takes
_TRIALS = 3  # an error that comes now and then is none that says what a callable takes


def _strides(axes: str, extents: Dict[str, int], turned: bool) -> Dict[str, int]:
    """In elements. Turned: the axis before the last one is contiguous, and its lines have an element between them."""
    batch, first, second = tuple(axes)
    lines, along = (second, first) if turned else (first, second)
    lead = extents[along] + turned
    return {batch: extents[lines] * lead, lines: lead, along: 1}


def _elements(axes: str, extents: Dict[str, int], strides: Dict[str, int], dtype: str) -> bytes:
    """Of an input: zeros and ones, each at the place that the strides give it."""
    size, width = 1 + sum((extents[axis] - 1) * strides[axis] for axis in axes), _arrays.DTYPES[dtype][1] // 8
    memory = [0] * size
    for at in itertools.product(*(range(extents[axis]) for axis in axes)):
        memory[sum(i * strides[axis] for i, axis in zip(at, axes))] = _ONE[dtype] * ((at[0] + at[1] + 2 * at[2]) % 3 == 0)
    return b"".join(element.to_bytes(width, "little") for element in memory)


class Takes:
    """Of one callable. guest: its guest, another one of which computes these products. dtypes: of all but the first the callable need not take any. strides: whether
    it may take contiguous inputs only."""

    def __init__(self, guest: Any, dtypes: Sequence[str], strides: bool) -> None:
        self._of, self._dtypes, self._strides = guest, dtypes, strides
        self._known: Dict[Tuple[str, int, int], str] = {}

    def why_not(self, call: Any, dtype: str) -> str:
        """Of a call that raised: why the case is skipped, since the callable takes no products as this one; "": it is broken."""
        asked = {_DTYPE: dtype in self._dtypes[1:], _BATCHES: call.extent[AXES.index("b")] > 1, _CONTIGUOUS: self._strides and self._of.is_strided(call)}
        for what in filter(asked.get, asked):
            key = (what, call.dtype, call.result)
            if key not in self._known:
                self._known[key] = self._refusal(call, dtype, what)
            if self._known[key]:
                return f"it takes {what.format(dtype)}: {self._known[key]}"
        return ""

    def _refusal(self, call: Any, dtype: str, what: str) -> str:
        """What the callable raises for the kind each time; "": it takes it, or fails on a plain product, too."""
        if self._error(call, self._dtypes[0] if what == _DTYPE else dtype):
            return ""
        errors = [self._error(call, dtype, 1 + (what == _BATCHES), what == _CONTIGUOUS) for _ in range(_TRIALS)]
        return errors[0] if all(errors) else ""

    def _error(self, call: Any, dtype: str, batches: int = 1, turned: bool = False) -> str:
        """What a product of zeros and ones raises."""
        try:
            self._compute(call, dtype, batches, turned)
        except Exception as error:
            return str(error) if isinstance(error, _see.Wrong) else f"{type(error).__name__}: {self._of.text_of(error)}"
        return ""

    def _compute(self, call: Any, dtype: str, batches: int, turned: bool) -> None:
        guest, extents, number = self._of.alone(), dict(_EXTENTS, b=batches), _library.DTYPE_NUMBERS[dtype]
        small = _library.Call(size=ctypes.sizeof(_library.Call), problem=call.problem, dtype=number, accumulator=call.accumulator, stream=call.stream)
        small.result = number if call.result == call.dtype else call.result
        small.rows, small.cols = batches * extents["m"] * extents["n"], extents["k"]
        small.extent[:] = [extents[axis] for axis in AXES]
        memory = []
        for k, axes in enumerate((*PROBLEM.inputs, PROBLEM.results)):
            strides = _strides(axes, extents, turned and k < len(PROBLEM.inputs))
            small.stride[k][:] = [strides.get(axis, 0) for axis in AXES]
            raw = _elements(axes, extents, strides, dtype if k < len(PROBLEM.inputs) else _library.DTYPES_BY_NUMBER[small.result])
            memory.append(guest.memory_of(raw, call.stream))
        small.in_, small.other, small.out = (at for at, _ in memory)
        guest.compute(small)
