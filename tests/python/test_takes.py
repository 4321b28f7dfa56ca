#!/usr/bin/env python3
"""Inputs that a callable does not take are skipped with its own words; what it fails on besides is broken.

test_takes.py LIBRARY FIXTURES SANITIZERS
"""
import unittest

import here  # noqa: F401
import numpy as np

import foldproof
from foldproof import _callable, _library, _problem, _takes

ORDINARY = "normal/f32/sum/1x1023/*,normal/f32/sum/33x33/*"
EMPTY = "uniform/f32/sum/4x0/*"
SPECIAL = "special*"


def judge(fn, fixtures, claims="run_to_run", **more):
    return foldproof.judge(fn, like="numpy", fixtures=fixtures, claims=claims, **more)


def finite_sum(x):
    if not np.isfinite(x).all():
        raise ValueError("Input contains NaN")
    return x.sum(-1)


class Takes(unittest.TestCase):
    def test_rows_of_no_terms(self):
        result = judge(lambda x: x.max(-1), f"{EMPTY},{ORDINARY}", problem="rows")
        self.assertEqual(result.counts["broken"], 0)
        result = judge(lambda x: x.sum(-1) + 0 * x[:, -1], f"{EMPTY},{ORDINARY}", claims="bounded,run_to_run")
        self.assertEqual(result.counts["broken"], 0)
        empty = [r for r in result.judgements if not r["cols"]]
        self.assertEqual({r["verdict"] for r in empty}, {"skipped"})
        self.assertIn("it does not take rows of no terms: IndexError: ", empty[0]["reason"])
        self.assertEqual({r["verdict"] for r in result.judgements if r["cols"]}, {"held"})

    def test_nan_and_infinities(self):
        result = judge(finite_sum, f"{SPECIAL},{ORDINARY}", claims="bounded,run_to_run")
        self.assertEqual((result.counts["broken"], result.counts["refuted"]), (0, 0))
        special = {r.get("reason") for r in result.judgements if r["verdict"] == "skipped"}
        self.assertIn("it does not take NaN or infinity: ValueError: Input contains NaN", special)

    def test_runs_with_nan_are_made_without_it(self):
        for claims in ("run_to_run", "batch_invariant", "alignment_invariant"):
            result = judge(finite_sum, ORDINARY, claims=claims, only=claims)
            self.assertEqual({r["verdict"] for r in result.judgements}, {"held"}, (claims, result))

    def test_an_ordinary_input_that_fails_is_broken(self):
        def fails(x):
            if x.shape[1] == 33:
                raise ValueError("not of 33")
            return finite_sum(x)

        result = judge(fails, f"{SPECIAL},{ORDINARY},{EMPTY}")
        self.assertEqual({r["cols"] for r in result.judgements if r["verdict"] == "broken"}, {33})

    def test_finite_gives_none(self):
        seen = []

        def watched(x):
            seen.append(bool(np.isfinite(x).all()))
            return x.sum(-1)

        result = judge(watched, f"{SPECIAL},{ORDINARY}", claims="run_to_run,batch_invariant,alignment_invariant,bounded", finite=True)
        self.assertTrue(all(seen))
        self.assertEqual((result.counts["broken"], result.counts["refuted"]), (0, 0))
        self.assertIn("it takes finite terms only", {r.get("reason") for r in result.judgements if r["verdict"] == "skipped"})
        seen.clear()
        judge(watched, ORDINARY)
        self.assertFalse(all(seen))

    def test_a_sum_that_skips_nan_gets_none(self):
        seen = []

        def skips(x):
            seen.append((bool(np.isnan(x).any()), bool(np.isinf(x).any())))
            return np.nansum(x, -1)

        claims = "run_to_run,batch_invariant,alignment_invariant,bounded"
        result = judge(skips, f"{SPECIAL},{ORDINARY}", claims=claims, nan="skips")
        self.assertEqual((any(nan for nan, _ in seen), any(inf for _, inf in seen)), (False, True))
        self.assertEqual((result.counts["broken"], result.counts["refuted"]), (0, 0))
        self.assertIn("it skips NaN", {r.get("reason") for r in result.judgements if r["verdict"] == "skipped"})
        with self.assertRaises(foldproof.Refuted):
            foldproof.verify(skips, fixtures=SPECIAL, claims="bounded")
        with self.assertRaises(foldproof.Refuted):  # what it does to other terms is judged
            foldproof.verify(lambda x: np.nansum(x[:, 1:], -1), fixtures=ORDINARY, claims="bounded", nan="skips")
        with self.assertRaisesRegex(ValueError, "nan='ignores': 'skips'"):
            judge(skips, ORDINARY, nan="ignores")

    def test_a_kept_result_is_found_without_nan(self):
        kept = {}

        def keeps(x):
            finite_sum(x)
            key = x.__array_interface__["data"], x.shape
            if key not in kept:
                kept[key] = x.sum(-1)
            return kept[key].copy()

        result = judge(keeps, "normal/f32/sum/1x1023/*", only="run_to_run")
        self.assertEqual({r["verdict"] for r in result.judgements}, {"refuted"}, result)

    def test_a_neighbour_is_found_without_nan(self):
        def leaks(x):
            finite_sum(x)
            sums = x.sum(-1)
            return sums + np.roll(sums, 1) * np.float32(1e-9)

        for finite in (False, True):
            result = judge(leaks, ORDINARY, claims="batch_invariant", only="batch_invariant", finite=finite)
            self.assertEqual({r["verdict"] for r in result.judgements}, {"refuted"}, result)

    def test_a_mean_gets_a_hint(self):
        for fn, hint in ((lambda x: x.mean(-1), True), (lambda x: x.sum(-1) * 2, False), (lambda x: x.sum(-1, dtype="f2").astype("f4"), False)):
            with self.assertRaises(foldproof.Refuted) as caught:
                judge(fn, "normal/f32/sum/1x1*", claims="bounded").check()
            self.assertEqual("it seems to be a mean, and was judged as a sum: say problem='rows'" in str(caught.exception), hint)

    PRODUCTS = "normal/f32/matmul/3x4x5x33/*,normal/f32/matmul/7x9x33/*,normal/f32/matmul/1x17x257/*"

    def product(self, fn, problem="matmul", **more):
        """The reasons why cases were skipped, of a product that nothing refutes."""
        result = judge(fn, self.PRODUCTS, "bounded", problem=problem, only="bounded", **more)
        self.assertEqual((result.counts["refuted"], result.counts["broken"]), (0, 0), result)
        self.assertGreater(result.counts["held"], 1)
        return {r["reason"] for r in result.judgements if r["verdict"] == "skipped"}

    def test_products_that_are_not_taken_are_skipped(self):
        def of_one_batch(a, b):
            if a.ndim > 2:
                raise ValueError("one batch")
            return a @ b

        def contiguous(a, b):
            if not (a.flags.c_contiguous and b.flags.c_contiguous):
                raise ValueError("contiguous")
            return a @ b

        def as_contiguous(x):
            """Reads the memory of a view as if it were contiguous."""
            return np.lib.stride_tricks.as_strided(x, strides=np.empty(x.shape, x.dtype).strides)

        def careless(a, b):
            return as_contiguous(a) @ as_contiguous(b)

        self.assertEqual(self.product(lambda a, b: a @ b), set())
        self.assertEqual(self.product(of_one_batch), {"it takes no batches: ValueError: one batch"})
        self.assertEqual(self.product(contiguous), {"it takes contiguous inputs only: ValueError: contiguous"})
        self.assertEqual(self.product(lambda a, b: a @ b, strides=False), {"it takes contiguous inputs only"})
        self.assertEqual(self.product(lambda a, b: a @ b.T, "ij,kj->ik"), {"its signature has no batches"})
        self.assertEqual(self.product(careless, strides=False), {"it takes contiguous inputs only"})
        refuted = judge(careless, self.PRODUCTS, "bounded", problem="matmul")
        self.assertEqual({"layout" in r for r in refuted.judgements if r["verdict"] == "refuted"}, {True})
        with self.assertRaisesRegex(foldproof.Refuted, "it is wrong on inputs that are not contiguous, and on no others; strides=False"):
            refuted.check()

    def test_products_that_are_refused_at_times_only(self):
        """What it raises for the small product alone, or only now and then, does not say what it takes."""
        refused = []

        def of_no_trial(a, b):
            if a.size <= 8 and not a.flags.c_contiguous:
                raise ValueError("small")
            return a @ b if a.flags.c_contiguous else 0 * (a @ b)

        def twice(a, b):
            if not a.flags.c_contiguous and len(refused) < 2:  # of a case, and of the first small product
                refused.append(1)
                raise ValueError("at first")
            return a @ b

        self.assertGreater(judge(of_no_trial, self.PRODUCTS, "bounded", problem="matmul").counts["refuted"], 0)
        result = judge(twice, self.PRODUCTS, "bounded", problem="matmul")
        self.assertIn("ValueError: at first", {r.get("reason") for r in result.judgements if r["verdict"] == "broken"})

    def test_a_product_that_always_fails_is_broken(self):
        broken = judge(lambda a, b: a @ missing, self.PRODUCTS, "bounded", problem="matmul")  # noqa: F821
        self.assertIn("NameError: name 'missing' is not defined", {r.get("reason") for r in broken.judgements})
        self.assertFalse([r for r in broken.judgements if "takes" in r.get("reason", "")])

    def reason(self, fn, dtype, tried):
        """Why products of a dtype are skipped where the callable raises; None if they are judged."""
        guest = _callable.Guest("py/fn", fn, "numpy", False, form=_problem.find("matmul"))
        number = _library.DTYPE_NUMBERS[dtype]
        call = _library.Call(problem=_takes.PROBLEM.number, dtype=number, result=number, extent=(_library.c_uint64 * 4)(1, 1, 1, 1))
        return _takes.Takes(guest, tried, True).why_not(call, dtype) or None

    def test_dtypes_of_products(self):
        def singles(a, b):
            if a.dtype != np.float32:
                raise TypeError("f32, please")
            return a @ b

        tried = ["f32", "f16", "f64"]
        self.assertEqual([self.reason(lambda a, b: a @ b, dtype, tried) for dtype in tried], [None] * 3)
        self.assertEqual(self.reason(singles, "f16", tried), "it takes no f16: TypeError: f32, please")
        self.assertEqual(self.reason(lambda a, b: (a @ b).astype("f4"), "f16", tried), "it takes no f16: its results are of f32, and not of f16")
        self.assertIsNone(self.reason(singles, "f32", tried))
        self.assertIsNone(self.reason(singles, "f16", ["f32"]))  # asked for by the caller: judged
        self.assertIsNone(self.reason(lambda a: a, "f16", tried))  # it fails on f32, too


if __name__ == "__main__":
    unittest.main(argv=["test_takes"])
