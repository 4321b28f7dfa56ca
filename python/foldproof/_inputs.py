"""A caller's own arrays as the inputs of a problem: contiguous in host memory, with the axes that the problem's signature has, in its order."""

from __future__ import annotations

import ctypes
import math
from typing import Any, Dict, List, NamedTuple, Sequence, Tuple

from . import _arrays, _see
from ._problem import AXES, BY_NAME, Axis, Form, Problem

_MOST_SLOTS = (1 << 31) - 1


class Inputs(NamedTuple):
    arrays: List[Any]  # as _see has them; keys as uint32
    shapes: List[Tuple[int, ...]]  # of the arrays, by the problem's axes, also where several letters share one; without the optional one where no array has it
    extents: Tuple[int, ...]  # of AXES
    results: Tuple[int, ...]  # the shape of what the callable returns
    parts: Dict[str, List[int]]  # the extents of the letters that share an axis

    @property
    def dtype(self) -> str:
        return self.arrays[0].dtype


def on_host(x: Any) -> Any:
    """cupy and torch have names of their own for the copy in host memory."""
    if hasattr(x, "detach"):
        return x.detach().cpu()
    return x.get() if type(x).__module__.split(".")[0] == "cupy" else x


def module_of(x: Any) -> Any:
    """Of a framework's own arrays: what moves axes. A buffer, such as array.array, has one axis."""
    if hasattr(x, "movedim"):
        return x
    if not hasattr(x, "shape"):
        return None
    import numpy

    return numpy


def _turned(x: Any, order: List[int]) -> Any:
    """x with its axes in that order, contiguous in host memory."""
    x = on_host(x)
    if order != sorted(order):
        module = module_of(x)
        if module is None:
            raise TypeError(f"an array whose axes can be exchanged is wanted, and not {type(x).__name__}")
        x = x.permute(order) if module is x else module.transpose(module.asarray(x), order)
    return _see.tight(_see.see(x))


def _usual(problem: Problem, k: int, n: int) -> Tuple[Axis, ...]:
    """The axes of input k as an array of n axes has them, which may lack the optional one; one axis is one row."""
    letters = problem.inputs[k]
    lacks = problem.optional or ("m" if set(problem.inputs) == {"mk"} else "")
    return tuple(Axis(letter) for letter in letters if n >= len(letters) or letter != lacks)


def _told(axes: Sequence[Axis]) -> str:
    return f"({', '.join(axis.of for axis in axes)}{',' if len(axes) == 1 else ''})"


def _axes(form: Form, problem: Problem, k: int, shape: Tuple[int, ...]) -> Tuple[Axis, ...]:
    axes = form.operands[k] if form.operands else _usual(problem, k, len(shape))
    if len(axes) != len(shape):
        which = "its input" if len(problem.inputs) == 1 else f"input {k + 1}"
        raise ValueError(f"problem {problem.name!r}: {which} has axes {_told(axes)}, and not shape {tuple(shape)}")
    return axes


def slots_of(slots: Any) -> int:
    from ._library import whole

    return whole("slots", slots, 0, _MOST_SLOTS)


def _keys(x: Any, slots: int) -> Any:
    """Keys as uint32, checked."""
    seen = _see.tight(_see.see(on_host(x)))
    kinds = {"i8": ctypes.c_int8, "i32": ctypes.c_int32, "i64": ctypes.c_int64, "uint8": ctypes.c_uint8, "uint16": ctypes.c_uint16, "int16": ctypes.c_int16,
             "uint32": ctypes.c_uint32, "uint64": ctypes.c_uint64}
    if seen.dtype not in kinds:
        raise TypeError(f"keys are whole numbers, and not {seen.dtype}")
    keys = (kinds[seen.dtype] * seen.size).from_address(seen.at) if seen.size else ()
    for k, key in enumerate(keys):
        if not 0 <= key < slots:
            raise ValueError(f"key {k} is {key}, and there are {slots} slots")
    room = (ctypes.c_uint32 * max(1, len(keys)))(*keys)
    return _see.Seen(ctypes.addressof(room), seen.shape, None, "i32", 4, _arrays.CPU, room)


def _place_all(form: Form, problem: Problem, given: Sequence[Any]) -> Tuple[List[Tuple[Axis, ...]], Dict[Axis, int]]:
    """The axes of each array, and the extent of each of these."""
    shapes = [tuple(getattr(x, "shape", None) or _see.see(x).shape) for x in given]
    axes = [_axes(form, problem, k, shape) for k, shape in enumerate(shapes)]
    extents: Dict[Axis, int] = {}
    agree = all(extents.setdefault(axis, n) == n for own, shape in zip(axes, shapes) for axis, n in zip(own, shape))
    lacks = [set(letters) - {axis.of for axis in own} for letters, own in zip(problem.inputs, axes)]
    if not agree or any(axis in {one.of for one in extents} for some in lacks for axis in some):  # what one array lacks, all others lack
        told = " and ".join(_told(form.operands[k] if form.operands else tuple(map(Axis, letters))) for k, letters in enumerate(problem.inputs))
        raise ValueError(f"problem {problem.name!r}: its inputs have axes {told}, and not shapes {' and '.join(map(str, shapes))}")
    return axes, extents


def _split_slots(problem: Problem, given: Sequence[Any]) -> Tuple[List[Any], Dict[Axis, int]]:
    """The arrays, and of a keyed sum the number of slots, which comes last."""
    arrays, n = list(given), len(problem.inputs)
    wanted = n + (problem.keys >= 0)
    if len(arrays) != wanted:
        what = "values, keys and the number of slots" if problem.keys >= 0 else "one array" if n == 1 else f"{n} arrays"
        raise TypeError(f"problem {problem.name!r} takes {what}, and not {len(arrays)} argument{'s' if len(arrays) != 1 else ''}")
    return arrays[:n], {Axis("m"): slots_of(arrays[n])} if problem.keys >= 0 else {}


def take(form: Form, given: Sequence[Any]) -> Inputs:
    """The arrays that a callable of this form gets, as the problem's inputs. ValueError or TypeError if they are none."""
    problem = BY_NAME.get(form.name, BY_NAME["sum"])  # the library says what is wrong with a name
    arrays, own = _split_slots(problem, given)
    axes, extents = _place_all(form, problem, arrays)
    extents.update(own)
    seen, shapes = [], []
    for k, (x, letters) in enumerate(zip(arrays, axes)):
        memory = sorted(letters, key=lambda axis: (problem.inputs[k].index(axis.of), axis.place))
        seen.append(_keys(x, own[Axis("m")]) if k == problem.keys else _turned(x, [letters.index(axis) for axis in memory]))
        shapes.append(tuple(math.prod(extents[axis] for axis in memory if axis.of == of) for of in dict.fromkeys(axis.of for axis in memory)))
    floats = [one.dtype for k, one in enumerate(seen) if k != problem.keys]
    if floats[0] not in _arrays.DTYPES:
        raise TypeError(f"dtype {floats[0]}: not one of {', '.join(_arrays.DTYPES)}")
    if len(set(floats)) > 1:
        raise ValueError(f"problem {problem.name!r}: its inputs have one dtype, and not {' and '.join(floats)}")
    whole = {letter: 1 for letter in AXES}
    for axis, n in extents.items():
        whole[axis.of] *= n
    results = form.operands[-1] if form.operands else tuple(axis for axis in map(Axis, problem.results) if axis in extents or axis.of == "m" and problem.results == "m")
    parts = {axis.of: [extents[axis._replace(place=place)] for place in range(axis.parts)] for axis in extents if axis.parts > 1}
    return Inputs(seen, shapes, tuple(whole[letter] for letter in AXES), tuple(extents.get(axis, 1) for axis in results), parts)
