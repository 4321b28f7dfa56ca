"""What the suites of records share: foldproof is run, its records are read and written, some are made."""
import json
import pathlib
import re
import subprocess
import sys

from sealed import close, text_of

FOLDPROOF, MUTANTS, LIBRARY = (pathlib.Path(word).resolve() for word in sys.argv[1:4])
LIARS, CC = pathlib.Path(__file__).resolve().parent / "guests" / "liars.c", sys.argv[4].split()
FEW = "normal/*/sum/1x33/seed1,normal/f32/sum/17x257/seed1,ill_conditioned_dot/f32/dot/1x33/seed1/cond1e6,ties/f32/max/1x33/seed1,thirds"
# A program that adds rows of f32 in turn.
GUEST = """import json, struct, sys
for line in sys.stdin:
    asked = json.loads(line)
    answer = {"name": "mine/sum", "dtypes": "f32", "claims": "run_to_run"}
    if asked["ask"] == "run":
        data = open(asked["in"], "rb").read()
        size = struct.unpack("<H", data[8:10])[0] + 10
        head = data[:size]
        x = struct.unpack(f"<{(len(data) - size) // 4}f", data[size:])
        text = "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }".ljust(117) + chr(10)
        open(asked["out"], "wb").write(data[:8] + struct.pack("<H", 118) + text.encode() + struct.pack("<f", sum(x)))
        answer = {}
    print(json.dumps(answer), flush=True)
"""


def run(*words, cwd, program=FOLDPROOF, code=None):
    done = subprocess.run([program, *words], cwd=cwd, capture_output=True, text=True)
    assert code is None or done.returncode == code, f"{words}: {done.returncode}, not {code}: {done.stdout[-3000:]}{done.stderr[-2000:]}"
    return done.returncode, done.stdout + done.stderr


def expect(pattern, said):
    assert re.search(pattern, said, re.M), f"no {pattern!r} in {said[:4000]}"


def lines_of(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def put(path, lines):
    """Records as they are. An environment that announces no closing line is a run of its own: what follows are chosen lines."""
    text = b""
    for line in lines:
        alone = line.get("type") == "environment" and "closing_line" not in line
        text += close([text_of(dict(line, closing_line=True))]) if alone else text_of(line) + b"\n"
    path.write_bytes(text)


def write_records(folder):
    """v.jsonl: verdicts; r.jsonl: the same runs."""
    run("verify", "--engine", "host", "-f", FEW, "--jsonl", "v.jsonl", "--in-process", cwd=folder, code=0)
    run("record", "--engine", "host", "-f", FEW, "--jsonl", "r.jsonl", cwd=folder, code=0)


def build_liars(folder):
    """liars.so: subjects that do something besides computing."""
    subprocess.run([*CC, "-shared", "-fPIC", "-O1", "-ffp-contract=off", f"-I{LIBRARY}", LIARS, "-o", "liars.so"], cwd=folder, check=True)
