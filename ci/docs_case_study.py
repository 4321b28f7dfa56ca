#!/usr/bin/env python3
"""docs/case-study.md from its text, ci/measured/case-study.md.in, and the records of a study.

docs_case_study.py SOURCE_FOLDER: prints the page. ci/docs.sh puts it in its place. The reference study's own figures stand in
src/study/figures.h, which foldproof study prints too. Tables as in docs_measured.py.
"""
import gzip
import json
import pathlib
import re
import struct
import sys

from docs_measured import DATES, MEASURED, expand, source, table

SOURCE = pathlib.Path(sys.argv[1])
STUDY, FULL, GPU = "host/course.jsonl", "host/study-full.jsonl.gz", "h200/study.jsonl"
SIZES = (1000, 10000, 100000, 1000000, 10000000, 50000000)
COLUMNS = {"Sequential": "host/sequential", "Reverse": "host/reverse", "Tree": "host/pairwise", "Sorted": "host/sorted", "NumPy": "host/numpy"}
HEADER = (SOURCE / "src" / "study" / "figures.h").read_text()


def load(path):
    """f32 sums, grouped by kind of data."""
    found = {}
    with (gzip.open if path.endswith(".gz") else open)(MEASURED / path, "rt") as lines:
        for line in map(json.loads, lines):
            if line["type"].startswith("study") and line["dtype"] == "f32" and line["op"] == "sum":
                found[line["type"], line["generator"], line["n"], line.get("engine", ""), line.get("subject", "")] = line
    return found


POINTS = load(STUDY)
ON_GPU = load(GPU)


def point(generator, n, subject):
    return POINTS["study", generator, n, "host", subject]


def in_float64(generator, n):
    return POINTS["study_float64", generator, n, "", ""]


def value(own):
    return struct.unpack(">f", bytes.fromhex(own["got"][2:]))[0]


def f32(number):
    return struct.unpack(">f", struct.pack(">f", number))[0]


def figures(generator):
    """The reference study's own figures."""
    block = HEADER[HEADER.index(f'"{generator}",'):]
    rows = re.findall(r'\{((?:"[^"]*"(?:,\s*)?){5})\}', block)[:len(SIZES)]
    return [re.findall(r'"([^"]*)"', row) for row in rows]


def short(number):
    return f"{number:.2e}"


def study_way(generator, n, column):
    """The error as the reference study would have measured it."""
    reference = in_float64(generator, n)["float64_sum"]
    return short(abs(value(point(generator, n, COLUMNS[column])) - (reference if column == "NumPy" else f32(reference))))


def errors(generator):
    rows = []
    for n, printed in zip(SIZES, figures(generator), strict=True):
        rows.append([f"{n:,}", *(short(point(generator, n, subject)["error_abs"]) for subject in COLUMNS.values())])
        rows.append(["in the study's way", *(study_way(generator, n, column) for column in COLUMNS)])
        rows.append(["the study", *printed])
    return table([f"{generator} data: error", *COLUMNS], rows, STUDY)


def agreement(generator):
    pairs = [(study_way(generator, n, column), printed) for n, row in zip(SIZES, figures(generator), strict=True) for column, printed in zip(COLUMNS, row)]
    return f"{sum(own == printed for own, printed in pairs)} of {len(pairs)}"


def gpu(_=None):
    printed = re.findall(r'"([^"]*)"', HEADER[HEADER.index("report_gpu"):])
    rows = []
    for n, ours, theirs in zip(SIZES, figures("normal"), printed, strict=True):
        of = lambda engine, subject: ON_GPU.get(("study", "normal", n, engine, subject))
        cells = [of("host", "host/numpy"), of("host", "flat/shuffle"), of("cuda", "flat/shuffle"), of("cuda", "flat/canonical"), of("cuda", "cub/reduce"),
                 of("cuda", "thrust/reduce")]
        rows.append([f"{n:,}", *(short(own["error_abs"]) if own and "error_abs" in own else "–" for own in cells), ours[4], theirs])
    return table(["normal data: error", "NumPy's order", "the kernel's order, replayed", "the kernel, on the GPU", "`flat/canonical`", "CUB", "Thrust",
                  "the study: NumPy", "the study: GPU"], rows, GPU)


def trees(generator):
    rows = []
    for n in SIZES:
        tree, wide = point(generator, n, "host/pairwise"), in_float64(generator, n)
        want = struct.unpack(">f", bytes.fromhex(tree["want"][2:]))[0]
        bits = int(tree["want"], 16)
        ulp = abs(struct.unpack(">f", struct.pack(">I", bits + 1))[0] - want)
        rows.append([f"{n:,}", short(tree["error_abs"]), study_way(generator, n, "Tree"), short(abs(wide["float64_tree"] - wide["float64_sum"])),
                     short(wide["float64_tree_error"]), short(wide["float64_error"]), short(ulp / 2)])
    return table([f"{generator} data: the tree, and what it is measured against", "f32 tree, exact sum", "f32 tree, f64 sum rounded to f32", "f64 tree, f64 sum",
                  "f64 tree, exact sum", "f64 sum, exact sum", "half an ulp of the f32 sum"], rows, STUDY)


def periods():
    rows = [[f"{n:,}", f"{n // 3:,}", *(f"{value(point('pathological', n, subject)):.9g}" for subject in COLUMNS.values())] for n in (999, 9999, 99999, 999999)]
    return table(["whole periods: the sum", "exact", *COLUMNS], rows, STUDY)


def float64(_):
    worst = max((own for (kind, _, _, _, subject), own in load(FULL).items() if subject == "host/float64" and "error_ulps" in own),
                key=lambda own: own["error_ulps"])
    return (f"{worst['error_ulps']:.3g} ulps of f32 on {worst['generator']} data of {worst['n']:,} terms, condition {worst['condition']:.3g} "
            f"(`{FULL}`, {DATES[FULL]})")


TABLES = {"mixed": lambda: errors("mixed"), "pathological": lambda: errors("pathological"), "normal": lambda: errors("normal"), "gpu": gpu,
          "tree_mixed": lambda: trees("mixed"), "tree_pathological": lambda: trees("pathological"), "tree_normal": lambda: trees("normal"), "periods": periods}

if __name__ == "__main__":
    sys.stdout.write(expand((MEASURED / "case-study.md.in").read_text(), TABLES, {"agreement": agreement, "float64": float64}))
