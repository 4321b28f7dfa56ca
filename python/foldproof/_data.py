"""Arrays of the caller's own in place of fixtures. Each becomes a .npy file, one for each input of a case, which the library reads as the command does with
--npy."""

from __future__ import annotations

import ctypes
import math
import os
import re
import shutil
import tempfile
import weakref
from numbers import Integral
from typing import Any, Dict, List, Mapping, Sequence, Tuple

from . import _library
from ._inputs import Inputs, module_of, on_host, slots_of, take
from ._problem import BY_NAME, Form, Parts
from ._replay import Code

_DESCR = {"f16": "<f2", "bf16": "<u2", "f32": "<f4", "f64": "<f8", "e4m3": "|u1", "e5m2": "|u1", "i8": "|i1", "i32": "<i4", "i64": "<i8"}
_WORDS = {"dot": "(x, y)", "matvec": "(W, x)", "matmul": "(A, B)", "keyed": "(values, keys, slots)"}


def _rows_of(x: Any, axis: int) -> Any:
    """x as rows x terms, whose rows are what is folded along the axis."""
    x = on_host(x)
    module = module_of(x)
    if module is None:
        return x
    if len(x.shape) == 0 or not -len(x.shape) <= axis < len(x.shape):
        raise ValueError(f"data: an array of shape {tuple(x.shape)} has no axis {axis}")
    moved = x.movedim(axis, -1) if module is x else module.moveaxis(module.asarray(x), axis, -1)
    rows = 1
    for extent in moved.shape[:-1]:
        rows *= int(extent)
    return moved.reshape(rows, moved.shape[-1])


def _write(path: str, array: Any, shape: Tuple[int, ...]) -> None:
    text = f"{{'descr': '{_DESCR[array.dtype]}', 'fortran_order': False, 'shape': {shape}, }}"
    text += " " * (-(len(text) + 11) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode())
        file.write((ctypes.c_char * array.nbytes).from_address(array.at) if array.nbytes else b"")


def _dtype_of(path: str) -> Dict[str, None]:
    """The dtype that the first file of a list names. If it names none, the library says what is wrong with it."""
    try:
        with open(path if os.path.exists(path) else path.split(".npy,")[0] + ".npy", "rb") as file:
            head = file.read(256)
    except OSError:
        return {}
    return {dtype: None for dtype, descr in _DESCR.items() if f"'{descr}'".encode() in head and (descr != "|u1" or dtype in path)}


def _is_path(x: Any) -> bool:
    return isinstance(x, (str, os.PathLike))


def are_paths(data: Any) -> bool:
    """Whether files hold all of it: paths, tuples of them, or lists of these."""
    if isinstance(data, list):
        return all(map(are_paths, data))
    return _is_path(data) or isinstance(data, tuple) and any(map(_is_path, data)) and all(_is_path(x) or isinstance(x, Integral) for x in data)


def _named(data: Any, tuples: bool) -> Dict[str, Any]:
    """{name: array, path or tuple} of what the caller gave. Where a case has several inputs, a tuple is one."""
    if isinstance(data, Mapping):
        return {str(name): x for name, x in data.items()}
    if isinstance(data, list) or (isinstance(data, tuple) and not tuples):
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
        self._form, self._problem = form, BY_NAME.get(form.name, BY_NAME["sum"])
        self.parts: Parts = {}
        places = [[axes.index(one.of) for one in own] for own, axes in zip(form.operands, self._problem.inputs)]
        self._own_layout = form.shares or any(own != sorted(own) for own in places)  # other axes than the problem's, or another order of them
        self._by_rows = set(self._problem.inputs) <= {"mk", "k"} and not self._own_layout
        if axis != -1 and not self._by_rows and not (axis == 0 and form.transposed):
            raise ValueError(f"data, axis={axis}: problem {form.name!r} says which axis is folded")
        self._several = len(self._problem.inputs) > 1
        for name, x in _named(data, self._several).items():
            self._add(name, x, axis)
        if not self.paths:
            raise ValueError("data: no array is in it")

    def _files(self, given: Sequence[Any]) -> str:
        """The library's words for files that the caller has."""
        paths = [os.fspath(x) for x in given if _is_path(x)]
        if self._own_layout and not self._form.transposed:
            raise ValueError(f"data: files have the axes of problem {self._form.name!r}, {' and '.join(self._problem.inputs)}: numpy.load them for another signature")
        if len(paths) > 1 and not all(path.endswith(".npy") for path in paths):
            raise ValueError(f"data: files of several inputs are called NAME.npy, and not {', '.join(paths)}")
        self._dtypes.update(_dtype_of(paths[0]))
        return ",".join(paths + [str(slots_of(x)) for x in given if not _is_path(x)])

    def _take(self, x: Any, axis: int) -> Inputs:
        wanted = len(self._problem.inputs) + (self._problem.keys >= 0)
        given = x if self._several else (x,)
        if not isinstance(given, tuple) or len(given) != wanted or any(map(_is_path, given)):
            raise TypeError(f"data: for problem {self._problem.name!r} it is a tuple of arrays, or of paths, {_WORDS[self._problem.name]}, a list of such tuples, or {{name: tuple}}")
        if not self._by_rows:
            return take(self._form, given)
        return take(Form(self._form.name), [_rows_of(one, axis) if axes == "mk" else one for one, axes in zip(given, self._problem.inputs)])

    def _note_parts(self, name: str, inputs: Inputs) -> None:
        """fn gets arrays of the extents that the caller's have: an extent stands for one choice of its letters'."""
        for axis, parts in inputs.parts.items():
            known = self.parts.setdefault(axis, [])
            other = next((one for one in known if math.prod(one) == math.prod(parts) and one != parts), None)
            if other:
                raise ValueError(f"data: {name} has extents {parts} where an array before has {other}, of as many elements: judge them in two calls")
            known.append(parts)

    def _add(self, name: str, x: Any, axis: int) -> None:
        if are_paths(x):
            if axis != -1:
                raise ValueError(f"data: the rows of a file lie along its last axis: numpy.load({x!r}), to fold axis {axis}")
            self.paths.append(self._files(x if isinstance(x, tuple) else (x,)))
            return
        inputs = self._take(x, axis)
        self._note_parts(name, inputs)
        plain = re.sub(r"[^A-Za-z0-9_.@+-]", "_", name) or "data"
        paths = [os.path.join(self._folder, f"{len(self.paths)}.{plain}.{k}.{array.dtype}.npy") for k, array in enumerate(inputs.arrays)]
        for path, array, shape in zip(paths, inputs.arrays, inputs.shapes):
            _write(path, array, shape)
        self._dtypes[inputs.dtype] = None
        slots = [str(inputs.extents[1])] if self._problem.keys >= 0 else []
        self.paths.append(",".join(paths + slots))
        self._names["npy:" + self.paths[-1]] = "data:" + plain

    @property
    def dtypes(self) -> List[str]:
        return list(self._dtypes) or ["f32"]

    def rename(self, record: Dict[str, Any]) -> None:
        """Gives a case the caller's name in place of the file's."""
        for path, name in self._names.items():
            if record["case"].startswith(path + "/"):
                record["case"] = name + record["case"][len(path):]


def _plain(data: Any) -> Any:
    if isinstance(data, (list, tuple)):
        return type(data)(map(_plain, data))
    return os.fspath(data) if _is_path(data) else int(data)


def code_of(data: Any) -> Any:
    """An expression for it in a line that judges again: paths as they are; arrays by a name, since no text can hold them."""
    return _plain(data) if are_paths(data) else Code("data", unknown=True)
