"""The worst errors that are published: each input is judged again, and the subject's error is the same part of its bound.

test_worst.py REPOSITORY FOLDPROOF
"""
import configparser
import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT, FOLDPROOF = pathlib.Path(sys.argv[1]), sys.argv[2]
FOLDER = ROOT / "ci" / "measured" / "host"


def published():
    """{(case, subject): the error as a part of the bound, as it was written}"""
    kept = configparser.ConfigParser(interpolation=None)
    kept.read(FOLDER / "worst.ini")
    return {(name, kept[name]["about"].split()[0]): re.search(r"([\d.]+) of the bound", kept[name]["provenance"])[1] for name in kept.sections()}


def judged():
    """The records of all subjects on all these cases."""
    with tempfile.TemporaryDirectory() as folder:
        records = pathlib.Path(folder) / "verify.jsonl"
        run = subprocess.run([FOLDPROOF, "verify", "--engine", "host", "--fixture-folder", FOLDER, "--fixtures", "found-*", "--claims",
                              "bounded,compensated", "--jsonl", records], capture_output=True, text=True, timeout=300)
        assert run.returncode == 0, (run.returncode, run.stdout, run.stderr)
        return [record for record in map(json.loads, records.read_text().splitlines()) if record["type"] == "judgement"]


WORST = published()
assert len(WORST) == 37, len(WORST)
seen = {}
for record in judged():
    name, subject = record["case"].split("/")[0], record["subject"]
    share = record.get("bound_fraction", 0)
    assert record["verdict"] != "refuted" and share <= 1, record
    if (name, subject) in WORST:
        seen[name, subject] = max(share, seen.get((name, subject), 0))
for key, text in WORST.items():
    if key[1].startswith("blas/"):  # another library, or none, may be found here
        continue
    assert key in seen, f"{key} was not judged"
    assert f"{seen[key]:.4g}" == text, f"{key}: {seen[key]:.17g} of the bound, not {text}"
