"""Programs as guests: held is what something could have refuted; what is not seen of a program is skipped, with the reason.

test_guest_programs.py FOLDPROOF LIBRARY_FOLDER GUESTS_FOLDER CC
"""
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
from guest_shell import FOLDPROOF, GUESTS, verify  # noqa: E402

UNSEEN = {"alignment_invariant": "a program gets a file, which lies at no address",
          "writes_output": "a program gets no output",
          "stays_in_bounds": "its memory is not seen",
          "leaves_no_trace": "a process of its own"}
FEW = ("--fixtures", "normal/f32/sum/1x17/seed1,normal/f32/sum/3x1000/seed1")
ONE = ("--fixtures", "normal/f32/sum/1x17/seed1")
MEDDLER = f"{sys.executable} -ISB {GUESTS}/meddler.py"


def counts_of(out, claim):
    """Held, refuted and skipped, and what is said beside them."""
    found = re.search(rf"\n  {claim} +(\d+) +(\d+) +(\d+)(.*)", out)
    assert found, (claim, out)
    return (*map(int, found.group(1, 2, 3)), found.group(4))


def check_unseen():
    """It changes its folder, its environment and its signals, which foldproof cannot see; its input's file, which it sees."""
    code, out, err = verify("--exec", f"{MEDDLER} meddles", "--claims", ",".join((*UNSEEN, "keeps_input", "bounded")), *FEW)
    assert code == 1 and "REFUTED: meddler/meddles on host violates keeps_input" in out, (code, out, err)
    for claim, why in UNSEEN.items():
        held, refuted, skipped, beside = counts_of(out, claim)
        assert held == 0 and refuted == 0 and skipped > 0 and why in out, (claim, out)
    assert counts_of(out, "bounded")[0] > 0, out


def check_presets():
    """A preset means what can be judged, and is what the hint names."""
    code, out, err = verify("--exec", f"{MEDDLER} honest", *FEW)
    assert code == 0 and "not tried, because not claimed: launch_invariant, batch_invariant, length_invariant, padding_invariant (to try them: --claims reproducible)\n" in out, (code, out, err)
    code, out, err = verify("--exec", f"{MEDDLER} honest", "--claims", "reproducible", *FEW)
    assert code == 0 and counts_of(out, "padding_invariant")[0] > 0 and "not tried" not in out, (code, out, err)
    assert "bounded" not in out and not any(claim in out for claim in UNSEEN), out


def check_input():
    for how in ("overwrites", "removes", "shortens"):
        code, out, err = verify("--exec", f"{MEDDLER} {how}", "--claims", "keeps_input,run_to_run", *FEW)
        held, refuted, *_ = counts_of(out, "keeps_input")
        byte = 4 if how == "overwrites" else 0
        assert code == 1 and held == 0 and refuted > 0 and f"byte {byte} of the input was written to" in out, (how, code, out, err)
        assert counts_of(out, "run_to_run")[0] > 0 and "BROKEN" not in out, (how, out)
    code, out, err = verify("--exec", f"{MEDDLER} honest", "--claims", "keeps_input", *FEW)
    assert code == 0 and counts_of(out, "keeps_input")[0] > 0, (code, out, err)


def check_keys():
    """A keyed sum's keys are in a file of their own, as 32-bit integers."""
    cases = ("--fixtures", "normal/f32/keyed/7x5x64/uniform/*,normal/f32/keyed/7x1x64/hot/*,normal/f32/keyed/3x2x0/*")
    for how, refutes in (("honest", ""), ("ends", "keeps_input"), ("slot", "bounded")):
        code, out, err = verify("--exec", f"{sys.executable} -ISB {GUESTS}/keyed.py {how}", *cases)
        for claim in ("bounded", "run_to_run", "keeps_input"):
            held, refuted, *_ = counts_of(out, claim)
            assert (refuted > 0) == (claim == refutes) and (held > 0 or claim == refutes), (how, claim, code, out, err)
        assert code == (1 if refutes else 0), (how, code, out, err)


def write_result(path, value):
    head = "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }".ljust(117) + "\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + struct.pack("<f", value))


def check_launches(folder):
    """A command without {threads} takes its number from variables alone; one with it is judged by it. Some hundred are started."""
    for threads in range(1024):
        write_result(folder / f"{threads}.npy", threads > 1)
    code, out, err = verify("--exec", f"cp '{folder}'/0.npy {{out}}", "--claims", "launch_invariant", *ONE)
    assert code == 0 and counts_of(out, "launch_invariant")[0] > 0, (code, out, err)
    code, out, err = verify("--exec", f"cp '{folder}'/\"${{OMP_NUM_THREADS:-0}}\".npy {{out}}", "--claims", "launch_invariant", *ONE)
    assert code == 1 and "different bits in a new process with OMP_NUM_THREADS, OPENBLAS_NUM_THREADS and MKL_NUM_THREADS = 2" in out, (code, out, err)
    code, out, err = verify("--exec", f"cp '{folder}'/{{threads}}.npy {{out}}", "--claims", "launch_invariant", *ONE)
    assert code == 1 and "violates launch_invariant" in out and "with 2 threads" in out, (code, out, err)
    code, out, err = verify("--exec", f"{MEDDLER} by_threads", "--claims", "launch_invariant", *ONE)
    assert code == 1 and "violates launch_invariant" in out, (code, out, err)


FLOOD = """#!/bin/sh
for i in $(seq 500); do
  head -c 1000000 /dev/zero >&2
  sleep 0.01
  set -- $(stat -L -c '%s %b' /proc/self/fd/2)
  [ "$1" -gt 20000000 ] && [ $(($2 * 1024)) -lt "$1" ] && break
done
echo $i >"${0%/*}/parts"
exit 3
"""


def check_flood(folder):
    """What is written to standard error without end takes no memory without end, whether an answer is awaited or the program's end."""
    program = folder / "flood"
    program.write_text(FLOOD)
    program.chmod(0o755)
    for command, code in ((f"'{program}'", 2), (f"'{program}' {{in}} {{out}}", 99)):
        done = verify("--exec", command, "--claims", "bounded", *ONE)
        assert done[0] == code and "ended with exit code 3" in done[1] + done[2], done
        assert int((folder / "parts").read_text()) < 500, "half of what was written was kept in memory"


LATE = """
import json, sys, threading
def say(answer): print(json.dumps(answer), flush=True)
second = None
for line in sys.stdin:
    asked = json.loads(line)
    own = {"id": asked["id"]} if sys.argv[1] == "repeats" else {}
    if asked["ask"] == "describe":
        say({"subjects": [{"name": name, "claims": "bounded"} for name in ("late/twice", "late/honest")], **own})
        continue
    data = open(asked["in"], "rb").read()
    begin = 10 + int.from_bytes(data[8:10], "little")
    if asked["subject"] == "late/honest" and second:
        second.join()
    with open(asked["out"], "wb") as out:  # one row of one term is its own sum
        head = "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }".ljust(117) + chr(10)
        out.write(bytes([147]) + b"NUMPY" + bytes([1, 0]) + len(head).to_bytes(2, "little") + head.encode() + data[begin:])
    say(own)
    if asked["subject"] == "late/twice":
        second = threading.Timer(0.05, say, [own])
        second.start()
"""


def check_late_answers(folder):
    """A second answer that comes while another subject is asked is the first one's, if answers repeat their question's number."""
    (folder / "late.py").write_text(LATE)
    words = ("--fixtures", "normal/f32/sum/1x1/seed1", "--claims", "bounded", "--subjects")
    code, out, err = verify("--exec", f"python3 {folder}/late.py repeats", *words, "late/*")
    assert code == 99 and "the program gave more answers than it got questions: again for late/twice" in out, (code, out, err)
    for how in ("repeats", "is_old"):
        code, out, err = verify("--exec", f"python3 {folder}/late.py {how}", *words, "late/honest")
        assert code == 0 and "BROKEN" not in out, (how, code, out, err)


def check_background(folder):
    """A command has ended when its process has, though what it has started keeps its output open."""
    (folder / "sums.py").write_text(SUMS)
    begun = time.monotonic()
    code, out, err = verify("--exec", f"(setsid sleep 5 &); python3 {folder}/sums.py {{in}} {{out}}", "--fixtures", "normal/f32/sum/1x1/seed1", "--claims", "bounded", "--timeout", "4")
    assert code == 0 and "BROKEN" not in out and time.monotonic() - begun < 60, (code, out, err)


SUMS = """
import subprocess
import sys
data = open(sys.argv[1], "rb").read()
head = "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }".ljust(117) + chr(10)
begin = 10 + int.from_bytes(data[8:10], "little")
open(sys.argv[2], "wb").write(bytes([147]) + b"NUMPY" + bytes([1, 0]) + len(head).to_bytes(2, "little") + head.encode() + data[begin:])
"""


PRODUCT = """
import array, sys
def load(path, kind):
    data = open(path, "rb").read()
    return array.array(kind, data[10 + int.from_bytes(data[8:10], "little"):])
what, (m, n, k) = sys.argv[4], map(int, sys.argv[5:8])
a, b = load(sys.argv[1], "f"), load(sys.argv[2], "i" if what == "keyed" else "f")
if what == "keyed":
    shape, out = (m, n), [sum((a[t * n + j] for t in range(k) if b[t] == i), 0.0) for i in range(m) for j in range(n)]
else:
    shape, out = (m, n), [sum((a[i * k + t] * b[t * n + j] for t in range(k - len(sys.argv[8:]))), 0.0) for i in range(m) for j in range(n)]
head = str({"descr": "<f4", "fortran_order": False, "shape": shape}).ljust(117) + chr(10)
open(sys.argv[3], "wb").write(bytes([147]) + b"NUMPY" + bytes([1, 0]) + len(head).to_bytes(2, "little") + head.encode() + array.array("f", out).tobytes())
"""


def check_problems(folder):
    """A command that is started for each run computes what --problem names, and gets a file for each input and the shape."""
    (folder / "product.py").write_text(PRODUCT)
    command, claims = f"python3 {folder}/product.py {{in}} {{other}} {{out}} {{problem}} {{m}} {{n}} {{k}}", ("--claims", "bounded,fresh_process", "--fixtures")
    for problem, case in (("matmul", "normal/f32/matmul/7x9x33/seed1"), ("keyed", "normal/f32/keyed/7x5x64/uniform/seed1")):
        code, out, err = verify("--exec", command, "--problem", problem, *claims, case)
        assert code == 0 and " 0 refuted, 0 skipped" in out, (problem, code, out, err)
    code, out, err = verify("--exec", f"{command} lost", "--problem", "matmul", *claims, "integers/f32/matmul/5x6x9/seed1")
    assert code == 1 and "violates bounded: integers/f32/matmul/5x6x9" in out, (code, out, err)
    replay = next(line for line in out.splitlines() if line.startswith("  reproduce: "))[len("  reproduce: "):]
    again = subprocess.run(replay, shell=True, capture_output=True, text=True)
    assert "--problem 'matmul'" in replay and again.returncode == 1 and again.stdout.rstrip().endswith("0 held, 1 refuted, 0 skipped"), (replay, again)
    for words, says in ((("--exec", "cat {in} {out}", "--problem", "dot"), "the command has no {other}, the second input of dot"),
                        (("--exec", "cat {in} {other} {out}"), "sum has one input, and no {other}: --problem names what the command computes"),
                        (("--exec", MEDDLER, "--problem", "dot"), "--problem needs --npy, or --exec with {in} and {out}")):
        code, out, err = verify(*words)
        assert code == 2 and says in err and len(err.splitlines()) == 1, (words, code, out, err)


def check_file_size():
    """The limit of a file's size holds for files in memory too."""
    run = subprocess.run(["sh", "-c", 'ulimit -f 16 && exec "$@"', "sh", FOLDPROOF, "verify", "--engine", "host", "--subjects", "rows/par_16_determ", "--fixtures", "normal/f32/sum/*"], capture_output=True, text=True)
    assert run.returncode == 99 and "File too large: raise the limit of a file's size (ulimit -f)" in run.stderr, run


def check_engine():
    """A device's memory cannot be put into a file."""
    code, out, err = verify("--exec", f"{MEDDLER} on_cuda", *FEW)
    assert code == 2 and out == "" and "meddler/on_cuda: its engine is cuda, but a program gets files: engine host\n" in err, (code, out, err)


def main():
    with tempfile.TemporaryDirectory(prefix="foldproof-programs-") as folder:
        os.environ.update(TMPDIR=folder)
        check_unseen()
        check_presets()
        check_input()
        check_keys()
        check_launches(pathlib.Path(folder))
        check_flood(pathlib.Path(folder))
        check_late_answers(pathlib.Path(folder))
        check_background(pathlib.Path(folder))
        check_problems(pathlib.Path(folder))
        check_file_size()
        check_engine()
    print("programs: what is not seen is skipped, what is seen is judged")


main()
