#!/usr/bin/env python3
"""foldproof compare --claim: gpu_to_gpu and run_to_run, judged from records that are made here, and from the measured ones.

test_gpu_to_gpu.py FOLDPROOF MEASURED_FOLDER.
"""
import gzip
import json
import pathlib
import re
import subprocess
import sys
import tempfile

from sealed import close

FOLDPROOF, MEASURED = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
failures = []


def expect(true, what):
    if not true:
        failures.append(what)


def environment(gpu):
    line = {"schema": 1, "type": "environment", "foldproof": "0.1.0", "system": "a test"}
    return {**line, "gpus": [{"name": gpu, "arch": "sm_90"}]} if gpu else line


ONE, OTHER = "0x3f800000", "0x3f800001"
HASH = {ONE: "0x5b0d13ae2d0bbde4", OTHER: "0x4e6c81dd3e27ef49"}  # as `foldproof record` writes them


def of(bits):
    """The result of one row, and its hash."""
    return {"results": [bits], "results_xxh3": HASH[bits]}


def judgement(subject, claim, bits=ONE, op="sum", case="a/f32/sum/1x2/seed1", **more):
    """A verdict's record."""
    return {"schema": 1, "type": "judgement", "subject": subject, "engine": "cuda", "claim": claim, "promised": True,
            "case": case, "dtype": "f32", "op": op, "rows": 1, "cols": 2, "input_xxh3": "0x0000000000000001",
            "verdict": "held", **of(bits), **more}


class Folder:
    def __init__(self, path):
        self.path = path

    def write(self, name, gpu, *records):
        lines = [environment(gpu), *records]
        (self.path / name).write_text("".join(json.dumps(line) + "\n" for line in lines))

    def run(self, *words):
        done = subprocess.run([FOLDPROOF, *words], capture_output=True, text=True, cwd=self.path, check=False)
        return done.returncode, done.stdout + done.stderr

    def compare(self, claim, *words):
        return self.run("compare", "--claim", claim, "a.jsonl", "b.jsonl", *words)


def check(folder, name, claim, code, *says, gpus=("NVIDIA A", "NVIDIA B"), a=(), b=()):
    folder.write("a.jsonl", gpus[0], *a)
    folder.write("b.jsonl", gpus[1], *b)
    got, text = folder.compare(claim, "--jsonl", "v.jsonl")
    expect(got == code, f"{name}: exit code {got}, want {code}: {text}")
    for words in says:
        expect(words in text, f"{name}: no '{words}' in: {text}")


def check_gpu_to_gpu(folder):
    ordered, exact = judgement("rows/par_256", "replays"), judgement("flat/exact", "correctly_rounded")
    word = judgement("cub/reduce_gpu_to_gpu", "run_to_run", any_gpu=True, peer=True)
    check(folder, "the same", "gpu_to_gpu", 0, "3 held, 0 refuted; 0 only in", a=[ordered, exact, word], b=[ordered, exact, word])
    for name, other in (("an order", judgement("rows/par_256", "replays", OTHER)),
                        ("an exact sum", judgement("flat/exact", "correctly_rounded", OTHER)),
                        ("its documentation", {**word, **of(OTHER)})):
        check(folder, name, "gpu_to_gpu", 1, "2 held, 1 refuted", "violates gpu_to_gpu: a/f32/sum/1x2/seed1: 0x3f800000 on NVIDIA A, "
              "0x3f800001 on NVIDIA B", a=[ordered, exact, word],
              b=[other] + [r for r in (ordered, exact, word) if r["subject"] != other["subject"]])
    # The last one's record is a report's.
    code, text = folder.run("report", "--format", "junit", "v.jsonl")
    expect(code == 0 and 'failures="1"' in text and "gpu_to_gpu" in text, f"junit: {code}: {text}")
    # A promise may stand in one of the records, in any of a case's lines.
    before, late = judgement("rows/par_256", "writes_output", OTHER), judgement("rows/par_256", "replays", OTHER)
    check(folder, "a late promise", "gpu_to_gpu", 1, "0 held, 1 refuted", a=[judgement("rows/par_256", "writes_output")],
          b=[before, late])
    # Peers promise of max what they do not promise of sums; controls promise nothing.
    most, total = (judgement("cub/reduce", c, op=o, case=f"a/f32/{o}/1x2/seed1")
                   for c, o in (("correctly_rounded", "max"), ("run_to_run", "sum")))
    for record, code in ((most, 1), (total, 77), (judgement("flat/atomic", "writes_output"), 77)):
        other = {**record, **of(OTHER)}
        check(folder, record["subject"] + record["op"], "gpu_to_gpu", code, "not claimed" if code == 77 else "1 refuted",
              a=[record], b=[other])
    check(folder, "a record that contradicts itself", "gpu_to_gpu", 1, "0 held, 1 refuted", a=[ordered],
          b=[ordered, judgement("rows/par_256", "run_to_run", OTHER)])
    check(folder, "another result's hash", "gpu_to_gpu", 2, f"b.jsonl:2: rows/par_256 on cuda: {ordered['case']}: results_xxh3 is "
          f"{HASH[ONE]}, but its results have {HASH[OTHER]}", a=[ordered], b=[{**ordered, "results": [OTHER]}])
    check(folder, "other inputs", "gpu_to_gpu", 77, "0 held, 0 refuted; 1 only in a.jsonl, 1 only in b.jsonl", a=[ordered],
          b=[{**ordered, "input_xxh3": "0x0000000000000002"}])
    check(folder, "hosts", "gpu_to_gpu", 77, "0 held", a=[{**ordered, "engine": "host"}], b=[{**ordered, "engine": "host"}])


def check_models(folder):
    one = ("NVIDIA A", "NVIDIA A")
    record = judgement("cub/reduce", "run_to_run")
    check(folder, "one model", "gpu_to_gpu", 77, "both records are of NVIDIA A", gpus=one, a=[record], b=[record])
    check(folder, "two models", "run_to_run", 77, "NVIDIA A and NVIDIA B", a=[record], b=[record])
    check(folder, "no GPU", "gpu_to_gpu", 2, "b.jsonl: its environment has no GPU", gpus=("NVIDIA A", None), a=[record], b=[record])
    check(folder, "hosts", "run_to_run", 2, "has no GPU, and run_to_run is judged only of GPUs: compare runs on hosts without --claim", gpus=(None, None), a=[record], b=[record])
    check(folder, "the next job", "run_to_run", 0, "1 held, 0 refuted", gpus=one, a=[record], b=[record])
    check(folder, "another job's bits", "run_to_run", 1, "0 held, 1 refuted", gpus=one, a=[record],
          b=[judgement("cub/reduce", "run_to_run", OTHER)])
    # foldproof names what differs between both environments as without --claim, and not what only one has.
    folder.write("a.jsonl", "NVIDIA A", record)
    for name, cores in (("a", 1), ("b", 2)):
        told = {**environment("NVIDIA A"), "cores": cores, "gpus": [{"name": "NVIDIA A", "driver": f"{cores}.0"}], name: "only here"}
        (folder.path / f"{name}.jsonl").write_text(json.dumps(told) + "\n" + json.dumps(record) + "\n")
    text = folder.compare("run_to_run")[1]
    expect("\n  gpu driver: 1.0, then 2.0\n  cores: 1, then 2\nsubject" in text, f"environments: {text}")
    # A record that was cut holds nothing of what it lacks.
    announced = {**environment("NVIDIA A"), "closing_line": True}
    (folder.path / "b.jsonl").write_text(json.dumps(announced) + "\n" + json.dumps(record) + "\n")
    folder.write("a.jsonl", "NVIDIA A", record)
    for words, want in (((), 99), (("--subset",), 0)):
        code, text = folder.compare("run_to_run", *words)
        expect(code == want and "INCOMPLETE: b.jsonl" in text and "1 held" in text, f"cut, {words}: {code}: {text}")
    for words in (("--claim", "nosuch", "a.jsonl", "b.jsonl"), ("--jsonl", "v.jsonl", "a.jsonl", "b.jsonl")):
        expect(folder.run("compare", *words)[0] == 2, f"{words} is no wrong usage")


def write_measured(folder, name, gpu, first, records):
    """A run of its own: what follows are chosen lines."""
    environment = close([first.replace("NVIDIA H200", gpu).encode()]).decode().splitlines()
    (folder.path / name).write_text("\n".join([*environment, *records]) + "\n")


def check_measured(folder):
    """A whole record against itself on another model: all of it is held, and one other bit is seen among a subject's."""
    telling = ('"environment"', '"claim":"replays"', '"claim":"correctly_rounded"')
    with gzip.open(MEASURED / "h200" / "verify.jsonl.gz", "rt") as records:
        first, *lines = [line.rstrip("\n") for line in records if any(word in line for word in telling)]
    write_measured(folder, "a.jsonl", "NVIDIA H200", first, lines)
    write_measured(folder, "b.jsonl", "NVIDIA H100", first, lines)
    code, text = folder.compare("gpu_to_gpu")
    expect(code == 0 and " held, 0 refuted; 0 only in" in text and int(text.splitlines()[-1].split()[0]) > 25000, f"measured: exit code {code}: {text[-300:]}")
    lines = [line for line in lines if '"subject":"rows/par_64"' in line]
    at = next(i for i, line in enumerate(lines) if '"results_xxh3":"0x' in line)
    record = json.loads(lines[at])
    del record["results"]  # of one row they would contradict the hash
    write_measured(folder, "a.jsonl", "NVIDIA H200", first, lines)
    write_measured(folder, "b.jsonl", "NVIDIA H100", first, [*lines[:at], json.dumps({**record, "results_xxh3": "0x0123456789abcdef"}), *lines[at + 1:]])
    code, text = folder.compare("gpu_to_gpu")
    held = re.search(r"(\d+) held, 1 refuted", text)
    expect(code == 1 and held and int(held[1]) > 100, f"one other result: exit code {code}: {text[-300:]}")


with tempfile.TemporaryDirectory() as name:
    check_gpu_to_gpu(Folder(pathlib.Path(name)))
    check_models(Folder(pathlib.Path(name)))
    check_measured(Folder(pathlib.Path(name)))
for failure in failures:
    print(failure)
print(f"{len(failures)} failures")
sys.exit(1 if failures else 0)
