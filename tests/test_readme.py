#!/usr/bin/env python3
"""The measured tables of README and docs/, figure by figure, against the records in ci/measured/ that they are of.

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


def check_allreduces():
    units = {"KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
    for length, *cells in table("all-reduce, f32")[1]:
        number, unit = length.split()
        n_bytes = int(number) * units[unit]

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
    text = re.search(r"With a process a GPU.*?\.\s+What is judged", TEXT, re.S).group()
    ratios = re.findall(r"([0-9.]+)(?: × NCCL's speed)? at\s+([0-9]+) ([KMG])iB", text)
    for ratio, number, unit in ratios:
        n_bytes = int(number) * 2 ** {"K": 10, "M": 20, "G": 30}[unit]
        own = record("h200x4/processes.jsonl", type="allreduce", subject="collective/canonical", setting="default",
                     bytes=n_bytes)
        expect(ratio, own["to_library"], f"processes, {number} {unit}iB")
    speed_ups = re.search(r"speed-up of the sums of 4·10⁹ on 4: ([0-9.]+), ([0-9.]+), ([0-9.]+)\.", text).groups()
    for figure, subject in zip(speed_ups, ("nccl/sum", "collective/exact", "collective/canonical_sum"), strict=True):
        own = record("h200x4/processes.jsonl", subject=subject, mode="strong", n=4 * 10**9, workers=4)
        expect(figure, own["speed_up"], f"processes, {subject}")
    if len(ratios) != 4:
        failures.append(f"{len(ratios)} ratios of processes are read, not 4")


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
    costs = re.search(r"on four rows.*?\n?([0-9.]+) ×, ([0-9.]+) × and ([0-9.]+) × \(`determ.txt`\)", TEXT, re.S).groups()
    for text, (fixed, plain) in zip(costs, (("par_16_determ", "par_16"), ("par_64_determ", "par_64"),
                                            ("single_determ", "single_for")), strict=True):
        expect(text, float(four_rows()["rows/" + fixed][0]) / float(four_rows()["rows/" + plain][0]), f"the cost of {fixed}")


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
    own = record("h200/thrust.jsonl", subject="flat/shuffle@plain", cols=10**8)
    expect(re.search(r"at 10⁸ it runs at ([0-9.]+) × Thrust's speed", TEXT)[1], own["to_peer"], "the report's kernel")


def check_numpy():
    """The answer to the report's speed-ups over NumPy."""
    text = re.search(r"`numpy\.sum` takes.*?copy to the GPU\.", TEXT, re.S).group()
    host = functools.partial(record, "h100/host.jsonl", type="timing", dtype="f32")
    wanted = [host(subject=subject, cols=cols, threads=threads) for subject, threads in
              (("numpy/sum", 1), ("host/numpy", 1), ("host/numpy", 16)) for cols in (10**5, 10**7)]
    wanted += [record("h200/thrust.jsonl", subject="flat/shuffle@plain", cols=cols) for cols in (10**5, 10**7)]
    figures = re.findall(r"([0-9.]+)(?: µs at| and| µs)", text)
    for figure, own in zip(figures, wanted, strict=True):
        expect(figure, 1e6 * own["median_seconds"], f"{own['subject']} at {own['cols']}")


def check_gpu_to_gpu():
    """The closing line of what compare printed."""
    closing = (MEASURED / "h100" / "gpu_to_gpu.txt").read_text()
    held, differ = re.search(r"(\d+) held, 0 refuted", closing)[1], re.search(r"flat/atomic on cuda +(\d+) +(\d+)", closing)
    said = re.search(r"([0-9,]+) of subjects that promise.*?all the same; of `flat/atomic`'s ([0-9]+).*?, ([0-9]+) differ", TEXT, re.S)
    if said is None or (said[1].replace(",", ""), int(said[2]), said[3]) != (held, int(differ[1]) + int(differ[2]), differ[2]):
        failures.append(f"gpu_to_gpu: the text has {said and said.groups()}, the record {held}, {differ.groups()}")


def check_summary():
    """README's own few figures."""
    text = README[README.index("\n## Measured\n"):]
    rows = re.search(r"`flat/canonical`, which keeps\s+one order, ([0-9.]+); `flat/exact`, which is correctly rounded, ([0-9.]+)\.", text)
    for figure, subject in zip(rows.groups(), ("flat/canonical", "flat/exact"), strict=True):
        own = record("h200/bench.jsonl", subject=subject, dtype="f32", rows=1, cols=10**9, generator="normal")
        expect(figure, own["to_peer"], f"summary, {subject}")
    reduced = re.search(r"1 GiB by `collective/canonical` has ([0-9.]+) × NCCL's speed,\s+one of 1 KiB ([0-9.]+) ×", text)
    for figure, n_bytes in zip(reduced.groups(), (2**30, 2**10), strict=True):
        own = record("h200x4/allreduce.jsonl", bytes=n_bytes, subject="collective/canonical", setting="default")
        expect(figure, own["to_library"], f"summary, {n_bytes} bytes")


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


def check_counts():
    closing = {path.read_text().splitlines()[-1] for path in MEASURED.glob("*/verify.txt")}
    counts = [text.replace(",", "").replace("  ", " ") for text in
              re.findall(r"[0-9]+,[0-9]+ held, [0-9,]+ refuted, [0-9,]+ skipped", TEXT)]
    for count in counts:
        number = re.sub(r"(held|refuted)", r"\1,", count)
        if number not in closing:
            failures.append(f"no verify.txt ends with '{number}'")
    if len(counts) < 3:
        failures.append(f"only {len(counts)} counts of verdicts are read")


check_allreduces()
check_sums()
check_processes()
check_rows()
check_flat()
check_thrust()
check_numpy()
check_gpu_to_gpu()
check_counts()
check_summary()
check_links()
check_man_page()
for failure in failures:
    print(failure)
print(f"{checked} figures, {len(failures)} failures")
sys.exit(1 if failures or checked < 150 else 0)
