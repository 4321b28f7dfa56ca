"""Where an invariance breaks, foldproof verify says how the order of additions changed, and a verdict never depends on that.

test_order_changes.py FOLDPROOF LIBRARY_FOLDER GUESTS_FOLDER CC
"""
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from guest_shell import EXAMPLES, FOLDPROOF, GUESTS, build, verify  # noqa: E402

ROWS, PRODUCTS = ("--fixtures", "normal/f32/sum/17x257/seed1"), ("--fixtures", "batch/f32/dot/2049x*")
EIGHT = "x[0..256 by 8], x[1..249 by 8], x[2..250 by 8], x[3..251 by 8], x[4..252 by 8], x[5..253 by 8], x[6..254 by 8], x[7..255 by 8]"
STRIDED = f"257 parts sequentially: {EIGHT}"
BY_ROWS = f"up to 8 rows: host/sequential; from 9 rows on: {STRIDED}; x[0] and x[1] first meet in a sum of 2 terms; in the second order, of 34"

# What foldproof reports of each subject of orders.c.
ORDERS = {
    "by_rows": BY_ROWS,
    "by_pairs": BY_ROWS.replace("8 rows:", "1 row:").replace("from 9", "from 2"),
    "in_double": "the order is the same, host/sequential; up to 8 rows it adds in f32, from 9 rows on in f64",
    "by_fma": "the order is the same, dot/sequential; different products enter by an FMA",
    "by_kahan": "up to 8 rows: host/sequential; from 9 rows on: no plain tree: host/sequential with Kahan's compensation",
    "by_last_bit": "up to 8 rows: host/sequential; from 9 rows on: depends on values",
    "in_four_parts": "up to 8 rows: host/sequential; from 9 rows on: a tree of height 68, 66 + 68 + 65 + 58 terms at the top; "
                     "x[0] and x[3] first meet in a sum of 4 terms; in the second order, of 257",
    "in_five_parts": "up to 8 rows: host/sequential; from 9 rows on: a tree of height 60, 60 + 44 + 46 + 49 + ... terms at the top; "
                     "x[0] and x[3] first meet in a sum of 4 terms; in the second order, of 257",
    "of_squares": "not known: its results are no sums of the terms",
    "fails_when_probed": "not known: it returned 7",
    "dies_when_probed": "not known: when it was looked for, the process that it ran in was killed by signal 9 (Killed)",
    "leaves_when_probed": "not known: when it was looked for, the process that it ran in ended with exit code 0",
    "hangs_when_probed": "not known: when it was looked for, a run did not end within 5 s, and was killed (see --timeout)",
}


def orders_of(out):
    return re.findall(r"^  order(?: on \S+)?: (.*)$", out, re.MULTILINE)


def check_each(guest):
    for name in ORDERS:
        if not name.startswith("hangs"):
            check_one(guest, name)


def check_one(guest, name, *slow):
    order = ORDERS[name]
    code, out, err = verify("--guest", guest, "--subjects", f"order/{name}", *(PRODUCTS if name == "by_fma" else ROWS), *slow)
    assert code == 1 and f"REFUTED: order/{name} on host violates batch_invariant" in out and "BROKEN" not in out, (name, code, out, err)
    assert ("same bits up to 1 row, different bits from 2 (of " if name == "by_pairs" else "same bits up to 8 rows, different bits from 9 (of ") in out, out
    assert orders_of(out) == [order] or (name == "fails_when_probed" and orders_of(out)[0].startswith(order)), (name, orders_of(out))
    assert (name == "by_fma" or re.search(r"\n  run_to_run +1 +0 ", out)) and "times a process ended" not in err, (name, out, err)


def check_once(guest):
    """Once a subject and claim; who ends its process is judged on all cases, and not asked again."""
    many = ("--fixtures", "normal/f32/sum/17x257/*,normal/f32/sum/33x*")
    for name in ("by_rows", "dies_when_probed"):
        code, out, err = verify("--guest", guest, "--subjects", f"order/{name}", *many)
        refuted = int(re.search(r"\n  batch_invariant +0 +(\d+) ", out)[1])
        assert code == 1 and refuted > 3 and out.count("REFUTED") == 1 and len(orders_of(out)) == 1, (code, out, err)
        assert re.search(rf"\n  run_to_run +{refuted} +0 ", out) and "BROKEN" not in out, out
    code, out, err = verify("--guest", guest, "--subjects", "order/by_rows", "--in-process", *ROWS)
    assert code == 1 and orders_of(out) == [BY_ROWS], (code, out, err)


def check_record(guest, folder):
    path = str(folder / "orders.jsonl")
    code, out, err = verify("--guest", guest, "--subjects", "order/by_rows", "--jsonl", path, *ROWS, FOLDPROOF_STRICT_RECORDS="1")
    records = [json.loads(line) for line in open(path)]
    claims = [r["claim"] for r in records if r["type"] == "judgement" and r["promised"]]
    assert claims[:2] == ["batch_invariant", "run_to_run"] and len(set(claims)) == len(claims) > 4, claims  # none overtakes another
    told = [r for r in records if r["type"] == "explanation"]
    assert len(told) == 1 and [r for r in records if "order_change" in r] == told, told
    named = [r for r in records if r["type"] == "judgement" and all(r[key] == told[0][key] for key in ("subject", "engine", "claim", "case"))]
    assert [(r["claim"], r["verdict"]) for r in named] == [("batch_invariant", "refuted")] and records.index(named[0]) < records.index(told[0]), named
    assert told[0]["order_change"] == BY_ROWS and told[0]["order_terms"] == 257, told
    few, many = told[0]["order_sides"]
    assert (few["at"], few["kind"], few["order"], few["height"]) == ("up to 8 rows", "tree", "host/sequential", 256), few
    assert (many["at"], many["kind"], many["order"], many["height"]) == ("from 9 rows on", "tree", "", 256), many
    order = subprocess.run([FOLDPROOF, "order", "host/sequential", "-n", "257"], capture_output=True, text=True, check=True).stdout
    assert few["fingerprint"] in order and many["fingerprint"] not in order, (few, order)
    for form in ("text", "markdown", "html", "junit"):
        page = subprocess.run([FOLDPROOF, "report", "--format", form, path], capture_output=True, text=True).stdout
        assert "from 9 rows on: 257 parts sequentially" in page, (form, page)
    again = subprocess.run([FOLDPROOF, "recheck", path], capture_output=True, text=True)
    assert again.returncode == 1, again


def check_surroundings(folder):
    """Each invariance by the subject of bits.c and liars.c that breaks it."""
    bits = str(build(folder, "bits", GUESTS / "bits.c"))
    liars = str(build(folder, "liars", GUESTS / "liars.c"))
    row, rows = "normal/f32/sum/3x1000/seed1", "normal/f32/sum/17x257/seed1"
    for guest, name, claim, case, words in (
            (bits, "bits/input_at_68", "alignment_invariant", row, ("usually: host/sequential; 17 elements from an aligned address: 1000 parts sequentially: x[0..992 by 8]",)),
            (bits, "bits/output_at_36", "alignment_invariant", row, ("usually: host/sequential; with the output 9 elements further: 1000 parts",)),
            (bits, "bits/by_what_follows", "length_invariant", row, ("in front of more terms: 500 parts", "as an array by themselves: host/sequential")),
            (bits, "bits/by_blocks", "padding_invariant", row, ("as they are: 1000 parts", "with 1 identity element appended: host/sequential")),
            (bits, "bits/by_strides", "stride_invariant", row, ("contiguous: host/sequential; with rows 2000 elements apart and terms 2: 1000 parts",)),
            (bits, "bits/odd_rows", "batch_invariant", rows, ("in place 1 of 17: 257 parts", "in place 0: host/sequential; x[0] and x[8] first meet in a sum of 2 terms; in the second order, of 9")),
            (bits, "bits/bytes_from_9_rows", "batch_invariant", "batch/e4m3/*", ("not known: its results are no sums of the terms",)),
            (liars, "liar/by_threads", "launch_invariant", row, ("host/sequential; with ",))):
        code, out, err = verify("--guest", guest, "--subjects", name, "--claims", claim, "--fixtures", case)
        told = orders_of(out)
        assert code == 1 and len(told) == 1 and all(word in told[0] for word in words), (name, code, told, out, err)
    # Max and products have no tree of sums; who varies from run to run no order.
    code, out, err = verify("--guest", bits, "--subjects", "bits/prod_from_9_rows", "--fixtures", "batch/f32/prod/*")
    assert code == 1 and orders_of(out) == [], (code, out, err)
    code, out, err = verify("--guest", liars, "--subjects", "liar/keeps_state", "--claims", "run_to_run,alignment_invariant", "--fixtures", row)
    assert code == 1 and orders_of(out) == [], (code, out, err)
    # Of strided rows so long no fewer terms are asked for, as their strides would be others.
    code, out, err = verify("--guest", bits, "--subjects", "bits/by_strides", "--claims", "stride_invariant", "--fixtures", "ill_conditioned/f32/sum/1x4097/*")
    assert code == 1 and orders_of(out) == [], (code, out, err)
    norms = str(build(folder, "norms", EXAMPLES / "guest_rms_norm.c"))
    code, out, err = verify("--guest", norms, "--fixtures", "batch/f32/sum/2049x1000/*", "--claims", "batch_invariant")
    assert code == 1 and orders_of(out) == ["not known: its results are no sums of the terms"], (code, out, err)
    code, out, err = verify("--guest", liars, "--subjects", "liar/by_rows", "--fixtures", "batch/f32/sum/2049x1000/*")
    assert code == 1 and orders_of(out)[0].startswith("up to 255 rows: host/sequential; from 256 rows on: 1000 parts sequentially"), (code, out, err)


PROGRAM = """
import json, sys
import numpy as np
for line in sys.stdin:
    asked, answer = json.loads(line), {"name": "p/cumsum", "claims": "batch_invariant"}
    if asked["ask"] == "run":
        x, answer = np.load(asked["in"]), {}
        np.save(asked["out"], (x if len(x) < 9 else x[:, ::-1]).cumsum(axis=1)[:, -1])
    print(json.dumps(answer), flush=True)
"""


SLOW = PROGRAM.replace("import json, sys", "import json, sys, time").replace("        np.save", "        time.sleep(0.03)\n        np.save")


def check_time(folder):
    """A program that is slow to answer is given more time to find its order."""
    (folder / "slow.py").write_text(SLOW)
    for seconds, begin in (("1", "not known: it took longer than --order-time allows"), ("100", "up to 8 rows: host/sequential")):
        code, out, err = verify("--exec", f"{sys.executable} -B {folder}/slow.py", "--claims", "batch_invariant", "--order-time", seconds,
                                "--fixtures", "normal/f32/sum/33x33/*")
        assert code == 1 and orders_of(out)[0].startswith(begin), (seconds, out, err)
    code, out, err = verify("--exec", "true", "--order-time", "0")
    assert code == 2 and "--order-time 0: at least 1" in err, err


def check_program(folder):
    (folder / "program.py").write_text(PROGRAM)
    code, out, err = verify("--exec", f"{sys.executable} -B {folder}/program.py", *ROWS)
    assert code == 1 and orders_of(out) == ["up to 8 rows: host/sequential; from 9 rows on: host/reverse; x[0] and x[1] first meet in a sum of 2 terms; in the second order, of 257"], (code, out, err)


def main():
    with tempfile.TemporaryDirectory(prefix="foldproof-orders-") as name:
        folder = pathlib.Path(name)
        os.environ.update(TMPDIR=name)
        guest = str(build(folder, "orders", GUESTS / "orders.c", options=["-Wall", "-Wextra", "-Werror", "-ffp-contract=off", "-lm"]))
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            hangs = pool.submit(check_one, guest, "hangs_when_probed", "--timeout", "5")  # beside all others
            check_each(guest)
            check_once(guest)
            check_record(guest, folder)
            check_surroundings(folder)
            try:
                import numpy  # noqa: F401
                check_program(folder)
                check_time(folder)
            except ImportError:
                print("numpy is absent: no program is asked")
            hangs.result()
    print("orders: the messages say how they changed, and no verdict hangs on it")


main()
