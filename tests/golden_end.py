"""The last line of a golden: its count and the hash of all lines before, as `foldproof record --bless` writes it. For tests that change sheets."""
import ctypes
import ctypes.util

_hash = ctypes.CDLL(ctypes.util.find_library("xxhash") or "libxxhash.so.0").XXH3_64bits_withSeed
_hash.argtypes, _hash.restype = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_uint64], ctypes.c_uint64


def closed(text):
    """The text of a sheet with its last line made new."""
    lines = text.splitlines()[:-1]
    value = 0
    for line in lines:
        value = _hash(line.encode(), len(line.encode()), value)
    count = len(lines) - 1 - lines.index("") if "" in lines else 0
    return "".join(f"{line}\n" for line in [*lines, f"end {count} xxh3 {value:016x}"])
