#!/usr/bin/env python3
"""The library from Python by ctypes, with Python's own exact arithmetic as the judge.

ctypes_calls.py LIBRARY SANITIZERS
"""
import array
import ctypes
import fractions
import random
import struct
import sys

if sys.argv[2] != "none":
    print(f"skipped: a library with {sys.argv[2]} cannot be loaded into python3")
    sys.exit(77)


class Measure(ctypes.Structure):
    _fields_ = [(name, ctypes.c_double) for name in ("error", "ulps", "bound", "exact", "abs_sum", "condition")]


lib = ctypes.CDLL(sys.argv[1])
lib.foldproof_version.restype = lib.foldproof_error.restype = lib.foldproof_order.restype = ctypes.c_char_p
lib.foldproof_order.argtypes = [ctypes.c_size_t, ctypes.c_void_p]
lib.foldproof_replay.argtypes = [ctypes.c_char_p] * 3 + [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_uint,
                                                         ctypes.c_void_p]
lib.foldproof_exact.argtypes = [ctypes.c_char_p] * 2 + [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_char_p,
                                                        ctypes.c_uint, ctypes.c_void_p]
lib.foldproof_exact_text.argtypes = [ctypes.c_char_p] * 2 + [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p,
                                                             ctypes.c_size_t, ctypes.POINTER(ctypes.c_size_t)]
lib.foldproof_measure.argtypes = [ctypes.c_char_p] * 3 + [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p,
                                                          ctypes.POINTER(Measure)]

failures = []


def expect(true, what):
    if not true:
        failures.append(what)


def called(code):
    if code:
        raise RuntimeError(f"{code}: {lib.foldproof_error().decode()}")


def at(values):
    return values.buffer_info()[0]


def narrow(value):
    """Rounded to f32."""
    return struct.unpack("f", struct.pack("f", value))[0]


def exact_text(dtype, x):
    needed = ctypes.c_size_t()
    expect(lib.foldproof_exact_text(dtype, b"sum", at(x), len(x), None, 0, ctypes.byref(needed)) == 2, "no room is refused")
    text = ctypes.create_string_buffer(needed.value)
    called(lib.foldproof_exact_text(dtype, b"sum", at(x), len(x), text, needed.value, None))
    return text.value.decode()


draw = random.Random(20)
for trial in range(40):
    n = draw.randrange(1, 300)
    dtype, code = ((b"f64", "d"), (b"f32", "f"))[trial % 2]
    x = array.array(code, (draw.uniform(-1, 1) * 2.0 ** draw.randrange(-60, 60) for _ in range(n)))
    exact = sum(map(fractions.Fraction, x))
    expect(fractions.Fraction(exact_text(dtype, x)) == exact, f"trial {trial}: digits")

    # float() of a Fraction rounds correctly; to f32 it would round twice, so f32 is compared in f64.
    out = array.array("d", [7])
    called(lib.foldproof_exact(dtype, b"sum", at(x), 1, n, b"f64", 0, at(out)))
    expect(out[0] == float(exact), f"trial {trial}: exact {out[0]!r}, want {float(exact)!r}")

    got = array.array(code, [7])
    called(lib.foldproof_replay(b"host/sequential", dtype, b"sum", at(x), 1, n, 0, at(got)))
    want = 0.0
    for value in x:
        want = want + value if code == "d" else narrow(want + value)
    expect(got[0] == want, f"trial {trial}: sequential {got[0]!r}, want {want!r}")

    measure = Measure()
    called(lib.foldproof_measure(b"host/sequential", dtype, b"sum", at(x), n, at(got), ctypes.byref(measure)))
    error = abs(fractions.Fraction(got[0]) - exact)
    expect(error <= fractions.Fraction(measure.error) <= error * (1 + fractions.Fraction(1, 2**50)), f"trial {trial}: error")
    expect(measure.error <= measure.bound, f"trial {trial}: {measure.error} is above {measure.bound}")

names = []
while (name := lib.foldproof_order(len(names), None)) is not None:
    names.append(name.decode())
expect("rows/par_256" in names and "flat/canonical" in names, f"orders: {names}")
expect(lib.foldproof_replay(b"nosuch", b"f32", b"sum", None, 1, 0, 0, at(out)) == 2, "an unknown order is refused")
expect(b"nosuch" in lib.foldproof_error(), "the error names it")
for failure in failures[:10]:
    print(failure)
print(f"foldproof {lib.foldproof_version().decode()}: {len(failures)} failures")
sys.exit(1 if failures else 0)
