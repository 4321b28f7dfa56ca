#!/usr/bin/env python3
"""Callables of several outputs: outputs= names the judged one, and the bits of the others are compared. test_outputs.py LIBRARY FIXTURES SANITIZERS"""
import sys
import unittest

import here  # noqa: F401
import numpy as np
from importable import FEW, judge, to_import

import foldproof


def verdicts(result, claim, subject="py/two@output1"):
    """Without those on rows that have no terms, which are skipped."""
    return {r["verdict"] for r in result.judgements if r["claim"] == claim and r["subject"] == subject} - {"skipped"}


def two_of(second):
    def two(x):
        return x.sum(-1), second(x)

    return two


def counted():
    calls = []

    def count(x):
        calls.append(1)
        return np.full(len(x), len(calls), "i8")

    return count


class Outputs(unittest.TestCase):
    def refused(self, words, fn, outputs=0, **asked):
        with self.assertRaises((ValueError, TypeError)) as refused:
            judge(fn, outputs=outputs, **asked)
        self.assertIn(words, str(refused.exception))

    def test_both_hold(self):
        result = judge(two_of(lambda x: x * 2), "bounded,run_to_run,batch_invariant", outputs=0).check()
        main, other = sorted({r["subject"] for r in result.judgements})
        self.assertEqual((main, other), ("py/two_of.locals.two", "py/two_of.locals.two@output1"))
        for claim in ("run_to_run", "batch_invariant"):
            self.assertIn("held", verdicts(result, claim, main) & verdicts(result, claim, other))
        self.assertEqual((verdicts(result, "bounded", main), verdicts(result, "bounded", other)), ({"held"}, set()))

    def test_by_key_and_by_index(self):
        for fn, outputs, other in (
            (lambda x: {"mean": x * 2, "sum": x.sum(-1)}, "sum", "f@mean"),
            (lambda x: [x * 2, x.sum(-1)], 1, "f@output0"),
        ):
            result = judge(fn, "bounded,run_to_run", outputs=outputs, name="f").check()
            self.assertEqual({r["subject"] for r in result.judgements}, {"f", other})

    def test_the_named_output_is_judged(self):
        wrong = judge(lambda x: (x.sum(-1), x.sum(-1) + 1), "bounded", outputs=1, name="f")
        self.assertTrue(any(r["verdict"] == "refuted" and r["subject"] == "f" for r in wrong.judgements))
        self.assertEqual(judge(lambda x: (x.sum(-1), x.sum(-1) + 1), "bounded", outputs=0, name="f").counts["refuted"], 0)

    def test_an_output_that_varies_from_run_to_run(self):
        with self.assertRaises(foldproof.Refuted) as refuted:
            judge(two_of(counted()), "bounded,run_to_run", outputs=0, name="py/two").check()
        self.assertEqual((refuted.exception.subject, refuted.exception.claim), ("py/two@output1", "run_to_run"))
        self.assertIn("problem='rows'", refuted.exception.replay)
        self.assertIn("outputs=1", refuted.exception.replay)

    def test_an_output_that_depends_on_the_batch(self):
        fn = two_of(lambda x: np.full(len(x), len(x)))
        result = judge(fn, "bounded,batch_invariant", outputs=0, name="py/two")
        self.assertIn("refuted", verdicts(result, "batch_invariant"))
        self.assertNotIn("refuted", verdicts(result, "batch_invariant", "py/two"))

    def test_a_new_process(self):
        result = judge(to_import.sum_and_process, "bounded,fresh_process", outputs=0, name="py/two")
        self.assertEqual(verdicts(result, "fresh_process"), {"refuted"})
        self.assertEqual(verdicts(result, "fresh_process", "py/two"), {"held"})

    def test_a_twin_of_several_outputs(self):
        same, other = two_of(lambda x: x * 2), two_of(lambda x: x * 3)
        asked = {"claims": "run_to_run", "outputs": 0, "name": "py/two"}
        self.assertEqual(judge(same, same_bits_as=same, **asked).counts["refuted"], 0)
        differ = judge(same, same_bits_as=other, **asked)
        self.assertIn("refuted", verdicts(differ, "same_bits_as"))
        self.assertEqual(verdicts(differ, "same_bits_as", "py/two"), {"held"})
        self.assertEqual(judge(same, same_bits_as=to_import.row_sum, **asked).check().counts["refuted"], 0)

    def test_all_outputs_are_looked_at_for_traces(self):
        kept = []

        def keeps(x):
            kept.append(x * 2)
            return x.sum(-1), kept[-1]

        result = judge(keeps, outputs=0, name="py/two")
        self.assertIn("it keeps its results", "".join(r.get("reason", "") for r in result.judgements))

    def test_no_arrays(self):
        for what in (3.5, None, "text"):
            self.refused(f"output 1 of f is {type(what).__name__}, and no array", lambda x: (x.sum(-1), what), name="f")
        self.refused("output 1 of f has shape (3,), and not (1, ...)", lambda x: (x.sum(-1), np.zeros(3)), name="f", fixtures="constant/f32/sum/1x33/*")

    def test_no_such_output(self):
        self.refused("outputs=2: f returns tuple with outputs 0, 1 only", two_of(lambda x: x), outputs=2, name="f")
        self.refused("outputs='sum': f returns dict with outputs 'total' only", lambda x: {"total": x.sum(-1)}, outputs="sum", name="f")
        self.refused("outputs=0: f returns dict: its outputs have keys", lambda x: {"total": x.sum(-1)}, name="f")
        self.refused("outputs='sum': f returns tuple: its outputs have numbers", two_of(lambda x: x), outputs="sum", name="f")
        self.refused("outputs=0: f returns ndarray, and no tuple or dict", lambda x: x, name="f")

    def test_what_names_no_output(self):
        self.refused("outputs=-1: an index in a tuple, from 0", two_of(lambda x: x), outputs=-1)
        for outputs in (True, 0.5, (0,)):
            self.refused(f"outputs={outputs!r}: a number, the index", two_of(lambda x: x), outputs=outputs)

    def test_problems_without_rows(self):
        for problem in ("matmul", "keyed", "dot", "matvec", "ij,jk->ik", "abc->a"):
            self.refused("outputs=0: the other outputs are compared by the rows", lambda *x: x, problem=problem, fixtures=None)
        self.refused("outputs=0: the other outputs are compared by the rows", lambda *x: x, axis=0)

    def test_several_outputs_that_none_names(self):
        for value, names in ((lambda x: (x, x), "a tuple of 2, and not one array: outputs=0 names"), (lambda x: {"sum": x}, "a dict of 1, and not one array: outputs='sum' names")):
            result = judge(value)
            self.assertGreater(result.counts["broken"], 0)
            self.assertIn(names, result.judgements[0]["reason"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
