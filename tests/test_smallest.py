"""What verify shows of a guest that is refuted: the smallest of many cases, how far beyond its memory it went, and what was left changed in the first case alone.

test_smallest.py FOLDPROOF LIBRARY_FOLDER GUESTS_FOLDER CC
"""
import pathlib
import re
import sys
import tempfile

sys.dont_write_bytecode = True
from guest_shell import FOLDPROOF, build, verify  # noqa: E402, F401

# Each run adds its row in turn, and WRONG and LEAVES are what it does in addition.
GUEST = """
#include "foldproof_guest.h"
#include <signal.h>
static void nothing(int number) { (void)number; }
static int run(const struct foldproof_guest_call *call, void *context) {
  static int runs;
  const float *x = call->in;
  float *out = call->out;
  (void)context;
  runs++;
  TOUCHES;
  if (LEAVES) signal(SIGUSR1, nothing);
  for (uint64_t r = 0; r < call->rows; r++) {
    float sum = 0;
    for (uint64_t k = 0; k < call->cols; k++) sum += x[r * call->cols + k];
    out[r] = call->cols >= WRONG ? 2 * sum : sum;
  }
  return 0;
}
static const struct foldproof_guest_subject subjects[] = {{.name = "it/it", .claims = "bounded", .run = run}};
static const struct foldproof_guest_table table = {FOLDPROOF_GUEST_ABI, sizeof *subjects, 1, subjects};
const struct foldproof_guest_table *foldproof_guest(void) { return &table; }
"""
CASES = ("--fixtures", "alternating/f32/sum/*,ill_conditioned/f32/sum/*")


def run(folder, wrong, leaves, *options, touches=""):
    source = folder / "it.c"
    source.write_text(GUEST.replace("WRONG", wrong).replace("LEAVES", leaves).replace("TOUCHES", touches))
    return verify("--guest", str(build(folder, "it", source)), *CASES, *options)


def check_smallest(folder):
    for least in ("31", "4097"):
        code, out, err = run(folder, least, "0")
        found = re.search(rf"^REFUTED: it/it on host violates bounded: \S+/f32/sum/1x{least}/\S*\n  error .* is above .*\n"
                          rf"  row 0: got .*, want .*\n  .* times the bound\n  also refuted: bounded \(\d+ more cases?\)\n  reproduce: ", out, re.M)
        assert code == 1 and found and out.count("REFUTED") == 1, (least, out)


EMPTY = """
#include "foldproof_guest.h"
static int run(const struct foldproof_guest_call *call, void *context) {
  const uint64_t n = call->extent[2], k = call->extent[3];
  const float *x = call->in;
  const int32_t *keys = call->other;
  float *out = call->out;
  (void)context;
  for (uint64_t t = 0; t < k; t++)
    for (uint64_t j = 0; j < n; j++) out[keys[t] * n + j] = 0;
  for (uint64_t t = 0; t < k; t++)
    for (uint64_t j = 0; j < n; j++) out[keys[t] * n + j] += x[t * n + j];
  return 0;
}
static const struct foldproof_guest_subject subjects[] = {{.name = "it/slots", .problems = "keyed", .run = run}};
static const struct foldproof_guest_table table = {FOLDPROOF_GUEST_ABI, sizeof *subjects, 1, subjects};
const struct foldproof_guest_table *foldproof_guest(void) { return &table; }
"""


def check_cause(folder):
    """What is left unwritten is the cause of all other refutations: it is named first."""
    (folder / "slots.c").write_text(EMPTY)
    code, out, err = verify("--guest", str(build(folder, "slots", folder / "slots.c")), "--fixtures", "normal/f32/keyed/*", "-q")
    assert code == 1 and err.startswith("REFUTED: it/slots on host violates writes_output: normal/f32/keyed/") and "also refuted: bounded (" in err, (code, out, err)


def check_missing(folder):
    """A case of which all results lack their last term is shown before smaller ones, of which nothing but the last bits are wrong."""
    for lost, name, words in (("5", "5x5/seed1", ": here and in 4 other results term 4 is missing\n"), ("0", "1x1/seed1", "\n")):
        (folder / "lost.c").write_text(GUEST.replace("TOUCHES;", "").replace("LEAVES", "0").replace("out[r] = call->cols >= WRONG ? 2 * sum : sum;",
                                       f"out[r] = call->cols == {lost} ? sum - x[r * call->cols + 4] : 1.001f * sum;"))
        code, out, err = verify("--guest", str(build(folder, "lost", folder / "lost.c")), "--fixtures", "normal/f32/sum/1x[1-5]/*,normal/f32/sum/5x5/*", "-q")
        found = re.match(rf"REFUTED: it/it on host violates bounded: normal/f32/sum/{name}\n  \w.*{words}  row 0: got ", err)
        assert code == 1 and found and "also refuted: bounded (5 more cases)" in err, (lost, out, err)


def check_first_case(folder):
    for leaves, only_first in (("runs == 1", True), ("1", False), ("runs == 500", False)):
        code, out, err = run(folder, "1000000", leaves, "--fixtures", "alternating/f32/sum/*")
        notes = re.search(r"^  leaves_no_trace .*\n((?:    .*\n)*)", out, re.M)[1]
        assert code == 1 and ("set once, in the first case only" in notes) == only_first, (leaves, out)


def check_bounds(folder):
    for touches, words in (("(void)*(volatile const float *)&x[call->rows * call->cols + 2]", "from the start of the input was read, 3 elements past its end"),
                           ("out[call->rows] = 0", "byte 4 from the start of the output was overwritten, 1 element past its end"),
                           ("out[-2] = 0", "byte -8 from the start of the output was overwritten, 2 elements before its start")):
        code, out, err = run(folder, "1000000", "0", "--claims", "stays_in_bounds", "--fixtures", "alternating/f32/sum/1x33/*", touches=touches)
        assert code == 1 and words in out, (touches, out)


def main():
    with tempfile.TemporaryDirectory() as name:
        check_smallest(pathlib.Path(name))
        check_cause(pathlib.Path(name))
        check_missing(pathlib.Path(name))
        check_first_case(pathlib.Path(name))
        check_bounds(pathlib.Path(name))
    print("held")


main()
