#!/usr/bin/env python3
"""How results of devices are found and brought to their place, without a device: CUDA's driver is played, and so are arrays that speak
DLPack or the CUDA array interface.

test_devices.py LIBRARY FIXTURES SANITIZERS
"""
import ctypes
import sys
import unittest

import here  # noqa: F401
import numpy as np

from foldproof import _arrays, _callable, _cuda, _library, _problem, _see
from foldproof._rows import Rows

CONTEXT, HERE, STREAM = 77, 0, 1234


def number(argument):
    return getattr(argument, "value", argument) or 0


class Driver:
    """CUDA's, over host memory: addresses of `device` are of that one; others are the host's."""

    def __init__(self):
        self.calls, self.context, self.places, self.rooms, self.freed = [], CONTEXT, {}, [], []

    def of(self, array, device=HERE):
        self.places[array.ctypes.data] = device
        return array

    def cuCtxGetDevice(self, to):
        to._obj.value = HERE
        return 0

    def cuCtxGetCurrent(self, to):
        to._obj.value = self.context
        return 0

    def cuCtxSynchronize(self):
        self.calls.append("wait for all")
        return 0

    def cuMemAlloc_v2(self, to, nbytes):
        self.rooms.append(ctypes.create_string_buffer(number(nbytes)))
        to._obj.value = ctypes.addressof(self.rooms[-1])
        return 0

    def cuMemFree_v2(self, at):
        self.freed.append(number(at))
        return 0

    def cuStreamSynchronize(self, stream):
        self.calls.append(("wait for", number(stream)))
        return 0

    def cuPointerGetAttribute(self, to, which, at):
        if number(at) not in self.places:
            return 1
        to._obj.value = 2 if number(which) == 2 else self.places[number(at)]
        return 0

    def _copy(self, to, at, nbytes, stream):
        self.calls.append(("copy in", number(stream)))
        ctypes.memmove(number(to), at if isinstance(at, ctypes.Array) else number(at), number(nbytes))
        return 0

    cuMemcpyDtoDAsync_v2 = cuMemcpyHtoDAsync_v2 = _copy

    def cuMemcpyDtoHAsync_v2(self, to, at, nbytes, stream):
        self.calls.append(("copy in", number(stream)))
        ctypes.memmove(to, number(at), number(nbytes))
        return 0


class OnDevice:
    """An array that speaks DLPack: as torch's, refuses a stream on hosts; it keeps the arguments of its calls."""

    def __init__(self, array, device=_arrays.CUDA, takes_stream=True, dtype=None):
        self.array, self.kind, self.takes_stream, self.asked = array, device, takes_stream, []
        self.dtype_name = dtype or {"float32": "f32", "float16": "f16", "float64": "f64"}[array.dtype.name]

    def __dlpack_device__(self):
        return self.kind, HERE

    def __dlpack__(self, **asked):
        if asked and not (self.takes_stream and self.kind == _arrays.CUDA):
            raise TypeError("unexpected keyword argument 'stream'")
        self.asked.append(asked)
        lent = _arrays.Lent(self.array.ctypes.data, self.array.shape, self.dtype_name, (self.kind, HERE), self.array)
        capsule = lent.__dlpack__()
        strides = [s // self.array.itemsize for s in self.array.strides]
        managed = ctypes.cast(_arrays.pointer_of(capsule, _arrays.NEW), ctypes.POINTER(_arrays.Managed)).contents
        for k, stride in enumerate(strides):
            managed.tensor.strides[k] = stride
        return capsule

    def contiguous(self):
        self.copied = OnDevice(DRIVER.of(np.ascontiguousarray(self.array)), self.kind, self.takes_stream)
        return self.copied


class Interface:
    def __init__(self, array, **more):
        self.array = array
        described = dict(array.__array_interface__, **more)
        described.pop("descr", None)
        self.__cuda_array_interface__ = described


DRIVER = Driver()


class Case(unittest.TestCase):
    def setUp(self):
        global DRIVER
        DRIVER = Driver()

    def guest(self, fn, rows=None):
        guest = _callable.Guest("py/fn", fn, "numpy", False, rows)
        guest.device = object.__new__(_cuda.Device)
        guest.device.driver = DRIVER
        return guest

    def run_it(self, back, rows=None, stream=STREAM, n=3, code=0):
        """What comes to its place where a callable gives that back."""
        x, out, why = np.zeros((n, 2), np.float32), np.full(n, -7, np.float64 if rows else np.float32), ctypes.create_string_buffer(160)
        number_of = _library.DTYPE_NUMBERS
        call = _library.Call(ctypes.sizeof(_library.Call), 1, number_of["f32"], number_of["f32"], number_of["f64" if rows else "f32"], n, 2,
                             x.ctypes.data, None, out.ctypes.data, None, stream, 0, 0, 0, ctypes.addressof(why), 160, extent=(ctypes.c_uint64 * 4)(1, n, 1, 2))
        guest = self.guest(back, rows)
        guest.make = lambda lent: x
        self.assertEqual(guest.run(ctypes.pointer(call), None), code, why.value)
        return out if code == 0 else why.value.decode()


class Results(Case):
    def setUp(self):
        super().setUp()
        self.sums = DRIVER.of(np.float32([1, 2, 3]))

    def test_dlpack_is_told_the_stream(self):
        for stream, told in ((STREAM, STREAM), (None, 1)):
            value = OnDevice(self.sums)
            np.testing.assert_array_equal(self.run_it(lambda x: value, stream=stream), self.sums)
            self.assertEqual(value.asked, [{"stream": told}])
        self.assertEqual(DRIVER.calls[:3], [("wait for", STREAM), ("copy in", STREAM), ("wait for", STREAM)])

    def test_producer_that_knows_no_stream_is_waited_for(self):
        value = OnDevice(self.sums, takes_stream=False)
        np.testing.assert_array_equal(self.run_it(lambda x: value), self.sums)
        self.assertLess(DRIVER.calls.index("wait for all"), DRIVER.calls.index(("copy in", STREAM)))

    def test_interface_by_version_and_stream(self):
        for more, before in (({"version": 3, "stream": 5}, [("wait for", 5)]), ({"version": 3, "stream": None}, []),
                             ({"version": 2}, ["wait for all"]), ({"version": 3}, ["wait for all"])):
            DRIVER.calls.clear()
            np.testing.assert_array_equal(self.run_it(lambda x: Interface(self.sums, **more)), self.sums)
            self.assertEqual(DRIVER.calls[1:], before + [("copy in", STREAM), ("wait for", STREAM)], more)

    def test_interface_of_bf16(self):
        bits = DRIVER.of(np.uint16([0x3F80, 0x4000, 0x4040]))
        for dtype in ("bfloat16", "torch.bfloat16"):
            value = Interface(bits, version=3, stream=1, typestr="<V2")
            value.dtype = dtype
            self.assertEqual(_see.see(value).dtype, "bf16")
        self.assertEqual(self.run_it(lambda x: value, code=1), "its results are of bf16, and not of f32")

    def test_strided_results(self):
        wide = DRIVER.of(np.float32([1, 9, 2, 9, 3, 9]))
        value = OnDevice(wide[::2])
        np.testing.assert_array_equal(self.run_it(lambda x: value), [1, 2, 3])
        self.assertEqual(value.copied.asked, [{"stream": STREAM}])
        for strided in (wide[::2], wide[4::-2], np.broadcast_to(wide[:1], 3)):
            tight = _see.tight(_see.see(strided))
            self.assertEqual(ctypes.string_at(tight.at, tight.nbytes), strided.tobytes())

    def test_managed_memory(self):
        value = OnDevice(self.sums, _arrays.CUDA_MANAGED)
        np.testing.assert_array_equal(self.run_it(lambda x: value), self.sums)

    def test_part_of_a_graph(self):
        class Learnt:
            requires_grad = True
            detach = staticmethod(lambda: OnDevice(self.sums))
            __dlpack__ = None

        np.testing.assert_array_equal(self.run_it(lambda x: Learnt()), self.sums)

    def test_what_is_elsewhere(self):
        for value, words in (
            (np.float32([1, 2, 3]), "its results are on the host, its input is not"),
            (OnDevice(np.float32([1, 2, 3]), _arrays.CPU), "its results are on the host, its input is not"),
            (OnDevice(np.float32([1, 2, 3]), _arrays.CUDA_HOST), "its results are on the host, its input is not"),
            (OnDevice(np.float32([1, 2, 3]), 10), "its results are on the host, its input is not"),
            (OnDevice(np.float32([1, 2, 3])), "its results are at an address that CUDA does not know"),
            (OnDevice(DRIVER.of(np.float32([1, 2, 3]), 1)), "its results are on CUDA's device 1, its input on 0"),
            (OnDevice(DRIVER.of(np.float64([1, 2, 3]))), "its results are of f64, and not of f32"),
            (OnDevice(DRIVER.of(np.float32([1, 2]))), "its results have shape (2,), and not (3,): one result for each row"),
        ):
            self.assertEqual(self.run_it(lambda x: value, code=1), words)

    def test_another_context_left(self):
        def leaves(x):
            DRIVER.context = CONTEXT + 1
            return OnDevice(self.sums)

        self.assertIn("another device, or context", self.run_it(leaves, code=1))

    def test_failing_driver(self):
        DRIVER.cuMemcpyDtoDAsync_v2 = lambda *_: 700
        self.assertIn("cuMemcpyDtoDAsync_v2 failed with error 700", self.run_it(lambda x: OnDevice(self.sums), code=1))

    def test_rows_by_their_hashes(self):
        table = DRIVER.of(np.float32([[1, 2], [1, 2], [2, 1]]))
        one, two, three = self.run_it(lambda x: OnDevice(table), Rows(None))
        self.assertEqual(one, two)
        self.assertNotEqual(one, three)
        self.assertFalse(np.isnan([one, two, three]).any())
        self.assertIn("and not (3, ...): one result for each row", self.run_it(lambda x: OnDevice(DRIVER.of(np.float32([[1, 2]]))), Rows(None), code=1))

    def test_no_rows(self):
        empty = np.zeros(0, np.float32)
        self.assertEqual(self.run_it(lambda x: OnDevice(empty), n=0).size, 0)
        value = OnDevice(np.zeros((0, 10), np.float32)[:, ::2])
        value.contiguous = lambda: value  # as torch's, which calls it contiguous
        self.assertEqual(self.run_it(lambda x: value, Rows(None), n=0).size, 0)

    def test_an_array_that_has_no_memory_or_no_numbers(self):
        """On the host too, where to read it would end the process, or write beyond the output."""
        class Odd(OnDevice):
            def __dlpack__(self, **asked):
                capsule = super().__dlpack__(**asked)
                tensor = ctypes.cast(_arrays.pointer_of(capsule, _arrays.NEW), ctypes.POINTER(_arrays.Managed)).contents.tensor
                for field, value in self.odd.items():
                    setattr(tensor, field, value)
                return capsule

        nowhere = "has no memory: its address is 0"
        x = np.ones(3, np.float32)
        for odd, words in (({"data": None}, nowhere), ({"data": None, "byte_offset": 64}, nowhere), ({"lanes": 2}, "vectors of 2"), ({"lanes": 0}, "vectors of 0")):
            array = Odd(x, _arrays.CPU)
            array.odd = odd
            with self.subTest(odd), self.assertRaisesRegex(TypeError, words):
                _see.see(array)
        with self.assertRaisesRegex(TypeError, nowhere):
            _see.see(Interface(x, data=(0, False)))
        self.assertEqual(_see.see(Interface(x[:0], data=(0, False))).size, 0)


class Inputs(unittest.TestCase):
    def test_jax_gets_aligned_copies(self):
        guest = _callable.Guest("py/fn", None, "numpy", False)
        guest.like = "jax"
        x = np.arange(100, dtype=np.float32)
        call = _library.Call(problem=1, dtype=3, extent=(ctypes.c_uint64 * 4)(1, 2, 1, 4))
        call.stride[0][1], call.stride[0][3] = 4, 1
        for at in range(x.ctypes.data, x.ctypes.data + 200, 4):
            call.in_ = at
            lent = guest._lend(call, 0)
            self.assertEqual(lent.at % 128, 0)
            self.assertEqual(ctypes.string_at(lent.at, 32), ctypes.string_at(at, 32))
        guest.like = "torch"
        call.in_ = x.ctypes.data + 4
        self.assertEqual(guest._lend(call, 0).at, x.ctypes.data + 4)

    def test_a_library_that_is_older(self):
        guest = _callable.Guest("py/fn", None, "numpy", False)
        call = _library.Call(size=_library.Call.extent.offset, problem=1, dtype=3, rows=1, cols=1)
        self.assertEqual(guest.run(ctypes.pointer(call), None), 1)
        self.assertIn("foldproof's library is older than this package", str(guest.stop[0]))

    def test_who_folds_axis_0_gets_a_copy_on_the_device(self):
        global DRIVER
        DRIVER = Driver()
        x = np.arange(6, dtype=np.float32)
        guest = _callable.Guest("py/fn", None, "numpy", False, form=_problem.find("ji->i"))
        guest.device = object.__new__(_cuda.Device)
        guest.device.driver = DRIVER
        call = _library.Call(problem=1, dtype=3, extent=(ctypes.c_uint64 * 4)(1, 2, 1, 3), in_=x.ctypes.data)
        call.stride[0][1], call.stride[0][3] = 3, 1
        for writes in (False, True):
            copy, bring_back = guest._turn(guest._lend(call, 0), call, 0)
            self.assertEqual((copy.shape, copy.strides, copy.device, copy.at % 256), ((3, 2), (2, 1), (_arrays.CUDA, HERE), x.ctypes.data % 256))
            array = guest.make(copy)
            np.testing.assert_array_equal(array, x.reshape(2, 3).T)
            array[2, 0] += 7 * writes
            bring_back()
            np.testing.assert_array_equal(x, np.arange(6) + 7 * writes * (np.arange(6) == 2))
            del array, copy
            self.assertEqual(len(DRIVER.freed), len(DRIVER.rooms))

    def test_frameworks_that_fit_a_device(self):
        for like, cuda in (("numpy", True), ("jaxx", False)):
            with self.assertRaises(ValueError):
                _arrays.pick(like, cuda)
        with self.assertRaises((ValueError, _arrays.Unavailable)):  # as frameworks are installed: test_told.py
            _arrays.pick(None, True)
        sys.modules["cupy"] = sys.modules[__name__]
        try:
            self.assertEqual((_arrays.pick(None, True), _arrays.pick(None)), ("cupy", "numpy"))
        finally:
            del sys.modules["cupy"]


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
