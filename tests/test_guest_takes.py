#!/usr/bin/env python3
"""Guests that report an error for NaN, infinities or rows of no terms; and the time limit of a command. test_guest_takes.py FOLDPROOF"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
PROGRAM = """
import json, math, struct, sys, time
for line in sys.stdin:
    asked = json.loads(line)
    answer = {"name": "mine/sum", "dtypes": "f32", "claims": "run_to_run,batch_invariant"FINITE}
    if asked["ask"] == "run":
        time.sleep(float(sys.argv[1]))
        terms = struct.unpack("<%df" % (asked["rows"] * asked["cols"]), open(asked["in"], "rb").read()[-4 * asked["rows"] * asked["cols"] or 1 << 30:])
        answer = {}
        if not all(map(math.isfinite, terms)):
            answer = {"error": "NaN is here"}
        elif not asked["cols"]:
            answer = {"error": "no terms"}
        elif asked["cols"] == 33 and len(sys.argv) > 2:
            answer = {"error": "33 are too many"}
        else:
            head = b"\\x93NUMPY\\x01\\x00v\\x00" + ("{'descr': '<f4', 'fortran_order': False, 'shape': (%d,), }" % asked["rows"]).ljust(117).encode() + b"\\n"
            sums = [sum(terms[r * asked["cols"]:(r + 1) * asked["cols"]]) for r in range(asked["rows"])]
            open(asked["out"], "wb").write(head + struct.pack("<%df" % len(sums), *sums))
    print(json.dumps(dict(answer, id=asked["id"])), flush=True)
"""
CASES = "special*,normal/f32/sum/*x33/*,normal/f32/sum/1x1023/*,uniform/f32/sum/4x0/*"


def judge(*words, sleep="0", more="", finite=""):
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder, "sum.py")
        program.write_text(PROGRAM.replace("FINITE", finite))
        records = pathlib.Path(folder, "run.jsonl")
        begun = time.monotonic()
        done = subprocess.run([sys.argv[1], "verify", "--exec", f"{sys.executable} {program} {sleep} {more}", "--fixtures", CASES, "--jsonl", str(records), *words],
                              capture_output=True, text=True)
        lines = [json.loads(line) for line in records.read_text().splitlines()] if records.exists() else []
        return done, [r for r in lines if r["type"] == "judgement"], time.monotonic() - begun


def reasons(found, verdict):
    return {r.get("reason") for r in found if r["verdict"] == verdict}


def test_what_it_does_not_take_is_skipped():
    done, found, _ = judge()
    assert done.returncode == 0, done.stdout + done.stderr
    assert {r["verdict"] for r in found} == {"held", "skipped"}, found
    assert "it does not take NaN or infinity: NaN is here" in reasons(found, "skipped"), found
    assert "it does not take rows of no terms: no terms" in reasons(found, "skipped")
    assert {r["verdict"] for r in found if r["cols"] in (33, 1023)} == {"held"}


def test_what_it_fails_on_besides_is_broken():
    done, found, _ = judge(more="33")
    assert done.returncode == 99, done.returncode
    broken = [r for r in found if r["verdict"] == "broken"]
    assert {r["cols"] for r in broken} == {33} and {r["reason"] for r in broken} == {"33 are too many"}, broken


def test_finite_is_said_by_the_command_or_the_table():
    for words, table in ((["--finite"], ""), ([], ', "finite": True')):
        done, found, _ = judge(*words, finite=table)
        assert done.returncode == 0 and "it takes finite terms only" in reasons(found, "skipped"), done.stdout + done.stderr
        assert "NaN is here" not in str(found)


def test_a_table_says_that_it_skips_nan():
    done, found, _ = judge(finite=', "skips_nan": True')
    assert done.returncode == 0 and "it skips NaN" in reasons(found, "skipped"), done.stdout + done.stderr
    assert {r["case"] for r in found if "NaN is here" in r.get("reason", "")}, "infinities are kept from it, too"


INTEGERS = """
#include "foldproof_guest.h"
static int sum(const struct foldproof_guest_call *call, void *narrow) {
  if (call->dtype != FOLDPROOF_GUEST_I32 && call->dtype != FOLDPROOF_GUEST_I64) return 1;
  if (call->result != FOLDPROOF_GUEST_I64) return 2;
  for (uint64_t r = 0; r < call->rows; r++) {
    uint64_t all = 0;
    for (uint64_t i = r * call->cols; i < (r + 1) * call->cols; i++)
      all += call->dtype == FOLDPROOF_GUEST_I32 ? (uint64_t)((const int32_t *)call->in)[i] : (uint64_t)((const int64_t *)call->in)[i];
    ((int64_t *)call->out)[r] = narrow ? (int32_t)(uint32_t)all : (int64_t)all;
  }
  return 0;
}
static char narrow[1];
static const struct foldproof_guest_subject subjects[] = {
    {.name = "mine/wide", .dtypes = "i32", .result = "i64", .run = sum},
    {.name = "mine/narrow", .dtypes = "i32", .result = "i64", .run = sum, .context = narrow},
    {.name = "mine/wraps", .dtypes = "i64", .wraps = 1, .run = sum},
    {.name = "mine/silent", .dtypes = "i64", .run = sum}};
static const struct foldproof_guest_table table = {FOLDPROOF_GUEST_ABI, sizeof *subjects, 4, subjects};
const struct foldproof_guest_table *foldproof_guest(void) { return &table; }
"""


def test_a_shared_object_takes_integers_and_says_whether_they_wrap():
    with tempfile.TemporaryDirectory() as folder:
        source, built = pathlib.Path(folder, "integers.c"), pathlib.Path(folder, "integers.so")
        source.write_text(INTEGERS)
        subprocess.run(["cc", "-shared", "-fPIC", f"-I{pathlib.Path(__file__).parent.parent / 'library'}", source, "-o", built], check=True)

        def told(subject, fixtures):
            done = subprocess.run([sys.argv[1], "verify", "--guest", built, "--subjects", f"mine/{subject}", "--claims", "bounded", "--fixtures", fixtures],
                                  capture_output=True, text=True)
            return done.returncode, " ".join((done.stdout + done.stderr).split())

        code, said = told("wide", "*/i32/sum/*")
        assert code == 0 and "order-insensitive" not in said, said
        code, said = told("narrow", "three_billion/i32/*")
        assert code == 1 and "the sum wrapped: 1705032704 is 6000000000 - 2^32" in said, said
        assert told("wraps", "overflow_sum/i64/*")[0] == 0
        code, said = told("silent", "overflow_sum/i64/*")
        assert code == 1 and "row 0: the sum wrapped: " in said and "2^64" in said, said
        said = told("silent", "full_range/i64/sum/3x2/*")[1]
        assert re.search("row [12]: the sum wrapped: ", said), said


def test_a_refutation_that_repeats_says_finite():
    done, found, _ = judge("--finite", more="33")
    broken = next(r for r in found if r["verdict"] == "broken")
    assert broken["asked"]["finite"] is True and "--finite" in done.stdout + done.stderr, broken


def test_the_time_limit():
    done, found, took = judge("--seconds", "4", sleep="0.05")
    assert took < 60, took
    assert "left out: the time limit of 4 s" in reasons(found, "skipped"), found
    assert "left out: the time limit of 4 s" in done.stdout, done.stdout
    assert not reasons(found, "broken"), found
    for words in (["--seconds", "0"], ["--seconds", "x"]):
        assert judge(*words)[0].returncode == 2


for name, test in list(globals().items()):
    if name.startswith("test_"):
        test()
        print("ok", name)
