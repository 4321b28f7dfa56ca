#!/usr/bin/env python3
"""foldproof.gate: pass or fail for a callable, with and without a reference. test_gate.py LIBRARY FIXTURES SANITIZERS"""
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import here
import numpy as np

import foldproof


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def zeros(x):
    return np.zeros_like(x)


def nans(x):
    return np.full_like(x, np.nan)


def kept_by_address():
    kept = {}

    def fn(x):
        key = (x.ctypes.data, x.shape)
        if key not in kept:
            kept[key] = softmax(x)
        return kept[key].copy()
    return fn


def kept_by_content():
    kept = {}

    def fn(x):
        if x.size < 1 << 18:
            return softmax(x)
        key = x.ravel()[::61].tobytes()
        if key not in kept:
            kept[key] = softmax(x)
        return kept[key].copy()
    return fn


def clears(x):
    result = softmax(x)
    x[...] = 0
    return result


def right_at_first():
    calls = []

    def fn(x):
        calls.append(1)
        return softmax(x) if len(calls) < 100 else zeros(x)
    return fn


def later(x):
    result = np.zeros_like(x)
    threading.Thread(target=lambda: (time.sleep(0.001), np.copyto(result, softmax(x)))).start()
    return result


def dies(x):
    os.kill(os.getpid(), signal.SIGKILL)


class Reference(unittest.TestCase):
    def gate(self, fn, **asked):
        with tempfile.TemporaryDirectory() as folder:
            return foldproof.gate(fn, **{"problem": "rows", "reference": softmax, "tolerance": 1e-5, "like": "numpy", "time": 3, "found": folder, **asked})

    def test_honest(self):
        gate = self.gate(softmax)
        self.assertTrue(gate, str(gate))
        self.assertRegex(str(gate), r"^PASS: py/softmax: .* verdicts held on .* \(seed 0x[0-9a-f]+\)$")

    def test_cheats(self):
        for fn, says in ((zeros, "differs from the reference at "), (nans, "differs from the reference at "), (kept_by_address(), "changed in place"),
                         (kept_by_content(), "keeps results: "), (clears, "changes its input: "), (right_at_first(), "differs from the reference|different bits"),
                         (later, "differs from the reference|changes after the call"), (dies, "killed by signal 9"), (lambda x: x[:, :0], "gives shape "), (lambda x: 1 / 0, "raises ZeroDivisionError: ")):
            gate = self.gate(fn)
            self.assertFalse(gate, str(gate))
            self.assertRegex(gate.reason, says)
            self.assertRegex(str(gate), r"^FAIL: py/")

    def test_asked_wrongly(self):
        for asked, says in (({"tolerance": None}, "it has no default"), ({"problem": "sum"}, "problem='rows'"), ({"reference": None}, "reference=, which is missing"),
                            ({"time": "x"}, "time='x'"), ({"dtypes": "bf16"}, "f16, f32 or f64")):
            with self.assertRaisesRegex(ValueError, says):
                self.gate(softmax, **asked)
        with self.assertRaisesRegex(TypeError, "'nonsense' is no option"):
            self.gate(softmax, nonsense=1)


class Sums(unittest.TestCase):
    def gate(self, fn, **asked):
        with tempfile.TemporaryDirectory() as folder:
            return foldproof.gate(fn, **{"like": "numpy", "time": 4, "found": folder, "dtypes": "f32", **asked})

    def test_honest(self):
        gate = self.gate(lambda x: x.sum(-1))
        self.assertTrue(gate, str(gate))

    def test_cheats(self):
        kept = {}

        def by_sample(x):
            if x.size < 1 << 19:
                return x.sum(-1)
            return kept.setdefault(x[:, ::65537].tobytes(), x.astype("f8").sum(-1).astype("f4")) if x[:, ::65537].tobytes() not in kept else kept[x[:, ::65537].tobytes()]

        for fn, says in ((lambda x: np.zeros(len(x), x.dtype), "violates bounded: "), (by_sample, "keeps results: |violates run_to_run: "),
                         (lambda x: x.sum(-1) if x.shape[1] % 2 else x[:, 1:].sum(-1), "violates bounded: ")):
            gate = self.gate(fn)
            self.assertFalse(gate, str(gate))
            self.assertRegex(gate.reason, says)

    def test_a_find_has_its_lines(self):
        gate = self.gate(lambda x: np.zeros(len(x), x.dtype), seed=5)
        self.assertIn("\n  reproduce: ", str(gate))
        self.assertIn("(seed 0x5)", str(gate))


class Adapter(unittest.TestCase):
    def test_benchmark(self):
        """The example judges a candidate of a benchmark against its reference."""
        example = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "library", "examples", "gate_benchmark.py")
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "reference.py"), "w") as file:
                file.write("import numpy as np\nclass Model:\n    def forward(self, x):\n        return x / np.sqrt((x * x).sum(-1, keepdims=True))\n")
            for body, code, says in (("x / np.sqrt((x * x).sum(-1, keepdims=True))", 0, "PASS: "), ("np.zeros_like(x)", 1, "FAIL: ")):
                with open(os.path.join(folder, "candidate.py"), "w") as file:
                    file.write(f"import numpy as np\nclass ModelNew:\n    def forward(self, x):\n        return {body}\n")
                done = subprocess.run([sys.executable, example, "reference.py", "candidate.py", "1e-5", "--like", "numpy", "--time", "3"], cwd=folder, capture_output=True, text=True,
                                      env=dict(os.environ, PYTHONPATH=sys.path[0]))
                self.assertEqual((done.returncode, done.stdout.splitlines()[-1][:6]), (code, says), done)


if __name__ == "__main__":
    sys.exit(unittest.main(argv=sys.argv[:1]))
