"""problem="rows": a function of each row about which nothing is known; its results may have any length.

The harness gets one number for each row, a hash of the row's result, so that all of its comparisons work: repeats, batches,
addresses, twins. The results behind the hashes are kept here, so that a refutation can name the element that differs.
"""

from __future__ import annotations

import ctypes
import hashlib
import itertools
import re
import zlib
from typing import Any, Dict, Optional, Tuple

from . import _library
from ._arrays import DTYPES
from ._see import Wrong

_MOST = 1 << 28  # bytes of results that are kept for a case
_NAN = {"f16": (10, 5), "bf16": (7, 8), "f32": (23, 8), "f64": (52, 11), "e4m3": (3, 4), "e5m2": (2, 5)}
_OTHER_BITS = re.compile(r"(big-endian )?(objects|[SU]\d+|V(?!8$)\d+|f(80|96|128)|c(160|192|256))")  # types whose bits are not values alone: pointers, padding
_NOT_NAN = ~(1 << 62)  # clears a bit of an f64 pattern, so that the hash is a number below 2 in magnitude


def _part(dtype: str) -> str:
    """The dtype of an element's real and imaginary parts; of a real number its own."""
    return {"c64": "f32", "c128": "f64"}.get(dtype, dtype)


def _is_nan(dtype: str, bits: int) -> bool:
    mantissa, exponent = _NAN[dtype]
    rest = bits & ((1 << mantissa + exponent) - 1)
    infinity = ((1 << exponent) - 1) << mantissa
    return rest == 0x7F if dtype == "e4m3" else rest > infinity


def first_difference(dtype: str, got: bytes, want: bytes) -> Optional[Dict[str, Any]]:
    """The first element that differs, as a record has it; all NaNs are one."""
    part = _part(dtype)
    size, parts = DTYPES[part][1] // 8 if part in DTYPES else 1, 1 + (part != dtype)
    for k in range(0, len(got), size):
        bits = [int.from_bytes(row[k : k + size], "little") for row in (got, want)]
        if bits[0] != bits[1] and not (part in _NAN and all(_is_nan(part, b) for b in bits)):
            digits = 2 * size
            return dict(element=k // size // parts, result_dtype=part, got=f"0x{bits[0]:0{digits}x}", want=f"0x{bits[1]:0{digits}x}")
    return None


class Rows:
    """Hashes results, and keeps the results of one case by their hashes."""

    def __init__(self, result: Optional[str], keeps_hashes: bool = False) -> None:
        self.result, self._keeps_hashes = result, keeps_hashes
        self._kept: Dict[int, Tuple[str, bytes]] = {}
        self._nbytes = 0
        self._case, self._told = "", 0  # the case of the last record, and how many results were kept then

    def check(self, seen: Any, rows: int) -> None:
        if not seen.shape or seen.shape[0] != rows:
            raise Wrong(f"its results have shape {seen.shape}, and not ({rows}, ...): one result for each row")
        if _OTHER_BITS.fullmatch(seen.dtype):
            raise Wrong(f"its results are of {seen.dtype}: numbers of up to 64 bits are wanted, or complex ones")
        if self.result is not None and seen.dtype != self.result:
            raise Wrong(f"its results are of {seen.dtype}, and not of {self.result}")

    def hashes(self, at: int, seen: Any, rows: int) -> Any:
        """A hash for each row of results in host memory. Hashes are equal if all elements are; all NaNs count as equal."""
        hashes = (ctypes.c_uint64 * (rows + 1))()
        if not rows:
            return hashes
        size, salt = seen.nbytes // rows, zlib.crc32(seen.dtype.encode())  # zeros of another dtype are other results
        part = _part(seen.dtype)
        if part in DTYPES:
            _library.check(_library.library().foldproof_hash(part.encode(), at, rows, size * 8 // DTYPES[part][1], hashes))
        else:
            for r in range(rows):
                digest = hashlib.blake2b(ctypes.string_at(at + r * size, size), digest_size=8).digest()
                hashes[r] = int.from_bytes(digest, "little")
        for r in range(rows):
            hashes[r] = (hashes[r] ^ salt) & _NOT_NAN
            if hashes[r] not in self._kept and self._nbytes < _MOST:
                self._kept[hashes[r]] = seen.dtype, ctypes.string_at(at + r * size, size)
                self._nbytes += size
        return hashes

    def _forget_others(self, case: str) -> None:
        if case != self._case:
            self._kept = dict(itertools.islice(self._kept.items(), self._told, None))
            self._nbytes = sum(len(row) for _, row in self._kept.values())
        self._case, self._told = case, len(self._kept)

    def explain(self, record: Dict[str, Any]) -> None:
        """Changes a record of hashes into one of elements: `element` is the first one of the row that differs."""
        self._forget_others(record["case"])
        for key in () if self._keeps_hashes else ("results", "values", "result_dtype"):
            record.pop(key, None)
        if "got" not in record:
            return
        record["hashes"] = [record.pop("got"), record.pop("want")]
        got_row, want_row = (self._kept.get(int(text, 16)) for text in record["hashes"])
        if got_row is None or want_row is None:
            return
        (dtype, got), (other, want) = got_row, want_row
        if dtype != other or len(got) != len(want):
            record["reason"] = f"{record.get('reason', '')}; its results are of another length or dtype".lstrip("; ")
            return
        record.update(first_difference(dtype, got, want) or {})
