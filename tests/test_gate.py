"""The command gate: it refuses each cheat of guests/gate_cheats.c by what the cheat does, and passes honest guests, whatever the seed.

test_gate.py FOLDPROOF LIBRARY_FOLDER GUESTS_FOLDER CC HUNT_FAULTS.so HUNT_HONEST.so
"""
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import guest_shell

FOLDPROOF, HONEST = (str(pathlib.Path(name).resolve()) for name in (guest_shell.FOLDPROOF, sys.argv[6]))
VALUE = r"violates bounded: "
# A kept result belongs to another input or another call; the seed decides which claim shows that first.
KEPT = r"violates (bounded|run_to_run|writes_output|stays_in_bounds|keeps_input|leaves_no_trace): "
# What the last line says of each cheat. Published ones: zeros where results are near zero pass an absolute tolerance (KernelBench#165); NaN pass
# a comparison that skips them, results are kept or come from the call before, and calls that are timed are told by the address (pygpubench#7).
CHEATS = {
    "zeros": VALUE, "nans": VALUE, "echo": VALUE,
    "nothing": r"violates (bounded|writes_output): ",
    "keeps_output": r"violates (bounded|writes_output): ",
    "adds_to_output": r"violates (bounded|writes_output|run_to_run): ",
    "clears_input": r"violates (bounded|keeps_input): ",
    "only_contiguous": r"violates stride_invariant: ",
    "only_aligned": r"violates (bounded|run_to_run|alignment_invariant): ",
    "by_pointer": KEPT,
    "by_shape": KEPT,
    "by_ends": KEPT,
    "by_sample": r"it (did not read its input: a call on [\d.]+ MB took|keeps results: a call on an input seen before took) .* \(timed/f32/sum/",
    "by_content": r"it keeps results: a call on an input seen before took .*, on new ones at least .* \(timed/f32/sum/",
    "by_calls": KEPT,
    "ends": r"(processes that it ran in ended, first in cheat/ends on |breaks, judged by \w+: )",
    "earlier": KEPT,
    "known_sizes": VALUE,
    "samples": r"violates bounded: (timed|hunt)/f32/sum/",
    "on_a_thread": KEPT,
}
FEW = ("rising_sum", "chunks_64", "numpy", "cached_plan", "last_content", "threads", "from_first", "kahan")


def gate(folder, *words):
    done = subprocess.run([FOLDPROOF, "gate", *map(str, words)], cwd=folder, capture_output=True, text=True, timeout=800)
    return done.returncode, done.stdout, done.stderr


def subjects_of(guest):
    listed = subprocess.run([FOLDPROOF, "list", "subjects", "--guest", guest], capture_output=True, text=True, check=True).stdout
    return [word for word in re.findall(r"^(\S+)", listed, re.M) if word.startswith(("cheat/", "honest/"))]


def check_cheats(folder):
    """Each cheat fails, and a find has its block and a line that repeats it. A busy machine may need longer to come to the fixture that shows it."""
    assert subjects_of(str(folder / "cheats.so")) == ["cheat/honest", *(f"cheat/{name}" for name in subjects_named())]
    for name in subjects_named():
        for seconds in (10, 40, 160):
            code, out, err = gate(folder, "--guest", "./cheats.so", f"cheat/{name}", "--time", seconds)
            if code:
                break
        last = out.splitlines()[-1] if out else ""
        assert code == 1 and re.match(rf"FAIL: cheat/{name}: {CHEATS[name]}", last), (name, out, err)
        assert re.search(r" \(seed 0x[0-9a-f]+\)$", last), last
        assert not last.count("violates") or (f"REFUTED: cheat/{name} on host" in out and "\n  reproduce: " in out), out


def subjects_named():
    source = (guest_shell.GUESTS / "gate_cheats.c").read_text()
    names = re.findall(r"cheat/(\w+)\"|CHEAT\((\w+), \"", source)
    return [a or b for a, b in names if (a or b) != "honest"]


def check_honest(folder):
    """An honest guest passes, in about the time that it is given, and the seed is drawn anew."""
    seeds = set()
    for guest, name in (("./cheats.so", "cheat/honest"), *((HONEST, f"honest/{few}") for few in FEW)):
        for _ in range(3):  # a machine may stand still for a moment, but not each time
            begun = time.monotonic()
            code, out, err = gate(folder, "--guest", guest, name, "--time", "4s")
            seconds = time.monotonic() - begun
            if seconds < 12:
                break
        assert seconds < 12, (name, seconds)
        line = re.fullmatch(r"PASS: (\S+): \d+ verdicts held on \d+ random cases, [1-9]\d* timed calls and \d+ fixtures, in [\d.]+ s(?:; of random cases \d+ verdicts? w\w+ skipped)? \(seed (0x[0-9a-f]+)\)\n", out)
        assert code == 0 and line and line[1] == name and not err, (name, out, err)
        seeds.add(line[2])
        print(f"  {name} {seconds:.1f} s", flush=True)
    assert len(seeds) >= 5, seeds


def check_seed(folder):
    """The same seed draws the same cases."""
    words = ("--guest", "./cheats.so", "cheat/known_sizes", "--time", "5s", "--seed", "0x5")
    (one, first, _), (two, second, _) = gate(folder, *words), gate(folder, *words)
    assert one == two == 1 and first.splitlines()[-1].endswith("(seed 0x5)"), (first, second)


def check_slow(folder):
    """Some fixtures are judged, even where the time is over after the first of them."""
    code, out, err = gate(folder, "--guest", "./none.so", "honest/slow", "--time", "1s", "--claims", "bounded")
    fixtures = re.search(r"^PASS: honest/slow: .* and (\d+) fixtures, in ", out)
    assert code == 0 and fixtures and int(fixtures[1]) >= 8, (out, err)
    # And some calls are timed, even where the machine stands still in one of the first until their time is over.
    code, out, err = gate(folder, "--guest", "./none.so", "honest/stalls", "--time", "5s", "--claims", "bounded")
    timed = re.search(r"^PASS: honest/stalls: .* (\d+) timed calls and ", out)
    assert code == 0 and timed and int(timed[1]) >= 5 and (folder / "stalled").exists(), (out, err)


def check_kinds(folder):
    """Few fixtures try whether rows may lie apart. One of them is among the first."""
    code, out, err = gate(folder, "--guest", "./none.so", "cheat/slow_in_rows", "--time", "3s")
    assert code == 1 and "violates stride_invariant" in out, (out, err)


def check_claims(folder):
    """Whatever is claimed, or named, strides that the guest takes are tried; bits that change with the address are no failure of a guest that claims no such thing."""
    code, out, err = gate(folder, "--guest", "./cheats.so", "cheat/only_contiguous", "--time", "4s", "--claims", "bounded,run_to_run")
    assert code == 1 and "violates stride_invariant" in out, (out, err)
    code, out, err = gate(folder, "--guest", HONEST, "honest/numpy", "--time", "4s", "--claims", "bounded")
    assert code == 0, (out, err)
    code, out, err = gate(folder, "host/kahan", "--claims", "bounded")
    assert code == 2 and not out and "no selected subject claims bounded: host/kahan claims compensated, " in err, (out, err)


def check_ends(folder):
    for words, code, says in (((), 2, "subjects are selected, and one is judged: name one of cheat/honest, cheat/zeros"),
                              (("cheat/no",), 2, "no subject"), (("cheat/zeros", "--time", "x"), 2, "--time"),
                              (("cheat/zeros", "--seed", "-1"), 2, "--seed -1"), (("cheat/zeros", "--claims", "nonsense"), 2, "nonsense"),
                              (("cheat/zeros", "--found", "/dev/null/x"), 2, "/dev/null/x"),
                              (("cheat/unsupported",), 77, "nothing was judged of cheat/unsupported")):
        done, out, err = gate(folder, "--guest", "./cheats.so" if "unsupported" not in str(words) else "./none.so", "--time", "3s", *words)
        assert done == code and says in err and err.count("\n") == 1, (words, done, out, err)
    code, _, err = gate(folder, "--guest", "./cheats.so", "cheat/honest", "--engine", "cuda")
    assert code in (2, 77) and err.count("\n") == 1, (code, err)


NONE = """#include <fcntl.h>
#include <unistd.h>
#include "foldproof_guest.h"
static int run(const struct foldproof_guest_call *call, void *context) { return (void)call, (void)context, FOLDPROOF_GUEST_UNSUPPORTED; }
static int sum(const struct foldproof_guest_call *call, void *context) {
  for (uint64_t row = 0; row < call->rows; row++) {
    double sum = 0;
    for (uint64_t i = 0; i < call->cols; i++) sum += (double)((const float *)call->in)[row * call->cols + i];
    ((float *)call->out)[row] = (float)sum;
  }
  return (void)context, FOLDPROOF_GUEST_OK;
}
static int slow(const struct foldproof_guest_call *call, void *context) { return usleep(20000), sum(call, context); }
static int stalls(const struct foldproof_guest_call *call, void *context) {
  static int calls;
  if (call->rows * call->cols > 1 << 18 && ++calls == 3 && open("stalled", O_CREAT | O_EXCL, 0600) >= 0) usleep(1500000);
  return sum(call, context);
}
static int slow_in_rows(const struct foldproof_guest_call *call, void *context) { return usleep(4000), sum(call, context); }
static const struct foldproof_guest_subject subjects[] = {
    {.name = "cheat/slow_in_rows", .claims = "bounded", .strides = 1, .run = slow_in_rows},
    {.name = "cheat/unsupported", .run = run}, {.name = "honest/slow", .claims = "bounded", .run = slow}, {.name = "honest/stalls", .claims = "bounded", .run = stalls}};
static const struct foldproof_guest_table table = {FOLDPROOF_GUEST_ABI, sizeof *subjects, 4, subjects};
const struct foldproof_guest_table *foldproof_guest(void) { return &table; }
"""


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        guest_shell.build(folder, "cheats", guest_shell.GUESTS / "gate_cheats.c", options=("-pthread", "-D_GNU_SOURCE"))
        (folder / "none.c").write_text(NONE)
        guest_shell.build(folder, "none", folder / "none.c")
        for check in (check_cheats, check_honest, check_seed, check_slow, check_kinds, check_claims, check_ends):
            begun = time.monotonic()
            check(folder)
            print(check.__name__, round(time.monotonic() - begun, 1), "s", flush=True)
    print("ok")


if __name__ == "__main__":
    sys.exit(main())
