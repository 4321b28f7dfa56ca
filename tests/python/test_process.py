#!/usr/bin/env python3
"""Python callables in their caller's process: foldproof reports and puts back what one leaves changed there, and other threads go on.

test_process.py LIBRARY FIXTURES SANITIZERS
"""
import concurrent.futures
import ctypes
import decimal
import gc
import io
import locale
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import here  # noqa: F401
import numpy as np

import foldproof

ONE = "normal/f32/sum/3x1000/seed1"
LIBC = ctypes.CDLL(None)
UPWARD = {"x86_64": 0x800, "aarch64": 0x400000}.get(os.uname().machine)


def judge(fn, claims="run_to_run", fixtures="control*,uniform*", **more):
    return foldproof.judge(fn, like="numpy", claims=claims, fixtures=fixtures, **more)


def row_sum(x):
    return x.sum(-1)


def prints(x):
    print("a line of its own")
    return row_sum(x)


def redirect(descriptor):
    with tempfile.TemporaryFile() as file:  # not what the suite itself may print into
        os.dup2(file.fileno(), descriptor)


def other_precision():
    decimal.getcontext().prec = 5


# What a callable does at its third run; what foldproof reports of it; how a test sees that it is as before.
LEAVES = {
    "SIGINT ignored": (lambda: signal.signal(signal.SIGINT, signal.SIG_IGN), "the handler of signal 2 (", lambda: signal.getsignal(signal.SIGINT)),
    "SIGINT handled": (lambda: signal.signal(signal.SIGINT, lambda *_: None), "the handler of signal 2 (", lambda: signal.getsignal(signal.SIGINT)),
    "SIGTERM of C": (lambda: LIBC.signal(15, ctypes.c_void_p(1)), "the handler of signal 15 (", lambda: LIBC.signal(15, ctypes.c_void_p(0))),
    "signal mask": (lambda: signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1}), "the signal mask", lambda: signal.pthread_sigmask(signal.SIG_BLOCK, ())),
    "locale": (lambda: locale.setlocale(locale.LC_CTYPE, "C" if locale.setlocale(locale.LC_CTYPE) != "C" else "C.UTF-8"), "the locale", lambda: locale.setlocale(locale.LC_CTYPE)),
    "folder": (lambda: os.chdir("/"), "the current folder", os.getcwd),
    "variable": (lambda: os.environ.update(FOLD_LEFT="1"), "the environment's variable FOLD_LEFT", os.environ.copy),
    "variable lost": (lambda: os.environ.pop("FOLD_THERE"), "the environment's variable FOLD_THERE", os.environ.copy),
    "standard output": (lambda: redirect(1), "the process's standard output", lambda: os.fstat(1).st_ino),
    "child": (lambda: subprocess.Popen(["sleep", "1000"]), "a process that it started and did not wait for", lambda: None),
    "numpy's buffers": (lambda: np.setbufsize(16), "the size of numpy's buffers", np.getbufsize),
    "numpy": (lambda: np.seterr(all="raise"), "numpy's handling of floating-point errors", np.geterr),
    "sys.stdout": (lambda: setattr(sys, "stdout", io.StringIO()), "sys.stdout", lambda: sys.stdout),
    "recursion": (lambda: sys.setrecursionlimit(700), "Python's recursion limit", sys.getrecursionlimit),
    "garbage": (gc.disable, "whether Python collects garbage", gc.isenabled),
    "switches": (lambda: sys.setswitchinterval(0.1), "Python's switch interval", sys.getswitchinterval),
    "decimal": (other_precision, "the decimal context", lambda: decimal.getcontext().prec),
    "decimal's limits": (lambda: setattr(decimal.getcontext(), "Emax", 9), "the decimal context", lambda: decimal.getcontext().Emax),
    "decimal's traps": (lambda: decimal.getcontext().traps.update({decimal.Inexact: True}), "the decimal context", lambda: decimal.getcontext().traps[decimal.Inexact]),
}
if UPWARD:
    LEAVES["rounding"] = (lambda: ctypes.CDLL("libm.so.6").fesetround(UPWARD), "the rounding mode", ctypes.CDLL("libm.so.6").fegetround)


class State(unittest.TestCase):
    def tearDown(self):
        subprocess.run(["pkill", "-KILL", "-P", str(os.getpid()), "sleep"])
        try:
            while os.waitpid(-1, os.WNOHANG) != (0, 0):
                pass
        except ChildProcessError:
            pass

    def test_what_a_callable_leaves_is_told_and_put_back(self):
        os.environ["FOLD_THERE"] = "1"
        for what, (leave, words, now) in LEAVES.items():
            with self.subTest(what):
                runs = []

                def leaving(x):
                    sums = row_sum(x)
                    runs.append(0)
                    if len(runs) == 3:
                        leave()
                    return sums

                before = now()
                result = judge(leaving, fixtures=ONE)
                self.assertEqual(now(), before)
                told = [r for r in result.judgements if r["verdict"] != "held"]
                also = [("run_to_run", "refuted")] if what == "rounding" else []  # later calls round as this one has left it
                self.assertEqual([(r["claim"], r["verdict"]) for r in told], [*also, ("leaves_no_trace", "refuted")])
                self.assertIn(f"it left changed: {words}", told[-1]["reason"])
                judge(row_sum, "run_to_run,bounded", ONE).check()

    def test_what_holds_says_that_kept_memory_is_not_looked_at(self):
        kept = []

        def keeps(x):
            kept.append(bytearray(1000))
            return row_sum(x)

        held = [r for r in judge(keeps, fixtures=ONE).check().judgements if r["claim"] == "leaves_no_trace"]
        self.assertEqual([(r["verdict"], r["reason"].split(":")[0]) for r in held], [("held", "memory that its runs keep is not looked at, but for results")])

    def test_results_that_are_all_kept_are_told(self):
        def keeps(x):
            results.append(row_sum(x))
            return results[-1]

        def keeps_what_it_gives_a_view_of(x):
            results.append(np.append(row_sum(x), x.dtype.type(0)))
            return results[-1][:-1]

        def in_rings(x):
            results[:] = [*results[-127:], row_sum(x)]
            return results[-1]

        def in_a_cycle(x):
            class Sums(np.ndarray):
                pass

            sums = row_sum(x).view(Sums)
            sums.itself = sums
            return sums

        class Own:
            """Not numpy's: what it calls a base is its own affair."""

            base = property(lambda self: self)

            def __init__(self, sums):
                self.__dlpack__, self.__dlpack_device__ = sums.__dlpack__, sums.__dlpack_device__

        def of_another_library(x):
            return Own(row_sum(x))

        def cached(x):
            return known.setdefault((x.shape, x.tobytes()), row_sum(x))

        gc.disable()  # so that cycles are not collected by chance
        try:
            for fn, told in ((keeps, True), (keeps_what_it_gives_a_view_of, True), (in_rings, False), (in_a_cycle, False), (cached, False), (of_another_library, False)):
                results, known = [], {}
                refuted = {(r["claim"], r["reason"]) for r in judge(fn, only="leaves_no_trace", fixtures=ONE).judgements if r["verdict"] != "held"}
                want = {("leaves_no_trace", "it keeps its results: those of 256 runs are all there")} if told else set()
                self.assertEqual(refuted, want, fn.__name__)
        finally:
            gc.enable()

    def test_a_result_that_a_thread_writes_to_later_is_told(self):
        def start(work):
            threads.append(threading.Thread(target=work, daemon=True))
            threads[-1].start()

        def adds_later(x):
            sums = np.zeros(len(x), x.dtype)
            start(lambda: (time.sleep(0.01), np.copyto(sums, row_sum(x))))
            return sums

        def spoils_later(x):
            sums = row_sum(x)
            start(lambda: (time.sleep(0.01), sums.fill(7)))
            return sums

        def joins(x):
            sums = np.zeros(len(x), x.dtype)
            start(lambda: (time.sleep(0.001), np.copyto(sums, row_sum(x))))
            threads[-1].join()
            return sums

        def leaves_threads(x):
            if len(threads) < 9:
                start(done.wait)
            return row_sum(x)

        def spoils_by_a_pool(x):
            sums = row_sum(x)
            pool.submit(lambda: (time.sleep(0.001), sums.fill(7)))
            return sums

        def waits_for_a_pool(x):
            return pool.submit(row_sum, x).result()

        pool = concurrent.futures.ThreadPoolExecutor(1)
        self.addCleanup(pool.shutdown)
        pool.submit(int).result()  # its thread is there before any call
        for fn, told in ((adds_later, True), (spoils_later, True), (joins, False), (leaves_threads, False), (spoils_by_a_pool, True),
                         (waits_for_a_pool, False)):
            threads, done = [], threading.Event()
            try:
                refuted = {(r["claim"], r["reason"]) for r in judge(fn, only="leaves_no_trace", fixtures=ONE).judgements if r["verdict"] != "held"}
            finally:
                done.set()
                for thread in threads:
                    thread.join()
            want = {("leaves_no_trace", "it left changed: its output, by a thread that wrote to it after the call had returned")} if told else set()
            self.assertEqual(refuted, want, fn.__name__)

    def test_a_child_that_comes_back_from_the_callable_ends(self):
        children = []

        def forks(x):
            if not children:
                children.append(os.fork())
            return row_sum(x)

        result = judge(forks, fixtures=ONE)
        self.assertNotEqual(children, [0])  # that one would be counted as a test, too
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(children[0], 0)[1]), 99)
        self.assertEqual([r["claim"] for r in result.judgements if r["verdict"] == "refuted"], ["leaves_no_trace"])

    def test_what_a_twin_leaves_is_not_told_of_who_is_judged(self):
        def leaving(x):
            other_precision()
            return row_sum(x)

        precision = decimal.getcontext().prec
        foldproof.judge(row_sum, like="numpy", same_bits_as=leaving, fixtures=ONE).check()
        self.assertEqual(decimal.getcontext().prec, precision)


class Process(unittest.TestCase):
    def test_other_threads_go_on(self):
        """A machine may stand still for a moment, but not each time."""
        shares = []
        while not shares or (shares[-1] >= 0.5 and len(shares) < 3):
            shares.append(self.longest_gap())
        self.assertLess(shares[-1], 0.5)

    def longest_gap(self):
        """Between two ticks of another thread, as a part of the time of all."""
        ticks, done = [], threading.Event()

        def tick():
            while not done.wait(0.001):
                ticks.append(time.perf_counter())

        def slow(x):
            time.sleep(0.01)
            return x.sum(-1)

        thread = threading.Thread(target=tick)
        thread.start()
        began = time.perf_counter()
        try:
            judge(slow, fixtures="uniform*")
            judge(row_sum, "bounded", fixtures="normal*")
        finally:
            done.set()
            thread.join()
        self.assertGreater(len(ticks), 20)
        gaps = np.diff([began, *ticks])
        return gaps.max() / gaps.sum()

    def test_memory_of_other_threads_is_not_the_callables(self):
        asked, kept, done = threading.Semaphore(0), threading.Semaphore(0), threading.Event()

        def keep():
            while asked.acquire() and not done.is_set():
                LIBC.malloc(5000)
                kept.release()

        def waits(x):
            asked.release()
            kept.acquire()
            return row_sum(x)

        thread = threading.Thread(target=keep)
        thread.start()
        try:
            verdicts = judge(waits, "leaves_no_trace", ONE).verdicts
        finally:
            done.set()
            asked.release()
            thread.join()
        self.assertEqual(verdicts["leaves_no_trace"], {"held": 1})

    def test_output_goes_where_it_goes(self):
        out, sys.stdout = sys.stdout, io.StringIO()
        try:
            judge(prints, fixtures="control*")
            said = sys.stdout.getvalue()
        finally:
            sys.stdout = out
        self.assertIn("a line of its own", said)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
