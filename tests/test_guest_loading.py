"""What loading a guest does to its process is judged as the user has it: the arithmetic that it sets, and the code that it shares.

test_guest_loading.py FOLDPROOF LIBRARY_FOLDER GUESTS_FOLDER CC
"""
import json
import pathlib
import platform
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True

from guest_shell import CC, FOLDPROOF, GUESTS, build, verify

UPWARD, FLUSH, ZERO_TERMS, SHORT_X87 = 1, 2, 3, 4
NAMES = {UPWARD: "the rounding mode", FLUSH: "flush to zero", ZERO_TERMS: "denormals are zero", SHORT_X87: "the x87 precision"}
# What each refutes: subject and claim.
WRONG = {UPWARD: ("sum", "replays"), FLUSH: ("sum", "bounded"), ZERO_TERMS: ("sum", "bounded"), SHORT_X87: ("extended", "bounded")}


def refuted(folder, guest, *options):
    """{(subject's last word, claim): how many cases}, and the records that say so."""
    to = folder / "found.jsonl"
    to.unlink(missing_ok=True)
    verify("--guest", str(guest), "--fixtures", "subnormals/f*/sum/*,normal/f*/sum/1x1*,normal/f*/sum/33x33/*", "--jsonl", str(to), *options)
    records = [json.loads(line) for line in to.read_text().splitlines()]
    counts = {}
    for r in records:
        if r.get("verdict") == "refuted":
            key = (r["subject"].split("/")[-1], r["claim"])
            counts[key] = counts.get(key, 0) + 1
        assert r.get("verdict") != "broken", r
    return counts, records


def check_arithmetic(folder):
    for state, name in NAMES.items():
        for when in ("AT_LOAD", "AT_FIRST"):
            guest = build(folder, f"{when}{state}", GUESTS / "arithmetic.c", options=[f"-DSET={state}", f"-D{when}", "-fopenmp"])
            subject, claim = WRONG[state]
            counts, records = refuted(folder, guest, "--subjects", f"arithmetic/{subject}")
            assert counts.get((subject, claim), 0) > 2, (name, when, counts)
            # It is told once that loading set it, or that the first call did; later calls leave it as they find it.
            told = [r for r in records if r.get("claim") == "leaves_no_trace" and r["verdict"] == "refuted"]
            assert len(told) == 1 and name in json.dumps(told), (name, when, told)
            assert ("when it was loaded" in json.dumps(told)) == (when == "AT_LOAD"), told
            assert when == "AT_FIRST" or (subject, "run_to_run") not in counts, (name, counts)
            if state in (FLUSH, ZERO_TERMS):  # in OpenMP's other threads, which begin with their maker's arithmetic
                counts, _ = refuted(folder, guest, "--subjects", "arithmetic/threads")
                assert counts.get(("threads", "bounded"), 0) > 2, (name, when, counts)


def check_others(folder):
    """A subject whose bits are foldproof's own, after one that flushes: foldproof's arithmetic stays as it is."""
    guest = build(folder, "flushes", GUESTS / "arithmetic.c", options=["-DSET=2", "-DAT_LOAD", "-fopenmp"])
    counts, _ = refuted(folder, guest, "--subjects", "arithmetic/*,host/*,rows/par_16*", "--engine", "host")
    assert {subject for subject, _ in counts} <= {"sum", "threads", "extended"}, counts


def check_fast_math(folder):
    """As GCC and Clang link: the start files of -ffast-math set both flags."""
    guest = build(folder, "fast_math", GUESTS / "arithmetic.c", options=["-DSET=0", "-fopenmp", "-ffast-math"])
    counts, _ = refuted(folder, guest)
    assert counts.get(("sum", "bounded"), 0) > 2, counts
    for command in (["reveal", "-n", "64"], ["certify", "--fixtures", "normal/f32/sum/1x17/seed1"]):
        run = subprocess.run([FOLDPROOF, command[0], "--guest", str(guest), "arithmetic/threads", *command[1:]], capture_output=True, text=True)
        told = run.stdout + run.stderr
        assert run.returncode and "varies from run to run" not in told, (run.returncode, told)
        assert "depends on values" in told and "flush to zero, when it was loaded" in told, told


if platform.machine() == "x86_64":
    with tempfile.TemporaryDirectory() as folder:
        check_arithmetic(pathlib.Path(folder))
        check_others(pathlib.Path(folder))
        check_fast_math(pathlib.Path(folder))
