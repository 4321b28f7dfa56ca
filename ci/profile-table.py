#!/usr/bin/env python3
"""What Nsight Compute measured of each subject's kernels, as one aligned table and one CSV.

profile-table.py RAW_FOLDER OUT.csv: RAW_FOLDER is what profile-gpu.sh leaves: manifest.tsv, a line for each subject and
input (subject, input, name, exit code); NAME.csv, ncu's page "raw" in base units; NAME.jsonl, the record of the run.
The table goes to standard output. Exit codes: 0 every line of the manifest has its kernels, or is a skip with its
reason; 99 some have none.
"""
import csv
import pathlib
import re
import sys

from profiler_table import number, print_table, records, whole_file

DURATION = "gpu__time_duration.sum"
READ, WRITTEN = "dram__bytes_read.sum", "dram__bytes_write.sum"
STALL = re.compile(r"smsp__average_warps_issue_stalled_(\w+?)_per_issue_active\.ratio")
LATENCY = "smsp__average_warp_latency_per_inst_issued.ratio"
# These describe the machine, not a kernel; raw/ keeps them.
MACHINE = re.compile(r"(device__attribute|nvlink|numa|c2clink|profiler)_")
# A warp that issues, or that is ready and waits for its turn, is not stalled.
NO_STALL = {"selected", "not_selected"}

HEADINGS = ["subject", "input", "kernel", "us", "GB/s", "DRAM %", "SM %", "warps %", "of max %", "regs", "smem B",
            "blocks x threads", "waits for (% of a warp's time)"]
LEFT = {"subject", "input", "kernel", "waits for (% of a warp's time)"}


def kernels(path):
    """A dict for each kernel. ncu's CSV has a line of headings, one of units, then one for each kernel; lines with == are messages."""
    lines = [line for line in path.read_text(errors="replace").splitlines() if line.startswith('"')]
    rows = list(csv.reader(lines))
    if len(rows) < 3 or "Kernel Name" not in rows[0]:
        return []
    return [dict(zip(rows[0], row)) for row in rows[2:]]


def short_name(demangled):
    """A kernel's name without its return type, template arguments, parameters and namespaces: "void (anonymous)::f<int>(T*)" is f."""
    depth, kept = 0, ""
    for c in demangled.replace("<unnamed>", "").replace("(anonymous namespace)", ""):
        depth += c in "<("
        if depth == 0:
            kept += c
        depth -= c in ">)"
        if c == "(" and depth == 1:
            break
    return kept.split()[-1].split("::")[-1] if kept.split() else demangled


def stalls(row):
    """The two most frequent reasons, as shares of the cycles that a warp takes from one instruction to its next."""
    found = [(number(row, key), match[1]) for key in row if (match := STALL.fullmatch(key))]
    whole = number(row, LATENCY) or sum(value or 0 for value, _ in found)
    top = sorted(((value, name) for value, name in found if value and name not in NO_STALL), reverse=True)[:2]
    return ", ".join(f"{name} {100 * value / whole:.0f}" for value, name in top if whole) or "-"


def figure(value, digits):
    return "-" if value is None else f"{value:.{digits}f}"


def cells(entry, row):
    seconds = (number(row, DURATION) or 0) * 1e-9
    moved = None if number(row, READ) is None else number(row, READ) + (number(row, WRITTEN) or 0)
    shape = " x ".join(str(int(number(row, f"launch__{what}_size") or 0)) for what in ("grid", "block"))
    return [entry["subject"], entry["input"], short_name(row["Kernel Name"]),
            figure(seconds * 1e6 or None, 2), figure(1e-9 * moved / seconds if moved and seconds else None, 1),
            figure(number(row, "dram__throughput.avg.pct_of_peak_sustained_elapsed"), 1),
            figure(number(row, "sm__throughput.avg.pct_of_peak_sustained_elapsed"), 1),
            figure(number(row, "sm__warps_active.avg.pct_of_peak_sustained_active"), 1),
            figure(number(row, "sm__maximum_warps_per_active_cycle_pct"), 1),
            figure(number(row, "launch__registers_per_thread"), 0),
            figure(number(row, "launch__shared_mem_per_block"), 0), shape, stalls(row)]


def skip_reason(path):
    """Why the subject did not run, according to the record; None if it does not say so."""
    reasons = [record.get("reason") for record in records(path) if record.get("verdict") == "skipped"]
    return reasons[0] if reasons else None


def main():
    folder, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    table, measured, notes, missing = [HEADINGS], [], [], 0
    for line in (folder / "manifest.tsv").read_text().splitlines():
        entry = dict(zip(("subject", "input", "name", "code"), line.split("\t")))
        found = kernels(folder / (entry["name"] + ".csv"))
        reason = skip_reason(folder / (entry["name"] + ".jsonl"))
        if found and entry["code"] == "0":
            table += [cells(entry, row) for row in found]
            measured += [{"subject": entry["subject"], "input": entry["input"], **row} for row in found]
        elif reason:
            notes.append(f"{entry['subject']} on {entry['input']}: skipped: {reason}")
        else:
            missing += 1
            notes.append(f"{entry['subject']} on {entry['input']}: not profiled: exit code {entry['code']}, "
                         f"{len(found)} kernels; see raw/{entry['name']}.out and .csv")
    print_table(folder, table, LEFT)
    print("\nus, GB/s: of one launch with cold caches, under the profiler; bytes are those that DRAM moved. DRAM %, SM %: of "
          "the chip's peak.\nwarps %: warps on a multiprocessor, of the most that it holds; of max %: the most that "
          "registers and shared memory allow.")
    for note in notes:
        print(note)
    names = list(dict.fromkeys(name for row in measured for name in row if not MACHINE.match(name)))
    with whole_file(out) as file:
        writer = csv.DictWriter(file, names, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(measured)
    sys.exit(99 if missing or not measured else 0)


main()
