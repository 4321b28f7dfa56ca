"""Makes arrays of numpy, torch, cupy and jax from memory, and back, without a copy and without importing any of them.

DLPack's structures (https://dmlc.github.io/dlpack) are laid by ctypes. numpy takes the array interface, which is quicker and can say
that memory may be written to.
"""

from __future__ import annotations

import ctypes
import importlib
import importlib.util
import math
import sys
from ctypes import POINTER, c_char_p, c_int32, c_int64, c_uint8, c_uint16, c_uint64, c_void_p
from typing import Any, Callable, Iterable, Tuple

# A dtype's name: DLPack's code and bits, bytes, the array interface's name.
_INT, _FLOAT, _BFLOAT, _E4M3, _E5M2 = 0, 2, 4, 10, 12
DTYPES = {
    "f16": (_FLOAT, 16, "<f2"),
    "bf16": (_BFLOAT, 16, None),
    "f32": (_FLOAT, 32, "<f4"),
    "f64": (_FLOAT, 64, "<f8"),
    "e4m3": (_E4M3, 8, None),
    "e5m2": (_E5M2, 8, None),
    "i8": (_INT, 8, "|i1"),
    "i32": (_INT, 32, "<i4"),
    "i64": (_INT, 64, "<i8"),
}
_NAMES = {(code, bits): name for name, (code, bits, _) in DTYPES.items()}
_ML_DTYPES = {"bf16": "bfloat16", "e4m3": "float8_e4m3fn", "e5m2": "float8_e5m2"}
CPU, CUDA, CUDA_HOST, CUDA_MANAGED = 1, 2, 3, 13
FRAMEWORKS = ("numpy", "torch", "cupy", "jax")


class Unavailable(ImportError):
    """This machine lacks what the call needs: a framework, CUDA's driver. That proves nothing about the callable."""


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


class Managed(ctypes.Structure):
    pass


_Deleter = ctypes.CFUNCTYPE(None, POINTER(Managed))
Managed._fields_ = [("tensor", _Tensor), ("context", c_void_p), ("deleter", _Deleter)]

api = ctypes.pythonapi
_new = api.PyCapsule_New
_new.restype, _new.argtypes = ctypes.py_object, [c_void_p, c_char_p, c_void_p]
pointer_of = api.PyCapsule_GetPointer
pointer_of.restype, pointer_of.argtypes = c_void_p, [ctypes.py_object, c_char_p]
NEW = b"dltensor"  # kept here because capsules only point to their name

def names(code: int, bits: int) -> str:
    """A dtype as DLPack describes it: one of DTYPES, or "int32" and the like."""
    kind = {0: "int", 1: "uint", 6: "bool"}.get(code, f"DLPack's type {code} of bits ")
    return _NAMES.get((code, bits), f"{kind}{bits}")


# What others may still read: DLPack's structures by their address, with the owner of their memory.
_lent: dict[int, Tuple[Any, ...]] = {}


@_Deleter
def _give_back(managed: Any) -> None:
    _lent.pop(ctypes.addressof(managed.contents), None)


def contiguous(shape: Tuple[int, ...]) -> Tuple[int, ...]:
    """The strides, in elements, of an array whose last axis is contiguous."""
    return tuple(math.prod(shape[k + 1 :]) for k in range(len(shape)))


class Lent:
    """Elements of a dtype at an address, as a producer of arrays."""

    def __init__(
        self,
        at: int,
        shape: Tuple[int, ...],
        dtype: str,
        device: Tuple[int, int] = (CPU, 0),
        owner: Any = None,
        strides: Tuple[int, ...] | None = None,
    ):
        self.at, self.shape, self.dtype, self.device, self.owner = at, shape, dtype, device, owner
        self.strides = strides or contiguous(shape)  # in elements

    @property
    def itemsize(self) -> int:
        return DTYPES[self.dtype][1] // 8

    @property
    def nbytes(self) -> int:
        """From the first element to the end of the last one."""
        return 0 if 0 in self.shape else self.itemsize * (1 + sum((n - 1) * stride for n, stride in zip(self.shape, self.strides)))

    def at_other(self, at: int, owner: Any) -> "Lent":
        return Lent(at, self.shape, self.dtype, self.device, owner, self.strides)

    def contiguous_at(self, at: int, owner: Any) -> "Lent":
        return Lent(at, self.shape, self.dtype, self.device, owner)

    @property
    def __array_interface__(self) -> dict[str, Any]:
        typestr = DTYPES[self.dtype][2] or f"<u{self.itemsize}"
        # numpy accepts no NULL address, not even for no elements.
        strides = tuple(self.itemsize * stride for stride in self.strides)
        return {"shape": self.shape, "typestr": typestr, "data": (self.at or 1, False), "strides": strides, "version": 3}

    def __dlpack_device__(self) -> Tuple[int, int]:
        return self.device

    def __dlpack__(self, stream: Any = None, **_: Any) -> Any:
        code, bits, _name = DTYPES[self.dtype]
        n = len(self.shape)
        shape = (c_int64 * n)(*self.shape)
        strides = (c_int64 * n)(*self.strides)
        managed = Managed(_Tensor(self.at, *self.device, n, code, bits, 1, shape, strides, 0), None, _give_back)
        at = ctypes.addressof(managed)
        _lent[at] = (managed, shape, strides, self)
        return _new(at, NEW, None)


def _ml_dtype(dtype: str) -> Any:
    try:
        ml = importlib.import_module("ml_dtypes")
    except ImportError:
        raise ImportError(f"dtype {dtype} of numpy needs ml_dtypes (pip install ml_dtypes), or arrays of torch (like='torch')") from None
    return getattr(ml, _ML_DTYPES[dtype])


def check(like: str, dtypes: Iterable[str]) -> None:
    """Raises ImportError if arrays of one of the dtypes cannot be made: once before anything is judged, not for every case."""
    for dtype in dtypes:
        if like == "numpy" and dtype in _ML_DTYPES:
            _ml_dtype(dtype)


def _import(like: str) -> Any:
    try:
        return importlib.import_module("jax.numpy" if like == "jax" else like)
    except ModuleNotFoundError as error:
        if error.name != like:  # it is installed, but incomplete
            raise
    raise Unavailable(f"like={like!r}: {like} is not installed")


def maker(like: str) -> Callable[[Lent], Any]:
    """The function by which a framework makes an array of lent memory."""
    module = _import(like)
    if like == "numpy":

        def make(lent: Lent) -> Any:
            array = module.asarray(lent)
            return array if DTYPES[lent.dtype][2] else array.view(_ml_dtype(lent.dtype))

        return make
    if like == "torch":
        from_dlpack = importlib.import_module("torch.utils.dlpack").from_dlpack
        return lambda lent: from_dlpack(lent.__dlpack__())
    return module.from_dlpack


def as_keys(keys: Any, like: str) -> Any:
    """Keys as frameworks take them for indices: int64; of jax int32."""
    return keys.long() if like == "torch" else keys if like == "jax" else keys.astype("int64")


def _is_there(name: str) -> bool:
    try:
        return name in sys.modules or importlib.util.find_spec(name) is not None
    except ValueError:  # a module object that was made by hand
        return True


def pick(like: str | None, cuda: bool = False) -> str:
    """The framework to use: of those already imported, the first that fits the device; else numpy."""
    fit = FRAMEWORKS[1:] if cuda else ("torch", "numpy")
    if like is None:
        like = next((name for name in fit if name in sys.modules), None if cuda else "numpy")
    if like is None and not any(map(_is_there, fit)):
        raise Unavailable("device='cuda': none of torch, cupy and jax is installed")
    if like is None:
        raise ValueError("device='cuda': import torch, cupy or jax first, or pass like=, the name of one of them")
    if like not in FRAMEWORKS or (cuda and like == "numpy"):
        raise ValueError(f"like={like!r}: not one of {', '.join(fit if cuda else FRAMEWORKS)}")
    return like
