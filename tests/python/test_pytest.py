#!/usr/bin/env python3
"""The pytest plugin: a test for each claim and dtype, refutations as failures, records, with xdist where it is.

test_pytest.py LIBRARY FIXTURES SANITIZERS
"""
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

LIBRARY, FIXTURES, SANITIZERS = sys.argv[1:4]
missing = [name for name in ("numpy", "pytest") if importlib.util.find_spec(name) is None]
if SANITIZERS != "none" or missing:
    print(f"skipped: no {missing[0]} here" if missing else f"skipped: a library with {SANITIZERS} can't be loaded into python3")
    sys.exit(77)

TESTS = """
import foldproof
import numpy as np

few = dict(like="numpy", fixtures="uniform*")

@foldproof.reduction(dtypes=["f32", "f64"], claims=["run_to_run", "batch_invariant"], **few)
def test_rows(x):
    return np.array([sum(row, x.dtype.type(0)) for row in x[:, :8]], x.dtype)

@foldproof.reduction(claims=["run_to_run"], **few)
def test_random(x):
    return np.random.default_rng().random(x.shape[0]).astype(x.dtype)

@foldproof.reduction(claims="fresh_process", **few)
def test_skipped(x):
    return x.sum(-1)

def test_by_hand(foldproof):
    assert foldproof.verify(lambda x: x.sum(-1), claims=["run_to_run"], **few).counts["held"]
"""
TIDY = ("writes_output", "stays_in_bounds", "leaves_no_trace", "keeps_input")
ids = {f"test_rows[{claim}-{dtype}]" for claim in ("run_to_run", "batch_invariant", *TIDY) for dtype in ("f32", "f64")}
ids |= {f"test_random[{claim}-f32]" for claim in ("run_to_run", *TIDY)} | {"test_by_hand"}
ids |= {f"test_skipped[{claim}-f32]" for claim in ("fresh_process", *TIDY)}
failures = []


def expect(true, what):
    if not true:
        failures.append(what)


def run(folder, *options):
    python = str(Path(__file__).resolve().parents[2] / "python")
    env = dict(os.environ, FOLDPROOF_LIBRARY=LIBRARY, FOLDPROOF_FIXTURES=FIXTURES, PYTHONPATH=python)
    command = [sys.executable, "-m", "pytest", "-p", "foldproof.pytest_plugin", "-p", "no:cacheprovider", "-rA",
               "--foldproof-record", "records.jsonl", *options, "test_it.py"]
    done = subprocess.run(command, cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    how = f"pytest {' '.join(options)}"
    outcomes = {}
    for line in done.stdout.splitlines():
        words = line.split()
        if len(words) > 1 and words[0] in ("PASSED", "FAILED") and words[1].startswith("test_it.py::"):
            outcomes[words[1].split("::")[1]] = words[0]
    refuted = {name for name, outcome in outcomes.items() if outcome == "FAILED"}
    expect(done.returncode == 1, f"{how}: exit code {done.returncode}\n{done.stdout[-2000:]}")
    expect(refuted == {"test_random[run_to_run-f32]"}, f"{how}: failed are {refuted}")
    expect(set(outcomes) == ids - {"test_skipped[fresh_process-f32]"}, f"{how}: {set(outcomes) ^ ids}")
    expect("1 skipped" in done.stdout, f"{how}: none is skipped")
    expect("py/test_random: run_to_run is refuted on uniform/" in done.stdout, f"{how}: no readable failure")
    expect("replay: foldproof.verify(fn, " in done.stdout, f"{how}: no replay")
    expect("Traceback" not in done.stdout and "_verify.py" not in done.stdout, f"{how}: it shows the harness's own frames")
    records = [json.loads(line) for line in (folder / "records.jsonl").read_text().splitlines()]
    expect({r["claim"] for r in records} == {"run_to_run", "batch_invariant", "fresh_process", *TIDY}, f"{how}: claims")
    found = [r for r in records if r["verdict"] == "refuted"]
    expect(found and {r["subject"] for r in found} == {"py/test_random"}, f"{how}: refuted in the records")
    return len(records)


with tempfile.TemporaryDirectory() as name:
    (Path(name) / "test_it.py").write_text(TESTS)
    n = run(Path(name))
    if importlib.util.find_spec("xdist"):
        expect(run(Path(name), "-n2") == n, "two workers write other records than one process")
for failure in failures[:10]:
    print(failure)
print(f"{len(failures)} failures")
sys.exit(1 if failures else 0)
