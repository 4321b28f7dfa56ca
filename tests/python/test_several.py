#!/usr/bin/env python3
"""What a refutation says where several claims, or several cases, are refuted. test_several.py LIBRARY FIXTURES SANITIZERS"""
import ctypes
import signal
import sys
import unittest

import here  # noqa: F401
import numpy as np

import foldproof

CASES = "normal/f32/sum/17x257/*,normal/f32/sum/1x1023/*,normal/f32/sum/1x31/*,normal/f32/sum/33x33/*"


def refutation(fn, **asked):
    try:
        foldproof.verify(fn, **{"like": "numpy", "fixtures": CASES, "claims": "bounded,run_to_run", **asked})
    except foldproof.Refuted as refuted:
        return refuted
    raise AssertionError("it held")


def unsteady_sum():
    calls = []

    def unsteady(x):
        calls.append(1)
        return x.sum(-1) + np.float32(len(calls))

    return unsteady


class Several(unittest.TestCase):
    def setUp(self):
        self.addCleanup(signal.signal, signal.SIGUSR1, signal.getsignal(signal.SIGUSR1))

    def test_values_come_first_and_traces_last(self):
        fn, calls = unsteady_sum(), []

        def worst(x):
            calls.append(1)
            signal.signal(signal.SIGUSR1, lambda *_: None)
            return fn(x)

        refuted = refutation(worst)
        self.assertEqual(refuted.claim, "bounded")
        self.assertRegex(str(refuted), r"\n  also refuted: bounded \(\d+ more cases\), run_to_run \(\d+ cases\), leaves_no_trace \(\d+ cases\)\n  in all: ")
        refuted = refutation(worst, only="leaves_no_trace,run_to_run")
        self.assertEqual(refuted.claim, "run_to_run")

    def test_order_comes_before_traces(self):
        def of_batch(x):
            signal.signal(signal.SIGUSR1, signal.SIG_IGN if len(x) > 1 else signal.SIG_DFL)
            return x.sum(-1) if len(x) < 9 else foldproof.replay("host/sequential", np.ascontiguousarray(x))

        refuted = refutation(of_batch, claims="batch_invariant")
        self.assertEqual(refuted.claim, "batch_invariant")
        self.assertIn("also refuted: ", str(refuted))

    def test_nothing_else_is_refuted(self):
        self.assertNotIn("also refuted", str(refutation(lambda x: np.zeros(len(x), x.dtype), claims="bounded", fixtures="normal/f32/sum/1x31/seed1")))

    def test_the_smallest_counterexample(self):
        wrong = {"normal/f32/sum/1x31/seed1": 1, "normal/f32/sum/1x1023/seed1": 1, "normal/f32/sum/33x33/seed1": 33}
        for least, name in enumerate(wrong):
            def zeros(x):
                return np.zeros(len(x), x.dtype) if x.size > (0, 31, 1023)[least] else x.sum(-1)

            refuted = refutation(zeros, claims="bounded")
            self.assertEqual((refuted.case, refuted.record["rows"]), (name, wrong[name]))
            self.assertIn(f"fixtures='{name}'", refuted.replay)

    def test_the_order_of_another_case_is_said_to_be_its(self):
        def of_batch(x):
            return x.sum(-1) if len(x) < 9 else foldproof.replay("host/sequential", np.ascontiguousarray(x))

        refuted = refutation(of_batch, claims="batch_invariant", fixtures="normal/f32/sum/17x257/*,normal/f32/sum/33x33/*")
        self.assertEqual(refuted.case, "normal/f32/sum/33x33/seed1")
        self.assertRegex(str(refuted), r"\n  order( on normal/f32/sum/17x257/seed1)?: ")

    def test_state_of_the_first_call_alone(self):
        calls = []

        def sets_up(x):
            if not calls:
                signal.signal(signal.SIGUSR1, lambda *_: None)
            calls.append(1)
            return x.sum(-1)

        once = str(refutation(sets_up))
        self.assertIn("the handler of signal 10", once)
        self.assertIn("set at the first call only: nothing was left changed in the 6 later cases", once)

        def sets_up_c(x):
            if not calls:
                ctypes.CDLL(None).signal(signal.SIGUSR1, ctypes.c_void_p(1))
            calls.append(1)
            return x.sum(-1)

        calls.clear()
        self.assertIn("set once, in the first case only: nothing was left changed", str(refutation(sets_up_c)))

        def each(x):
            signal.signal(signal.SIGUSR1, lambda *_: None)
            return x.sum(-1)

        self.assertNotIn("first call only", str(refutation(each)))

        def later(x):
            calls.append(1)
            if len(calls) == at:
                signal.signal(signal.SIGUSR1, lambda *_: None)
            return x.sum(-1)

        for at in (3, 60):
            calls.clear()
            self.assertNotIn("first call only", str(refutation(later)))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
