"""What a guest leaves behind is seen however slow it is; where the system does not tell, nothing is held.

test_guest_traces.py FOLDPROOF LIBRARY_FOLDER GUESTS_FOLDER CC
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True

from guest_shell import FOLDPROOF, GUESTS, build, verify

ONE = "normal/f32/sum/1x1023/seed1"
TOLD = {
    "keeps_rarely": "it leaks 1 open file per 3 runs",
    "keeps_files_slowly": "it leaks 1 open file per run",
    "keeps_memory_slowly": r"it leaks 1\d{6} bytes of memory per run",
    "daemonises": "it left changed: a process that it started, which has left its parent",
}
HONEST = ("honest", "keeps_a_file", "daemonises_briefly")


def judged(liars, name, command=()):
    words = [*command, FOLDPROOF, "verify", "--guest", liars, "--subjects", f"liar/{name}", "--claims", "leaves_no_trace", "--fixtures", ONE]
    run = subprocess.run(words, capture_output=True, text=True)
    return run.returncode, run.stdout, run.stderr


def may(*command):
    return subprocess.run(["unshare", *command], capture_output=True).returncode == 0


def check_daemons_end(liars):
    """With foldproof, though they have left their parents, groups and sessions."""
    left = subprocess.run(["pgrep", "-f", "--", f"--guest {liars}"], capture_output=True, text=True)
    assert left.stdout == "", left


def check_told(liars):
    for name, what in TOLD.items():
        if name == "keeps_memory_slowly" and "ASAN_OPTIONS" in os.environ:
            continue  # a sanitizer's malloc takes memory in a way of its own
        code, out, err = judged(liars, name)
        assert code == 1 and re.search(f"violates leaves_no_trace: .*\n.*{what}", out), (name, code, out, err)
        check_daemons_end(liars)
    for name in HONEST:
        code, out, err = judged(liars, name)
        assert code == 0 and "1 held, 0 refuted" in out, (name, code, out, err)


def check_without_proc(liars):
    """/proc is missing, or is that of another namespace, whose numbers are those of other processes."""
    for words in (["-m", "sh", "-c", 'mount -t tmpfs none /proc && "$@"', "sh"], ["--pid", "--fork"]):
        if not may(*words, "true"):
            continue
        for name in ("honest", "keeps_files"):
            code, out, err = judged(liars, name, ["unshare", *words])
            if name == "keeps_files" and "--pid" in words:  # its own descriptors are there
                assert code == 1 and "it leaks 1 open file" in out, (words, code, out, err)
            else:
                assert code == 77 and "/proc does not show this process's own namespace" in out, (words, name, code, out, err)


with tempfile.TemporaryDirectory() as folder:
    liars = str(build(pathlib.Path(folder), "liars", GUESTS / "liars.c", options=["-fopenmp", "-pthread"]))
    check_told(liars)
    if "ASAN_OPTIONS" not in os.environ:  # a sanitizer reads /proc itself
        check_without_proc(liars)
