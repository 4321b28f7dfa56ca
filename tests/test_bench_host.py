#!/usr/bin/env python3
"""foldproof bench --engine host: who is timed, judged and recorded. No verdict hangs on how long something took.

test_bench_host.py FOLDPROOF [FOLDPROOF_MUTANTS].
"""
import json
import pathlib
import subprocess
import sys
import tempfile

FOLDPROOF = pathlib.Path(sys.argv[1]).resolve()
MUTANTS = pathlib.Path(sys.argv[2]).resolve() if len(sys.argv) > 2 else None


failures = []


def expect(true, what):
    if not true:
        failures.append(what)


def bench(folder, *words, program=FOLDPROOF):
    """Exit code, what was printed, and the records by subject and threads."""
    out = folder / "b.jsonl"
    out.unlink(missing_ok=True)
    done = subprocess.run([program, "bench", "--engine", "host", "--iterations", "3", "--jsonl", out, *words],
                          capture_output=True, text=True, check=False)
    lines = [json.loads(line) for line in out.read_text().splitlines()] if out.exists() else []
    timings = {(line["subject"], line["cols"], line["threads"]): line for line in lines if line["type"] == "timing"}
    return done.returncode, done.stdout + done.stderr, timings


def check_table(folder):
    code, text, timings = bench(folder, "--n", "100,1e5", "--threads", "1,2", "--subjects", "host/pairwise,rows/par_256,host/numpy")
    expect(code == 0, f"exit code {code}: {text}")
    want = {(s, n, t) for s in ("host/pairwise", "rows/par_256", "host/numpy") for n in (100, 100000) for t in (1, 2)}
    expect(set(timings) == want, f"timed: {sorted(timings)}")
    for key, line in timings.items():
        expect(line["verdict"] == "held" and line["engine"] == "host" and line["peer"] == "host/numpy", f"{line}")
        expect(0 < line["p10_seconds"] <= line["median_seconds"] <= line["p90_seconds"], f"{line}")
        bytes_moved = 4 * (line["cols"] + 1)
        expect(abs(line["bytes_per_second"] * line["median_seconds"] / bytes_moved - 1) < 1e-9, f"{line}")
        expect(line["ceiling_bytes_per_second"] > 0, f"{line}")
        expect(abs(line["of_ceiling"] * line["ceiling_bytes_per_second"] / line["bytes_per_second"] - 1) < 1e-9, f"{line}")
    ours, theirs = timings["host/pairwise", 100000, 1], timings["host/numpy", 100000, 1]
    expect(abs(ours["to_peer"] * ours["median_seconds"] / theirs["median_seconds"] - 1) < 1e-9, f"ratio: {ours} {theirs}")
    for words in ("Threads 1, dtype f32, op sum, Data normal, Elements 100, Ceiling (GB/s) ", "Threads 2, dtype f32, op sum, Data normal, Elements 100,000, "):
        expect(words in text, f"no '{words}' in: {text}")
    code, text, timings = bench(folder, "--n", "1", "--threads", "1", "--subjects", "host/exact")
    expect(code == 0 and "Peer" not in text, f"a peer that was not timed: {code}: {text}")
    told, rate = float(text.split("host/exact")[1].split()[3]), 1e-9 * timings["host/exact", 1, 1]["bytes_per_second"]
    expect(abs(told / rate - 1) < 0.01, f"not {rate} GB/s of a small sum: {text}")


def check_kinds(folder):
    """Each operation and dtype, against results that the bench judges itself."""
    for op in ("sum", "prod", "max", "min"):
        code, text, timings = bench(folder, "--rows", "3", "--cols", "100", "--problem", op, "--dtype", "f16,f32,f64,bf16", "--subjects", "host/pairwise", "--threads", "1")
        expect(code == 0 and text.count("host/pairwise  ") == 4, f"{op}: {code}: {text}")


def check_dot(folder):
    """Two inputs: bytes of both count."""
    for shape in (("--n", "1000"), ("--rows", "3", "--cols", "1000")):
        code, text, timings = bench(folder, "--problem", "dot", "--threads", "1", *shape)
        expect(code == 0 and ("dot/exact", 1000, 1) in timings, f"{shape}: {code}: {text}")
        for key, line in timings.items():
            expect(line["op"] == "dot" and line["verdict"] == "held" and line["peer"] == "dot/sequential", f"{line}")
            expect(abs(line["bytes_per_second"] * line["median_seconds"] / (4 * 2001 * line["rows"]) - 1) < 1e-9, f"{line}")
    code, text, timings = bench(folder, "--problem", "matvec", "--threads", "1", "--rows", "50", "--cols", "1000")
    line = timings["dot/exact", 1000, 1]
    moved = 4 * (50 * 1000 + 1000 + 50)  # all rows share the vector
    expect(code == 0 and line["op"] == "matvec" and line["verdict"] == "held", f"{code}: {text}")
    expect(abs(line["bytes_per_second"] * line["median_seconds"] / moved - 1) < 1e-9, f"{line}")
    code, text, _ = bench(folder, "--subjects", "dot/*", "--n", "64")
    expect(code == 77 and "no selected subject takes f32 sum" in text, f"dots asked for a sum: {code}: {text}")


def check_products(folder):
    """A vector and three matrices times one matrix, each judged, with operations a second and ratios to one peer of each problem."""
    out, subjects = folder / "b.jsonl", ("gemm/canonical", "dot/exact", "matmul/blocked")
    code, text, _ = bench(folder, "--what", "products", "--m", "1,3,8", "--n", "24", "--k", "600", "--threads", "1")
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    lines = [line for line in lines if line["type"] == "timing"]
    expect(code == 0, f"exit code {code}: {text}")
    of = {(line["subject"], line["op"], (line.get("shape") or [1, 24, 1, 600])[1]): line for line in lines}
    expect(set(of) >= {(s, "matmul", m) for s in subjects for m in (1, 3, 8)} | {("gemm/canonical", "matvec", 24)}, f"timed: {sorted(of)}")
    for (subject, op, m), line in of.items():
        results, peer = (24, "dot/sequential") if op == "matvec" else (24 * m, "matmul/blocked")
        moved = 4 * (24 * 600 + (600 if op == "matvec" else m * 600) + results)
        expect(line["verdict"] == "held" and line["rows"] == results and line["cols"] == 600 and line["peer"] == peer, f"{line}")
        expect(line.get("shape") == (None if op == "matvec" else [1, m, 24, 600]), f"{line}")
        expect(abs(line["bytes_per_second"] * line["median_seconds"] / moved - 1) < 1e-9, f"{line}")
        expect(abs(line["flop_per_second"] * line["median_seconds"] / (2 * results * 600) - 1) < 1e-9, f"{line}")
        theirs = of[peer, op, m]["median_seconds"]
        expect(abs(line["to_peer"] * line["median_seconds"] / theirs - 1) < 1e-9, f"{line}")
    expect("TFLOP/s" in text and text.count("Timings") == 1, f"not one table: {text}")
    rows = [line.split() for line in text.splitlines() if line.startswith("  gemm/canonical")]
    expect([row[1:7] for row in rows[:3]] == [["matmul", str(m), "x", "24", "x", "600"] for m in (1, 3, 8)], f"by rows: {rows}")
    code, text, _ = bench(folder, "--what", "products", "--dtype", "f16,bf16,f64", "--m", "2", "--n", "3", "--k", "520", "--threads", "1")
    expect(code == 0 and text.count("Timings") == 3 and text.count("gemm/canonical ") == 6, f"dtypes: {code}: {text}")
    code, text, _ = bench(folder, "--what", "products", "--m", "300", "--n", "300", "--k", "2", "--threads", "1", "gemm/canonical")
    expect(code == 0 and text.count("held") == 2, f"many results: {code}: {text}")
    code, text, _ = bench(folder, "--what", "products", "--m", "2", "--n", "3", "--k", "5", "--peer", "dot/exact", "--threads", "1", "gemm/canonical", "dot/exact")
    expect(code == 0 and text.count("dot/exact") == 3, f"one peer, named once above the table: {code}: {text}")


def check_refuted(folder):
    code, text, timings = bench(folder, "--n", "1000", "--threads", "1", "--subjects", "mutant/twice,mutant/dropped_last,host/pairwise",
                              program=MUTANTS)
    refuted = [key for key, line in timings.items() if line["verdict"] == "refuted"]
    expect(code == 1 and len(refuted) == 2, f"not two mutants are refuted: {code}: {text}")
    expect(all("median_seconds" not in timings[key] for key in refuted), "a refuted subject is timed")


def check_usage(folder):
    for words in (("--threads", "0"), ("--threads", "x"), ("--subjects", "nosuch/*"), ("--what", "strong"), ("--bytes", "1024"), ("--problem", "matmul"), ("--m", "3"), ("--k", "3")):
        code, text, _ = bench(folder, "--n", "10", *words)
        expect(code == 2, f"{words}: exit code {code}: {text}")
    for words in (("--n", "1,2"), ("--n", "0"), ("--rows", "2", "--cols", "2"), ("--problem", "dot"), ("--engine", "mpi"), ("--m", "0"), ("--k", "1e9"), ("--what", "strong")):
        code, text, _ = bench(folder, "--what", "products", *words)
        expect(code == 2, f"products, {words}: exit code {code}: {text}")
    done = subprocess.run([FOLDPROOF, "bench", "--engine", "cuda", "--threads", "2"], capture_output=True, check=False)
    expect(done.returncode == 2, f"threads of a GPU: {done.returncode}")


with tempfile.TemporaryDirectory() as name:
    room = pathlib.Path(name)
    check_table(room)
    check_kinds(room)
    check_dot(room)
    check_products(room)
    if MUTANTS:
        check_refuted(room)
    check_usage(room)
for failure in failures:
    print(failure)
print(f"{len(failures)} failures")
sys.exit(1 if failures else 0)
