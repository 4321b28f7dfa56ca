#!/usr/bin/env python3
"""The workflow for a GPU runner, as far as that can be told without one: what a parser and a shell make of it.

test_workflow.py SOURCE_FOLDER FOLDPROOF. Its report step runs for real, on records that are made here.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

try:
    import yaml
except ImportError:
    print("skipped: no PyYAML here")
    sys.exit(77)

SOURCE, FOLDPROOF = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
failures = []


def expect(true, what):
    if not true:
        failures.append(what)


def check_steps(job):
    runs = [step["run"] for step in job["steps"] if "run" in step]
    expect(all(("run" in step) != ("uses" in step) for step in job["steps"]), "a step runs and uses, or neither")
    for text in runs:
        shell = subprocess.run(["bash", "-n"], input=text, text=True, capture_output=True, check=False)
        expect(shell.returncode == 0, f"no shell script: {shell.stderr}")
        for script in re.findall(r"\bci/[a-z-]+\.sh", text):
            expect(os.access(SOURCE / script, os.X_OK), f"{script} cannot be run")
    called = " ".join(runs)
    for script in ("ci/gpu.sh out", "ci/sanitize-gpu.sh build-gpu", "ci/profile-gpu.sh out/profile build-gpu",
                   "ci/timeline-gpu.sh out/timeline build-gpu",
                   "ci/compare-last.sh out last build-gpu", "ci/report.sh out build-gpu"):
        expect(script in called, f"{script} is not called")
    # Whatever failed before: the report and the artifacts come all the same.
    for step in job["steps"]:
        late = "report.sh" in step.get("run", "") or "upload-artifact" in step.get("uses", "")
        expect(not late or re.search(r"always\(\)|!cancelled\(\)", step.get("if", "")), f"not after a failure: {step}")
    upload = [step for step in job["steps"] if "upload-artifact" in step.get("uses", "")]
    expect(len(upload) == 1 and upload[0]["with"]["path"] == "out", "the folder of records is not kept")


def check_workflow():
    flow = yaml.safe_load((SOURCE / "ci" / "workflows" / "gpu.yml").read_text())
    job = flow["jobs"]["gpu"]
    # YAML 1.1 reads the key `on` as a truth value; GitHub does not.
    expect({"push", "pull_request", "workflow_dispatch"} <= set(flow.get("on", flow.get(True))), "events")
    expect("self-hosted" in job["runs-on"], "not for a self-hosted runner")
    expect(int(job["env"]["FOLDPROOF_REQUIRE_GPUS"]) >= 1, "a missing GPU would be a skip")
    expect("head.repo.full_name == github.repository" in job["if"], "a fork's code runs on the runner")
    check_steps(job)


def report(folder, build, **variables):
    return subprocess.run([SOURCE / "ci" / "report.sh", folder, build], env={**os.environ, **variables}, check=False,
                          capture_output=True, text=True)


def check_report(folder):
    build, out, step = folder / "build", folder / "out", folder / "step.md"
    for made in (build, out):
        made.mkdir()
    step.write_text("before\n")
    done = report(out, build, GITHUB_STEP_SUMMARY=str(step))
    expect(done.returncode == 0 and "nothing was judged" in step.read_text(), f"no records: {done.stderr}")
    subprocess.run([FOLDPROOF, "verify", "--subjects", "host/sequential", "--fixture-folder", SOURCE / "fixtures",
                    "--fixtures", "normal/f32/sum/1x33/seed1", "--jsonl", out / "verify.jsonl"], check=True,
                   capture_output=True)
    done = report(out, build, GITHUB_STEP_SUMMARY=str(step))
    expect(done.returncode == 99 and "was not built" in step.read_text(), f"no foldproof: {done.returncode}")
    (build / "foldproof").symlink_to(FOLDPROOF)
    step.write_text("before\n")
    done = report(out, build, GITHUB_STEP_SUMMARY=str(step))
    expect(done.returncode == 0, f"report: {done.stderr}")
    text = step.read_text()
    expect(text.startswith("before\n## foldproof: ") and "0 refuted" in text and "host/sequential" in text, text)
    expect((out / "report.html").read_text().startswith("<!DOCTYPE html>"), "report.html")
    cases = xml.etree.ElementTree.parse(out / "junit.xml").getroot().iter("testcase")
    expect(any("host/sequential" in str(case.attrib) for case in cases), "junit.xml")
    (out / "broken.jsonl").write_text("no record\n")
    expect(report(out, build).returncode != 0, "a file that holds no record goes by unseen")


def record(subject, bits, gpu="NVIDIA A"):
    """An environment and one result that promises its bits in every run."""
    line = {"schema": 1, "type": "judgement", "subject": subject, "engine": "nccl", "claim": "run_to_run", "promised": True,
            "case": "a/f32/sum/1x2/seed1", "dtype": "f32", "op": "sum", "rows": 1, "cols": 2, "input_xxh3": "0x01",
            "verdict": "held", "results_xxh3": bits}
    environment = {"schema": 1, "type": "environment", "system": "a test", "gpus": [{"name": gpu, "driver": bits}]}
    return json.dumps(environment) + "\n" + json.dumps(line) + "\n"


def check_compare_last(folder):
    """The next job's bits against the last one's: the same, others, none, and of another machine; the report shows them."""
    build, out, last = folder / "build", folder / "out", folder / "last"
    for made in (build, out):
        made.mkdir()
    (build / "foldproof").symlink_to(FOLDPROOF)

    def compare():
        done = subprocess.run([SOURCE / "ci" / "compare-last.sh", out, last, build], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr
    (out / "verify_nccl.jsonl").write_text(record("nccl/sum", "0x3f800000"))
    code, text = compare()
    expect(code == 77 and "nothing in common" in text, f"no last job: {code}: {text}")
    last.mkdir()
    for bits, gpu, want, words in (("0x3f800000", "NVIDIA A", 0, "1 held, 0 refuted"),
                                   ("0x3f800001", "NVIDIA A", 1, "driver: 0x3f800001, then 0x3f800000"),
                                   ("0x3f800000", "NVIDIA B", 77, "NVIDIA B and NVIDIA A")):
        (last / "verify_nccl.jsonl").write_text(record("nccl/sum", bits, gpu))
        code, text = compare()
        expect(code == want and words in text, f"the last job had {bits} on {gpu}: {code}: {text}")
        if want == 1:
            expect(report(out, build).returncode == 0, "no report")
            expect('failures="1"' in (out / "junit.xml").read_text(), "the report does not show different bits")
            summary = (out / "summary.md").read_text()
            expect("**Against the last job**" in summary and words in summary.split("**Against the last job**")[1], f"no change: {summary}")


def check_required(folder):
    """Scripts that ask for GPUs refuse what is no whole number, before they make or install anything."""
    ci, out = folder / "ci", folder / "out"
    ci.mkdir()
    for script in (SOURCE / "ci").glob("*.sh"):
        shutil.copy(script, ci)
    (ci / "setup.sh").write_text("#!/bin/sh\ntouch out\n")
    for name in ("gpu.sh", "bench-gpu.sh", "scaling-gpu.sh", "sanitize-gpu.sh", "profile-gpu.sh"):
        for value in ("yes", "", "-1", "1025", "1 -o 1"):
            done = subprocess.run([ci / name, out], env={**os.environ, "FOLDPROOF_REQUIRE_GPUS": value}, check=False,
                                  capture_output=True, text=True)
            expect(done.returncode == 2 and f"FOLDPROOF_REQUIRE_GPUS={value}: not a whole number" in done.stderr,
                   f"{name}, '{value}': exit code {done.returncode}: {done.stderr}")
            expect(not out.exists(), f"{name}, '{value}' wrote something")
    # With none required what is missing is a skip; with one it is not.
    (out / "foldproof").parent.mkdir()
    (out / "foldproof").write_text("#!/bin/sh\nexit 77\n")
    (out / "foldproof").chmod(0o755)
    for value, code in ((None, 77), ("0", 77), ("00", 77), ("1", 99), ("08", 99)):
        environment = {key: text for key, text in os.environ.items() if key != "FOLDPROOF_REQUIRE_GPUS"}
        done = subprocess.run([ci / "sanitize-gpu.sh", out], check=False, capture_output=True, text=True,
                              env=environment if value is None else {**environment, "FOLDPROOF_REQUIRE_GPUS": value})
        expect(done.returncode == code, f"sanitize-gpu.sh, {value}: exit code {done.returncode}: {done.stderr}")


def check_commit(folder):
    """What a build says that it was made from: a commit, one that was changed since, or unknown without a checkout."""
    tree = folder / "tree"
    (tree / "ci").mkdir(parents=True)
    shutil.copy(SOURCE / "ci" / "commit.sh", tree / "ci")

    def git(where, *words):
        identity = ["-c", "user.name=t", "-c", "user.email=t@localhost", "-c", "commit.gpgsign=false"]
        done = subprocess.run(["git", "-C", where, *identity, *words], check=True, capture_output=True, text=True)
        return done.stdout.strip()

    def said():
        done = subprocess.run([tree / "ci" / "commit.sh"], check=True, capture_output=True, text=True,
                              env={**os.environ, "GIT_CEILING_DIRECTORIES": ""})
        return done.stdout.strip()

    expect(said() == "unknown", f"an archive: {said()}")
    git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "around")
    expect(said() == "unknown", f"an archive inside another's checkout: {said()}")
    git(tree, "init", "-q")
    git(tree, "add", ".")
    git(tree, "commit", "-q", "-m", "one")
    first = git(tree, "rev-parse", "--short=12", "HEAD")
    expect(said() == first, f"{said()}, not {first}")
    with (tree / "ci" / "commit.sh").open("a") as script:
        script.write("# changed\n")
    expect(said() == first + "+dirty", f"changed: {said()}")
    git(tree, "commit", "-q", "-a", "-m", "two")
    expect(said() not in ("unknown", first, first + "+dirty") and "+" not in said(), f"a second commit: {said()}")


check_workflow()
if shutil.which("git"):
    with tempfile.TemporaryDirectory() as name:
        check_commit(pathlib.Path(name))
with tempfile.TemporaryDirectory() as name:
    check_required(pathlib.Path(name))
with tempfile.TemporaryDirectory() as name:
    check_report(pathlib.Path(name))
with tempfile.TemporaryDirectory() as name:
    check_compare_last(pathlib.Path(name))
for failure in failures:
    print(failure)
print(f"{len(failures)} failures")
sys.exit(1 if failures else 0)
