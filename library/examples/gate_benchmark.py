"""Judges a benchmark's candidate: python gate_benchmark.py REFERENCE.py CANDIDATE.py TOLERANCE [--like torch|numpy] [--time 10] [--problem sum]

REFERENCE.py has the class Model and CANDIDATE.py the class ModelNew, as in KernelBench: each has forward(x), a function of the rows of x.
With --problem sum (or max, scan, ...) the bounds of that problem decide, also where sums cancel; REFERENCE.py and TOLERANCE are not used.
Exit codes: 0 pass, 1 fail.
"""
import argparse
import functools
import runpy
import sys

import foldproof


def main():
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("reference")
    words.add_argument("candidate")
    words.add_argument("tolerance", type=float)
    words.add_argument("--like", default="torch")
    words.add_argument("--time", default=10)
    words.add_argument("--problem", default="rows")
    asked = words.parse_args()
    known = asked.problem != "rows"
    right = {} if known else {"reference": runpy.run_path(asked.reference)["Model"]().forward, "tolerance": asked.tolerance}
    candidate = functools.cache(lambda: runpy.run_path(asked.candidate)["ModelNew"]())  # in the processes in which it is called
    gate = foldproof.gate(lambda x: candidate().forward(x), problem=asked.problem, like=asked.like, time=asked.time, **right)
    print(gate)
    return 0 if gate else 1


if __name__ == "__main__":
    sys.exit(main())
