#!/usr/bin/env python3
"""foldproof.exact, foldproof.replay and foldproof.measure of problems by their names and signatures.

test_exact.py LIBRARY FIXTURES SANITIZERS
"""
import importlib.util
import unittest

import here  # noqa: F401
import numpy as np

import foldproof

RNG = np.random.default_rng(7)


def whole(*shape, dtype="f4"):
    """Numbers below 2^11, so that f64 holds each sum of products."""
    return RNG.integers(-2047, 2048, shape).astype(dtype)


A, B, BATCHES, MORE = whole(3, 150), whole(150, 4), whole(2, 3, 50), whole(2, 50, 4)
VALUES, KEYS = whole(150, 4), RNG.integers(0, 5, 150)
KEYS[KEYS == 3] = 0  # slot 3 is empty


def wide(x):
    return x.astype("f8")


def by_key(values, keys, slots):
    sums = np.zeros((slots, *values.shape[1:]))
    np.add.at(sums, keys, wide(values))
    return sums


# What is asked, its inputs, and the results in f64.
ASKED = [
    ("sum", (A,), wide(A).sum(-1)),
    ("sumsq", (A,), (wide(A) ** 2).sum(-1)),
    ("asum", (A,), abs(wide(A)).sum(-1)),
    ("dot", (A, A[::-1].copy()), (wide(A) * wide(A)[::-1]).sum(-1)),
    ("dot", (A[0], A[1]), [wide(A[0]) @ wide(A[1])]),
    ("matvec", (A, B[:, 0].copy()), wide(A) @ wide(B[:, 0])),
    ("matmul", (A, B), wide(A) @ wide(B)),
    ("matmul", (BATCHES, MORE), wide(BATCHES) @ wide(MORE)),
    ("scan", (A,), np.cumsum(wide(A), -1)),
    ("scan", (A[0],), np.cumsum(wide(A[0]))),
    ("exclusive_scan", (A,), np.cumsum(wide(A), -1) - wide(A)),
    ("scan_max", (A,), np.maximum.accumulate(A, -1)),
    ("keyed", (VALUES, KEYS, 6), by_key(VALUES, KEYS, 6)),
    ("keyed", (VALUES[:, 0].copy(), KEYS.astype("i4"), 5), by_key(VALUES[:, 0], KEYS, 5)),
    ("ji->i", (A.T,), wide(A).sum(-1)),
    ("ji->i", (A.T.copy(),), wide(A).sum(-1)),
    ("ji,j->i", (A.T.copy(), B[:, 0]), wide(A) @ wide(B[:, 0])),
    ("ij,kj->ik", (A, B.T), wide(A) @ wide(B)),
    ("ij,kj->ik", (A, B.T.copy()), wide(A) @ wide(B)),
    ("bji,bjk->bik", (BATCHES.transpose(0, 2, 1).copy(), MORE), wide(BATCHES) @ wide(MORE)),
    ("bhmd,bhnd->bhmn", (whole(2, 3, 4, 5), whole(2, 3, 6, 5)), None),
    ("hbmd,bhnd->bhmn", (whole(3, 2, 4, 5), whole(2, 3, 6, 5)), None),
    ("abc->a", (whole(3, 4, 5),), None),
    ("k,k->m", (VALUES[:, 1], KEYS, 5), by_key(VALUES[:, 1], KEYS, 5)),
    ("kn,k->mn", (VALUES[:, :1], KEYS, 5), by_key(VALUES[:, :1], KEYS, 5)),
]


class Exact(unittest.TestCase):
    def test_of_each_problem_are_the_results_rounded_once(self):
        for problem, given, want in ASKED:
            with self.subTest(problem, shapes=[np.shape(x) for x in given]):
                want = np.einsum(problem, *map(wide, given)) if want is None else np.asarray(want, "f8")
                got = foldproof.exact(*given, problem=problem)
                np.testing.assert_array_equal(foldproof.exact(*given, problem=problem, to="f64"), want)
                np.testing.assert_array_equal(got, want.astype("f4"))
                self.assertEqual((got.dtype, got.shape), (np.float32, want.shape))

    def test_integers_wrap_in_what_they_are_rounded_to(self):
        x, y = np.full((2, 4), 100, "i1"), np.full((4, 3), -128, "i1")
        np.testing.assert_array_equal(foldproof.exact(x, y, problem="matmul", to="i32"), np.full((2, 3), -51200, "i4"))
        np.testing.assert_array_equal(foldproof.exact(x, y, problem="matmul"), np.full((2, 3), -51200, "i4").astype("i1"))
        big = np.full(3, 2 * 10**9, "i4")
        np.testing.assert_array_equal(foldproof.exact(big, problem="scan", to="i64"), [2 * 10**9, 4 * 10**9, 6 * 10**9])
        np.testing.assert_array_equal(foldproof.replay("scan/sequential", big, problem="scan"), np.cumsum(big, dtype="i4"))
        long = np.array([2**63 - 1, 1], "i8")
        np.testing.assert_array_equal(foldproof.exact(long), [-(2**63)])

    def test_the_former_words_mean_what_they_did(self):
        np.testing.assert_array_equal(foldproof.exact(A, "max"), A.max(-1))
        self.assertEqual(foldproof.exact(A, "max", "f64").dtype, np.float64)
        np.testing.assert_array_equal(foldproof.exact(A, op="min"), A.min(-1))
        np.testing.assert_array_equal(foldproof.replay("host/pairwise", A, "max"), A.max(-1))
        self.assertEqual(foldproof.measure(A.max(-1)[:1], A[0], "max").error, 0)
        with self.assertRaisesRegex(ValueError, "op is the former name of problem"):
            foldproof.exact(A, op="max", problem="min")
        with self.assertRaisesRegex(TypeError, "'f32' is one argument too many"):
            foldproof.exact(A, "max", "f64", "f32")

    def test_arrays_need_not_be_contiguous(self):
        np.testing.assert_array_equal(foldproof.exact(A[:, ::3]), wide(A[:, ::3]).sum(-1))
        np.testing.assert_array_equal(foldproof.exact(A[::-1], B[:, ::2], problem="matmul"), (wide(A[::-1]) @ wide(B[:, ::2])).astype("f4"))

    def test_of_torch(self):
        if not importlib.util.find_spec("torch"):
            self.skipTest("no torch")
        import torch

        got = foldproof.exact(torch.tensor(A), torch.tensor(B).T, problem="ij,kj->ik", to="f64")
        self.assertIsInstance(got, torch.Tensor)
        np.testing.assert_array_equal(got.numpy(), wide(A) @ wide(B))
        got = foldproof.exact(torch.tensor(VALUES).bfloat16(), torch.tensor(KEYS), 5, problem="keyed", to="f64")
        np.testing.assert_array_equal(got.numpy(), by_key(torch.tensor(VALUES).bfloat16().double().numpy(), KEYS, 5))

    def test_what_does_not_fit_is_refused_in_one_line(self):
        for given, problem, words in (
                ((A, B[1:]), "matmul", r"its inputs have axes \(b, m, k\) and \(b, k, n\), and not shapes \(3, 150\) and \(149, 4\)"),
                ((BATCHES, MORE[0]), "matmul", "its inputs have axes"),
                ((BATCHES, MORE[:1]), "matmul", "its inputs have axes"),
                ((A[0], B), "matmul", r"input 1 has axes \(m, k\), and not shape \(150,\)"),
                ((A[0], A[0]), "matvec", r"input 1 has axes \(m, k\), and not shape \(150,\)"),
                ((A, A[0]), "dot", "its inputs have axes"),
                ((A,), "matmul", "takes 2 arrays, and not 1 argument$"),
                ((A, B), "scan", "takes one array, and not 2 arguments"),
                ((VALUES, KEYS), "keyed", "takes values, keys and the number of slots, and not 2 arguments"),
                ((VALUES, KEYS, 4), "keyed", "key [0-9]+ is 4, and there are 4 slots"),
                ((VALUES, KEYS - 1, 5), "keyed", "key [0-9]+ is -1, and there are 5 slots"),
                ((VALUES, KEYS + 2**32, 5), "keyed", "key 0 is 429496729[0-9], and there are 5 slots"),
                ((VALUES, KEYS.astype("f4"), 5), "keyed", "keys are whole numbers, and not f32"),
                ((VALUES, KEYS[1:], 5), "keyed", "its inputs have axes"),
                ((VALUES, KEYS, -1), "keyed", "slots=-1: 0 to 2147483647"),
                ((VALUES, KEYS, True), "keyed", "slots=True: a whole number"),
                ((A, wide(B)), "matmul", "its inputs have one dtype, and not f32 and f64"),
                ((A.astype("u2"),), "sum", "dtype uint16: not one of"),
                ((whole(2, 2, 2),), "scan", r"its input has axes \(m, k\), and not shape \(2, 2, 2\)"),
                ((A, B), "ij,kj->ik", r"its inputs have axes \(m, k\) and \(n, k\), and not shapes"),
                ((A,), "rows", "no problem is called 'rows'"),
                ((A,), "summ", "no problem is called 'summ'")):
            with self.subTest(words), self.assertRaisesRegex((TypeError, ValueError), words) as caught:
                foldproof.exact(*given, problem=problem)
            self.assertNotIn("\n", str(caught.exception))


class Replay(unittest.TestCase):
    def test_a_subject_that_declares_an_order_is_named_like_one(self):
        x, y = A + np.float32(0.1), B + np.float32(0.3)
        want = np.zeros((3, 4), "f4")
        for k in range(150):
            want += x[:, k, None] * y[k]
        for name in ("dot/sequential", "matmul/blocked"):
            np.testing.assert_array_equal(foldproof.replay(name, x, y, problem="matmul"), want)
            np.testing.assert_array_equal(foldproof.replay(name, x, y.T, problem="ij,kj->ik"), want)
        np.testing.assert_array_equal(foldproof.replay("scan/sequential", x, problem="scan"), np.cumsum(x, -1, dtype="f4"))
        sums = np.zeros((5, 4), "f4")
        np.add.at(sums, KEYS, y)
        np.testing.assert_array_equal(foldproof.replay("keyed/sequential", y, KEYS, 5, problem="keyed"), sums)
        self.assertNotEqual(foldproof.exact(x, y, problem="matmul").tobytes(), want.tobytes())

    def test_what_no_order_says_is_refused(self):
        for order, words in (("host/pairwise", "does not say what becomes of a product"), ("scan/sequential", "does not take matmul"),
                             ("dot/exact", "declares no order"), ("nosuch", "nosuch")):
            with self.assertRaisesRegex(ValueError, words):
                foldproof.replay(order, A, B, problem="matmul")
            with self.assertRaisesRegex(ValueError, words):
                foldproof.measure(np.zeros(1, "f4"), A, B, problem="matmul", order=order, at=(0, 0))


class Measured(unittest.TestCase):
    def test_each_result_has_its_error_and_its_bound(self):
        x, y = A + np.float32(0.1), B + np.float32(0.3)
        got, want = foldproof.replay("matmul/blocked", x, y, problem="matmul"), wide(x) @ wide(y)
        for at in np.ndindex(got.shape):
            m = foldproof.measure(got, x, y, problem="matmul", order="matmul/blocked", at=at)
            self.assertTrue(0 <= m.error <= m.bound < 1e-4 * m.abs_sum)
            self.assertAlmostEqual(m.exact, want[at], delta=1e-9 * m.abs_sum)
            self.assertEqual(foldproof.measure(got[at], x, y, problem="matmul", order="matmul/blocked", at=at).error, m.error)
        scan = np.cumsum(x[0], dtype="f4")
        bounds = [foldproof.measure(scan, x[0], problem="scan", at=at).bound for at in (0, 1, 149)]
        self.assertTrue(bounds[0] == 0 < bounds[1] < bounds[2], bounds)
        lost = got.copy()
        lost[2, 1] -= x[2, 149] * y[149, 1] + 1
        m = foldproof.measure(lost, x, y, problem="matmul", at=(2, 1))
        self.assertGreater(m.error, m.bound)

    def test_integers_have_no_bound_but_0(self):
        big = np.full(3, 2 * 10**9, "i4")
        m = foldproof.measure(np.cumsum(big, dtype="i4"), big, problem="scan", at=2)
        self.assertEqual((m.error, m.bound, m.exact), (2.0**32, 0, 6e9))

    def test_which_result_is_measured_is_said(self):
        got = np.zeros((3, 4), "f4")
        for at, words in ((None, r"there are 12, of shape \(3, 4\): say which by at=\(2, 3\)"), ((3, 0), r"at=\(3, 0\): the results have shape \(3, 4\)"),
                          (1, "at=1: the results have shape"), ((-1, 0), "the results have shape")):
            with self.assertRaisesRegex(ValueError, words):
                foldproof.measure(got, A, B, problem="matmul", at=at)
        for wrong, words in ((got[:2], "got has 8 elements of f32: one of f32 is wanted, or all 12"), (wide(got), "12 elements of f64: one of f32"),
                             (got.T, r"got has shape \(4, 3\), and the results \(3, 4\)"), (got.reshape(2, 6), r"got has shape \(2, 6\), and")):
            with self.assertRaisesRegex(ValueError, words):
                foldproof.measure(wrong, A, B, problem="matmul", at=(0, 0))
        for right in got, got[None], got.ravel():
            foldproof.measure(right, A, B, problem="matmul", at=(0, 0))


if __name__ == "__main__":
    unittest.main(argv=["test_exact"])
