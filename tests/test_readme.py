#!/usr/bin/env python3
"""The measured tables of README and docs/, figure by figure, against the records in ci/measured/; links; the man page; layers.

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


def bytes_of(length):
    number, unit = length.split()
    return int(number) * {"KiB": 2**10, "MiB": 2**20, "GiB": 2**30}[unit]


def check_allreduces():
    for length, *cells in table("all-reduce, f32")[1]:
        n_bytes = bytes_of(length)

        def of(subject, setting="default"):
            return record("h200x4/allreduce.jsonl", bytes=n_bytes, subject=subject, setting=setting)

        library, own = of("nccl/allreduce"), of("collective/canonical")
        values = [1e6 * library["median_seconds"], 1e-9 * library["bus_bytes_per_second"],
                  1e6 * of("nccl/allreduce", "ring")["median_seconds"],
                  1e6 * of("nccl/allreduce", "tree")["median_seconds"],
                  1e6 * own["median_seconds"], 1e-9 * own["bus_bytes_per_second"], own["to_library"]]
        for text, value in zip(cells, values, strict=True):
            if text:
                expect(text, value, f"all-reduce of {length}")


def check_sums():
    for subject, *cells in table("sharded sum, f32")[1]:
        name = names(subject, "")[0]
        one, two, four = (record("h200x4/scaling.jsonl", subject=name, mode="strong", n=4 * 10**9, workers=ranks)
                          for ranks in (1, 2, 4))
        short = record("h200x4/scaling.jsonl", subject=name, mode="strong", n=10**8, workers=4)
        values = [1e6 * one["median_seconds"], 1e6 * two["median_seconds"], 1e6 * four["median_seconds"],
                  four["speed_up"], 1e6 * four["calls_median_seconds"], four["to_library"], short["speed_up"]]
        for text, value in zip(cells, values, strict=True):
            expect(text, value, f"sharded sum by {name}")


def check_processes():
    head, rows = table("processes: `collective/canonical`")
    for text, length in zip(rows[0][1:], head[1:], strict=True):
        own = record("h200x4/processes.jsonl", type="allreduce", subject="collective/canonical", setting="default", bytes=bytes_of(length))
        expect(text, own["to_library"], f"processes, {length}")
    for cell, text in table("processes: sum of")[1]:
        own = record("h200x4/processes.jsonl", subject=names(cell, "")[0], mode="strong", n=4 * 10**9, workers=4)
        expect(text, own["speed_up"], f"processes, {cell}")


@functools.cache
def four_rows():
    """What bench printed for 4 x 16,384 f32: microseconds and the ratio to its peer, as text, by subject."""
    section = (MEASURED / "h200" / "determ.txt").read_text().split("f32 sum, 4 x 16384, normal")[1].split("\n\n")[0]
    return {words[0]: (words[1], words[6]) for words in map(str.split, section.splitlines()[1:]) if len(words) > 7}


def check_rows():
    """Two shapes; subjects of the plain kernels have a range, and are for people."""
    for cell, *cells in table("rows, f32")[1]:
        for i, subject in enumerate(names(cell, "rows")):
            own = record("h200/bench.jsonl", subject=subject, dtype="f32", rows=65536, cols=16384, generator="normal")
            values = (1e6 * own["median_seconds"], 1e-9 * own["bytes_per_second"], own["to_peer"])
            for text, value in zip(cells[:3], values, strict=True):
                expect(text.split(", ")[i], value, f"{subject}, 65536 x 16384")
            for text, printed in zip(cells[3:], four_rows()[subject], strict=True):
                expect(text.split(", ")[i], float(printed), f"{subject}, 4 x 16384")
    for cell, text in table("4 × 16,384 f32")[1]:
        fixed, plain = (float(four_rows()[name][0]) for name in names(cell, "rows"))
        expect(text, fixed / plain, f"the cost of {cell}")


def check_flat():
    head, rows = table("one row, normal data")
    powers = {"10⁴": 10**4, "10⁵": 10**5, "10⁶": 10**6, "10⁸": 10**8, "10⁹": 10**9, "2³²": 2**32}
    for cell, *cells in rows:
        subject = names(cell, "flat")[0]
        generator = "full_range" if "full exponent range" in cell else "normal"
        for i, dtype in enumerate(re.findall(r"\b(f16|bf16|f32|f64)\b", cell)):
            for text, power in zip(cells, head[1:], strict=True):
                if text:
                    own = record(f"h200/{'small' if powers[power] <= 10**6 else 'bench'}.jsonl", subject=subject, dtype=dtype, rows=1, cols=powers[power],
                                 generator=generator)
                    expect(text.split(", ")[i], own["to_peer"], f"{subject} {dtype} {generator} {power}")


def check_thrust():
    """Microseconds, and behind them in parentheses how many times Thrust's speed that is; the text's one figure too."""
    head, rows = table("one row, f32: µs (× Thrust)")
    sizes = {"10³": 10**3, "10⁴": 10**4, "10⁵": 10**5, "10⁶": 10**6, "10⁷": 10**7, "10⁸": 10**8, "5·10⁸": 5 * 10**8}
    for cell, *cells in rows:
        for text, size in zip(cells, head[1:], strict=True):
            own = record("h200/thrust.jsonl", subject=names(cell, "flat")[0], cols=sizes[size])
            us, _, ratio = text.partition(" (")
            expect(us, 1e6 * own["median_seconds"], f"{cell}, {size}")
            if own["subject"] != "thrust/reduce":
                expect(ratio.rstrip(")"), own["to_peer"], f"{cell} against Thrust, {size}")


def check_numpy():
    """The answer to the report's speed-ups over NumPy."""
    for cell, *cells in table("f32 sum: µs")[1]:
        for text, cols in zip(cells, (10**5, 10**7), strict=True):
            name = "numpy/sum" if "numpy.sum" in cell else names(cell, "host")[0]
            own = (record("h200/thrust.jsonl", subject=name, cols=cols) if "H200" in cell else
                   record("h100/host.jsonl", type="timing", dtype="f32", subject=name, cols=cols, threads=int(re.search(r"(\d+) thread", cell)[1])))
            expect(text, 1e6 * own["median_seconds"], f"{cell} at {cols}")


def check_gpu_to_gpu():
    """The closing line of what compare printed, and flat/atomic's."""
    closing = (MEASURED / "h100" / "gpu_to_gpu.txt").read_text()
    held, refuted = map(int, re.search(r"(\d+) held, (\d+) refuted", closing).groups())
    same, differ = map(int, re.search(r"flat/atomic on cuda +(\d+) +(\d+)", closing).groups())
    for (cell, *cells), values in zip(table("subjects | results compared")[1], ((held + refuted, refuted), (same + differ, differ)), strict=True):
        for text, value in zip(cells, values, strict=True):
            expect(text.replace(",", ""), value, f"gpu_to_gpu, {cell}")


def check_verdicts():
    """The last line of each verify.txt."""
    for cell, *counts, path in table("machine | held")[1]:
        closing = (MEASURED / path.strip("`")).read_text().splitlines()[-1]
        for text, value in zip(counts, re.match(r"(\d+) held, (\d+) refuted, (\d+) skipped", closing).groups(), strict=True):
            expect(text.split(" (")[0].replace(",", ""), int(value), f"verdicts of {cell}")


def check_summary():
    """README's own few figures: they are those of docs/measured.md, and of the records."""
    closing = (MEASURED / "h200" / "verify.txt").read_text().splitlines()[-1]
    counts = "{:,} held, {:,} refuted, {:,} skipped".format(*map(int, re.findall(r"\d+", closing)))
    if f"On one H200 over all CUDA subjects: {counts}." not in README:
        failures.append(f"README does not say: On one H200 over all CUDA subjects: {counts}.")
    for cell, _, where, text in table("subject | promises | input")[1]:
        subject, figure = names(cell, "")[0], text.split(" ")[0]
        if "all-reduce" in where:
            own = record("h200x4/allreduce.jsonl", bytes=2**30, subject=subject, setting="default")["to_library"]
        else:
            own = record("h200/bench.jsonl", subject=subject, dtype="f32", rows=1, cols=10**9, generator="normal")["to_peer"]
        expect(figure, own, f"summary, {subject}")


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


check_allreduces()
check_sums()
check_processes()
check_rows()
check_flat()
check_thrust()
check_numpy()
check_gpu_to_gpu()
check_verdicts()
check_layers()
check_summary()
check_links()
check_man_page()
for failure in failures:
    print(failure)
print(f"{checked} figures, {len(failures)} failures")
sys.exit(1 if failures or checked < 150 else 0)
