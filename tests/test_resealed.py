"""Records that were altered and closed anew, with the right count and hash: each reader names what contradicts itself, or is right in spite.

test_resealed.py FOLDPROOF. One field of one record is removed, is of another kind, or says something else; then judge, compare (with the
records as they were) and report read the file. A case names the exit codes of the three and what the first of them says.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

from sealed import close, text_of

FOLDPROOF = str(pathlib.Path(sys.argv[1]).resolve())
COMMANDS = ("recheck", "compare", "report")
ALL = (2, 2, 2)

# Of a judgement, or of a run: (field, another value or None, the codes, what is said).
CASES = [
    ("judgement", "verdict", "helx", ALL, "alt:{line}: a record of type judgement has the verdict 'helx': no such is known"),
    ("judgement", "claim", "replay", ALL, "alt:{line}: a record of type judgement has the claim 'replay': no such is known"),
    ("judgement", "claim", "bounded", ALL, "line \\d+ says what line \\d+ says: subject, case, claim"),
    ("judgement", "type", "judgment", ALL, "alt:{line}: no type 'judgment' of record is known"),
    ("run", "type", "runs", ALL, "alt:{line}: no type 'runs' of record is known"),
    ("run", "verdict", "held", ALL, "alt:{line}: .*verdict: nothing is judged in a run"),
    ("judgement", "results_xxh3", None, ALL, "alt:{line}: .*results_xxh3: results without their hash"),
    ("judgement", "results_xxh3", "0x0123456789abcdef", ALL, "alt:{line}: .*results_xxh3 is 0x0123456789abcdef, but its results have 0x"),
    ("run", "results", ["0x3f800000"], ALL, "alt:{line}: .*results_xxh3 is 0x\\w+, but its results have 0x"),
    ("run", "results", None, ALL, "alt:{line}: .*values: its results differ from its values"),
    ("judgement", "values", ["1", "2"], ALL, "alt:{line}: .*values: its results differ from its values"),
    ("judgement", "dtype", "f31", ALL, "alt:{line}: .*dtype 'f31': no such is known"),
    ("judgement", "dtype", "f16", ALL, "alt:{line}: .*(is no result of f16|case: its name)"),
    ("judgement", "dtype", "f64", ALL, "alt:{line}: .*(case: its name is not that of a case of this dtype|but its results have)"),
    ("run", "engine", "hots", ALL, "alt:{line}: .*engine 'hots': no such is known"),
    ("run", "op", "sun", ALL, "alt:{line}: .*op 'sun': no such is known"),
    ("judgement", "rows", 2, ALL, "alt:{line}: .*(it holds 1 results, and should hold 2 of 2 rows|case: its name)"),
    ("judgement", "cols", 34, ALL, "alt:{line}: .*case: its name is not that of a case of this dtype, op, shape"),
    ("run", "seed", 2, ALL, "alt:{line}: .*case: its name is not that of a case of this dtype, op, shape, ranks, seed and condition"),
    ("run", "generator", None, ALL, "alt:{line}: .*case: its name is not that of a case of this dtype, op, shape, ranks, seed and condition"),
    ("run", "generator", "uniform", (1, 0, 0), "CONTRADICTS: alt:{line}: .*: generator 'uniform', and the fixture of its name has 'normal' .see --fixture-folder.$"),
    ("judgement", "row", 9, ALL, "alt:{line}: .*row: a row that it has not"),
    ("judgement", "got", "0x3f800000", ALL, "alt:{line}: .*got, want: one of got and want"),
    ("judgement", "ranks", 3, ALL, "alt:{line}: .*ranks: ranks, on an engine that has none"),
    ("judgement", "schema", 1, ALL, "alt:{line}: schema 1, and its run has schema 2"),
    ("judgement", "known", "as ever", ALL, "alt:{line}: .*known: known, and no refutation of a peer"),
    # What no reader but judge can know is judged by it; the others tell what the record says.
    ("judgement", "verdict", "refuted", (1, 1, 0), "CONTRADICTS: alt:{line}: .*it says that replays is refuted; the results say held"),
    ("judgement", "promised", False, (1, 0, 0), "CONTRADICTS: alt:{line}: .*it says that replays is not claimed"),
    ("judgement", "order", "host/pairwise", (1, 1, 0), "CONTRADICTS: alt:{line}: .*it declares order 'host/pairwise'"),
    ("judgement", "input_xxh3", "0x0123456789abcdef", (1, 1, 0), "CONTRADICTS: alt:{line}: .*its input, made again, has hash"),
    ("judgement", "telling", None, (1, 0, 0), "CONTRADICTS: alt:{line}: .*telling of replays: it says nothing; its results and input give true"),
    ("judgement", "ulps", 0.5, (1, 0, 0), "CONTRADICTS: alt:{line}: .*ulps of replays: it says 0.5; its results and input give nothing"),
]


def run(folder, *words):
    done = subprocess.run([FOLDPROOF, *words], cwd=folder, capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout + done.stderr


def ask(folder, base, name, codes, says, line):
    said = []
    for command, code in zip(COMMANDS, codes):
        words = {"compare": [base, "alt"], "report": ["alt", "--format", "markdown"]}.get(command, ["alt"])
        got, text = run(folder, command, *words)
        assert got == code, f"{name}: {command}: {got}, not {code}: {text[-1500:]}"
        said.append(text)
        if code == 2:
            assert re.search(says.format(line=line), text, re.M), f"{name}: {command}: no {says!r} in {text[-1500:]}"
    assert re.search(says.format(line=line), said[0], re.M), f"{name}: no {says!r} in {said[0][:1500]}"


def ask_of_windows(folder, base):
    """An editor or a copy made it text of Windows: the records are not falsified, and each command says the same."""
    text = (folder / base).read_bytes()
    crlf, last = text.replace(b"\n", b"\r\n"), text.count(b"\n")
    for name, changed, line in (("CR LF", crlf, 1), ("one CR LF", text[:-1] + b"\r\n", last), ("mark", b"\xef\xbb\xbf" + text, 1), ("both", b"\xef\xbb\xbf" + crlf, 1),
                                ("UTF-16", text.decode().encode("utf-16"), 1), ("second mark", text + b"\xef\xbb\xbf" + text, last + 1)):
        (folder / "alt").write_bytes(changed)
        ask(folder, base, f"{base} {name}", ALL, r"alt:{line}: the file was made text of Windows .*convert it back \(dos2unix\)$", line)


with tempfile.TemporaryDirectory(prefix="foldproof-resealed-") as scratch:
    folder = pathlib.Path(scratch)
    chosen = ["--engine", "host", "-s", "host/numpy,host/exact", "-f", "normal/f32/sum/1x33/seed1"]
    run(folder, "verify", *chosen, "--jsonl", "judgement", "-q", "--in-process")
    run(folder, "record", *chosen, "--jsonl", "run")
    for kind in ("judgement", "run"):
        lines = (folder / kind).read_bytes().splitlines()[:-1]
        assert close(lines).splitlines()[:-1] == lines and json.loads(close(lines).splitlines()[-1]) == json.loads((folder / kind).read_bytes().splitlines()[-1])
        at = next(i for i, line in enumerate(lines) if b'"subject":"host/numpy"' in line and (kind == "run" or b'"claim":"replays"' in line))
        of = json.loads(lines[at])
        for what, field, value, codes, says in CASES:
            if what != kind:
                continue
            changed = {key: word for key, word in {**of, field: value}.items() if word is not None}
            (folder / "alt").write_bytes(close([*lines[:at], text_of(changed), *lines[at + 1:]]))
            ask(folder, kind, f"{kind} {field} {value}", codes, says, at + 1)
        (folder / "alt").write_bytes(close([*lines, lines[at]]))
        ask(folder, kind, f"{kind} twice", ALL, f"of the records that end here, line {len(lines) + 1} says what line {{line}} says", at + 1)
        (folder / "alt").write_bytes(close([lines[0], *lines[:0:-1]]))
        ask(folder, kind, f"{kind} permuted", (0, 0, 0), "", at + 1)
        ask_of_windows(folder, kind)
        (folder / "alt").write_bytes((folder / kind).read_bytes().replace(b'"cols":33', b'"cols":34', 1))  # not closed anew
        assert run(folder, "report", "alt", "--format", "markdown")[0] == 2
print(f"{len(CASES)} alterations: ok")
