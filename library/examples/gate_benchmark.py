"""Judges a benchmark's candidate: python gate_benchmark.py REFERENCE.py CANDIDATE.py TOLERANCE [--like torch|numpy] [--time 10] [--problem sum]

REFERENCE.py has the class Model and CANDIDATE.py the class ModelNew, as in KernelBench: each has forward(x), a function of the rows of x. With --problem sum
(or max, scan, ...) the bounds of that problem decide, also where sums cancel; REFERENCE.py and TOLERANCE are not used. Exit codes: 0 pass, 1 fail.
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
    for option, usual in (("--like", "torch"), ("--time", "10"), ("--problem", "rows")):
        words.add_argument(option, default=usual)
    asked = words.parse_args()
    candidate = functools.cache(lambda: runpy.run_path(asked.candidate)["ModelNew"]())  # in the processes in which it is called
    right = {} if asked.problem != "rows" else {"reference": runpy.run_path(asked.reference)["Model"]().forward, "tolerance": asked.tolerance}
    gate = foldproof.gate(lambda x: candidate().forward(x), problem=asked.problem, like=asked.like, time=asked.time, **right)
    print(gate)
    return 0 if gate else 1


if __name__ == "__main__":
    sys.exit(main())
