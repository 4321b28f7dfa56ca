#!/usr/bin/env python3
"""No build is made with flags that change arithmetic. test_refused_flags.py SOURCE"""
import os
import subprocess
import sys
import tempfile

source = sys.argv[1]
told_by_gcc = [] if "clang" in os.environ.get("CC", "") else ["-O2 -funsafe-math-optimizations"]
# What is not refused ends soon after, for another reason: the test does not wait for the rest.
PASSED = "nccl needs CUDA"
for flags in ["-ffast-math", "-Ofast", "-ffinite-math-only", *told_by_gcc, "-Og"]:
    with tempfile.TemporaryDirectory(prefix="foldproof-flags-") as build:
        done = subprocess.run(["meson", "setup", build, source, "-Dcuda=disabled", "-Dnccl=enabled"],
                              env=dict(os.environ, CFLAGS=flags), capture_output=True, text=True)
        wanted = PASSED if flags == "-Og" else "must keep IEEE-754 arithmetic"
        if done.returncode == 0 or wanted not in done.stdout:
            sys.exit(f"{flags}: {done.returncode}\n{done.stdout[-2000:]}{done.stderr}")
