"""Finds the memory of an array of any framework, without a copy: by DLPack, the array interfaces for hosts and CUDA, or a buffer."""

from __future__ import annotations

import ctypes
import sys
from ctypes import POINTER, c_void_p
from typing import Any, Tuple

from ._arrays import CPU, CUDA, CUDA_MANAGED, DTYPES, NEW, Managed, api, names, pointer_of

_ML_NAMES = {"bfloat16": "bf16", "float8_e4m3fn": "e4m3", "float8_e5m2": "e5m2"}
_INTERFACE_NAMES = {known: name for name, (_, _, known) in DTYPES.items() if known}
ALL = "all"  # work in all streams may still write to the array


class Wrong(Exception):
    """What a callable returned is not a result; the message says why."""


def _is_contiguous(shape: Tuple[int, ...], strides: Any) -> bool:
    """An array without elements is contiguous whatever its strides are."""
    expected, contiguous = 1, True
    for extent, stride in zip(reversed(shape), reversed(strides)):
        contiguous &= stride == expected or extent <= 1
        expected *= extent
    return contiguous or 0 in shape


class Seen:
    """Address, shape, strides in elements (None: none), dtype's name and bytes, device as DLPack numbers kinds, and the array, which
    keeps its memory. `pending`: None, ALL, or the CUDA stream (as numbered by CUDA) whose work must end before the memory is read."""

    def __init__(self, at: int, shape: Tuple[int, ...], strides: Any, dtype: str, size: int, device: int, keep: Any, pending: Any = None):
        self.at, self.shape, self.dtype, self.itemsize, self.keep, self.pending = at, shape, dtype, size, keep, pending
        self.on_cuda = device in (CUDA, CUDA_MANAGED)
        self.device = device
        self.contiguous = not strides or _is_contiguous(shape, strides)

    @property
    def size(self) -> int:
        n = 1
        for extent in self.shape:
            n *= extent
        return n

    @property
    def nbytes(self) -> int:
        return self.size * self.itemsize


def _name(array: Any, typestr: str) -> str:
    if typestr in _INTERFACE_NAMES:
        return _INTERFACE_NAMES[typestr]
    own = str(getattr(array, "dtype", typestr)).split(".")[-1]  # what is void to the interface: ml_dtypes', torch's
    if own in _ML_NAMES:
        return _ML_NAMES[own]
    if typestr[1] == "O":
        return "objects"
    name = {"i": "int", "u": "uint", "b": "bool"}.get(typestr[1], typestr[1]) + str(8 * int(typestr[2:].split("[")[0]))  # dates and times have a unit in brackets
    return f"big-endian {name}" if typestr[0] == ">" else name


def _see_interface(array: Any, interface: dict[str, Any], device: int) -> Seen:
    typestr, strides = interface["typestr"], interface.get("strides")
    size = int(typestr[2:].split("[")[0] or ctypes.sizeof(ctypes.c_void_p))
    if strides is not None:
        strides = [s // size if s % size == 0 else -1 for s in strides]
    pending = None
    if device == CUDA:  # before version 3 the interface had no stream; since then None means that no work is left
        pending = interface["stream"] if interface.get("version", 0) >= 3 and "stream" in interface else ALL
    name = _name(array, typestr)
    return Seen(interface["data"][0] or 0, tuple(interface["shape"]), strides, name, size, device, array, pending)


def _capsule(array: Any, stream: int | None, on_cuda: bool) -> Tuple[Any, Any]:
    """The array's capsule, and the stream to wait for. Arrays on the host have no stream."""
    if not on_cuda or stream is None:
        return array.__dlpack__(), None
    try:
        return array.__dlpack__(stream=stream), None
    except TypeError:
        return array.__dlpack__(), ALL


def _see_dlpack(array: Any, stream: int | None) -> Seen:
    if getattr(array, "requires_grad", False) is True:  # torch does not export arrays that are part of a graph
        array = array.detach()
    kind = array.__dlpack_device__()[0] if hasattr(array, "__dlpack_device__") else CPU
    on_cuda = int(kind) in (CUDA, CUDA_MANAGED)
    capsule, pending = _capsule(array, stream, on_cuda)
    managed = ctypes.cast(pointer_of(capsule, NEW), POINTER(Managed))
    t = managed.contents.tensor
    if hasattr(array, "__dlpack_device__") and on_cuda != (t.device in (CUDA, CUDA_MANAGED)):
        places = ("host memory", "a CUDA device's memory")
        raise TypeError(f"an array is wanted, and this {type(array).__name__} says {places[on_cuda]}, while its capsule says {places[not on_cuda]}")
    if t.lanes != 1:
        raise TypeError(f"an array of numbers is wanted, and not of vectors of {t.lanes}")
    shape = tuple(t.shape[i] for i in range(t.ndim))
    strides = [t.strides[i] for i in range(t.ndim)] if t.strides else None
    # The capsule was not consumed: it frees itself, and the array keeps the memory.
    at = t.data + t.byte_offset if t.data else 0
    return Seen(at, shape, strides, names(t.code, t.bits), (t.bits + 7) // 8, t.device, (array, capsule), pending)


def _refuse_masked(array: Any) -> None:
    """Refuses masked arrays: masked elements have no value, whatever their memory holds."""
    masked = sys.modules.get("numpy.ma")
    if masked and masked.is_masked(array):
        raise TypeError("an array is wanted without masked elements")


def see(array: Any, stream: int | None = None) -> Seen:
    """Finds the memory of any array; TypeError for anything else. `stream`: DLPack's number of the CUDA stream that will read it."""
    _refuse_masked(array)
    seen = _see(array, stream)
    if not seen.at and seen.size > 0:  # reading it would crash the process
        raise TypeError(f"an array is wanted, and this {type(array).__name__} has no memory: its address is 0")
    return seen


def _see(array: Any, stream: int | None) -> Seen:
    # Read once, because numpy makes it again each time.
    interface = getattr(array, "__array_interface__", None) if type(array).__module__.split(".")[0] == "numpy" else None
    if interface is not None:
        return _see_interface(array, interface, CPU)
    if hasattr(array, "__dlpack__"):
        return _see_dlpack(array, stream)
    if hasattr(array, "__cuda_array_interface__"):
        return _see_interface(array, array.__cuda_array_interface__, CUDA)
    if hasattr(array, "__array_interface__"):
        return _see_interface(array, array.__array_interface__, CPU)
    return _see_buffer(array)


def tight(seen: Seen, stream: int | None = None) -> Seen:
    """The same elements contiguously: a copy by the array's own framework, unless they are contiguous already."""
    if seen.contiguous:
        return seen
    array = seen.keep[0] if isinstance(seen.keep, tuple) else seen.keep
    copied = see(array.contiguous() if hasattr(array, "contiguous") else array.copy(), stream)
    if not copied.contiguous:
        raise TypeError("its results are strided, and cannot be made contiguous")
    return copied


def _see_buffer(array: Any) -> Seen:
    try:
        view = memoryview(array)
    except TypeError:
        raise TypeError(f"an array is wanted, and not {type(array).__name__}") from None
    formats = {"f": "f32", "d": "f64", "e": "f16", "b": "i8", "i": "i32", "q": "i64", "l": "i64"}
    if view.format not in formats or not view.c_contiguous:
        raise TypeError(f"a contiguous buffer of f16, f32, f64, i8, i32 or i64 is wanted, and not of format {view.format!r}")
    at = 0
    if view.nbytes:
        at = ctypes.addressof((ctypes.c_char * view.nbytes).from_buffer(view)) if not view.readonly else _address(view)
    return Seen(at, tuple(view.shape or ()), None, formats[view.format], view.itemsize, CPU, view)


class _Buffer(ctypes.Structure):
    _fields_ = [("buf", c_void_p), ("obj", ctypes.py_object), ("len", ctypes.c_ssize_t), ("rest", ctypes.c_ssize_t * 16)]


def _address(view: memoryview) -> int:
    """The address of a buffer that may be read-only."""
    buffer = _Buffer()
    api.PyObject_GetBuffer.argtypes = [ctypes.py_object, c_void_p, ctypes.c_int]
    api.PyBuffer_Release.argtypes = [c_void_p]
    api.PyObject_GetBuffer(view, ctypes.byref(buffer), 0)
    at = buffer.buf
    api.PyBuffer_Release(ctypes.byref(buffer))
    return at or 0
