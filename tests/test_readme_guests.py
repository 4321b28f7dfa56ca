#!/usr/bin/env python3
"""What README shows of guests, and docs/guests.md of the library: its commands and lines of Python are run, and print what is there; [...]
stands for anything. Of the sample of verify the claims are compared.

test_readme_guests.py FOLDPROOF SOURCE_FOLDER LIBRARY SANITIZERS
"""
import code
import contextlib
import importlib.util
import io
import os
import pathlib
import re
import subprocess
import sys
import tempfile

FOLDPROOF, SOURCE, LIBRARY = (pathlib.Path(arg).resolve() for arg in sys.argv[1:4])
if sys.argv[4] != "none" or importlib.util.find_spec("numpy") is None:
    print(f"skipped: {'no numpy here' if sys.argv[4] == 'none' else 'a library with ' + sys.argv[4] + ' can not be loaded into python3'}")
    sys.exit(77)
ran, failures = 0, []


def examples(text, prompt):
    """What is typed, and what is printed then; of each block."""
    for block in re.findall(r"```\n(.*?)```", text, re.S):
        lines, found = block.splitlines(), []
        if not lines or not lines[0].startswith(prompt):
            continue
        for line in lines:
            if line.startswith(prompt):
                found.append((line[len(prompt):], []))
            else:
                found[-1][1].append(line)
        yield found


def expect(typed, wanted, got):
    global ran
    ran += 1
    pattern = ".*".join(map(re.escape, "\n".join(wanted).split("[...]")))
    if not re.fullmatch(pattern, got.strip(), re.S):
        failures.append(f"{typed}\n--- the text has\n" + "\n".join(wanted) + f"\n--- it prints\n{got.strip()[:2000]}")


def try_python(text):
    for block in examples(text, ">>> "):
        console = code.InteractiveConsole()
        for typed, wanted in block:
            out = io.StringIO()
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
                if console.push(typed):
                    raise SystemExit(f"{typed}: more lines are wanted")
            expect(typed, wanted, out.getvalue())


def try_commands(text):
    for block in examples(text, "$ "):
        for typed, wanted in block:
            done = subprocess.run(typed, shell=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            expect(typed, wanted, done.stdout)


def try_table(text, subject):
    """The claims of verify's sample: its figures change with the fixtures."""
    def lines(printed):
        part = printed.split(f"\n{subject} on host\n")[1]
        return [line.split()[0] for line in re.match(r"(  \w.*\n)+", part)[0].splitlines()]

    done = subprocess.run([FOLDPROOF, "verify", "--engine", "host", "--subjects", subject, "--fixture-folder", SOURCE / "fixtures"],
                          stdout=subprocess.PIPE, text=True)
    expect(f"the claims of {subject}", lines(text), "\n".join(lines(done.stdout)))


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    os.symlink(SOURCE / "library", "library")
    os.symlink(LIBRARY, "libfoldproof.so.0")
    os.symlink(sys.executable, "python3")  # which has numpy
    os.environ.update(PATH=f"{folder}:{FOLDPROOF.parent}:{os.environ['PATH']}", FOLDPROOF_LIBRARY=str(LIBRARY), FOLDPROOF_FIXTURES=str(SOURCE / "fixtures"),
                      PYTHONWARNINGS="ignore")
    sys.path.insert(0, str(SOURCE / "python"))
    import numpy

    numpy.seterr(all="ignore")
    readme = (SOURCE / "README.md").read_text()
    section = readme[readme.index("\n## Your own reduction\n"):].split("\n## ")[1]
    try_table(readme, "rows/par_16_determ")
    try_python(section)
    try_commands(section)
    try_python((SOURCE / "docs" / "guests.md").read_text().replace("'libfoldproof.so.0'", "'./libfoldproof.so.0'"))
    os.chdir("/")
for failure in failures:
    print(failure)
print(f"{ran} examples, {len(failures)} failures")
sys.exit(1 if failures or ran < 11 else 0)
