"""Every claim that a user names appears in what is printed, of every kind of guest and by every door: held, refuted, or skipped with its reason.

test_guest_asked.py FOLDPROOF LIBRARY_FOLDER GUESTS_FOLDER CC
"""
import json
import pathlib
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from guest_shell import FOLDPROOF, GUESTS, build, verify  # noqa: E402

SUMS = ("normal/f32/sum/3x1000/seed1", "tree/f32/sum/1x17/*,normal/f32/sum/1x1023/seed1")
KINDS = {"rows": SUMS, "sum": SUMS, "dot": ("normal/f32/dot/1x127/*", "normal/f32/dot/1x128/*,mixed/f32/dot/1x1000/*"),
         "max": ("nan_last/f32/max/1x1001/*", "nan_last/f32/max/1x1002/*,nan_last/f32/max/1x128/*")}
WORDS = ("held", "refuted", "skipped")


def claims():
    lines = subprocess.run([FOLDPROOF, "list", "claims"], capture_output=True, text=True, check=True).stdout.splitlines()
    return [line.split()[0] for line in lines[1 : lines.index("")] if "compare --claim" not in line]


def program(folder, kind):
    """Python without numpy: the rows' plain reductions."""
    to = folder / f"{kind}.py"
    to.write_text(f"import sys\nsys.path.insert(0, {str(GUESTS)!r})\n" + PROGRAM.replace("KIND", kind))
    return f"{sys.executable} {to}"


PROGRAM = '''
import json, math, struct
def read(path):
    data = open(path, "rb").read()
    begin = 10 + struct.unpack("<H", data[8:10])[0]
    rows, cols = eval(data[10:begin])["shape"]
    terms = struct.unpack(f"<{rows * cols}f", data[begin:])
    return [terms[r * cols : r * cols + cols] for r in range(rows)]
def largest(row):
    if any(map(math.isnan, row)):
        return math.nan
    return max(row, key=lambda x: (x, math.copysign(1, x)), default=-math.inf)
def total(row):
    try:
        return struct.unpack("f", struct.pack("f", math.fsum(row)))[0]
    except (OverflowError, ValueError):
        return math.copysign(math.inf, sum(row)) if not math.isnan(sum(row)) else math.nan
for line in sys.stdin:
    asked = json.loads(line)
    answer = {"name": "plain/KIND", "problems": "KIND", "claims": "run_to_run"}
    if asked["ask"] == "run":
        rows = read(asked["in"])
        if "KIND" == "dot":
            rows = [[x * y for x, y in zip(row, other)] for row, other in zip(rows, read(asked["other"]))]
        results = [largest(row) if "KIND" == "max" else total(row) for row in rows]
        head = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({len(results)},), }}".ljust(117) + "\\n"
        open(asked["out"], "wb").write(b"\\x93NUMPY\\x01\\x00" + struct.pack("<H", len(head)) + head.encode() + struct.pack(f"<{len(results)}f", *results))
        answer = {}
    print(json.dumps(answer), flush=True)
'''


def check_all_appear(door, guest, kind, folder, names):
    """Each claim has a verdict, and a skip its reason, in the record and in the table."""
    record = folder / "record.jsonl"
    for fixtures in KINDS[kind]:
        code, out, err = verify(door, guest, "--subjects", f"plain/{kind}", "--claims", ",".join(names), "--fixtures", fixtures, "--jsonl", record)
        assert code in (0, 1), (door, kind, code, out, err)
        judged = [line for line in map(json.loads, record.read_text().splitlines()) if line["type"] == "judgement"]
        found = {line["claim"]: line for line in judged}
        for name in names:
            assert name in found, (door, kind, name, "vanished", out, err)
            assert found[name]["verdict"] in WORDS, (door, kind, found[name], err)
            assert found[name]["verdict"] != "skipped" or len(found[name]["reason"]) > 8, (door, kind, found[name])
            assert any(line.split()[:1] == [name] for line in out.splitlines()), (door, kind, name, out)
        assert code == (1 if any(line["verdict"] == "refuted" for line in judged) else 0), (door, kind, code, out, err)
    return found


def check_alone(door, guest, kind, folder, names):
    """A claim that is asked for and nothing else: exit code 77 if it cannot be judged, with the reason."""
    for name in names:
        code, out, err = verify(door, guest, "--subjects", f"plain/{kind}", "--claims", name, "--fixtures", KINDS[kind][0])
        assert code in (0, 1, 77), (door, kind, name, code, out, err)
        assert code != 77 or f"\n  {name} " in out and "(" in out, (door, kind, name, out, err)


def check_compensated(guest, folder):
    """A plain sum is judged by Kahan's bound where a user asks for it, and is far above it; by its own bound it is held."""
    constant = ("--subjects", "plain/sum", "--fixtures", "constant/f32/sum/1x4097/*")
    code, out, err = verify("--guest", guest, *constant, "--claims", "compensated")
    assert code == 1 and "violates compensated" in out and "is above the bound" in out, (code, out, err)
    code, out, err = verify("--guest", guest, *constant, "--claims", "bounded")
    assert code == 0, (code, out, err)
    code, out, err = verify("--guest", guest, *constant, "--claims", "compensated", "--probe")
    assert code == 1 and "violates compensated" in out, (code, out, err)
    code, out, err = verify("--subjects", "host/sequential", "--fixtures", constant[3], "--claims", "compensated", "--probe")
    assert code == 0 and out.split("compensated", 1)[1].split()[:2] == ["0", "1"], (code, out, err)


def check_wide(folder):
    """Results in f64 of f32 terms are added in f64, unless the table says otherwise; a refutation shows what it wanted."""
    of_f64 = (GUESTS / "plain.c").read_text().replace("float sum", "double sum").replace("float *out", "double *out").replace("const float term", "const double term")
    for accumulator, wanted in (("", 0), (".accumulator = \"f64\",", 0), (".accumulator = \"f32\",", 1)):
        source = folder / "wide.c"
        source.write_text(of_f64.replace('"plain/sum", ', f'"plain/sum", .result = "f64", {accumulator} '))
        wide = ("--guest", build(folder, "wide", source, options=("-ffp-contract=off",)), "--subjects", "plain/sum", "--claims", "bounded")
        code, out, err = verify(*wide, "--fixtures", "adversarial_runs/f32/sum/1x2049,normal/f32/sum/3x1000/*")
        assert code == wanted, (accumulator, code, out, err)
        assert not wanted or "want 0xfff0000000000000 (-inf" in out and "every order overflows" in out, out


LONG = ("--fixtures", "constant/f32/sum/2x100000/*")


def check_limits(guest, folder):
    """A sum in turn is far off on long rows of equal terms, and within the worst case of all orders: a notice says so, and two claims refute it."""
    record, plain = folder / "limits.jsonl", ("--guest", guest, "--subjects", "plain/sum")
    code, out, err = verify(*plain, *LONG, "--jsonl", record)
    assert code == 0 and "note: plain/sum is up to 1.5e+03 ulps off on well-conditioned sums (constant/f32/sum/2x100000/seed1)" in out, (code, out, err)
    found = {line["claim"]: line for line in map(json.loads, record.read_text().splitlines()) if line["type"] == "judgement"}
    assert found["bounded"]["well_conditioned_ulps"] > 1000 and found["bounded"]["verdict"] == "held", found
    code, out, err = verify("--subjects", "host/sequential", *LONG, "--set", "guests")  # its declared order's bound tells
    assert code == 0 and "note:" not in out, (code, out, err)
    for option, value, claim, wanted in (("--accurate-as", "host/pairwise", "accurate_as", 1), ("--accurate-as", "host/sequential", "accurate_as", 0),
                                         ("--ulps", "4", "ulps", 1), ("--ulps", "2000.5", "ulps", 0)):
        for claims in ((), ("--claims", "run_to_run")):
            code, out, err = verify(*plain, *LONG, *claims, option, value, "--jsonl", record)
            assert code == wanted and f"\n  {claim} " in out, (option, value, code, out, err)
            assert ("violates " + claim in out) == bool(wanted) and (claims == ()) == ("\n  bounded" in out), (option, value, out)
            again = subprocess.run([FOLDPROOF, "recheck", "-v", record], capture_output=True, text=True)
            assert again.returncode == wanted and f"\n  {claim} " in again.stdout, (option, value, again.stdout, again.stderr)
            if wanted:
                replay = next(line for line in out.splitlines() if line.startswith("  reproduce: "))[len("  reproduce: "):]
                assert f"{option} '{value}'" in replay and subprocess.run(replay, shell=True, capture_output=True).returncode == 1, replay
    code, out, err = verify("--guest", guest, "--subjects", "plain/rows", *LONG, "--ulps", "4")
    assert code == 0 and "it is a function of rows" in out, (code, out, err)
    code, out, err = verify(*plain, "--fixtures", "inf_middle/f32/sum/1x31/*", "--claims", "run_to_run", "--ulps", "4")
    assert "no ulps: the exact result is not finite" in out, (code, out, err)
    for options, word in ((("--accurate-as", "host/pairwize"), "did you mean 'host/pairwise'"), (("--ulps", "0"), "a number above 0"), (("--ulps", "few"), "a number above 0")):
        code, out, err = verify(*plain, *LONG, *options)
        assert code == 2 and word in err, (options, code, out, err)
    code, out, err = verify("--ulps", "4", "--subjects", "host/sequential")
    assert code == 2 and "need --guest or --exec" in err, (code, out, err)
    # The same in a guest's own table.
    for fields, claim in (('.accurate_as = "host/pairwise"', "accurate_as"), (".ulps = 4", "ulps")):
        source = folder / "limited.c"
        source.write_text((GUESTS / "plain.c").read_text().replace('"plain/sum"', f'"plain/sum", {fields}'))
        code, out, err = verify("--guest", build(folder, "limited", source, options=("-ffp-contract=off",)), *plain[2:], *LONG)
        assert code == 1 and "violates " + claim in out and "\n  bounded" in out, (fields, code, out, err)
        source.write_text((GUESTS / "plain.c").read_text().replace('"rows"', f'"rows", {fields}'))
        code, out, err = verify("--guest", build(folder, "limited", source), *LONG)
        assert code == 2 and "the value of problem rows is not known" in err, (fields, code, out, err)


def check_named(guest):
    """What it is called: a function of rows is no sum."""
    out = subprocess.run([FOLDPROOF, "list", "subjects", "--long", "--guest", guest], capture_output=True, text=True, check=True).stdout
    assert "f32; rows\n" in out[out.index("plain/rows on") : out.index("plain/sum on")], out


def main():
    names = claims()
    assert "bounded" in names and "tree" in names, names
    with tempfile.TemporaryDirectory() as text:
        folder = pathlib.Path(text)
        guest = build(folder, "plain", GUESTS / "plain.c", options=("-ffp-contract=off",))
        check_compensated(guest, folder)
        check_named(guest)
        check_wide(folder)
        check_limits(guest, folder)
        for kind in KINDS:
            found = check_all_appear("--guest", guest, kind, folder, names)
            assert found["tree"]["verdict"] == "skipped" and found["replays"]["verdict"] == "skipped", found
            assert (found["bounded"]["verdict"] == "held") == (kind in ("sum", "dot")), found["bounded"]
            check_alone("--guest", guest, kind, folder, ("bounded", "compensated", "tree", "world_invariant", "same_bits_as"))
            check_all_appear("--exec", program(folder, kind), kind, folder, names)


main()
