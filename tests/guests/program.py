"""program.py HOW: a guest over --exec that is wrong in that way, from its third run on."""
import json
import os
import random
import shutil
import struct
import sys
import time

FORMATS = {"<f2": "e", "<f4": "f", "<f8": "d"}  # of .npy and of struct: a program that needs no numpy starts ten times as soon


def read(path):
    """A row a list, and the .npy's name of their dtype."""
    data = open(path, "rb").read()
    begin = 10 + struct.unpack("<H", data[8:10])[0]
    head = eval(data[10:begin])
    rows, cols = head["shape"]
    terms = struct.unpack(f"<{rows * cols}{FORMATS[head['descr']]}", data[begin:])
    return [terms[row * cols : row * cols + cols] for row in range(rows)], head["descr"]


def write(path, numbers, dtype, shape):
    head = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + struct.pack(f"<{len(numbers)}{FORMATS[dtype]}", *numbers))


how, runs = sys.argv[1], 0
for line in sys.stdin:
    asked = json.loads(line)
    if asked["ask"] == "describe":
        if how == "slow" and "FOLD_SHIFT_OF_THE_STACK" in os.environ:  # a new process
            time.sleep(5)
        tables = {"empty": {"subjects": []}, "no_name": {"dtypes": "f32"}, "no_dtype": {"name": "p/x", "dtypes": "f33"},
                  "number": {"name": "p/x", "claims": 3}, "named_3": {"name": 3}, "strides_1": {"name": "p/x", "strides": 1}, "rule": {"name": "p/x", "result": "wide"}, "method": {"name": "p/x", "method": "kahn"}, "engine": {"name": "p/x", "engine": "mpi"}, "slip": {"name": "p/x", "dtype": "f32"}, "taken": {"name": "host/pairwise"}, "accent": {"name": "p/é"}, "blank": {"name": "p/a b"}, "long": {"name": "p/" + "x" * (17 << 20)}, "two": {"subjects": [{"name": "p/a"}, {"name": "p/b"}]}}
        print(json.dumps(tables.get(how, {"name": "p/" + how, "dtypes": "f16,f32,f64", "problems": "sum,dot", "claims": "run_to_run,bounded"})), flush=True)
        continue
    rows, dtype = read(asked["in"])
    if asked["problem"] == "sum":
        result = [sum(row) for row in rows]
    else:
        result = [sum(x * y for x, y in zip(row, other)) for row, other in zip(rows, read(asked["other"])[0])]
    shape, answer, runs = (len(result),), {}, runs + 1
    if runs > 2 and how == "dies":
        sys.exit("no more of this")
    if runs > 2 and how == "killed":
        os.kill(os.getpid(), 9)
    if runs > 2 and how == "hangs":
        time.sleep(1000)
    if runs > 2 and how == "garbage":
        print("Traceback", flush=True)
        continue
    if runs > 2 and how == "list":
        answer = [1]
    if runs > 2 and how == "closes":
        os.close(1)
        time.sleep(1000)
    if runs > 2 and how == "refuses":
        answer = {"error": "out of\nmemory"}
    if runs > 2 and how == "declines":
        answer = {"unsupported": "not today"}
    if how == "lists_errors":
        answer = {"error": ["out of memory"]}
    if how == "misspells":
        answer = {"eror": "out of memory"}
    if how == "errs_in_silence":
        answer = {"error": ""}
    if how == "litters":
        open(asked["out"] + ".part", "w").close()
    if how == "random":
        result = [number + random.random() for number in result]
    if how == "dtype":
        dtype = "<f8" if dtype != "<f8" else "<f4"
    if how == "shape":
        result, shape = 2 * result, (2 * len(result),)
    if how == "square":
        result, shape = [term for row in rows for term in row], (len(rows), len(rows[0]))
    if runs > 2 and how == "removes":
        shutil.rmtree(os.path.dirname(asked["in"]))
    if runs > 2 and how == "ends_its_group":
        os.kill(0, 9)
    if runs > 2 and how == "puts_a_pipe":
        os.unlink(asked["in"])
        os.mkfifo(asked["in"])
    if how == "logs":
        os.write(2, b"x" * (1 << 20) + b"\n")
        kept = os.fstat(2).st_blocks * 512
        answer = {"error": f"{kept} bytes of its log are kept"} if kept > 4 << 20 else answer
    if how not in ("nothing", "late"):
        write(asked["out"], result, dtype, shape)
    if how == "late":
        print("{}", flush=True)
        time.sleep(0.2)
        write(asked["out"], result, dtype, shape)
        continue
    if how == "chatters":
        print("{}", flush=True)
    if how == "truncates":
        os.truncate(asked["out"], 80)
    said = {"adds": '{}\0{"error": "no"}', "says_twice": '{"error": "no", "error": null}'}.get(how, json.dumps(answer))
    print(said, flush=True)
