"""What a run of 1 K elements through a shared object costs beside the guest's own time: microseconds of the processor, medians of 9.

bench_guests.py FOLDPROOF LIBRARY_FOLDER GUESTS_FOLDER CC
"""
import os
import pathlib
import resource
import statistics
import sys
import tempfile

sys.dont_write_bytecode = True
from guest_shell import GUESTS, build, verify  # noqa: E402

FEW, MANY = "normal/f32/sum/1x1023/seed1", "*/f32/sum/1x1023/*,*/f32/sum/1x102[0-9]/*"


def once(guest, told, fixtures, claims):
    """Processor's seconds without the guest's own, runs."""
    told.write_text("")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    code, out, err = verify("--guest", guest, "--claims", claims, "--fixtures", fixtures, GUEST_COST=str(told))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert code == 0, (code, out, err)
    runs, own = (sum(column) for column in zip(*((int(n), float(s)) for n, s in (line.split() for line in told.read_text().splitlines()))))
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime - own, runs


def main():
    with tempfile.TemporaryDirectory(prefix="foldproof-cost-") as folder:
        guest, told = str(build(pathlib.Path(folder), "counts", GUESTS / "counts.c")), pathlib.Path(folder) / "told"
        for claims in ("alignment_invariant", "launch_invariant,alignment_invariant,writes_output,stays_in_bounds,leaves_no_trace,keeps_input"):
            each = []
            for _ in range(9):
                few, many = once(guest, told, FEW, claims), once(guest, told, MANY, claims)
                each.append((many[0] - few[0]) / (many[1] - few[1]))
            print(f"{claims}: {1e6 * statistics.median(each):.1f} us a run ({1e6 * min(each):.1f} to {1e6 * max(each):.1f}), over {many[1] - few[1]} runs")


main()
