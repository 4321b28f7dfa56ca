#!/usr/bin/env python3
"""Exceptions that end a process: a signal's stops the judging, and a callable's own is broken in that case alone.

test_exits.py LIBRARY FIXTURES SANITIZERS
"""
import asyncio
import concurrent.futures
import ctypes
import importlib.util
import operator
import signal
import socket
import sys
import unittest
import unittest.mock

import here  # noqa: F401
import numpy as np

import foldproof  # noqa: E402

ONE_ROW, SEVERAL = "normal/f32/sum/1x1023/*", "normal/f32/sum/17x257/*"


def row_sum(x):
    return x.sum(-1, dtype=x.dtype)


def verify(fn):
    return foldproof.verify(fn, like="numpy", claims="bounded", fixtures=f"{ONE_ROW},{SEVERAL}")


class Exits(unittest.TestCase):
    def test_an_interruption_is_the_callers(self):
        def interrupted(x):
            signal.raise_signal(signal.SIGINT)

        with self.assertRaises(KeyboardInterrupt):
            verify(interrupted)
        verify(row_sum)  # and the next call is as any

    def test_what_a_handler_of_signals_raises_is_the_callers(self):
        def out_of_time(number, frame):
            raise SystemExit("out of time")

        former = signal.signal(signal.SIGALRM, out_of_time)
        try:
            with self.assertRaisesRegex(SystemExit, "out of time"):
                verify(lambda x: signal.raise_signal(signal.SIGALRM))
        finally:
            signal.signal(signal.SIGALRM, former)

    def test_a_signal_is_not_taken_from_an_event_loop(self):
        ours, theirs = socket.socketpair()
        with ours, theirs:
            theirs.setblocking(False)
            ours.settimeout(60)
            self.assertEqual(signal.set_wakeup_fd(theirs.fileno()), -1)
            try:
                with self.assertRaises(KeyboardInterrupt):
                    verify(lambda x: signal.raise_signal(signal.SIGINT))
            finally:
                self.assertEqual(signal.set_wakeup_fd(-1), theirs.fileno())
            self.assertEqual(ours.recv(9), bytes([signal.SIGINT]))

    def test_an_exit_of_the_callables_own_is_broken(self):
        """With code 0 it would end a script as if all had held."""
        for error in (SystemExit(0), SystemExit(), KeyboardInterrupt("its own"), GeneratorExit(), asyncio.CancelledError(), type("Own", (BaseException,), {})()):
            def ends_on_long_rows(x):
                if x.shape[1] > 1000:
                    raise error
                return row_sum(x)

            with self.subTest(repr(error)):
                result = foldproof.judge(ends_on_long_rows, like="numpy", claims="bounded", fixtures=f"{ONE_ROW},{SEVERAL}")
                verdicts = {r["case"].split("/")[3]: r["verdict"] for r in result.judgements if r["claim"] == "bounded"}
                self.assertEqual(verdicts, {"1x1023": "broken", "17x257": "held"})
                with self.assertRaisesRegex(foldproof.Broken, type(error).__name__):
                    result.check()

    def test_a_signal_before_a_run_is_not_the_cause_of_its_exit(self):
        former = signal.signal(signal.SIGUSR1, lambda number, frame: None)

        def signals_then_ends(x):
            if len(x) == 17:
                raise SystemExit(0)
            signal.raise_signal(signal.SIGUSR1)
            return row_sum(x)

        try:
            with self.assertRaisesRegex(foldproof.Broken, "SystemExit: 0"):
                verify(signals_then_ends)
        finally:
            signal.signal(signal.SIGUSR1, former)

    def test_the_callables_own_exception_where_arrays_run_python_as_they_are_freed(self):
        """As torch's do, which give memory back by our function: with that exception set, Python takes it for a fault of the function."""
        freed = []
        destructor = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(freed.append)
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]

        with unittest.mock.patch("foldproof._arrays.maker", return_value=lambda lent: new(1, b"", destructor)):
            result = foldproof.judge(operator.neg, like="numpy", claims="bounded", fixtures=ONE_ROW)
        reasons = {r["reason"] for r in result.judgements}
        self.assertEqual(len(reasons), 1, reasons)
        self.assertRegex(reasons.pop(), "^TypeError: bad operand type for unary -: 'PyCapsule'$")
        self.assertGreater(len(freed), 0)

    @unittest.skipUnless(importlib.util.find_spec("pytest"), "no pytest here")
    def test_a_case_that_pytest_skips_is_skipped(self):
        import pytest

        def few_rows(x):
            if len(x) > 1:
                pytest.skip("one row at a time")
            return row_sum(x)

        self.assertIn("4 skipped (4 one row at a time)", repr(verify(few_rows)))

    def test_an_exit_in_another_thread_is_broken(self):
        def ends(x):
            raise SystemExit(0)

        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            self.assertIsInstance(pool.submit(verify, ends).exception(), foldproof.Broken)

    def test_an_interruption_before_a_callback_begins(self):
        """A handler of signals may raise there, outside every `try`, and ctypes would lose it."""
        calls = {"foldproof.verify": lambda: verify(row_sum), "foldproof.reveal": lambda: foldproof.reveal(row_sum, 16, like="numpy")}
        for what, callback in (("foldproof.verify", "take"), ("foldproof.verify", "_run"), ("foldproof.reveal", "_run"), ("foldproof.reveal", "take")):
            for at in (1, 2, 5):
                seen = []

                def interrupt(frame, event, arg):
                    if event == "call" and frame.f_code.co_name == callback and frame.f_globals["__name__"].startswith("foldproof."):
                        seen.append(frame)
                        if len(seen) == at:
                            raise KeyboardInterrupt
                    return None

                sys.settrace(interrupt)
                try:
                    calls[what]()
                except KeyboardInterrupt:
                    seen.append("raised")
                finally:
                    sys.settrace(None)
                self.assertEqual(seen[-1] == "raised", len(seen) > at, f"{callback} of {what}, call {at}")
                self.assertTrue(at > 1 or seen[-1] == "raised", f"{callback} of {what} is not called")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
