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
from ._replay import Code

_DESCR = {"f16": "<f2", "bf16": "<u2", "f32": "<f4", "f64": "<f8"}


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


def _write(path: str, parts: Sequence[Any]) -> str:
    """Writes the parts' rows, one after the other, and returns their dtype."""
    dtypes, shapes = {part.dtype for part in parts}, {_shape_of(part) for part in parts}
    if len(dtypes) > 1 or len(shapes) > 1:
        raise ValueError(f"data: both arrays of a pair have one dtype and one shape, and not {', '.join(f'{p.dtype} {_shape_of(p)}' for p in parts)}")
    (dtype,), ((rows, cols),) = dtypes, shapes
    if dtype not in _DESCR:
        raise TypeError(f"data: dtype {dtype}: not one of {', '.join(_DESCR)}")
    text = f"{{'descr': '{_DESCR[dtype]}', 'fortran_order': False, 'shape': ({rows * len(parts)}, {cols}), }}"
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
    """{name: array, path or pair} of what the caller gave. Of a dot, a tuple is one pair."""
    if isinstance(data, Mapping):
        return {str(name): x for name, x in data.items()}
    if isinstance(data, list) or (isinstance(data, tuple) and not pairs):
        return {f"data{k}": x for k, x in enumerate(data)}
    return {"data": data}


class Data:
    """Writes arrays to files in a folder that is removed with this object; `paths` has also those files that the caller named."""

    def __init__(self, data: Any, axis: int, problem: str) -> None:
        self._folder = tempfile.mkdtemp(prefix="foldproof-")
        weakref.finalize(self, shutil.rmtree, self._folder, True)
        self.paths: List[str] = []
        self._names: Dict[str, str] = {}  # by the path as a case's name has it
        self._dtypes: Dict[str, None] = {}
        for name, x in _named(data, problem == "dot").items():
            self._add(name, x, axis, problem == "dot")
        if not self.paths:
            raise ValueError("data: no array is in it")

    def _add(self, name: str, x: Any, axis: int, pair: bool) -> None:
        if isinstance(x, (str, os.PathLike)):
            self.paths.append(os.fspath(x))
            self._dtypes.update(_dtype_of(x))
            return
        if pair and not (isinstance(x, tuple) and len(x) == 2):
            raise TypeError("data: for problem 'dot' it is a pair of arrays, (x, y), a list of pairs, or {name: pair}")
        plain = re.sub(r"[^A-Za-z0-9_.@+-]", "_", name) or "data"
        path = os.path.join(self._folder, f"{len(self.paths)}.{plain}.npy")
        self._dtypes[_write(path, [_rows_of(part, axis) for part in (x if pair else (x,))])] = None
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
