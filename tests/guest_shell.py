"""What the tests of guests share: foldproof verify as a user runs it, and guests built from one source.

Their command line: FOLDPROOF LIBRARY_FOLDER GUESTS_FOLDER CC
"""
import os
import pathlib
import subprocess
import sys

import usual_signals  # noqa: F401

FOLDPROOF, LIBRARY, GUESTS, CC = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]), sys.argv[4].split()
EXAMPLES = LIBRARY / "examples"


def verify(*options, timeout=600, **environment):
    """With the table, and a block for each refuted claim, unless the test asks for less."""
    words = options if {"-q", "--quiet"} & {*options} else ("-v", *options)
    run = subprocess.run([FOLDPROOF, "verify", *words], capture_output=True, text=True, timeout=timeout,
                         env=dict(os.environ, **environment))
    return run.returncode, run.stdout, run.stderr


def build(folder, name, *sources, compiler=None, options=()):
    to = folder / f"{name}.so"
    subprocess.run([*(compiler or CC), "-shared", "-fPIC", "-O2", f"-I{LIBRARY}", *options, *map(str, sources), "-o", str(to)], check=True)
    return to
