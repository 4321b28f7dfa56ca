"""host/numpy has the bits of the real numpy.sum: f16, f32 and f64, around every boundary of its algorithm.

Usage: numpy_sum.py LIBRARY SANITIZERS. Exits 0 (held), 1 (refuted), 77 (no NumPy here). Prints at most ten mismatches.
Up to 2.2 NumPy's reduction takes a contiguous axis in pieces of 8192 (its buffer's size); 2.3 and later take it whole
(numpy/numpy#27883), so that longer rows are compared with the older ones only: those of Debian 12 and Ubuntu 24.04.
f16 is accumulated in f32 within a piece, then rounded to f16: our order rounds once, so f16 rows end at 8192.
Rows of nothing but -0 are left out: the sign of their sum depends on NumPy's version (+0 in 1.24, as here).
"""
import ctypes
import sys

try:
    import numpy as np
except ImportError:
    print("1..0 # SKIP no NumPy for this Python")
    sys.exit(77)

DTYPES = {"f16": np.float16, "f32": np.float32, "f64": np.float64}
SEED = 20240607
PIECE = 8192


def lengths():
    chosen = set(range(0, 301)) | set(range(1023, 1034))
    for power in range(8, 18):
        for cut in (2**power, 3 * 2**(power - 1)):
            for near in (-9, -8, -7, -1, 0, 1, 7, 8, 9):
                chosen.add(cut + near)
    return sorted(chosen)


def most_terms(name):
    release = tuple(int(part) for part in np.__version__.split(".")[:2])
    return PIECE if name == "f16" or release >= (2, 3) else sys.maxsize


def shapes(most):
    single = [(1, n) for n in lengths()] + [(1, 1000003)]
    several = [(r, c) for r in (2, 3, 17) for c in (1, 2, 7, 8, 9, 15, 16, 127, 128, 129, 136, 137, 1000, 1031, 8209)]
    return [(rows, cols) for rows, cols in single + several if cols <= most]


def sample(rng, dtype, rows, cols):
    """Wide exponents, and terms that nearly cancel: another order would show."""
    spread = 12 if dtype == np.float16 else 20
    x = rng.standard_normal((rows, cols)) * np.exp2(rng.integers(-spread, spread // 2, (rows, cols)))
    half = cols // 2
    x = x.astype(dtype)
    x[:, cols - half:] = -x[:, :half][:, ::-1]
    return np.ascontiguousarray(rng.permuted(x, axis=1))


def sums_of(library, name, order, inputs):
    results = [np.empty(len(x), x.dtype) for x in inputs]
    for x, out in zip(inputs, results):
        code = library.foldproof_replay(order.encode(), name.encode(), b"sum", x.ctypes.data_as(ctypes.c_void_p), *map(ctypes.c_size_t, x.shape), 0,
                                        out.ctypes.data_as(ctypes.c_void_p))
        assert code == 0, (code, x.shape)
    return np.concatenate(results)


def mismatches(library, name, order):
    rng = np.random.default_rng(SEED)
    inputs = [sample(rng, DTYPES[name], rows, cols) for rows, cols in shapes(most_terms(name))]
    got = sums_of(library, name, order, inputs)
    want = [np.sum(x[0], keepdims=True) if len(x) == 1 else np.sum(x, axis=1) for x in inputs]
    width = {2: np.uint16, 4: np.uint32, 8: np.uint64}[got.itemsize]
    labels = [(x.shape, r) for x in inputs for r in range(len(x))]
    pairs = zip(labels, got.view(width), np.concatenate(want).view(width))
    return [(label, g, w) for label, g, w in pairs if g != w], len(labels)


def main(library):
    refuted = 0
    for name in DTYPES:
        wrong, rows = mismatches(library, name, "host/numpy")
        control, _ = mismatches(library, name, "host/pairwise")
        for (shape, row), got, want in wrong[:10]:
            print(f"{name} {shape[0]}x{shape[1]} row {row} seed {SEED}: got {got:#x}, numpy.sum has {want:#x}")
        if len(control) < rows // 3:
            print(f"{name}: another order differs in {len(control)} of {rows} rows only: the samples prove little")
        refuted += len(wrong) + (len(control) < rows // 3)
        longest = max(cols for _, cols in shapes(most_terms(name)))
        print(f"{name}: {rows - len(wrong)} of {rows} rows up to {longest} terms have the bits of numpy.sum "
              f"{np.__version__}; the pairwise order differs in {len(control)}")
    return 1 if refuted else 0


if __name__ == "__main__":
    if sys.argv[2] != "none":
        print(f"skipped: a library with {sys.argv[2]} cannot be loaded into python3")
        sys.exit(77)
    sys.exit(main(ctypes.CDLL(sys.argv[1])))
