#!/usr/bin/env python3
"""The Python package: callables that lie are refuted or broken by name, honest ones hold, and the process is left as it was.

test_python.py LIBRARY FIXTURES SANITIZERS
"""
import ctypes
import ctypes.util
import fractions
import math
import os
import random
import sys
import unittest

import here  # noqa: F401
import numpy as np

import foldproof  # noqa: E402

SOME = "normal/*/sum/1x17/*,normal/*/sum/1x257/*,normal/*/sum/3x1000/*,normal/*/sum/33x33/*,normal/*/sum/17x257/*,rows_past*"
# Of no, of one, of several and of many terms; in one row and in several.
FEW = "constant/*/sum/1x3/*,constant/*/sum/1x300/*,uniform/f32/sum/4x0/*,uniform/f32/sum/4x1/*,uniform/f32/sum/4x17/*,uniform/f32/sum/4x1000/*,uniform/*/sum/4x16384/seed1,zeros_mixed/*/sum/1x300/*,uniform/f32/dot/*"


def handlers_of_faults():
    found = []
    for signal in (7, 11):
        room = ctypes.create_string_buffer(256)
        assert ctypes.CDLL(None).sigaction(signal, None, room) == 0
        found.append(room.raw[:8])  # the handler; of its flags the system sets one of its own
    return found


HANDLERS = handlers_of_faults()  # before anything was judged


def verify(fn, claims=("run_to_run",), fixtures=FEW, **more):
    return foldproof.verify(fn, like="numpy", claims=claims, fixtures=fixtures, **more)


def row_sum(x):
    return x.sum(-1, dtype=np.float32).astype(x.dtype)


def sequential(x):
    total = np.zeros(x.shape[0], x.dtype)
    for k in range(x.shape[1]):
        total = total + x[:, k]
    return total


class Lies(unittest.TestCase):
    def refuted(self, claim, fn, **more):
        with self.assertRaises(foldproof.Refuted) as caught:
            verify(fn, claims=[claim], **more)
        self.assertEqual(caught.exception.claim, claim)
        return caught.exception

    def broken(self, words, fn, **more):
        with self.assertRaises(foldproof.Broken) as caught:
            verify(fn, **more)
        self.assertIn(words, str(caught.exception))
        return caught.exception

    def test_random_results(self):
        error = self.refuted("run_to_run", lambda x: np.random.default_rng().random(x.shape[0]).astype(x.dtype))
        self.assertNotEqual(error.got, error.want)
        self.assertIn(error.case, error.replay)
        self.assertIsInstance(error.row, int)

    def test_state_kept_between_calls(self):
        calls = []

        def counting(x):
            calls.append(0)
            return row_sum(x) + x.dtype.type(len(calls))

        self.refuted("run_to_run", counting)

    def test_order_by_address(self):
        def by_address(x):
            return row_sum(x) if x.ctypes.data % 64 == 0 else row_sum(x[:, ::-1])

        self.refuted("alignment_invariant", by_address, fixtures=SOME)

    def test_order_by_number_of_rows(self):
        self.refuted("batch_invariant", lambda x: row_sum(x) if x.shape[0] > 1 else sequential(x), fixtures="normal/f32/sum/33x33/*")

    def test_wrong_dtype(self):
        self.broken("its results are of f64, and not of f32", lambda x: x.sum(-1, dtype=np.float64))

    def test_wrong_shape(self):
        self.broken("its results have shape", lambda x: x)

    def test_no_array(self):
        self.broken("an array is wanted, and not NoneType", lambda x: None)

    def test_input_changed(self):
        def in_place(x):
            result = row_sum(x)
            x *= 0
            return result

        with self.assertRaises(foldproof.Refuted) as caught:
            verify(in_place)
        self.assertEqual(caught.exception.claim, "keeps_input")

    def test_masked_elements(self):
        few = {"fixtures": "uniform/f32/sum/4x17/*"}
        self.broken("an array is wanted without masked elements", lambda x: np.ma.masked_array(row_sum(x), mask=[1, 0, 0, 0][: len(x)]), **few)
        verify(lambda x: np.ma.masked_array(row_sum(x)), **few)
        with self.assertRaises(TypeError):
            foldproof.exact(np.ma.masked_array([1.0, 2.0], mask=[0, 1]))

    def test_exception_with_its_own_traceback(self):
        def dividing_by_nothing(x):
            return 1 // 0

        error = self.broken("ZeroDivisionError", dividing_by_nothing)
        self.assertIn("in dividing_by_nothing", str(error))
        self.assertIn("return 1 // 0", str(error))
        self.assertNotIn("_verify.py", str(error))

    def test_exceptions_that_cannot_be_told(self):
        class Mute(Exception):
            def __str__(self):
                raise OSError

        class Surrogate(NotImplementedError):
            def __str__(self):
                return "half \ud800 a character"

        class Quitting(Exception):
            def __str__(self):
                raise SystemExit(3)

        def raising(error):
            def fn(x):
                raise error

            return fn

        self.broken("Mute: (its text cannot be told: OSError)", raising(Mute()))
        self.broken("Quitting: (its text cannot be told: SystemExit)", raising(Quitting()))
        with self.assertRaisesRegex(foldproof.NothingJudged, "half .*ud800 a character"):
            verify(raising(Surrogate()))

    def test_results_that_are_no_native_numbers(self):
        self.broken("its results are of big-endian f32, and not of f32", lambda x: row_sum(x).astype(">f4"))
        self.broken("its results are of objects, and not of f32", lambda x: row_sum(x).astype(object))

    def test_nan_on_some_rows(self):
        def nan_on_odd_rows(x):
            result = row_sum(x)
            result[1::2] = np.nan
            return result

        error = self.refuted("bounded", nan_on_odd_rows, fixtures=SOME)
        self.assertEqual(error.row % 2, 1)

    def test_array_kept(self):
        kept = []

        def keeping(x):
            kept.append(x)
            return row_sum(x)

        self.broken("it keeps its input array", keeping)

    def test_variable_of_the_environment_left(self):
        def setting(x):
            ctypes.CDLL(None).setenv(b"FOLDPROOF_LEFT", b"1", 1)
            return row_sum(x)

        with self.assertRaises(foldproof.Refuted) as caught:
            verify(setting)
        self.assertEqual(caught.exception.claim, "leaves_no_trace")
        self.assertIn("FOLDPROOF_LEFT", str(caught.exception))

    def test_reading_past_the_end(self):
        def reading(x):
            beyond = np.lib.stride_tricks.as_strided(x, (x.size + 65536,), (x.itemsize,))
            return row_sum(x) + beyond[-1:] * 0

        with self.assertRaises(foldproof.Refuted) as caught:
            foldproof.judge(reading, like="numpy", fixtures=FEW).of(claim="stays_in_bounds").check()
        self.assertEqual(caught.exception.claim, "stays_in_bounds")

    def test_other_bits_than_a_twin(self):
        self.refuted("same_bits_as", row_sum, same_bits_as=lambda x: np.nextafter(row_sum(x), np.float32(9e9)))

    def test_judging_within_judging(self):
        self.broken("this process is judging already", lambda x: verify(row_sum))


class Honest(unittest.TestCase):
    def test_numpy_sum_holds(self):
        result = verify(row_sum, claims=["bounded", "run_to_run"], dtypes=["f16", "f32"])
        self.assertGreater(result.counts["held"], 10)
        self.assertEqual({"f16", "f32"}, {r["dtype"] for r in result.judgements})
        for claim in ("stays_in_bounds", "leaves_no_trace", "keeps_input", "bounded", "run_to_run"):
            self.assertGreater(result.verdicts[claim]["held"], 0, claim)

    def test_exact_sum_is_correctly_rounded(self):
        result = foldproof.verify(lambda x: foldproof.exact(x), like="numpy", dtypes="f32,f64", claims="correctly_rounded",
                                  fixtures=SOME)
        self.assertGreater(result.counts["held"], 20)

    def test_dot(self):
        result = foldproof.verify(lambda x, y: np.einsum("rc,rc->r", x, y), like="numpy", problem="dot", claims="run_to_run")
        self.assertGreater(result.counts["held"], 10)

    def test_same_bits_as_a_declared_order(self):
        held = verify(lambda x: foldproof.replay("host/sequential", x), claims=["replays"], order="host/sequential")
        self.assertGreater(held.verdicts["replays"]["held"], 0)
        held = verify(row_sum, same_bits_as=lambda x: row_sum(x))
        self.assertGreater(held.verdicts["same_bits_as"]["held"], 0)

    def test_what_is_declared_is_claimed(self):
        usual = {"bounded", "run_to_run", "fresh_process"}
        held = foldproof.judge(row_sum, like="numpy", fixtures=FEW, same_bits_as=lambda x: row_sum(x))
        self.assertLessEqual(usual | {"same_bits_as"}, set(held.verdicts))
        wrong = foldproof.judge(lambda x: foldproof.replay("host/sequential", x), like="numpy", fixtures=FEW, order="host/pairwise")
        self.assertLessEqual(usual | {"replays"}, set(wrong.verdicts))
        self.assertGreater(wrong.verdicts["replays"]["refuted"], 0)

    def test_strided_result(self):
        verify(lambda x: np.repeat(row_sum(x), 2)[::2], claims="bounded")

    def test_all_skipped_is_no_success(self):
        with self.assertRaises(foldproof.NothingJudged):
            foldproof.judge(row_sum, like="numpy", fixtures="constant/f32/sum/1x3/*").of(claim="fresh_process").check()

    def test_unknown_names(self):
        for wrong in ({"claims": "boundd"}, {"dtypes": "f31"}, {"fixtures": "no-such"}, {"problem": "mean"}):
            with self.assertRaises(ValueError, msg=str(wrong)):
                foldproof.verify(row_sum, **wrong)
        with self.assertRaises(ValueError):
            foldproof.verify(row_sum, device="gpu")
        for name in ("é", "py/a b"):
            with self.assertRaisesRegex(ValueError, f"'{name}': a name consists of a-z, A-Z, 0-9 and"):
                verify(row_sum, name=name)

    def test_a_message_on_around_names_the_argument(self):
        with self.assertRaisesRegex(ValueError, "^around=1000000: the largest batch"):
            foldproof.judge(row_sum, around=10**6)

    def test_numbers_that_ctypes_would_wrap(self):
        for wrong in ({"repeats": 0}, {"repeats": 1_000_001}, {"around": [-1]}, {"around": [2**64 + 1]}):
            with self.assertRaisesRegex(ValueError, f"{[*wrong][0]}=.*: 1 to (1000000|4294967295)$"):
                verify(row_sum, **wrong)
        for threads in (-1, 2**32 + 1):
            with self.assertRaisesRegex(ValueError, "threads=.*: 0 to 4294967295"):
                foldproof.exact(np.zeros(1), threads=threads)

    def test_dlpack_of_any_producer(self):
        class Foreign:
            """An array that speaks DLPack alone."""

            def __init__(self, array):
                self.array = array

            def __dlpack__(self, **_):
                return self.array.__dlpack__()

        self.assertGreater(verify(lambda x: Foreign(row_sum(x))).counts["held"], 0)

        class Liar(Foreign):
            def __dlpack_device__(self):
                return 2, 0

        with self.assertRaisesRegex(foldproof.Broken, "this Liar says a CUDA device's memory, while its capsule says host memory"):
            verify(lambda x: Liar(row_sum(x)))


class Left(unittest.TestCase):
    """The caller's process is as it was."""

    def test_handlers_of_faults(self):
        verify(row_sum)
        self.assertEqual(HANDLERS, handlers_of_faults())

    def test_rounding_mode(self):
        libm = ctypes.CDLL(ctypes.util.find_library("m"))
        upward = 0x800 if os.uname().machine == "x86_64" else 0x400000
        self.assertEqual(libm.fesetround(upward), 0)
        try:
            result = foldproof.judge(row_sum, like="numpy", claims="bounded", fixtures=FEW)
            self.assertEqual(libm.fegetround(), upward)
        finally:
            libm.fesetround(0)
        self.assertEqual(result.counts["refuted"], 0)


class Numbers(unittest.TestCase):
    def test_exact_replay_and_measure(self):
        draw = random.Random(20)
        for trial in range(20):
            x = np.array([draw.uniform(-1, 1) * 2.0 ** draw.randrange(-60, 60) for _ in range(draw.randrange(1, 200))])
            exact = sum(map(fractions.Fraction, x.tolist()))
            self.assertEqual(foldproof.exact(x)[0], float(exact))
            self.assertEqual(foldproof.exact(x)[0], math.fsum(x))
            got = foldproof.replay("host/sequential", x)
            self.assertEqual(got[0], sequential(x.reshape(1, -1))[0])
            measured = foldproof.measure(got, x, order="host/sequential")
            error = abs(fractions.Fraction(float(got[0])) - exact)
            self.assertTrue(error <= fractions.Fraction(measured.error) <= fractions.Fraction(measured.bound) or error == 0)

    def test_rows_dtypes_and_operations(self):
        x = np.arange(12, dtype=np.float16).reshape(3, 4)
        np.testing.assert_array_equal(foldproof.exact(x, "max"), np.float16([3, 7, 11]))
        self.assertEqual(foldproof.exact(x, to="f64").dtype, np.float64)
        x.flags.writeable = False
        np.testing.assert_array_equal(foldproof.exact(x), np.float16([6, 22, 38]))
        for wrong in (x.astype(np.uint16), np.zeros((2, 2, 2)), [1.0], x.astype(">f2"), x.astype(object)):
            with self.assertRaises((TypeError, ValueError)):
                foldproof.exact(wrong)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
