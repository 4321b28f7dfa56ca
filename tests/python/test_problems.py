#!/usr/bin/env python3
"""Problems by their names and signatures: products of a matrix and a vector, and callables that fold axis 0.

test_problems.py LIBRARY FIXTURES SANITIZERS
"""
import importlib.util
import math
import re
import sys
import unittest
from pathlib import Path
from unittest import mock

import here  # noqa: F401
import importable
import numpy as np
from importable import to_import

import foldproof
from foldproof import _problem, pytest_plugin

ROOT = Path(__file__).resolve().parents[2]
PRODUCTS = ",".join(f"{name}/*/matvec/{shape}/*" for name, shape in (
    ("normal", "1x3"), ("normal", "3x0"), ("normal", "0x3"), ("normal", "3x3"), ("normal", "5x257"), ("normal", "5x1000"), ("integers", "7x33"), ("mixed", "7x17"),
    ("zeros_mixed", "3x3"), ("balanced", "2x107")))
SUMS = "normal/f32/sum/1x1023/*,normal/f32/sum/17x257/*,normal/f32/sum/33x33/*,uniform/f32/sum/4x0/*,uniform/f32/sum/4x1/*"
FRAMEWORKS = [name for name in ("numpy", "torch", "jax") if importlib.util.find_spec(name)]


def judge(fn, problem="matvec", fixtures=PRODUCTS, claims="bounded,run_to_run", like="numpy", **more):
    return foldproof.judge(fn, problem=problem, fixtures=fixtures, claims=claims, like=like, **more)


def products(W, x):
    return (W * x).sum(-1)


def rounded(x):
    """As TF32 rounds factors: to 10 bits after the point."""
    return ((x.view("u4") + np.uint32(0x1000)) & np.uint32(0xFFFFE000)).view("f4") if x.dtype == np.float32 else x


class Names(unittest.TestCase):
    def test_a_shape_and_a_result_are_named_by_their_axes(self):
        for op, shape, text, result, name in (("matmul", [1, 3, 5, 33], "3 x 5 x 33", 7, "result 7 (m 1, n 2)"),
                                              ("matmul", [2, 3, 5, 33], "2 x 3 x 5 x 33", 22, "result 22 (b 1, m 1, n 2)"),
                                              ("scan", [1, 3, 1, 7], "3 x 7", 10, "result 10 (m 1, k 3)"),
                                              ("keyed", [1, 8, 2, 33], "8 x 2 x 33", 5, "result 5 (m 2, n 1)"),
                                              ("dot", None, "3 x 7", 2, "row 2")):
            record = {"op": op, "rows": 3, "cols": 7, **({"shape": shape} if shape else {})}
            self.assertEqual((_problem.shape_of(record), _problem.result_of(record, result)), (text, name))


class Case(unittest.TestCase):
    def assert_held(self, result):
        self.assertEqual((result.counts["refuted"], result.counts["broken"]), (0, 0), result)
        self.assertGreater(result.verdicts["bounded"]["held"], 3)

    def refuted(self, result, claim="bounded"):
        return {(r["case"], r["dtype"]) for r in result.judgements if r["verdict"] == "refuted" and r["claim"] == claim}


class Table(Case):
    def test_it_is_that_of_the_library(self):
        rows = re.findall(r"^FOLD_PROBLEM\(\w+, (\w+), \w+, \"(.*?)\"", (ROOT / "src/model/problem.def").read_text(), re.M)
        ours = {p.name: p.signature for p in _problem.BY_NAME.values()}
        self.assertEqual({"rows": "mk->m", **dict(rows)}, ours)
        header = (ROOT / "library/foldproof_guest.h").read_text()
        numbers = dict(re.findall(r"FOLDPROOF_GUEST_(\w+) = (\d+)", header[header.index("enum foldproof_guest_problem"):].split("}")[0]))
        self.assertEqual({name.upper(): str(p.number) for name, p in _problem.BY_NAME.items()}, numbers)

    def test_signatures_have_any_letters(self):
        for signature, name, transposed in (("ij->i", "sum", False), ("rc,rc->r", "dot", False), ("mk, k -> m", "matvec", False), ("Ba,a->B", "matvec", False),
                                            ("ji->i", "sum", True), ("kr,kr->r", "dot", True), ("ji,j->i", "matvec", True)):
            form = _problem.find(signature)
            self.assertEqual((form.name, form.transposed), (name, transposed), signature)
        for signature, name, lacks in (("bij,bjk->bik", "matmul", ""), ("ij,jk->ik", "matmul", "b"), ("ij,kj->ik", "matmul", "b"), ("bhmd,bhnd->bhmn", "matmul", ""),
                                       ("bij,bj->bi", "matmul", "n"), ("bi,bi->b", "dot", "bn"), ("abc->ab", "sum", "bn"), ("abc->ca", "sum", "bn"),
                                       ("mn,mn->m", "dot", "bn"), ("ij,i->mj", "keyed", "b"), ("i,i->m", "keyed", "bn"), ("ijk->i", "sum", "bn")):
            form = _problem.find(signature)
            self.assertEqual((form.name, "".join(axis for axis in "bn" if form.lacks(axis))), (name, lacks), signature)
        self.assertEqual(_problem.find("matmul")[:3], ("matmul", (), False))

    def test_other_signatures_are_refused_with_those_that_are_known(self):
        for signature in ("ii->i", "ij->ij", "ij,i->i", "i,ij->j", "ij->", "->", "ij,j", "i,i->", "...j->..."):
            if "->" in signature:
                with self.assertRaisesRegex(ValueError, r"a signature is like 'ij->i' \(sum\), 'ij,ij->i' \(dot\), .*'kn,k->mn' \(keyed\), with any letters"):
                    judge(products, problem=signature)
            else:
                with self.assertRaisesRegex(ValueError, "a signature has an arrow" if "," in signature else "unknown word"):
                    judge(products, problem=signature)


class Products(Case):
    def test_a_matrix_and_a_vector_come_as_they_are(self):
        shapes = set()

        def watched(W, x):
            shapes.add((W.shape, x.shape))
            return products(W, x)

        result = judge(watched, dtypes="f32,f64")
        self.assert_held(result)
        self.assertLessEqual({((r["rows"], r["cols"]), (r["cols"],)) for r in result.judgements}, shapes)
        self.assertEqual({r["dtype"] for r in result.judgements}, {"f32", "f64"})

    def test_usual_forms_hold(self):
        for fn, problem in ((lambda W, x: W @ x, "matvec"), (lambda W, x: W @ x[:, None], "matvec"), (lambda W, x: np.einsum("ij,j->i", W, x), "ij,j->i"),
                            (lambda W, x: x @ W, "ji,j->i"), (lambda W, x: np.einsum("ji,j->i", W, x)[None], "ji,j->i")):
            self.assert_held(judge(fn, problem))

    def test_frameworks(self):
        for like in FRAMEWORKS:
            for problem, fn in (("matvec", lambda W, x: W @ x), ("ji,j->i", lambda W, x: x @ W)):
                with self.subTest(like=like, problem=problem):
                    self.assert_held(judge(fn, problem, like=like))
                    self.assertTrue(self.refuted(judge(lambda W, x: fn(W, x[::-1] if like != "torch" else x.flip(0)), problem, like=like)))

    def test_what_is_wrong_is_refuted(self):
        wrong = {
            "a vector read from its second element on": lambda W, x: W[:, :-1] @ x[1:],
            "a vector turned by one": lambda W, x: W @ np.roll(x, 1),
            "a vector reversed": lambda W, x: W @ x[::-1],
            "a square matrix transposed": lambda W, x: (W.T if W.shape[0] == W.shape[1] else W) @ x,
            "the last column lost": lambda W, x: W[:, :-1] @ x[:-1],
            "the first column twice": lambda W, x: W @ x + W[:, :1].sum(-1) * x[:1].sum(),
            "the vector's factors rounded": lambda W, x: W @ rounded(x),
            "the matrix's factors rounded": lambda W, x: rounded(W) @ x,
            "results in reverse": lambda W, x: products(W, x)[::-1],
        }
        for what, fn in wrong.items():
            for problem in ("matvec", "ji,j->i"):
                run = fn if problem == "matvec" else lambda W, x, fn=fn: fn(np.ascontiguousarray(W.T), x)
                with self.subTest(what, problem=problem):
                    self.assertTrue(self.refuted(judge(run, problem)))

    def test_results_of_another_shape_are_told(self):
        for back, told in ((lambda W, x: W * x, "and not (5,): one result for each row"), (lambda W, x: x, "and not (5,)"), (lambda W, x: products(W, x)[None], "(1, 5), and not (5,)")):
            with self.assertRaises(foldproof.Broken) as caught:
                judge(back, fixtures="normal/f32/matvec/5x257/*").check()
            self.assertIn(told, str(caught.exception))
            self.assertNotIn("problem='rows'", str(caught.exception))

    def test_all_claims_of_a_callable(self):
        def by_batch(W, x):
            return products(W, x) if len(W) < 4 else products(W[:, ::-1].copy(), x[::-1].copy())

        shapes = "normal/f32/matvec/5x257/*"
        self.assertTrue(self.refuted(judge(by_batch, fixtures=shapes, claims="batch_invariant"), "batch_invariant"))
        claims = ["run_to_run", "batch_invariant", "alignment_invariant", "stride_invariant"]
        held = judge(lambda W, x: products(np.ascontiguousarray(W), x), claims=["bounded", *claims], strides=True)
        self.assert_held(held)
        for claim in claims:
            self.assertGreater(held.verdicts[claim].get("held", 0), 0, claim)
        self.assertTrue(self.refuted(judge(lambda W, x: products(W, x) if W.flags.c_contiguous else W @ x, fixtures=shapes, claims="stride_invariant", strides=True), "stride_invariant"))
        with self.assertRaises(foldproof.Refuted):
            judge(lambda W, x: products(W, x), same_bits_as=lambda W, x: products(W[:, ::-1].copy(), x[::-1].copy())).check()

        def writes(W, x):
            x[-1:] = 0
            return products(W, x)

        self.assertTrue(self.refuted(judge(writes), "keeps_input"))

    def test_a_new_process(self):
        for problem, fn in (("matvec", to_import.product), ("ji,j->i", to_import.product_of_columns)):
            result = judge(fn, problem, claims="fresh_process")
            self.assertEqual(set(result.verdicts["fresh_process"]), {"held"}, result)

    def test_the_line_that_repeats_it(self):
        result = judge(lambda W, x: x[:1] @ W[:1], "ji,j->i", fixtures="normal/f32/matvec/5x257/*")
        record = next(r for r in result.judgements if r["verdict"] == "refuted")
        self.assertEqual((record["op"] if "op" in record else record["problem"], record["case"]), ("matvec", "normal/f32/matvec/5x257/seed1"))
        self.assertIn("problem='ji,j->i'", result.replay(record))

    def test_reveal(self):
        for problem, fn in (("ij->i", lambda x: foldproof.replay("host/sequential", x)), ("ji->i", lambda x: foldproof.replay("host/sequential", np.ascontiguousarray(x.T)))):
            self.assertEqual(foldproof.reveal(fn, 32, problem=problem, like="numpy").orders[0], "host/sequential")
        with self.assertRaisesRegex(ValueError, "trees are revealed of rows, not of matvec"):
            foldproof.reveal(products, problem="ij,j->i", like="numpy")

    def test_pytest_counts_its_arrays(self):
        def test(W, x, y):
            return y

        for problem, beside in (("matvec", ["y"]), ("ij,j->i", ["y"]), ("sum", ["x", "y"])):
            self.assertEqual(pytest_plugin._beside_arrays(test, len(_problem.inputs_of(problem))), beside)


class Others(Case):
    """Products of matrices, and scans."""

    MATRICES = "normal/f32/matmul/3x2x5/*,normal/f32/matmul/1x1x64/*,normal/f32/matmul/17x16x40/*,*/f32/matmul/5x6x33/*,normal/f32/matmul/0x2x5/*,normal/f32/matmul/3x4x5x33/*"

    def test_products_of_matrices(self):
        for like in FRAMEWORKS:
            with self.subTest(like=like):
                self.assert_held(judge(lambda A, B: A @ B, "matmul", self.MATRICES, like=like))
                for wrong in (lambda A, B: A[..., :-1] @ B[..., :-1, :], lambda A, B: A @ (B + B[..., :1]), lambda A, B: (A @ B) * 0 + (A @ B)[..., :1]):
                    self.assertTrue(self.refuted(judge(wrong, "matmul", self.MATRICES, like=like)))
        self.assertTrue(self.refuted(judge(lambda A, B: rounded(A) @ B, "matmul", self.MATRICES)))
        with self.assertRaises(foldproof.Broken) as caught:
            judge(lambda A, B: (A @ B).ravel(), "matmul", "normal/f32/matmul/3x2x5/*").check()
        self.assertIn("its results have shape (6,), and not (3, 2)", str(caught.exception))

    def test_factors_may_be_rounded_where_that_is_said(self):
        tf32, lost = lambda A, B: rounded(A) @ rounded(B), lambda A, B: rounded(A)[..., :-1] @ rounded(B)[..., :-1, :]
        self.assert_held(judge(tf32, "matmul", self.MATRICES, factor_dtype="tf32"))
        self.assert_held(judge(tf32, "ij,jk->ik", self.MATRICES, factor_dtype="bf16"))
        for wrong, dtype in ((lost, "tf32"), (tf32, None), (lambda A, B: (A.view("u4") & np.uint32(0xFFFF0000)).view("f4") @ B, "tf32")):
            found = judge(wrong, "matmul", "normal/f32/matmul/7x9x33/*,integers/f32/matmul/*", factor_dtype=dtype)
            self.assertTrue(self.refuted(found))
        self.assertIn("factor_dtype='tf32'", judge(lost, "matmul", "integers/f32/matmul/3x59x5/*", factor_dtype="tf32").judgements[0]["asked"]["python"])
        with self.assertRaisesRegex(ValueError, "its factor_dtype has the unknown word 'fp32'"):
            judge(tf32, "matmul", self.MATRICES, factor_dtype="fp32")
        with self.assertRaisesRegex(ValueError, "no problem whose terms are products"):
            judge(lambda x: x.sum(-1), "sum", SUMS, factor_dtype="tf32")

    def test_signatures_say_whether_there_are_batches(self):
        own = lambda A, B: np.einsum("bij,bjk->bik", A, B)
        self.assert_held(judge(own, "bij,bjk->bik", self.MATRICES, same_bits_as=lambda A, B: own(A, B)))
        seen = set()
        result = judge(lambda A, B: seen.add(A.ndim) or np.einsum("ij,jk->ik", A, B), "ij,jk->ik", self.MATRICES)
        self.assert_held(result)
        self.assertEqual(seen, {2})
        self.assertIn("its signature has no batches", {r.get("reason") for r in result.judgements if r["verdict"] == "skipped" and "/3x4x5x33/" in r["case"]})
        seen.clear()
        judge(lambda A, B: seen.add(A.ndim) or A @ B, "matmul", self.MATRICES)
        self.assertEqual(seen, {2, 3})

    def test_scans(self):
        cases = "normal/f32/scan*/*,normal/f32/exclusive_scan/*"
        for problem, fn, claims in (("scan", lambda x: np.cumsum(x, -1), "bounded"), ("scan_max", lambda x: np.maximum.accumulate(x, -1), "correctly_rounded"),
                                    ("scan_min", lambda x: np.minimum.accumulate(x, -1), "correctly_rounded"),
                                    ("exclusive_scan", lambda x: np.cumsum(x, -1) - x if x.shape[1] < 2 else np.cumsum(np.hstack([np.zeros_like(x[:, :1]), x[:, :-1]]), -1), "bounded")):
            with self.subTest(problem):
                self.assertEqual(set(judge(fn, problem, cases, claims=claims).verdicts[claims]) - {"skipped"}, {"held"})
                for wrong in (lambda x: fn(x)[:, ::-1], lambda x: fn(x * (np.arange(x.shape[1]) != 1)), lambda x: fn(x)[::-1]):
                    self.assertTrue(self.refuted(judge(wrong, problem, cases, claims=claims), claims))

    def test_a_signature_may_order_and_split_the_axes(self):
        cases = self.MATRICES + ",normal/f32/matmul/*x64/*"
        for signature, fn in (("ij,kj->ik", lambda A, B: A @ B.T), ("bhmd,bhnd->bhmn", lambda Q, K: np.einsum("bhmd,bhnd->bhmn", Q, K)), ("ji,jk->ik", lambda A, B: A.T @ B)):
            for like in FRAMEWORKS if "h" not in signature else ["numpy"]:
                with self.subTest(signature, like=like):
                    self.assert_held(judge(fn, signature, cases, like=like))
                    self.assertTrue(self.refuted(judge(lambda A, B: fn(A, B) * 2, signature, cases, like=like)))
        shapes = set()
        judge(lambda Q, K: shapes.add((Q.shape, K.shape)) or np.einsum("bhmd,bhnd->bhmn", Q, K), "bhmd,bhnd->bhmn", "normal/f32/matmul/3x4x5x33/*,normal/f32/matmul/3x2x5/*")
        self.assertLessEqual({((1, 3, 4, 33), (1, 3, 5, 33)), ((1, 1, 3, 5), (1, 1, 2, 5))}, shapes)
        for signature, fn in (("abc->ab", lambda x: x.sum(-1)), ("acb->ab", lambda x: x.sum(1)), ("abc->a", lambda x: x.sum((1, 2))), ("abc->ca", lambda x: x.sum(1).T)):
            with self.subTest(signature):
                self.assert_held(judge(fn, signature, SUMS))
                self.assertTrue(self.refuted(judge(lambda x: fn(x)[..., ::-1] if x.size > 900 else fn(x), signature, SUMS)))

    KEYED = "normal/f32/keyed/7x5x64/*,normal/f32/keyed/7x1x257/*,normal/f32/keyed/1x5x64/one/*,normal/f32/keyed/3x2x0/*,normal/f32/keyed/1000x1x33/*"

    def test_keyed_sums(self):
        def added(values, keys, slots):
            sums = np.zeros((slots, *values.shape[1:]), values.dtype)
            np.add.at(sums, keys, values)
            return sums

        self.assert_held(judge(added, "keyed", self.KEYED))
        for wrong in (lambda v, k, m: added(v[:-1], k[:-1], m), lambda v, k, m: added(v, (k + 1) % m, m), lambda v, k, m: added(v, k % 256, m),
                      lambda v, k, m: added(rounded(v), k, m)):
            self.assertTrue(self.refuted(judge(wrong, "keyed", self.KEYED)))
        seen, skipped = set(), set()
        counted = judge(lambda v, k, m: seen.add((v.ndim, k.dtype.name)) or np.bincount(k, v, m).astype(v.dtype), "k,k->m", self.KEYED)
        self.assert_held(counted)
        self.assertEqual(seen, {(1, "int64")})
        self.assertEqual({r["case"].split("/")[3] for r in counted.judgements if r.get("reason") == "its signature has no columns"}, {"7x5x64", "1x5x64", "3x2x0"})
        short = judge(lambda v, k, m: np.bincount(k, v).astype(v.dtype), "k,k->m", "normal/f32/keyed/1000x1x33/*")
        self.assertIn("one result for each slot, +0 for a slot that no key names", " ".join(r.get("reason", "") for r in short.judgements))
        for dtype in ("f16", "f64"):  # keys are no terms, and as wide whatever these are
            self.assert_held(judge(added, "keyed", ",".join(f"{name}/{dtype}/keyed/*" for name in ("normal", "lone", "few", "counted")), dtypes=dtype, accumulator="terms", finite=True))
        judge(lambda v, k, m: seen.add(v.ndim) or added(v, k, m), "ij,i->mj", self.KEYED)
        self.assertEqual(seen - {(1, "int64")}, {2})

    @unittest.skipUnless("torch" in FRAMEWORKS, "no torch")
    def test_keyed_sums_of_torch(self):
        import torch

        index_add = lambda v, k, m: torch.zeros(m, *v.shape[1:], dtype=v.dtype).index_add_(0, k, v)
        self.assert_held(judge(index_add, "keyed", self.KEYED, like="torch"))
        self.assertTrue(self.refuted(judge(lambda v, k, m: index_add(v, k, m) + (k.numel() == 257), "keyed", self.KEYED, like="torch")))

    @unittest.skipUnless("jax" in FRAMEWORKS, "no jax")
    def test_keyed_sums_of_jax(self):
        import jax

        self.assert_held(judge(lambda v, k, m: jax.ops.segment_sum(v, k, m), "keyed", self.KEYED, like="jax"))


class Own(Case):
    """Matrices and vectors of the caller's own."""

    W, x = np.arange(12, dtype="f4").reshape(3, 4) / 7, np.float32([1, -2, 3, 5])

    def seen(self, data, problem="matvec", **more):
        seen = []

        def watched(W, x):
            seen.append((W.copy(), x.copy()))
            return products(W, x) if problem == "matvec" else products(W.T, x)

        result = judge(watched, problem, None, data=data, **more)
        self.assertEqual((result.counts["refuted"], result.counts["broken"]), (0, 0), result)
        self.assertGreater(result.counts["held"], 0)
        return result, seen

    def assert_came(self, seen, W, x):
        self.assertTrue(any(a.shape == W.shape and (a == W).all() and b.shape == x.shape and (b == x).all() for a, b in seen))

    def test_a_pair(self):
        result, seen = self.seen((self.W, self.x))
        self.assertEqual({(r["case"], r["rows"], r["cols"]) for r in result.judgements}, {("data:data/f32/matvec/3x4", 3, 4)})
        self.assert_came(seen, self.W, self.x)
        result, _ = self.seen({"a": (self.W, self.x), "b": (self.W[:1].astype("f8"), self.x.astype("f8"))})
        self.assertEqual({r["case"] for r in result.judgements}, {"data:a/f32/matvec/3x4", "data:b/f64/matvec/1x4"})
        self.assertTrue(self.refuted(judge(lambda W, x: products(W, x[::-1]), fixtures=None, data=(self.W, self.x))))

    def test_the_axis(self):
        for axis in (0, -1):
            _, seen = self.seen((np.moveaxis(self.W, -1, axis), self.x), axis=axis)
            self.assert_came(seen, self.W, self.x)
        _, seen = self.seen((self.W.T, self.x), "ji,j->i")
        self.assert_came(seen, self.W.T, self.x)

    def test_what_does_not_fit(self):
        for data, told in (((self.W, self.x[:3]), r"its inputs have axes \(m, k\) and \(k,\), and not shapes \(3, 4\) and \(3,\)"),
                           ((self.W, self.x.astype("f8")), "its inputs have one dtype, and not f32 and f64"),
                           ((self.x, self.W), r"input 2 has axes \(k,\), and not shape \(3, 4\)"), ((self.W, self.x[None]), "input 2 has axes")):
            with self.assertRaisesRegex(ValueError, told):
                judge(products, fixtures=None, data=data)
        with self.assertRaisesRegex(TypeError, r"for problem 'matvec' it is a tuple of arrays, or of paths, \(W, x\)"):
            judge(products, fixtures=None, data=self.W)
        with self.assertRaisesRegex(ValueError, "the rows of a file lie along its last axis"):
            judge(products, fixtures=None, data="some.npy", axis=0)
        with self.assertRaisesRegex(ValueError, "the signature says that axis 0 is folded"):
            judge(products, "ji,j->i", None, data=(self.W, self.x), axis=1)

    def test_a_file_and_a_golden(self):
        path = str(Path(importable.folder.name) / "product.npy")
        np.save(path, np.vstack([self.W, self.x]))
        _, seen = self.seen(path)
        self.assert_came(seen, self.W, self.x)


class Axis(Case):
    """Callables that fold axis 0 get the terms of a result as a column."""

    def test_columns_come_contiguous_and_aligned_as_the_rows_are(self):
        seen = set()

        def watched(x):
            seen.add((x.shape, x.flags.c_contiguous, x.ctypes.data % 128 // x.itemsize))
            return x.sum(0)

        result = judge(watched, "sum", SUMS, axis=0)
        self.assert_held(result)
        self.assertLessEqual({(r["cols"], r["rows"]) for r in result.judgements}, {shape for shape, _, _ in seen})
        self.assertEqual({flag for _, flag, _ in seen}, {True})
        seen.clear()
        judge(watched, "sum", "normal/f32/sum/33x33/*", claims="alignment_invariant", axis=0)
        self.assertGreater(len({offset for _, _, offset in seen}), 3)

    def test_problems_and_frameworks(self):
        for like in FRAMEWORKS:
            with self.subTest(like=like):
                self.assert_held(judge(lambda x: x.sum(0), "sum", SUMS, like=like, axis=0))
                self.assert_held(judge(lambda x, y: (x * y).sum(0), "dot", "normal/f32/dot/*x33/*,normal/f32/dot/*x257/*", like=like, axis=0))
                self.assert_held(judge(lambda W, x: (W * x[:, None]).sum(0), like=like, axis=0))
        self.assert_held(judge(lambda x: x.sum(tuple(range(x.ndim - 1)), keepdims=True), "ij->j", SUMS))
        self.assert_held(judge(lambda x: (x * x).sum(0), "sumsq", "normal/f32/sumsq/*", axis=0))
        self.assert_held(judge(lambda x: np.abs(x).sum(-1), "asum", "normal/f32/asum/*"))
        self.assertTrue(self.refuted(judge(lambda x: np.abs(x.sum(-1)), "asum", "normal/f32/asum/*")))
        self.assertTrue(self.refuted(judge(lambda x: (x * x)[1:].sum(0), "sumsq", "normal/f32/sumsq/*", axis=0)))
        result = judge(lambda x: x.max(0), "max", "normal/f32/max/*x33/*", claims="correctly_rounded", axis=-2)
        self.assertEqual(set(result.verdicts["correctly_rounded"]), {"held"})

    def test_what_is_wrong_is_refuted(self):
        for like in FRAMEWORKS:
            for fn in (lambda x: x[:-1].sum(0), lambda x: x[1:].sum(0) + x[-1], lambda x: x.sum(0)[::-1] if like != "torch" else x.sum(0).flip(0)):
                with self.subTest(like=like):
                    self.assertTrue(self.refuted(judge(fn, "sum", SUMS, like=like, axis=0)))
        with self.assertRaises(foldproof.Broken) as caught:
            judge(lambda x: x.sum(1), "sum", "normal/f32/sum/17x257/*", axis=0).check()
        self.assertIn("its results have shape (257,), and not (17,): one result for each column", str(caught.exception))

    def test_writes_and_repeats_and_batches(self):
        def writes(x):
            sums = x.sum(0)
            x[-1:] = 7
            return sums

        self.assertTrue(self.refuted(judge(writes, "sum", SUMS, axis=0), "keeps_input"))
        kept = []
        result = judge(lambda x: kept.append(x) or x.sum(0), "sum", "normal/f32/sum/17x257/*", axis=0)
        self.assertIn("it keeps its input array", " ".join(r.get("reason", "") for r in result.judgements))
        by_batch = judge(lambda x: x.sum(0) if x.shape[1] < 9 else x[::-1].sum(0), "sum", "normal/f32/sum/17x257/*", claims="batch_invariant", axis=0)
        self.assertTrue(self.refuted(by_batch, "batch_invariant"))

    def test_strides_are_views(self):
        seen = set()
        result = judge(lambda x: seen.add(x.strides) or np.ascontiguousarray(x).sum(0), "sum", "normal/f32/sum/17x257/*", claims="stride_invariant", strides=True, axis=0)
        self.assertEqual(set(result.verdicts["stride_invariant"]), {"held"})
        self.assertTrue(any(strides[0] != 4 * 17 for strides in seen), seen)
        with self.assertRaises(foldproof.Refuted):
            judge(lambda x: x.sum(0) if x.flags.c_contiguous else x[::-1].sum(0), "sum", "normal/f32/sum/17x257/*", claims="stride_invariant", strides=True, axis=0).check()

    def test_a_new_process_folds_it_too(self):
        result = judge(to_import.column_sum, "sum", SUMS, claims="fresh_process", axis=0)
        self.assertEqual(set(result.verdicts["fresh_process"]), {"held"}, result)
        self.assertIn("axis=0", result.replay(result.judgements[0]))

    def test_the_axis_of_data_is_that_of_rows_in_a_new_process(self):
        result = judge(to_import.row_sum, "sum", None, data=Own.W, axis=0, claims="fresh_process")
        self.assertEqual({(r["rows"], r["cols"], r["verdict"]) for r in result.judgements if r["claim"] == "fresh_process"}, {(4, 3, "held")}, result)

    def test_a_twin_folds_it_too(self):
        self.assert_held(judge(lambda x: x.sum(0), "sum", SUMS, axis=0, same_bits_as=lambda x: x.sum(0)))
        result = judge(lambda x: x.sum(0), "sum", SUMS, axis=0, same_bits_as=lambda x: x[::-1].sum(0))
        self.assertTrue(self.refuted(result, "same_bits_as"))

    def test_what_has_no_such_axis(self):
        for axis in (2, -3, 0.5, None):
            with self.assertRaisesRegex(ValueError, "fn gets arrays of two axes, and reduces -1, the last one, or 0"):
                judge(lambda x: x.sum(0), "sum", SUMS, axis=axis)
        with self.assertRaisesRegex(ValueError, "problem 'rows' has no such form: transpose in the function"):
            judge(lambda x: x.sum(0), "rows", SUMS, claims=None, axis=0)
        self.assert_held(judge(lambda x: x.sum(1), "sum", SUMS, axis=1))


class Lending(unittest.TestCase):
    """Shapes and strides follow from the signature and a call's extents."""

    def lent(self, signature, extent, k, like="numpy", strides=None, at=0, form=_problem.Form("other")):
        from foldproof import _callable, _library

        guest = _callable.Guest("py/fn", None, "numpy", False, form=form)
        guest.like = like
        call = _library.Call(dtype=3, problem=99, extent=(_library.c_uint64 * 4)(*extent), in_=at, other=at)
        for axis, stride in enumerate(strides or (0, 0, 0, 0)):
            call.stride[k][axis] = stride
        with mock.patch.dict(_callable.BY_NUMBER, {99: _problem.Problem("other", 99, signature)}):
            return guest._lend(call, k), guest._shapes(call)

    def test_axes_of_a_signature(self):
        for extent, shapes, results in (((1, 2, 3, 4), [(2, 4), (4, 3)], (2, 3)), ((5, 2, 3, 4), [(5, 2, 4), (5, 4, 3)], (5, 2, 3))):
            for k, shape in enumerate(shapes):
                lent, allowed = self.lent("bmk,bkn->bmn", extent, k)
                self.assertEqual((lent.shape, allowed[0]), (shape, results))
        lent, allowed = self.lent("bmk,bkn->bmn", (1, 2, 3, 4), 0, form=_problem.find("bij,bjk->bik"))
        self.assertEqual((lent.shape, allowed[0]), ((1, 2, 4), (1, 2, 3)))
        self.assertEqual(self.lent("mk,k->m", (1, 2, 1, 4), 1)[0].shape, (4,))
        self.assertEqual(self.lent("mk->mk", (1, 2, 1, 4), 0)[1][0], (2, 4))
        lent, _ = self.lent("bmk,bkn->bmn", (5, 2, 3, 4), 1, strides=(100, 0, 1, 7))
        self.assertEqual((lent.shape, lent.strides, lent.nbytes), ((5, 4, 3), (100, 7, 1), 4 * (400 + 21 + 2 + 1)))
        lent, _ = self.lent("bmk,bkn->bmn", (1, 2, 3, 4), 1, strides=(100, 0, 1, 7))
        self.assertEqual((lent.shape, lent.strides), ((4, 3), (7, 1)))

    def test_a_copy_for_jax_has_all_that_the_strides_reach(self):
        x = np.arange(100, dtype=np.float32)
        at = x.ctypes.data + 4
        lent, _ = self.lent("mk,k->m", (1, 3, 1, 4), 0, "jax", (0, 20, 0, 2), at)
        got = np.lib.stride_tricks.as_strided(np.asarray(lent), lent.shape, [4 * s for s in lent.strides])
        np.testing.assert_array_equal(got, x[1 + 20 * np.arange(3)[:, None] + 2 * np.arange(4)])
        self.assertNotEqual(lent.at, at)
        self.assertEqual(math.prod(lent.shape), 12)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
