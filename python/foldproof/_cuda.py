"""CUDA's driver, as far as callables on a device need it: waits for streams, and copies results to their place."""

from __future__ import annotations

import ctypes
import os
from ctypes import byref, c_int, c_size_t, c_uint64, c_void_p
from typing import Any, Optional

from ._arrays import Unavailable
from ._see import ALL, Seen, Wrong, see, tight

_MEMORY_TYPE, _DEVICE_ORDINAL, _DEVICE = 2, 9, 2  # cuda.h: CU_POINTER_ATTRIBUTE_..., CU_MEMORYTYPE_DEVICE


class _Memory:
    """Memory of a device, aligned to 256 bytes; it is freed when nothing refers to it."""

    def __init__(self, device: "Device", nbytes: int):
        found = c_uint64()
        device.call("cuMemAlloc_v2", byref(found), c_size_t(nbytes))
        self.at, self._free = found.value, device.driver.cuMemFree_v2

    def __del__(self) -> None:
        if hasattr(self, "at"):
            self._free(c_uint64(self.at))


class Device:
    """The thread's current device, in the harness's context."""

    def __init__(self) -> None:
        try:
            self.driver = ctypes.CDLL(os.environ.get("FOLDPROOF_CUDA_DRIVER") or "libcuda.so.1")
        except OSError as error:
            raise Unavailable(f"device='cuda': CUDA's driver cannot be loaded: {error}") from None

    def call(self, name: str, *arguments: Any) -> None:
        code = getattr(self.driver, name)(*arguments)
        if code:
            raise RuntimeError(f"CUDA's {name} failed with error {code}")

    def number(self) -> int:
        device = c_int()
        self.call("cuCtxGetDevice", byref(device))
        return device.value

    def context(self) -> Optional[int]:
        current = c_void_p()
        self.call("cuCtxGetCurrent", byref(current))
        return current.value

    def wait(self, stream: Any) -> None:
        """stream: as CUDA numbers them; None: the legacy default stream; ALL: waits for everything."""
        if stream == ALL:
            self.call("cuCtxSynchronize")
        else:
            self.call("cuStreamSynchronize", c_void_p(stream))

    def _attribute(self, which: int, at: int) -> Optional[int]:
        found = c_int(-1)
        code = self.driver.cuPointerGetAttribute(byref(found), c_int(which), c_uint64(at))
        return None if code else found.value

    def see(self, value: Any, stream: Optional[int]) -> Seen:
        """The memory of a result, contiguous, once the work that the callable has enqueued in its stream is done."""
        seen = tight(see(value, stream or 1), stream or 1)  # DLPack's 1 is the legacy default
        if seen.pending is not None:
            self.wait(seen.pending)
        return seen

    def check(self, seen: Seen) -> None:
        """Raises Wrong if memory that claims to be on a device is not on this one."""
        if not seen.nbytes:
            return
        kind, number = self._attribute(_MEMORY_TYPE, seen.at), self._attribute(_DEVICE_ORDINAL, seen.at)
        if kind is None:
            raise Wrong("its results are at an address that CUDA does not know")
        if kind != _DEVICE and number != self.number():
            raise Wrong("its results are in the host's memory, its input is not")
        if number != self.number():
            raise Wrong(f"its results are on CUDA's device {number}, its input on {self.number()}")

    def copy(self, to: int, at: int, nbytes: int, stream: Optional[int]) -> None:
        """Copies within the device and waits, so that the source may be freed at once."""
        if nbytes:
            self.call("cuMemcpyDtoDAsync_v2", c_uint64(to), c_uint64(at), c_size_t(nbytes), c_void_p(stream))
        self.wait(stream)

    def fetch(self, at: int, nbytes: int, stream: Optional[int]) -> Any:
        """A copy of device memory in host memory."""
        room = ctypes.create_string_buffer(nbytes + 8)
        if nbytes:
            self.call("cuMemcpyDtoHAsync_v2", room, c_uint64(at), c_size_t(nbytes), c_void_p(stream))
            self.wait(stream)
        return room

    def put(self, to: int, room: Any, nbytes: int, stream: Optional[int]) -> None:
        if nbytes:
            self.call("cuMemcpyHtoDAsync_v2", c_uint64(to), room, c_size_t(nbytes), c_void_p(stream))
            self.wait(stream)

    def memory(self, nbytes: int) -> _Memory:
        return _Memory(self, nbytes)
