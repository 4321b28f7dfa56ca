#!/usr/bin/env python3
"""A callable is judged on arrays of the caller's own, in place of fixtures.

test_data.py LIBRARY FIXTURES SANITIZERS
"""
import contextlib
import os
import tempfile
import unittest
import unittest.mock

import here  # noqa: F401
import importable
import numpy as np
from importable import to_import

import foldproof

X = (np.arange(12000, dtype="f4").reshape(3, 1000, 4) - 5000) / 7


def judge(fn, data, claims="bounded,run_to_run", **more):
    return foldproof.judge(fn, like="numpy", claims=claims, data=data, **more)


class Data(unittest.TestCase):
    def shapes(self, result):
        return {(r["rows"], r["cols"], r["dtype"]) for r in result.judgements}

    def test_rows_lie_along_the_axis(self):
        for axis, shape in ((-1, (3000, 4)), (1, (12, 1000)), (0, (4000, 3))):
            seen = []

            def watched(x):
                seen.append(x.copy())
                return x.sum(-1)

            result = judge(watched, X, axis=axis)
            self.assertEqual(self.shapes(result), {(*shape, "f32")})
            self.assertEqual((result.counts["refuted"], result.counts["broken"]), (0, 0), result)
            want = np.moveaxis(X, axis, -1).reshape(shape)
            self.assertTrue(any(x.shape == want.shape and (x == want).all() for x in seen))

    def test_one_dimension_is_one_row_of_its_dtype(self):
        for dtype in ("f2", "f4", "f8"):
            result = judge(lambda x: x.sum(-1), np.ones(100, dtype))
            self.assertEqual(self.shapes(result), {(1, 100, "f" + str(8 * int(dtype[1])))})
            self.assertGreater(result.counts["held"], 0)

    def test_several_by_name_and_in_a_list(self):
        result = judge(lambda x: x.sum(-1), {"first": X[0], "two words": np.ones(9)})
        self.assertEqual({r["case"] for r in result.judgements}, {"data:first/f32/sum/1000x4", "data:two_words/f64/sum/1x9"})
        result = judge(lambda x: x.sum(-1), [X[0], X[1]])
        self.assertEqual({r["case"] for r in result.judgements}, {"data:data0/f32/sum/1000x4", "data:data1/f32/sum/1000x4"})

    def test_a_path(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "mine.npy")
            np.save(path, X[0])
            result = judge(lambda x: x.sum(-1) + x[:, 0] * 3, path)
            record = next(r for r in result.judgements if r["verdict"] == "refuted")
            self.assertEqual(record["case"], f"npy:{path}/f32/sum/1000x4")
            with contextlib.redirect_stdout(None), self.assertRaises(foldproof.Refuted):
                exec(result.replay(record), {})

    def test_a_line_that_repeats_names_the_array_and_its_content(self):
        data = {"mine": X[0]}
        result = judge(to_import.twice, data, axis=0)
        record = next(r for r in result.judgements if r["claim"] == "bounded")
        line = result.replay(record)
        self.assertIn("data=data, axis=0", line)
        self.assertIn(f"# data: your array, 4 x 1000 f32, XXH3 {record['input_xxh3']}", line)
        with self.assertRaises(foldproof.Refuted) as caught:
            exec(line, {"data": data})
        self.assertEqual(caught.exception.case, record["case"])

    def test_a_pair(self):
        x, y = X[0], X[1]
        result = judge(lambda x, y: (x * y).sum(-1), (x, y), problem="dot")
        self.assertEqual(self.shapes(result), {(1000, 4, "f32")})
        self.assertEqual((result.counts["refuted"], result.counts["broken"]), (0, 0), result)
        result = judge(lambda x, y: (x * x).sum(-1), {"pair": (x, y)}, problem="dot")
        self.assertGreater(result.counts["refuted"], 0)
        with self.assertRaisesRegex(ValueError, r"its inputs have axes \(m, k\) and \(m, k\), and not shapes \(1000, 4\) and \(5, 4\)"):
            judge(lambda x, y: (x * y).sum(-1), (x, y[:5]), problem="dot")

    def test_rows_in_a_new_process(self):
        for data in (X[0], [X[0], X[1]]):
            result = importable.judge(to_import.softmax, "fresh_process", only="fresh_process", fixtures=None, data=data, problem="rows")
            self.assertEqual({r["verdict"] for r in result.judgements}, {"held"}, result)

    def test_what_is_no_data(self):
        for data, error in ((X.astype("u2"), TypeError), ([], ValueError), ({"none": np.float32(3)}, ValueError), ("missing.npy", ValueError)):
            with self.assertRaises(error):
                judge(lambda x: x.sum(-1), data)
        with self.assertRaisesRegex(ValueError, "in place of fixtures"):
            judge(lambda x: x.sum(-1), X, fixtures="normal*")
        with self.assertRaisesRegex(ValueError, "no axis 3"):
            judge(lambda x: x.sum(-1), X, axis=3)

    def test_nothing_is_left_behind(self):
        with tempfile.TemporaryDirectory() as own, unittest.mock.patch.object(tempfile, "tempdir", own), unittest.mock.patch.dict(os.environ, TMPDIR=own):
            judge(lambda x: x.sum(-1), X)
            self.assertEqual(os.listdir(own), [])


if __name__ == "__main__":
    unittest.main(argv=["test_data"])
