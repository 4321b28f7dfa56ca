"""Nothing judged is no success: where no claim that a guest names was judged, verify ends with 77 and says so, whatever else held.

test_nothing_judged.py FOLDPROOF LIBRARY_FOLDER GUESTS_FOLDER CC
"""
import pathlib
import sys
import tempfile

sys.dont_write_bytecode = True
from guest_shell import FOLDPROOF, build, verify  # noqa: E402, F401

GUEST = """
#include "foldproof_guest.h"
#include <string.h>
static int run(const struct foldproof_guest_call *call, void *context) {
  (void)context;
  memset(call->out, 0, 4 * call->rows);
  return UNSUPPORTED_OR_OK;
}
static const struct foldproof_guest_subject subjects[] = {{.name = "it/it", .problems = "PROBLEM", .claims = "CLAIMS", .order = ORDER, .run = run}};
static const struct foldproof_guest_table table = {FOLDPROOF_GUEST_ABI, sizeof *subjects, 1, subjects};
const struct foldproof_guest_table *foldproof_guest(void) { return &table; }
"""
PROGRAM = """
import json, struct, sys
for line in sys.stdin:
    asked = json.loads(line)
    if asked["ask"] == "describe":
        print(json.dumps({"name": "it/it", "problems": "PROBLEM", "claims": "CLAIMS"}), flush=True)
        continue
    head = "{'descr': '<f4', 'fortran_order': False, 'shape': (%d,), }" % asked["rows"]
    head += " " * (63 - (10 + len(head)) % 64) + "\\n"
    with open(asked["out"], "wb") as to:
        to.write(b"\\x93NUMPY\\x01\\x00" + struct.pack("<H", len(head)) + head.encode() + bytes(4 * asked["rows"]))
    print("{}", flush=True)
"""
FEW = ("--fixtures", "normal/f32/sum/17x257/*")


def guests_in(folder, problem, claims, order="NULL", code="FOLDPROOF_GUEST_OK"):
    """The options that bring it as a shared object, and as a program if that can be said."""
    source = folder / "it.c"
    text = GUEST.replace("PROBLEM", problem).replace("CLAIMS", claims).replace("ORDER", order).replace("UNSUPPORTED_OR_OK", code)
    source.write_text(text)
    yield "--guest", str(build(folder, "it", source))
    if (order, code) == ("NULL", "FOLDPROOF_GUEST_OK"):
        program = folder / "it.py"
        program.write_text(PROGRAM.replace("PROBLEM", problem).replace("CLAIMS", claims))
        yield "--exec", f"{sys.executable} {program}"


def check(folder, expected, *what, options=(), **more):
    for guest in guests_in(folder, *what, **more):
        code, out, err = verify(*guest, *FEW, *options)
        # Of a program nothing is judged that was not asked for.
        words = "nothing was judged: " if out == "" else "no requested claim was judged: "
        assert code == expected and (words in err) == (code == 77 and "\n0 held" not in out), (what, more, options, code, out, err)
        yield err


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for err in check(folder, 77, "rows", "accurate"):
            assert err.strip().endswith(": bounded, compensated, faithful, correctly_rounded"), err
        list(check(folder, 77, "rows", "compens*,faith*"))
        list(check(folder, 77, "sum", "tree", order='"host/sequential"'))  # for which no fixture here is
        list(check(folder, 77, "rows", "", code="FOLDPROOF_GUEST_UNSUPPORTED"))
        list(check(folder, 0, "rows", ""))
        list(check(folder, 0, "rows", "accurate,run_to_run"))
        list(check(folder, 0, "rows", "accurate", options=("--claims", "keeps_input")))
        list(check(folder, 0, "rows", "accurate,keeps_input"))
        list(check(folder, 0, "rows", "promises"))
    print("held")


main()
