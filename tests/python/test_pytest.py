#!/usr/bin/env python3
"""The pytest plugin: a test for each subject, claim and dtype, refutations as failures, marks, records, with xdist where it is, and no
harm where foldproof's library is missing.

test_pytest.py LIBRARY FIXTURES SANITIZERS
"""
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

LIBRARY, FIXTURES, SANITIZERS = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), sys.argv[3]
missing = [name for name in ("numpy", "pytest") if importlib.util.find_spec(name) is None]
if SANITIZERS != "none" or missing:
    print(f"skipped: no {missing[0]} here" if missing else f"skipped: a library with {SANITIZERS} cannot be loaded into python3")
    sys.exit(77)

TESTS = """
import foldproof
import numpy as np
import pytest

few = dict(like="numpy", fixtures="uniform/*/sum/4x16384/seed1,uniform/f32/sum/4x257/seed1")
judge = foldproof.judge

def noting(fn, **asked):
    with open("judged", "a") as to:
        print(asked.get("name"), asked.get("dtypes"), *asked.get("only", ()), file=to)
    return judge(fn, **asked)

foldproof.judge = noting

def in_sequence(x):
    return np.array([sum(row, x.dtype.type(0)) for row in x[:, :8]], x.dtype)

@foldproof.reduction(dtypes=["f32", "f64"], claims=["run_to_run", "batch_invariant"], **few)
def test_rows(x):
    return in_sequence(x)

@foldproof.reduction(claims=["run_to_run"], **few)
def test_random(x):
    return np.random.default_rng().random(x.shape[0]).astype(x.dtype)

@foldproof.reduction(claims="fresh_process", **few)
def test_fresh(x):
    return in_sequence(x)

def made():
    return lambda x: x.sum(-1)

test_skipped = foldproof.reductions({"py/nowhere": made()}, claims="fresh_process", **few)
test_two = foldproof.reductions({"py/sequence": in_sequence, "py/reverse": lambda x: in_sequence(x[:, ::-1])}, claims="run_to_run", **few)

@foldproof.reduction(claims="run_to_run", **few)
def test_raising(x):
    raise RuntimeError("out of order")

@pytest.mark.foldproof(like="numpy", fixtures="control*")
class TestMarked:
    @pytest.mark.foldproof(fixtures="uniform/f32/sum/4x257/*", claims="run_to_run")
    def test_by_hand(self, foldproof):
        result = foldproof.verify(lambda x: x.sum(-1))
        assert {r["case"].split("/")[0] for r in result.judgements} == {"uniform"}
        assert foldproof.exact(np.float32([1e8, 1, -1e8]))[0] == 1

def test_taking(foldproof):
    foldproof.verify(in_sequence, name="py/taking", dtypes="f32", only=["run_to_run"], claims="run_to_run", **few)

@pytest.mark.foldproof(fixtures="uniform*")
def test_marked_golden(foldproof, monkeypatch):
    monkeypatch.setattr("foldproof.golden", lambda fn, folder, **asked: asked)
    assert foldproof.golden(in_sequence, "kept", dtypes="f64") == {"fixtures": "uniform*", "dtypes": "f64"}

@foldproof.reduction(problem="rows", **few)
def test_norm(x):
    return x / np.float32(2)

@pytest.mark.foldproof(**few)
@foldproof.reduction
def test_bare(x):
    return x.sum(-1)

class TestMethods:
    first = 8

    @foldproof.reduction(claims="run_to_run", **few)
    def test_method(self, x):
        return in_sequence(x[:, :self.first])

    @staticmethod
    @foldproof.reduction(claims="run_to_run", **few)
    def test_static(x):
        return in_sequence(x)

    test_made = staticmethod(foldproof.reductions({"py/made": in_sequence}, claims="run_to_run", **few))

def test_other():
    pass
"""
TIDY = ("stays_in_bounds", "leaves_no_trace", "keeps_input")
RAISES = {f"test_raising[{claim}-f32]" for claim in ("run_to_run", *TIDY)}
ids = {f"test_rows[{claim}-{dtype}]" for claim in ("run_to_run", "batch_invariant", *TIDY) for dtype in ("f32", "f64")}
ids |= {f"test_random[{claim}-f32]" for claim in ("run_to_run", *TIDY)} | RAISES | {"TestMarked::test_by_hand"}
ids |= {f"test_norm[{claim}-f32]" for claim in ("run_to_run", "fresh_process", "batch_invariant", "alignment_invariant", *TIDY)} | {"test_taking", "test_marked_golden"}
ids |= {f"test_bare[{claim}-f32]" for claim in ("bounded", "run_to_run", "fresh_process", *TIDY)}
ids |= {f"test_fresh[{claim}-f32]" for claim in ("fresh_process", *TIDY)}
ids |= {f"test_skipped[py/nowhere-{claim}-f32]" for claim in ("fresh_process", *TIDY)}
ids |= {f"test_two[py/{name}-{claim}-f32]" for name in ("sequence", "reverse") for claim in ("run_to_run", *TIDY)}
ids |= {f"TestMethods::{test}{claim}-f32]" for test in ("test_method[", "test_static[", "test_made[py/made-") for claim in ("run_to_run", *TIDY)}
failures = []


def expect(true, what):
    if not true:
        failures.append(what)


def pytest_in(folder, options, tests, library=LIBRARY, **variables):
    python = str(Path(__file__).resolve().parents[2] / "python")
    env = dict(os.environ, FOLDPROOF_LIBRARY=library, FOLDPROOF_FIXTURES=FIXTURES, PYTHONPATH=python, **variables)
    command = [sys.executable, "-m", "pytest", "-p", "foldproof.pytest_plugin", "-p", "no:cacheprovider", "-rA", *options, *tests]
    return subprocess.run(command, cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def outcomes_of(text):
    words = [line.split() for line in text.splitlines()]
    return {w[1].split("::", 1)[1]: w[0] for w in words if len(w) > 1 and w[0] in ("PASSED", "FAILED", "ERROR") and "::" in w[1]}


def closed(file, complete, how):
    """The judgements of a file, which begins with the environment, and ends with a closing line that counts what is before it."""
    lines = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else [{}]
    expect([lines[0].get("type"), lines[0].get("closing_line")] == ["environment", True] and "pytest" in lines[0]["command"] and "cpu" in lines[0], f"{how}: {lines[0]}")
    expect(lines[-1] == {**lines[-1], "type": "end", "records": len(lines) - 1, "complete": complete}, f"{how}: {lines[-1]}")
    return lines[1:-1]


def run(folder, *options):
    """The records of a run in which all is as it should be."""
    done = pytest_in(folder, ["--foldproof-record", "records.jsonl", "--strict-markers", "-m", "foldproof", *options], ["test_it.py"])
    how, outcomes = f"pytest {' '.join(options)}", outcomes_of(done.stdout)
    refuted = {name for name, outcome in outcomes.items() if outcome == "FAILED"}
    expect(done.returncode == 1, f"{how}: exit code {done.returncode}\n{done.stdout[-3000:]}")
    expect(refuted == {"test_random[run_to_run-f32]"} | RAISES, f"{how}: failed are {refuted}")
    expect(set(outcomes) == ids - {"test_skipped[py/nowhere-fresh_process-f32]"}, f"{how}: {set(outcomes) ^ ids}")
    for words in ("1 skipped", "py/test_random: run_to_run is refuted on uniform/", "no new process can import it",
                  "reproduce: import foldproof, test_it; foldproof.verify(test_it.test_random.foldproof_callable, ",
                  "RuntimeError: out of order", 'raise RuntimeError("out of order")'):
        expect(words in done.stdout, f"{how}: it does not say {words!r}")
    expect("_verify.py" not in done.stdout and "pytest_plugin.py" not in done.stdout, f"{how}: it shows the harness's own frames")
    records = closed(folder / "records.jsonl", True, how)
    expect({r["claim"] for r in records} == {"bounded", "run_to_run", "batch_invariant", "alignment_invariant", "fresh_process", *TIDY}, f"{how}: claims of records")
    of_refuted = {r["subject"] for r in records if r["verdict"] == "refuted"}
    expect(of_refuted == {"py/test_random"}, f"{how}: refuted in the records are {of_refuted}")
    lines = {r["asked"]["python"] for r in records if r["verdict"] == "refuted"}
    expect(lines and all(line.startswith("import foldproof, test_it; foldproof.verify(test_it.test_random.") for line in lines), f"{how}: {lines}")
    expect({r["verdict"] for r in records if r["subject"] == "py/test_fresh" and r["claim"] == "fresh_process"} == {"held"},
           f"{how}: fresh_process of a module's function")
    return Counter((r["subject"], r["claim"], r["case"], r["dtype"], r["verdict"]) for r in records)


def judged(folder):
    """What was judged since the last question: of each name and dtype the claims, call by call."""
    found = {}
    for name, dtype, *claims in map(str.split, (folder / "judged").read_text().splitlines()):
        found.setdefault((name, dtype), []).append(set(claims))
    (folder / "judged").unlink()
    return found


def check_shares(folder):
    """A callable is judged once for a dtype, by the claims whose tests are selected."""
    for (name, dtype), calls in judged(folder).items():
        expect(len(calls) == 1, f"{name} of {dtype} is judged {len(calls)} times")
    pytest_in(folder, ["-k", "test_rows and f64 and (batch_invariant or keeps_input)"], ["test_it.py"])
    found = judged(folder)
    expect(found == {("py/test_rows", "f64"): [{"batch_invariant", "keeps_input"}]}, f"of two selected tests: {found}")
    if importlib.util.find_spec("ml_dtypes") is None:
        (folder / "test_narrow.py").write_text(TESTS.replace('"f64"', '"bf16"'))
        done = pytest_in(folder, ["-k", "test_rows and bf16 and run_to_run"], ["test_narrow.py"])
        expect(done.stdout.count("dtype bf16 of numpy needs ml_dtypes") == 1 and "broken" not in done.stdout, f"bf16: {done.stdout[-1500:]}")


def check_without_library(folder):
    """Tests of others pass; those that use foldproof fail by its name."""
    (folder / "test_others.py").write_text("def test_other():\n    pass\n")
    (folder / "test_users.py").write_text("def test_user(foldproof):\n    foldproof.verify(lambda x: x.sum(-1))\n")
    done = pytest_in(folder, [], ["test_others.py", "test_users.py"], library=str(folder / "nowhere.so"))
    expect(outcomes_of(done.stdout) == {"test_other": "PASSED", "test_user": "FAILED"}, f"without a library: {done.stdout[-2000:]}")
    expect("foldproof's library cannot be loaded" in done.stdout, "without a library: it does not say so")


MISTAKES = """
import unittest

import foldproof
import pytest

@foldproof.reduction(claims="batch_invarient")
def test_claim(x):
    return x.sum(-1)

class TestMethods:
    @foldproof.reduction(claims="run_to_run")
    def test_of_nobody(x):
        return x.sum(-1)

class TestUnit(unittest.TestCase):
    @foldproof.reduction(claims="run_to_run")
    def test_of_unittest(self, x):
        return x.sum(-1)

def test_direct():
    foldproof.verify(lambda x: x.sum(0), like="numpy", fixtures="uniform*")

def test_fixture(foldproof):
    foldproof.judge(lambda x: x.sum(-1), claims="batch_invarian")
"""


def check_mistakes(folder):
    """foldproof reports a mistake in its own words, at the user's line, and by no frame of the package."""
    (folder / "test_mistakes.py").write_text(MISTAKES)
    done = pytest_in(folder, [], ["test_mistakes.py"])
    for words in ("did you mean 'batch_invariant'?", ">       foldproof.verify(lambda x: x.sum(0), ", "one result for each row",
                  "unittest.TestCase calls its methods by itself", "in a class write `@foldproof.reduction() def test_sum(self, x)`"):
        expect(words in done.stdout, f"of mistakes: it does not say {words!r}: {done.stdout[-3000:]}")
    for module in ("_verify.py", "_golden.py", "_library.py", "_result.py", "pytest_plugin.py", "entries are hidden"):
        expect(module not in done.stdout, f"of mistakes: it shows {module}")


ARGUMENTS = {
    "outside": """
@pytest.mark.parametrize("scale, k", [(1, 2)])
@foldproof.reduction
def test_it(x):
    return x.sum(-1)
""",
    "inside": """
@foldproof.reduction(problem="rows")
@pytest.mark.parametrize("scale", [1, 2])
def test_it(x, scale):
    return x * scale
""",
    "of a class": """
@pytest.mark.parametrize(["scale"], [[1]])
class TestIt:
    test_it = staticmethod(foldproof.reductions({"py/sum": lambda x: x.sum(-1)}))
""",
    "fixture": """
class TestIt:
    @foldproof.reduction
    def test_it(self, x, scale):
        return x.sum(-1)
""",
}
# By what the import of tests ends.
REFUSED = {
    "@foldproof.reduction(clams='bounded')": "'clams' is no option of foldproof.verify: it has problem, dtypes,",
    "@foldproof.reduction(problem='ij,kl->ik')": "test_it: problem='ij,kl->ik': no axis is folded",
    "@foldproof.reduction(_take=print)": "'_take' is no option of foldproof.verify",
    "@foldproof.reduction\n@foldproof.reduction": "test_it is decorated twice",
    "@foldproof.reduction\n@classmethod": "test_it is a classmethod, which is no function before its class is made: in a class write",
}
TAKES = """
import foldproof
import pytest

@pytest.mark.foldproof(problem="dot", like="numpy", fixtures="normal/f32/dot/1x3*")
@foldproof.reduction
def test_dot(x, y, weight=1):
    return (x * y).sum(-1)

@foldproof.reduction(problem="ij,j->i", like="numpy", fixtures="normal/f32/matvec/1x3*", claims="bounded")
def test_product(W, x, weight=1):
    return W @ x

@foldproof.reduction(claims="bounded,deterministic", only=["run_to_run", "keeps_input"], fixtures="normal/f32/sum/1x31/*")
def test_few(x):
    return x.sum(-1)

@foldproof.reduction
@pytest.mark.skip(reason="not today")
def test_marked_within(x):
    return x.sum(-1)
"""


def check_arguments(folder):
    """What a reduction cannot be given is refused as it is collected, with what to write."""
    for what, text in ARGUMENTS.items():
        (folder / "test_arguments.py").write_text("import foldproof\nimport pytest\n" + text)
        done = pytest_in(folder, [], ["test_arguments.py"])
        said = "test_it gets arrays only, and no 'scale': write a test that takes the fixture foldproof"
        expect(done.returncode == 2 and said in done.stdout, f"argument {what}: {done.stdout[-2000:]}")
    for decorator, said in REFUSED.items():
        (folder / "test_arguments.py").write_text(f"import foldproof\n{decorator}\ndef test_it(x):\n    return x.sum(-1)\n")
        done = pytest_in(folder, [], ["test_arguments.py"])
        expect(done.returncode == 2 and said in done.stdout, f"{decorator}: {done.stdout[-2000:]}")
    (folder / "test_arguments.py").write_text(TAKES)
    done = pytest_in(folder, [], ["test_arguments.py"])
    expect(set(outcomes_of(done.stdout).values()) == {"PASSED"} and "not today" in done.stdout, f"arguments: {done.stdout[-2000:]}")
    few = {name for name in outcomes_of(done.stdout) if "test_few" in name}
    expect({name.split("[")[1] for name in few} == {"run_to_run-f32]", "keeps_input-f32]"}, f"only: {few}")


LACKING = """
import sys
import types

import foldproof
import pytest

few = dict(fixtures="uniform*", claims="run_to_run")

def row_sum(x):
    return x.sum(-1)

test_made = foldproof.reductions({"py/sum": row_sum}, device="cuda", **few)

def test_judge(foldproof):
    foldproof.judge(row_sum, device="cuda", **few)

@pytest.mark.foldproof(device="cuda")
def test_golden(foldproof):
    foldproof.golden(row_sum, "kept", fixtures="uniform*")

def test_driver(foldproof, monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", types.ModuleType("cupy"))
    sys.modules["cupy"].from_dlpack = None
    monkeypatch.setenv("FOLDPROOF_CUDA_DRIVER", "nowhere.so")
    foldproof.verify(row_sum, device="cuda", **few)

def test_framework(foldproof):
    foldproof.verify(row_sum, like="jax", **few)

def test_mistake(foldproof):
    foldproof.verify(row_sum, device="cuda", like="numpy", **few)
"""


def check_lacking(folder):
    """What this machine lacks skips a test, unless GPUs are required; a mistake fails it."""
    (folder / "test_lacking.py").write_text(LACKING)
    of_gpu = {*(f"test_made[py/sum-{claim}-f32]" for claim in ("run_to_run", *TIDY)), "test_judge", "test_golden", "test_driver"}
    for required, failed in (("0", {"test_mistake"}), ("1", of_gpu | {"test_mistake"})):
        done = pytest_in(folder, [], ["test_lacking.py"], FOLDPROOF_REQUIRE_GPUS=required)
        expect(outcomes_of(done.stdout) == dict.fromkeys(failed, "FAILED"), f"lacking, {required} required: {done.stdout[-3000:]}")
        expect(f"{len(of_gpu) + 2 - len(failed)} skipped" in done.stdout, f"lacking: {done.stdout[-500:]}")
    done = pytest_in(folder, [], ["test_lacking.py"])
    for words in ("device='cuda': none of torch, cupy and jax is installed", "CUDA's driver cannot be loaded: nowhere.so", "jax is not installed"):
        expect(words in done.stdout, f"lacking: it does not say {words!r}: {done.stdout[-2000:]}")


DECLARED = """
import foldproof

few = dict(like="numpy", fixtures="normal/f32/sum/17x257/*")

def in_sequence(x):
    return foldproof.replay("host/sequential", x)

@foldproof.reduction(order="host/pairwise", **few)
def test_order(x):
    return in_sequence(x)

@foldproof.reduction(problem="rows", claims="run_to_run", **few)
def test_rows(x, calls=[]):
    calls.append(1)
    return x + x.dtype.type(len(calls) & 1)

@foldproof.reduction(claims="run_to_run", same_bits_as="host/pairwise", **few)
def test_twin(x):
    return in_sequence(x)
"""


def check_declared(folder):
    """An order and a twin are judged, though no claim names them. A session that ends early leaves records that say so."""
    (folder / "test_declared.py").write_text(DECLARED)
    file = folder / "declared.jsonl"
    done = pytest_in(folder, ["--foldproof-record", file.name], ["test_declared.py"])
    failed = {name for name, outcome in outcomes_of(done.stdout).items() if outcome == "FAILED"}
    expect(failed == {"test_order[replays-f32]", "test_twin[same_bits_as-f32]", "test_rows[run_to_run-f32]"}, f"declared: {failed}")
    whole = closed(file, True, "declared")
    rows = [record for record in whole if record["subject"] == "py/test_rows"]
    expect(rows and all(record["problem"] == "rows" for record in rows), f"of rows: {rows}")
    expect([record["element"] for record in rows if record["verdict"] == "refuted"] == [0], f"of rows: {rows}")
    file.unlink()
    pytest_in(folder, ["-x", "--foldproof-record", file.name], ["test_declared.py"])
    early = closed(file, False, "declared, -x")
    expect(0 < len(early) < len(whole), f"-x leaves {len(early)} of {len(whole)}")
    pytest_in(folder, ["--foldproof-record", file.name, "-k", "test_no_such"], ["test_declared.py"])
    expect(closed(file, True, "none selected") == [], "none selected")
    pytest_in(folder, ["-x", "--foldproof-record", file.name], ["test_declared.py"])
    expect(closed(file, True, "what was there") == [] and closed(folder / "declared.jsonl.incomplete", False, "declared, -x") == early, "a file that was there")


def check_no_file(folder):
    done = pytest_in(folder, ["--foldproof-record", "nowhere/records.jsonl"], ["test_others.py"])
    expect(done.returncode == 4 and "--foldproof-record" in done.stdout, f"a file that cannot be: {done.returncode}, {done.stdout[-500:]}")


with tempfile.TemporaryDirectory() as name:
    place = Path(name)
    (place / "test_it.py").write_text(TESTS)
    alone = run(place)
    check_shares(place)
    if importlib.util.find_spec("xdist"):
        several = run(place, "-n2")
        expect(several == alone, f"two workers write other records than one process: {list((several - alone) + (alone - several))[:5]}")
    else:
        print("no xdist here: workers' records were not looked at")
    check_without_library(place)
    check_mistakes(place)
    check_arguments(place)
    check_declared(place)
    check_no_file(place)
    if not any(importlib.util.find_spec(name) for name in ("torch", "cupy", "jax")):
        check_lacking(place)
for failure in failures[:10]:
    print(failure)
print(f"{len(failures)} failures")
sys.exit(1 if failures else 0)
