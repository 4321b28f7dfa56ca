#!/usr/bin/env python3
"""ci/profile-gpu.sh and the table that it makes, without a GPU: a captured run of Nsight Compute stands for one.

test_profile.py CI_FOLDER CAPTURED_FOLDER. The captured CSVs are of an H200 (ncu 2025.3.1), columns about the machine
left out. A program that answers as foldproof does and one that hands out the captured CSVs drive the script itself.
"""
import csv
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

CI, CAPTURED = (pathlib.Path(word).resolve() for word in sys.argv[1:3])

FOLDPROOF = """#!/bin/sh
case $1 in
  list) printf 'host/exact             host  x on cuda\\nthrust/reduce          cuda  x\\nflat/exact             cuda  x\\ncub/reduce_gpu_to_gpu  cuda  x\\n' ;;
  env) printf 'system               a machine\\n' ;;
  record)
    shift
    while [ $# -gt 1 ]; do
      case $1 in --subjects) subject=$2 ;; --jsonl) out=$2 ;; esac
      shift
    done
    echo "$PROBE_LINE" >"$out"
    exit "${PROBE_CODE:-0}" ;;
esac
"""
NCU = """#!/bin/sh
[ "$1" != --version ] || { echo 'Version 2025.3.1.0 (build 1)'; exit 0; }
while [ "$1" != record ]; do
  [ "$1" != --log-file ] || log=$2
  shift
done
name=$(basename "$log" .csv)
if [ "$name" = "${CLOSED:-}" ]; then
  echo '==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance Counters' >"$log"
  exit 1
fi
[ "$name" != "${EMPTY:-}" ] || { echo '==PROF== Disconnected' >"$log"; exit 0; }
cp "$CAPTURED/$name.csv" "$log"
[ ! -e "$CAPTURED/$name.jsonl" ] || { cp "$CAPTURED/$name.jsonl" "$(dirname "$log")"; exit 77; }
"""


def program(path, text):
    path.write_text(text)
    path.chmod(0o755)
    return path


class Stage:
    """A folder with a foldproof and an ncu that play a captured run."""

    def __init__(self, folder):
        self.folder = folder
        (folder / "build").mkdir()
        program(folder / "build" / "foldproof", FOLDPROOF)
        self.ncu = program(folder / "ncu", NCU)

    def run(self, name, **variables):
        environment = {**os.environ, "NCU": str(self.ncu), "CAPTURED": str(CAPTURED), "FOLDPROOF_REQUIRE_GPUS": "0",
                       **variables}
        done = subprocess.run([CI / "profile-gpu.sh", self.folder / name, self.folder / "build"], env=environment,
                              capture_output=True, text=True, check=False)
        return done.returncode, done.stdout, done.stderr


failures = []


def expect(true, what):
    if not true:
        failures.append(what)


def table_of(text):
    """The table's rows as lists; columns are two blanks or more apart."""
    lines = text.split("\n\n")[1].splitlines()
    return [re.split(r"\s{2,}", line.strip()) for line in lines], lines


def check_table(stage):
    code, out, err = stage.run("whole")
    expect(code == 0, f"whole: exit code {code}: {err}")
    rows, lines = table_of(out)
    expect(len(rows) == 5 and all(len(row) == len(rows[0]) for row in rows), f"whole: {rows}")
    # From the captured file: 91136 ns, 400030208 bytes read and 2241280 written; 139.58 of 156.32 cycles waiting for memory.
    speed = f"{(400030208 + 2241280) / 91136:.1f}"
    want = [["thrust/reduce", "flat", "DeviceReduceKernel", "91.14", speed, "91.8", "9.4", "96.6", "100.0", "32", "1068",
             "5280 x 256", f"long_scoreboard {100 * 139.58 / 156.32:.0f}, barrier {100 * 10.87 / 156.32:.0f}"],
            ["thrust/reduce", "flat", "DeviceReduceSingleTileKernel", "3.71"],
            ["thrust/reduce", "flat", "store_kernel", "1.66"],
            ["flat/exact", "flat", "exact_block_kernel", "97.41"]]
    for row, cells in zip(rows[1:], want):
        expect(row[:len(cells)] == cells, f"whole: {row[:len(cells)]}, want {cells}")
    # Numbers end where their heading ends, words begin where it begins.
    for heading, right in (("us", True), ("GB/s", True), ("regs", True), ("kernel", False), ("waits for", False)):
        at = lines[0].index(f" {heading}") + 1 + (len(heading) if right else 0)
        for line in lines[1:]:
            expect(line[at - 1] != " " and line[at:at + 1] in ("", " ") if right else line[at - 1] == " " != line[at],
                   f"whole: '{heading}' is not in line: {line}")
    expect("cub/reduce_gpu_to_gpu on flat: skipped: cub::DeviceReduce gpu_to_gpu: needs CCCL 3.1" in out, "no skip reason")
    with (stage.folder / "whole" / "profile.csv").open(newline="") as file:
        measured = list(csv.DictReader(file))
    expect([row["subject"] for row in measured] == [row[0] for row in rows[1:]], "whole: profile.csv's subjects")
    expect(measured[0]["dram__bytes_read.sum"] == "400030208", "whole: profile.csv's figures")
    expect((stage.folder / "whole" / "profile.txt").read_text() == out, "whole: profile.txt is not what was printed")


def check_failures(stage):
    code, out, _ = stage.run("empty", EMPTY="thrust_reduce_flat")
    expect(code == 99 and "thrust/reduce on flat: not profiled: exit code 0, 0 kernels" in out, f"empty: {code}: {out}")
    code, _, err = stage.run("closed", CLOSED="flat_exact_flat")
    expect(code == 77 and "counters are closed" in err, f"closed: {code}: {err}")
    code, _, err = stage.run("none", NCU="/nonexistent/ncu")
    expect(code == 77 and "no Nsight Compute" in err, f"no ncu: {code}: {err}")
    reason = '{"verdict":"skipped","reason":"no GPU here: for a test"}'
    code, _, err = stage.run("gpu", PROBE_CODE="77", PROBE_LINE=reason)
    expect(code == 77 and "no GPU here: for a test" in err, f"no GPU: {code}: {err}")
    code, _, err = stage.run("required", PROBE_CODE="99", PROBE_LINE=reason)
    expect(code == 99, f"a GPU is required: {code}: {err}")
    code, _, err = stage.run("unknown", SUBJECTS="nosuch/*")
    expect(code == 2 and "nosuch" in err, f"unknown subject: {code}: {err}")


def check_missing_figures(stage):
    """A metric that a chip lacks is a dash, and the rest stays."""
    other = stage.folder / "captured"
    shutil.copytree(CAPTURED, other)
    text = (other / "flat_exact_flat.csv").read_text()
    (other / "flat_exact_flat.csv").write_text(text.replace("dram__bytes_read.sum", "dram__gone").replace('"97408"', '"n/a"'))
    code, out, err = stage.run("gaps", CAPTURED=str(other), SUBJECTS="flat/*")
    expect(code == 0 and table_of(out)[0][1][3:5] == ["-", "-"], f"gaps: {code}: {out}{err}")


with tempfile.TemporaryDirectory() as name:
    stage = Stage(pathlib.Path(name))
    check_table(stage)
    check_failures(stage)
    check_missing_figures(stage)
for failure in failures:
    print(failure)
print(f"{len(failures)} failures")
sys.exit(1 if failures else 0)
