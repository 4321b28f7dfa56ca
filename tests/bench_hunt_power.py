"""How soon a hunt finds each fault of guests/hunt_faults_*.c, on two cores, in at most a minute.

bench_hunt_power.py FOLDPROOF HUNT_FAULTS.so [KEPT [SEED]]: hunts each fault with seed SEED (default: 1) by two processes, as many faults at once as the
    cores allow, and prints a line of JSON for each: the refuted claim, the seconds until it was made small, the CPU seconds, the cases, what is left of
    the input. Fails where a fault is missed, or where CPU seconds or cases have become twice those of the file KEPT, in the geometric mean
    over the faults that it has.
"""
import concurrent.futures
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True

FOLDPROOF, FAULTS = map(os.path.abspath, sys.argv[1:3])
KEPT, SEED = sys.argv[3] if len(sys.argv) > 3 else None, sys.argv[4] if len(sys.argv) > 4 else "1"
PROCESSES, SECONDS, WORSE = 2, 60, 2


def find(folder, fault):
    words = [FOLDPROOF, "hunt", "--guest", FAULTS, f"hunt/{fault}", "--first", "--seed", SEED, "--time", f"{SECONDS}s", "--jobs", str(PROCESSES)]
    start = time.monotonic()
    with open(folder / f"{fault}.txt", "w+") as out:
        process = subprocess.Popen(words, cwd=folder, stdout=out, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        text = re.sub(r"\n {4,}", " ", out.read())  # lines that end in the middle of a sentence go on
    claim, cases, left = (re.search(what, text, re.M) for what in (r"violates (\w+)", r"^([\d,]+) cases", r"in [\d,]+ runs: (.*)"))
    return {"fault": fault, "seed": SEED, "claim": claim[1] if claim else None, "seconds": round(time.monotonic() - start, 1),
            "cpu": round(usage.ru_utime + usage.ru_stime, 1), "cases": int(cases[1].replace(",", "")) if cases else 0, "left": left[1] if left else None,
            "code": process.returncode}


def mean(lines, field):
    return math.exp(sum(math.log(max(line[field], 0.1)) for line in lines) / len(lines))


def main():
    listed = subprocess.run([FOLDPROOF, "list", "subjects", "--guest", FAULTS], capture_output=True, text=True, check=True).stdout
    lines = []
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(max(1, len(os.sched_getaffinity(0)) // PROCESSES)) as pool:
        for done in concurrent.futures.as_completed(pool.submit(find, pathlib.Path(folder), fault) for fault in re.findall(r"^hunt/(\S+) ", listed, re.M)):
            lines.append(done.result())
            print(json.dumps(lines[-1]), flush=True)
    missed = sorted(line["fault"] for line in lines if not line["claim"])
    before = [json.loads(line) for line in open(KEPT)] if KEPT else lines
    both = {line["fault"] for line in lines} & {line["fault"] for line in before}
    more = {field: mean([line for line in lines if line["fault"] in both], field) / mean([line for line in before if line["fault"] in both], field) for field in ("cpu", "cases")}
    print(f"{len(lines) - len(missed)} of {len(lines)} faults found; geometric means: {mean(lines, 'cpu'):.1f} CPU seconds, {more['cpu']:.2f} times the kept ones, "
          f"{mean(lines, 'cases'):.0f} cases, {more['cases']:.2f} times; missed: {', '.join(missed) or 'none'}", file=sys.stderr)
    return bool(missed) or max(more.values()) > WORSE


if __name__ == "__main__":
    sys.exit(main())
