#!/usr/bin/env python3
"""Measures whole commands: the default verify's time, and peak memory beside the input.

bench_command.py FOLDPROOF [ELEMENTS]: exits 1 when the default `verify` takes over 60 s, or when oracle or verify of
ELEMENTS f32 (10^8; 10^9 needs 4 GB of disk and memory) hold more than the input and 64 MiB.
"""
import os
import subprocess
import sys
import tempfile
import time


def run(*command):
    """Wall seconds and peak resident KiB of a command, its children included."""
    start = time.monotonic()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    if os.waitstatus_to_exitcode(status) != 0:
        sys.exit(f"{' '.join(command)}: exit code {os.waitstatus_to_exitcode(status)}")
    return time.monotonic() - start, usage.ru_maxrss


def main():
    foldproof, n = sys.argv[1], int(float(sys.argv[2])) if len(sys.argv) > 2 else 10**8
    late = fat = False
    seconds, kib = run(foldproof, "verify")
    late = seconds > 60
    print(f"{'command':<34} {'seconds':>8} {'peak MiB':>9} {'beside the input':>17}")
    print(f"{'verify (default)':<34} {seconds:8.1f} {kib / 1024:9.0f}")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "input.npy")
        seconds, kib = run(foldproof, "gen", "normal", "--n", str(n), "-o", path)
        print(f"{'gen normal':<34} {seconds:8.1f} {kib / 1024:9.0f}")
        commands = {
            "oracle": ["oracle", path],
            "verify exact and sequential": ["verify", "--npy", path, "--subjects", "host/exact,host/sequential"],
            "verify rows/* and flat/*": ["verify", "--npy", path, "--subjects", "rows/*,flat/*", "--engine", "host"],
        }
        for name, arguments in commands.items():
            seconds, kib = run(foldproof, *arguments)
            beside = kib / 1024 - 4 * n / 2**20
            fat = fat or beside > 64
            print(f"{name:<34} {seconds:8.1f} {kib / 1024:9.0f} {beside:17.1f}")
    sys.exit(1 if late or fat else 0)


main()
