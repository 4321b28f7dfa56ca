"""What the tables of profile-gpu.sh and timeline-gpu.sh share: figures and records as the profilers and foldproof leave them, and how a
table is printed and kept."""
import contextlib
import json


def number(row, name):
    """A figure; None if the profiler has none ("n/a", a metric that this chip lacks, the deviation of one launch)."""
    try:
        return float((row.get(name) or "").replace(",", ""))
    except ValueError:
        return None


def records(path):
    """The records of a run; an empty list if it left no file."""
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def print_table(folder, table, left):
    """The table below raw/head.txt: numbers end where their heading ends, words begin where it begins."""
    head = folder / "head.txt"
    if head.exists():
        print(head.read_text())
    widths = [max(len(row[k]) for row in table) for k in range(len(table[0]))]
    for row in table:
        print("  ".join(cell.ljust(w) if heading in left else cell.rjust(w)
                        for cell, w, heading in zip(row, widths, table[0])).rstrip())


@contextlib.contextmanager
def whole_file(path):
    """Writes a CSV that appears at its path only once it is complete."""
    partial = path.with_suffix(".partial")
    with partial.open("w", newline="") as file:
        yield file
    partial.rename(path)
