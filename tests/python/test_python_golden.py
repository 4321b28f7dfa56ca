#!/usr/bin/env python3
"""foldproof.golden: a callable's results are kept and held against; another version is stale, different bits differ, wrong ones are refused.

test_python_golden.py LIBRARY FIXTURES SANITIZERS FOLDPROOF
"""
import os
import re
import shutil
import sys
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace

LIBRARY, FIXTURES, FOLDPROOF = (str(Path(sys.argv[i]).resolve()) for i in (1, 2, 4))
SANITIZERS = sys.argv[3]
if SANITIZERS != "none":
    print(f"skipped: a library with {SANITIZERS} cannot be loaded into python3")
    sys.exit(77)
try:
    import numpy as np
except ImportError:
    print("skipped: no numpy here")
    sys.exit(77)
os.environ.update(FOLDPROOF_LIBRARY=LIBRARY, FOLDPROOF_FIXTURES=FIXTURES, FOLDPROOF_COMMAND=FOLDPROOF)
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
import foldproof  # noqa: E402

try:
    import pytest
    from foldproof import pytest_plugin
except ImportError:
    pytest = None

FEW = dict(fixtures="normal/f32/sum/1x33/seed1,normal/f32/sum/1x1025/seed1", name="py/mine", like="numpy")


def raised(kind, *arguments, **asked):
    try:
        said = foldproof.golden(*arguments, **dict(FEW, **asked))
    except kind as error:
        return str(error)
    raise AssertionError(f"no {kind.__name__}: {said}")


def by_pairs(x):
    return x.sum(-1)


def in_turn(x):
    return np.cumsum(x, axis=-1)[:, -1]


def last_row_else(x):
    sums = x.sum(-1)
    sums[-1] = np.nextafter(sums[-1], np.float32(np.inf))
    return sums


def one_row_alone(x):
    if len(x) > 1:
        raise NotImplementedError("one row at a time")
    return x.sum(-1)


def halves(x):
    return x / np.float32(2)


def last_else(x):
    y = halves(x)
    y[-1, -1] = 7
    return y


def check_rows(cases):
    """Results of rows, which no oracle certifies, are kept as hashes."""
    cases = dict(cases, problem="rows")
    said = foldproof.golden(halves, "of_rows.jsonl", bless=True, **cases)
    assert "3 added" in said and "0 refused" in said, said
    assert "goldens: 3 held, 0 differ" in foldproof.golden(halves, "of_rows.jsonl", **cases)
    said = raised(foldproof.Differs, last_else, "of_rows.jsonl", **cases)
    assert re.search(r"DIFFERS: py/mine on host: normal/f32/sum/1x33/seed1: ", said) and "17x257" in said, said
    assert "0 held, 3 differ" in said and "apart" not in said and "nearer" not in said, said
    raised(foldproof.Refuted, lambda x, calls=[]: calls.append(1) or x + len(calls) % 2, "of_rows.jsonl", bless=True, **cases)


def refuses(x):
    raise NotImplementedError("no longer")


def slow_if_long(x):
    time.sleep(float(os.environ["SLOW_FOR"]) * (x.shape[1] > 33))
    return x.sum(-1)


def check_missing(cases, long):
    """A kept case of which fn gives no result is missing; one that no time was left for, or that is not among the cases, is counted."""
    kept = "elsewhere.jsonl"
    said = raised(foldproof.Differs, one_row_alone, kept, **cases)
    assert "ONLY IN " in said and "17x257" in said and "2 held, 1 differ or are missing" in said, said
    assert said.endswith("1 of 3 cases gave no result, first normal/f32/sum/17x257/seed1: one row at a time"), said
    assert "0 held, 1 differ or are missing" in raised(foldproof.Differs, refuses, kept, **long)
    assert "no longer" in raised(foldproof.NothingJudged, refuses, kept, bless=True, **long)
    assert "3 held, 0 differ" in foldproof.golden(by_pairs, kept, **cases)
    assert "1 held, 0 differ or are missing, 0 stale, 0 not run here, 2 not in the records" in foldproof.golden(by_pairs, kept, **dict(cases, **long))
    assert "all was skipped" in raised(foldproof.NothingJudged, by_pairs, kept, seconds=1e-9)
    for seconds in 4, 16, 64:  # a busy machine may need the first seconds for the other two
        os.environ["SLOW_FOR"] = str(0.75 * seconds)
        said = foldproof.golden(slow_if_long, kept, seconds=seconds, **cases)
        if "2 held" in said:
            break
    assert "2 held, 0 differ or are missing, 0 stale, 1 not run here\n1 of 3 cases gave no result, first normal/f32/sum/17x257" in said, said
    fewer = Path("fewer.jsonl")
    shutil.copy(kept, fewer)
    said = foldproof.golden(one_row_alone, fewer, bless=True, **cases)
    assert "REMOVED: py/mine on host: normal/f32/sum/17x257/seed1" in said and "2 as they were, 1 removed" in said, said
    assert "goldens: 2 held, 0 differ" in foldproof.golden(one_row_alone, fewer, **cases)


def check_fixture_gone():
    """A kept case that no fixture makes any more is missing, and bless=True removes it."""
    Path("own").mkdir()
    fixture = "[normal]\nabout = few\ngenerator = normal\ndtype = f32\nop = sum\nn = {}\nseed = 1\n"
    Path("own/few.ini").write_text(fixture.format("33, 65"))
    os.environ["FOLDPROOF_FIXTURES"] = str(Path("own").resolve())
    mine = dict(name="py/mine", like="numpy", fixtures="normal/*")
    assert "2 added" in foldproof.golden(by_pairs, "own.jsonl", bless=True, **mine)
    Path("own/few.ini").write_text(fixture.format("33"))
    said = raised(foldproof.Differs, by_pairs, "own.jsonl", **mine)
    assert "ONLY IN " in said and "1x65" in said and "1 held, 1 differ or are missing" in said, said
    assert "1 removed" in foldproof.golden(by_pairs, "own.jsonl", bless=True, **mine)
    os.environ["FOLDPROOF_FIXTURES"] = FIXTURES


def check_data():
    """A golden of a file stays where its folder is copied; an array of the caller's cannot be kept."""
    mine = dict(name="py/mine", like="numpy")
    Path("here").mkdir()
    os.chdir("here")
    np.save("x.npy", np.random.default_rng(1).normal(size=(3, 1025)).astype("f4"))
    assert "1 added" in foldproof.golden(by_pairs, "kept.jsonl", bless=True, data="x.npy", **mine)
    os.chdir("..")
    os.rename("here", "there")
    os.chdir("there")
    assert "goldens: 1 held, 0 differ" in foldproof.golden(by_pairs, "kept.jsonl", data="x.npy", **mine)
    said = raised(foldproof.Differs, in_turn, "kept.jsonl", data="x.npy", fixtures=None)
    assert "npy:x.npy/f32/sum/3x1025" in said and "floats apart; errors" in said, said
    assert "write the array to a .npy file, and say data='PATH.npy'" in raised(ValueError, by_pairs, "kept.jsonl", data=np.load("x.npy"), fixtures=None)
    np.save("y.npy", np.random.default_rng(2).normal(size=(1025, 2)).astype("f4"))
    product = dict(problem="matmul", data=("x.npy", "y.npy"), name="py/product", like="numpy")
    assert "1 added" in foldproof.golden(lambda A, B: A @ B, "products.jsonl", bless=True, **product)
    assert "goldens: 1 held, 0 differ" in foldproof.golden(lambda A, B: A @ B, "products.jsonl", **product)
    assert "npy:x.npy,y.npy/f32/matmul/3x2x1025" in raised(foldproof.Differs, lambda A, B: (A.astype("f8") @ B).astype("f4"), "products.jsonl", fixtures=None, **product)
    os.chdir("..")


with tempfile.TemporaryDirectory() as scratch:
    os.chdir(scratch)
    check_data()
    assert "no golden is there: bless=True keeps these results" in raised(foldproof.Differs, by_pairs, "kept.jsonl")
    raised(foldproof.Refuted, lambda x: x.sum(-1) + 1, "kept.jsonl", bless=True)  # its claims are judged first
    assert not Path("kept.jsonl").exists()
    long = dict(fixtures="normal/f32/sum/17x257/*")
    said = foldproof.golden(by_pairs, "elsewhere.jsonl", bless=True, **dict(FEW, fixtures=FEW["fixtures"] + "," + long["fixtures"]))
    assert "3 added" in said and "not kept" not in said, said
    long_too = dict(FEW, fixtures=FEW["fixtures"] + "," + long["fixtures"])
    assert "goldens: 3 held, 0 differ" in foldproof.golden(by_pairs, "elsewhere.jsonl", **long_too)
    said = raised(foldproof.Differs, last_row_else, "elsewhere.jsonl", **long)
    assert "17x257" in said and "row 16: 1 float apart" in said, said
    check_missing(long_too, long)
    check_fixture_gone()
    check_rows(long_too)
    assert "2 added, 0 changed, 0 as they were, 0 removed, 0 refused" in foldproof.golden(by_pairs, "kept.jsonl", bless=True, **FEW)
    assert "goldens: 2 held, 0 differ" in foldproof.golden(by_pairs, "kept.jsonl", **FEW)
    said = raised(foldproof.Differs, in_turn, "kept.jsonl")
    assert "DIFFERS: py/mine on host" in said and "floats apart; errors" in said, said
    assert "2 stale" in raised(foldproof.Stale, by_pairs, "kept.jsonl", library="numpy 0.1")
    assert f"numpy {np.__version__}, its own launch" in Path("kept.jsonl").read_text()
    if pytest:
        fixture = pytest_plugin.Foldproof(SimpleNamespace(node=SimpleNamespace(iter_markers=lambda name: [])))
        assert "goldens: 2 held, 0 differ" in fixture.golden(by_pairs, "kept.jsonl", **FEW)
        try:
            fixture.golden(by_pairs, "kept.jsonl", library="numpy 0.1", **FEW)
            raise AssertionError("what is stale is not skipped")
        except pytest.skip.Exception as skipped:
            assert "2 stale" in str(skipped), skipped
    said = foldproof.golden(in_turn, "kept.jsonl", bless=True, **FEW)
    assert "CHANGES: py/mine on host" in said and "2 changed" in said, said
    foldproof.golden(in_turn, "kept.jsonl", **FEW)
    Path("kept.jsonl").write_text("".join(Path("kept.jsonl").read_text().splitlines(True)[:1]))
    assert "take the file back from your repository" in raised(foldproof.Differs, in_turn, "kept.jsonl")
