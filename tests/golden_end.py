"""The last line of a golden, its count and the hash of all lines before, and the list of a folder's goldens, as `foldproof record --bless` writes them. For tests that change either."""
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


def list_folder(folder):
    """Lists the sheets that are in the folder now."""
    names = sorted(path.name for path in folder.glob("*.golden"))
    head = ["foldproof goldens 1", "# The files of this folder, by `foldproof record --bless`: one that is gone, or not listed, is an error.", ""]
    (folder / "golden.list").write_text(closed("".join(f"{line}\n" for line in [*head, *names, "end"])))
