#!/usr/bin/env python3
"""Python callables: functions of rows, new processes, lines that replay.

test_callables.py LIBRARY FIXTURES SANITIZERS
"""
import collections
import contextlib
import ctypes
import errno
import functools
import importlib
import os
import pickle
import re
import platform
import resource
import signal
import subprocess
import sys
import textwrap
import unittest
import unittest.mock
from pathlib import Path

from importable import folder, judge, to_import
import numpy as np

import foldproof
from foldproof import _callable


def variables(error, function):
    """The names of that function's, in the frames of an exception's traceback: to show what they hold may read memory that is gone."""
    tb = error.__traceback__
    while tb is not None:
        if tb.tb_frame.f_code.co_name == function:
            yield list(tb.tb_frame.f_locals)
        tb = tb.tb_next


def in_turn(x):
    return np.cumsum(x, axis=1, dtype=x.dtype)[:, -1] if x.shape[1] else np.zeros(len(x), x.dtype)


@unittest.skipUnless(platform.machine() == "x86_64", "the number of the rounding mode is another one")
class Arithmetic(unittest.TestCase):
    """A callable runs in its caller's arithmetic, which an import may have set, or its own first call; foldproof's own is the default one."""
    UPWARD = 0x800

    def setUp(self):
        self.round = ctypes.CDLL("libm.so.6").fesetround
        self.addCleanup(self.round, 0)

    def counts(self, fn):
        found = foldproof.judge(fn, order="host/sequential", claims="replays,run_to_run", fixtures="normal/f32/sum/1x1*")
        return collections.Counter(record["claim"] for record in found.judgements if record["verdict"] == "refuted")

    def test_in_the_callers_arithmetic(self):
        self.assertEqual(self.counts(in_turn)["replays"], 0)
        self.round(self.UPWARD)
        counts = self.counts(in_turn)
        self.assertGreater(counts["replays"], 2)
        self.assertEqual((counts["run_to_run"], counts["leaves_no_trace"]), (0, 0))

    def test_as_the_first_call_leaves_it(self):
        calls = []

        def sets(x):
            if not calls:
                self.round(self.UPWARD)
            calls.append(1)
            return in_turn(x)

        counts = self.counts(sets)
        self.assertGreater(counts["replays"], 2)
        self.assertEqual(counts["leaves_no_trace"], 1)


class Rows(unittest.TestCase):
    """problem="rows": nothing is known of the function, and results may have any length."""

    def refuted(self, claim, fn, **more):
        with self.assertRaises(foldproof.Refuted) as caught:
            foldproof.verify(fn, problem="rows", like="numpy", claims=claim, fixtures="normal/f32/sum/17x257/*", **more)
        self.assertEqual(caught.exception.claim, claim)
        return caught.exception

    def test_what_ends_the_harness_holds_no_array_that_is_gone(self):
        """A program that shows a traceback's variables, as pytest does, would read memory that was given back."""
        def stops(x):
            try:
                raise ValueError(len(x))
            except ValueError:
                signal.raise_signal(signal.SIGINT)

        try:
            judge(stops)
        except KeyboardInterrupt as error:
            held = [found for one in (error, error.__context__) for found in variables(one, "stops")]
        self.assertEqual(held, [[], []])

    @unittest.skipIf(sys.version_info < (3, 11), "there are no groups of exceptions before Python 3.11")
    def test_a_group_of_exceptions_holds_no_array_that_is_gone(self):
        def part(x):
            signal.raise_signal(signal.SIGINT)

        def stops(x):
            try:
                part(x)
            except KeyboardInterrupt as error:
                inner = BaseExceptionGroup("inner", [error])
            raise BaseExceptionGroup("outer", [ValueError(), inner])

        try:
            judge(stops)
        except BaseExceptionGroup as error:
            stopped = error.exceptions[1].exceptions[0]
            held = [*variables(error, "stops"), *variables(stopped, "part")]
        self.assertIsInstance(stopped, KeyboardInterrupt)
        self.assertEqual(held, [[], []])

    def test_softmax_holds(self):
        result = judge(to_import.softmax, "reproducible", problem="rows", dtypes="f32,f64").check()
        for claim in ("run_to_run", "fresh_process", "batch_invariant", "alignment_invariant", "keeps_input"):
            self.assertGreater(result.verdicts[claim]["held"], 2, claim)
        self.assertEqual({r["problem"] for r in result.judgements}, {"rows"})

    def test_one_element_by_batch(self):
        def other_in_batches(x):
            y = to_import.softmax(x)
            if x.shape[0] > 9:
                y[3, 5] = np.nextafter(y[3, 5], np.float32(1))
            return y

        error = self.refuted("batch_invariant", other_in_batches)
        self.assertEqual((error.row, error.element), (3, 5))
        self.assertEqual(abs(int(error.got, 16) - int(error.want, 16)), 1)
        self.assertIn("same bits up to 9 rows, different bits from 10", str(error))

    def test_how_the_order_changed(self):
        def by_rows(x):
            return (x if len(x) < 9 else x[:, ::-1]).cumsum(-1)[:, -1]

        with self.assertRaises(foldproof.Refuted) as caught:
            foldproof.verify(by_rows, like="numpy", claims="batch_invariant", fixtures="normal/f32/sum/17x257/*,normal/f32/sum/33x33/*")
        order = "up to 8 rows: host/sequential; from 9 rows on: host/reverse; x[0] and x[1] first meet in a sum of 2 terms; in the second order, of 33"
        self.assertRegex(str(caught.exception), rf"\n  order( on normal/\S+)?: {re.escape(order)}\n")
        told = [r["order_change"] for r in caught.exception.result.judgements if "order_change" in r]
        self.assertEqual(told, [order])  # once a claim

        def refuses_probes(x):
            if abs(x).max() > 1e30:
                raise ValueError("too large")
            return by_rows(x)

        result = foldproof.judge(refuses_probes, like="numpy", claims="batch_invariant,run_to_run", fixtures="normal/f32/sum/17x257/*")
        self.assertEqual({v for v in result.counts if result.counts[v]}, {"held", "refuted"})
        self.assertIn("order: not known: ValueError: too large", result._describe(result.judgements[0]))
        error = self.refuted("batch_invariant", lambda x: to_import.softmax(x) * np.float32(1 if len(x) < 9 else 3))
        self.assertIn("order: not known: its results are no sums of the terms", str(error))

    def test_sign_of_zero_and_nan(self):
        calls = []

        def other_zero(x):
            calls.append(0)
            return np.full((x.shape[0], 3), -0.0 if len(calls) > 2 else 0.0, np.float32)

        error = self.refuted("run_to_run", other_zero)
        self.assertEqual((error.row, error.element, {error.got, error.want}), (0, 0, {"0x00000000", "0x80000000"}))

        def other_nan(x):
            calls.append(0)
            return np.full((x.shape[0], 3), 0x7FC00000 + len(calls), np.uint32).view(np.float32)

        self.assertGreater(judge(other_nan, problem="rows").verdicts["run_to_run"]["held"], 0)
        for dtype, bits in (("f4", "u4"), ("f8", "u8"), ("f2", "u2"), ("c8", "u4"), ("c16", "u8")):

            def nan_before_it(x):
                y = np.full((x.shape[0], 3), np.nan, dtype)
                y.view(bits)[:, 0] += len(calls) % 5  # of a complex number its real part
                y[:, 1] = len(calls)
                calls.append(0)
                return y

            self.assertEqual(self.refuted("run_to_run", nan_before_it).element, 1)

    def test_order_by_address_and_state(self):
        self.refuted("alignment_invariant", lambda x: x * (1 if x.ctypes.data % 64 == 0 else 2))
        calls = []
        self.refuted("run_to_run", lambda x: calls.append(0) or x + np.float32(len(calls)))

    def test_another_length_or_dtype_in_a_repeat(self):
        calls = []
        error = self.refuted("run_to_run", lambda x: calls.append(0) or np.zeros((x.shape[0], 3 + len(calls) // 3 % 2), x.dtype))
        self.assertIn("of another length or dtype", str(error))
        error = self.refuted("run_to_run", lambda x: calls.append(0) or np.zeros((x.shape[0], 3), "f4" if len(calls) // 3 % 2 else "f8"))
        self.assertIn("of another length or dtype", str(error))

    def test_integers_and_shapes(self):
        for fn in (lambda x: x.argmax(-1), lambda x: x > 0, lambda x: x.astype("f8"), lambda x: np.stack([x, x], -1), lambda x: x[:, ::2]):
            self.assertGreater(judge(fn, problem="rows").check().verdicts["run_to_run"]["held"], 0)
        calls = []
        error = self.refuted("run_to_run", lambda x: calls.append(0) or np.full((x.shape[0], 2), len(calls) // 2))
        self.assertEqual(error.row, 0)

    def test_what_is_no_result_of_rows(self):
        for fn, words in ((lambda x: x.sum(), "its results have shape ()"), (lambda x: x[:1], "its results have shape (1,"),
                          (lambda x: None, "an array is wanted")):
            with self.assertRaises(foldproof.Broken) as caught:
                judge(fn, problem="rows", fixtures="normal/f32/sum/17x257/*,normal/f32/sum/3x1000/*").check()
            self.assertIn(words, str(caught.exception))
        with self.assertRaises(foldproof.Broken) as caught:
            judge(lambda x: x.astype("f8"), problem="rows", result="f32").check()
        self.assertIn("its results are of f64, and not of f32", str(caught.exception))

    def test_twins(self):
        judge(to_import.softmax, problem="rows", same_bits_as=lambda x: to_import.softmax(x.copy())).check()
        self.refuted("same_bits_as", to_import.softmax, same_bits_as=lambda x: to_import.softmax(x.astype("f8")).astype("f4"))

    def test_what_a_callable_hides_is_skipped(self):
        result = judge(np.sort, "writes_output,run_to_run", problem="rows", fixtures="normal/f32/sum/17x257/*")
        skipped = [r for r in result.judgements if r["claim"] == "writes_output"]
        self.assertEqual({r["verdict"] for r in skipped}, {"skipped"})
        self.assertIn("a callable returns its results", skipped[0]["reason"])
        bogus = (foldproof._library.Unseen * 1)((b"bouned", b"why"))
        with unittest.mock.patch("foldproof._verify._unseen", return_value=bogus):
            with self.assertRaisesRegex(ValueError, "claims that are not seen: bouned"):
                judge(np.sort, "run_to_run", problem="rows")
        self.assertEqual([u.claim for u in importlib.import_module("foldproof._verify")._unseen("jax")], [b"writes_output", b"launch_invariant", b"alignment_invariant"])

    def test_a_callable_is_asked_for_no_launch(self):
        asked, answer = [], _callable.Guest._answer

        def note(guest, call):
            asked.append(call.threads or call.blocks or call.block)
            return answer(guest, call)

        with unittest.mock.patch.object(_callable.Guest, "_answer", note):
            judge(to_import.row_sum, "run_to_run,alignment_invariant", fixtures="uniform/f32/sum/4x17/*").check()
        self.assertEqual(set(asked), {0})
        with self.assertRaisesRegex(foldproof.NothingJudged, "a callable takes no launch: new processes try its threads, and none can import it"):
            judge(lambda x: x.sum(-1), "launch_invariant", only="launch_invariant", fixtures="uniform/f32/sum/4x17/*").check()

    def test_what_nobody_can_judge(self):
        for claims in ("bounded", "replays", "correctly_rounded", "split_invariant", "permutation_invariant"):
            with self.assertRaisesRegex(ValueError, f"the value and order of problem rows are not known: it cannot claim {claims}"):
                judge(to_import.softmax, ["run_to_run", claims], problem="rows")
        told = {"run_to_run", "fresh_process", "alignment_invariant", "batch_invariant", "length_invariant"}
        tidy = {"stays_in_bounds", "leaves_no_trace", "keeps_input"}
        self.assertEqual(set(judge(to_import.softmax, "promises", problem="rows").verdicts), told | tidy)
        self.assertEqual(set(judge(to_import.softmax, "accurate", problem="rows").verdicts), tidy)
        for more in ({"order": "host/sequential"}, {"same_bits_as": "host/sequential"}, {"method": "kahan"}):
            with self.assertRaises(ValueError):
                judge(to_import.softmax, problem="rows", **more)

    def test_results_whose_bytes_are_not_all_their_values(self):
        """Pointers, padding and text would differ where the results do not."""
        few = {"problem": "rows", "fixtures": "uniform/f32/sum/4x17/*"}
        pair = np.dtype([("a", "u1"), ("b", "f8")], align=True)
        for dtype in (object, np.longdouble, np.clongdouble, "U1", "S1", pair):
            with self.assertRaisesRegex(foldproof.Broken, "numbers of up to 64 bits are wanted"):
                judge(lambda x, dtype=dtype: np.zeros(x.shape, dtype), **few).check()
        for dtype in ("c8", "c16", "i8", "?", "M8[s]"):
            judge(lambda x, dtype=dtype: np.zeros(x.shape, dtype), **few).check()


class Fresh(unittest.TestCase):
    """fresh_process in a new process that imports the callable."""

    def verdict(self, fn, **more):
        result = judge(fn, "fresh_process", only="fresh_process", fixtures="uniform/f32/sum/4x16384/*", **more)
        self.assertGreater(len(result.judgements), 0)
        found = {(r["verdict"], r.get("reason", "")) for r in result.judgements}
        self.assertEqual(len(found), 1)
        return found.pop(), result

    def test_function_of_a_module_is_held(self):
        for fn in (to_import.row_sum, to_import.Sums.rows, to_import.prints, to_import.softmax):
            (verdict, _), _ = self.verdict(fn, problem="rows" if fn is to_import.softmax else "sum")
            self.assertEqual(verdict, "held", fn)

    def test_other_bits_there(self):
        (verdict, _), result = self.verdict(to_import.by_process)
        self.assertEqual(verdict, "refuted")
        with self.assertRaises(foldproof.Refuted) as caught:
            result.check()
        self.assertEqual(caught.exception.row, 0)
        self.assertNotEqual(caught.exception.got, caught.exception.want)

    def test_other_bits_there_beyond_the_rows_of_a_record(self):
        for fn, problem, element in ((to_import.row_20_elsewhere, "sum", None), (to_import.element_elsewhere, "rows", 3)):
            result = judge(fn, "fresh_process", only="fresh_process", problem=problem, fixtures="normal/f32/sum/33x33/*,normal/f32/sum/17x257/*")
            self.assertEqual([r["verdict"] for r in result.judgements if r["rows"] == 17], ["held"])
            with self.assertRaises(foldproof.Refuted) as caught:
                result.check()
            refuted = caught.exception
            self.assertEqual((refuted.row, refuted.element, refuted.got), (20, element, "0x40e00000"))
            self.assertNotEqual(refuted.want, refuted.got)
            self.assertIn(f"  row 20{', element 3' if element else ''}: got 0x40e00000 (7), want ", str(refuted))

    def test_other_bits_there_that_do_not_come_again(self):
        result = judge(to_import.once_row_20_elsewhere, "fresh_process", only="fresh_process", fixtures="normal/f32/sum/33x33/*")
        self.assertEqual([(r["verdict"], r.get("row")) for r in result.judgements], [("refuted", None)])

    def test_a_call_that_decides_for_all_later_ones(self):
        result = judge(to_import.by_longest, "fresh_process", only="fresh_process", fixtures="uniform/f32/sum/4x17/*,uniform/f32/sum/4x1000/*")
        found = {r["cols"]: (r["verdict"], r.get("reason")) for r in result.judgements}
        self.assertEqual(found[17], ("refuted", "different bits in a new process, which ran the cases in reverse, each after a different input"))

    def test_a_result_that_is_kept_by_the_shape(self):
        result = judge(to_import.by_shape, "fresh_process", only="fresh_process", fixtures="uniform/f32/sum/4x1000/*")
        self.assertEqual([r["verdict"] for r in result.judgements], ["refuted"])

    def test_a_result_that_is_kept_by_the_shape_in_no_module(self):
        kept = {}

        def by_shape(x):
            return kept.setdefault(x.shape, x.sum(-1))

        result = judge(by_shape, "bounded,run_to_run", fixtures="uniform/f32/sum/4x1000/*")
        self.assertEqual([r["claim"] for r in result.judgements if r["verdict"] == "refuted"], ["bounded"])
        self.assertEqual(len(kept), 1)
        judge(lambda x: x.sum(-1), "bounded,run_to_run", fixtures="uniform/f32/sum/4x1000/*").check()

    def test_with_many_files_open(self):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if hard < 1400:
            self.skipTest(f"{hard} files can be open")
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 1400), hard))
        try:
            with contextlib.ExitStack() as files:
                for _ in range(1100):
                    files.enter_context(open(os.devnull))
                self.assertEqual(self.verdict(to_import.row_sum)[0][0], "held")
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))

    def test_with_no_file_left(self):
        to_judge_here = os.pipe()
        with unittest.mock.patch("os.pipe", side_effect=[to_judge_here, OSError(errno.EMFILE, os.strerror(errno.EMFILE))]):
            (verdict, reason), _ = self.verdict(to_import.row_sum)
        self.assertEqual((verdict, reason), ("broken", "a new process cannot be started: Too many open files"))

    def test_failing_and_dying_there(self):
        (verdict, reason), _ = self.verdict(to_import.fails_elsewhere)
        self.assertEqual(verdict, "broken")
        self.assertIn("RuntimeError: not in a new process", reason)
        (verdict, reason), _ = self.verdict(to_import.dies_elsewhere)
        self.assertEqual((verdict, reason), ("broken", "the new process ended with exit code 3: I am leaving"))

    def test_hanging_there(self):
        os.environ["FOLDPROOF_TIMEOUT"] = "1"
        foldproof._fresh._TO_IMPORT = 4
        try:
            (verdict, reason), _ = self.verdict(to_import.hangs_elsewhere)
        finally:
            del os.environ["FOLDPROOF_TIMEOUT"]
            foldproof._fresh._TO_IMPORT = 100
        self.assertEqual(verdict, "broken")
        self.assertIn("the new process said nothing for", reason)

    def test_a_thread_that_never_ends_there(self):
        os.environ["FOLDPROOF_TIMEOUT"] = "1"
        try:
            (verdict, _), _ = self.verdict(to_import.stays_elsewhere)
        finally:
            del os.environ["FOLDPROOF_TIMEOUT"]
        self.assertEqual(verdict, "held")

    def test_what_no_process_can_import_is_skipped(self):
        def local(x):
            return x.sum(-1)

        for fn, words in ((lambda x: x.sum(-1), "is no function of a module"), (local, "is no function of a module"),
                          (of_main, "defined in __main__"), (functional(), "has no name in a module"),
                          (disguised(), "to_import.row_sum is not this callable")):
            (verdict, reason), result = self.verdict(fn)
            self.assertEqual(verdict, "skipped")
            self.assertIn(words, reason)
            with self.assertRaises(foldproof.NothingJudged):
                result.check()


def of_main(x):
    return x.sum(-1)


def functional():
    return functools.partial(np.sum, axis=-1)


def disguised():
    return functools.wraps(to_import.row_sum)(lambda x: x.sum(-1))


class Replays(unittest.TestCase):
    """The line that a failure ends with."""

    def pasted(self, line, lines=""):
        """What a new process says to it."""
        env = dict(os.environ, PYTHONPATH=os.pathsep.join([sys.path[0], str(Path(foldproof.__file__).parents[1])]))
        done = subprocess.run([sys.executable, "-c", lines + line], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, 1, line + done.stderr)
        return done.stderr

    def failure(self, fn, claims="run_to_run", **more):
        with self.assertRaises(foldproof.Failure) as caught:
            foldproof.verify(fn, claims=claims, fixtures="uniform/f32/sum/4x16384/*", like="numpy", **more)
        return caught.exception

    def test_function_of_a_module(self):
        (Path(folder.name) / "lying.py").write_text(textwrap.dedent("""
            import numpy as np
            def down(x):
                return np.nextafter(x.sum(-1), np.float32(-np.inf))
            def up(x):
                return np.nextafter(x.sum(-1), np.float32(np.inf))
        """))
        import lying

        failure = self.failure(lying.up, "correctly_rounded", problem="sum")
        self.assertTrue(failure.replay.startswith("import foldproof, lying; foldproof.verify(lying.up, "), failure.replay)
        said = self.pasted(failure.replay)
        for word in ("foldproof.Refuted", failure.case, failure.claim, failure.got, failure.want, f"row {failure.row}"):
            self.assertIn(word, said)
        failure = self.failure(lying.up, same_bits_as=lying.down, name="mine/up")
        self.assertIn("same_bits_as=lying.down", failure.replay)
        self.assertIn("mine/up: same_bits_as is refuted", self.pasted(failure.replay))

    def test_lambda_by_its_words(self):
        failure = self.failure(lambda x: np.nextafter(x.sum(-1),
                                                      np.float32(9e9)), "correctly_rounded")
        self.assertIn("import foldproof, numpy as np; foldproof.verify(lambda x: np.nextafter(x.sum(-1), np.float32(9e9)), ", failure.replay)
        self.assertIn(failure.got, self.pasted(failure.replay))

    def test_function_of_the_main_program(self):
        lines = "import numpy as np\ndef mine(x):\n    return np.nextafter(x.sum(-1), np.float32(9e9))\n"
        said = self.pasted("import foldproof; foldproof.verify(mine, claims='correctly_rounded', fixtures='uniform/f32/sum/4x16384/*', like='numpy')", lines)
        replay = next(line for line in said.splitlines() if "reproduce: " in line).split("reproduce: ")[1]
        self.assertIn("foldproof.verify(mine, ", replay)
        self.assertIn("correctly_rounded is refuted", self.pasted(replay, lines))

    def test_of_what_no_line_can_name(self):
        step = np.float32(9e9)
        replay = self.failure(lambda x: np.nextafter(x.sum(-1), step), "correctly_rounded").replay
        self.assertIn("foldproof.verify(fn, ", replay)
        self.assertTrue(replay.endswith(")  # fn: your callable, of which no text was found"), replay)

    def told_by(self, said):
        return next(line for line in said.splitlines() if "reproduce: " in line).split("reproduce: ")[1]

    def test_two_lambdas_of_one_line(self):
        up, down = lambda x: np.nextafter(x.sum(-1), np.float32(9e9)), lambda x: np.nextafter(x.sum(-1), np.float32(-9e9))
        for fn, words in ((up, "np.float32(9e9)), "), (down, "np.float32(-9e9)), ")):
            self.assertIn(words, self.failure(fn, "correctly_rounded").replay)

    def test_lambda_of_a_line_of_the_shell(self):
        call = ("import foldproof, numpy as np; foldproof.verify(lambda x: np.nextafter(x.sum(-1), np.float32(9e9)), "
                "claims='correctly_rounded', fixtures='uniform/f32/sum/4x16384/*', like='numpy')")
        replay = self.told_by(self.pasted(call))
        self.assertIn("foldproof.verify(lambda x: np.nextafter(x.sum(-1), np.float32(9e9)), ", replay)
        self.assertIn("correctly_rounded is refuted", self.pasted(replay))

    def test_lambda_typed_at_a_prompt(self):
        try:
            import readline
        except ImportError:
            self.skipTest("no readline")
        texts = [f"wrong = lambda x: np.nextafter(x.sum(-1), np.float32({k}))" for k in ("9e9", "8e9")] + ["not python ("]
        for text in texts:
            readline.add_history(text)
        names = {"np": np}
        for text in reversed(texts[:2]):
            exec(compile(text, "<stdin>", "single"), names)
        self.assertIn("verify(lambda x: np.nextafter(x.sum(-1), np.float32(9e9)), ", self.failure(names["wrong"], "correctly_rounded").replay)

    def test_failure_is_pickled(self):
        failure = self.failure(to_import.by_process, "correctly_rounded")
        again = pickle.loads(pickle.dumps(failure))
        self.assertEqual((str(again), again.replay, again.record), (str(failure), failure.replay, failure.record))
        self.assertIsInstance(again, foldproof.Refuted)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
