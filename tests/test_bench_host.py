#!/usr/bin/env python3
"""foldproof bench --engine host: who is timed, judged and recorded, and NumPy beside. No verdict hangs on how long something took.

test_bench_host.py FOLDPROOF [FOLDPROOF_MUTANTS]. Python programs that play NumPy's process stand first on the PATH.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

FOLDPROOF = pathlib.Path(sys.argv[1]).resolve()
MUTANTS = pathlib.Path(sys.argv[2]).resolve() if len(sys.argv) > 2 else None


def numpy_of(python):
    """Its version; nothing where there is none."""
    return subprocess.run([python, "-c", "import numpy; print(numpy.__version__)"], capture_output=True, text=True, check=False).stdout.strip()


# Of the Pythons that the bench tries, neither of which need be the one that runs this.
numpy = numpy_of("python3") or numpy_of("/usr/bin/python3")
failures = []


def expect(true, what):
    if not true:
        failures.append(what)


def bench(folder, *words, program=FOLDPROOF, python=None):
    """Exit code, what was printed, and the records by subject and threads."""
    environment = dict(os.environ)
    if python:
        fake = folder / "bin" / "python3"
        fake.parent.mkdir(exist_ok=True)
        fake.write_text(f"#!{sys.executable}\n{python}")
        fake.chmod(0o755)
        environment["PATH"] = f"{fake.parent}:{environment['PATH']}"
    out = folder / "b.jsonl"
    out.unlink(missing_ok=True)
    done = subprocess.run([program, "bench", "--engine", "host", "--iterations", "3", "--jsonl", out, *words], env=environment,
                          capture_output=True, text=True, check=False)
    lines = [json.loads(line) for line in out.read_text().splitlines()] if out.exists() else []
    timings = {(line["subject"], line["cols"], line["threads"]): line for line in lines if line["type"] == "timing"}
    return done.returncode, done.stdout + done.stderr, timings


def check_table(folder):
    code, text, timings = bench(folder, "--n", "100,1e5", "--threads", "1,2", "--subjects", "host/pairwise,rows/par_256,numpy/*")
    expect(code == 0, f"exit code {code}: {text}")
    want = {(s, n, t) for s in ("host/pairwise", "rows/par_256", "numpy/sum") for n in (100, 100000) for t in (1, 2)}
    expect(set(timings) == want, f"timed: {sorted(timings)}")
    for key, line in timings.items():
        if key[0] == "numpy/sum" and not numpy:
            expect("NumPy" in line["note"] and "median_seconds" not in line, f"no NumPy, and no reason: {line}")
            continue
        expect(line["verdict"] == "held" and line["engine"] == "host" and line["peer"] == "numpy/sum", f"{line}")
        expect(0 < line["p10_seconds"] <= line["median_seconds"] <= line["p90_seconds"], f"{line}")
        bytes_moved = 4 * (line["cols"] + 1)
        expect(abs(line["bytes_per_second"] * line["median_seconds"] / bytes_moved - 1) < 1e-9, f"{line}")
        expect(line["ceiling_bytes_per_second"] > 0, f"{line}")
        expect(abs(line["of_ceiling"] * line["ceiling_bytes_per_second"] / line["bytes_per_second"] - 1) < 1e-9, f"{line}")
    if numpy:
        ours, theirs = timings["host/pairwise", 100000, 1], timings["numpy/sum", 100000, 1]
        expect(abs(ours["to_peer"] * ours["median_seconds"] / theirs["median_seconds"] - 1) < 1e-9, f"ratio: {ours} {theirs}")
        expect(numpy in theirs["note"], f"{theirs}")
    for words in ("Threads 1, dtype f32, op sum, Data normal, Elements 100, Ceiling (GB/s) ", "Threads 2, dtype f32, op sum, Data normal, Elements 100,000, "):
        expect(words in text, f"no '{words}' in: {text}")
    code, text, timings = bench(folder, "--n", "1", "--threads", "1", "--subjects", "host/exact")
    expect(code == 0 and "Peer" not in text, f"a peer that was not timed: {code}: {text}")
    told, rate = float(text.split("host/exact")[1].split()[3]), 1e-9 * timings["host/exact", 1, 1]["bytes_per_second"]
    expect(abs(told / rate - 1) < 0.01, f"not {rate} GB/s of a small sum: {text}")


# What plays NumPy answers in NumPy's words: a version, then a time and bits for each offset that it reads.
PLAYED = """import sys, json
print(json.dumps({"version": "played"}), flush=True)
for line in sys.stdin:
    print(json.dumps({"seconds": 0.5, "bits": %r}), flush=True)
"""


def check_numpy(folder):
    """Its results are judged, its times are its own, and what is no NumPy is told."""
    ones = ("--n", "64", "--generator", "zeros_negative", "--subjects", "numpy/sum", "--threads", "1")
    code, text, timings = bench(folder, *ones, python=PLAYED % "00000080")
    line = timings["numpy/sum", 64, 1]
    expect(code == 0 and line["verdict"] == "held" and line["median_seconds"] == 0.5, f"played: {code}: {text}")
    code, text, timings = bench(folder, *ones, python=PLAYED % "0000803f")
    line = timings["numpy/sum", 64, 1]
    expect(code == 1 and line["verdict"] == "refuted" and "median_seconds" not in line, f"1 for zeros: {code}: {text}")
    code, text, timings = bench(folder, *ones, python=PLAYED % "0000c07f")
    expect(code == 1, f"NaN for zeros: {code}: {text}")
    # The next Python is asked where this one has none; where there is no other, the reason is in the table.
    for name, python in (("dies", "raise SystemExit(3)"), ("has none", "print('{\"missing\": \"no NumPy: played\"}')")):
        code, text, timings = bench(folder, *ones, "--subjects", "host/pairwise,numpy/sum", python=python)
        line = timings["numpy/sum", 64, 1]
        expect(code == 0 and ("median_seconds" in line or line["note"]), f"{name}: {code}: {text}")
        expect("median_seconds" in timings["host/pairwise", 64, 1], f"{name}: the others are not timed: {text}")
    code, text, _ = bench(folder, *ones, python="print('{\"version\": \"1\"}', flush=True)\ninput()\nprint('no answer', flush=True)\ninput()")
    expect(code == 77 and "that is no answer" in text, f"babble: {code}: {text}")


def check_kinds(folder):
    """Each operation and dtype that NumPy has, against results that the bench judges itself."""
    for op in ("sum", "prod", "max", "min"):
        code, text, timings = bench(folder, "--rows", "3", "--cols", "100", "--problem", op, "--dtype", "f16,f32,f64,bf16", "--subjects",
                                    "host/pairwise,numpy/*", "--threads", "1")
        expect(code == 0, f"{op}: {code}: {text}")
        expect(text.count("numpy/sum  ") == 3, f"{op}: not once for f16, f32, f64: {text}")


def check_dot(folder):
    """Two inputs: bytes of both count, NumPy's dot and matmul are given the same ones, and its wrong dot is refuted."""
    for shape in (("--n", "1000"), ("--rows", "3", "--cols", "1000")):
        code, text, timings = bench(folder, "--problem", "dot", "--threads", "1", *shape)
        expect(code == 0 and ("dot/exact", 1000, 1) in timings, f"{shape}: {code}: {text}")
        for key, line in timings.items():
            if key[0] == "numpy/dot" and not numpy:
                continue
            expect(line["op"] == "dot" and line["verdict"] == "held" and line["peer"] == "numpy/dot", f"{line}")
            expect(abs(line["bytes_per_second"] * line["median_seconds"] / (4 * 2001 * line["rows"]) - 1) < 1e-9, f"{line}")
    code, text, _ = bench(folder, "--problem", "dot", "--n", "64", "--threads", "1", "--subjects", "numpy/dot", python=PLAYED % "0000c07f")
    expect(code == 1 and "refuted" in text, f"NaN for a dot: {code}: {text}")
    code, text, _ = bench(folder, "--subjects", "dot/*", "--n", "64")
    expect(code == 77 and "no selected subject takes f32 sum" in text, f"dots asked for a sum: {code}: {text}")


def check_refuted(folder):
    code, text, timings = bench(folder, "--n", "1000", "--threads", "1", "--subjects", "mutant/twice,mutant/dropped_last,host/pairwise",
                              program=MUTANTS)
    refuted = [key for key, line in timings.items() if line["verdict"] == "refuted"]
    expect(code == 1 and len(refuted) == 2, f"not two mutants are refuted: {code}: {text}")
    expect(all("median_seconds" not in timings[key] for key in refuted), "a refuted subject is timed")


def check_usage(folder):
    for words in (("--threads", "0"), ("--threads", "x"), ("--subjects", "nosuch/*"), ("--what", "strong"), ("--bytes", "1024")):
        code, text, _ = bench(folder, "--n", "10", *words)
        expect(code == 2, f"{words}: exit code {code}: {text}")
    done = subprocess.run([FOLDPROOF, "bench", "--engine", "cuda", "--threads", "2"], capture_output=True, check=False)
    expect(done.returncode == 2, f"threads of a GPU: {done.returncode}")


with tempfile.TemporaryDirectory() as name:
    room = pathlib.Path(name)
    check_table(room)
    check_numpy(room)
    check_kinds(room)
    check_dot(room)
    if MUTANTS:
        check_refuted(room)
    check_usage(room)
for failure in failures:
    print(failure)
print(f"{len(failures)} failures")
sys.exit(1 if failures else 0)
