#!/usr/bin/env python3
"""README's measured figures against the records in ci/measured/; links; the man page; layers.

test_readme.py SOURCE_FOLDER. A figure is right when the recorded value, rounded once to as many decimals as the figure
has, is the figure; an empty cell and a dash are no figures.
"""
import functools
import json
import pathlib
import re
import shutil
import subprocess
import sys

SOURCE = pathlib.Path(sys.argv[1])
README = (SOURCE / "README.md").read_text()
TEXT = "\n\n".join([README] + [path.read_text() for path in sorted((SOURCE / "docs").glob("*.md"))])
MEASURED = SOURCE / "ci" / "measured"
failures, checked = [], 0


def expect(text, value, where):
    """One figure, such as 4570, 23.6 or 0.980."""
    global checked
    checked += 1
    decimals = len(text.partition(".")[2])
    if f"{value:.{decimals}f}" != text:
        failures.append(f"{where}: the text has {text}, the record {value:.{decimals + 2}f}")


@functools.cache
def records(path):
    return [json.loads(line) for line in (MEASURED / path).read_text().splitlines()]


def record(path, **wanted):
    found = [line for line in records(path) if all(line.get(key) == value for key, value in wanted.items())]
    if len(found) != 1:
        sys.exit(f"{path}: {len(found)} records of {wanted}")
    return found[0]


def table(start):
    """The cells of a table's head, and of its rows, by how its head begins."""
    lines = TEXT[TEXT.index(f"\n| {start}") + 1:].split("\n\n")[0].splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return rows[0], rows[2:]


def names(cell, folder):
    """`rows/par_64`, `par_64_determ`: whole names; what else stands in the cell is for people."""
    return [name if "/" in name else f"{folder}/{name}" for name in re.findall("`([^`]*)`", cell)]


def check_summary():
    """README's own few figures: they are those of docs/measured.md, and of the records."""
    closing = (MEASURED / "h200" / "verify.txt").read_text().splitlines()[-1]
    counts = "{:,} held, {:,} refuted, {:,} skipped".format(*map(int, re.findall(r"\d+", closing)))
    if f"judged all CUDA subjects on one H200: {counts}." not in README:
        failures.append(f"README does not say: judged all CUDA subjects on one H200: {counts}.")
    for cell, _, where, text in table("subject | promises | input")[1]:
        subject, figure = names(cell, "")[0], text.split(" ")[0]
        if "all-reduce" in where:
            own = record("h200x4/allreduce.jsonl", bytes=2**30, subject=subject, setting="default")["to_library"]
        else:
            own = record("h200/bench.jsonl", subject=subject, dtype="f32", rows=1, cols=10**9, generator="normal")["to_peer"]
        expect(figure, own, f"summary, {subject}")


def check_length():
    """A stranger reads README to its end."""
    if len(README.split()) > 1500:
        failures.append(f"README has {len(README.split())} words: at most 1,500; details belong to a page of docs/")


def check_links():
    """A file that a link names is there; a part that it names is a heading of it."""
    for path in [SOURCE / "README.md", *sorted((SOURCE / "docs").glob("*.md"))]:
        for target in re.findall(r"\]\(([^)#:]*(?:#[^)]*)?)\)", path.read_text()):
            name, _, part = target.partition("#")
            linked = path.parent / name if name else path
            headings = re.findall(r"^#+ (.*)$", linked.read_text(), re.M) if linked.is_file() else []
            anchors = [re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings]
            if not linked.exists() or (part and part not in anchors):
                failures.append(f"{path.name}: nothing is at {target}")


def check_man_page():
    """Roff takes quotes of a macro's arguments away, where they are not escaped."""
    if shutil.which("groff") is None:
        return
    page = subprocess.run(["groff", "-man", "-ww", "-Tascii", "-P-cbou", SOURCE / "src" / "foldproof.1"], capture_output=True, text=True, check=False)
    text = " ".join(page.stdout.split())
    for asked in ('{"ask": "describe"}', '({"name": "mine/sum", "dtypes": "f32"})', '{"ask": "run", "in": PATH, "out": PATH, "problem": "sum",'):
        if asked not in text:
            failures.append(f"the man page lacks {asked}")
    if page.stderr:
        failures.append(f"the man page: {page.stderr}")


LAYERS = re.search(r"fold_inc = include_directories\((.*?)\)", (SOURCE / "meson.build").read_text(), re.S)[1]


def check_layers():
    """docs/architecture.md: no folder includes from one that comes after it, in meson.build's order; library/'s headers are for all."""
    layers = [name for name in re.findall(r"'([^']*)'", LAYERS) if name != "src"]

    def layer_of(path):
        return max((i for i, name in enumerate(layers) if f"{path.relative_to(SOURCE)}".startswith(name + "/")), default=len(layers))

    homes = {}
    for path in (path for folder in ("src", "fixtures", "oracles", "kernels") for path in (SOURCE / folder).glob("**/*.[hid]*")):
        homes[path.name] = min(layer_of(path), homes.get(path.name, len(layers)))
    files = [path for name in layers for path in (SOURCE / name).glob("*") if path.suffix in (".c", ".h", ".inc")]
    for path in files:
        for name in re.findall(r'^#include "([^"/]+)"', path.read_text(), re.M):
            if homes.get(name) is not None and homes[name] > layer_of(path):
                failures.append(f"{path.relative_to(SOURCE)} includes {name}, of {layers[homes[name]]}, which comes after it")
    page = (SOURCE / "docs" / "architecture.md").read_text()
    for name in layers:
        if f"| `{name}/` |" not in page:
            failures.append(f"docs/architecture.md has no row for {name}/")
    if len(files) < 200:
        failures.append(f"only {len(files)} files are read")


check_layers()
check_summary()
check_length()
check_links()
check_man_page()
for failure in failures:
    print(failure)
print(f"{checked} figures, {len(failures)} failures")
sys.exit(1 if failures or checked < 3 else 0)
