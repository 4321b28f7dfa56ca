#!/usr/bin/env python3
"""pytest --foldproof-hunt: the tests of a reduction hunt its callable in place of judging it on fixtures. test_pytest_hunt.py LIBRARY FIXTURES SANITIZERS"""
import importlib.util
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import here

if importlib.util.find_spec("pytest") is None:
    print("skipped: no pytest here")
    sys.exit(77)

TESTS = """
import foldproof

@foldproof.reduction(claims="bounded,run_to_run,fresh_process", like="numpy", fixtures="normal/f32/sum/1x31/*")
def test_right(x):
    return x.sum(-1)

@foldproof.reduction(claims="bounded", like="numpy", fixtures="normal/f32/sum/1x31/*")
def test_wrong(x):
    return x.sum(-1) if x.shape[1] % 24 != 23 else x[:, 1:].sum(-1)

@foldproof.reduction(claims="bounded", device="cuda", like="torch")
def test_device(x):
    return x.sum(-1)

@foldproof.reduction(claims="bounded", problem="max", like="numpy")
def test_most(x):
    return x.max(-1) if x.shape[1] % 24 != 23 else x[:, 1:].max(-1)

test_two = foldproof.reductions({"mine/right": lambda x: x.sum(-1), "mine/wrong": lambda x: x[:, 1:].sum(-1)}, claims="bounded", like="numpy")

def test_by_hand(foldproof):
    foldproof.verify(lambda x: x.sum(-1), claims="bounded", like="numpy", fixtures="normal/f32/sum/1x31/*")
"""


class Hunted(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        (Path(self.folder.name) / "test_it.py").write_text(TESTS)

    def pytest(self, *words):
        env = {**os.environ, "PYTHONPATH": str(Path(here.__file__).resolve().parents[2] / "python"), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "COLUMNS": "1000"}
        return subprocess.run([sys.executable, "-m", "pytest", "-p", "foldproof.pytest_plugin", "-v", "-rs", "--tb=short", *words], cwd=self.folder.name, env=env,
                              capture_output=True, text=True, timeout=500)

    def test_finds_fail_their_tests(self):
        said = self.pytest("--foldproof-hunt", "4s", "--foldproof-record", "records.jsonl").stdout
        for name, verdict in {"test_right[bounded-f32]": "PASSED", "test_right[run_to_run-f32]": "PASSED", "test_right[fresh_process-f32]": "SKIPPED",
                              "test_right[leaves_no_trace-f32]": "SKIPPED", "test_right[keeps_input-f32]": "PASSED", "test_wrong[bounded-f32]": "FAILED",
                              "test_wrong[keeps_input-f32]": "PASSED", "test_device[bounded-f32]": "SKIPPED", "test_most[bounded-f32]": "FAILED", "test_two[mine/right-bounded-f32]": "PASSED",
                              "test_two[mine/wrong-bounded-f32]": "FAILED", "test_two[mine/wrong-keeps_input-f32]": "PASSED", "test_by_hand": "PASSED"}.items():
            self.assertIn(f"{name} {verdict}", said)
        for words in ("py/test_wrong: bounded is refuted on found-", "fixture: foldproof-found/found-", "reproduce: import foldproof", "found in", "seed 0x",
                      "a hunt does not judge fresh_process"):
            self.assertIn(words, said)
        self.assertIn('"case":"found-', (Path(self.folder.name) / "records.jsonl").read_text())
        self.assertTrue(list((Path(self.folder.name) / "foldproof-found").glob("found-*.ini")))

    def test_without_the_option_fixtures_are_judged(self):
        said = self.pytest("-k", "wrong and test_wrong").stdout
        self.assertIn("test_wrong[bounded-f32] PASSED", said)

    def test_a_time_that_is_none(self):
        done = self.pytest("--foldproof-hunt", "5d")
        self.assertEqual(done.returncode, 4)
        self.assertIn("--foldproof-hunt: time='5d': a number of seconds, or as '60s', '5m', '2h'", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
