#!/usr/bin/env python3
"""Nothing judged is no success: if no requested claim was judged in any case, every door says so, whatever else held.

test_nothing.py LIBRARY FIXTURES SANITIZERS
"""
import ctypes
import sys
import unittest

import here  # noqa: F401
import numpy as np

import foldproof
from foldproof import _callable, _library, _verify

FEW = "normal/f32/sum/17x257/*,normal/f32/sum/33x33/*"


def halves(x):
    return x / np.float32(2)


def row_sum(x):
    return x.sum(-1)


def refuses(x):
    raise NotImplementedError("not today")


# Of each: the callable, and what is asked.
NOTHING = {
    "a preset of no claim of rows": (halves, dict(problem="rows", claims="accurate")),
    "two presets of none": (halves, dict(problem="rows", claims="compens*,faith*")),
    "a claim of no fixture here": (row_sum, dict(order="host/sequential", claims="tree")),
    "a claim that a callable cannot break": (row_sum, dict(claims="launch_invariant,writes_output")),
    "a process that cannot be made": (lambda x: x.sum(-1), dict(claims="fresh_process")),
    "no default claim": (refuses, {}),
    "no default claim of rows": (refuses, dict(problem="rows")),
}
SOMETHING = {
    "a claim of several": (row_sum, dict(claims="launch_invariant,bounded")),
    "what is judged of every callable, if it is asked for": (halves, dict(problem="rows", claims="run_to_run", only="keeps_input")),
    "all claims": (lambda x: foldproof.replay("host/sequential", x), dict(claims="promises")),
    "a largest term, which is never rounded": (lambda x: x.max(-1, initial=-np.inf), dict(problem="max", claims="bounded", fixtures="normal/f32/max/*")),
}


class Nothing(unittest.TestCase):
    def asked(self, fn, asked):
        return (fn,), {"like": "numpy", "fixtures": FEW, **asked}

    def test_nothing_that_was_asked_for(self):
        for what, (fn, asked) in NOTHING.items():
            with self.subTest(what):
                args, more = self.asked(fn, asked)
                with self.assertRaises(foldproof.NothingJudged):
                    foldproof.verify(*args, **more)
                with self.assertRaises(foldproof.NothingJudged):
                    foldproof.judge(*args, **more).check()

    def test_something_that_was_asked_for(self):
        for what, (fn, asked) in SOMETHING.items():
            with self.subTest(what):
                args, more = self.asked(fn, asked)
                self.assertGreater(foldproof.verify(*args, **more).counts["held"], 0)

    def test_what_was_not_judged_and_why(self):
        with self.assertRaisesRegex(foldproof.NothingJudged, "no requested claim was judged: bounded, compensated, faithful, correctly_rounded"):
            foldproof.verify(halves, like="numpy", fixtures=FEW, problem="rows", claims="accurate")
        with self.assertRaisesRegex(foldproof.NothingJudged, "not today"):
            foldproof.verify(refuses, like="numpy", fixtures=FEW)

    def test_a_part_of_a_result(self):
        result = foldproof.judge(halves, like="numpy", fixtures=FEW, problem="rows", claims="accurate")
        result.of(claim="keeps_input").check()
        with self.assertRaises(foldproof.NothingJudged):
            result.of(dtype="f32").check()
        with self.assertRaises(foldproof.NothingJudged):
            result.of(claim="bounded").check()

    def test_the_library(self):
        """Its code, without the package's own check."""
        for what, asks in ((name, asks) for asks in (NOTHING, SOMETHING) for name in asks):
            fn, asked = asks[what]
            more = {**dict(problem="sum", order=None, only=None, fixtures=FEW), **asked}
            rows = _verify.Rows(None) if more["problem"] == "rows" else None
            guest = _callable.Guest("py/it", fn, "numpy", False, rows)
            table = _verify._table([guest], problems=more["problem"].encode(), dtypes=b"f32", engine=b"host", result=b"f64" if rows else None,
                                   order=_library.text(more["order"]), claims=_library.text(more.get("claims")))
            unseen = _verify._unseen("numpy")
            options = _library.Options(size=ctypes.sizeof(_library.Options), claims=_library.text(more["only"]), fixtures=more["fixtures"].encode(),
                                       folder=_library.fixtures(), unseen=unseen, n_unseen=len(unseen))
            with guest.quiet():
                code = _library.library().foldproof_verify(ctypes.byref(table), ctypes.byref(options), _library.Take(lambda line, context: 0), None)
            with self.subTest(what):
                self.assertEqual(code, _library.UNSUPPORTED if asks is NOTHING else 0, _library.library().foldproof_error())
                if code:
                    self.assertIn(b"no requested claim was judged", _library.library().foldproof_error())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
