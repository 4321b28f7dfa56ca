"""The worst errors that are published: each input is judged again, and the subject's error is the same part of its bound.

test_worst.py REPOSITORY FOLDPROOF [MACHINE]: of the inputs that were found on MACHINE (host or h200), by the engine that such a machine has.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT, FOLDPROOF, MACHINE = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else "host"
ENGINE, INPUTS = {"host": ("host", 37), "h200": ("cuda", 49)}[MACHINE]
# Other versions of these may be found here, or none.
PEERS = ("blas/", "cublas/", "cub/", "thrust/", "cutlass/")
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "ci"))
import docs_measured  # noqa: E402  the table of docs/measured.md


def judged():
    """The records of all subjects on all these cases."""
    with tempfile.TemporaryDirectory() as folder:
        records = pathlib.Path(folder) / "verify.jsonl"
        run = subprocess.run([FOLDPROOF, "verify", "--engine", ENGINE, "--fixture-folder", docs_measured.MEASURED / MACHINE, "--fixtures", "found-*", "--claims",
                              "bounded,compensated", "--jsonl", records], capture_output=True, text=True, timeout=300)
        if run.returncode == 77:
            sys.exit(print(run.stderr) or 77)
        assert run.returncode == 0, (run.returncode, run.stdout, run.stderr)
        return [record for record in map(json.loads, records.read_text().splitlines()) if record["type"] == "judgement"]


WORST = {(case.name, subject): share for case, subject, share in docs_measured.worst_cases(MACHINE)}
assert len(WORST) == INPUTS, len(WORST)
seen = {}
for record in judged():
    name, subject = record["case"].split("/")[0], record["subject"]
    share = record.get("bound_fraction", 0)
    assert record["verdict"] != "refuted" and share <= 1, record
    if (name, subject) in WORST:
        seen[name, subject] = max(share, seen.get((name, subject), 0))
for key, text in WORST.items():
    if key[1].startswith(PEERS):
        continue
    assert key in seen, f"{key} was not judged"
    assert f"{seen[key]:.4g}" == text, f"{key}: {seen[key]:.17g} of the bound, not {text}"
