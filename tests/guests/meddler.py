"""meddler.py HOW: a guest over --exec that sums right, needs no numpy, and does HOW to its input's file after each sum.

As "meddles" it also changes what it has of its process, which foldproof does not see. As "by_threads" it adds in another sequence where its arguments speak of
several threads."""
import json
import os
import signal
import struct
import sys

HEAD = b"\x93NUMPY\x01\x00"


def head_of(rows):
    text = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({rows},), }}".ljust(117) + "\n"
    return HEAD + struct.pack("<H", len(text)) + text.encode()


def read(path):
    data = open(path, "rb").read()
    begin = 10 + struct.unpack("<H", data[8:10])[0]
    rows, cols = eval(data[10:begin])["shape"]
    return rows, cols, begin, struct.unpack(f"<{rows * cols}f", data[begin:])


def spoil(how, path, begin):
    if how == "removes":
        os.unlink(path)
    if how == "shortens":
        os.truncate(path, begin)
    if how in ("overwrites", "meddles"):
        with open(path, "r+b") as file:
            file.seek(begin + 4)
            file.write(b"\x01\x02\x03\x04")


def run(how, path, out, threads):
    rows, cols, begin, x = read(path)
    order = -1 if how == "by_threads" and threads > 1 else 1
    with open(out, "wb") as file:
        file.write(head_of(rows))
        for row in range(rows):
            total = 0.0
            for term in x[row * cols : row * cols + cols][::order]:
                total = struct.unpack("<f", struct.pack("<f", total + term))[0]
            file.write(struct.pack("<f", total))
    if rows * cols > 1:
        spoil(how, path, begin)


def meddle():
    os.chdir("/")
    os.environ["MEDDLED"] = "1"
    signal.signal(signal.SIGUSR1, signal.SIG_IGN)


how = sys.argv[1]
for line in sys.stdin:
    asked = json.loads(line)
    if asked["ask"] == "describe":
        print(json.dumps({"name": "meddler/" + how, "engine": "cuda" if how == "on_cuda" else "host"}), flush=True)
        continue
    run(how, asked["in"], asked["out"], asked["threads"])
    if how == "meddles":
        meddle()
    print("{}", flush=True)
