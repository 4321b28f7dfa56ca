#!/usr/bin/env python3
"""The examples of README and docs/: each fenced block that begins with "$ " or ">>> " is run, and must print what stands there. So are
the commands in the heads of library/examples, on one case or a few.

test_examples.py FOLDPROOF SOURCE_FOLDER LIBRARY SANITIZERS

[...] stands for anything. A block that is marked ```text is a record of another machine, and is not run. Pages share one folder,
each page's lines of Python one console.
"""
import code
import contextlib
import importlib.util
import io
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

FOLDPROOF, SOURCE, LIBRARY = (pathlib.Path(arg).resolve() for arg in sys.argv[1:4])
if sys.argv[4] != "none" or importlib.util.find_spec("numpy") is None:
    print(f"skipped: {'no numpy here' if sys.argv[4] == 'none' else 'a library with ' + sys.argv[4] + ' can not be loaded into python3'}")
    sys.exit(77)
ran, failures = {}, []


def blocks(text):
    """What stands in each fenced block without a mark."""
    inside, lines = None, []
    for line in text.splitlines(keepends=True):
        if not line.startswith("```"):
            lines.append(line)
            continue
        if inside == "```":
            yield "".join(lines)
        inside, lines = None if inside else line.strip(), []


def examples(text):
    """(prompt, typed, printed) of each block, in the page's order."""
    for block in blocks(text):
        prompt = next((prompt for prompt in ("$ ", ">>> ") if block.startswith(prompt)), None)
        if prompt is None:
            raise SystemExit(f"a block begins with no prompt, and is not marked as text:\n{block}")
        for part in re.split(f"^{re.escape(prompt)}", block, flags=re.M)[1:]:
            typed, _, printed = part.partition("\n")
            yield prompt, typed, printed.rstrip("\n")


def expect(page, typed, wanted, got):
    ran[page] = ran.get(page, 0) + 1
    pattern = ".*".join(map(re.escape, wanted.split("[...]")))
    if not re.fullmatch(pattern, got.strip(), re.S):
        failures.append(f"{page}: {typed}\n--- the page has\n{wanted}\n--- it prints\n{got.strip()[:2000]}")


def say(console, typed):
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        if console.push(typed):
            raise SystemExit(f"{typed}: more lines are wanted")
    return out.getvalue()


def try_page(path):
    console = code.InteractiveConsole()
    for prompt, typed, printed in examples(path.read_text()):
        if "foldproof-mutants" in typed and not (FOLDPROOF.parent / "tests" / "foldproof-mutants").exists():
            continue  # a build without Criterion
        if prompt == "$ ":
            got = subprocess.run(typed, shell=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout
        else:
            got = say(console, typed.replace("'libfoldproof.so.0'", "'./libfoldproof.so.0'"))
        expect(path.name, typed, printed, got)


def try_head(path):
    """How it is built, where it is, and judged; not where what it needs is not here."""
    command = re.search(r"((?:cc|gfortran|nvcc) .*; )?foldproof verify .*?(?=( \*/)?$)", path.read_text(), re.M)[0]
    needs = command.split()[0]
    if shutil.which(needs) is None or (path.suffix == ".py" and "torch" in path.name and importlib.util.find_spec("torch") is None):
        return
    if "--fixtures" not in command:
        command += " --fixtures 'normal/f32/sum/3x1000/seed1'"
    done = subprocess.run(command, shell=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 77:  # no GPU
        expect(path.name, command, "[...] held, [...] refuted, [...] skipped", done.stdout.strip().splitlines()[-1])


def bare():
    """Nothing says where foldproof is."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONPATH" and not name.startswith("FOLDPROOF_")}


def try_finding(path):
    """In a checkout an example finds foldproof by itself; where nothing was built, it says so."""
    program = "import sys; sys.path.insert(0, 'library/examples'); import find_foldproof, foldproof, numpy; print(foldproof.verify(numpy.matmul, problem='matmul', fixtures='balanced/f32/matmul/2x2x3*'))"
    for built, wanted in ((True, "[...] held[...]"), (False, "foldproof is not installed, and [...] has no build*/library/libfoldproof.so.0: [...]")):
        if not built:
            os.rename("build", "elsewhere")
        done = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=bare())
        expect(path.name, "import find_foldproof", wanted, done.stdout)
    os.rename("elsewhere", "build")


def try_product(path):
    """A framework's products of matrices, where it is here; on a machine with a GPU, there."""
    if importlib.util.find_spec(path.stem.removeprefix("product_")) is None:
        return
    command = re.search(r"python3 library/examples/\S+", path.read_text())[0]
    words = [sys.executable, command.split()[1], "balanced/f32/matmul/2x2x3*", "normal/f32/matmul/3x5x*"]
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=bare())
    if done.returncode != 77:  # no GPU
        expect(path.name, command, "[...] held[...]", done.stdout)
        expect(path.name, f"{command}: exit code", "0", str(done.returncode))


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    os.environ.pop("COLUMNS", None)  # lines as wide as on the page
    os.symlink(SOURCE / "library", "library")
    os.symlink(LIBRARY, "libfoldproof.so.0")
    os.symlink(FOLDPROOF.parent, "build")
    os.symlink(sys.executable, "python3")  # which has numpy
    os.environ.update(PATH=f"{folder}:{FOLDPROOF.parent}:{os.environ['PATH']}", FOLDPROOF_LIBRARY=str(LIBRARY),
                      FOLDPROOF_FIXTURES=str(SOURCE / "fixtures"), PYTHONWARNINGS="ignore")
    sys.path.insert(0, str(SOURCE / "python"))
    import numpy

    numpy.seterr(all="ignore")
    for page in [SOURCE / "README.md", *sorted((SOURCE / "docs").glob("*.md"))]:
        try_page(page)
    for example in sorted((SOURCE / "library" / "examples").glob("guest_*")):
        if example.name != "guest_table.c":  # a part of Fortran's
            try_head(example)
    os.symlink(SOURCE / "python", "python")
    os.symlink(SOURCE / "fixtures", "fixtures")
    if subprocess.run([sys.executable, "-c", "import foldproof"], cwd="/", stderr=subprocess.DEVNULL, env=bare()).returncode:  # none is installed
        try_finding(SOURCE / "library" / "examples" / "find_foldproof.py")
    for example in sorted((SOURCE / "library" / "examples").glob("product_*")):
        try_product(example)
    os.chdir("/")
for failure in failures:
    print(failure)
print(f"{sum(ran.values())} examples of {', '.join(f'{page} ({n})' for page, n in sorted(ran.items()))}; {len(failures)} failures")
sys.exit(1 if failures or len(ran) < 5 or sum(ran.values()) < 20 else 0)
