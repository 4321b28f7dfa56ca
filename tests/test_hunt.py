"""The command hunt: what it finds in faulty guests, how small, that its fixtures repeat it, its ledger, and its ends.

test_hunt.py FOLDPROOF LIBRARY_FOLDER GUESTS_FOLDER CC
"""
import json
import pathlib
import re
import shutil
import shlex
import signal
import subprocess
import sys
import tempfile
import time

import guest_shell

FOLDPROOF = str(pathlib.Path(guest_shell.FOLDPROOF).resolve())
# A sum of rows whose faults the environment does not choose: each subject has its own.
SOURCE = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "foldproof_guest.h"
enum { HONEST, TAIL, ENDS, KEPT, SLOW, HANGS, LANES, ROWS, LOST, TURN, COARSE };
/* Notes each time, in the folder at hand. */
static void hang(void) {
  FILE *times = fopen("hangs", "a");
  if (times && fputs("one\n", times) >= 0 && fclose(times) == 0)
    for (;;) pause();
}
/* Twelve digits of it. */
static float coarse(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  bits &= 0xfffff000;
  memcpy(&x, &bits, sizeof x);
  return x;
}
static float in_lanes(const float *x, uint64_t n) {
  float lanes[4] = {0};
  for (uint64_t i = 0; i < n; i++) lanes[i % 4] += x[i];
  return lanes[0] + lanes[1] + (lanes[2] + lanes[3]);
}
/* The number of this call among those of so many terms. */
static unsigned turn_of(uint64_t n) {
  static unsigned turns[8192];
  return n < 8192 ? ++turns[n] : 0;
}
static int run(const struct foldproof_guest_call *call, void *context) {
  static float longest[4096];
  static uint64_t kept;
  const int fault = *(const int *)context;
  const uint64_t n = call->cols;
  const unsigned turn = fault == TURN ? turn_of(n) : 0;
  for (uint64_t r = 0; r < call->rows; r++) {
    const float *x = (const float *)call->in + r * n;
    uint64_t end = n;
    float sum = 0;
    if ((fault == TAIL || fault == COARSE) && n > 300 && n % 24 == 23) end--;
    if (fault == ENDS && n > 100 && n < 130) abort();
    if (fault == HANGS && n > 300 && n % 24 == 23) hang();
    for (uint64_t i = 0; i < end; i++) sum += x[i];
    if (fault == SLOW && r == 0) usleep(50000), sum += 1;
    if (fault == KEPT && n >= 70 && n < 90 && kept > 1000) sum += 1 + longest[0];
    if (fault == LANES && n >= 50) sum = in_lanes(x, n);
    if (fault == ROWS && n > 600 && call->rows >= 20 && call->rows <= 30) sum = in_lanes(x, n);
    if (fault == LOST && n > 600 && call->rows >= 20 && call->rows <= 30) sum -= x[0];
    if (turn == 5) sum = in_lanes(x, n);
    if (n < 4096 && n > kept) kept = n;
    if (fault == COARSE) sum = coarse(sum);
    ((float *)call->out)[r] = sum;
  }
  return 0;
}
static int faults[] = {HONEST, TAIL, ENDS, KEPT, SLOW, HANGS, LANES, ROWS, LOST, TURN, COARSE};
#define SUBJECT(name, k) {name, .order = "host/sequential", .run = run, .context = &faults[k]}
static const struct foldproof_guest_subject subjects[] = {
    SUBJECT("mine/honest", HONEST), SUBJECT("mine/tail", WRONG), SUBJECT("mine/ends", DIES), SUBJECT("mine/kept", KEPT),
    SUBJECT("mine/slow", SLOW), SUBJECT("mine/hangs", HANGS), SUBJECT("mine/lanes", LANES),
    SUBJECT("mine/rows", ROWS), SUBJECT("mine/lost", LOST), SUBJECT("mine/turn", TURN),
    SUBJECT("mine/coarse", COARSE)};
static const struct foldproof_guest_table table = {1, sizeof *subjects, sizeof subjects / sizeof *subjects, subjects};
const struct foldproof_guest_table *foldproof_guest(void) { return &table; }
"""


def build(folder, name, wrong="TAIL", dies="ENDS"):
    (folder / f"{name}.c").write_text(SOURCE.replace("WRONG", wrong).replace("DIES", dies))
    return guest_shell.build(folder, name, folder / f"{name}.c")


def start(folder, *words):
    return subprocess.Popen([FOLDPROOF, "hunt", *map(str, words)], cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def unwrapped(out):
    """Lines that end in the middle of a sentence go on."""
    return re.sub(r"\n    +", " ", out)


def hunt(folder, *words):
    process = start(folder, *words)
    out, err = process.communicate(timeout=300)
    return process.returncode, unwrapped(out), err


def fixtures(folder):
    return {path.name: path.read_text() for path in sorted(folder.glob("*.ini"))}


def repeated(folder, out):
    """The exit codes of the lines that repeat what was found."""
    lines = re.findall(r"reproduce: (.*)", out)
    return [subprocess.run(shlex.split(line), cwd=folder, capture_output=True).returncode for line in lines]


def check_find(folder):
    """A length in 24 is found, made as small as it can be, and repeated from its file; the same seed finds the same."""
    words = ("--guest", "./mine.so", "mine/tail", "--claims", "bounded", "--cases", 900, "--jobs", 1, "--seed", "0x7")
    code, out, err = hunt(folder, *words, "--found", "one")
    assert code == 1 and out.count("REFUTED: ") == 1 and not err, (out, err)
    assert "f32/sum/1x311" in out and "refuted at k = 311 and each 24 more" in out, out
    assert "runs: all terms are 0, 1 or -1\n" in out, out
    assert "\n1 found: " in out and "seed 0x7\n" in out, out
    assert repeated(folder, out) == [1], out
    assert hunt(folder, *words, "--found", "two")[0] == 1
    assert fixtures(folder / "one") == fixtures(folder / "two") and len(fixtures(folder / "one")) == 1


def judging(folder, fixture):
    """What verify prints of a file's cases."""
    name = pathlib.Path(fixture)
    return subprocess.run([FOLDPROOF, "verify", "--guest", "./mine.so", "mine/coarse", "--claims", "bounded", "--fixture-folder", name.parent, "--fixtures", name.stem],
                          cwd=folder, capture_output=True, text=True).stdout


def check_second_error(folder):
    """Lost last terms are reported beside another error of the same claim, which most cases show."""
    code, out, err = hunt(folder, "--guest", "./mine.so", "mine/coarse", "--claims", "bounded", "--cases", 6000, "--seed", 7, "--found", "coarse")
    assert code == 1 and out.count("REFUTED: ") == 2 and not err, (out, err)
    first, second = sorted(out.split("REFUTED: ")[1:], key=lambda find: "missing" in find)
    assert "missing" not in first and re.search(r"here and in \d+ other results term \d+ is missing", second) and "each 24 more" in second, out
    assert repeated(folder, out) == [1, 1], out
    # Nor does a ledger that expects the first one hide them.
    words = ("--guest", "./mine.so", "mine/coarse", "--claims", "bounded", "--cases", 6000, "--seed", 7, "--found", "expected", "--ledger", "expected.jsonl")
    assert hunt(folder, *words)[1].count("REFUTED: ") == 2
    lines = (folder / "expected.jsonl").read_text().splitlines()
    missing = [name for name in ("expected/" + path.name for path in (folder / "expected").glob("*.ini")) if "missing" in unwrapped(judging(folder, name))]
    (folder / "expected.jsonl").write_text("".join(line + "\n" for line in lines if json.loads(line)["fixture"] not in missing))
    code, out, err = hunt(folder, *words)
    assert len(missing) == 1 and code == 1 and out.count("REFUTED: ") == 1 and "is missing" in out and "were expected by the ledger" in unwrapped(out), (missing, out, err)
    code, out, err = hunt(folder, "--guest", "./mine.so", "mine/tail", "--claims", "bounded", "--cases", 5000, "--seed", 7, "--found", "once")
    assert code == 1 and out.count("REFUTED: ") == 1, (out, err)  # the same error is found once, in one row and in many


def check_honest(folder):
    code, out, err = hunt(folder, "--guest", "./mine.so", "mine/honest", "--cases", 600, "--seed", 3)
    assert code == 0 and "\n0 found: " in out and " 0 refuted, 0 broken" in out and not err, (out, err)
    assert not (folder / "foldproof-found").exists()


def check_terms(folder):
    """No case has more terms than --terms; without it some have. At 40 none has a length that mine/tail gets wrong."""
    words = ("--guest", "./mine.so", "--cases", 900, "--seed", "0x7", "mine/tail", "--claims", "bounded")
    code, out, err = hunt(folder, *words, "--terms", 40)
    assert code == 0 and re.search(r"terms: \d+ of below 16, \d+ of below 256, 0 of below 4096, 0 of below 65536, 0 of more", out), (out, err)


def check_first(folder):
    """What the round at hand has found counts, though the time is over before its end."""
    code, out, err = hunt(folder, "--guest", "./mine.so", "mine/slow", "--claims", "bounded", "--first", "--time", "1s", "--seed", 5, "--found", "slow")
    assert code == 1 and "\n1 found: " in out, (out, err)


def check_state(folder):
    """What a call depends on that came before it in the same process is kept with it."""
    code, out, err = hunt(folder, "--guest", "./mine.so", "mine/kept", "--claims", "bounded", "--first", "--cases", 4000, "--seed", 5, "--found", "kept")
    assert code == 1 and "alone it holds: 1 case must run before it in the same process" in out, (out, err)
    (text,) = fixtures(folder / "kept").values()
    assert text.count("\n[") == 2 or text.count("[found-") == 2, text
    (line,) = re.findall(r"reproduce: (.*)", out)
    (name,) = re.findall(r"fixture: kept/(.*)\.ini", out)
    words = shlex.split(line)
    assert words[-1] == name, line  # the file with all its cases, not one case
    assert subprocess.run(words, cwd=folder, capture_output=True).returncode == 1, line


def check_ledger(folder):
    """Known failures are expected; one that holds is reported; an input that ended its process is not run again."""
    words = ("--guest", "./mine.so", "mine/tail,mine/ends", "--claims", "bounded", "--cases", 900, "--jobs", 1, "--seed", 7, "--ledger", "l.jsonl")
    code, out, err = hunt(folder, *words)
    assert code == 1 and "REFUTED: mine/tail" in out and "BROKEN: mine/ends" in out, (out, err)
    lines = [json.loads(line) for line in (folder / "l.jsonl").read_text().splitlines()]
    assert [(line["subject"], line["claim"], line["broken"]) for line in sorted(lines, key=lambda line: line["subject"])] == [
        ("mine/ends", "bounded", True), ("mine/tail", "bounded", False)], lines
    code, out, err = hunt(folder, *words)
    assert code == 0 and "\n0 found: " in out and "HOLDS" not in out, (out, err)
    tail = next(line["fixture"] for line in lines if line["subject"] == "mine/tail")
    done = subprocess.run([FOLDPROOF, "verify", "--guest", "./mine.so", "mine/tail", "--claims", "bounded", "-f", tail], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 1 and "REFUTED: mine/tail" in done.stdout, done
    assert len((folder / "l.jsonl").read_text().splitlines()) == 2
    build(folder, "mine", wrong="HONEST", dies="HONEST")
    code, out, err = hunt(folder, *words)
    assert code == 1 and out.count("HOLDS: mine/tail") == 1 and "\n0 found: " in out, (out, err)
    assert {line["fixture"].split("/")[0] for line in lines} == {"foldproof-found"}, lines
    elsewhere = folder / "elsewhere"  # moved with its fixtures, one of which is gone
    elsewhere.mkdir()
    for path in (folder / "l.jsonl", folder / "foldproof-found"):
        (shutil.copytree if path.is_dir() else shutil.copy)(path, elsewhere / path.name)
    gone = next(line["fixture"] for line in lines if line["broken"])
    (elsewhere / gone).unlink()
    code, out, err = hunt(folder, *words[:-1], "elsewhere/l.jsonl")
    assert code == 1 and out.count("HOLDS: mine/tail on host, elsewhere/foldproof-found/found-") == 1, (out, err)
    assert f"elsewhere/{gone}: no such file: this line of the ledger is left out" in err and err.count("\n") == 1, err
    (elsewhere / tail).unlink()
    code, out, err = hunt(folder, *words[:-1], "elsewhere/l.jsonl")
    assert code == 0 and "HOLDS" not in out and err.count(": no such file: ") == 2, (out, err)
    (folder / "lanes.jsonl").write_text((folder / "l.jsonl").read_text().splitlines()[0].replace("mine/tail", "mine/lanes").replace("mine/ends", "mine/lanes")
                                        .replace('"bounded"', '"same_bits_as"').replace('"broken":true', '"broken":false') + "\n")
    code, out, err = hunt(folder, "--guest", "./mine.so", "mine/lanes", "--claims", "bounded", "--cases", 64, "--ledger", "lanes.jsonl")
    assert code == 0 and "HOLDS" not in out, (out, err)  # a claim that this hunt does not judge
    (folder / "l.jsonl").write_text('{"type": "found"}\n')
    code, out, err = hunt(folder, *words)
    assert code == 2 and "l.jsonl:1: " in err and err.count("\n") == 1, (out, err)
    build(folder, "mine")


def check_hang(folder):
    """A run that hangs costs its time limit once. The other subjects are hunted on."""
    words = ("--guest", "./mine.so", "mine/tail,mine/hangs", "--claims", "bounded,run_to_run", "--cases", 900, "--jobs", 1, "--seed", 7, "--timeout", 2)
    code, out, err = hunt(folder, *words, "--found", "hang")
    assert code == 1 and out.count("BROKEN: mine/hangs") == 1 and "\n  it is not run any more in this hunt\n" in out, (out, err)
    assert "REFUTED: mine/tail" in out and "f32/sum/1x311" in out and "\n1 subject hung, and was not run after that\n" in out, out
    assert (folder / "hangs").read_text() == "one\n"


def check_two(folder):
    """The input on which two differ, small, and which is nearer to the exact result."""
    for words, names in ((("--guest", "./mine.so", "mine/lanes", "--same-bits-as", "mine/honest"), ("mine/lanes", "mine/honest")),
                         (("host/sequential", "--same-bits-as", "host/pairwise"), ("host/sequential", "host/pairwise"))):
        code, out, err = hunt(folder, *words, "--claims", "same_bits_as", "--first", "--cases", 4000, "--seed", 5, "--found", names[0].replace("/", "-"))
        assert code == 1 and f"REFUTED: {names[0]} on host violates same_bits_as: found-" in out and f"different bits than {names[1]}; " in out, (out, err)
        assert re.search(rf"; errors of \S+ and \S+ ulps: ({names[0]}|{names[1]}|neither) is nearer to the exact result\n", out), out
        assert repeated(folder, out) == [1], out
    subprocess.run([FOLDPROOF, "verify", "host/sequential,host/pairwise", "--same-bits-as", "host/pairwise", "--claims", "same_bits_as,bounded", "--fixtures", "normal/f32/sum/1x1*",
                    "--jsonl", "two.jsonl", "-q"], cwd=folder, capture_output=True)
    again = subprocess.run([FOLDPROOF, "recheck", "two.jsonl"], cwd=folder, capture_output=True, text=True).stdout
    assert " 0 contradictions; " in again and "violates same_bits_as" in again, again
    code, out, err = hunt(folder, "host/pairwise", "--same-bits-as", "host/pairwise", "--cases", 1)
    assert code == 2 and "--same-bits-as host/pairwise: no other subject is selected" in err, err


def check_two_objects(folder):
    """The other one runs in a process of its own, on the same of several cases that have one name."""
    build(folder, "other")
    for turn in range(3):
        code, out, err = hunt(folder, "--guest", "./mine.so", "--guest", "./other.so", "mine/lanes@2", "mine/honest", "--same-bits-as", "mine/honest", "--claims", "same_bits_as", "--first",
                              "--time", "60s", "--seed", 5, "--found", f"objects{turn}")
        if re.search(r" runs: (all terms are 0, 1 or -1|[1-8] terms? (is|are) neither 0, 1 nor -1)\n", out):
            break
    else:
        raise AssertionError((out, err))
    assert code == 1 and "REFUTED: mine/lanes@2 on host violates same_bits_as" in out and repeated(folder, out) == [1], (out, err)


PROGRAM = """import sys
import numpy as np
x = np.load(sys.argv[1])
np.save(sys.argv[2], x.astype('f8').sum(-1).astype(x.dtype))
"""


def check_programs(folder):
    """Programs of several processes do not share their arrays."""
    if subprocess.run([sys.executable, "-c", "import numpy"], capture_output=True).returncode:
        return
    (folder / "program.py").write_text(PROGRAM)
    command = f"{sys.executable} -W ignore program.py {{in}} {{out}}"
    code, out, err = hunt(folder, "--exec", command, "--time", "6s", "--jobs", 3, "--claims", "bounded", "--terms", 100, "--seed", 5, "--finite", "--found", "programs")
    assert code == 0 and "\n0 found: " in out and not err, (out, err)


def check_small(folder):
    """Of faults of the order few terms are left that are neither 0, 1 nor -1; numbers of rows are named exactly. To make a find small may take ten seconds, in which a
    busy machine may not come so far in one of three hunts."""
    for name, claim, says in (("rows", "batch_invariant", ("same bits up to 19 rows, different bits from 20",)), ("turn", "run_to_run", ()),
                              ("lost", "bounded", ("f32/sum/20x601", "refuted from k = 601 on, from m = 20 to 30")), ("lanes", "replays", ("f32/sum/1x50", "refuted from k = 50 on"))):
        for turn in range(3):
            code, out, err = hunt(folder, "--guest", "./mine.so", f"mine/{name}", "--claims", claim, "--first", "--time", "100s", "--seed", 5, "--found", f"{name}{turn}")
            few = re.search(r" runs: (?:all terms are 0, 1 or -1|([1-8]) terms? (?:is|are) neither 0, 1 nor -1)\n", out)
            if few and all(words in out for words in says):
                break
        assert code == 1 and few and all(words in out for words in says), (out, err)
        assert repeated(folder, out) == [1], out


def judged(folder, subject, *words):
    """The record of bounded of the one case."""
    done = subprocess.run([FOLDPROOF, "verify", subject, *words, "--claims", "bounded", "--jsonl", "-", "-q"], cwd=folder, capture_output=True, text=True)
    (line,) = [line for line in map(json.loads, filter(lambda text: text.startswith("{"), done.stdout.splitlines())) if line["type"] == "judgement"]
    return line


def check_worst(folder):
    """The greatest error over its bound, with its input; above 1 for a fault."""
    words = ("--worst", "--seed", 2, "--time", "4s", "--found", "worst")
    code, out, err = hunt(folder, "--guest", "./mine.so", "mine/honest", *words)
    found = re.match(r"mine/honest on host: (\S+) of the bound, in f32 sum of \d+ terms \(\d+ runs\): (\S+)$", " ".join(out.split()))
    assert found, out
    fraction, path = found.groups()
    assert code == 0 and 0.5 < float(fraction) <= 1 and not err, (out, err)
    name = pathlib.Path(path).stem
    line = judged(folder, "mine/honest", "--guest", "./mine.so", "--fixture-folder", "worst", "--fixtures", name)
    assert line["verdict"] == "held" and abs(line["bound_fraction"] - float(fraction)) < 1e-3, line
    code, out, err = hunt(folder, "--guest", "./mine.so", "mine/tail", *words)
    assert code == 1 and " of the bound, in f32 sum of " in out, (out, err)


def check_worst_in_ulps(folder):
    """The greatest error in ulps: terms of a plain sum cancel, and nothing bounds it."""
    code, out, err = hunt(folder, "host/sequential", "--worst=ulps", "--seed", 2, "--time", "4s", "--terms", 32, "--found", "ulps")
    found = re.match(r"host/sequential on host: (\S+) ulps, in \S+ \S+ of \d+ terms \(\d+ runs\): (\S+)$", " ".join(out.split()))
    assert found and code == 0 and not err and float(found[1]) > 1000, (out, err)
    line = judged(folder, "host/sequential", "--fixture-folder", "ulps", "--fixtures", pathlib.Path(found[2]).stem)
    assert line["verdict"] == "held" and f"{line['ulps']:.4g}" == found[1], line
    code, _, err = hunt(folder, "host/sequential", "--worst=bits")
    assert code == 2 and "--worst=bits: bound or ulps" in err, err


def check_interrupted(folder):
    """What is found by then is kept, and no process is left."""
    process = start(folder, "--guest", "./mine.so", "mine/tail", "--claims", "bounded", "--time", "10m", "--found", "kept-on")
    until = time.monotonic() + 120
    while not fixtures(folder / "kept-on") and time.monotonic() < until:
        time.sleep(0.05)
    begun = time.monotonic()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 99 and "interrupted: what was found is kept" in err, (out, err)
    assert time.monotonic() - begun < 30 and "\n1 found: " in out and len(fixtures(folder / "kept-on")) == 1, out
    left = subprocess.run(["pgrep", "-f", f"{folder}"], capture_output=True, text=True)
    assert left.returncode == 1, left.stdout


def check_refused(folder):
    for words, says in ((("--time", "x"), "--time"), (("--time", ""), "--time"), (("--time", "5d"), "--time 5d"),
                        (("--seed", "q"), "--seed q: "), (("--seed", "-1"), "--seed"), (("--seed", "0x1ffffffffffffffff"), "--seed"),
                        (("--cases", "0"), "--cases 0: at least 1"), (("--jobs", "9"), "--jobs 9: at most 8"),
                        (("no/such",), "no/such"), (("--found", "/dev/null/x"), "/dev/null/x"), (("--found", "f" * 300), "fff")):
        code, out, err = hunt(folder, "--guest", "./mine.so", "mine/tail", "--cases", 400, "--seed", 7, *words)
        assert code == 2 and says in err and len(err.splitlines()) == 1, (words, code, out, err)
    begun = time.monotonic()
    for path in ("/dev/null/ledger", "."):
        code, out, err = hunt(folder, "--guest", "./mine.so", "mine/tail", "--time", "1h", "--ledger", path)
        assert code == 2 and "cannot be written" in err and len(err.splitlines()) == 1 and not out, (code, out, err)
    assert time.monotonic() - begun < 60
    for words, says in ((("--worst", "--first"), "takes no --ledger and no --first"), (("--npy", "x.npy"), "--npy has no effect"), (("--fixtures", "x"), "--fixtures has no effect")):
        code, out, err = hunt(folder, "host/pairwise", *words)
        assert code == 2 and says in err and not out, (code, out, err)
    code, out, err = hunt(folder, "--engine", "mpi", "--cases", 1)
    assert code in (2, 77) and len(err.splitlines()) == 1, (code, out, err)


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        build(folder, "mine")
        for check in (check_find, check_second_error, check_honest, check_terms, check_first, check_state, check_ledger, check_hang, check_two, check_two_objects, check_programs, check_small, check_worst, check_worst_in_ulps, check_interrupted, check_refused):
            begun = time.monotonic()
            check(folder)
            print(check.__name__, round(time.monotonic() - begun, 1), "s", flush=True)
    print("ok")


if __name__ == "__main__":
    sys.exit(main())
