"""foldproof reveal as its user runs it: subjects of the table, guests, NumPy itself. Arguments: the command, the folder library/, the C
compiler."""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
from expect import expect, finish  # noqa: E402

FOLDPROOF, LIBRARY, CC = sys.argv[1], Path(sys.argv[2]), sys.argv[3].split()
PYTHON = sys.executable


def run(*words, code=0):
    done = subprocess.run([FOLDPROOF, "reveal", *map(str, words)], capture_output=True, text=True, timeout=300)
    expect(done.returncode == code, f"{words}: exit {done.returncode}, not {code}: {done.stderr}")
    return done


def revealed(*words, code=0):
    done = run(*words, "--format", "json", code=code)
    return json.loads(done.stdout) if done.stdout else {}


def order_print(order, n):
    out = subprocess.run([FOLDPROOF, "order", order, "-n", str(n)], capture_output=True, text=True, check=True).stdout
    return re.search(r"fingerprint +(\S+)", out)[1]


def below(joins, n):
    """The terms of each join."""
    terms = [[k] for k in range(n)]
    for join in joins:
        terms.append(sum((terms[k] for k in join), []))
    return terms[n:]


expect("is called 'row/par_16': see foldproof list subjects: did you mean 'rows/par_16'?" in run("row/par_16", code=2).stderr, "no way to the subjects")
for words in ("--guest", "./mine.so"), ("--exec", "sum"):
    asked = subprocess.run([FOLDPROOF, "order", *words], capture_output=True, text=True)
    expect(asked.returncode == 2 and "foldproof reveal finds a guest's" in asked.stderr, f"order {words}: {asked}")
# The declared order's name and fingerprint, in each format.
for order in "rows/par_16", "host/numpy", "flat/canonical", "rows/single_back":
    for n in 64, 257:
        got = revealed(order, "-n", n)
        expect(got["kind"] == "tree" and order in got["orders"].split(", "), f"{order} {n}: {got['kind']} {got['orders']}")
        expect(got["fingerprint"] == order_print(order, n), f"{order} {n}: another fingerprint")
        expect(len(got["tree"]) == n - 1 and sum(map(len, got["tree"])) == 2 * n - 2, f"{order} {n}: no tree of {n} terms")
text = run("rows/par_16").stdout
expect("\n16 parts, each 4 on, sequentially; the first:\n  x[0..3] sequentially\n" in text and "order        rows/par_16\n" in text, text)
expect(run("rows/par_16", "-n", 8, "--format", "svg").stdout.count("<path") == 14, "no picture of 14 edges")
expect(revealed("dot/canonical", "-n", 300)["fused"] == list(range(256, 300)), "other products enter by an FMA")
expect(revealed("host/exact")["kind"] == "no order: exact", "the exact sum has an order")
expect("Kahan" in revealed("host/kahan")["orders"], "Kahan's method is not known again")
expect("tree" not in revealed("host/sorted"), "a tree of host/sorted")
expect(revealed("host/float64")["accumulator"] == "f64", "host/float64 has another accumulator")

# What cannot be.
expect("2^17 times another, and f32 keeps 24 bits" in run("flat/canonical", "--dtype", "e4m3", code=77).stderr, "e4m3 shows an order")
expect("did you mean 'rows/par_16'" in run("rows/par16", code=2).stderr, "no subject was meant")
expect("no tree to draw" in run("host/exact", "--format", "svg", code=77).stderr, "a picture of no tree")
run(code=2)
run("rows/par_16", "-n", 0, code=2)

# NumPy itself, and whatever it is that sums in a program.
GUEST = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    answer = {"name": "mine/numpy", "dtypes": "f32,f64"}
    if asked["ask"] == "run":
        import numpy as np  # only who runs waits for it
        x = np.load(asked["in"])
        np.save(asked["out"], %s)
        answer = {}
    print(json.dumps(answer), flush=True)
"""
WAYS = {
    "x.sum(axis=1)": "host/numpy",
    "np.array([np.add.reduce(row) for row in x])": "host/numpy",
    "np.array([sum(row[::-1].tolist(), 0.0) for row in x], x.dtype)": "host/reverse",
}


def reveal_program(folder, way, n, dtype, code=0):
    program = Path(folder) / "guest.py"
    program.write_text(GUEST % way)
    return revealed("--exec", f"{PYTHON} {program}", "-n", n, "--dtype", dtype, code=code)


try:
    import numpy
except ImportError:
    numpy = None
with tempfile.TemporaryDirectory() as folder:
    before_2_3 = numpy and tuple(map(int, numpy.__version__.split(".")[:2])) < (2, 3)
    for way, order in WAYS.items() if numpy else ():
        for n in (7, 64) if order == "host/reverse" else (7, 136, 1000):
            got = reveal_program(folder, way, n, "f64")
            expect(got["kind"] == "tree" and order in got["orders"].split(", "), f"{way} {n}: {got['kind']} {got['orders']}")
    if before_2_3:  # more than a buffer of NumPy's, in several launches
        got = reveal_program(folder, "x.sum(axis=1)", 8200, "f32")
        expect(got["kind"] == "tree" and "host/numpy" in got["orders"].split(", ") and got["launches"] > 100, f"8200: {got['kind']} {got['orders']}")
    if numpy:
        # Columns in turn; a column alone is contiguous, and summed as a row is.
        got = reveal_program(folder, "np.ascontiguousarray(x.T).sum(axis=0)", 64, "f32")
        expect("host/numpy" in got["orders"] and got["depends_on_batch"] and got["rows"] == 1, got["orders"])
        got = reveal_program(folder, "x[:, np.random.permutation(x.shape[1])].sum(axis=1)", 64, "f32", code=1)
        expect(got["kind"] == "varies from run to run", got["kind"])
        got = reveal_program(folder, "np.sort(x, axis=1).sum(axis=1)", 64, "f32", code=1)
        expect(got["kind"] in ("depends on values", "no tree") and "tree" not in got, got["kind"])

    # A shared object, and one that crashes.
    shared = Path(folder) / "guest.so"
    subprocess.run([*CC, "-shared", "-fPIC", "-O2", "-I", LIBRARY, LIBRARY / "examples" / "guest_sum.c", "-o", shared], check=True)
    got = revealed("--guest", shared)
    expect(got["kind"] == "tree", got)
    crash = Path(folder) / "crash.c"
    crash.write_text((LIBRARY / "examples" / "guest_sum.c").read_text().replace("for (", "*(volatile int *)8 = 1;\n  for (", 1))
    subprocess.run([*CC, "-shared", "-fPIC", "-O2", "-I", LIBRARY, crash, "-o", shared], check=True)
    # It is to be one in a build with sanitizers too.
    os.environ["ASAN_OPTIONS"] = os.environ.get("ASAN_OPTIONS", "") + ":handle_segv=0:detect_leaks=0"
    expect("signal 11" in run("--guest", shared, code=99).stderr, "a crash is not told")

    # A guest of no f32, and a function of rows, which need not be a sum.
    other = Path(folder) / "other.c"
    other.write_text((LIBRARY / "examples" / "guest_sum.c").read_text().replace("float", "double").replace(".order =", '.dtypes = "f64", .order ='))
    subprocess.run([*CC, "-shared", "-fPIC", "-O2", "-I", LIBRARY, other, "-o", shared], check=True)
    got = revealed("--guest", shared)
    expect(got.get("dtype") == "f64" and "host/sequential" in got["orders"], f"a guest of f64: {got}")
    expect("does not take sum of f32" in run("--guest", shared, "--dtype", "f32", code=77).stderr, "f64 is f32")
    other.write_text((LIBRARY / "examples" / "guest_sum.c").read_text().replace('.order = "host/sequential", .claims = "bounded,replays,reproducible"', '.problems = "rows"'))
    subprocess.run([*CC, "-shared", "-fPIC", "-O2", "-I", LIBRARY, other, "-o", shared], check=True)
    text = run("--guest", shared).stdout
    expect("mine/sum on the host: function of rows, of unknown value, of 64 f32\n" in text and "host/sequential" in text, text)
    expect(revealed("--guest", shared)["problem"] == "rows", "a function of rows is a sum")

    # Guests that end the process, hang, or print: none of that is an answer.
    subprocess.run([*CC, "-shared", "-fPIC", "-O2", "-ffp-contract=off", "-I", LIBRARY, Path(__file__).parent / "reveal_guests.c", "-o", shared, "-lm"],
                   check=True)
    GUEST_OF = ("--guest", shared)
    for name in "guest/exits", "guest/ends":
        done = run(name, *GUEST_OF, code=99)
        expect(done.stdout == "" and "ended the process that it ran in, with exit code 0" in done.stderr, f"{name}: {done}")
    got = revealed("guest/prints", *GUEST_OF)
    expect("host/sequential" in got["orders"], got)
    done = run("guest/hangs", *GUEST_OF, "--timeout", 1, code=99)
    expect("did not end within 1 s" in done.stderr, done.stderr)

    # What they would hide: an order by the values, by the row's place or address, by the launch; and what they write.
    got = revealed("guest/plain", *GUEST_OF, "-n", 63)
    expect("host/sequential" in got["orders"] and not got["depends_on_batch"] and "depends_on_place" not in got, got)
    for name, word in {"by_zeros": "zeros", "by_negative_zeros": "zeros", "by_many_zeros": "more zeros", "by_sign": "no negative term",
                       "by_other_sign": "no positive term", "by_equality": "equal terms", "by_subnormals": "subnormal", "by_large": "",
                       "by_small": "", "by_bottom": ""}.items():
        got = revealed(f"guest/{name}", *GUEST_OF, "-n", 63, code=1)
        expect(got["kind"] == "depends on values" and word in got["why"] and "tree" not in got, f"{name}: {got}")
    for name in "by_place", "by_late_place", "by_address", "spoils_late_rows":
        got = revealed(f"guest/{name}", *GUEST_OF, "-n", 63, code=1)
        expect(got["kind"] == "tree" and "has different bits than the same terms" in got["depends_on_place"] and got["rows"] == 1, f"{name}: {got}")
        text = run(f"guest/{name}", *GUEST_OF, "-n", 63, code=1).stdout
        expect("place        this tree is of a single row" in text and "0x0000000000000000" not in text, text)
    got = revealed("guest/by_some_batches", *GUEST_OF)
    expect(got["depends_on_batch"] and got["rows"] == 1, got)
    expect("some calls with more rows have different bits" in run("guest/by_some_batches", *GUEST_OF).stdout, "one tree is two")
    for name, word in {"clears_its_input": "changed its input", "writes_beyond": "byte 4096 from the start of the output was overwritten"}.items():
        got = revealed(f"guest/{name}", *GUEST_OF, code=1)
        expect(got["kind"] == "no tree" and word in got["why"], f"{name}: {got}")
    got = revealed("guest/fma_by_value", *GUEST_OF, "--problem", "dot", code=1)
    expect(got["kind"] == "depends on values", got)
    got = revealed("guest/dot_in_double", *GUEST_OF)
    expect("dot/sequential" in got["orders"] and got["accumulator"] == "f64" and "fused" not in got, got)

    # Trees in more than one precision.
    got = revealed("guest/dot_tail_in_double", *GUEST_OF, "-n", 96)
    expect(got["accumulator"] == "f32" and "accumulators" not in got and "why" not in got, got)
    got = revealed("guest/dot_tail_in_double", *GUEST_OF, "-n", 100)
    expect(got["kind"] == "tree" and got["accumulator"] == "f32, f64" and sorted(got["accumulators"]) == ["f32"] * 96 + ["f64"] * 3, got)
    expect(all((tail == "f64") == (min(terms) >= 96) for tail, terms in zip(got["accumulators"], below(got["tree"], 100))), got)
    expect("96 to f32, 3 to f64, those within x[96..99]; 100 products to f32" in got["why"], got)
    text = run("guest/dot_tail_in_double", *GUEST_OF, "-n", 100).stdout
    expect("accumulator  its 99 sums are rounded: 96 to f32, 3 to f64, those within x[96..99]; 100 products to f32\n" in text, text)
    got = revealed("guest/dot_tail_by_value", *GUEST_OF, "-n", 100, code=1)
    expect(got["kind"] == "depends on values" and "an arithmetic that is not known here" in got["why"] and "tree" not in got, got)
    got = revealed("guest/dot_of_rounded_products", *GUEST_OF, "-n", 50)
    expect(got["kind"] == "tree" and got["accumulator"] == "f32, f64" and "dot/sequential" in got["orders"] and "50 products to f32" in got["why"], got)
    told = subprocess.run([FOLDPROOF, "verify", *map(str, GUEST_OF), "--claims", "tree", "--fixtures", "tree/f32/dot/1x33/seed1",
                           "--subjects", "guest/dot_of_rounded_products"], capture_output=True, text=True).stdout
    expect("the tree of dot/sequential, but in more than one precision: its " in told, told)
    certified = subprocess.run([FOLDPROOF, "certify", "guest/dot_tail_in_double", *map(str, GUEST_OF), "--fixtures", "normal/f32/dot/1x63/seed1"],
                               capture_output=True, text=True)
    expect(certified.returncode == 77 and "there is no tree to certify: tree: its 62 sums are rounded: 32 to f32, 30 to f64" in certified.stderr, certified)
    got = revealed("guest/dot_tail_of_exact_products", *GUEST_OF, "-n", 100)
    expect(got["kind"] == "tree" and got["fused"] == list(range(32, 100)) and "32 to f32, 67 to f64, those within x[0..98]; 32 products to f32" in got["why"], got)
    got = revealed("guest/blocks_in_single", *GUEST_OF, "-n", 100)
    expect(got["kind"] == "tree" and "94 to f32, 5 to f64" in got["why"], got)
    got = revealed("guest/blocks_in_double", *GUEST_OF, "-n", 64)
    expect(got["kind"] == "tree" and "7 to f32, 56 to f64" in got["why"], got)

# A reader that is gone is no fault of the subject.
ours, theirs = os.pipe()
os.close(ours)
done = subprocess.run([FOLDPROOF, "reveal", "host/pairwise"], stdout=theirs, stderr=subprocess.PIPE, text=True)
os.close(theirs)
expect((done.returncode, done.stderr) == (-signal.SIGPIPE, ""), f"a reader that is gone: {done}")

print("numpy", numpy.__version__ if numpy else "is absent")
finish("revealed orders:")
