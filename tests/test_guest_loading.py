"""What loading a guest does to its process is judged as the user has it: the arithmetic that it sets, and the code that it shares.

test_guest_loading.py FOLDPROOF LIBRARY_FOLDER GUESTS_FOLDER CC
"""
import json
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True

from guest_shell import CC, FOLDPROOF, GUESTS, build, verify

UPWARD, FLUSH, ZERO_TERMS, SHORT_X87 = 1, 2, 3, 4
NAMES = {UPWARD: "the rounding mode", FLUSH: "flush to zero", ZERO_TERMS: "denormals are zero", SHORT_X87: "the x87 precision"}
# What each refutes: subject and claim.
WRONG = {UPWARD: ("sum", "replays"), FLUSH: ("sum", "bounded"), ZERO_TERMS: ("sum", "bounded"), SHORT_X87: ("extended", "bounded")}


def refuted(folder, guest, *options):
    """{(subject's last word, claim): how many cases}, and the records that say so."""
    to = folder / "found.jsonl"
    to.unlink(missing_ok=True)
    verify("--guest", str(guest), "--fixtures", "subnormals/f[36]*/sum/*,normal/f[36]*/sum/1x1[57]*", "--jsonl", str(to), *options)
    records = [json.loads(line) for line in to.read_text().splitlines()]
    counts = {}
    for r in records:
        if r.get("verdict") == "refuted":
            key = (r["subject"].split("/")[-1], r["claim"])
            counts[key] = counts.get(key, 0) + 1
        assert r.get("verdict") != "broken", r
    return counts, records


def check_arithmetic(folder):
    for state, name in NAMES.items():
        for when in ("AT_LOAD", "AT_FIRST"):
            guest = build(folder, f"{when}{state}", GUESTS / "arithmetic.c", options=[f"-DSET={state}", f"-D{when}", "-fopenmp"])
            subject, claim = WRONG[state]
            claims = ("--claims", f"{claim},run_to_run,leaves_no_trace")
            counts, records = refuted(folder, guest, "--subjects", f"arithmetic/{subject}", *claims)
            assert counts.get((subject, claim), 0) > 2, (name, when, counts)
            # One message says that loading set it, or that the first call did; later calls leave it as they find it.
            told = [r for r in records if r.get("claim") == "leaves_no_trace" and r["verdict"] == "refuted"]
            assert len(told) == 1 and name in json.dumps(told), (name, when, told)
            assert ("when it was loaded" in json.dumps(told)) == (when == "AT_LOAD"), told
            assert when == "AT_FIRST" or (subject, "run_to_run") not in counts, (name, counts)
            if state in (FLUSH, ZERO_TERMS):  # in OpenMP's other threads, which begin with their maker's arithmetic
                counts, _ = refuted(folder, guest, "--subjects", "arithmetic/threads", *claims)
                assert counts.get(("threads", "bounded"), 0) > 2, (name, when, counts)


def check_others(folder):
    """A subject whose bits are foldproof's own, after one that flushes: foldproof's arithmetic stays as it is."""
    guest = build(folder, "flushes", GUESTS / "arithmetic.c", options=["-DSET=2", "-DAT_LOAD", "-fopenmp"])
    counts, _ = refuted(folder, guest, "--subjects", "arithmetic/*,host/s*,rows/par_16", "--engine", "host")
    assert {subject for subject, _ in counts} <= {"sum", "threads", "extended"}, counts


def check_fast_math(folder):
    """As GCC and Clang link: the start files of -ffast-math set both flags."""
    guest = build(folder, "fast_math", GUESTS / "arithmetic.c", options=["-DSET=0", "-fopenmp", "-ffast-math"])
    counts, _ = refuted(folder, guest)
    assert counts.get(("sum", "bounded"), 0) > 2, counts
    for command in (["reveal", "-n", "64"], ["certify", "--fixtures", "normal/f32/sum/1x17/seed1"]):
        run = subprocess.run([FOLDPROOF, command[0], "--guest", str(guest), "arithmetic/threads", *command[1:]], capture_output=True, text=True)
        told = run.stdout + run.stderr
        assert run.returncode and "varies from run to run" not in told, (run.returncode, told)
        assert "depends on values" in told and "flush to zero, when it was loaded" in told, told


GUEST = """
#include "foldproof_guest.h"
%s
static int sum(const struct foldproof_guest_call *call, void *) {
  for (uint64_t row = 0; row < call->rows; row++) {
    const float *x = (const float *)call->in + row * call->cols;
    double s = 0;
    for (uint64_t i = 0; i < call->cols; i++) s += x[i];
    ((float *)call->out)[row] = (float)s + FAULT;
  }
  return FOLDPROOF_GUEST_OK;
}
extern "C" const foldproof_guest_table *foldproof_guest(void) {
  static foldproof_guest_subject subject;
  static const struct foldproof_guest_table table = {FOLDPROOF_GUEST_ABI, sizeof subject, 1, &subject};
  subject.name = "shared/sum", subject.run = sum;
  return &table;
}"""
# What a newer build has wrong lies in a library of the same soname; in a symbol that is unique in a process.
SHARED = {"soname": GUEST % "extern float fault(void);\n#define FAULT fault()",
          "unique": GUEST % "template <class T> struct wrong { static T value; };\ntemplate <class T> T wrong<T>::value = BY;\n#define FAULT wrong<float>::value"}


def build_shared(folder, how, by):
    """A guest whose results are wrong by so much."""
    (own := folder / f"{how}{by}").mkdir()
    (own / "guest.cpp").write_text(SHARED[how])
    if how == "unique":
        return build(own, "guest", own / "guest.cpp", compiler=["c++"], options=[f"-DBY={by}"])
    (own / "fault.cpp").write_text(f"float fault(void) {{ return {by}; }}")
    library = build(own, "libfault", own / "fault.cpp", compiler=["c++"], options=["-Wl,-soname,libfault.so.1"])
    library.rename(own / "libfault.so.1")
    return build(own, "guest", own / "guest.cpp", own / "libfault.so.1", compiler=["c++"], options=["-Wl,-rpath,$ORIGIN"])


def check_shared(folder):
    for how in SHARED:
        old, new = str(build_shared(folder, how, 0)), str(build_shared(folder, how, 1))
        for first, second, wrong in ((old, new, "shared/sum@2"), (new, old, "shared/sum")):
            options = ["--guest", first, "--guest", second, "--same-bits-as", "shared/sum", "--claims", "same_bits_as,bounded,promises"]
            code, out, err = verify(*options, "--fixtures", "normal/f32/sum/1x1*")
            assert code == 1 and f"REFUTED: {wrong} on host violates bounded" in out, (how, code, out, err)
            assert "REFUTED: shared/sum@2 on host violates same_bits_as" in out, (how, code, out, err)
            right = "shared/sum" if wrong != "shared/sum" else "shared/sum@2"
            assert f"{right} on host violates bounded" not in out and "fresh_process" in out and "violates fresh_process" not in out, (how, out)
            code, out, err = verify(*options, "--fixtures", "normal/f32/sum/1x17/*", "--in-process")
            assert code == 2 and "--in-process takes one --guest" in err, (code, out, err)
        code, out, err = verify("--guest", old, "--guest", str(shutil.copy(old, folder / "copy.so")), "--same-bits-as", "shared/sum", "--claims", "same_bits_as",
                                "--fixtures", "normal/f32/sum/1x1*", LD_LIBRARY_PATH=str(pathlib.Path(old).parent))
        assert code == 0 and re.search(r"same_bits_as +\d\d", out), (how, code, out, err)
        os.remove(folder / "copy.so")


def check_twin_that_dies(folder):
    """It is the twin's process that ends: what it says is of the twin, and each later case has another process."""
    old, new = build_shared(folder, "unique", 2), folder / "dies.so"
    (folder / "dies.cpp").write_text((GUEST % "#include <stdlib.h>\n#define FAULT 0").replace("double s = 0;", "double s = 0; if (call->cols == 17) abort();"))
    build(folder, "dies", folder / "dies.cpp", compiler=["c++"])
    code, out, err = verify("--guest", str(new), "--guest", str(old), "--same-bits-as", "shared/sum", "--claims", "same_bits_as", "--subjects", "shared/sum@2",
                            "--fixtures", "normal/f32/sum/1x17/*,normal/f32/sum/1x1023/*")
    assert "shared/sum@2 on host" in out and "killed by signal 6" in out + err and "REFUTED: shared/sum@2" in out, (code, out, err)


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    if shutil.which("c++"):
        check_shared(folder)
        check_twin_that_dies(folder)
    if platform.machine() == "x86_64":
        check_arithmetic(folder)
        check_others(folder)
        check_fast_math(folder)
