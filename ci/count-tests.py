#!/usr/bin/env python3
"""Counts the Criterion tests that a build holds and those that its last `meson test` executed.

count-tests.py BUILD_DIR [SUITE]: prints "N passed, N failed, N skipped"; exits 1 where a test of the build (or of one
suite of it) did not run, or none did. A green run that ran nothing, or less than there is, is not green.
"""
import json
import pathlib
import re
import subprocess
import sys


def held(build, program):
    """How many tests a Criterion program holds: --list heads each suite with "name: N tests"."""
    listing = subprocess.run([program, "--list"], capture_output=True, text=True, cwd=build, check=True)
    return sum(int(n) for n in re.findall(r"^\S+: (\d+) tests?$", listing.stdout, re.M))


def programs(build, suite):
    """The names of the test programs that the build has, of one suite where one is named."""
    tests = json.loads(subprocess.run(["meson", "introspect", "--tests", str(build)], capture_output=True, text=True,
                                      check=True).stdout)
    return [test["name"] for test in tests if not suite or any(s.endswith(":" + suite) for s in test["suite"])]


def own_name(run):
    """Of a line of the log: "project:suite / name", or in newer Mesons "suite - project:name"."""
    return re.split(" / |:", run["name"])[-1]


def main():
    build, suite = pathlib.Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else None
    passed = failed = skipped = missing = 0
    runs = [json.loads(line) for line in (build / "meson-logs" / "testlog.json").read_text().splitlines()]
    for name in programs(build, suite):
        if not any(own_name(run) == name for run in runs):
            missing += 1
            print(f"{name}: did not run")
    for run in runs:
        output = run.get("stdout") or ""
        if not any(word == "--tap=-" for word in run["command"]):
            passed += run["result"] in ("OK", "EXPECTEDFAIL")
            skipped += run["result"] == "SKIP"
            failed += run["result"] not in ("OK", "EXPECTEDFAIL", "SKIP")
            continue
        program = [word for word in run["command"] if word != "--tap=-" and not word.startswith("-")][-1]
        lines = re.findall(r"^(ok|not ok)\b(.*)$", output, re.M)
        skips = sum("# SKIP" in rest for _, rest in lines)
        wrong = sum(verdict == "not ok" for verdict, _ in lines)
        skipped += skips
        failed += wrong
        passed += len(lines) - skips - wrong
        there = held(build, program)
        if len(lines) < there:
            missing += there - len(lines)
            print(f"{own_name(run)}: {len(lines)} of {there} tests ran")
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    sys.exit(1 if failed or missing or passed == 0 else 0)


if __name__ == "__main__":
    main()
