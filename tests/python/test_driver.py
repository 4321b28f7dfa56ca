#!/usr/bin/env python3
"""Callables with device="cuda" are judged by a library without CUDA's toolkit, over a fake of its driver (fake_cuda.c).

test_driver.py LIBRARY FIXTURES SANITIZERS; FOLDPROOF_CUDA_DRIVER names the fake.
"""
import ctypes
import os
import sys
import tempfile
import types
import unittest

import here  # noqa: F401
import numpy as np

import foldproof

DRIVER = ctypes.CDLL(os.environ["FOLDPROOF_CUDA_DRIVER"])


class OnDevice:
    """A framework's result, in memory of its own."""

    def __init__(self, array):
        self.at, self.nbytes = ctypes.c_uint64(), array.nbytes
        assert DRIVER.cuMemAlloc_v2(ctypes.byref(self.at), ctypes.c_size_t(array.nbytes or 1)) == 0
        ctypes.memmove(self.at.value, array.ctypes.data, array.nbytes)
        self.__cuda_array_interface__ = {"shape": array.shape, "typestr": array.dtype.str, "data": (self.at.value, False), "version": 3}

    def __del__(self):
        DRIVER.cuMemFree_v2(self.at)

    def get(self):
        array = np.zeros(self.__cuda_array_interface__["shape"], self.__cuda_array_interface__["typestr"])
        ctypes.memmove(array.ctypes.data, self.at.value, self.nbytes)
        return array


def from_dlpack(lent):
    """As the host sees it."""
    rows, cols = lent.shape
    array = np.ctypeslib.as_array((ctypes.c_float * (rows * cols)).from_address(lent.at)) if rows * cols else np.zeros(0, np.float32)
    return array.reshape(rows, cols)


sys.modules["cupy"] = types.ModuleType("cupy")
sys.modules["cupy"].from_dlpack, sys.modules["cupy"].asarray = from_dlpack, np.asarray


def verify(fn, **more):
    return foldproof.verify(fn, like="cupy", device="cuda", fixtures="normal/f32/sum/*", **more)


class Judged(unittest.TestCase):
    def test_what_is_right_holds(self):
        result = verify(lambda x: OnDevice(x.sum(-1, dtype=np.float32)), claims=("bounded", "run_to_run", "batch_invariant"))
        self.assertEqual({"refuted": 0, "broken": 0}, {k: result.counts[k] for k in ("refuted", "broken")}, result)
        self.assertGreater(result.counts["held"], 100, result)

    def test_what_is_wrong_is_refuted(self):
        turn = []

        def by_turns(x):
            turn.append(0)
            return OnDevice(sum(x.T[:: 1 if len(turn) % 2 else -1], np.zeros(len(x), np.float32)))

        for claim, fn in {"run_to_run": by_turns, "bounded": lambda x: OnDevice(x.sum(-1) + np.float32(1))}.items():
            with self.assertRaisesRegex(foldproof.Refuted, f"{claim} is refuted"):
                verify(fn, claims=(claim,))

    def test_results_on_the_host_are_none(self):
        with self.assertRaisesRegex(foldproof.Broken, "its results are on the host, its input is not"):
            verify(lambda x: x.sum(-1))


class Hunted(unittest.TestCase):
    def test_in_this_process(self):
        """The driver's memory is not in a forked one."""
        own, asked = os.getpid(), {"like": "cupy", "device": "cuda", "claims": "bounded", "seed": 7, "check": False}

        def row_sum(x, lost=lambda x: False):
            assert os.getpid() == own
            return OnDevice((x[:, 1:] if lost(x) else x).astype("f8").sum(-1).astype("f4"))

        with tempfile.TemporaryDirectory() as folder:
            hunt = foldproof.hunt(row_sum, cases=100, found=folder, **asked)
            self.assertEqual((hunt.found, hunt.cases, hunt.counts["broken"]), ([], 100, 0))
            self.assertGreater(hunt.counts["held"], 50)
            find, = foldproof.hunt(lambda x: row_sum(x, lambda x: x.shape[1] % 24 == 23), time=300, first=True, found=folder, **asked).found
            self.assertEqual((find.record["engine"], find.record["cols"]), ("cuda", 23))
            gate = foldproof.gate(row_sum, like="cupy", device="cuda", time=3, found=folder)
            self.assertTrue(gate, str(gate))
            self.assertFalse(foldproof.gate(lambda x: row_sum(x * 0), like="cupy", device="cuda", time=3, found=folder))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
