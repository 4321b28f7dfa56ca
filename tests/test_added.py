#!/usr/bin/env python3
"""One fixture, kernel, order, generator, claim, problem, dtype and engine, added to a copy of the tree as docs/architecture.md tells newcomers.

test_added.py SOURCE_FOLDER. tests/added/*.txt have what is added: "@@ FILE new", or "@@ FILE before LINE" and "@@ FILE after LINE", where
the only line of the file that begins so is, and then the text. Each may touch as many files as the table "to add" there says. The copy
is built once, and each is seen to work.
"""
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(sys.argv[1])


def copy(to):
    asked = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=SOURCE, capture_output=True)
    if asked.returncode:
        shutil.copytree(SOURCE, to, ignore=shutil.ignore_patterns("build*", ".git"))
        return
    for name in filter(None, asked.stdout.decode().split("\0")):
        if (SOURCE / name).is_file():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(SOURCE / name, to / name)


def add(tree, snippet):
    """The files that it touched."""
    touched = set()
    for part in re.split(r"^@@ ", snippet.read_text(), flags=re.M)[1:]:
        head, text = part.split("\n", 1)
        name, where, *line = head.split(" ", 2)
        path = tree / name
        touched.add(name)
        if where == "new":
            assert not path.exists(), f"{name} is there already"
            path.write_text(text)
            continue
        lines = path.read_text().splitlines(keepends=True)
        at = [i for i, one in enumerate(lines) if one.startswith(line[0])]
        assert len(at) == 1, f"{snippet.name}: {len(at)} lines of {name} begin with {line[0]!r}"
        lines.insert(at[0] + (where == "after"), text)
        path.write_text("".join(lines))
    return touched


def promised(page):
    rows = page.split("\n| to add | write | files |\n| --- | --- | --- |\n")[1].split("\n\n")[0].splitlines()
    return {re.match(r"\| an? (\w+) \|", row)[1]: int(re.search(r"\| (\d+) \|$", row)[1]) for row in rows}


with tempfile.TemporaryDirectory() as folder:
    tree = pathlib.Path(folder) / "tree"
    copy(tree)
    files = promised((tree / "docs" / "architecture.md").read_text())
    snippets = {path.stem: path for path in sorted((tree / "tests" / "added").glob("*.txt"))}
    assert snippets.keys() == files.keys(), (sorted(snippets), sorted(files))
    for what, path in snippets.items():
        touched = add(tree, path)
        assert len(touched) == files[what], f"{what}: docs/architecture.md promises {files[what]} files, this touched {sorted(touched)}"

    def make(*words):
        done = subprocess.run(words, cwd=tree, capture_output=True, text=True)
        assert done.returncode == 0, f"{words}: {done.stdout[-4000:]}{done.stderr[-2000:]}"

    make("meson", "setup", "build", "-Dcuda=disabled", "-Dmpi=disabled", "-Dtests=auto", "-Ddebug=false", "-Doptimization=0", "-Dwerror=true")
    suites = ["tests/test_generators", "tests/test_fixtures"] if "tests/test_generators:" in (tree / "build" / "build.ninja").read_text() else []
    make("ninja", "-C", "build", "-j2", "foldproof", *suites)
    # What is asked of every generator; other tests of fixtures are about a tree without a new dtype and problem.
    for suite, tests in zip(suites, ("*", "*generator*,*kind_of_data")):
        for glob in tests.split(","):
            done = subprocess.run([tree / "build" / suite, f"--filter=*/{glob}", "--tap=-"], capture_output=True, text=True)
            ran = len(re.findall(r"^ok - .*s\)$", done.stdout, re.M))  # those that the filter skips are told, too
            assert done.returncode == 0 and ran > 0, f"{suite} {glob}: {done.returncode}, {ran} tests passed: {done.stdout[-4000:]}{done.stderr[-2000:]}"

    def run(*words, code=0, **environment):
        done = subprocess.run([tree / "build" / "foldproof", *words], cwd=folder, capture_output=True, text=True, env=dict(os.environ, **environment))
        assert done.returncode == code, f"{words}: {done.returncode}, not {code}: {done.stdout[-3000:]}{done.stderr[-3000:]}"
        return done.stdout + done.stderr

    def expect(pattern, text):
        assert re.search(pattern, text, flags=re.M), f"no {pattern!r} in {text}"

    # Each is listed.
    subjects = run("list", "subjects", "--long", "--subjects", "added/*")
    expect(r"^added/outside_in", subjects)
    expect(r"\be6m9\b", subjects)
    expect(r"\bsquares\b", subjects)
    expect(r"^stays_finite +a result that is not finite", run("list", "claims"))
    expect(r"^thirds +numbers that no format holds", run("list", "generators"))
    expect(r"^added/outside_in +\(\(\(x0", run("list", "orders"))
    expect(r"^squares +mk->m +sums of squares$", run("list", "problems"))
    expect(r"^added_sums/e6m9/sum/1x1000/", run("list", "fixtures", "--fixtures", "added_*"))

    # The order draws as it is said, and the generator makes its numbers.
    assert run("order", "added/outside_in", "--n", "5", "--draw", "text") == "((((x0+x4)+x1)+x3)+x2)\n"
    run("gen", "thirds", "-n", "4", "-o", "thirds.npy")
    made = struct.unpack("<4f", (pathlib.Path(folder) / "thirds.npy").read_bytes()[-16:])
    assert made == struct.unpack("<4f", struct.pack("<4f", 1 / 3, 2 / 3, 1, 1 / 3)), made

    # The kernel, in the new order, and the new problem's are judged, on the new fixture, in the new dtype.
    for claim in ("bounded", "replays", "launch_invariant", "stays_finite"):
        for dtype in ("f16", "f32", "f64", "e6m9"):
            expect(r"^7 held, 0 refuted, 0 skipped$", run("verify", "--subjects", "added/outside_in", "--claims", claim, "--fixtures",
                                                          f"added_sums/{dtype}/*"))
    for dtype in ("f32", "e6m9"):
        expect(r"^12 held, 0 refuted, 0 skipped$", run("verify", "--subjects", "added/squares,dot/*", "--claims", "bounded,replays",
                                                       "--fixtures", f"added_squares/{dtype}/*"))
    # What runs on the new engine is judged there, with the launches that its row names; where it is not, its subjects are skipped.
    told = run("verify", "-v", "--engine", "fifth", "--fixtures", "added_sums/*,normal/f32/sum/*")
    expect(r"^added/fifth on fifth$", told)
    expect(r"^\d{3,} held, 0 refuted, \d+ skipped$", told)
    expect("no fifth engine here", run("verify", "--engine", "fifth", "--fixtures", "added_sums/*", code=77, NO_FIFTH="1"))
    expect("subjects on the fifth engine are not timed", run("bench", "--engine", "fifth", code=77))

    # A guest gets the new problem by its name; a shared object's interface has no number for it.
    guest = pathlib.Path(folder) / "squares.py"
    guest.write_text(r'''
import json, struct, sys

for line in sys.stdin:
    asked = json.loads(line)
    answer = {"name": "mine/squares", "problems": "squares", "accumulator": "f64", "claims": "bounded,run_to_run"}
    if asked["ask"] == "run":
        assert asked["problem"] == "squares", asked
        rows, cols = asked["rows"], asked["cols"]
        x = struct.unpack(f"<{rows * cols}f", open(asked["in"], "rb").read()[128:])
        sums = [sum(t * t for t in x[r * cols:(r + 1) * cols]) for r in range(rows)]
        head = ("{'descr': '<f4', 'fortran_order': False, 'shape': (%d,), }" % rows).ljust(117) + "\n"
        open(asked["out"], "wb").write(b"\x93NUMPY\1\0" + struct.pack("<H", 118) + head.encode() + struct.pack(f"<{rows}f", *sums))
        answer = {}
    print(json.dumps(answer), flush=True)
''')
    told = run("verify", "--exec", f"{sys.executable} {guest}", "--fixtures", "added_squares/f32/*")
    expect(r"^[1-9]\d+ held, 0 refuted, 0 skipped$", told)
    source = pathlib.Path(folder) / "squares.c"
    source.write_text('''#include "foldproof_guest.h"
static int run(const struct foldproof_guest_call *call, void *context) { return (void)call, (void)context, 1; }
static const struct foldproof_guest_subject subject = {.name = "mine/squares", .problems = "squares", .run = run};
static const struct foldproof_guest_table table = {FOLDPROOF_GUEST_ABI, sizeof subject, 1, &subject};
const struct foldproof_guest_table *foldproof_guest(void) { return &table; }
''')
    make("cc", "-shared", "-fPIC", f"-I{tree / 'library'}", str(source), "-o", f"{folder}/squares.so")
    expect(r"interface 1 of guests has no number for squares of f32",
           run("verify", "--guest", f"{folder}/squares.so", "--fixtures", "added_squares/f32/*", code=77))
    # The claim can be refuted.
    expect(r"violates stays_finite: .*\n.*a partial result overflowed", run("verify", "--subjects", "added/outside_in", "--claims",
                                                                      "stays_finite", "--fixtures", "added_overflow/*", code=1))
