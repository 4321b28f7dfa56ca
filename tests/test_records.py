#!/usr/bin/env python3
"""Records and their table, src/records/schema.def: what every command writes, what readers refuse, what they pass, docs/records.md.

test_records.py FOLDPROOF SOURCE_FOLDER
"""
import gzip
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

from sealed import close, text_of

FOLDPROOF, SOURCE = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
TABLE = (SOURCE / "src" / "records" / "schema.def").read_text()
SCHEMA = 2

# A line for each type that is written on any machine; what needs ranks or a GPU stands in ci/measured.
COMMANDS = [
    ["verify", "-s", "host/sequential,rows/par_64", "-f", "normal/f32/sum/1x3[0-9]/seed1"],
    ["verify", "-s", "host/sequential,flat/shuffle", "-f", "infinity_stays/f32/*", "--probe"],
    ["record", "-s", "host/sequential,rows/*", "-f", "normal/f16/sum/1x3[0-9]/seed1"],
    ["recheck", "{0}"],
    ["bench", "--engine", "host", "-s", "host/sequential", "--n", "1000", "--iterations", "3", "--threads", "1"],
    ["study", "--sizes", "1000", "--generators", "normal"],
    ["study", "--simulate", "--sizes", "2,3", "--generators", "normal"],
]
# The same over ranks, where this build has MPI.
RANKS = [
    ["bench", "--engine", "mpi", "--what", "strong,messages", "--n", "1000", "--bytes", "1024", "--workers", "1,2", "--iterations", "9", "--settings", "default"],
    ["study", "--worlds", "--engine", "mpi", "--sizes", "1000", "--generators", "normal", "--dtypes", "f32"],
    ["study", "--messages", "--engine", "mpi", "--sizes", "8,16", "--generators", "normal", "--settings", "default"],
    ["reveal", "collective/canonical", "--engine", "mpi", "--ranks", "3", "--map", "5"],
]


def run(*words, code=0, cwd=None):
    done = subprocess.run([FOLDPROOF, *map(str, words)], capture_output=True, text=True, cwd=cwd, check=False, timeout=300)
    assert code is None or done.returncode == code, f"{words}: {done.returncode}, not {code}: {done.stdout[-2000:]}{done.stderr[-2000:]}"
    return done.stdout + done.stderr


def types():
    """Of each type its fields: the key, and from which schema on it is required (0: never)."""
    fields, found = {}, {}
    for name, key in re.findall(r'^FOLD_FIELD\((\w+), "([^"]+)"', TABLE, re.M):
        fields[name] = key
    for block in re.split(r"^FOLD_RECORD\(", TABLE, flags=re.M)[1:]:
        name = block.partition(",")[0]
        found[name] = {fields[field]: int(required) for field, required in re.findall(r"FOLD_HAS\((\w+), \d+, (\d+)\)", block)}
    every = found.pop("every")
    return {name: {**every, **own} for name, own in found.items()}


TYPES = types()


def check_against_table(line, where):
    """What foldproof itself looks at when it writes, looked at by another program."""
    own = TYPES[line["type"]]
    assert line["schema"] == SCHEMA, where
    for key in line:
        assert key in own, f"{where}: {line['type']} has no field {key}"
    for key, required in own.items():
        assert not required or key in line, f"{where}: {line['type']} lacks {key}"
    for key, value in line.items():
        parts = value if isinstance(value, list) else [value]
        if any(other.startswith(key + ".") for other in own):
            for part in parts:
                for name in part:
                    assert f"{key}.{name}" in own, f"{where}: {line['type']} has no field {key}.{name}"


def write_all(folder):
    """Each command's records; one line of each type."""
    seen = {}
    os.environ.update(FOLDPROOF_RANKS="2", OMP_NUM_THREADS="2", OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    ranks = '"mpi"' in run("env", "--json")
    for i, words in enumerate(COMMANDS + (RANKS if ranks else [])):
        said = run(*[word.format(folder / "0.jsonl") for word in words], "--jsonl", folder / f"{i}.jsonl", code=None)
        if "mpi" in words and "skipped" in said:
            continue
        assert (folder / f"{i}.jsonl").exists(), f"{words}: {said}"
        lines = [json.loads(text) for text in (folder / f"{i}.jsonl").read_text().splitlines()]
        assert lines[0]["type"] == "environment" and lines[-1]["type"] == "end" and len(lines) > 2, words
        for number, line in enumerate(lines):
            check_against_table(line, f"{words}, line {number + 1}")
            seen.setdefault(line["type"], line)
        run("report", folder / f"{i}.jsonl", "-o", folder / "page.html")
    return seen


def check_command(folder, seen):
    """A run says its command line, as it was given; a copy of another run's environment says that run's."""
    said = seen["environment"]["command"]
    assert shlex.split(said) == ["foldproof", *COMMANDS[0], "--jsonl", str(folder / "0.jsonl")], said
    words = ["study", "--sizes", "1000", "--generators", "nor*", "--seed", "5", "--jsonl", "a 'b'\n.jsonl"]
    run(*words, cwd=folder)
    told = json.loads((folder / words[-1]).read_text().splitlines()[0])["command"]
    assert "\n" not in told and subprocess.check_output(["sh", "-c", f'printf "%s|" {told}'], text=True) == "|".join(["foldproof", *words, ""]), told
    run("recheck", "0.jsonl", "--jsonl", "copy.jsonl", cwd=folder)
    assert json.loads((folder / "copy.jsonl").read_text().splitlines()[0])["command"] == said


def check_date(folder, seen):
    """A run says its day; a copy of another build's environment says none where that said none."""
    assert re.fullmatch(r"20\d\d-\d\d-\d\d", seen["environment"]["date"]), seen["environment"]
    lines = (folder / "0.jsonl").read_text().splitlines()
    old = {key: value for key, value in json.loads(lines[0]).items() if key != "date"}
    (folder / "undated.jsonl").write_bytes(close([text_of({**old, "build": "0123456789ab"}), *(line.encode() for line in lines[1:-1])]))
    run("recheck", "undated.jsonl", "--jsonl", "judged.jsonl", cwd=folder)
    copy = json.loads((folder / "judged.jsonl").read_text().splitlines()[0])
    assert copy["build"] == "0123456789ab" and "date" not in copy, copy


def measured_lines(seen):
    """Types that no command writes here, of the schema that they were recorded with."""
    for path in sorted((SOURCE / "ci" / "measured" / "h200x4").glob("*.jsonl")):
        for text in path.read_text().splitlines():
            line = json.loads(text)
            seen.setdefault(line["type"], line)
    named = {key: seen["judgement"][key] for key in ("schema", "build", "subject", "engine", "claim", "case")}
    seen["explanation"] = dict(named, type="explanation", order_change="a: x; b: y")  # of a guest's refutation (test_order_changes.py)
    wanted = set(TYPES) - ({"map"} if "mpi_missing" in seen["environment"] else set())  # which ranks alone give
    assert wanted <= set(seen) <= set(TYPES), f"no record of {wanted ^ set(seen)}"


def refuse(folder, environment, line, says):
    (folder / "bad.jsonl").write_text(json.dumps(environment) + "\n" + json.dumps(line) + "\n")
    said = run("report", "bad.jsonl", "-o", "out", code=2, cwd=folder)
    assert re.search(f"bad.jsonl:2: .*{says}", said), said


def check_readers(folder, seen):
    """Of each type: a required field that is missing, one of another type, an unknown one, a newer and an older schema."""
    environment = seen["environment"]
    for kind, line in seen.items():
        if kind in ("environment", "end"):
            continue
        own = {key: required for key, required in TYPES[kind].items() if key not in ("schema", "type")}
        musts = [key for key, required in own.items() if required and line["schema"] >= required]
        key = musts[len(kind) % len(musts)]
        refuse(folder, environment, {name: value for name, value in line.items() if name != key}, f"needs the key '{key}'")
        refuse(folder, environment, {**line, key: ["another"]}, f"needs the key '{key}'")
        refuse(folder, environment, {**line, "schema": SCHEMA + 1}, f"schema {SCHEMA + 1}: written by a newer foldproof")
    for kind, line in seen.items():
        if kind in ("environment", "end"):
            continue
        (folder / "good.jsonl").write_text(json.dumps(environment) + "\n" + json.dumps({**line, "news": [1]}) + "\n")
        run("report", "good.jsonl", "-o", "out.html", cwd=folder)
    old = {key: value for key, value in seen["run"].items() if key in ("type", "subject", "engine", "case")}
    (folder / "old.jsonl").write_text(json.dumps({**old, "schema": 1}) + "\n")
    run("report", "old.jsonl", "-o", "out.html", cwd=folder)
    (folder / "old.jsonl").write_text(json.dumps({**old, "schema": SCHEMA}) + "\n")
    assert "needs the key 'build'" in run("report", "old.jsonl", "-o", "out.html", cwd=folder, code=2)


def check_measured(folder):
    """All that was ever measured is read still; of the large files each 20th line, closed anew."""
    paths = sorted(path for ending in ("jsonl", "jsonl.gz") for path in (SOURCE / "ci" / "measured").glob(f"*/*.{ending}"))
    assert len(paths) >= 18, paths
    for path in paths:
        if path.suffix == ".gz":
            lines = [line for line in gzip.decompress(path.read_bytes()).splitlines() if b'"type":"end"' not in line]
            path = folder / f"{path.parent.name}-{path.stem}"
            lines = [*lines[:1], *lines[1::20]]
            path.write_bytes(close(lines) if b'"closing_line":true' in lines[0] else b"\n".join([*lines, b""]))
        said = run("compare", path, path) if "verify" in path.name or "peers" in path.name else run("report", path, "--format", "markdown")
        assert "newer" not in said, said


with tempfile.TemporaryDirectory(prefix="foldproof-records-") as scratch:
    scratch = pathlib.Path(scratch)
    written = write_all(scratch)
    missing = {"environment", "judgement", "run", "timing", "study", "study_float64", "study_ranks", "study_worlds", "end"} - set(written)
    assert not missing, f"no command wrote {missing}"
    check_command(scratch, written)
    check_date(scratch, written)
    measured_lines(written)
    check_readers(scratch, written)
    check_measured(scratch)
print("records: ok")
