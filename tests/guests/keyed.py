"""keyed.py HOW: keyed sums over --exec. `ends` overwrites its first key after it has added; `slot` adds to the next slot."""
import json
import struct
import sys


def read(path, form):
    """The shape, the numbers, and where they begin."""
    data = open(path, "rb").read()
    begin = 10 + struct.unpack("<H", data[8:10])[0]
    head = eval(data[10:begin])
    assert head["descr"] == {"f": "<f4", "i": "<i4"}[form], head
    return head["shape"], struct.unpack(f"<{(len(data) - begin) // 4}{form}", data[begin:]), begin


how = sys.argv[1]
for line in sys.stdin:
    asked = json.loads(line)
    if asked["ask"] == "describe":
        print(json.dumps({"name": "keyed/" + how, "problems": "keyed", "claims": "bounded,run_to_run,keeps_input"}), flush=True)
        continue
    assert asked["signature"] == "kn,k->mn", asked
    _, m, n, k = asked["extent"]
    (shape, values, _), (keys_shape, keys, begin) = read(asked["in"], "f"), read(asked["other"], "i")
    assert shape == (k, n) and keys_shape == (k,), (shape, keys_shape, asked["extent"])
    sums = [0.0] * (m * n)
    for t, key in enumerate(keys):
        for j in range(n):
            sums[(key + (how == "slot")) % m * n + j] += values[t * n + j]
    head = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {(m, n)}, }}".ljust(117) + "\n"
    with open(asked["out"], "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + struct.pack(f"<{m * n}f", *sums))
    if how == "ends":
        with open(asked["other"], "r+b") as file:
            file.seek(begin)
            file.write(b"\x7f\x00\x00\x00")
    print("{}", flush=True)
