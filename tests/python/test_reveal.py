#!/usr/bin/env python3
"""foldproof.reveal: the trees of callables. test_reveal.py LIBRARY FIXTURES SANITIZERS"""
import ctypes
import importlib.util
import json
import signal
import sys
import unittest
import unittest.mock

import here  # noqa: F401
import numpy as np

import foldproof  # noqa: E402
from foldproof import _library  # noqa: E402
from foldproof._callable import Guest  # noqa: E402
from foldproof._verify import _table  # noqa: E402


def reveal(fn, n=64, dtype="f64", **more):
    return foldproof.reveal(fn, n, dtype, like="numpy", **more)


def in_turn(x):
    total = np.zeros(x.shape[0], x.dtype)
    for column in x.T:
        total = total + column
    return total


class Reveal(unittest.TestCase):
    def test_a_callables_tree_is_told_by_name(self):
        for order in ("host/pairwise", "rows/par_16", "host/reverse"):
            tree = reveal(lambda x: foldproof.replay(order, x), 100)
            self.assertEqual((tree.kind, order in tree.orders, len(tree.joins)), ("tree", True, 99), tree)
        tree = reveal(in_turn)
        self.assertIn("host/sequential", tree.orders)
        self.assertIn("x[0..63] sequentially", str(tree))
        self.assertEqual(tree.joins[0], [0, 1])

    def test_numpy_itself(self):
        for n in (64, 256, 1000):
            self.assertIn("host/numpy", reveal(lambda x: x.sum(-1), n).orders, n)

    def test_a_name_with_parameters_is_one_name(self):
        def halves(x):
            return in_turn(x[:, :50]) + in_turn(x[:, 50:])

        def vectors(x):
            accumulators = [sum((x[:, k : k + 8] for k in range(8 * a + 32, 96, 32)), x[:, 8 * a : 8 * a + 8]) for a in range(4)]
            return in_turn(np.concatenate([x[:, 96:], sum(accumulators[1:], accumulators[0])], axis=1))

        self.assertEqual(reveal(halves, 100).orders, ["rows/par_16's, of 2 chunks"])
        self.assertEqual(reveal(vectors, 100).orders, ["PyTorch's sum on a CPU, 8 lanes x 4 accumulators"])

    def test_what_is_no_tree_is_told_as_what_it_is(self):
        self.assertEqual(reveal(lambda x: foldproof.exact(x)).kind, "no order: exact")
        wild = np.random.default_rng(1)
        tree = reveal(lambda x: in_turn(x[:, wild.permutation(x.shape[1])]))
        self.assertEqual((tree.kind, tree.joins), ("varies from run to run", None))
        self.assertTrue(tree.text.startswith("varies from run to run: ") and str(tree).endswith(f": {tree.text}"), tree.text)
        self.assertIn("repeat", str(tree))

    def test_an_order_by_batch_is_that_of_one_row(self):
        tree = reveal(lambda x: foldproof.replay("host/reverse" if len(x) == 1 else "host/pairwise", x))
        self.assertEqual((tree.orders[0], tree.record["depends_on_batch"]), ("host/reverse", True))

    def test_another_accumulator_than_the_usual_is_told(self):
        def in_f64(x):
            return in_turn(x.astype("f8")).astype(x.dtype)

        for dtype, fn, told in (("f32", in_f64, " accumulated in f64"), ("f32", in_turn, ""), ("f64", in_f64, "")):
            tree = reveal(fn, 16, dtype)
            self.assertEqual(tree.accumulator, "f64" if told else dtype)
            self.assertEqual(str(tree).split(": ")[1], f"sum of 16 {dtype}{told}")
            self.assertEqual(repr(tree).split(",")[0], f"<foldproof.Tree: tree{told}")

    def test_products(self):
        tree = reveal(lambda x, y: in_turn(x * y), problem="dot")
        self.assertEqual((tree.orders, tree.record["fused"]), (["dot/sequential"], []))
        self.assertIn("host/numpy of rounded products", reveal(lambda x, y: (x * y).sum(-1), problem="dot").orders)

    def test_a_function_of_rows_is_told_as_one(self):
        tree = reveal(in_turn, problem="rows")
        self.assertEqual((tree.kind, tree.record["problem"], "host/sequential" in tree.orders), ("tree", "rows", True))
        self.assertTrue(str(tree).startswith("py/in_turn: rows of 64 f64: "), tree)

    def test_without_options_the_tables_dtype_and_problem_are_meant(self):
        for problem, dtypes, dtype in (("sum", "f64", "f64"), ("rows", "f64", "f64"), ("dot", "f16,f64", "f16"), ("dot", "bf16,f32,f64", "f32")):
            table = _table([Guest("py/any", lambda x, y=1: in_turn(x * y), "numpy", False)], problems=problem.encode(), dtypes=dtypes.encode(),
                           engine=b"host", claims=b"run_to_run")
            lines = []
            take = _library.Take(lambda line, _context: lines.append(line) or 0)
            _library.check(_library.library().foldproof_reveal(ctypes.byref(table), None, take, None))
            told = json.loads(lines[0])
            self.assertEqual((told["kind"], told["problem"], told["dtype"]), ("tree", problem, dtype))

    def test_mistakes_are_told(self):
        for wrong in ({"n": 0}, {"n": -1}, {"n": 2**64 + 8}, {"n": 10**12}, {"rows": -1}, {"rows": 2**64 + 1}, {"rows": 10**15}):
            with self.assertRaisesRegex(ValueError, f"{[*wrong][0]}=.*: [01] to ", msg=wrong):
                reveal(in_turn, **wrong)
        with unittest.mock.patch("foldproof._library.whole", lambda _name, number, *_: number):  # the library is asked itself
            for wrong in ({"n": -1}, {"n": 10**12}, {"n": 2**32, "rows": 2**32}):
                with self.assertRaisesRegex(ValueError, "no tree of [0-9]* terms can be revealed", msg=wrong):
                    reveal(in_turn, **wrong)
            with self.assertRaisesRegex(ValueError, "calls with 1099511627776 rows: at most 1048576"):
                reveal(in_turn, 2, rows=2**40)
        with self.assertRaisesRegex(ValueError, "ZeroDivisionError.*"):
            reveal(lambda x: 1 // 0)
        has_small_floats = importlib.util.find_spec("ml_dtypes")
        with self.assertRaisesRegex(*((ValueError, "sums show no order") if has_small_floats else (ImportError, "needs ml_dtypes"))):
            reveal(lambda x: x.view(np.uint8).sum(-1), dtype="e4m3")
        with self.assertRaisesRegex(ValueError, "unknown word .mean.; allowed: sum, .*, rows"):
            reveal(in_turn, problem="mean")
        with self.assertRaisesRegex(ValueError, "py/in_turn is no function of rows"), unittest.mock.patch("foldproof._reveal._table", self.as_sum):
            reveal(in_turn, problem="rows")
        with self.assertRaises(KeyboardInterrupt):
            reveal(self.interrupted)
        with self.assertRaisesRegex(ValueError, "SystemExit: 0"):
            reveal(self.exiting)
        self.assertEqual(reveal(in_turn, 8).kind, "tree", "it goes on afterwards")

    def as_sum(self, guests, **fields):
        return _table(guests, **{**fields, "problems": b"sum"})

    def interrupted(self, x):
        signal.raise_signal(signal.SIGINT)

    def exiting(self, x):
        raise SystemExit(0)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
