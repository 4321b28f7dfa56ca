#!/usr/bin/env python3
"""A time limit: the shortest cases come first, and what is left is skipped, said and counted.

test_budget.py LIBRARY FIXTURES SANITIZERS
"""
import time
import unittest

import here  # noqa: F401
import importable
from importable import to_import

import foldproof

CASES = "normal/f32/sum/*"
REASON = "left out: the time limit of {} s"


def slow(seconds):
    def fn(x):
        time.sleep(seconds)
        return x.sum(-1)

    return fn


def judge(fn, seconds, fixtures=CASES, claims="bounded,run_to_run", **more):
    begun = time.monotonic()
    result = foldproof.judge(fn, like="numpy", fixtures=fixtures, claims=claims, seconds=seconds, **more)
    return result, time.monotonic() - begun


class Budget(unittest.TestCase):
    def test_what_is_left_is_skipped_and_counted(self):
        result, took = judge(slow(0.01), 4)
        self.assertLess(took, 60)
        left = [r for r in result.judgements if r.get("reason") == REASON.format(4)]
        self.assertGreater(len(left), 100)
        self.assertEqual({r["verdict"] for r in left}, {"skipped"})
        self.assertEqual(sum(result.left_out.values()), len(left))
        self.assertIn(f"{len(left)} {REASON.format(4)}", repr(result))
        self.assertGreater(result.counts["held"], 4)
        terms = [r["rows"] * r["cols"] for r in result.judgements]
        self.assertEqual(terms, sorted(terms))

    def test_a_case_is_not_judged_to_its_end(self):
        """One that takes far longer than the limit. Nothing of what was not tried is held."""
        result, took = judge(slow(1), 3, fixtures="normal/f32/sum/1x1023/seed1", claims="run_to_run,alignment_invariant,batch_invariant")
        self.assertLess(took, 30)
        cut = {r["claim"]: r["verdict"] for r in result.judgements if r.get("reason") == REASON.format(3)}
        self.assertEqual(cut["alignment_invariant"], "skipped")
        self.assertEqual(cut["batch_invariant"], "skipped")
        self.assertNotIn("refuted", cut.values())

    def test_a_refutation_before_the_limit_stays(self):
        def wrong(x):
            time.sleep(0.01)
            return x.sum(-1) * 2

        result, _ = judge(wrong, 4)
        with self.assertRaises(foldproof.Refuted) as caught:
            result.check()
        self.assertIn(REASON.format(4), str(caught.exception))

    def test_the_usual_limit_leaves_nothing_out(self):
        result = foldproof.judge(lambda x: x.sum(-1), like="numpy", fixtures=CASES)
        self.assertEqual(result.left_out, {})

    def test_no_limit(self):
        result, _ = judge(slow(0), 0)
        self.assertEqual(result.left_out, {})
        with self.assertRaisesRegex(ValueError, "seconds=-1"):
            judge(slow(0), -1)

    def test_a_new_process_keeps_to_the_limit(self):
        begun = time.monotonic()
        result = importable.judge(to_import.slow_elsewhere, "fresh_process", only="fresh_process", fixtures=CASES, seconds=8)
        self.assertLess(time.monotonic() - begun, 90)
        self.assertIn("skipped", result.verdicts["fresh_process"], result)
        self.assertNotIn("broken", result.verdicts["fresh_process"], result)
        self.assertGreater(result.left_out["fresh_process"], 10)


if __name__ == "__main__":
    unittest.main(argv=["test_budget"])
