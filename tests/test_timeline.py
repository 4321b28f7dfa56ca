#!/usr/bin/env python3
"""ci/timeline-gpu.sh and the table that it makes, without a GPU: a program that answers as nsys does hands out its CSV.

test_timeline.py CI_FOLDER. The CSV has the form of nsys 2025's report cuda_gpu_kern_sum, the figures are made up.
"""
import csv
import os
import pathlib
import subprocess
import sys
import tempfile

CI = pathlib.Path(sys.argv[1]).resolve()

FOLDPROOF = """#!/bin/sh
case $1 in
  list) printf 'host/exact     host  x\\nrows/par_16    cuda  x\\nrows/par_256   cuda  x\\ncub/segmented  cuda  x\\n' ;;
  env) printf 'system               a machine\\n' ;;
  bench)
    while [ $# -gt 1 ]; do
      case $1 in --subjects) subject=$2 ;; --jsonl) out=$2 ;; esac
      shift
    done
    [ "${BENCH_CODE:-0}" = 0 ] || { echo "foldproof bench: no GPU here: for a test" >&2; exit "$BENCH_CODE"; }
    [ -n "${RECORD:-}" ] || RECORD='{"type":"timing","median_seconds":1}'
    [ -z "$out" ] || [ "$subject" = "${CRASHES:-}" ] || echo "$RECORD" >"$out"
    [ "$subject" != "${CRASHES:-}" ] ;;
esac
"""
# `profile` runs the command behind its options and writes a timeline; `stats` prints the report of it.
NSYS = """#!/bin/sh
[ "$1" != --version ] || { echo 'NVIDIA Nsight Systems version 2025.3.2.474-253236389321v0'; exit 0; }
if [ "$1" = stats ]; then
  for file; do :; done
  case $file in */rows_par_16.nsys-rep) cat "$STAGE/par_16.csv" ;; *) cat "$STAGE/other.csv" ;; esac
  exit 0
fi
for word; do case $word in --output=*) base=${word#--output=} ;; esac; done
shift
while :; do case $1 in -*) shift ;; *) break ;; esac; done
"$@" || exit $?
if [ -n "${MUTE:-}" ]; then echo 'cannot write the report'; else echo timeline >"$base.nsys-rep"; fi
"""
HEAD = '"Time (%)","Total Time (ns)","Instances","Avg (ns)","Med (ns)","Min (ns)","Max (ns)","StdDev (ns)","Name"'.replace('"', "")
PAR_16 = f"""Generating SQLite file par_16.sqlite from par_16.nsys-rep
Processing [par_16.sqlite] with [reports/cuda_gpu_kern_sum.py]...

{HEAD}
90.0,9000000,400,22500.0,22000.0,20000,30000,10.5,"void read_kernel<(int)4>(const uint4 *, unsigned long)"
8.0,3000000,100,30000.0,29999.5,29000,31000,146.3,"void rows<(int)2, (int)0>(float *, float *)"
2.0,1000,1,1000.0,1000.0,1000,1000,,"void join(float *)"

"""
OTHER = f"""{HEAD}
100.0,1000000,100,10000.0,10000.0,9000,11000,76.0,"void rows<(int)2, (int)0>(float *, float *)"
"""

failures = []


def expect(true, what):
    if not true:
        failures.append(what)


class Stage:
    """A folder with a foldproof and an nsys that play."""

    def __init__(self, folder):
        self.folder = folder
        for name, text in (("build/foldproof", FOLDPROOF), ("nsys", NSYS), ("par_16.csv", PAR_16), ("other.csv", OTHER)):
            path = folder / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
            path.chmod(0o755)

    def run(self, name, **variables):
        environment = {**os.environ, "NSYS": str(self.folder / "nsys"), "STAGE": str(self.folder), "FOLDPROOF_REQUIRE_GPUS": "0",
                       **variables}
        done = subprocess.run([CI / "timeline-gpu.sh", self.folder / name, self.folder / "build"], env=environment,
                              capture_output=True, text=True, check=False)
        return done.returncode, done.stdout, done.stderr


def check_table(stage):
    code, out, err = stage.run("whole")
    expect(code == 0, f"whole: {code}: {out}{err}")
    with (stage.folder / "whole" / "timeline.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    # Of 4,001,000 ns in all: the harness's reads do not count.
    want = [("75.0", "3000000", "100", "30000.0", "29999.5", "29000.0", "31000.0", "146.3", "rows/par_16"),
            ("25.0", "1000000", "100", "10000.0", "10000.0", "9000.0", "11000.0", "76.0", "rows/par_256"),
            ("0.0", "1000", "1", "1000.0", "1000.0", "1000.0", "1000.0", "-", "rows/par_16")]
    expect([tuple(row.values())[:9] for row in rows] == want, f"whole: {rows}")
    expect("read_kernel" not in out and "join(float *)" in out and "Nsight Systems       2025.3.2.474" in out, f"whole: {out}")
    expect("3,000,000" in out and (stage.folder / "whole" / "timeline.txt").read_text() == out, f"whole: {out}")
    expect((stage.folder / "whole" / "raw" / "rows_par_16.nsys-rep").exists(), "whole: no timeline is kept")
    code, out, _ = stage.run("chosen", SUBJECTS="cub/*")
    expect(code == 0 and "cub/segmented" in out and "rows/par_16" not in out, f"chosen: {code}: {out}")


def check_failures(stage):
    for name, variables, want, words in (
            ("none", {"NSYS": "/nonexistent/nsys"}, 77, "no Nsight Systems"),
            ("mute", {"MUTE": "yes"}, 77, "nsys wrote no timeline: cannot write the report"),
            ("gpu", {"BENCH_CODE": "77"}, 77, "no GPU here: for a test"),
            ("required", {"BENCH_CODE": "99", "FOLDPROOF_REQUIRE_GPUS": "1"}, 99, "no GPU here"),
            ("unknown", {"SUBJECTS": "nosuch/*"}, 2, "nosuch"),
            ("bad", {"FOLDPROOF_REQUIRE_GPUS": "yes"}, 2, "yes"),
            ("crashes", {"CRASHES": "rows/par_256"}, 99, "rows/par_256: no kernels: exit code 1")):
        code, out, err = stage.run(name, **variables)
        expect(code == want and words in out + err, f"{name}: exit code {code}, want {want}: {out}{err}")
    # Of a subject that this build cannot run, the record says why.
    (stage.folder / "other.csv").write_text("SKIPPED: no kernel data\n")
    code, out, err = stage.run("skip", RECORD='{"type":"timing","note":"needs CCCL 3.1"}')
    expect(code == 0 and "rows/par_256: skipped: needs CCCL 3.1" in out, f"skip: {code}: {out}{err}")


with tempfile.TemporaryDirectory() as room:
    played = Stage(pathlib.Path(room))
    check_table(played)
    check_failures(played)
for failure in failures:
    print(failure)
print(f"{len(failures)} failures")
sys.exit(1 if failures else 0)
