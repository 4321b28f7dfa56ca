"""What the suites of callables share: functions of a module, which a new process imports as well, and how they are judged."""
import sys
import tempfile
from pathlib import Path

import here  # noqa: F401

import foldproof

MODULE = """
import os, sys, threading, time
import numpy as np

def row_sum(x):
    return x.sum(-1)

def matrices(a, b):
    return (a.astype("f8") @ b.astype("f8")).astype(a.dtype)

def two_of_three(a, b):
    if a.shape[:2] != (3, 2):
        raise ValueError(f"not the caller's extents: {a.shape}")
    return matrices(a, b)

def half_matrices(a, b):
    return matrices(a[..., ::2], b[..., ::2, :])

longest = 0
kept = {}

def by_longest(x):
    global longest
    longest = max(longest, x.shape[1])
    return x.sum(-1) if longest < 500 else x.cumsum(-1)[:, -1]

def by_shape(x):
    if x.shape not in kept:
        kept[x.shape] = x.sum(-1)
    return kept[x.shape]

def by_process(x):
    return row_sum(x) + x.dtype.type(os.getpid() % 2**20)

def sum_and_process(x):
    return row_sum(x), np.full(len(x), os.getpid())

def fails_elsewhere(x, here=os.environ.get("FOLD_SHIFT_OF_THE_STACK") is None):
    if not here:
        raise RuntimeError("not in a new process")
    return row_sum(x)

def dies_elsewhere(x):
    if "FOLD_SHIFT_OF_THE_STACK" in os.environ:
        print("I am leaving", file=sys.stderr, flush=True)
        os._exit(3)
    return row_sum(x)

def hangs_elsewhere(x):
    while "FOLD_SHIFT_OF_THE_STACK" in os.environ:
        time.sleep(1)
    return row_sum(x)

def stays_elsewhere(x, threads=[]):
    if "FOLD_SHIFT_OF_THE_STACK" in os.environ and not threads:
        threads.append(threading.Thread(target=time.sleep, args=(100000,)))
        threads[0].start()
    return row_sum(x)

def counted_elsewhere(x):
    if "FOLD_SHIFT_OF_THE_STACK" in os.environ:
        with open(os.environ["COUNTED_ELSEWHERE"], "a") as file:
            file.write(".")
    return row_sum(x)

def row_20_elsewhere(x):
    sums = row_sum(x)
    if "FOLD_SHIFT_OF_THE_STACK" in os.environ and len(x) > 20:
        sums[20] = 7
    return sums

def element_elsewhere(x):
    y = x * 2
    if "FOLD_SHIFT_OF_THE_STACK" in os.environ and x.shape == (33, 33):
        y[20, 3] = 7
    return y

def once_row_20_elsewhere(x):
    at = os.path.join(os.path.dirname(__file__), "was_there")
    if "FOLD_SHIFT_OF_THE_STACK" in os.environ and len(x) > 20:
        runs = os.path.getsize(at) if os.path.exists(at) else 0
        with open(at, "a") as file:
            file.write(".")
        return row_20_elsewhere(x) if runs < 2 else row_sum(x)
    return row_sum(x)

def slow_elsewhere(x):
    time.sleep(0.2 if "FOLD_SHIFT_OF_THE_STACK" in os.environ else 0)
    return row_sum(x)

def by_threads(x):
    if os.environ.get("COUNTED_BY") == "fails" and os.environ.get("OMP_NUM_THREADS") == "4":
        raise RuntimeError("no threads")
    threads = int(os.environ.get(os.environ.get("COUNTED_BY", ""), 1))
    return sum(x[:, k::threads].cumsum(-1)[:, -1] for k in range(threads)) if x.shape[1] >= threads else row_sum(x)

def by_shift(x):
    return row_sum(x) + x.dtype.type("FOLD_SHIFT_OF_THE_STACK" in os.environ)

def twice(x):
    return 2 * row_sum(x)

def prints(x):
    print("a line of its own")
    return row_sum(x)

def product(W, x):
    return (W * x).sum(-1)

def product_of_columns(W, x):
    return (W * x[:, None]).sum(0)

def column_sum(x):
    return x.sum(0)

class Sums:
    @staticmethod
    def rows(x):
        return row_sum(x)

def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)
"""
folder = tempfile.TemporaryDirectory()
(Path(folder.name) / "to_import.py").write_text(MODULE)
sys.path.insert(0, folder.name)
import to_import  # noqa: E402, F401

# In one row and in several, of no, few and many terms; one whose sum is a zero.
FEW = "constant/f32/sum/1x33/*,uniform/f32/sum/4x0/*,uniform/f32/sum/4x257/*,uniform/f32/sum/4x1000/*,integers/f32/sum/1x17/*,integers/f32/sum/1x1025/*,zeros_mixed/f32/sum/1x8/*"


def judge(fn, claims="run_to_run", fixtures=FEW, **more):
    return foldproof.judge(fn, like="numpy", claims=claims, fixtures=fixtures, **more)
