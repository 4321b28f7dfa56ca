"""Goldens: --bless keeps what an oracle certifies and nothing else; a check finds whatever differs, is missing, or was changed in the file.

test_golden.py FOLDPROOF FIXTURES LIBRARY_FOLDER CC [KILLS]. First foldproof's own goldens; then those of a user's guest. A record that is
changed is closed anew with the right count and hash, so that the checks behind the closing line are tried too. KILLS: how often --bless is
killed (8).
"""
import fcntl
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

from sealed import HASH, close, text_of

FOLDPROOF, FIXTURES, LIBRARY = (pathlib.Path(word).resolve() for word in sys.argv[1:4])
CC, KILLS = sys.argv[4].split(), int(sys.argv[5]) if len(sys.argv) > 5 else 8
OWN = FIXTURES / "golden.jsonl"
LEAST = 940  # results that foldproof keeps
CASE = "normal/f32/sum/1x1025/seed1"
FEW = f"{CASE},normal/f32/sum/17x257/seed1,normal/f32/sum/1x33/seed1"
HELD = "goldens: {} held, 0 differ or are missing"


def run(*words, code, cwd=None, **env):
    done = subprocess.run([FOLDPROOF, *words], cwd=cwd, capture_output=True, text=True, env=dict(os.environ, **env))
    assert code in (None, done.returncode), f"{words}: {done.returncode}, not {code}: {done.stdout[-3000:]}{done.stderr[-2000:]}"
    return done.stdout + done.stderr


def check_own():
    """They are judged by the oracles everywhere, and run again where their engine is."""
    said = run("record", "--golden", OWN, code=0)
    counts = re.search(r"^goldens: (\d+) held, 0 differ or are missing, 0 stale, (\d+) not run here$", said, re.M)
    assert counts and int(counts[1]) + int(counts[2]) >= LEAST and int(counts[1]) >= LEAST - 60, said
    said = run("recheck", "--quiet", OWN, code=0)
    assert re.search(r"^(\d+) results judged, 0 could not be made again, 0 contradictions", said, re.M)[1] == str(int(counts[1]) + int(counts[2])), said
    assert OWN.stat().st_size <= 1 << 19, "fixtures/golden.jsonl is larger than 512 KiB"
    print(f"{counts[1]} run again, {counts[2]} not run here")


# --- the file is changed

def other_result(record):
    bits = int(record["results"][0], 16) ^ 1
    return dict(record, results=[f"0x{bits:08x}"], results_xxh3=f"0x{HASH(bits.to_bytes(8, 'little'), 8):016x}")


CHANGED = {  # of the record of host/numpy on CASE
    "a result": (other_result, r"^DIFFERS: host/numpy on host: \S+: k:\d+ has 0x\w+, this run:\d+ has 0x\w+\n  row 0: 1 float apart; errors \S+ and \S+ ulps: this run is nearer"),
    "an input": (lambda r: dict(r, input_xxh3="0x0123456789abcdef"), r"^INPUT CHANGED: host/numpy on host: .* 0x0123456789abcdef, "),
    "an order": (lambda r: dict(r, order="host/pairwise"), r"^INPUT CHANGED: host/numpy on host: .* in order host/pairwise, .* in order host/numpy"),
    "a case": (lambda r: dict(r, case=r["case"].replace("seed1", "seed77"), seed=77), r"^ONLY IN k: host/numpy on host: normal/f32/sum/1x1025/seed77$"),
    "a subject": (lambda r: dict(r, subject="host/numpx"), r"^ONLY IN k: host/numpx on host: "),
}
BACK = "take the file back from your repository, or remove it and --bless again"
DAMAGED = {  # the lines of the file, with line ends
    "a line is gone": (lambda lines: lines[:3] + lines[4:], rf"k: of the \d+ records that end in line \d+ some were changed: {BACK}"),
    "a line and its count": (lambda lines: lines[:3] + lines[4:-1] + [lines[-1].replace(b'"records":7', b'"records":6')], f"some were changed: {BACK}"),
    "no closing line": (lambda lines: lines[:-1], f"the closing line is missing: {BACK}"),
    "a line twice": (lambda lines: close([line[:-1] for line in lines[:-1]] + [lines[3][:-1]]).splitlines(True), "says what line 4 says"),
    "a cut": (lambda lines: lines[:3] + [lines[3][:40]], BACK),
    "a bit by hand": (lambda lines: [line.replace(b'"seed":1', b'"seed":2') for line in lines], "case: its name is not that of a case"),
    "Windows": (lambda lines: [line.replace(b"\n", b"\r\n") for line in lines], "was made text of Windows"),
    "no announcement": (lambda lines: lines[1:], "k:1: no golden: see record --bless"),
    "judgements": (lambda lines: close([lines[0][:-1], text_of(dict(json.loads(lines[1]), type="judgement", claim="bounded", promised=True, verdict="held"))]).splitlines(True), "k:2: no golden"),
    "nothing": (lambda lines: [], "k: no record in it"),
}


def check_changes(folder):
    kept, few = folder / "k", ("--golden", "k", "-s", "host/nump?,host/pairwise")
    run("record", "--golden", "k", "--bless", "-s", "host/numpy,host/pairwise", "-f", FEW, code=0, cwd=folder)
    assert HELD.format(6) in run("record", *few, code=0, cwd=folder)
    assert HELD.format(3) in run("record", "--golden", "k", "-s", "host/numpy", code=0, cwd=folder)
    assert HELD.format(1) in run("record", "--golden", "k", "-s", "host/numpy", "-f", CASE, "--jsonl", "new", code=0, cwd=folder) and (folder / "new").exists()
    run("record", "--golden", "k", "-s", "host/numpy", "-f", "ties/f32/sum/1x3/seed1", code=2, cwd=folder)
    lines = kept.read_bytes().splitlines(True)
    assert [json.loads(line).get("subject") for line in lines] == [None, *["host/numpy"] * 3, *["host/pairwise"] * 3, None]
    at = next(i for i, line in enumerate(lines) if b"host/numpy" in line and CASE.encode() in line)
    for what, (change, says) in CHANGED.items():
        record = text_of(change(json.loads(lines[at])))
        kept.write_bytes(close([line[:-1] for line in lines[:at]] + [record] + [line[:-1] for line in lines[at + 1:-1]]))
        said = run("record", *few, code=1, cwd=folder)
        assert re.search(says, said, re.M) and "goldens: 5 held, 1 differ or are missing" in said, f"{what}: no {says!r} in {said}"
    for what, (change, says) in DAMAGED.items():
        kept.write_bytes(b"".join(change(lines)))
        for words in (), ("--bless",):
            said = run("record", *few, *words, code=2, cwd=folder)
            assert re.search(says, said), f"{what}: no {says!r} in {said}"
    kept.unlink()
    assert "k: no golden is there: see record --bless" in run("record", *few, code=2, cwd=folder)
    assert "--bless needs --golden FILE" in run("record", "--bless", code=2)
    assert "--golden compares the records of --jsonl: name a file" in run("record", *few, "--jsonl", "-", code=2, cwd=folder)


# --- a guest's

# No order, so that its results are kept for an environment; and another one, that is as good.
FREE = ('.order = "host/sequential", .claims = "bounded,replays,reproducible"', '.claims = "bounded,reproducible"')
FROM_BEHIND = ("s += x[i]", "s += x[call->cols - 1 - i]")
ONE_ULP = ("= s;", "= row == 0 && call->cols == 1025 ? s * (1 + 0x1p-23f) : s;")
UNWILLING = ("(void)context;", "(void)context; if (call->cols == 33) return FOLDPROOF_GUEST_UNSUPPORTED;")

# By one unit more in each process but the first.
LATER = """#include <fcntl.h>
#include <unistd.h>
static float later(void) {
  static int after = -1;
  if (after < 0) after = access("mark", 0) == 0, close(open("mark", O_CREAT | O_WRONLY, 0600));
  return after ? 0x1p-20f : 0;
}
"""


class Project:
    def __init__(self, path):
        self.path, self.kept = path, path / "kept.jsonl"
        self.source = (LIBRARY / "examples" / "guest_sum.c").read_text()

    def build(self, name, *changes):
        """The example, changed: (from, to) each."""
        text = self.source
        for old, new in changes:
            assert old in text, old
            text = text.replace(old, new)
        (self.path / f"{name}.c").write_text(text)
        subprocess.run([*CC, "-shared", "-fPIC", "-O2", f"-I{LIBRARY}", f"{name}.c", "-o", f"{name}.so"], cwd=self.path, check=True)
        return f"./{name}.so"

    def check(self, guest, *words, code, **env):
        return run("record", "--guest", guest, "--golden", "kept.jsonl", *words, code=code, cwd=self.path, **env)

    def bless(self, guest, *words, code=0, cases=FEW, **env):
        return self.check(guest, "--bless", "--fixtures", cases, *words, code=code, **env)

    def start(self, guest, *words):
        line = [FOLDPROOF, "record", "--guest", guest, "--golden", "kept.jsonl", "--bless", "--fixtures", FEW, *words]
        return subprocess.Popen(line, cwd=self.path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def records(self):
        return [json.loads(line) for line in self.kept.read_text().splitlines()[1:-1]]


def check_portable(project):
    right, wrong = project.build("right"), project.build("wrong", ONE_ULP)
    assert "goldens: 3 added, 0 changed, 0 as they were" in project.bless(right)
    text, records = project.kept.read_bytes(), project.records()
    assert [len(record["results"]) for record in records] == [17, 1, 1] and not any("kept_for" in record for record in records), records
    assert HELD.format(3) in project.check(right, code=0)
    assert HELD.format(3) in project.check(right, "--library", "another", code=0)
    said = project.check(wrong, code=1)
    assert re.search(rf"^DIFFERS: mine/sum on host: {CASE}: .*\n  row 0: 1 float apart; ", said, re.M), said
    (replay,) = re.findall("^  reproduce: foldproof(.*)$", said, re.M)
    assert "--guest './wrong.so'" in replay and CASE in replay, replay
    said = project.bless(wrong, code=1)
    assert f"REFUSED: mine/sum on host: {CASE}: replays is refuted: " in said and "nothing is written" in said, said
    assert "3 as they were" in project.bless(right) and project.kept.read_bytes() == text
    assert "3 not run here" in run("record", "--golden", "kept.jsonl", "-s", "*", "--fixtures", CASE + ",normal/f32/sum/1x33/seed1,normal/f32/sum/17x257/seed1", code=77, cwd=project.path)
    project.kept.unlink()


def check_missing(project):
    """What takes a kept case no more is missed, and its golden goes when the rest is blessed."""
    right, narrow = project.build("right"), project.build("narrow", (".run = sum", '.dtypes = "f16", .run = sum'))
    free, unwilling = project.build("free", FREE), project.build("unwilling", FREE, UNWILLING)
    project.bless(right)
    said = project.check(free, code=1)
    assert len(re.findall("^INPUT CHANGED: mine/sum on host: .* in order host/sequential, .* in no order$", said, re.M)) == 3, said
    for words in (), ("--seconds", "100"):  # in which there is time for all
        assert project.check(narrow, *words, code=1).count("ONLY IN kept.jsonl: mine/sum on host: ") == 3
    assert project.bless(narrow, code=2).count("REMOVED: mine/sum on host: ") == 3 and not project.records()
    project.bless(free)
    for words in (), ("--seconds", "100"):
        said = project.check(unwilling, *words, code=1)
        assert re.findall("^ONLY IN kept.jsonl: (.*)$", said, re.M) == ["mine/sum on host: normal/f32/sum/1x33/seed1"] and "goldens: 2 held, 1 differ" in said, said
    assert "REMOVED: mine/sum on host: normal/f32/sum/1x33/seed1: " in project.bless(unwilling)
    assert HELD.format(2) in project.check(unwilling, code=0)
    slow = project.build("slow", FREE, ("static int sum", "#include <unistd.h>\nstatic int sum"), ("(void)context;", "(void)context; sleep(1);"))
    said = subprocess.run([FOLDPROOF, "record", "--guest", slow, "--golden", "kept.jsonl", "--seconds", "1"], cwd=project.path, capture_output=True, text=True).stdout
    assert "0 differ or are missing" in said and "goldens: 2 held" not in said, said  # what no time was left for is not missing
    crashes = project.build("crashes", FREE, ("(void)context;", "(void)context; if (call->cols == 257) __builtin_trap();"))
    said = project.check(crashes, "--timeout", "20", code=99)
    assert "goldens: 1 held, 0 differ or are missing, 0 stale, 1 not run here" in said, said
    project.kept.unlink()


def check_recorded(project):
    """Of records that name a case twice, results count before a refusal, and a refusal before what --seconds left out."""
    guest = project.build("right")
    project.bless(guest)
    run("record", "--guest", guest, "--fixtures", FEW, "--full", "--jsonl", "run.jsonl", code=0, cwd=project.path)
    whole, *others = [record for record in map(json.loads, (project.path / "run.jsonl").read_text().splitlines()) if record["type"] == "run"]
    bare = {key: value for key, value in whole.items() if key not in ("results", "values", "results_xxh3")}
    refused, left = dict(bare, verdict="skipped", reason="no longer"), dict(bare, verdict="skipped", reason="left out: the time limit of 3 s")
    for records, held, rest, code in (
        ([whole], 3, "0 differ or are missing", 0),
        ([whole, refused], 3, "0 differ or are missing", 0),
        ([refused, whole], 3, "0 differ or are missing", 0),
        ([whole, left], 3, "0 differ or are missing", 0),
        ([left, whole], 3, "0 differ or are missing", 0),
        ([refused], 2, "1 differ or are missing", 1),
        ([refused, left], 2, "1 differ or are missing", 1),
        ([left, refused], 2, "1 differ or are missing", 1),
        ([left], 2, "0 differ or are missing, 0 stale, 1 not run here", 0),
        ([], 2, "0 differ or are missing, 0 stale, 0 not run here, 1 not in the records", 0),
    ):
        (project.path / "run.jsonl").write_text("".join(json.dumps(record) + "\n" for record in [*records, *others]))
        said = run("recheck", "run.jsonl", "--golden", "kept.jsonl", code=code, cwd=project.path)
        assert f"goldens: {held} held, {rest}" in said, (records, said)
        assert ("ONLY IN kept.jsonl: mine/sum on host: " + whole["case"] in said) == (code == 1), said
    project.kept.unlink()


def check_overflows(project):
    """Partial sums that overflow refute no order where none is declared, and are not kept; a declared order's are."""
    cases = f"{FEW},partial_overflow/f32/sum/*"
    free, ordered = project.build("overflows", FREE), project.build("ordered")
    said = project.bless(free, cases=cases, OMP_NUM_THREADS="2")
    assert "3 added" in said and "1 left out: partial sums overflowed" in said and "partial_overflow" not in project.kept.read_text(), said
    project.kept.unlink()
    finite = project.build("finite", FREE, ("= s;", "= call->cols == 3 ? (float)(0.0 + x[0] + x[1] + x[2]) : s;"))
    assert "4 added" in project.bless(finite, cases=cases)
    assert "row 0 is not finite, and the exact result and what is kept are" in project.bless(free, cases=cases, code=1)
    project.kept.unlink()
    assert "4 added" in project.bless(ordered, cases=cases) and HELD.format(4) in project.check(ordered, code=0)
    project.kept.unlink()


def check_refused(project):
    late = (("= s;", "= s + later();"), ("static int sum", LATER + "static int sum"))
    turns = (("s += x[i]", "s += x[turn ? i : call->cols - 1 - i]"), ("static int sum", "static int turn;\nstatic int sum"), ("(void)context;", "(void)context; turn = !turn;"))
    own = ("bounded,reproducible", "run_to_run")  # whatever it claims, its results have the bound of any order
    for name, changes, says in (("off", [("= s;", "= s + 1;")], "bounded is refuted: error 1 is above the bound"),
                                ("wild", [own, ("= s;", "= call->cols == 33 ? 1 / (s - s) : s;")], "no order has such an error: "),
                                ("sevens", [own, ("= s;", "= 7;")], "no order has such an error: error "),
                                ("leaves", [("static int sum", "#include <fenv.h>\nstatic int sum"), ("(void)context;", "fesetround(FE_DOWNWARD);")], "it left its process changed"),
                                ("varies", turns, "it varies from run to run: .*repeats gave different bits"),
                                ("once", late, "it varies from run to run: .*(a new process gave results of hash|different bits in a new process)"),
                                ("refuses", (("= s;", "= s; if (later() > 0) return FOLDPROOF_GUEST_UNSUPPORTED;"), late[1]), "it varies from run to run: no result in a new process: it does not take this case")):
        (project.path / "mark").unlink(missing_ok=True)
        said = project.bless(project.build(name, FREE, *changes), code=1)
        assert re.search(f"^REFUSED: mine/sum on host: .*{says}", said, re.M) and not project.kept.exists(), said
    (project.path / "mark").unlink()
    said = project.bless("./once.so", cases="integers/f32/sum/1x37/seed2", code=1)  # a fixture that asks for no repeats
    assert "different bits in a new process" in said and not project.kept.exists(), said
    (project.path / "mark").unlink()
    for seconds in 1, 4, 16, 64:  # a busy machine may need the first seconds for the first process alone
        (project.path / "mark").unlink(missing_ok=True)
        tires = project.build("tires", FREE, late[1], ("(void)context;", f"(void)context; if (later() > 0) sleep({seconds + 1});"))
        said = project.bless(tires, "--seconds", str(seconds), code=None)
        missed = re.search(r"^([23]) results are not kept: no time was left to give them again", said, re.M)
        if missed:
            break
    assert missed and len(project.records() if project.kept.exists() else []) == 3 - int(missed[1]), said
    project.kept.unlink(missing_ok=True)
    said = project.bless(project.build("fickle", FREE, ("bounded,reproducible", "bounded")), code=2)
    assert "3 results are not kept: their subjects do not claim run_to_run" in said and not project.kept.exists(), said
    # The exact results of a function of rows are not known.
    assert "3 added" in project.bless(project.build("rows", FREE, ('"bounded,reproducible"', '"run_to_run", .problems = "rows"'), ("= s;", "= 1 / (s - s);")))
    project.kept.unlink()
    said = project.bless("./right.so", code=99, LD_PRELOAD="libm.so.6", ASAN_OPTIONS="verify_asan_link_order=0")
    assert "LD_PRELOAD is set" in said and not project.kept.exists(), said


def check_environment(project):
    free, behind = project.build("free", FREE), project.build("behind", FREE, FROM_BEHIND)
    project.bless(free, "--library", "libmine 1.0")
    assert all(re.search(r"., libmine 1\.0(, OMP_NUM_THREADS \d+)?, its own launch$", record["kept_for"]) for record in project.records()), project.records()
    assert HELD.format(3) in project.check(free, "--library", "libmine 1.0", code=0)
    said = project.check(free, "--library", "libmine 1.1", code=77)
    assert re.search(r"^STALE: 3 of mine/sum on host: kept for (.*), libmine 1\.0(.*); here \1, libmine 1\.1\2$", said, re.M), said
    said = project.check(free, code=77)
    assert re.search(r"^STALE: 3 .*; here .*, its own launch, no --library$", said, re.M) and "libmine" not in said.split("; here ")[1], said
    said = project.check(behind, "--library", "libmine 1.0", code=1)
    assert re.search(r"errors \S+ and \S+ ulps: \S+ is nearer", said), said
    said = project.bless(behind, "--library", "libmine 1.0")
    assert re.search(r"^CHANGES: mine/sum on host: normal\S+, row \d+: was 0x\w+, is 0x\w+; .*errors \S+ and \S+ ulps", said, re.M), said
    assert re.search(r"0 added, [123] changed, \d as they were, 0 removed", said), said
    assert "3 added" in project.bless(free, "--library", "libmine 1.1")
    for guest, library in (behind, "1.0"), (free, "1.1"):
        assert HELD.format(3) + ", 3 stale" in project.check(guest, "--library", f"libmine {library}", code=0)
    run("recheck", "kept.jsonl", code=0, cwd=project.path)
    project.kept.unlink()
    return free, behind


def check_ranks(project):
    """Over ranks: everywhere the same where the order is declared; else kept for the library's version and settings."""
    if not re.search(r"^mpi +Open MPI", run("env", code=0), re.M):
        return
    words = ["--engine", "mpi", "--ranks", "3", "-s", "collective/canonical,mpi/allreduce", "-f", "normal/f32/sum/1x3/ranks3/seed1,normal/f32/sum/515x3/ranks3/seed3"]
    linear = {"OMPI_MCA_coll_tuned_use_dynamic_rules": "1", "OMPI_MCA_coll_tuned_allreduce_algorithm": "1"}

    def record(*more, code=0, **env):
        return run("record", "--golden", "kept.jsonl", *words, *more, code=code, cwd=project.path, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", **env)

    assert "4 added" in record("--bless")
    kept_for = [record.get("kept_for", "") for record in project.records()]
    assert kept_for[:2] == ["", ""] and all(re.search(r", Open MPI v[0-9.]+\S*, its own launch$", text) for text in kept_for[2:]), kept_for
    assert HELD.format(4) in record() and HELD.format(2) + ", 2 stale" in record(**linear)
    assert HELD.format(2) + ", 2 stale" in record("--launch", "mpirun --oversubscribe --bind-to none -n {ranks}")
    assert "2 added" in record("--bless", **linear) and HELD.format(4) + ", 2 stale" in record(**linear)
    assert any(re.search(r", settings \w{16}, its own launch$", record.get("kept_for", "")) for record in project.records())
    lines = [text_of(record if "settings" not in record.get("kept_for", "") or record["rows"] > 1 else other_result(record)) for record in project.records()]
    project.kept.write_bytes(close([project.kept.read_bytes().splitlines()[0], *lines]))
    (replay,) = re.findall("^  reproduce: (.*)$", record(code=1, **linear), re.M)
    assert all(f"{key}='{value}' " in replay for key, value in linear.items()) and "--ranks '3'" in replay, replay
    project.kept.unlink()


def check_together(project, free):
    """Of several that write the file at once each adds its own: none reads it before the lock of its folder is free."""
    runs = [project.start(free, "--library", f"libmine {k}") for k in range(4)]
    for one in runs:
        said = one.communicate()[0]
        assert one.returncode == 0 and "3 added" in said, said
    for k in range(4):
        assert HELD.format(3) in project.check(free, "--library", f"libmine {k}", code=0)
    before = project.kept.read_bytes()
    project.kept.unlink()
    folder = os.open(project.path, os.O_RDONLY)
    fcntl.flock(folder, fcntl.LOCK_EX)
    one = project.start(free, "--library", "libmine 4")
    try:
        one.wait(timeout=5)
        raise AssertionError(f"it does not wait: {one.communicate()[0]}")
    except subprocess.TimeoutExpired:
        project.kept.write_bytes(before)
    os.close(folder)
    assert "3 added" in one.communicate()[0] and len(project.records()) == 15
    project.kept.unlink()


def check_kill(project, free, behind):
    """Whatever the moment, the file is what it was or what it is to be."""
    project.bless(behind)
    old, begin = project.kept.read_bytes(), time.monotonic()
    project.bless(free)
    new, took = project.kept.read_bytes(), time.monotonic() - begin
    chance, killed = random.Random(1), 0
    assert old != new
    for turn in range(KILLS):
        project.kept.write_bytes(old)
        one = project.start(free)
        time.sleep(chance.uniform(0.6, 1.1) * took)
        killed += one.poll() is None
        one.kill()
        one.communicate()
        assert project.kept.read_bytes() in (old, new), f"turn {turn}"
    print(f"{killed} of {KILLS} killed")


with tempfile.TemporaryDirectory() as scratch:
    check_own()
    check_changes(pathlib.Path(scratch))
    project = Project(pathlib.Path(scratch))
    check_portable(project)
    check_missing(project)
    check_recorded(project)
    check_overflows(project)
    check_refused(project)
    check_ranks(project)
    free, behind = check_environment(project)
    check_together(project, free)
    check_kill(project, free, behind)
