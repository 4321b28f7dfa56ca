#!/usr/bin/env python3
"""Runs each suite of a build many times, one suite at a time, and counts failures: no verdict may depend on how busy a machine is.

repeat.py [--busy] [--build DIR] N [SUITE...]: prints a line a suite; exits 1 where one was red, or did not run. --busy keeps two
cores busy beside it. What a red run printed is kept in DIR/repeat/.
"""
import argparse
import json
import pathlib
import signal
import subprocess
import sys


def names(build):
    tests = subprocess.run(["meson", "introspect", "--tests", build], capture_output=True, text=True, check=True).stdout
    return [test["name"] for test in json.loads(tests)]


def repeat(build, suite, n):
    """The records of n runs. Meson itself stops at the first failure."""
    runs, log = [], build / "meson-logs" / "repeat.json"
    while len(runs) < n:
        log.unlink(missing_ok=True)
        subprocess.run(["meson", "test", "-C", build, "--no-rebuild", "--logbase", "repeat", "--num-processes", "1",
                        "--repeat", str(n - len(runs)), suite], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        more = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
        if not more:
            break
        runs += more
    return runs


def keep(build, suite, red):
    for k, run in enumerate(red):
        text = "".join(run.get(stream) or "" for stream in ("stdout", "stderr"))
        path = build / "repeat" / f"{suite}.{k + 1}.log"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"{run['result']} after {run['duration']:.1f} s\n{text}")


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--busy", action="store_true")
    parser.add_argument("--build", type=pathlib.Path, default="build")
    parser.add_argument("n", type=int)
    parser.add_argument("suites", nargs="*")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2 if options.busy else 0)]
    bad = False
    try:
        print(f"{'suite':30} {'runs':>5} {'red':>5} {'skipped':>8} {'seconds, most':>14}")
        for suite in options.suites or names(options.build):
            runs = repeat(options.build, suite, options.n)
            red = [run for run in runs if run["result"] not in ("OK", "EXPECTEDFAIL", "SKIP")]
            skipped = sum(run["result"] == "SKIP" for run in runs)
            most = max((run["duration"] for run in runs), default=0)
            print(f"{suite:30} {len(runs):5} {len(red):5} {skipped:8} {most:14.1f}", flush=True)
            keep(options.build, suite, red)
            bad = bad or bool(red) or len(runs) < options.n
    finally:
        for loop in loops:
            loop.kill()
    sys.exit(bad)


if __name__ == "__main__":
    main()
