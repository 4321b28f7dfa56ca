"""The few calls of CUDA's driver that a callable on a device needs: whose result comes to its place in the harness's stream."""

from __future__ import annotations

import ctypes
from typing import Any, Optional


class Device:
    def __init__(self) -> None:
        self.driver = ctypes.CDLL("libcuda.so.1")
        self.driver.cuMemcpyDtoDAsync_v2.argtypes = [ctypes.c_uint64, ctypes.c_uint64, ctypes.c_size_t, ctypes.c_void_p]
        self.driver.cuStreamSynchronize.argtypes = [ctypes.c_void_p]

    def _check(self, code: int, what: str) -> None:
        if code:
            raise RuntimeError(f"CUDA's {what} failed with error {code}")

    def number(self) -> int:
        """Of the thread's current device."""
        device = ctypes.c_int()
        self._check(self.driver.cuCtxGetDevice(ctypes.byref(device)), "cuCtxGetDevice")
        return device.value

    def wait(self, stream: Optional[int]) -> None:
        self._check(self.driver.cuStreamSynchronize(stream), "cuStreamSynchronize")

    @staticmethod
    def consumer(stream: Optional[int]) -> int:
        """As DLPack names a stream: 1 is the legacy default."""
        return stream or 1

    def copy(self, to: int, seen: Any, stream: Optional[int]) -> None:
        """Waits: the result's memory may be used again as soon as it is let go."""
        if not seen.contiguous:
            raise TypeError("its results are strided: return a contiguous array")
        if seen.nbytes:
            self._check(self.driver.cuMemcpyDtoDAsync_v2(to, seen.at, seen.nbytes, stream), "cuMemcpyDtoDAsync")
        self.wait(stream)
