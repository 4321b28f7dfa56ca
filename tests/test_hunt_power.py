"""The search finds faults of each class (guests/hunt_faults_*.c), makes what it finds small, and finds nothing in honest subjects (guests/hunt_honest_*.c).

test_hunt_power.py FOLDPROOF HUNT_FAULTS.so HUNT_HONEST.so
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
import usual_signals  # noqa: E402,F401

FOLDPROOF, FAULTS, HONEST = map(os.path.abspath, sys.argv[1:4])

# Of each class one that is found soon: the claim that it breaks. A search that has become ten times worse does not find it among the cases.
SOON = {
    "length_38_of_58": "bounded",
    "half_zeros": "bounded",
    "without_carry": "bounded",
    "patterns_of_negative": "correctly_rounded",
    "call_12": "run_to_run",
    "empty_from_100": "writes_output",
    "length_613": "replays",
}
MORE = {"length_613": ("--terms", "640")}
CASES, HONEST_CASES = 4000, 100
# Of these at most eight terms are neither 0, 1 nor -1. Making a case small ends after ten seconds: on a busy machine it is not at its end
# with sums that round.
SMALL = {"length_38_of_58", "half_zeros", "without_carry", "patterns_of_negative", "empty_from_100", "length_613"}


# Those that look most suspicious, and are quick.
TRICKY = ("threads", "growing_buffer", "last_content", "integers_where_exact", "payload", "in_place", "exact_units", "scan_warps", "keyed")


def hunt(folder, guest, *words):
    start = time.monotonic()
    done = subprocess.run([FOLDPROOF, "hunt", "--guest", guest, *words, "--jobs", "1", "--ledger", "ledger.jsonl"], cwd=folder, capture_output=True, text=True)
    page = folder / "ledger.jsonl"
    found = [json.loads(line) for line in page.read_text().splitlines()] if page.exists() else []
    return done, found, time.monotonic() - start


def check_found(room, name, claim):
    """The claim that is broken, a fixture of few terms, and a line that repeats it."""
    folder = room / name
    folder.mkdir()
    done, found, _ = hunt(folder, FAULTS, f"hunt/{name}", "--first", "--seed", "1", "--cases", str(CASES), *MORE.get(name, ()))
    assert done.returncode == 1 and [(line["subject"], line["claim"]) for line in found] == [(f"hunt/{name}", claim)], (name, done, found)
    few = re.search(r"in\s+[\d,]+\s+runs:\s+(?:all\s+terms\s+are\s+0,\s+1\s+or\s+-1|([1-8])\s+terms?\s)", done.stdout)
    assert few or name not in SMALL, done.stdout
    again = re.search(r"^ *reproduce: (.*)", done.stdout, re.M)
    repeated = subprocess.run(["sh", "-c", again[1]], cwd=folder, capture_output=True, text=True)
    assert repeated.returncode == 1 and f"hunt/{name} on host violates {claim}" in repeated.stdout, repeated
    return found


def check_seed(room):
    """The same seed finds the same."""
    found = [check_found(room / str(i), "rounded_twice", "bounded") for i in range(2) if not (room / str(i)).mkdir()]
    assert [{**line, "date": 0} for line in found[0]] == [{**line, "date": 0} for line in found[1]], found


def check_honest(room):
    done, found, _ = hunt(room, HONEST, *(f"honest/{name}" for name in TRICKY), "--seed", "1", "--cases", str(HONEST_CASES))
    assert done.returncode == 0 and not found and re.search(r"^0 found: [1-9]\d* held, 0 refuted, 0 broken", done.stdout, re.M), done


with tempfile.TemporaryDirectory(prefix="foldproof-power-") as folder:
    os.environ.update(TMPDIR=folder)
    for fault, broken in SOON.items():
        check_found(pathlib.Path(folder), fault, broken)
    check_seed(pathlib.Path(folder))
    check_honest(pathlib.Path(folder))
