"""Each claim that a caller names of a callable is held, refuted or skipped with its reason, or refused by its name before anything runs."""
import sys
import unittest

import here  # noqa: F401, I001
import numpy as np

import foldproof
from foldproof import _library

SUMS = "normal/f32/sum/3x1000/seed1,tree/f32/sum/1x17/*"
KINDS = {
    "rows": ("rows", lambda x: x.sum(-1), SUMS),
    "sum": ("sum", lambda x: x.sum(-1), SUMS),
    "dot": ("dot", lambda x, y: np.einsum("rc,rc->r", x, y), "normal/f32/dot/1x127/*"),
    "max": ("max", lambda x: x.max(-1, initial=-np.inf), "nan_last/f32/max/1x1001/*"),
}
CLAIMS = _library.claims_of("*")


class Asked(unittest.TestCase):
    def check(self, kind, claim, result):
        found = [record for record in result.judgements if record["claim"] == claim]
        self.assertTrue(found, f"{claim} of {kind} vanished")
        for record in found:
            self.assertIn(record["verdict"], ("held", "refuted", "skipped"), record)
            self.assertTrue(record["verdict"] != "skipped" or len(record["reason"]) > 8, record)

    def test_each_claim_that_is_judged_alone_has_a_verdict(self):
        for kind, (problem, fn, fixtures) in KINDS.items():
            for claim in CLAIMS:
                with self.subTest(kind=kind, claim=claim):
                    result = foldproof.judge(fn, like="numpy", problem=problem, only=claim, fixtures=fixtures)
                    self.check(kind, claim, result)

    def test_each_claim_that_is_promised_has_a_verdict_or_is_refused_by_its_name(self):
        for kind, (problem, fn, fixtures) in KINDS.items():
            for claim in CLAIMS:
                with self.subTest(kind=kind, claim=claim):
                    try:
                        result = foldproof.judge(fn, like="numpy", problem=problem, claims=["stays_in_bounds", claim], fixtures=fixtures)
                    except ValueError as error:
                        self.assertRegex(str(error), claim if "ranks" not in str(error) else "about ranks")
                    else:
                        self.check(kind, claim, result)

    def test_a_plain_sum_is_judged_by_the_bound_of_kahans_method(self):
        by = dict(like="numpy", fixtures="constant/f32/sum/1x4097/*")
        in_turn = lambda x: x.cumsum(-1)[:, -1] if x.shape[1] else x.sum(-1)  # noqa: E731
        with self.assertRaisesRegex(foldproof.Refuted, "compensated is refuted"):
            foldproof.verify(in_turn, claims="compensated", **by)
        foldproof.verify(in_turn, claims="bounded", **by)

    def test_results_in_f64_of_f32_terms_are_added_in_f64(self):
        wide = dict(like="numpy", result="f64", claims="bounded", fixtures="adversarial_runs/f32/sum/*,normal/f32/sum/3x1000/*")
        foldproof.verify(lambda x: x.sum(-1, dtype="f8"), **wide)
        with self.assertRaises(foldproof.Refuted) as caught:
            foldproof.verify(lambda x: x.sum(-1, dtype="f8"), accumulator="f32", **wide)
        got, want = str(caught.exception).split("got ")[1].split("\n")[0].split(", want ")
        self.assertNotEqual(got.split()[0], want.split()[0])

    def test_a_sum_over_rows_is_noted_and_refuted_by_claims_about_its_error(self):
        over_rows = lambda x: np.ascontiguousarray(x.T).sum(axis=0)  # noqa: E731
        pairwise = lambda x: x.sum(-1)  # noqa: E731
        by = dict(like="numpy", fixtures="constant/f32/sum/2x100000/*")
        (note,) = foldproof.verify(over_rows, **by).notes
        self.assertRegex(note, r"^up to 1.5e\+03 ulps off on well-conditioned sums \(constant/f32/sum/2x100000/seed1\)")
        self.assertEqual(foldproof.verify(pairwise, **by).notes, [])
        for claim, limit in (("accurate_as", dict(accurate_as="host/pairwise")), ("ulps", dict(ulps=500))):
            foldproof.verify(pairwise, **limit, **by)
            with self.assertRaisesRegex(foldproof.Refuted, f"{claim} is refuted") as caught:
                foldproof.verify(over_rows, **limit, **by)
            with self.assertRaisesRegex(foldproof.Refuted, f"{claim} is refuted"):
                foldproof.verify(over_rows, claims="run_to_run", **limit, **by)
            self.assertIn(f"{claim}=", caught.exception.replay)
        for wrong, error in ((0, ValueError), ("4", TypeError), (True, TypeError)):
            with self.assertRaises(error):
                foldproof.verify(pairwise, ulps=wrong, **by)
        with self.assertRaisesRegex(ValueError, "value of problem rows is not known"):
            foldproof.verify(pairwise, problem="rows", ulps=4, **by)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
