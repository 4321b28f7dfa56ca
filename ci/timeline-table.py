#!/usr/bin/env python3
"""What Nsight Systems measured of each subject's kernels, as one aligned table and one CSV.

timeline-table.py RAW_FOLDER OUT.csv: RAW_FOLDER is what timeline-gpu.sh leaves: manifest.tsv, a line for each subject (subject, name,
exit code); NAME.csv, nsys's report cuda_gpu_kern_sum; NAME.jsonl, the record of the timing. The table goes to standard output; times
are shares of all the subjects' kernels together. Exit codes: 0 every subject has kernels, or is a skip with its reason; 99 some have
none.
"""
import csv
import pathlib
import re
import sys

from profiler_table import number, print_table, records, whole_file

TOTAL, COUNT = "Total Time (ns)", "Instances"
FIGURES = ["Avg (ns)", "Med (ns)", "Min (ns)", "Max (ns)", "StdDev (ns)"]
HEADINGS = ["Time (%)", TOTAL, COUNT, *FIGURES, "Subject", "Kernel"]
LEFT = {"Subject", "Kernel"}
# The harness's own kernels: reads that keep the GPU busy, and generators of inputs.
HARNESS = re.compile(r"\b(read_\w+|generate_\w+)\b")


def kernels(path):
    """A dict for each kernel; nsys writes lines about its work above its CSV."""
    lines = path.read_text(errors="replace").splitlines() if path.exists() else []
    start = next((i for i, line in enumerate(lines) if line.startswith("Time (%)")), len(lines))
    end = next((i for i in range(start, len(lines)) if not lines[i].strip()), len(lines))
    return [row for row in csv.DictReader(lines[start:end]) if not HARNESS.search(row["Name"])]


def note_of(path):
    """Why the subject was not timed, according to the record; None if it does not say so."""
    timings = [record for record in records(path) if record.get("type") == "timing"]
    return next((t.get("note") for t in timings if "median_seconds" not in t), None)


def grouped(value, digits=0):
    return "-" if value is None else f"{value:,.{digits}f}"


def cells(subject, row, whole):
    return [grouped(100 * number(row, TOTAL) / whole if whole else None, 1), grouped(number(row, TOTAL)), grouped(number(row, COUNT)),
            *(grouped(number(row, name), 1) for name in FIGURES), subject, row["Name"]]


def main():
    folder, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    measured, notes, missing = [], [], 0
    for line in (folder / "manifest.tsv").read_text().splitlines():
        subject, name, code = line.split("\t")
        found = [row for row in kernels(folder / (name + ".csv")) if number(row, TOTAL) is not None]
        note = note_of(folder / (name + ".jsonl"))
        if found and code == "0":
            measured += [(subject, row) for row in found]
        elif note:
            notes.append(f"{subject}: skipped: {note}")
        else:
            missing += 1
            notes.append(f"{subject}: no kernels: exit code {code}; see raw/{name}.out and .csv")
    whole = sum(number(row, TOTAL) for _, row in measured)
    measured.sort(key=lambda pair: -number(pair[1], TOTAL))
    table = [HEADINGS] + [cells(subject, row, whole) for subject, row in measured]
    print_table(folder, table, LEFT)
    for note in notes:
        print(note)
    with whole_file(out) as file:
        writer = csv.writer(file)
        writer.writerow(HEADINGS)
        writer.writerows([[cell.replace(",", "") for cell in row[:-2]] + row[-2:] for row in table[1:]])
    sys.exit(99 if missing or not measured else 0)


main()
