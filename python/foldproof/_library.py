"""libfoldproof by ctypes: foldproof.h and foldproof_guest.h; and where the library and the fixtures are."""

from __future__ import annotations

import ctypes
import functools
import operator
import os
import re
import sysconfig
from ctypes import POINTER, c_char_p, c_double, c_int, c_int32, c_int64, c_size_t, c_uint, c_uint32, c_uint64, c_void_p
from pathlib import Path

HERE = Path(__file__).resolve().parent
# Where a wheel has its library and command: meson-python puts compiled files beside this package or into a folder of the platform.
_PLACES = [folder / ".foldproof.mesonpy.libs" for folder in (HERE.parent, Path(sysconfig.get_path("platlib")))]
COMPILED = next(filter(Path.is_dir, _PLACES), _PLACES[0])
UNSUPPORTED = 77
DTYPES_BY_NUMBER = {1: "f16", 2: "bf16", 3: "f32", 4: "f64", 5: "e4m3", 6: "e5m2", 7: "i8", 8: "i32", 9: "i64"}  # foldproof_guest.h
DTYPE_NUMBERS = {name: number for number, name in DTYPES_BY_NUMBER.items()}
_TABLE = "the table: "  # a callable has none that its user knows
_OPTION = re.compile(r"(?:(?<=: )|^)--(set|around|sweep) ([^\s:]+)")  # of the command, at the beginning of a clause


class Call(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("problem", c_int32),
        ("dtype", c_int32),
        ("accumulator", c_int32),
        ("result", c_int32),
        ("rows", c_uint64),
        ("cols", c_uint64),
        ("in_", c_void_p),
        ("other", c_void_p),
        ("out", c_void_p),
        ("scratch", c_void_p),
        ("stream", c_void_p),
        ("threads", c_uint32),
        ("blocks", c_uint32),
        ("block", c_uint32),
        ("why", c_void_p),
        ("why_bytes", c_size_t),
        ("row_stride", c_uint64),
        ("col_stride", c_uint64),
        ("extent", c_uint64 * 4),
        ("stride", (c_int64 * 4) * 3),
    ]


Run = ctypes.CFUNCTYPE(c_int, POINTER(Call), c_void_p)
Take = ctypes.CFUNCTYPE(c_int, c_char_p, c_void_p)


class Subject(ctypes.Structure):
    _fields_ = [
        *((name, c_char_p) for name in ("name", "about", "problems", "dtypes", "accumulator", "result", "order", "claims")),
        *((name, c_char_p) for name in ("same_bits_as", "engine", "method")),
        ("run", Run),
        ("scratch", c_void_p),
        ("context", c_void_p),
        ("strides", c_uint32),
        ("finite", c_uint32),
        ("accurate_as", c_char_p),
        ("ulps", c_double),
        ("skips_nan", c_uint32),
        ("wraps", c_uint32),
        ("factor_dtype", c_char_p),
    ]


class Table(ctypes.Structure):
    _fields_ = [("abi", c_uint32), ("subject_size", c_uint32), ("n", c_size_t), ("subjects", POINTER(Subject))]


class Unseen(ctypes.Structure):
    _fields_ = [("claim", c_char_p), ("reason", c_char_p)]


class Options(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        *((name, c_char_p) for name in ("subjects", "claims", "fixtures", "set", "folder")),
        ("npy", POINTER(c_char_p)),
        ("n_npy", c_size_t),
        ("problem", c_char_p),
        ("repeats", c_uint),
        ("around", POINTER(c_uint64)),
        ("n_around", c_size_t),
        ("unseen", POINTER(Unseen)),
        ("n_unseen", c_size_t),
        ("backwards", c_uint32),
        ("full", c_uint32),
        ("seconds", c_double),
        ("sweep", c_char_p),
        ("sweep_adds", c_uint32),
        ("apart", c_uint32),
        ("untrusted", c_uint32),
    ]


class HuntOptions(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("seed", c_uint64),
        ("cases", c_uint64),
        ("seconds", c_double),
        ("jobs", c_uint32),
        ("first", c_uint32),
        ("found", c_char_p),
        ("ledger", c_char_p),
        ("here", c_uint32),
        ("shrinking", c_double),
    ]


class Problem(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("name", c_char_p),
        ("dtype", c_char_p),
        ("extent", c_uint64 * 4),
        ("in_", c_void_p * 2),
        ("stride", (c_int64 * 4) * 2),
    ]


class RevealOptions(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("n", c_size_t), ("dtype", c_char_p), ("problem", c_char_p), ("rows", c_size_t)]


class Measure(ctypes.Structure):
    """One result against the exact one; see foldproof.measure."""

    _NAMES = ("error", "ulps", "bound", "exact", "abs_sum", "condition")
    _fields_ = [(name, c_double) for name in _NAMES]

    def __repr__(self) -> str:
        return f"Measure({', '.join(f'{name}={getattr(self, name)!r}' for name in self._NAMES)})"


def _find() -> str:
    """The path of the library: $FOLDPROOF_LIBRARY, else the wheel's, else the system's."""
    beside = sorted(COMPILED.glob("libfoldproof.so*"))
    return os.environ.get("FOLDPROOF_LIBRARY") or (str(beside[0]) if beside else "libfoldproof.so.0")


def fixtures() -> bytes | None:
    """The folder of fixtures: $FOLDPROOF_FIXTURES, else the one beside this file; None: the library's own default."""
    named = os.environ.get("FOLDPROOF_FIXTURES")
    folder = Path(named) if named else HERE / "fixtures"
    return os.fsencode(folder) if named or folder.is_dir() else None


def search_path() -> str:
    """$PYTHONPATH for a new process that imports this package."""
    return os.pathsep.join([str(HERE.parent), *filter(None, [os.environ.get("PYTHONPATH")])])


@functools.lru_cache(None)
def library() -> ctypes.CDLL:
    """The library, loaded when it is first needed, so that this package can be imported without it."""
    # OpenMP reads this when it is loaded: threads that spin between short regions would take the processor from the callable.
    had_policy = "OMP_WAIT_POLICY" in os.environ
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    try:
        found = ctypes.CDLL(_find())
    except OSError as error:
        raise OSError(f"foldproof's library cannot be loaded ({error}): $FOLDPROOF_LIBRARY says where it is") from None
    finally:
        if not had_policy:
            del os.environ["OMP_WAIT_POLICY"]
    arguments = {
        "problem_exact": [POINTER(Problem), c_char_p, c_uint, c_void_p],
        "problem_replay": [c_char_p, POINTER(Problem), c_uint, c_void_p],
        "problem_measure": [c_char_p, POINTER(Problem), c_size_t, c_void_p, POINTER(Measure)],
        "hash": [c_char_p, c_void_p, c_size_t, c_size_t, c_void_p],
        "verify": [POINTER(Table), POINTER(Options), Take, c_void_p],
        "hunt": [POINTER(Table), POINTER(Options), POINTER(HuntOptions), Take, c_void_p],
        "reveal": [POINTER(Table), POINTER(RevealOptions), Take, c_void_p],
        "environment": [c_char_p, c_size_t, POINTER(c_size_t)],
        "records_open": [c_char_p, c_char_p, POINTER(c_void_p)],
        "records_add": [c_void_p, c_char_p],
        "records_close": [c_void_p, c_int],
    }
    for name, types in arguments.items():
        getattr(found, "foldproof_" + name).argtypes = types
    found.foldproof_claim.argtypes = [c_char_p, c_size_t]
    found.foldproof_version.restype = found.foldproof_error.restype = found.foldproof_claim.restype = c_char_p
    return found


def claims_of(words: str) -> list[str]:
    """The claims that a list of names and presets stands for."""
    found: list[str] = []
    while (name := library().foldproof_claim(text(words), len(found))) is not None:
        found.append(name.decode())
    if not found and library().foldproof_error():
        check(1)
    return found


def text(value: str | None) -> bytes | None:
    """Text for C, which may not contain a NUL."""
    if value is None:
        return None
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no text")
    if "\0" in value:
        raise ValueError(f"{value!r}: it holds a NUL")
    return value.encode()


def whole(name: str, value: int, least: int, most: int) -> int:
    """Checks that the number fits: ctypes would silently take it modulo 2^64."""
    try:
        number = operator.index(None if isinstance(value, bool) else value)
    except TypeError:
        raise TypeError(f"{name}={value!r}: a whole number, {least} to {most}") from None
    if not least <= number <= most:
        raise ValueError(f"{name}={number}: {least} to {most}")
    return number


def mistake(said: str) -> ValueError:
    """The library's message as an exception, which names arguments in place of the command's options."""
    said = said[len(_TABLE):] if said.startswith(_TABLE) else said
    return ValueError(_OPTION.sub(lambda option: f"{option[1]}={option[2] if option[2].isdigit() else repr(option[2])}", said))


def check(code: int) -> None:
    """Raises ValueError with the library's message if a call failed."""
    if code:
        raise mistake(library().foldproof_error().decode())
