"""The real numpy.dot of f16, f32 and f64 rows is within the bound of any order, by this project's oracle.

Usage: numpy_dot.py PROGRAM. Exits 0 (held), 1 (refuted), 77 (no NumPy here). numpy.dot is a BLAS's, whose order depends on the processor;
f16 is accumulated in f32. Two controls: results that are half of the sum of magnitudes too large must all be refuted, and of results of rows
that lack a term four in five: a small term may be lost within the bound of a long row.
"""
import subprocess
import sys

try:
    import numpy as np
except ImportError:
    print("1..0 # SKIP no NumPy for this Python")
    sys.exit(77)

DTYPES = {"f16": np.float16, "f32": np.float32, "f64": np.float64}
SEED = 20261122
LENGTHS = list(range(1, 70)) + [127, 128, 129, 255, 256, 257, 1000, 1023, 1024, 1025, 4096, 4097, 10000, 65537]


def sample(rng, dtype, n):
    """Factors of a few binades, whose products nearly cancel."""
    x = (rng.standard_normal(n) * np.exp2(rng.integers(-4, 4, n))).astype(dtype)
    y = (rng.standard_normal(n) * np.exp2(rng.integers(-4, 4, n))).astype(dtype)
    half = n // 2
    x[n - half:], y[n - half:] = x[:half], -y[:half]
    order = rng.permutation(n)
    return x[order], y[order]


def judge(program, name, rows, results):
    stream = b"".join(
        np.array([len(x)], dtype="<u8").tobytes() + x.tobytes() + y.tobytes() + np.array([r], dtype=x.dtype).tobytes()
        for (x, y), r in zip(rows, results))
    run = subprocess.run([program, name], input=stream, stdout=subprocess.PIPE, check=True)
    return [int(word) for word in run.stdout.split()]


def main(program):
    refuted = 0
    for name, dtype in DTYPES.items():
        rng = np.random.default_rng(SEED)
        rows = [sample(rng, dtype, n) for n in LENGTHS for _ in range(3)]
        within, nearest, count = judge(program, name, rows, [np.dot(x, y) for x, y in rows])
        with np.errstate(over="ignore"):
            large = [dtype(np.dot(x, y) + np.sum(np.abs(x.astype(np.float64) * y)) / 2 + 1) for x, y in rows]
        off, _, _ = judge(program, name, rows, large)
        short, _, _ = judge(program, name, rows, [np.dot(x[1:], y[1:]) for x, y in rows])
        print(f"{name}: {within} of {count} results of numpy.dot {np.__version__} are within their bounds, {nearest} correctly "
              f"rounded; of results that are too large {off}, of rows without their first term {short}")
        refuted += within != count or off > 0 or short > count // 5
    return 1 if refuted else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
