#!/usr/bin/env python3
"""How often a callable is run when it is judged: what costs most is done for each kind of input, and not for each input.

test_cost.py LIBRARY FIXTURES SANITIZERS
"""
import collections
import os
import tempfile
import unittest

import here  # noqa: F401
import importable
from importable import to_import

import foldproof

LENGTHS = "normal/f32/sum/*,uniform/f32/sum/*,constant/f32/sum/*,integers/f32/sum/*"
QUIET = 3  # repeats


class Runs(unittest.TestCase):
    def test_each_kind_of_case_is_repeated_on_a_busy_machine_and_not_each_case(self):
        """Kinds: one row or few or many, and the power of two of the number of terms."""
        runs, shapes = collections.Counter(), {}

        def counted(x):
            what = hash(x.tobytes()), x.shape
            runs[what] += 1
            return x.sum(-1)

        result = foldproof.judge(counted, like="numpy", claims="run_to_run", only="run_to_run", fixtures=LENGTHS)
        self.assertEqual(result.counts["refuted"] + result.counts["broken"], 0)
        for r in result.judgements:
            shapes[r["rows"], r["cols"]] = (r["rows"] > 1) + (r["rows"] > 4), (r["rows"] * r["cols"]).bit_length()
        # Shorter rows may be equal in several cases, and longer inputs are run less often.
        unseen = {kind for (rows, cols), kind in shapes.items() if cols < 3 or not 0 < rows * cols < 4096}
        shapes = {shape: kind for shape, kind in shapes.items() if kind not in unseen}
        often, kinds = collections.Counter(), set(shapes.values())
        for (_, shape), n in runs.items():
            if shape in shapes and n > 1 + QUIET:
                often[shapes[shape]] += 1
        self.assertGreater(len(kinds), 12)
        self.assertEqual(set(often), kinds)
        self.assertLessEqual(max(often.values()), 4)

    def test_who_asks_for_more_repeats_gets_them_in_all_cases(self):
        runs = collections.Counter()

        def counted(x):
            runs[x.tobytes()] += 1
            return x.sum(-1)

        foldproof.judge(counted, like="numpy", claims="run_to_run", only="run_to_run", fixtures="normal/f32/sum/1x102*", repeats=QUIET + 1)
        self.assertGreater(len([n for n in runs.values() if n > 1 + QUIET + 1]), 4)  # more than that on a busy machine

    def test_one_case_is_always_repeated_on_a_busy_machine(self):
        """As the line that repeats a refutation has it."""
        runs = collections.Counter()

        def counted(x):
            runs[x.tobytes()] += 1
            return x.sum(-1)

        foldproof.judge(counted, like="numpy", claims="run_to_run", only="run_to_run", fixtures="normal/f32/sum/1x1023/seed1")
        self.assertGreater(max(runs.values()), 1 + QUIET)

    def test_a_new_process_runs_each_case_once_after_another_input(self):
        with tempfile.NamedTemporaryFile() as file:
            os.environ["COUNTED_ELSEWHERE"] = file.name
            try:
                result = importable.judge(to_import.counted_elsewhere, "fresh_process", only="fresh_process")
            finally:
                del os.environ["COUNTED_ELSEWHERE"]
            n = len(file.read())
        held = [r for r in result.judgements if r["verdict"] == "held"]
        self.assertGreater(len(held), 3)
        self.assertGreaterEqual(n, len(held))
        self.assertLessEqual(n, 2 * len(result.judgements))


if __name__ == "__main__":
    unittest.main(argv=["test_cost"])
