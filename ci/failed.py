#!/usr/bin/env python3
"""What failed in the last `meson test` of a build folder: of each test of each red suite its assertions, with their file and line.

failed.py BUILD

Meson prints the names alone of what fails in a suite that speaks TAP; its other suites' output it prints itself."""
import json
import pathlib
import sys


def failures(tap):
    """The lines that say "not ok", each with the block below it."""
    inside = False
    for line in tap.splitlines():
        if line.startswith(("ok", "not ok")):
            inside = line.startswith("not ok")
        if inside and not line.startswith("#") and line.strip() not in ("---", "..."):
            yield line


def main():
    log = pathlib.Path(sys.argv[1]) / "meson-logs" / "testlog.json"
    for result in map(json.loads, log.read_text().splitlines() if log.exists() else ()):
        lines = list(failures(result.get("stdout", ""))) if result["result"] not in ("OK", "SKIP", "EXPECTEDFAIL") else []
        if lines:
            print(f"\n{result['name']}: what failed", *lines, sep="\n")


main()
