#!/usr/bin/env python3
"""launch_invariant of a callable: new processes whose libraries take their number of threads from variables.

test_threads.py LIBRARY FIXTURES SANITIZERS
"""
import os
import unittest
import unittest.mock

import importable
from importable import to_import

import foldproof

LONG = "uniform/f32/sum/4x16384/*"


def verdicts(fn, fixtures=LONG, **more):
    result = importable.judge(fn, "launch_invariant", only="launch_invariant", fixtures=fixtures, **more)
    return {(r["verdict"], r.get("reason")) for r in result.judgements}, result


class Threads(unittest.TestCase):
    def test_one_way_for_any_number(self):
        found, _ = verdicts(to_import.row_sum)
        self.assertEqual(found, {("held", "in new processes with 1, 2 and 4 threads by OMP_NUM_THREADS and others")})

    def test_another_order_by_a_variable(self):
        for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "POLARS_MAX_THREADS"):
            with unittest.mock.patch.dict(os.environ, {"COUNTED_BY": name}):
                found, result = verdicts(to_import.by_threads)
            ((verdict, reason),) = found
            self.assertEqual((verdict, reason), ("refuted", "different bits in a new process with OMP_NUM_THREADS=2, and the same of OPENBLAS, MKL and others"))
            with self.assertRaises(foldproof.Refuted) as caught:
                result.check()
            self.assertNotEqual(caught.exception.got, caught.exception.want)

    def test_other_bits_of_each_process_are_not_blamed_on_threads(self):
        found, _ = verdicts(to_import.by_shift)
        self.assertEqual({verdict for verdict, _ in found}, {"held"})

    def test_one_that_fails_there_is_broken(self):
        with unittest.mock.patch.dict(os.environ, {"COUNTED_BY": "fails"}):
            ((verdict, reason),) = verdicts(to_import.by_threads)[0]
        self.assertEqual(verdict, "broken")
        self.assertIn("RuntimeError: no threads", reason)

    def test_short_inputs_and_what_no_process_can_import_are_skipped(self):
        found, _ = verdicts(to_import.row_sum, fixtures=f"{LONG},uniform/f32/sum/4x257/*")
        self.assertIn(("skipped", "libraries share only long inputs among threads: cases of 4,096 terms or more judge this"), found)
        ((verdict, reason),) = verdicts(lambda x: x.sum(-1))[0]
        self.assertEqual(verdict, "skipped")
        self.assertIn("define it as a function of a module", reason)


if __name__ == "__main__":
    unittest.main(argv=["test_threads"])
