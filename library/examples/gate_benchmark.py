"""Judges a benchmark's candidate: python gate_benchmark.py REFERENCE.py CANDIDATE.py TOLERANCE [--like torch|numpy] [--time 10]

REFERENCE.py has the class Model and CANDIDATE.py the class ModelNew, as in KernelBench: each has forward(x), a function of the rows of x.
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
    asked = words.parse_args()
    reference = runpy.run_path(asked.reference)["Model"]().forward
    candidate = functools.cache(lambda: runpy.run_path(asked.candidate)["ModelNew"]())  # in the processes in which it is called
    gate = foldproof.gate(lambda x: candidate().forward(x), problem="rows", reference=reference, tolerance=asked.tolerance, like=asked.like, time=asked.time)
    print(gate)
    return 0 if gate else 1


if __name__ == "__main__":
    sys.exit(main())
