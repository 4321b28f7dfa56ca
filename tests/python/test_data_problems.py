#!/usr/bin/env python3
"""A callable is judged on arrays of the caller's own whose problem has several inputs, or results along several axes.

test_data_problems.py LIBRARY FIXTURES SANITIZERS
"""
import contextlib
import os
import tempfile
import unittest

import here  # noqa: F401
import importable
import numpy as np
from importable import to_import

import foldproof

RNG = np.random.default_rng(11)
A, B = RNG.integers(-9, 10, (3, 40)).astype("f4"), RNG.integers(-9, 10, (40, 5)).astype("f4")
BATCHES, MORE = RNG.normal(size=(2, 3, 40)).astype("f4"), RNG.normal(size=(2, 40, 5)).astype("f4")
QUERIES, SOUGHT = RNG.normal(size=(3, 2, 3, 14)).astype("f4"), RNG.normal(size=(3, 2, 5, 14)).astype("f4")
VALUES, KEYS = RNG.normal(size=(40, 2)).astype("f4"), RNG.integers(0, 5, 40)


def judge(fn, data, problem, claims="bounded,run_to_run,batch_invariant", **more):
    return foldproof.judge(fn, like="numpy", claims=claims, data=data, problem=problem, **more)


def product(a, b):
    return (a.astype("f8") @ b.astype("f8")).astype(a.dtype)


def by_key(values, keys, slots):
    sums = np.zeros((slots, *values.shape[1:]), values.dtype)
    np.add.at(sums, keys, values)
    return sums


def heads(q, k):
    """"bhmd,bhnd->bhmn", as attention has it."""
    return product(q, k.swapaxes(-1, -2))


class Watched:
    """Calls a function, and keeps what it got."""

    def __init__(self, fn):
        self.fn, self.seen = fn, []

    def __call__(self, *given):
        self.seen.append([x if isinstance(x, int) else x.copy() for x in given])
        return self.fn(*given)

    def got(self, *given):
        return any(len(seen) == len(given) and all(np.shape(x) == np.shape(y) and np.array_equal(x, y) for x, y in zip(seen, given)) for seen in self.seen)


# The problem, data, the function, the case's name behind the dtype, and what the function gets if that is not the data.
RIGHT = [
    ("matmul", (A, B), product, "matmul/3x5x40", None),
    ("matmul", (BATCHES, MORE), product, "matmul/2x3x5x40", None),
    ("matmul", (BATCHES[:1], MORE[:1]), product, "matmul/3x5x40", (BATCHES[0], MORE[0])),
    ("ij,kj->ik", (A, B.T), lambda a, b: product(a, b.T), "matmul/3x5x40", None),
    ("ij,kj->ik", (A, B.T.copy()), lambda a, b: product(a, b.T), "matmul/3x5x40", None),
    ("bij,bjk->bik", (BATCHES[:1], MORE[:1]), product, "matmul/3x5x40", None),
    ("matvec", (A, B[:, 0]), product, "matvec/3x40", None),
    ("ji,j->i", (A.T, B[:, 0]), lambda w, x: product(x, w), "matvec/3x40", None),
    ("dot", (A, A[::-1]), lambda x, y: (x * y).sum(-1), "dot/3x40", None),
    ("scan", A, lambda x: np.cumsum(x, -1), "scan/3x40", (A,)),
    ("exclusive_scan", A[0], lambda x: np.cumsum(x, -1) - x, "exclusive_scan/1x40", (A[:1],)),
    ("scan_max", A[::2, ::2], lambda x: np.maximum.accumulate(x, -1), "scan_max/2x20", (A[::2, ::2],)),
    ("sumsq", A, lambda x: (x * x).sum(-1), "sumsq/3x40", (A,)),
    ("keyed", (VALUES, KEYS, 7), by_key, "keyed/7x2x40", None),
    ("keyed", (VALUES[:, 0], KEYS.astype("i4"), 5), by_key, "keyed/5x1x40", None),
    ("keyed", (VALUES[:, :1], KEYS, 5), by_key, "keyed/5x1x40", (VALUES[:, 0], KEYS, 5)),
    ("kn,k->mn", (VALUES[:, :1], KEYS, 5), by_key, "keyed/5x1x40", None),
    ("k,k->m", (VALUES[:, 1], KEYS, 5), by_key, "keyed/5x1x40", None),
    ("bhmd,bhnd->bhmn", (QUERIES, SOUGHT), heads, "matmul/6x3x5x14", None),
    ("bhmd,bhdn->bhmn", (QUERIES, SOUGHT.swapaxes(-1, -2)), product, "matmul/6x3x5x14", None),
    ("bmhd,bnhd->bhmn", (QUERIES.swapaxes(1, 2), SOUGHT.swapaxes(1, 2)), lambda q, k: heads(q.swapaxes(1, 2), k.swapaxes(1, 2)), "matmul/6x3x5x14", None),
    ("mxy,nyx->mn", (QUERIES[0], QUERIES[:, 0].swapaxes(1, 2)), lambda a, b: np.einsum("mxy,nyx->mn", a.astype("f8"), b.astype("f8")).astype("f4"), "matmul/2x3x42", None),
    ("mxy,xy->m", (QUERIES[0], QUERIES[1, 0]), lambda w, x: (w * x).sum((1, 2)), "matvec/2x42", None),
    ("abc->a", QUERIES[1], lambda x: x.sum((1, 2)), "sum/2x42", (QUERIES[1],)),
    ("cab->ab", QUERIES[1], lambda x: x.sum(0), "sum/42x2", (QUERIES[1],)),
]


class Arrays(unittest.TestCase):
    def test_of_each_problem_are_what_the_function_gets(self):
        for problem, data, fn, case, gets in RIGHT:
            with self.subTest(problem, case=case):
                watched = Watched(fn)
                claim = "correctly_rounded" if problem == "scan_max" else "bounded"  # max rounds nothing, and has no bound
                result = judge(watched, data, problem, f"{claim},run_to_run,batch_invariant")
                self.assertEqual({r["case"] for r in result.judgements}, {f"data:data/f32/{case}"})
                self.assertEqual((result.counts["refuted"], result.counts["broken"]), (0, 0), result)
                self.assertEqual(result.verdicts[claim]["held"], 1, result)
                self.assertTrue(watched.got(*(gets or data)), [np.shape(x) for x in watched.seen[0]])

    def test_a_lost_term_is_refuted_by_their_values(self):
        for problem, data, fn in (("matmul", (A, B), lambda a, b: product(a[..., :-1], b[..., :-1, :])), ("ij,kj->ik", (A, B.T), lambda a, b: product(a[:, 1:], b.T[1:])),
                                  ("scan", A, lambda x: np.cumsum(x, -1) - x), ("keyed", (VALUES, KEYS, 5), lambda v, k, slots: by_key(v[1:], k[1:], slots)),
                                  ("keyed", (VALUES, KEYS, 5), lambda v, k, slots: by_key(v, (k + 1) % slots, slots))):
            result = judge(fn, {"mine": data}, problem, "bounded")
            self.assertEqual(result.verdicts["bounded"]["refuted"], 1, (problem, result))
            record = next(r for r in result.judgements if r["verdict"] == "refuted")
            with contextlib.redirect_stdout(None), self.assertRaises(foldproof.Refuted) as caught:
                exec(result.replay(record).replace("fn,", "function,"), {"data": {"mine": data}, "function": fn, "np": np, "product": product, "by_key": by_key})
            self.assertEqual(caught.exception.case, record["case"])

    def test_several(self):
        result = judge(product, [(A, B), (B.T, A.T)], "matmul")
        self.assertEqual({r["case"] for r in result.judgements}, {"data:data0/f32/matmul/3x5x40", "data:data1/f32/matmul/5x3x40"})
        self.assertEqual((result.counts["refuted"], result.counts["broken"]), (0, 0), result)

    def test_integers(self):
        small = (A.astype("i1"), B.astype("i1"))
        result = judge(lambda a, b: a.astype("i4") @ b.astype("i4"), small, "matmul", "bounded", result="i32")
        self.assertEqual(result.verdicts["bounded"]["held"], 1, result)
        result = judge(lambda a, b: (a @ b).astype("i4"), small, "matmul", "bounded", result="i32")
        self.assertEqual(result.verdicts["bounded"]["refuted"], 1, result)

    def test_in_a_new_process(self):
        result = importable.judge(to_import.matrices, "fresh_process", only="fresh_process", fixtures=None, data=(BATCHES, MORE), problem="matmul")
        self.assertEqual({r["verdict"] for r in result.judgements}, {"held"}, result)

    def test_of_several_letters_for_an_axis_in_new_processes(self):
        result = importable.judge(to_import.two_of_three, "fresh_process,launch_invariant", fixtures=None, data=(QUERIES, SOUGHT.swapaxes(-1, -2)), problem="bhmd,bhdn->bhmn")
        verdicts = {claim: result.verdicts[claim]["held"] for claim in ("fresh_process", "launch_invariant")}
        self.assertEqual(verdicts, {"fresh_process": 1, "launch_invariant": 1}, result)

    def test_of_several_letters_keep_the_inner_extents_in_other_batches(self):
        """fn gets whole batches of the caller's where they fit."""
        watched = Watched(heads)
        judge(watched, (np.tile(QUERIES, (4, 1, 1, 1)), np.tile(SOUGHT, (4, 1, 1, 1))), "bhmd,bhnd->bhmn", "batch_invariant")
        shapes = {q.shape for q, _ in watched.seen}
        self.assertLess({(12, 2, 3, 14), (2, 2, 3, 14), (1, 2, 3, 14)}, shapes, shapes)
        self.assertEqual({shape[:2] for shape in shapes if shape[0] * shape[1] % 2 == 0 and shape[1] != 2}, set(), shapes)

    def test_of_several_letters_have_each_its_own_extents(self):
        watched = Watched(heads)
        both = [(QUERIES, SOUGHT), (np.tile(QUERIES[:2], (1, 2, 1, 1)), np.tile(SOUGHT[:2], (1, 2, 1, 1)))]
        judge(watched, both, "bhmd,bhnd->bhmn", "bounded")
        self.assertTrue(all(watched.got(*one) for one in both), [np.shape(x) for x in watched.seen[0]])


class Files(unittest.TestCase):
    def setUp(self):
        room = tempfile.TemporaryDirectory(prefix="a,b ")
        self.addCleanup(room.cleanup)
        self.room = room.name

    def save(self, name, x):
        np.save(os.path.join(self.room, name), x)
        return os.path.join(self.room, name)

    def test_one_for_each_input(self):
        a, b, values, keys = self.save("a.npy", A), self.save("b.npy", B), self.save("v.npy", VALUES), self.save("k.npy", KEYS)
        for data, problem, fn, case in (((a, b), "matmul", product, f"npy:{a},{b}/f32/matmul/3x5x40"), (f"{a},{b}", "matmul", product, f"npy:{a},{b}/f32/matmul/3x5x40"),
                                        ([(a, a)], "dot", lambda x, y: (x * y).sum(-1), f"npy:{a},{a}/f32/dot/3x40"), (a, "scan", lambda x: np.cumsum(x, -1), f"npy:{a}/f32/scan/3x40"),
                                        ((values, keys, 6), "keyed", by_key, f"npy:{values},{keys},6/f32/keyed/6x2x40"), ((values, keys), "keyed", by_key, f"npy:{values},{keys}/f32/keyed/5x2x40")):
            result = judge(fn, data, problem)
            self.assertEqual({r["case"] for r in result.judgements}, {case})
            self.assertEqual((result.counts["refuted"], result.counts["broken"]), (0, 0), result)
        result = judge(to_import.half_matrices, (a, b), "matmul", "bounded")
        line = result.replay(next(r for r in result.judgements if r["verdict"] == "refuted"))
        self.assertIn(f"data='{a},{b}'", line)
        with contextlib.redirect_stdout(None), self.assertRaises(foldproof.Refuted):
            exec(line, {})


class Refused(unittest.TestCase):
    def test_what_does_not_fit(self):
        for data, problem, words in (
                (A, "matmul", r"data: for problem 'matmul' it is a tuple of arrays, or of paths, \(A, B\), a list of such tuples"),
                ((A, B, B), "matmul", "it is a tuple of arrays"), ((VALUES, KEYS), "keyed", r"it is a tuple of arrays, or of paths, \(values, keys, slots\)"),
                ((A, "b.npy"), "matmul", "it is a tuple of arrays, or of paths"),
                ((A, B[1:]), "matmul", r"its inputs have axes \(b, m, k\) and \(b, k, n\), and not shapes"),
                ((VALUES, KEYS, 4), "keyed", "key [0-9]+ is 4, and there are 4 slots"),
                ((A, B.astype("f8")), "matmul", "its inputs have one dtype"),
                ([(QUERIES, SOUGHT), (QUERIES.reshape(2, 3, 3, 14), SOUGHT.reshape(2, 3, 5, 14))], "bhmd,bhnd->bhmn",
                 r"data: data1 has extents \[2, 3\] where an array before has \[3, 2\], of as many elements: judge them in two calls"),
                ((QUERIES, SOUGHT.swapaxes(0, 1)), "bhmd,bhnd->bhmn", r"its inputs have axes \(b, b, m, k\) and \(b, b, n, k\), and not shapes"),
                (("a.npy", "b.npy"), "bhmd,bhnd->bhmn", "files have the axes of problem 'matmul', bmk and bkn: numpy.load them"),
                (("a.npy", "b.npy"), "ij,kj->ik", "files have the axes of problem 'matmul', bmk and bkn: numpy.load them"),
                (("a", "b"), "matmul", "files of several inputs are called NAME.npy"),
                (("missing.npy", "b.npy"), "matmul", "missing.npy: cannot be opened")):
            with self.subTest(words), self.assertRaisesRegex((TypeError, ValueError), words) as caught:
                judge(product, data, problem)
            self.assertNotIn("\n", str(caught.exception))
        with self.assertRaisesRegex(ValueError, "data, axis=0: problem 'matmul' says which axis is folded"):
            judge(product, (A, B), "matmul", axis=0)


if __name__ == "__main__":
    unittest.main(argv=["test_data_problems"])
