"""Arrays of the caller's own in place of fixtures. Each becomes a .npy file of rows, which the library reads as the command does with --npy."""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import tempfile
import weakref
from typing import Any, Dict, List, Mapping, Sequence, Tuple

from . import _library, _see
from ._problem import Form, inputs_of
from ._replay import Code

_DESCR = {"f16": "<f2", "bf16": "<u2", "f32": "<f4", "f64": "<f8", "i8": "|i1", "i32": "<i4", "i64": "<i8"}


def _on_host(x: Any) -> Any:
    """cupy and torch have names of their own for the copy in host memory."""
    if hasattr(x, "detach"):
        return x.detach().cpu()
    return x.get() if type(x).__module__.split(".")[0] == "cupy" else x


def _module_of(x: Any) -> Any:
    """Of a framework's own arrays: what moves axes. A buffer, such as array.array, has one axis."""
    if hasattr(x, "movedim"):
        return x
    if not hasattr(x, "shape"):
        return None
    import numpy

    return numpy


def _vector(x: Any) -> Any:
    seen = _see.see(_on_host(x))
    if len(seen.shape) != 1:
        raise ValueError(f"data: a vector has one axis, and not shape {seen.shape}")
    return _see.tight(seen)


def _rows_of(x: Any, axis: int) -> Any:
    """x as an array of rows x terms in host memory, contiguous, whose rows are what is folded along the axis."""
    x = _on_host(x)
    module = _module_of(x)
    if module is None:
        return _see.see(x)
    if len(x.shape) == 0 or not -len(x.shape) <= axis < len(x.shape):
        raise ValueError(f"data: an array of shape {tuple(x.shape)} has no axis {axis}")
    moved = x.movedim(axis, -1) if module is x else module.moveaxis(module.asarray(x), axis, -1)
    rows = 1
    for extent in moved.shape[:-1]:
        rows *= int(extent)
    return _see.tight(_see.see(moved.reshape(rows, moved.shape[-1])))


def _shape_of(seen: Any) -> Tuple[int, int]:
    return (1, seen.shape[0]) if len(seen.shape) == 1 else seen.shape


def _check(parts: Sequence[Any], inputs: Sequence[str]) -> None:
    """Whether all arrays of a case have one dtype, and agree in the extents of their axes."""
    extents: Dict[str, int] = {}
    agree = True
    for part, axes in zip(parts, inputs):
        for axis, extent in zip(axes, part.shape if len(axes) == 1 else _shape_of(part)):
            agree &= extents.setdefault(axis, extent) == extent
    if not agree or len({part.dtype for part in parts}) > 1:
        shape = "one shape" if len(set(inputs)) == 1 else f"shapes {' and '.join('(' + ', '.join(axes) + (',)' if len(axes) == 1 else ')') for axes in inputs)}"
        raise ValueError(f"data: both arrays of a pair have one dtype and {shape}, and not {', '.join(f'{p.dtype} {p.shape}' for p in parts)}")
    if parts[0].dtype not in _DESCR:
        raise TypeError(f"data: dtype {parts[0].dtype}: not one of {', '.join(_DESCR)}")


def _write(path: str, parts: Sequence[Any], inputs: Sequence[str]) -> str:
    """Writes the parts' rows, one after the other, and returns their dtype. A vector is one row."""
    _check(parts, inputs)
    dtype, shapes = parts[0].dtype, [_shape_of(part) for part in parts]
    text = f"{{'descr': '{_DESCR[dtype]}', 'fortran_order': False, 'shape': ({sum(rows for rows, _ in shapes)}, {shapes[0][1]}), }}"
    text += " " * (-(len(text) + 11) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode())
        for part in parts:
            file.write((ctypes.c_char * part.nbytes).from_address(part.at) if part.nbytes else b"")
    return dtype


def _dtype_of(path: Any) -> Dict[str, None]:
    """The dtype that a file names. If it names none, the library says what is wrong with it."""
    try:
        with open(path, "rb") as file:
            head = file.read(256)
    except OSError:
        return {}
    return {dtype: None for dtype, descr in _DESCR.items() if f"'{descr}'".encode() in head}


def _named(data: Any, pairs: bool) -> Dict[str, Any]:
    """{name: array, path or pair} of what the caller gave. Where a case has a pair, a tuple is one."""
    if isinstance(data, Mapping):
        return {str(name): x for name, x in data.items()}
    if isinstance(data, list) or (isinstance(data, tuple) and not pairs):
        return {f"data{k}": x for k, x in enumerate(data)}
    return {"data": data}


class Data:
    """Writes arrays to files in a folder that is removed with this object; `paths` has also those files that the caller named."""

    def __init__(self, data: Any, axis: int, form: Form) -> None:
        self._folder = tempfile.mkdtemp(prefix="foldproof-")
        weakref.finalize(self, shutil.rmtree, self._folder, True)
        self.paths: List[str] = []
        self._names: Dict[str, str] = {}  # by the path as a case's name has it
        self._dtypes: Dict[str, None] = {}
        problem, inputs = form.name, inputs_of(form.name)
        usual = not form.operands or form.transposed or ["".join(one.of for one in operand) for operand in form.operands[:-1]] == inputs
        if any(axes not in ("mk", "k") for axes in inputs) or not usual:
            raise ValueError(f"data: problem {problem!r}{'' if usual else ' of this signature'} is judged on fixtures only")
        self._axis, self._problem, self._inputs = 0 if form.transposed else axis, problem, inputs
        for name, x in _named(data, len(self._inputs) > 1).items():
            self._add(name, x, axis)
        if not self.paths:
            raise ValueError("data: no array is in it")

    def _add(self, name: str, x: Any, axis: int) -> None:
        if isinstance(x, (str, os.PathLike)):
            if axis != -1:
                raise ValueError(f"data: the rows of a file lie along its last axis: numpy.load({os.fspath(x)!r}), to fold axis {axis}")
            self.paths.append(os.fspath(x))
            self._dtypes.update(_dtype_of(x))
            return
        n = len(self._inputs)
        if n > 1 and not (isinstance(x, tuple) and len(x) == n):
            pair = "(W, x)" if "k" in self._inputs else "(x, y)"
            raise TypeError(f"data: for problem '{self._problem}' it is a pair of arrays, {pair}, a list of pairs, or {{name: pair}}")
        plain = re.sub(r"[^A-Za-z0-9_.@+-]", "_", name) or "data"
        path = os.path.join(self._folder, f"{len(self.paths)}.{plain}.npy")
        parts = [_vector(part) if axes == "k" else _rows_of(part, self._axis) for part, axes in zip(x if n > 1 else (x,), self._inputs)]
        self._dtypes[_write(path, parts, self._inputs)] = None
        self.paths.append(path)
        self._names["npy:" + path] = "data:" + plain

    @property
    def dtypes(self) -> List[str]:
        return list(self._dtypes) or ["f32"]

    def options(self) -> Dict[str, Any]:
        return {"npy": (ctypes.c_char_p * len(self.paths))(*map(os.fsencode, self.paths)), "n_npy": len(self.paths)}

    def rename(self, record: Dict[str, Any]) -> None:
        """Gives a case the caller's name in place of the file's."""
        for path, name in self._names.items():
            if record["case"].startswith(path + "/"):
                record["case"] = name + record["case"][len(path):]


def code_of(data: Any) -> Any:
    """An expression for it in a line that judges again: paths as they are; arrays by a name, since no text can hold them."""
    paths = [data] if isinstance(data, (str, os.PathLike)) else data if isinstance(data, list) else [None]
    if all(isinstance(path, (str, os.PathLike)) for path in paths):
        found = [os.fspath(path) for path in paths]
        return found[0] if found and not isinstance(data, list) else found
    return Code("data", unknown=True)
