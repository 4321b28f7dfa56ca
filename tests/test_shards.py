#!/usr/bin/env python3
"""A product whose k is cut over 2, 4 and 8 ranks of MPI: the shards' products by gemm/canonical, joined by collective/canonical, have the bits
of one process. Where the shards are no subtrees of the order (oracles/segments.h), they have not.

test_shards.py FOLDPROOF.
"""
import json
import os
import pathlib
import random
import struct
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from expect import expect, finish  # noqa: E402

FOLDPROOF = pathlib.Path(sys.argv[1]).resolve()
FORMS = {"f32": ("f", "I"), "f64": ("d", "Q")}
M, N = 3, 5
os.environ.setdefault("OMPI_ALLOW_RUN_AS_ROOT", "1")
os.environ.setdefault("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")


def save(name, dtype, rows, form):
    """Rows of numbers, or of their bits, as an array of dtype."""
    head = f"{{'descr': '<f{dtype[1:].replace('32', '4').replace('64', '8')}', 'fortran_order': False, 'shape': {(len(rows), len(rows[0]))}, }}".ljust(117) + "\n"
    pathlib.Path(name).write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode()
                                   + b"".join(struct.pack(f"<{len(row)}{form}", *row) for row in rows))
    return name


def record(subject, engine, npy, *words):
    """The bits of a subject's results."""
    done = subprocess.run([FOLDPROOF, "record", subject, "--engine", engine, "--npy", npy, "--full", *words], capture_output=True, text=True, timeout=600)
    runs = [line for line in map(json.loads, done.stdout.splitlines()) if line["type"] == "run"]
    assert done.returncode == 0 and len(runs) == 1, (subject, npy, done)
    return [int(bits, 16) for bits in runs[0]["results"]]


def multiply(dtype, a, b):
    form = FORMS[dtype][0]
    return record("gemm/canonical", "host", f"{save('a.npy', dtype, a, form)},{save('b.npy', dtype, b, form)}", "--problem", "matmul")


def shard_length(k, ranks):
    """Of whole segments (oracles/segments.h)."""
    segments = 1
    while k > segments * 512:
        segments *= 2
    return segments // ranks * (-(-k // (8 * segments)) * 8)


def check(dtype, k, ranks, wanted, filled=False):
    draw = random.Random(f"{dtype} {k}")
    a, b = ([[draw.gauss(0, 1) for _ in range(n)] for _ in range(m)] for m, n in ((M, k), (k, N)))
    whole = multiply(dtype, a, b)
    each = shard_length(k, ranks) if filled else k // ranks
    a, b = [row + [0.0] * (each * ranks - k) for row in a], b + [[0.0] * N] * (each * ranks - k)
    shards = [multiply(dtype, [row[r * each:(r + 1) * each] for row in a], b[r * each:(r + 1) * each]) for r in range(ranks)]
    partials = save("partials.npy", dtype, list(zip(*shards)), FORMS[dtype][1])  # a column is a rank's vector
    joined = record("collective/canonical", "mpi", partials, "--ranks", str(ranks))
    expect(len(joined) == len(whole) == M * N and (joined == whole) == wanted, f"{dtype}, k {k} over {ranks} ranks: {joined}, one process: {whole}")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    for ranks in (2, 4, 8):
        check("f32", 4096, ranks, True)
        check("f32", 4104, ranks, False)  # segments of 264 terms, which a shard is no multiple of
    check("f32", 11008, 8, True)
    check("f32", 14336, 4, True)
    check("f64", 5120, 8, True)
    check("f32", 13696, 8, False)
    check("f32", 13696, 8, True, filled=True)  # 7 shards of 1,728 terms, and one of 1,600
    check("f32", 29568, 4, True, filled=True)
    check("f32", 2048, 8, False)  # half a segment a rank
finish("shards of k over ranks")
