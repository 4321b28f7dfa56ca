"""Records that are closed anew, whatever they say: the closing line counts and hashes them as record.c does."""
import ctypes
import ctypes.util
import json
import struct

HASH = ctypes.CDLL(ctypes.util.find_library("xxhash") or "libxxhash.so.0").XXH3_64bits
HASH.argtypes, HASH.restype = [ctypes.c_char_p, ctypes.c_size_t], ctypes.c_uint64


def text_of(record):
    return json.dumps(record, separators=(",", ":")).encode()


def close(lines):
    """The lines, and one behind them that counts and hashes them."""
    total = sum(HASH(line, len(line)) for line in lines) & (1 << 64) - 1
    all_of = struct.pack("<QQQ", total, len(lines), 1)
    end = {"schema": 2, "type": "end", "records": len(lines), "complete": True, "lines_xxh3": f"0x{HASH(all_of, len(all_of)):016x}", "build": json.loads(lines[0])["build"]}
    return b"".join(line + b"\n" for line in [*lines, text_of(end)])


def seal(path, records):
    path.write_bytes(close([text_of(record) for record in records]))
