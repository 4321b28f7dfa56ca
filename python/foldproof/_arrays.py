"""Memory to arrays of numpy, torch, cupy and jax, and back, without a copy and without an import of any of them.

DLPack's structures (https://dmlc.github.io/dlpack) are laid by ctypes. numpy takes the array interface, which is quicker and can say
that memory may be written to.
"""

from __future__ import annotations

import ctypes
import importlib
import sys
from ctypes import POINTER, c_char_p, c_int32, c_int64, c_uint8, c_uint16, c_uint64, c_void_p
from typing import Any, Callable, Tuple

# A dtype's name: DLPack's code and bits, bytes, the array interface's name.
_FLOAT, _BFLOAT, _E4M3, _E5M2 = 2, 4, 10, 12
DTYPES = {
    "f16": (_FLOAT, 16, "<f2"),
    "bf16": (_BFLOAT, 16, None),
    "f32": (_FLOAT, 32, "<f4"),
    "f64": (_FLOAT, 64, "<f8"),
    "e4m3": (_E4M3, 8, None),
    "e5m2": (_E5M2, 8, None),
}
_NAMES = {(code, bits): name for name, (code, bits, _) in DTYPES.items()}
_ML_NAMES = {"bfloat16": "bf16", "float8_e4m3fn": "e4m3", "float8_e5m2": "e5m2"}
CPU, CUDA, CUDA_HOST = 1, 2, 3


class _Tensor(ctypes.Structure):
    _fields_ = [
        ("data", c_void_p),
        ("device", c_int32),
        ("device_id", c_int32),
        ("ndim", c_int32),
        ("code", c_uint8),
        ("bits", c_uint8),
        ("lanes", c_uint16),
        ("shape", POINTER(c_int64)),
        ("strides", POINTER(c_int64)),
        ("byte_offset", c_uint64),
    ]


class _Managed(ctypes.Structure):
    pass


_Deleter = ctypes.CFUNCTYPE(None, POINTER(_Managed))
_Managed._fields_ = [("tensor", _Tensor), ("context", c_void_p), ("deleter", _Deleter)]

_api = ctypes.pythonapi
_new = _api.PyCapsule_New
_new.restype, _new.argtypes = ctypes.py_object, [c_void_p, c_char_p, c_void_p]
_pointer = _api.PyCapsule_GetPointer
_pointer.restype, _pointer.argtypes = c_void_p, [ctypes.py_object, c_char_p]
_is_valid = _api.PyCapsule_IsValid
_is_valid.argtypes = [ctypes.py_object, c_char_p]
_set_name = _api.PyCapsule_SetName
_set_name.argtypes = [ctypes.py_object, c_char_p]
_NEW, _USED = b"dltensor", b"used_dltensor"  # kept: a capsule points to its name

# What somebody still looks at: the structures by their address, and whose memory it is.
_lent: dict[int, Tuple[Any, ...]] = {}


@_Deleter
def _give_back(managed: Any) -> None:
    _lent.pop(ctypes.addressof(managed.contents), None)


class Lent:
    """rows x cols elements of a dtype at an address (cols None: rows elements), as a producer of arrays."""

    def __init__(self, at: int, shape: Tuple[int, ...], dtype: str, device: Tuple[int, int] = (CPU, 0), owner: Any = None):
        self.at, self.shape, self.dtype, self.device, self.owner = at, shape, dtype, device, owner

    @property
    def __array_interface__(self) -> dict[str, Any]:
        typestr = DTYPES[self.dtype][2] or f"<u{DTYPES[self.dtype][1] // 8}"
        # Of nothing there is no address that numpy takes.
        return {"shape": self.shape, "typestr": typestr, "data": (self.at or 1, False), "version": 3}

    def __dlpack_device__(self) -> Tuple[int, int]:
        return self.device

    def __dlpack__(self, stream: Any = None, **_: Any) -> Any:
        code, bits, _name = DTYPES[self.dtype]
        n = len(self.shape)
        shape = (c_int64 * n)(*self.shape)
        strides = (c_int64 * n)(*((self.shape[1], 1) if n == 2 else (1,)))
        managed = _Managed(_Tensor(self.at, *self.device, n, code, bits, 1, shape, strides, 0), None, _give_back)
        at = ctypes.addressof(managed)
        _lent[at] = (managed, shape, strides, self)
        return _new(at, _NEW, None)


def _ml_dtype(dtype: str) -> Any:
    try:
        ml = importlib.import_module("ml_dtypes")
    except ImportError:
        raise TypeError(f"numpy has no {dtype}: install ml_dtypes, or say like='torch'") from None
    return getattr(ml, {short: name for name, short in _ML_NAMES.items()}[dtype])


def maker(like: str) -> Callable[[Lent], Any]:
    """How a framework makes an array of what is lent."""
    module = importlib.import_module("jax.numpy" if like == "jax" else like)
    if like == "numpy":

        def make(lent: Lent) -> Any:
            array = module.asarray(lent)
            return array if DTYPES[lent.dtype][2] else array.view(_ml_dtype(lent.dtype))

        return make
    if like == "torch":
        from_dlpack = importlib.import_module("torch.utils.dlpack").from_dlpack
        return lambda lent: from_dlpack(lent.__dlpack__())
    return module.from_dlpack


def pick(like: str | None) -> str:
    """The framework that is meant: torch if it was imported, else numpy."""
    known = ("numpy", "torch", "cupy", "jax")
    if like is None:
        return "torch" if "torch" in sys.modules else "numpy"
    if like not in known:
        raise ValueError(f"like={like!r}: not one of {', '.join(known)}")
    return like


class Seen:
    """Where somebody's array lies: address, shape, dtype's name, device, and the array itself, which keeps it."""

    def __init__(self, at: int, shape: Tuple[int, ...], strides: Any, dtype: str, device: int, keep: Any):
        self.at, self.shape, self.dtype, self.device, self.keep = at, shape, dtype, device, keep
        expected = 1
        self.contiguous = True
        for extent, stride in zip(reversed(shape), reversed(strides or ())):
            self.contiguous &= stride == expected or extent <= 1
            expected *= extent

    @property
    def size(self) -> int:
        n = 1
        for extent in self.shape:
            n *= extent
        return n

    @property
    def nbytes(self) -> int:
        return self.size * DTYPES[self.dtype][1] // 8


def _name(typestr: str) -> str:
    for name, (_, _, known) in DTYPES.items():
        if known == typestr:
            return name
    return typestr


def _see_interface(array: Any, interface: dict[str, Any], device: int) -> Seen:
    dtype = _name(interface["typestr"])
    if dtype not in DTYPES:  # ml_dtypes' are void to the interface
        dtype = _ML_NAMES.get(str(getattr(array, "dtype", dtype)), dtype)
    size = int(interface["typestr"][2:])
    strides = interface.get("strides")
    if strides is not None:
        strides = [s // size if s % size == 0 else -1 for s in strides]
    return Seen(interface["data"][0], tuple(interface["shape"]), strides, dtype, device, array)


def _see_dlpack(array: Any, stream: int | None) -> Seen:
    capsule = array.__dlpack__() if stream is None else array.__dlpack__(stream=stream)
    managed = ctypes.cast(_pointer(capsule, _NEW), POINTER(_Managed))
    t = managed.contents.tensor
    shape = tuple(t.shape[i] for i in range(t.ndim))
    strides = [t.strides[i] for i in range(t.ndim)] if t.strides else None
    dtype = _NAMES.get((t.code, t.bits), f"DLPack's type {t.code} of {t.bits} bits")
    # The capsule was not taken: it frees itself, and the array keeps the memory.
    return Seen((t.data or 0) + t.byte_offset, shape, strides, dtype, t.device, (array, capsule))


def see(array: Any, stream: int | None = None) -> Seen:
    """Any array's memory: by the array interface, DLPack, CUDA's array interface, or a buffer; TypeError for anything else.

    `stream` is the CUDA stream that will read it."""
    if hasattr(array, "__array_interface__") and type(array).__module__.split(".")[0] == "numpy":
        return _see_interface(array, array.__array_interface__, CPU)
    if hasattr(array, "__dlpack__"):
        return _see_dlpack(array, stream)
    if hasattr(array, "__cuda_array_interface__"):
        return _see_interface(array, array.__cuda_array_interface__, CUDA)
    if hasattr(array, "__array_interface__"):
        return _see_interface(array, array.__array_interface__, CPU)
    return _see_buffer(array)


def _see_buffer(array: Any) -> Seen:
    try:
        view = memoryview(array)
    except TypeError:
        raise TypeError(f"an array is wanted, and not {type(array).__name__}") from None
    names = {"f": "f32", "d": "f64", "e": "f16"}
    if view.format not in names or not view.c_contiguous:
        raise TypeError(f"a contiguous buffer of f16, f32 or f64 is wanted, and not of format {view.format!r}")
    at = 0
    if view.nbytes:
        at = ctypes.addressof((ctypes.c_char * view.nbytes).from_buffer(view)) if not view.readonly else _address(view)
    return Seen(at, tuple(view.shape), None, names[view.format], CPU, view)


class _Buffer(ctypes.Structure):
    _fields_ = [("buf", c_void_p), ("obj", ctypes.py_object), ("len", ctypes.c_ssize_t), ("rest", ctypes.c_ssize_t * 16)]


def _address(view: memoryview) -> int:
    """Of a buffer that may not be written to."""
    buffer = _Buffer()
    _api.PyObject_GetBuffer.argtypes = [ctypes.py_object, c_void_p, ctypes.c_int]
    _api.PyBuffer_Release.argtypes = [c_void_p]
    _api.PyObject_GetBuffer(view, ctypes.byref(buffer), 0)
    at = buffer.buf
    _api.PyBuffer_Release(ctypes.byref(buffer))
    return at or 0


def copy_out(seen: Seen, at: int) -> None:
    """A result in host memory, of one dimension or n x 1, to `at`."""
    if seen.contiguous:
        ctypes.memmove(at, seen.at, seen.nbytes)
        return
    keep = seen.keep[0] if isinstance(seen.keep, tuple) else seen.keep
    tight = see(keep.contiguous() if hasattr(keep, "contiguous") else keep.copy())
    if not tight.contiguous:
        raise TypeError("its results are strided, and can't be made contiguous")
    ctypes.memmove(at, tight.at, tight.nbytes)
