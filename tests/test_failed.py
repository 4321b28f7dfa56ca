"""ci/test.sh says which assertion of a red suite failed, and ends with a code that is not 0. test_failed.py CI_FOLDER"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

CI = pathlib.Path(sys.argv[1])
# What Criterion prints: of a test that failed, of one that crashed, and of those that passed.
RED = """TAP version 13
1..4
# Criterion v2.4.1
ok - kinds::of_data  (0.00s)
not ok - kinds::every_one  (0.00s)
  ---
  assertions: 2
  failures:
  - ../tests/test_kinds.c:73: |+
      Assertion failed: 2 ranks, vectors: no sum of sawtooth in f64
  ...
ok - kinds::after  (0.00s)
not ok - kinds::crashes - Crash!
"""
GREEN = "TAP version 13\n1..1\nok - green::passes\n"
BUILD = """project('red')
test('red', find_program('cat'), args: files('red.tap'), protocol: 'tap')
test('green', find_program('cat'), args: files('green.tap'), protocol: 'tap')
"""


def run(tree, *suites):
    env = {name: value for name, value in os.environ.items() if name != "CI" and not name.startswith("MESON")}
    done = subprocess.run([str(tree / "ci" / "test.sh"), *suites], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=env)
    return done.returncode, done.stdout


def main():
    if not shutil.which("meson"):
        print("skipped: no meson here")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as name:
        tree = pathlib.Path(name)
        (tree / "ci").mkdir()
        for script in ("test.sh", "failed.py"):
            shutil.copy(CI / script, tree / "ci")
        (tree / "ci" / "setup.sh").write_text('#!/bin/sh\n[ -d "$1" ] || meson setup "$1" > log\n')
        (tree / "ci" / "setup.sh").chmod(0o755)
        (tree / "meson.build").write_text(BUILD)
        (tree / "red.tap").write_text(RED)
        (tree / "green.tap").write_text(GREEN)
        code, out = run(tree)
        said = out.rpartition("red: what failed\n")[2]
        assert code != 0 and said.splitlines()[0] == "not ok - kinds::every_one  (0.00s)", (code, out)
        for words in ("test_kinds.c:73", "2 ranks, vectors: no sum of sawtooth in f64", "not ok - kinds::crashes - Crash!"):
            assert words in said, (words, out)
        assert "kinds::after" not in said and "green: what failed" not in out, out
        code, out = run(tree, "green")
        assert code == 0 and "what failed" not in out, (code, out)
        (tree / "meson.build").write_text(BUILD + "syntax error")  # nothing is run: an earlier run's failures are none of this one
        code, out = run(tree, "red")
        assert code != 0 and "what failed" not in out, (code, out)
    print("held")


main()
