"""Whatever a file says, no command lets it move a cursor, begin a line, turn text around, or give a CI runner a command.

test_plain.py FOLDPROOF FOLDPROOF_MUTANTS LIBRARY_FOLDER CC. Texts that do all of it are put into every text of records, goldens, certificates,
fixtures and of what a guest says of itself. Then every command that reads them runs (of a certificate, foldproof-check), and each byte that it writes is looked at.
"""
import contextlib
import importlib.util
import io
import json
import pathlib
import re
import sys
import tempfile
import zlib

from recorded import FOLDPROOF, GUEST, lines_of, run, write_records
from sealed import seal

SOURCE = pathlib.Path(__file__).resolve().parent.parent
EVIL = "::error::\x1b]0;pwned\x07\x1b[31m\nFAKE: 9 held, 0 refuted\r\n::warning::x ##[group]y ##vso[task.z]\u202e\u2066\u200f\u061c\u2028\x7f\x9b31m\t" + "\u00e9" * 150
MEASURED = [path for path in sorted((SOURCE / "ci" / "measured").glob("*/*.jsonl")) if path.stat().st_size < 1 << 22]
HIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]")
FORMATS = ("html", "markdown", "junit", "text")


def look(said, where, loose=False):
    """Text that a terminal, a page and a runner show as it is."""
    text = said.decode("utf-8") if isinstance(said, bytes) else said
    hidden = HIDDEN.search(text) or (not loose and re.search("[\r\t]", text))
    assert not hidden, f"{where}: {text[max(0, hidden.start() - 200):hidden.end() + 100]!r}"
    begun = re.search(r"^([^\S\n]*::|FAKE)|##(\[|vso\[)", text, re.M)
    assert not begun, f"{where}: {text[max(0, begun.start() - 200):begun.end() + 100]!r}"


def texts_of(value, path=()):
    """The places of texts in a record, and of the names of its fields below the first level."""
    if isinstance(value, str):
        yield path
    for key, part in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from texts_of(part, (*path, key))


def planted(record, path, evil):
    copy = json.loads(json.dumps(record))
    at = copy
    for key in path[:-1]:
        at = at[key]
    was = at[path[-1]]
    at[path[-1]] = evil + "/" + was if path == ("case",) else evil
    return copy


FIXED = {"type", "engine", "claim", "verdict", "dtype", "result_dtype", "accumulator", "op", "generator", "input_xxh3", "results_xxh3", "results", "values", "got", "want"}


def all_planted(record, evil):
    """A record with that text at all places that readers take any text at."""
    for path in list(texts_of(record)):
        if path[0] not in FIXED:
            record = planted(record, path, evil)
    return record


def read_all(folder, name, where, quick=False):
    commands = [("recheck", name), ("recheck", name, "--jsonl", "again"), ("compare", name, "r.jsonl"), ("compare", "r.jsonl", name),
                *(("compare", name, "v.jsonl", "--format", kind) for kind in ("json", "markdown")), ("compare", name, name, "--claim", "run_to_run"),
                *(("report", name, "--format", kind) for kind in FORMATS)]
    if quick:
        commands = [("recheck", name), ("compare", name, "v.jsonl", "--format", "text"), *(("report", name, "--format", kind) for kind in FORMATS)]
    for words in commands:
        look(run(*words, cwd=folder)[1], (where, words), loose="html" in words)


def samples(folder):
    """A record of each type, and of each verdict, with all that one may say."""
    seen = {}
    for path in MEASURED:
        for line in lines_of(path):
            seen.setdefault((line["type"], line.get("verdict")), line)
    for name in "v.jsonl", "r.jsonl":
        for line in lines_of(folder / name):
            seen[(line["type"], line.get("verdict"))] = line
    held = seen["judgement", "held"]
    told = dict(reason="it varies", order_change="another order", twin="host/exact", order="host/numpy", row=0, got=held["results"][0], want="0x3f800000",
                left="the rounding mode", asked={"python": "import x", "guests": [["--exec", "x"]], "timeout": "3", "around": "3", "variables": {"OMP_NUM_THREADS": "x"}})
    seen["judgement", "refuted"] = dict(held, verdict="refuted", **told)
    seen["judgement", "broken"] = dict(held, verdict="broken", reason="it ended")
    seen["judgement", "skipped"] = dict(held, verdict="skipped", reason="none here")
    seen["judgement", "probed"] = dict(held, promised=False)
    return seen


def check_records(folder):
    seen = samples(folder)
    environment = dict(seen.pop(("environment", None)), gpus=[{"name": "A"}], guests=[{"file": "x", "xxh3": "0x1"}], asked={"guests": [["--exec", "x"]], "launch": "x"})
    seen = {key: line for key, line in seen.items() if key[0] != "end"}
    for evil in EVIL, "##[error]x", "  ::error::x":
        records = [all_planted(line, evil) for line in seen.values()]
        evil_environment = dict(all_planted(environment, evil), **{evil: evil, "closing_line": True})
        del evil_environment["asked"]  # is kept as it is, for replays
        for name, lines in (("all", [evil_environment, *records]), ("mild", [evil_environment, all_planted(seen["judgement", "held"], evil)])) if evil == EVIL else ():
            seal(folder / "evil.jsonl", lines)
            read_all(folder, "evil.jsonl", (name, evil[:12]))
        whole = all_planted(environment, evil)  # with the options given, which stay as they are, for replays
        (folder / "evil.jsonl").write_text("".join(json.dumps(line) + "\n" for line in (dict(whole, asked=dict(whole["asked"], **{evil: evil})), *records)))  # not closed
        read_all(folder, "evil.jsonl", ("chosen", evil[:12]), quick=evil != EVIL)
    # Each text alone, where the fixed words are too.
    for record in environment, seen["judgement", "refuted"]:
        for path in texts_of(record):
            lines = [planted(record, path, EVIL)] if record is environment else [planted(record, path, EVIL), seen["judgement", "held"]]
            (folder / "evil.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
            for words in ("recheck", "evil.jsonl"), ("compare", "evil.jsonl", "r.jsonl"), ("report", "evil.jsonl", "--format", "text"):
                look(run(*words, cwd=folder)[1], (path, words))


def check_goldens(folder):
    words = ("--engine", "host", "-s", "host/exact,host/pairwise", "-f", "normal/f32/sum/1x30/seed1", "--golden", "kept")
    run("record", *words, "--bless", cwd=folder, code=0)
    first, *records, _ = (json.loads(line) for line in (folder / "kept").read_text().splitlines())
    for evil in EVIL, "::error::x", "##[error]x":
        for path in texts_of(records[0]):
            seal(folder / "kept", [first, dict(planted(records[0], path, evil), kept_for=evil), dict(records[1], kept_for=evil)])
            for more in (), ("--bless",):
                look(run("record", *words, *more, cwd=folder)[1], ("golden", path, evil[:10]))


def load_checker():
    """In this process: two hundred starts of Python would take most of this suite."""
    sys.dont_write_bytecode = True
    found = importlib.util.spec_from_file_location("checker", SOURCE / "python" / "check_certificate.py")
    checker = importlib.util.module_from_spec(found)
    found.loader.exec_module(checker)
    return checker


def said_by(checker, path):
    written = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    with contextlib.redirect_stdout(written), contextlib.redirect_stderr(written):
        checker.main([str(path)])
    written.flush()
    return written.buffer.getvalue()


def check_certificates(folder):
    checker = load_checker()
    run("certify", "host/pairwise", "--fixtures", "normal/f32/sum/1x33/seed1", "-o", "c", cwd=folder, code=0)
    lines = [line.rsplit(b" #", 1)[0] for line in (folder / "c").read_bytes().splitlines()]
    for k in range(len(lines)):
        for evil in EVIL.replace("\n", " ").encode(), b"::error::x", b"##[error]x":
            for other in lines[k].split(b" ")[0] + b" " + evil, evil + lines[k]:
                changed = [*lines[:k], other, *lines[k + 1:]]
                (folder / "evil").write_bytes(b"".join(b"%s #%08x\n" % (line, zlib.crc32(b"%d:%s" % (n, line))) for n, line in enumerate(changed, 1)))
                said = said_by(checker, folder / "evil")
                assert said, (k, other)
                look(said, ("check", k))


def check_others(folder):
    """Fixtures, arrays, and what a guest says of itself."""
    (folder / "own").mkdir()
    for evil in EVIL.replace("\n", " ").replace("\r", " "), "::error::x", "##[error]x":
        for text in (f"[{evil}]\ngenerator = normal\nshapes = 1x33\n", f"[a]\nabout = {evil}\ngenerator = normal\nshapes = 1x33\n", f"[a]\n{evil} = 1\n", f"[a]\ngenerator = {evil}\n",
                     f"[a]\ngenerator = normal\nshapes = {evil}\n", f"[a]\nnpy = {evil}\n", f"[a]\ngenerator = normal\nshapes = 1x33\nprovenance = {evil}\n"):
            (folder / "own" / "a.ini").write_text(text)
            for words in ("list", "fixtures"), ("verify", "-s", "host/exact"):
                look(run(*words, "--fixture-folder", "own", cwd=folder)[1], (text[:20], words))
        for field in "name", "about", "dtypes", "claims", "order", "same_bits_as", evil:
            table = {"name": "mine/sum", "dtypes": "f32", "claims": "run_to_run", field: evil}
            (folder / "mine.py").write_text(GUEST.replace('{"name": "mine/sum", "dtypes": "f32", "claims": "run_to_run"}', repr(table)))
            for words in ("verify", "-f", "normal/f32/sum/1x3[0-3]/seed1"), ("list", "subjects", "--long"):
                look(run(*words, "--exec", f"{sys.executable} mine.py", cwd=folder)[1], (field, words))
        header = ("{'descr': '%s', 'fortran_order': False, 'shape': (1,), }" % evil).encode()
        (folder / "evil.npy").write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + bytes(4))
        look(run("oracle", "evil.npy", cwd=folder)[1], "npy")


with tempfile.TemporaryDirectory() as scratch:
    write_records(pathlib.Path(scratch))
    for check in (check_records, check_goldens, check_certificates, check_others):
        check(pathlib.Path(scratch))
