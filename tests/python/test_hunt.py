#!/usr/bin/env python3
"""foldproof.hunt: random cases for a callable, each refuted one made small. test_hunt.py LIBRARY FIXTURES SANITIZERS"""
import contextlib
import io
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

import here
import numpy as np
from importable import to_import

import foldproof
from foldproof import _hunt


def row_sum(x):
    return x.sum(-1)


def loses_one(x):
    """One length in 24."""
    return x.sum(-1) if x.shape[1] % 24 != 23 else x[:, 1:].sum(-1)


def dies(x):
    if x.shape[1] > 100:
        os.kill(os.getpid(), signal.SIGKILL)
    return x.sum(-1)


class Kept(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def hunt(self, fn, **asked):
        return foldproof.hunt(fn, **{"like": "numpy", "seed": 7, "found": self.folder.name, "check": False, "jobs": 1, "claims": "bounded,run_to_run", **asked})


class Hunts(Kept):
    def test_nothing_is_found(self):
        hunt = self.hunt(row_sum, cases=150)
        self.assertEqual((hunt.found, hunt.cases, hunt.seed), ([], 150, 7))
        self.assertIs(hunt.check(), hunt)
        self.assertGreater(hunt.counts["held"], 150)
        self.assertEqual(hunt.counts["refuted"] + hunt.counts["broken"], 0)
        self.assertEqual((hunt.problems, hunt.dtypes), ({"sum": 150}, {"f32": 150}))
        self.assertIn("0 found in 150 cases", str(hunt))
        self.assertIn("seed 0x7", repr(hunt))
        self.assertEqual(os.listdir(self.folder.name), [])

    def test_a_find_is_small_and_judged_again_by_its_line(self):
        hunt = self.hunt(loses_one, time=300, first=True, name="mine")
        find, = hunt.found
        self.assertEqual((find.subject, find.claim, find.seed, find.record["cols"]), ("mine", "bounded", 7, 23))
        self.assertEqual(os.path.dirname(find.path), self.folder.name)
        self.assertEqual(find.record["found"]["other_terms"], 0)
        for words in ("term", "got 0x", "made small from hunt/f32/sum/", f"fixture: {find.path}", f"reproduce: {find.replay}"):
            self.assertIn(words, find.text)
        with self.assertRaises(foldproof.Refuted) as refuted:
            exec(find.replay)
        self.assertEqual((refuted.exception.claim, refuted.exception.case), ("bounded", find.case))
        self.assertIn(f"fixtures='{find.path}'", refuted.exception.replay)
        with self.assertRaises(foldproof.Refuted) as again:
            hunt.check()
        self.assertIn("made small from", str(again.exception))
        foldproof.verify(row_sum, like="numpy", claims="bounded", fixtures=find.path)

    def test_refuted_is_raised(self):
        with self.assertRaises(foldproof.Refuted):
            self.hunt(loses_one, time=300, first=True, check=True)

    def test_the_same_seed_gives_the_same_cases(self):
        def told(x):
            with open(os.path.join(self.folder.name, "shapes"), "a") as file:
                file.write(f"{x.shape} {x.tobytes().hex()[:16]}\n")
            return x.sum(-1)

        def shapes(seed):
            self.hunt(told, cases=64, seed=seed)
            path = Path(self.folder.name) / "shapes"
            text = path.read_text()
            path.unlink()
            return text

        first = shapes(3)
        self.assertEqual(len(set(first.splitlines()[:2])), 1)  # no other input of the shape came before
        self.assertEqual(first, shapes(3))
        self.assertNotEqual(first, shapes(4))

    def test_a_callable_that_ends_its_process(self):
        hunt = self.hunt(dies, time=300, first=True)
        self.assertIn("killed by signal 9", hunt.found[0].text)
        self.assertRaises(foldproof.Broken, hunt.check)

    def test_an_exception(self):
        def fails(x):
            if x.shape[1] == 13:
                raise RuntimeError("thirteen")
            return x.sum(-1)

        hunt = self.hunt(fails, time=300, first=True)
        self.assertIn("RuntimeError: thirteen", hunt.found[0].text)
        self.assertEqual(hunt.found[0].record["cols"], 13)

    def test_state_of_earlier_calls(self):
        longest = [0]

        def by_longest(x):
            longest[0] = max(longest[0], x.shape[1])
            return x.sum(-1) if longest[0] < 600 else x[:, 1:].sum(-1)

        hunt = self.hunt(by_longest, time=300, first=True)
        self.assertEqual(hunt.found[0].claim, "bounded")
        self.assertEqual(longest, [0])  # it ran in other processes

    def test_two_that_differ(self):
        hunt = self.hunt(lambda x: x.sum(-1), same_bits_as=lambda x: np.float32(x.astype("f8").sum(-1)), time=300, first=True, claims="same_bits_as")
        self.assertEqual(hunt.found[0].claim, "same_bits_as")

    def test_products(self):
        def loses_a_tail(a, b):
            return to_import.matrices(a, b) if a.shape[-1] % 8 != 7 else to_import.matrices(a[..., :-1], b[..., :-1, :])

        hunt = self.hunt(loses_a_tail, problem="matmul", time=300, first=True, claims="bounded")
        self.assertEqual(hunt.found[0].record["op"], "matmul")
        self.assertEqual(hunt.found[0].record["shape"][3] % 8, 7)
        self.assertEqual(self.hunt(to_import.matrices, problem="matmul", cases=64, claims="bounded").counts["refuted"], 0)

    def test_functions_of_rows(self):
        def by_batch(x):
            return x / (x[:, :1] if len(x) < 5 else x[:1, :1] + x[:, :1])

        find, = self.hunt(by_batch, problem="rows", time=300, first=True, claims="batch_invariant").found
        self.assertEqual(find.claim, "batch_invariant")
        self.assertNotIn("got 0x", find.text)
        self.assertEqual(self.hunt(to_import.softmax, problem="rows", cases=64, claims="run_to_run,batch_invariant").counts["refuted"], 0)

    def test_one_of_several_outputs(self):
        hunt = self.hunt(lambda x: (x, loses_one(x)), outputs=1, time=300, first=True)
        self.assertEqual(hunt.found[0].record["cols"], 23)

    def test_the_pool_of_threads_of_this_process(self):
        pool = "ctypes.CDLL('libgomp.so.1').GOMP_parallel(ctypes.CDLL(None).getpid, None, 3, 0)"  # three threads, as torch or scikit-learn make them
        script = f"import ctypes, foldproof, numpy; {pool}; print(foldproof.hunt(lambda x: x.sum(-1), like='numpy', cases=64))"
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=100, env={**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2] / "python")})
        self.assertIn("0 found in 64 cases", done.stdout, done.stderr)

    def test_two_processes(self):
        hunt = self.hunt(row_sum, cases=200, jobs=2)
        self.assertEqual((hunt.cases, hunt.found), (200, []))

    def test_skipped_cases_prove_nothing(self):
        def skips(_):
            raise NotImplementedError("no case")

        self.assertRaises(foldproof.NothingJudged, self.hunt(skips, cases=64).check)


def works_here_only(fn):
    """As what has threads, or a context of a driver, that a forked process lacks."""
    own = os.getpid()

    def refuses(*x):
        if os.getpid() != own:
            raise RuntimeError("it does not work after a fork")
        return fn(*x)
    return refuses


class InThisProcess(Kept):
    def here(self, fn, **asked):
        return self.hunt(works_here_only(fn), in_process=True, **{"jobs": None, "name": "mine", **asked})

    def test_nothing_is_found(self):
        hunt = self.here(row_sum, cases=150)
        self.assertEqual((hunt.found, hunt.cases, hunt.counts["refuted"], hunt.counts["broken"]), ([], 150, 0, 0))
        self.assertGreater(hunt.counts["held"], 150)
        self.assertIn("it does not work after a fork", self.hunt(works_here_only(row_sum), cases=150, name="mine").found[0].text)

    def test_a_find(self):
        find, = self.here(loses_one, time=300, first=True).found
        self.assertEqual((find.subject, find.claim, find.record["cols"], find.record["found"]["other_terms"]), ("mine", "bounded", 23, 0))
        apart, = self.hunt(loses_one, time=300, first=True, name="mine").found
        self.assertEqual(Path(find.path).read_text(), Path(apart.path).read_text())

    def test_the_time(self):
        def slow(x):
            time.sleep(0.01)
            return x.sum(-1)

        begun = time.monotonic()
        self.assertEqual(self.here(slow, time=1).found, [])
        self.assertLess(time.monotonic() - begun, 20)

    def test_an_interruption(self):
        def interrupts(x):
            if x.shape[1] > 100:
                os.kill(os.getpid(), signal.SIGINT)
                time.sleep(0.1)
            return x.sum(-1)

        self.assertRaises(KeyboardInterrupt, self.here, interrupts, time=300)
        self.assertEqual(os.listdir(self.folder.name), [])

    def test_an_interruption_keeps_what_the_round_has_found(self):
        wrong = set()

        def interrupts(x):
            if len(wrong) > 2 and x.shape not in wrong:
                os.kill(os.getpid(), signal.SIGINT)
                time.sleep(0.1)
            if x.shape[1] > 99:
                wrong.add(x.shape)
                return np.full(len(x), np.inf, "f4")
            return x.sum(-1)

        errors = io.StringIO()
        with contextlib.redirect_stderr(errors):
            self.assertRaises(KeyboardInterrupt, self.here, interrupts, time=300)
        file, = os.listdir(self.folder.name)
        told = errors.getvalue()
        for words in ("mine: bounded is refuted on found-", "not made small: hunt/f32/sum/", f"fixture: {self.folder.name}/{file}", "1 found in "):
            self.assertIn(words, told)
        self.assertRaises(foldproof.Refuted, foldproof.verify, lambda x: np.full(len(x), np.inf, "f4"), like="numpy", claims="bounded", fixtures=os.path.join(self.folder.name, file))

    def test_a_callable_that_takes_nothing(self):
        self.assertRaises(TypeError, self.hunt, lambda: 0, in_process=True, jobs=None, cases=10)

    def test_a_ledger(self):
        ledger = os.path.join(self.folder.name, "known.jsonl")
        find, = self.here(loses_one, time=300, first=True, ledger=ledger).found
        again = self.here(loses_one, cases=200, ledger=ledger)
        self.assertEqual((again.found, again.holds), ([], []))
        self.assertIn(find.path, self.here(row_sum, cases=64, ledger=ledger).holds[0])

    def test_jax(self):
        try:
            import jax.numpy as jnp
        except ImportError:
            self.skipTest("no JAX here")
        hunt = self.hunt(lambda x: jnp.sum(x, -1), like="jax", cases=100, jobs=None, claims="run_to_run")  # XLA flushes subnormal sums, outside their bound
        self.assertEqual((hunt.found, hunt.cases, hunt.counts["broken"]), ([], 100, 0))
        find, = self.hunt(lambda x: jnp.zeros(len(x), x.dtype), like="jax", time=300, first=True, jobs=None, claims="bounded").found
        self.assertEqual((find.record["cols"], find.record["found"]["other_terms"]), (1, 0))


class Ledgers(Kept):
    def test_known_failures(self):
        ledger = os.path.join(self.folder.name, "known.jsonl")
        find, = self.hunt(loses_one, time=300, first=True, ledger=ledger, name="mine").found
        self.assertEqual(str(Path(ledger).parent / json.loads(Path(ledger).read_text())["fixture"]), find.path)
        again = self.hunt(loses_one, cases=200, ledger=ledger, name="mine")
        self.assertEqual((again.found, again.holds), ([], []))
        self.assertGreater(again.expected, 0)
        again.check()
        repaired = self.hunt(row_sum, cases=64, ledger=ledger, name="mine")
        self.assertIn(f"{find.path}: a known failure of bounded no longer fails", repaired.holds[0])
        self.assertRaises(foldproof.KnownHolds, repaired.check)


class Refused(Kept):
    def refused(self, words, kind=ValueError, **asked):
        with self.assertRaisesRegex(kind, words):
            self.hunt(row_sum, **asked)

    def test_options(self):
        self.refused("'fixtures' is no option of foldproof.hunt, which draws the cases", TypeError, fixtures="*")
        self.refused("'tome' is no option of foldproof.verify", TypeError, tome=3)
        for time_ in ("", "5d", "-1", 0, float("inf"), True):
            self.refused("time=.*: a number of seconds, or as '60s', '5m', '2h'", time=time_)
        self.refused("cases=0: 1 to", cases=0)
        self.refused("seed=-1: 0 to", seed=-1)
        self.refused("jobs=9: 1 to 8", jobs=9)
        for what in (("jax", "cpu"), ("torch", "cuda")):
            self.assertTrue(_hunt.runs_here(None, *what))
            self.assertRaisesRegex(ValueError, "=.*, in_process=False: it does not work in forked processes", _hunt.runs_here, False, *what)
        self.refused("jobs=2: a callable that is called in this process has one", jobs=2, in_process=True)
        self.refused("py/row_sum: its problems has the unknown word 'some'", problem="some")

    def test_a_ledger_that_is_none(self):
        path = os.path.join(self.folder.name, "ledger")
        Path(path).write_text("no JSON\n")
        self.refused("no line of a ledger", ledger=path)

    def test_a_folder_that_cannot_be_made(self):
        with self.assertRaisesRegex(ValueError, "cannot be written"):
            self.hunt(loses_one, time=300, found="/dev/null/found")


SCRIPT = """
import sys, time
sys.argv = ["test", *sys.argv[1:]]
import here, foldproof
def slow(x):
    time.sleep(0.001)
    return x.sum(-1)
print("begins", flush=True)
foldproof.hunt(slow, time="1h", like="numpy", jobs=2, found=sys.argv[4])
"""
FINDS = """
import sys, time
sys.argv = ["test", *sys.argv[1:]]
import here, foldproof, numpy
def wrong(x):
    open(sys.argv[4] + "/called", "w").close()
    time.sleep(0.05)
    return numpy.full(len(x), numpy.inf, "f4")
print("begins", flush=True)
foldproof.hunt(wrong, time="1h", like="numpy", jobs=2, claims="bounded", found=sys.argv[4], _shrinking=3600)
"""


class Interrupted(Kept):
    def test_no_process_is_left(self):
        self.interrupt(SCRIPT, lambda: True)

    def test_what_was_found_is_printed(self):
        called = Path(self.folder.name) / "called"
        told = self.interrupt(FINDS, called.exists)
        called.unlink()
        file, = os.listdir(self.folder.name)
        for words in ("wrong: bounded is refuted on found-", f"fixture: {self.folder.name}/{file}", "1 found in "):
            self.assertIn(words, told)

    def interrupt(self, script, is_ready):
        """What it prints as errors."""
        here_folder = str(Path(__file__).resolve().parent)
        child = subprocess.Popen([sys.executable, "-c", script, here.LIBRARY, here.FIXTURES, "none", self.folder.name], cwd=here_folder, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, text=True, start_new_session=True)
        self.assertEqual(child.stdout.readline(), "begins\n")
        while not is_ready():
            time.sleep(0.1)
        time.sleep(2)
        child.send_signal(signal.SIGINT)
        _, errors = child.communicate(timeout=60)
        self.assertIn("KeyboardInterrupt", errors)
        left = subprocess.run(["pgrep", "-s", str(child.pid)], capture_output=True, text=True).stdout
        self.assertEqual(left, "")
        return errors


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
