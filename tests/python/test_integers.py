#!/usr/bin/env python3
"""Functions of integers: sums that wrap or lose units, in 32 bits and in floats.

test_integers.py LIBRARY FIXTURES SANITIZERS
"""
import sys
import unittest

import here  # noqa: F401
import numpy as np
from test_problems import Case, judge

import foldproof


class Integers(Case):
    """Sums of integers are right or wrong: NumPy adds i32 in i64, unless dtype= says otherwise."""

    CASES = "integers/*,full_range/*,overflow_sum/*"

    def judge(self, fn, dtypes, **more):
        return judge(fn, "sum", ",".join(f"{name.split('/')[0]}/{dtypes}/sum/*" for name in self.CASES.split(",")), dtypes=dtypes, **more)

    def test_sums(self):
        self.assert_held(self.judge(lambda x: x.sum(-1), "i32", result="i64"))
        self.assert_held(self.judge(lambda x: x.sum(-1, dtype="i4"), "i32", wraps=True))
        self.assert_held(self.judge(lambda x: x.sum(-1), "i64", wraps=True))
        wrapped = self.judge(lambda x: x.sum(-1, dtype="i4").astype("i8"), "i32", result="i64")
        self.assertIn("wrapped", " ".join(r.get("reason", "") for r in wrapped.judgements if r["verdict"] == "refuted"))
        with self.assertRaisesRegex(foldproof.Refuted, r"got -?\d+, want -?\d+"):
            wrapped.check()
        self.assertTrue(self.refuted(self.judge(lambda x: x.sum(-1, dtype="f4").astype("i8"), "i32", result="i64")))
        self.assertTrue(self.refuted(self.judge(lambda x: x.astype("f8").sum(-1).astype("i8"), "i64", wraps=True)))

    def test_keyed_sums(self):
        def added(values, keys, slots):
            sums = np.zeros((slots, *values.shape[1:]), values.dtype)
            np.add.at(sums, keys, values)
            return sums

        for dtype in ("i32", "i64"):
            cases = f"integers/{dtype}/keyed/*"
            self.assert_held(judge(added, "keyed", cases, dtypes=dtype))
            self.assertTrue(self.refuted(judge(lambda v, k, m: added(v[:-1], k[:-1], m), "keyed", cases, dtypes=dtype)))

    def test_results_of_the_usual_type_are_asked_for(self):
        result = self.judge(lambda x: x.sum(-1), "i32")
        self.assertEqual({r["reason"] for r in result.judgements if r["verdict"] == "broken"}, {"its results are of i64, and not of i32"})

    def test_data(self):
        x = np.int32([[2_000_000_000] * 3, [1, 2, 3]])
        self.assertEqual(foldproof.judge(lambda x: x.sum(-1), result="i64", data=x, claims="bounded", like="numpy").verdicts["bounded"]["held"], 1)
        refuted = foldproof.judge(lambda x: x.sum(-1, dtype="i4").astype("i8"), result="i64", data=x, claims="bounded", like="numpy")
        self.assertIn("1705032704 is 6000000000 - 2^32", refuted.judgements[0]["reason"])

    def test_the_exact_sum(self):
        x = np.int32([2_000_000_000, 2_000_000_000, 2_000_000_000])
        np.testing.assert_array_equal(foldproof.exact(x, to="i64"), [6_000_000_000])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
