#!/usr/bin/env python3
"""Python callables: what foldproof reports of them, of a failure and of a mistake, and what may be asked.

test_told.py LIBRARY FIXTURES SANITIZERS
"""
import functools
import io
import os
import subprocess
import sys
import unittest
import unittest.mock
import warnings
from pathlib import Path

from importable import judge, to_import
import numpy as np

import foldproof


def by_address(x):
    """Adds the terms before a multiple of 16 bytes first."""
    head = -x.__array_interface__["data"][0] % 16 // 4
    return x[:, :head].sum(1) + x[:, head:].sum(1)


class Told(unittest.TestCase):
    """What a person reads."""

    def test_broken_cases_lead_a_refutation(self):
        with self.assertRaises(foldproof.Refuted) as caught:
            judge(lambda x: x.sum(0), "bounded", fixtures="normal/f32/sum/33x33/*,uniform/f32/sum/4x16384/*").check()
        lines = str(caught.exception).splitlines()
        self.assertRegex(lines[0], "broken on 3 of 4 cases, first on uniform/f32/sum/4x16384/")
        self.assertIn("its results have shape (16384,), and not (4,)", lines[1])
        self.assertIn("bounded is refuted on normal/f32/sum/33x33/", lines[2])

    def test_missing_terms_are_told_before_smaller_cases(self):
        def sums(x):
            return x[:, :4].sum(-1) if x.shape[1] == 5 else x.sum(-1) * np.float32(1.001)

        with self.assertRaises(foldproof.Refuted) as caught:
            foldproof.verify(sums, claims="bounded", fixtures="normal/f32/sum/1x[1-5]/*,normal/f32/sum/5x5/*", like="numpy")
        self.assertRegex(str(caught.exception), r"bounded is refuted on normal/f32/sum/5x5/seed1 .*\n  .*: here and in 4 other results term 4 is missing\n")
        self.assertIn("also refuted: bounded (5 more cases)", str(caught.exception))

    def test_a_sample_of_the_results_is_named(self):
        large = foldproof.verify(lambda x: x.sum(1), data=np.ones((70000, 100), "f4"), claims="bounded")
        self.assertRegex(repr(large), r"note: [34],\d\d\d of 70,000 results judged \(.*70000x100.*, bounded; 1 such in all\)")
        self.assertEqual(foldproof.verify(lambda x: x.sum(1), data=np.ones((7, 100), "f4"), claims="bounded").notes, [])

    def test_what_was_not_tried_is_named(self):
        result = foldproof.judge(to_import.row_sum, like="numpy", fixtures="normal/f32/sum/17x257/*")
        untried = ["batch_invariant", "length_invariant", "padding_invariant"]
        self.assertEqual(result.untried, untried)
        self.assertIn(f" held; not tried, because not claimed: {', '.join(untried)}>", repr(result))
        result = foldproof.judge(to_import.row_sum, like="numpy", fixtures="rows_past_a_grid*")  # whose own claims these are
        self.assertIn("; not tried, because the fixtures leave them out: run_to_run, fresh_process; not tried, because not claimed: ", repr(result))
        result = judge(to_import.row_sum, "bounded", fixtures="normal/f32/sum/17x257/*")
        self.assertEqual((result.untried, "not tried" in repr(result)), ([], False))

    def test_the_address_is_tried_for_information(self):
        fixtures = "normal/f32/sum/17x257/*,alternating/f32/sum/1x*,harmonic/f32/sum/1x*"
        result = foldproof.verify(by_address, like="numpy", fixtures=fixtures)
        self.assertEqual(result.counts["refuted"], 0)
        self.assertNotIn("alignment_invariant", result.verdicts)
        self.assertNotIn("alignment_invariant", result.untried)
        refuted = [r for r in result.unclaimed if r["verdict"] == "refuted"]
        line = f"not claimed: alignment_invariant is refuted in {len(refuted)} cases, first {refuted[0]['case']}"
        self.assertEqual({(r["claim"], r["promised"]) for r in result.unclaimed}, {("alignment_invariant", False)})
        self.assertIn(f"; {line}>", repr(result))
        self.assertIn(f"; {line}>", repr(result.of(dtype="f32")))
        self.assertIn("claims='alignment_invariant'", result.replay(refuted[0]))
        with self.assertRaises(foldproof.Refuted) as caught:
            foldproof.verify(lambda x: by_address(x) * 2, like="numpy", fixtures=fixtures)
        self.assertIn(f"\n  {line}\n", str(caught.exception))
        honest = foldproof.judge(to_import.row_sum, like="numpy", fixtures=fixtures)
        self.assertEqual(({r["verdict"] for r in honest.unclaimed}, "not claimed: alignment" in repr(honest)), ({"held"}, False))
        for asked in ({"claims": "bounded,run_to_run"}, {"only": "bounded"}, {"problem": "max"}):
            self.assertEqual(foldproof.judge(by_address, **{"like": "numpy", "fixtures": "normal/f32/sum/17x257/*,numpy_normal/f32/max/1x1000", **asked}).unclaimed, [], asked)

    def test_what_rows_are_judged_by_where_nothing_is_claimed(self):
        result = foldproof.judge(to_import.softmax, problem="rows", like="numpy", fixtures="normal/f32/sum/17x257/*")
        self.assertLess({"run_to_run", "fresh_process", "batch_invariant", "alignment_invariant"}, set(result.verdicts))
        self.assertEqual(result.untried, ["length_invariant"])

    def test_a_dtype_that_numpy_lacks_is_told_once_and_before_anything_is_run(self):
        calls = []
        with unittest.mock.patch.dict(sys.modules, ml_dtypes=None):
            for ask in (lambda fn: foldproof.judge(fn, like="numpy", dtypes="f32,bf16"), lambda fn: foldproof.reveal(fn, 8, "bf16", like="numpy")):
                with self.assertRaisesRegex(ImportError, r"^dtype bf16 of numpy needs ml_dtypes \(pip install ml_dtypes\), or arrays of torch"):
                    ask(calls.append)
        self.assertEqual(calls, [])

    def test_tests_of_no_callable_are_none(self):
        with self.assertRaisesRegex(ValueError, "nothing would be judged"):
            foldproof.reductions({}, claims="run_to_run")

    def test_cuda_with_no_framework(self):
        for name in ("torch", "cupy", "jax"):
            self.assertNotIn(name, sys.modules)
        ask = functools.partial(foldproof.judge, to_import.row_sum, device="cuda")
        with unittest.mock.patch("importlib.util.find_spec", return_value=None):
            self.assertRaisesRegex(foldproof.Unavailable, "^device='cuda': none of torch, cupy and jax is installed$", ask)
        with unittest.mock.patch("importlib.util.find_spec", return_value="installed"):
            self.assertRaisesRegex(ValueError, "import torch, cupy or jax first, or pass like=", ask)

    def test_a_framework_that_is_not_installed(self):
        with unittest.mock.patch.dict(sys.modules, cupy=None):
            with self.assertRaisesRegex(foldproof.Unavailable, "^like='cupy': cupy is not installed$"):
                foldproof.judge(to_import.row_sum, like="cupy")

    def test_each_refutation_tells_of_an_input_that_was_changed(self):
        def negating(x):
            x *= -1
            return x.sum(-1)

        claims = ("bounded", "alignment_invariant", "padding_invariant")
        for restored in ("batch_invariant", "length_invariant"): # after each run of a part of the case
            self.assertEqual(judge(negating, claims=restored, only=restored, fixtures="normal/f32/sum/17x257/seed1").verdicts[restored], {"held": 1})
        for asked in (*claims, ",".join((*claims, "run_to_run"))):
            result = judge(negating, claims=asked, only=asked, fixtures="normal/f32/sum/17x257/seed1")
            refuted = [r for r in result.judgements if r["verdict"] == "refuted"]
            self.assertTrue(refuted, result)
            for record in refuted:
                self.assertRegex(record["reason"], r"\w; a run changed the input: see keeps_input(;|$)")
        refuted = [r for r in judge(negating, claims="run_to_run", only="keeps_input").judgements if r["verdict"] == "refuted"]
        self.assertEqual({r["reason"] for r in refuted if "see keeps_input" in r["reason"]}, set())

    def test_a_wrong_shape_is_told_with_the_right_one(self):
        with self.assertRaises(foldproof.Broken) as caught:
            judge(lambda x: x.sum(), fixtures="normal/f32/sum/17x257/*").check()
        self.assertIn("\n  its results have shape (), and not (17,): one result for each row\n", str(caught.exception))

    def test_who_returns_rows_is_told_of_the_problem_for_them(self):
        with self.assertRaisesRegex(foldproof.Broken, r"one result for each row; for a function of rows, such as a norm, say problem='rows'\n"):
            judge(to_import.softmax, fixtures="normal/f32/sum/17x257/*").check()

    def test_a_dtype_that_is_no_name_is_told(self):
        for dtypes in (np.float32, [np.float32]):
            with self.assertRaisesRegex(TypeError, "float32.*: names are text, as 'f32,f64' or"):
                judge(to_import.row_sum, dtypes=dtypes)

    def test_a_refutation_tells_bits_and_numbers(self):
        for dtype, told in (("f32", r"got 0x3f800000 \(1\), want 0x"), ("f64", r"got 0x3ff0000000000000 \(1\), want 0x"), ("f16", r"got 0x3c00 \(1\), want 0x")):
            with self.assertRaisesRegex(foldproof.Refuted, told):
                foldproof.verify(lambda x: np.ones(len(x), x.dtype), like="numpy", dtypes=dtype, claims="bounded", fixtures=f"normal/{dtype}/sum/1x33/*")
        self.assertEqual(foldproof._result._number("0x3f80", "bf16"), "0x3f80 (1)")
        self.assertEqual(foldproof._result._number("0x38", "e4m3"), "0x38")

    def test_what_is_not_implemented_is_skipped(self):
        def few_rows(x):
            if x.shape[0] > 20:
                raise NotImplementedError("more rows than 20")
            return x.sum(-1)

        result = judge(few_rows, fixtures="normal/f32/sum/17x257/*,normal/f32/sum/33x33/*").check()
        self.assertEqual((result.counts["held"], result.counts["broken"]), (4, 0))
        self.assertEqual(repr(result), "<foldproof.Result: 4 held, 4 skipped (4 more rows than 20)>")
        self.assertEqual(str(result), repr(result))

        def nothing(x):
            raise NotImplementedError

        with self.assertRaisesRegex(foldproof.NothingJudged, "4 it raises NotImplementedError"):
            judge(nothing, fixtures="normal/f32/sum/17x257/*").check()

    def test_names_of_numpy(self):
        for theirs, ours in (("float32", "f32"), ("bfloat16", "bf16"), ("float8_e5m2", "e5m2")):
            with self.assertRaisesRegex(ValueError, f"the unknown word '{theirs}': did you mean '{ours}'"):
                judge(to_import.row_sum, dtypes=[theirs])

    def test_warnings_of_numpy_are_silent(self):
        wide = {"fixtures": "specials,normal/f32/sum/17x257/*"}
        said = []

        def states(x):
            said.append(np.geterr())
            return x.sum(-1)

        with np.errstate(all="warn", under="raise"), warnings.catch_warnings():
            warnings.simplefilter("error")
            self.assertEqual(judge(states, **wide).counts["broken"], 0)
            self.assertEqual(np.geterr()["over"], "warn")
        self.assertEqual({state["over"] for state in said} | {state["invalid"] for state in said}, {"ignore"})
        self.assertEqual({state["under"] for state in said}, {"raise"})

    def test_refuted_in_a_new_process_has_a_line_of_python(self):
        result = judge(to_import.by_process, "fresh_process", only="fresh_process", fixtures="uniform/f32/sum/4x16384/*")
        self.assertIn("foldproof.verify(to_import.by_process, ", result.judgements[0]["asked"]["python"])

    def test_progress_on_a_terminal(self):
        class Terminal(io.StringIO):
            def isatty(self):
                return True

        def run(out, seconds):
            err, sys.stderr = sys.stderr, out
            before, foldproof._progress._SILENT = foldproof._progress._SILENT, seconds
            try:
                judge(to_import.row_sum, fixtures="uniform/f32/sum/4x16384/*")
            finally:
                sys.stderr, foldproof._progress._SILENT = err, before
            return out.getvalue()

        said = run(Terminal(), 0)
        self.assertIn("foldproof: 1 judged, at uniform/f32/sum/4x16384/", said)
        self.assertTrue(said.endswith("\r\x1b[K") and "\n" not in said, said)
        self.assertEqual((run(Terminal(), 60), run(io.StringIO(), 0)), ("", ""))


class Asked(unittest.TestCase):
    def test_what_can_be_no_text(self):
        for asked in ({"name": "py/a\0b"}, {"fixtures": "uniform/*\0,normal/*"}, {"claims": "bounded\0"}, {"dtypes": ["f32\0"]}, {"set": "all\0"},
                      {"problem": "sum\0"}, {"order": "rows/par_64\0"}, {"same_bits_as": "rows/par_64\0"}, {"claims": []}, {"dtypes": ","}):
            with self.assertRaises(ValueError, msg=asked):
                foldproof.judge(to_import.row_sum, **{"fixtures": "uniform/f32/sum/4x17/*", **asked})
        with self.assertRaises(ValueError):
            foldproof.exact(np.ones(3, "f4"), "sum\0")
        with self.assertRaises(TypeError):
            foldproof.judge(to_import.row_sum, name=3)

    def test_what_is_no_callable(self):
        for call in (foldproof.judge, foldproof.verify, foldproof.reveal):
            with self.assertRaisesRegex(TypeError, "^5 is not callable$"):
                call(5)

    def test_views(self):
        seen = set()

        def by_strides(x):
            return x.sum(-1) if x.flags.c_contiguous else x[:, ::-1].sum(-1)

        for fn, verdict in ((by_strides, "refuted"), (lambda x: seen.add(x.strides[1] // x.itemsize) or np.ascontiguousarray(x).sum(-1), "held")):
            result = judge(fn, "stride_invariant", strides=True, fixtures="normal/f32/sum/17x257/*")
            self.assertEqual(list(result.verdicts["stride_invariant"]), [verdict])
        self.assertGreater(len(seen), 1)
        self.assertIn("strides=True", judge(by_strides, "stride_invariant", strides=True, fixtures="normal/f32/sum/17x257/*").judgements[0]["asked"]["python"])
        result = judge(to_import.softmax, "stride_invariant,length_invariant", problem="rows", strides=True, fixtures="normal/f32/sum/17x257/*")
        self.assertEqual(set(result.verdicts), {"stride_invariant", "length_invariant", "stays_in_bounds", "leaves_no_trace", "keeps_input"})

    def test_batches_about_a_number_of_rows(self):
        def by_one_size(x):
            return x.sum(-1) + np.float32(x.shape[0] == 1111)

        batch = {"fixtures": "batch/f32/sum/2049x1000/*"}
        judge(by_one_size, "batch_invariant", **batch).check()
        with self.assertRaises(foldproof.Refuted) as caught:
            judge(by_one_size, "batch_invariant", around=[5, 1111], **batch).check()
        self.assertIn("1111", caught.exception.record["reason"])
        self.assertIn("around=[5, 1111]", caught.exception.replay)
        with self.assertRaises(foldproof.Refuted):
            judge(by_one_size, "batch_invariant", around=1111, **batch).check()
        for wrong in ([0], 0, range(1, 18), [2**32]):
            with self.assertRaises(ValueError):
                judge(by_one_size, around=wrong)
        for wrong, told in (([1.5], r"^around=1\.5: a whole number"), (1.5, r"^around=1\.5: a whole number, or a list"), ("256", "^around='256': ")):
            with self.assertRaisesRegex(TypeError, told):
                judge(by_one_size, around=wrong)

    def test_sizes_are_swept(self):
        ask = functools.partial(foldproof.judge, like="numpy")

        def lost_at_1000(A, B):
            return A @ B if A.shape[1] != 1000 else A[:, :992] @ B[:992]

        def lost_at_4097(x):
            return x.sum(-1) if x.shape[1] != 4097 else x[:, 1:].sum(-1)

        result = ask(lost_at_1000, problem="matmul", sweep="k=200:2000:200,m=2:3")
        self.assertEqual({r["cols"]: r["verdict"] for r in result.judgements if r["claim"] == "bounded"}, {k: "refuted" if k == 1000 else "held" for k in range(200, 2001, 200)})
        self.assertEqual({r["shape"][1] for r in result.judgements}, {2, 3})
        wrong = next(r for r in result.judgements if r["verdict"] == "refuted")
        self.assertIn("8 of 1,000 terms are missing", wrong["reason"])
        self.assertIn("sweep='k=200:2000:200,m=2:3'", wrong["asked"]["python"])
        again = ask(lost_at_1000, problem="matmul", sweep="k=200:2000:200,m=2:3", fixtures=wrong["case"])
        self.assertEqual([r["verdict"] for r in again.judgements if r["claim"] == "bounded"], ["refuted"])
        result = ask(lost_at_4097, around=["k=4096", 5], fixtures="normal/f32/sum/17x257/*,sweep/*", claims="bounded,batch_invariant,fresh_process")
        swept = {r["cols"]: r["verdict"] for r in result.judgements if r["claim"] == "bounded"}
        self.assertEqual(swept, {257: "held", **{k: "refuted" if k == 4097 else "held" for k in range(4093, 4100)}})
        for asked in {"sweep": "k=8:9:1"}, {"around": "k=9", "fixtures": "sweep/*"}:
            result = ask(to_import.row_sum, claims="fresh_process", **asked)
            self.assertEqual({r["verdict"] for r in result.judgements if r["claim"] == "fresh_process"}, {"held"}, result)
        for wrong, told in ({"sweep": "k"}, "sweep='k': a text, AXIS=FIRST:LAST:STEP"), ({"sweep": ["k=8"]}, r"^sweep=\['k=8'\]: a text, AXIS="), ({"sweep": "layout=nt,layout=nt"}, "^sweep='layout=nt': is given twice|^sweep='layout=nt' is given twice"), ({"problem": ""}, "^problem='': it is empty; a signature is like"), ({"sweep": 5}, "sweep=5: "), ({"sweep": "q=1:2"}, "^sweep='q=1:2': "), ({"sweep": "m=9:1"}, "^sweep='m=9:1': m=9:1 ends before it begins"):
            with self.assertRaisesRegex(ValueError, told):
                ask(lost_at_4097, **wrong)
        with self.assertRaisesRegex(TypeError, "^problem=None: a text, such as 'sum'"):
            ask(lost_at_4097, problem=None)
        result = ask(lambda values, keys, slots: np.stack([np.bincount(keys, v, slots) for v in values.T], 1).astype(values.dtype), problem="keyed", sweep="k=8:9,keys=sorted,keys=hot", claims="bounded")
        self.assertEqual(len(result.judgements), result.counts["held"])
        self.assertEqual({r["case"].split("/")[4] for r in result.judgements if r["claim"] == "bounded"}, {"sorted", "hot"})
        for wrong in ({"sweep": "k=8:16", "problem": "rows"}, {"around": "k=16", "problem": "rows"}, {"sweep": "k=8:16", "data": np.ones((2, 8), "f4")}):
            with self.assertRaisesRegex(ValueError, "swe"):
                ask(lost_at_4097, **wrong)

    def test_a_callable_that_takes_other_arguments_ends_at_once(self):
        seen = []

        def of_two(A, B):
            seen.append(A.shape)
            return A @ B

        class Of:
            def __call__(self, x, y=0):
                return x.sum(-1)

        for fn, problem, told in ((of_two, "sum", r"^py/.*of_two takes \(A, B\), and for problem 'sum' foldproof calls it with 1 argument: an array of shape \(\d+, \d+\)$"),
                                  (to_import.row_sum, "matmul", r"takes \(x\), and for problem 'matmul' foldproof calls it with 2 arguments: arrays of shapes \(\d+, \d+\) and \(\d+, \d+\)$"),
                                  (lambda: 0, "ij->i", r"takes \(\), and for problem 'sum' foldproof calls it with 1 argument"),
                                  (of_two, "keyed", r"calls it with 3 arguments: arrays of shapes .* and the number of slots, \d+$"),
                                  (Of(), "keyed", r"takes \(x, y=0\), ")):
            with self.assertRaisesRegex(TypeError, told):
                foldproof.judge(fn, problem=problem, like="numpy")
        self.assertEqual(seen, [])
        self.assertEqual(judge(Of(), "bounded", fixtures="normal/f32/sum/17x257/*").counts["broken"], 0)

        @functools.wraps(of_two)
        def wrapped(*given):
            return of_two(*given)

        result = judge(wrapped, "bounded", fixtures="normal/f32/sum/17x257/*,normal/f32/sum/33x33/*")
        self.assertEqual(result.counts["broken"], len(result.judgements), "its own mistake, and not the call's")
        self.assertGreater(len(result.judgements), 1)

    def test_a_signature_without_results(self):
        for problem in ("ij,jk", "ij, j"):
            with self.assertRaisesRegex(ValueError, f"^problem='{problem}': a signature has an arrow.*'ij,jk->ik'"):
                foldproof.judge(to_import.row_sum, problem=problem)
        with self.assertRaisesRegex(ValueError, "^py/row_sum: its problems has the unknown word 'maks'"):
            foldproof.judge(to_import.row_sum, problem="maks")

    def test_a_list_that_is_none_is_told_by_its_name(self):
        for option in ("dtypes", "claims", "only", "fixtures"):
            with self.assertRaisesRegex(TypeError, f"^{option}=5: names are text"):
                foldproof.judge(to_import.row_sum, **{option: 5})
            with self.assertRaisesRegex(ValueError, f"^{option}='' names nothing"):
                foldproof.judge(to_import.row_sum, **{option: ""})

    def test_an_unknown_problem_is_told_with_all_that_are_allowed(self):
        with self.assertRaisesRegex(ValueError, "unknown word 'mean'.*allowed: sum, prod, max, min, dot, sumsq, asum, matvec, matmul, scan, scan_max, scan_min, exclusive_scan, keyed, rows"):
            foldproof.judge(to_import.row_sum, problem="mean")
        with self.assertRaisesRegex(ValueError, "its problems names 'rows' with others: a function of rows has no other problem"):
            foldproof.judge(to_import.row_sum, problem="sum,rows")

    def test_a_fixture_of_another_set(self):
        with self.assertRaisesRegex(ValueError, "matches 'large_random': set='all' has it"):
            foldproof.judge(to_import.row_sum, like="numpy", fixtures="large_random", set="default")

    def test_options_that_are_none(self):
        with self.assertRaises(TypeError):
            foldproof.verify(to_import.row_sum, dtype="f32")

    def test_import_without_a_library(self):
        env = dict(os.environ, FOLDPROOF_LIBRARY="/nowhere.so", PYTHONPATH=str(Path(foldproof.__file__).parents[1]))
        done = subprocess.run([sys.executable, "-c", "import foldproof; foldproof.exact(b'')"], env=env, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertNotIn("cannot be loaded", done.stderr)  # an empty bytes is no array: it comes first
        done = subprocess.run([sys.executable, "-c", "import foldproof; foldproof.__version__"], env=env, stderr=subprocess.PIPE, text=True)
        self.assertIn("foldproof's library cannot be loaded", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
