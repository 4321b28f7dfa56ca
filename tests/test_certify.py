"""Certificates: what foldproof certify writes holds by foldproof-check, and no bit or field of it can be changed. Arguments: the command, the
folder library/, the C compiler, the checker."""

import io
import os
import random
import re
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path

sys.dont_write_bytecode = True
FOLDPROOF, LIBRARY, CC, CHECKER = Path(sys.argv[1]).resolve(), Path(sys.argv[2]), sys.argv[3].split(), Path(sys.argv[4]).resolve()
sys.path.insert(0, str(CHECKER.parent))
import check_certificate as checker  # noqa: E402
from expect import expect, finish  # noqa: E402


def certify(path, *words, code=0):
    path.unlink(missing_ok=True)
    done = subprocess.run([FOLDPROOF, "certify", *map(str, words), "-o", path], capture_output=True, text=True, timeout=120)
    expect(done.returncode == code and path.exists() == (code == 0), f"certify {words}: exit {done.returncode}: {done.stderr}")
    return path.read_bytes() if code == 0 and path.exists() else done.stderr


def check(*files, cwd=None):
    return subprocess.run([sys.executable, CHECKER, *files], cwd=cwd, capture_output=True, text=True, timeout=60)


def checked(data):
    """None: it holds. Else what is wrong."""
    held, text = checker.check(io.BytesIO(data))
    return None if held else text


def check_many(folder, data):
    """Of several files each has its line, which names it; the exit code is that of a change, then that of what is no certificate."""
    texts = {"held": data, "changed": data.replace(b"f32", b"f64", 1), "other": b"# foldproof\n"}
    for name, text in texts.items():
        (folder / name).write_bytes(text)
    line = 1 + texts["changed"][: texts["changed"].index(b"f64")].count(b"\n")
    means = {"held": r"held: held: 1 x 3 f32: .*", "changed": rf"foldproof-check: changed: line {line}: .*", "other": "foldproof-check: other: no certificate: it does not begin with 'foldproof-certificate'",
             "absent": "foldproof-check: absent: cannot be read: No such file or directory", ".": "foldproof-check: .: cannot be read: Is a directory"}
    for files, code in (("held", 0), ("held held", 0), ("changed held", 1), ("held changed", 1), ("other held", 2), ("held other", 2), ("other changed held", 1), ("changed absent", 1), ("absent", 2), (".", 2)):
        done = check(*files.split(), cwd=folder)
        wanted = [[means[file] for file in files.split() if (file == "held") == held] for held in (True, False)]
        for said, patterns in zip((done.stdout, done.stderr), wanted):
            expect(re.fullmatch("".join(f"{pattern}\n" for pattern in patterns), said), f"{files}: {said}")
        expect(done.returncode == code, f"{files}: exit {done.returncode}, not {code}")
    expect([check().returncode, check("--help").returncode, check("--nosuch").returncode] == [2, 0, 2] and "FILE..." in check("--help").stdout, "wrong usage")


def write_nowhere(path):
    """An output that is closed does not make a certificate wrong, and one that is full is no check."""
    for words, code, said in (("/dev/full", 2, "foldproof-check: the output cannot be written: No space left on device\n"), ("&-", 0, "")):
        done = subprocess.run(["/bin/sh", "-c", f'"$@" >{words}', "sh", sys.executable, CHECKER, path], stderr=subprocess.PIPE, text=True, check=False)
        expect((done.returncode, done.stderr) == (code, said), f">{words}: exit {done.returncode}: {done.stderr}")


def name_any_file(folder, data):
    """A file's name ends no line and moves no cursor, whether its certificate holds or not."""
    for name, text in ("a\033[31m\nheld: b", data), ("c\033[31m\nheld: d", b"x"), ("nosuch\nheld: e", None), (b"\xff\n", data):
        if text is not None:
            (folder / os.fsdecode(name)).write_bytes(text)
        done = check(name, cwd=folder)
        said = done.stdout + done.stderr
        expect(said.count("\n") == 1 and "\033" not in said and "\\n" in said and done.returncode == (0 if text == data else 2), f"{name!r}: {done}")


def read_no_more_than_one(folder, data):
    """A file of any size takes little memory, and what a line lacks or has too much is said."""
    for text in b"", b"foldproof-certificate 1\n", data:
        (folder / "large").write_bytes(text)
        os.truncate(folder / "large", 1 << 34)
        done = subprocess.run(["sh", "-c", 'ulimit -v 500000; exec "$@"', "sh", sys.executable, CHECKER, "large"], cwd=folder, capture_output=True, text=True, timeout=60)
        expect(done.returncode == (1 if text else 2) and done.stderr.startswith("foldproof-check: large: "), f"{text[:30]}: {done}")


def sealed(lines, count=None):
    """The lines with their checksums, and how many there are, or another number."""
    lines = [line if isinstance(line, bytes) else line.encode() for line in [*lines, f"lines {count or len(lines)}"]]
    return b"".join(b"%s #%08x\n" % (text, zlib.crc32(b"%d:%s" % (number, text))) for number, text in enumerate(lines, 1))


def lines_of(data):
    return [line.rpartition(" #")[0] for line in data.decode().splitlines()][:-1]


def place_of(lines, key):
    return next(k for k, line in enumerate(lines) if line.startswith(key + " "))


def expect_held(path, *words):
    data = certify(path, *words)
    if isinstance(data, bytes):
        expect(checked(data) is None, f"{words}: {checked(data)}")
        expect(sealed(lines_of(data)) == data, f"{words}: this test seals in another way")
    return data


def flip_bits(data):
    for at in range(len(data)):
        line = data[:at].count(b"\n") + 1
        for bit in range(8):
            what = checked(data[:at] + bytes([data[at] ^ 1 << bit]) + data[at + 1 :])
            expect(what is not None and (what.startswith(f"line {line}:") or line == 1 and what.startswith("no certificate: ")), f"bit {bit} of byte {at} in line {line}: {what}")


def expect_refused(texts):
    for what, text in texts:
        expect(checked(text) is not None, f"{what}: held")


def change_fields(data, changes):
    """Each with its checksum made again: what is said is held against the rest."""
    lines, texts = lines_of(data), []
    for key, change in changes.items():
        at = place_of(lines, key)
        value = change(lines[at].removeprefix(key + " "))
        texts.append((f"{key} {value[:40]}", sealed(lines[:at] + [f"{key} {value}"] + lines[at + 1 :])))
        expect(texts[-1][1] != data, f"{key} {value[:40]}: no change")
        texts.append((f"without {key}", sealed(lines[:at] + lines[at + 1 :])))
    texts += [(f"{text[:20]}...", text) for text in (b"\n", data[:-1], data + b"\n", data + data, data[: len(data) // 2], data[: data[:-1].rindex(b"\n") + 1], bytes(300))]
    expect_refused(texts)


def end_at_any_text(data, times):
    """Words changed, lines left out or doubled, all sealed again: an answer, and no exception."""
    state = random.Random(7)
    words = "0 -1 +1,+1 0,1 99999999999 ffffffffffffffff * , 0,1* 0*,0* 65535 p 65536 0,0 - 7f800000 tree exact dot f64".split()
    words += ["", "+33", " 33", "3_3", "0x1", "1*", "033", "\u0663"]
    held = 0
    for _ in range(times):
        lines = lines_of(data)
        for _ in range(state.randint(1, 3)):
            at = state.randrange(len(lines))
            parts, way = lines[at].split(" "), state.randrange(4)
            parts.insert(1, state.choice(words)) if way == 0 else parts.__setitem__(-1, state.choice(words))
            lines[at : at + 1] = [[" ".join(parts)], [" ".join(parts)], [], [lines[at], state.choice(lines)]][way]
        held += checked(sealed(lines)) is None
    expect(0 < held < times / 2, f"{held} of {times} changed texts hold")


def spell_otherwise(data):
    """A number has one spelling: with a sign, a blank, a prefix or a word's end that says nothing it is refused."""
    ways = [lambda n: "+" + n, lambda n: " " + n, lambda n: n + " ", lambda n: "0x" + n, lambda n: n + "*", lambda n: n + "_0", lambda n: "0" + n,
            lambda n: n.replace("0", "\u0660"), lambda n: "\t" + n, lambda n: n.upper() + "A", lambda n: "", lambda n: n.replace(" ", "  ", 1), lambda n: n.replace("*", "**", 1)]
    lines, texts = lines_of(data), []
    for key in "rows", "cols", "results", "exact", "input 0", "tree":
        at = place_of(lines, key)
        texts += [(f"{key} {way(lines[at][len(key) + 1 :])[:40]}", way(lines[at][len(key) + 1 :]), at, key) for way in ways]
    expect_refused([(what, sealed(lines[:at] + [f"{key} {value}"] + lines[at + 1 :])) for what, value, at, key in texts if f"{key} {value}" != lines[at]])


def state_nothing(data):
    """A statement may be any text: a key alone and a NUL are refused, and bytes that are no UTF-8 are not."""
    lines = [line.encode() for line in lines_of(data)]
    for key in b"subject", b"engine", b"case", b"generator", b"order", b"environment":
        at = next(k for k, line in enumerate(lines) if line.startswith(key + b" "))
        for line, held in (key, False), (lines[at] + b"\0", False), (lines[at] + b"\0b", False), (key + b" ", True), (lines[at] + b"\xff", True):
            what = checked(sealed(lines[:at] + [line] + lines[at + 1 :]))
            expect((what is None) == held, f"{line}: {what}")


def by_hand(formats, terms, results, method="tree", rows=1, exact=None):
    """A certificate of terms that are added in turn, or exactly; all that the checker says of it rests on what it says."""
    cols, dtype = len(terms) // rows, checker.FORMATS[formats[0]]
    exact = exact or checker.spelled(sum(dtype.number(term, dtype.least) for term in terms[:cols]), dtype.least)
    tree = ["tree 0,1" + "".join(f" {cols + k},{k + 2}" for k in range(cols - 2))] if method == "tree" and cols > 1 else []
    stated = ["dtype {}", "accumulator {}", "result {}"]
    return sealed(["foldproof-certificate 1", "subject s", "engine host", "case c", "generator g", "problem sum", *[line.format(name) for line, name in zip(stated, formats)],
                   f"rows {rows}", f"cols {cols}", *["input 0 " + " ".join(f"{term:x}" for term in terms[k : k + 99]) for k in range(0, len(terms), 99)],
                   f"method {method}", "order none", *tree, f"results {results}", *[f"exact {exact}"] * rows])


def refuse_what_no_format_has():
    """A partial sum or a result that overflows is not finite, whatever the certificate says; a certificate has so many terms."""
    large, f32 = 0x7F61B1E6, ("f32", "f32", "f32")
    for terms, results in ([large, large | 1 << 31, large], "7f61b1e6"), ([0x3F800000, 0x33800000, 0x1], "3f800000"), ([0x3F800001, 0x33800000], "3f800002"):
        expect(checked(by_hand(f32, terms, results)) is None, f"{terms}: {checked(by_hand(f32, terms, results))}")  # to nearest even, and one unit above a tie
    minus = "these terms give a negative zero"
    beyond, none, wide = "beyond the format's numbers", "is no finite number", [0x3F800001, 0x3F808000]
    for data, why in ((by_hand(f32, [large, large, large | 1 << 31], "7f61b1e6"), f"results: {beyond}"),
                      (by_hand(("e4m3",) * 3, [0x7E, 0x5C, 0xFE], "5c"), f"results: {beyond}"),  # e4m3 has no infinity
                      (by_hand(("f32", "f16", "f32"), [0x47800000, 0xC7800000, 0x3F800000], "3f800000"), f"results: {beyond}"),
                      (by_hand(f32, [large, large], "f" * 16, "exact"), f"results: {beyond}"),
                      (by_hand(f32, [0x7F800000, 0], "7f800000", exact="0p0"), f"input: 7f800000 {none}"),
                      (by_hand(("e4m3",) * 3, [0x7F, 0], "7f", exact="fp5"), f"input: 7f {none}"),
                      (by_hand(("f16",) * 3, [0x13C00, 0], "3c00", exact="1p0"), f"input: 13c00 {none}"),
                      (by_hand(f32, [1 << 31, 1 << 31], "80000000"), f"results: row 0: {minus}"),
                      (by_hand(f32, [1 << 31, 1 << 31], "0"), f"results: row 0: {minus}"),
                      (by_hand(f32, [1 << 31, 1 << 31], "0", "exact"), f"results: row 0: {minus}"),
                      (by_hand(("f64", "f64", "bf16"), [1 << 63 | 1] * 2, "0"), f"results: row 0: {minus}"),
                      (by_hand(("f32", "f16", "f32"), [1 << 31 | 1] * 2, "0"), f"results: row 0: {minus}"),  # each is rounded to -0 before
                      (by_hand(("f32", "bf16", "f32"), wide, "40004040"), "results: row 0: these terms give 40000000"),  # each is rounded to 1 before
                      (by_hand(("f32", "bf16", "f32"), wide[:1], "3f800001"), "results: row 0: these terms give 3f800000"),
                      (by_hand(("f64", "f64", "bf16"), [1, 1], "1"), "results: row 0: these terms give 0"),  # far below the result's smallest number
                      (by_hand(f32, [0] * 3, "00000000000000000", "exact"), "results: '00000000000000000' is no pattern"),
                      (by_hand(f32, [1] * 3, "1" * 17, "exact"), "results: '11111111111111111' is no pattern"),
                      (by_hand(f32, [], "0", "exact", exact="0p0"), "cols: there are 1 to 65536 terms"),
                      (by_hand(f32, [0] * 65538, "0 0", "exact", rows=2), "cols: there are 1 to 65536 terms")):
        expect_because(data, why)
    for formats, terms, results in (("f32", "bf16", "f32"), wide, "40000000"), (("f16", "f32", "f32"), [0x3C00, 0xBC00], "0"), (f32, [1 << 31, 0], "0"), (f32, [1 << 31 | 1, 1], "0"):
        expect(checked(by_hand(formats, terms, results)) is None, f"{formats}: {checked(by_hand(formats, terms, results))}")
    for exact in "01p0", "1p00", "1p-0", "2p-1", "+1p0":
        expect_because(by_hand(f32, [0x3F800000], "3f800000", "exact", exact=exact), "exact: row 0: its terms have the sum 1p0")


def expect_because(data, why):
    what = checked(data)
    expect(what is not None and re.fullmatch(rf"line \d+: {re.escape(why)}.*", what), f"not '{why}': {what}")


def other_line(data, key, value):
    """The certificate with another line of that key, sealed again."""
    lines = lines_of(data)
    at = place_of(lines, key)
    return sealed([*lines[:at], f"{key} {value}".removesuffix(" "), *lines[at + 1 :]])


def join_otherwise(data, fused):
    """Each node is joined once, and one is left; a product that is not rounded is a term of a dot product."""
    for tree in "0,1 3,2", "1,0 2,3":
        expect(checked(other_line(data, "tree", tree)) is None, f"tree {tree}: {checked(other_line(data, 'tree', tree))}")
    for tree, why in (("0,0 3,2", "'0,0': there is no node 0, or"), ("2,3 1,0", "'2,3': there is no node 3, or"), ("0,1 3,0", "'3,0': there is no node 0, or"), ("0,1 3,3", "'3,3': there is no node 3, or"),
                      ("0,1 9,2", "'9,2': there is no node 9, or"), ("0,1 2", "'2' joins one node"), ("0*,1 3,2", "'0*,1': 0 is no product"), ("0,1,2 3,3", "'3,3': "), ("0,1 3,2 4", "'4' joins one node"), ("0,1**", "'1*' is no number")):
        expect_because(other_line(data, "tree", tree), f"tree: {why}")
    expect_because(other_line(data, "tree", "0,1"), "results: the next line must be 'tree'")
    expect_because(other_line(data, "results", "3f800000 3f800000"), "results: 2 of them, not 1")
    expect_because(other_line(data, "input", "1 3f800000 0 0"), "input: the next line must be 'input 0 '")
    expect_because(sealed(lines_of(data), 3), "lines: ")
    expect_because(other_line(fused, "tree", "0,1* 257*,2*"), "tree: '257*,2*': 257 is no product")


def last_digit(value):
    return value[:-1] + ("1" if value[-1] != "1" else "2")


with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "certificate"
    for dtype in "f16", "bf16", "f32", "f64", "e4m3", "e5m2":
        expect_held(path, "flat/canonical", "--fixtures", f"tree/{dtype}/sum/1x33/seed1")
    for subject in "host/sequential", "host/reverse", "host/numpy", "rows/par_256", "flat/shuffle", "host/exact", "host/float64":
        expect_held(path, subject, "--fixtures", "normal/f32/sum/1x257/seed1")
    expect_held(path, "host/pairwise", "--fixtures", "normal/f32/sum/17x257/seed1")
    for subject in "dot/sequential", "dot/canonical", "dot/exact":
        expect_held(path, subject, "--fixtures", "normal/f32/dot/1x257/seed1")
    expect_held(path, "host/sequential", "--fixtures", "ill_conditioned/f64/sum/1x33/seed1/cond1e32")
    expect_held(path, "host/sequential", "--fixtures", "zeros_positive/f32/sum/1x8/seed1")
    expect_held(path, "host/exact_f32", "--fixtures", "normal/bf16/sum/1x33/seed1")

    # Each bit, and each field.
    data = expect_held(path, "host/sequential", "--fixtures", "tree/f32/sum/1x3/seed1")
    flip_bits(data)
    check_many(Path(folder), data)
    data_of_3 = data
    write_nowhere(path)
    name_any_file(Path(folder), data)
    read_no_more_than_one(Path(folder), data)
    data = expect_held(path, "rows/par_16", "--fixtures", "normal/f32/sum/1x33/seed1")
    change_fields(data, {
        "foldproof-certificate": lambda v: "2", "problem": lambda v: "dot", "dtype": lambda v: "f16", "accumulator": lambda v: "bf16",
        "result": lambda v: "bf16", "rows": lambda v: "2", "cols": lambda v: "32", "input 0": last_digit, "method": lambda v: "exact",
        "tree": lambda v: v.replace("0,1", "0,2"), "results": last_digit, "exact": lambda v: "-" + v})
    fused = expect_held(path, "dot/sequential_fma", "--fixtures", "normal/f32/dot/1x257/seed1")
    change_fields(fused, {"tree": lambda v: v.replace("*", ""), "input 1": last_digit})

    join_otherwise(data_of_3, fused)
    spell_otherwise(fused)
    refuse_what_no_format_has()
    end_at_any_text(fused, 300)
    state_nothing(fused)

    # What has none.
    for case in ("5x33", "1x33"):
        said = certify(path, "dot/sequential", "--fixtures", f"normal/f32/matvec/{case}/seed1", code=77)
        expect(said == "foldproof certify: there is no certificate for matvec\n", f"{case}: {said}")
    said = certify(path, "dot/sequential", "--fixtures", "nan_last/f32/sumsq/1x40/seed6", code=77)
    expect("there is no certificate for sumsq" in said, said)
    expect("compensation" in certify(path, "host/kahan", "--fixtures", "normal/f32/sum/1x33/seed1", code=77), "Kahan's is certified")
    expect("not finite" in certify(path, "host/pairwise", "--fixtures", "nan_first/f32/sum/1x33/*", code=77), "a NaN is certified")
    expect("not finite" in certify(path, "host/sequential", "--fixtures", "partial_overflow/f32/sum/1x3", code=77), "a partial sum that overflows is certified")
    expect("negative zero" in certify(path, "host/pairwise", "--fixtures", "zeros_negative/f32/sum/1x8/seed1", code=77), "-0 is certified")
    expect("2 cases" in certify(path, "host/pairwise", "--fixtures", "tree/f32/sum/1x[34]/seed1", code=2), "two cases are certified")
    expect("matches 'normal/f32/sum/1x333/seed1': did you mean 'normal/f32/sum/1x33/seed1'?" in certify(path, "host/pairwise", "--fixtures", "normal/f32/sum/1x333/seed1", code=2), "what case was meant")
    expect("did not come within 1 s (see --timeout)" in certify(path, "--exec", "sleep 60", "--timeout", "1", "--fixtures", "tree/f32/sum/1x3/seed1", code=2), "certify takes no --timeout")

    # Guests: an order that is revealed; one that is not as declared.
    source, shared = (LIBRARY / "examples" / "guest_sum.c").read_text(), Path(folder) / "guest.so"
    for order, code in ("", 0), ('.order = "host/reverse", ', 77):
        own = Path(folder) / "guest.c"
        own.write_text(source.replace('.order = "host/sequential", .claims = "bounded,replays,reproducible"', order + '.claims = "bounded"'))
        subprocess.run([*CC, "-shared", "-fPIC", "-O2", "-ffp-contract=off", "-I", LIBRARY, own, "-o", shared], check=True)
        data = certify(path, "--guest", shared, "--fixtures", "normal/f32/sum/1x257/seed1", code=code)
        if code == 0:
            expect(b"\norder host/sequential" in data and checked(data) is None, "the guest's order is not revealed")
        else:
            expect("these terms give" in data, data)

finish("certificates, and changed ones refused:")
