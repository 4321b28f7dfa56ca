"""foldproof compare --regressions: what got worse fails, what stayed or got better does not, and the output names what was fixed.

test_regressions.py FOLDPROOF FOLDPROOF_MUTANTS LIBRARY_FOLDER CC
"""
import pathlib
import tempfile

from recorded import expect, lines_of, run, write_records
from sealed import seal


def changed(record, verdict, **more):
    """The record with another verdict; one that broke has no results."""
    gone = ("results", "values", "results_xxh3", "ulps", "bound_fraction", "telling") if verdict in ("broken", "skipped") else ()
    return dict({key: value for key, value in record.items() if key not in gone}, verdict=verdict, **more)


def check_changes(folder):
    environment, *lines, _ = lines_of(folder / "v.jsonl")
    at = next(i for i, line in enumerate(lines) if line.get("verdict") == "held" and line["claim"] == "run_to_run")
    lines, at = [lines[at], *lines[:at:100], *lines[at + 1::100]], 0  # few, since they are read for each pair
    held, judged = lines[at], sum(line["promised"] and line["verdict"] == "held" for line in lines)
    name = f"{held['subject']} on host: {held['case']}: run_to_run"
    states = {"held": held, "refuted": changed(held, "refuted", reason="it varies"), "broken": changed(held, "broken", reason="it ended"),
              "skipped": changed(held, "skipped", reason="no time"), "absent": None, "probed": changed(held, "refuted", reason="it varies", promised=False)}
    worst = {"held": 1, "refuted": 2, "broken": 3}
    for was, before in states.items():
        for now, after in states.items():
            for path, record in (("old", before), ("new", after)):
                seal(folder / path, [environment, *lines[:at], *([record] if record else []), *lines[at + 1:]])
            a, b = worst.get(was, 0), worst.get(now, 0)
            worse, unjudged = b > 1 and b > a, a > 0 and b == 0
            code, said = run("compare", "--regressions", "old", "new", cwd=folder)
            assert code == int(worse or unjudged), (was, now, said)
            assert ("WORSE: " in said, "NOT JUDGED NOW: " in said, "FIXED: " in said) == (worse, unjudged, a > 1 and 0 < b < a), (was, now, said)
            if worse:
                expect(rf"^WORSE: {name}: {was if a else 'not judged'}, now {now}: it (varies|ended)\n  reproduce: foldproof verify --subjects ", said)
            same = int(a > 1 and a == b)
            expect(rf"^{int(worse)} worse, {int(unjudged)} not judged now, {int(a > 1 and 0 < b < a)} fixed, {same} refuted or broken as before, {judged - 1 + (b == 1 and a < 2)} held$", said)
            assert run("compare", "--regressions", "--subset", "old", "new", cwd=folder)[0] == int(worse), (was, now)


def check_files(folder):
    """A cut file, a changed one, one without verdicts; the worst of several verdicts counts."""
    environment, *lines, _ = lines_of(folder / "v.jsonl")
    whole = (folder / "v.jsonl").read_bytes()
    (folder / "cut").write_bytes(whole[:-20])
    (folder / "changed").write_bytes(whole.replace(b'"seed":1', b'"seed": 1', 1))
    for words, code, says in ((("v.jsonl", "v.jsonl"), 0, "^0 worse, 0 not"), (("v.jsonl", "cut"), 99, "^INCOMPLETE: cut: "), (("cut", "v.jsonl"), 99, "^INCOMPLETE: cut: "),
                              (("--subset", "v.jsonl", "cut"), 0, "^INCOMPLETE"), (("v.jsonl", "changed"), 1, "^ALTERED: changed: "), (("v.jsonl", "r.jsonl"), 2, "r.jsonl: no verdict is in it"),
                              (("v.jsonl", "v.jsonl", "--across", "host,mpi"), 2, "--regressions prints text")):
        _, said = run("compare", "--regressions", *words, cwd=folder, code=code)
        expect(says, said)
    at = next(i for i, line in enumerate(lines) if line.get("verdict") == "held" and line["claim"] == "run_to_run")
    (folder / "two").mkdir()
    seal(folder / "two" / "a.jsonl", [environment, *lines])
    seal(folder / "two" / "b.jsonl", [environment, changed(lines[at], "refuted", reason="it varies")])
    expect("^WORSE: .*: held, now refuted: it varies$", run("compare", "--regressions", "v.jsonl", "two", cwd=folder, code=1)[1])


with tempfile.TemporaryDirectory() as scratch:
    write_records(pathlib.Path(scratch))
    for check in (check_changes, check_files):
        check(pathlib.Path(scratch))
