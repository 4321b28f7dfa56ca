"""Certificates: what foldproof certify writes holds by both checkers, and no bit or field of it can be changed. Arguments: the command, the
folder library/, the C compiler."""

import hashlib
import os
import random
import re
import resource
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path

sys.dont_write_bytecode = True
import check_certificate as plain  # noqa: E402
from expect import expect, finish  # noqa: E402

FOLDPROOF, LIBRARY, CC = Path(sys.argv[1]).resolve(), Path(sys.argv[2]), sys.argv[3].split()


def certify(path, *words, code=0):
    path.unlink(missing_ok=True)
    done = subprocess.run([FOLDPROOF, "certify", *map(str, words), "-o", path], capture_output=True, text=True, timeout=120)
    expect(done.returncode == code and path.exists() == (code == 0), f"certify {words}: exit {done.returncode}: {done.stderr}")
    return path.read_bytes() if code == 0 and path.exists() else done.stderr


def checked_all(path, texts):
    """What one command says of each, in its sequence; None: held."""
    files = [f"{path.name}-{k}" for k in range(len(texts))]
    for file, data in zip(files, texts, strict=True):
        (path.parent / file).write_bytes(data)
    done = subprocess.run([FOLDPROOF, "check", *files], cwd=path.parent, capture_output=True, text=True, timeout=120)
    held = {line.split(": ")[1] for line in done.stdout.splitlines()}
    refused = iter(done.stderr.splitlines())
    said = [None if file in held else next(refused, "").removeprefix("foldproof check: ").removeprefix(f"{file}: ") for file in files]
    wrong = any(what is not None and data.startswith(plain.FIRST) for what, data in zip(said, texts))
    code = 1 if wrong else 2 if any(said) else 0
    expect(len(held) + done.stderr.count("\n") == len(files) and done.returncode == code, f"check: exit {done.returncode}, not {code}: {done.stdout}{done.stderr}")
    return said


def checked(path, data):
    return checked_all(path, [data])[0]


def check_many(path, data):
    """Of several files each has its line, which names it; the exit code is that of a change, then that of what is no certificate."""
    changed, other = data.replace(b"f32", b"f64", 1), b"# foldproof\n"
    line = 1 + changed[: changed.index(b"f64")].count(b"\n")
    for texts in ([data, data], [changed, data], [data, changed], [other, data], [data, other], [other, changed, data], [changed, data, other]):
        for said, text in zip(checked_all(path, texts), texts):
            expect((said is None) == (text is data), f"{text[:20]}: {said}")
            if text is changed:
                expect_line(said, line, "f64")


def check_unreadable(folder):
    done = subprocess.run([FOLDPROOF, "check", f"{folder}/nosuch.txt"], capture_output=True, text=True, timeout=60)
    expect(done.returncode == 2 and done.stderr == f"foldproof check: {folder}/nosuch.txt: cannot be opened: No such file or directory\n", f"{done.returncode}: {done.stderr}")


def name_any_file(folder, data):
    """A file's name ends no line and moves no cursor, whether its certificate holds or not."""
    for name, text in ("a\033[31m\nheld: b", data), ("c\033[31m\nheld: d", b"x"), ("nosuch\nheld: e", None):
        if text is not None:
            (Path(folder) / name).write_bytes(text)
        done = subprocess.run([FOLDPROOF, "check", name], cwd=folder, capture_output=True, text=True, timeout=60)
        said = done.stdout + done.stderr
        expect(said.count("\n") == 1 and "\033" not in said and "\\x0aheld: " in said and done.returncode == (0 if text == data else 2), f"{name!r}: {done}")


def check_others(folder):
    """A file of another kind was not tampered with: both checkers say that it is no certificate."""
    path = Path(folder) / "other"
    for data in b"", b"# foldproof\n", b'{"schema":2,"type":"environment"}\n', b"foldproof-certificat":
        path.write_bytes(data)
        for program in (FOLDPROOF, "check"), (sys.executable, plain.__file__):
            done = subprocess.run([*program, path], capture_output=True, text=True, timeout=60)
            expect(done.returncode == 2 and f"{path}: no certificate: it does not begin with 'foldproof-certificate'\n" in done.stdout + done.stderr, f"{data}: {done}")
    for text, why in (b"", "it does not begin with 'foldproof-certificate'"), (b"foldproof-certificate 1\n", "it has more than 256 MiB"):
        path.write_bytes(text)
        os.truncate(path, 1 << 34)
        done = subprocess.run([FOLDPROOF, "check", path], capture_output=True, text=True, timeout=60)
        expect(done.returncode == 2 and f"{path}: no certificate: {why}\n" in done.stderr, f"{why}: {done}")


def sealed(lines):
    """The lines with their sums, and the hash of all."""
    out = b""
    for number, line in enumerate(lines + [None], 1):
        text = line if isinstance(line, bytes) else line.encode() if line is not None else f"sha256 {hashlib.sha256(out).hexdigest()}".encode()
        out += b"%s #%08x\n" % (text, zlib.crc32(b"%d:%s" % (number, text)))
    return out


def lines_of(data):
    return [line.rpartition(" #")[0] for line in data.decode().splitlines()][:-1]


def expect_held(path, *words):
    data = certify(path, *words)
    if isinstance(data, bytes):
        expect(checked(path, data) is None and plain.check(data) is None, f"{words}: {checked(path, data)}, {plain.check(data)}")
        expect(sealed(lines_of(data)) == data, f"{words}: this test seals in another way")
    return data


def expect_line(where, line, text):
    expect(where is not None and (where.startswith(f"line {line}:") or (line == 1 and where.startswith("no certificate: "))), f"{text} in line {line}: {where}")


def flip_bits(path, data):
    """Python's checker is asked of all bits, the command of one in each byte."""
    state = random.Random(5)
    flipped = lambda at, bit: data[:at] + bytes([data[at] ^ 1 << bit]) + data[at + 1 :]  # noqa: E731
    ours = checked_all(path, [flipped(at, state.randrange(8)) for at in range(len(data))])
    for at in range(len(data)):
        line = data[:at].count(b"\n") + 1
        for bit in range(8):
            expect_line(plain.check(flipped(at, bit)), line, f"bit {bit} of byte {at}, by Python")
        expect_line(ours[at], line, f"byte {at}")


def expect_refused(path, texts):
    """Of each (what was done, text) both checkers say that it does not hold."""
    for (what, text), ours in zip(texts, checked_all(path, [text for _, text in texts])):
        expect(ours is not None, f"{what}: held")
        expect(plain.check(text) is not None, f"{what}: held by Python")


def change_fields(path, data, changes):
    """Each with the sums and the hash made again: what is said is held against the rest."""
    lines, texts = lines_of(data), []
    for key, change in changes.items():
        at = next(i for i, line in enumerate(lines) if line.startswith(key + " "))
        value = change(lines[at].removeprefix(key + " "))
        texts.append((f"{key} {value[:40]}", sealed(lines[:at] + [f"{key} {value}"] + lines[at + 1 :])))
        expect(texts[-1][1] != data, f"{key} {value[:40]}: no change")
        texts.append((f"without {key}", sealed(lines[:at] + lines[at + 1 :])))
    texts += [(f"{text[:20]}...", text) for text in (b"", b"\n", data[:-1], data + b"\n", data + data, data[: len(data) // 2], bytes(300))]
    expect_refused(path, texts)


def agree_on_any_text(path, data, times):
    """Words changed, lines left out or doubled, all sealed again: both checkers say the same of each."""
    state = random.Random(7)
    words = "0 -1 +1,+1*99999999 0,1 99999999999 ffffffffffffffff * , .. 0..65535 p 65536 0,0 +0,+0*5 - 7f800000*33 tree exact dot f64".split()
    words += ["", "+33", " 33", "3_3", "0x1", "1*", "33*1", "033", "\u0663"]
    texts = []
    for _ in range(times):
        lines = lines_of(data)
        for _ in range(state.randint(1, 3)):
            at = state.randrange(len(lines))
            parts, way = lines[at].split(" "), state.randrange(4)
            parts.insert(1, state.choice(words)) if way == 0 else parts.__setitem__(-1, state.choice(words))
            lines[at : at + 1] = [[" ".join(parts)], [" ".join(parts)], [], [lines[at], state.choice(lines)]][way]
        texts.append(sealed(lines))
    for k, ours in enumerate(checked_all(path, texts)):
        theirs = plain.check(texts[k])
        expect((ours is None) == (theirs is None), f"text {k}: {ours}, and by Python {theirs}")


def spell_otherwise(path, data):
    """A number has one spelling: with a sign, a blank, a prefix or a word's end that says nothing it is refused by both checkers."""
    ways = [lambda n: "+" + n, lambda n: " " + n, lambda n: n + " ", lambda n: "0x" + n, lambda n: n + "*", lambda n: n + "_0",
            lambda n: n.replace("0", "\u0660"), lambda n: "\t" + n, lambda n: n.upper() + "A", lambda n: "",
            lambda n: re.sub(" (?=[+a-f])", "*1", n, count=1)]  # two words that nothing parts
    lines, texts = lines_of(data), []
    for key in "rows", "cols", "height", "results", "bound", "input 0", "fused", "tree":
        at = next(k for k, line in enumerate(lines) if line.startswith(key + " "))
        for changed in (f"{key} {way(lines[at][len(key) + 1 :])}" for way in ways):
            if changed != lines[at]:
                texts.append((changed, sealed(lines[:at] + [changed] + lines[at + 1 :])))
    expect_refused(path, texts)


def state_nothing(path, data):
    """A statement may be any text: both checkers refuse a key alone and a NUL, and take bytes that are no UTF-8."""
    lines = [line.encode() for line in lines_of(data)]
    for key in b"subject", b"engine", b"case", b"generator", b"order", b"environment":
        at = next(k for k, line in enumerate(lines) if line.startswith(key + b" "))
        for line, held in (key, False), (lines[at] + b"\0", False), (lines[at] + b"\0b", False), (key + b" ", True), (lines[at] + b"\xff", True):
            changed = sealed(lines[:at] + [line] + lines[at + 1 :])
            ours, theirs = checked(path, changed), plain.check(changed)
            expect((ours is None) == held and (theirs is None) == held, f"{line}: {ours}, and by Python {theirs}")


def by_hand(formats, terms, results, method="tree", bound=None, rows=1):
    """A certificate of terms that are added in turn, or exactly; all that the checkers say of it rests on what it says."""
    dtype, accumulator, result = formats
    cols, size = len(terms) // rows, plain.FORMATS[dtype][0] // 8
    hashed = hashlib.sha256(b"".join(term.to_bytes(size, "little") for term in terms)).hexdigest()
    values = [plain.number(dtype, term) for term in terms[:cols]]
    tree = ["tree 0,1" + "".join(f" {cols + k},{k + 2}" for k in range(cols - 2)), "fused -", f"height {cols - 1}"] if method == "tree" else []
    height, rounds = (cols - 1 if tree else None), not plain.holds(accumulator, dtype)
    bound = f"{plain.bound(sum(values), sum(map(abs, values)), height, cols, rounds, accumulator, result):x}" if bound is None else bound
    return sealed(["foldproof-certificate 1", "subject s", "engine host", "case c", "generator g", "problem sum", f"dtype {dtype}", f"accumulator {accumulator}",
                   f"result {result}", f"rows {rows}", f"cols {cols}", "input 0 " + " ".join(f"{term:x}" for term in terms), f"input-sha256 0 {hashed}",
                   f"method {method}", "order none", *tree, f"results {results}", *[f"exact {plain.spelled(sum(values))}"] * rows, f"bound {bound}"])


def cpu_of_check(path, data, fused):
    """The CPU seconds that it takes to check a dot product of 65,536 terms up to its height, with these fused products."""
    terms = 1 << 16
    said = {"cols": terms, "input 0": f"3f800000*{terms}", "input 1": f"3f800000*{terms}", "tree": f"0,1 +{terms},+1 +1,+1*{terms - 3}", "fused": fused, "height": 1}
    said.update({f"input-sha256 {k}": hashlib.sha256(b"\0\0\x80\x3f" * terms).hexdigest() for k in (0, 1)})
    lines, keys = [], set()
    for line in lines_of(data):
        key = next((key for key in said if line.startswith(f"{key} ")), None)
        if key is None or key not in keys:
            lines.append(f"{key} {said[key]}" if key else line)
        keys.add(key)
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    what = checked(path, sealed(lines))
    expect(what.endswith(f"height: the tree's is {terms - 1}"), f"many fused products: {what}")
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def fuse_often(path, data):
    """Ranges of fused products may overlap, for both checkers; many wide ones take as long as many narrow ones."""
    lines = lines_of(data)
    at = next(k for k, line in enumerate(lines) if line.startswith("fused "))
    for fused, held in ("200..256 1..256", True), ("1..9 5..256 7", True), ("2..256 1", True), ("-", False), ("200..256 201", False):
        changed = sealed([*lines[:at], f"fused {fused}", *lines[at + 1 :]])
        for what in checked(path, changed), plain.check(changed):
            expect((what is None) == held, f"fused {fused}: {what}")
    wide, narrow = (cpu_of_check(path, data, " ".join([word] * 300000)) for word in ("0..65535", "0..1"))
    expect(wide < 3 * narrow + 0.3, f"300,000 ranges take {wide} s of CPU if they are wide, {narrow} s if not")


def refuse_what_no_format_has(path):
    """A partial sum or a result that overflows is not finite, whatever the certificate says; a tree can be too high for a bound; a certificate has so many terms."""
    large, f32 = 0x7F61B1E6, ("f32", "f32", "f32")
    expect(checked(path, by_hand(f32, [large, large | 1 << 31, large], "7f61b1e6")) is None, "what certificates by hand are wrong in")
    expect_refused(path, [
        ("a partial sum beyond its accumulator", by_hand(f32, [large, large, large | 1 << 31], "7f61b1e6")),
        ("a partial sum beyond e4m3, which has no infinity", by_hand(("e4m3",) * 3, [0x7E, 0x58, 0xFE], "58")),
        ("a term beyond its accumulator", by_hand(("f32", "f16", "f32"), [0x47800000, 0xC7800000, 0x3F800000], "3f800000")),
        ("a result beyond its format", by_hand(f32, [large, large], "f" * 16, "exact")),
        ("a bound that is not finite", by_hand(("f64",) * 3, [0x7FE0000000000000] * 300, "0", "tree", "f" * 16)),
        ("a bound of a tree that is too high", by_hand(("e5m2",) * 3, [0x3C] + [0] * 8, "3c", "tree", "0")),
        ("a bound below zero", by_hand(("e5m2",) * 3, [0x3C] + [0] * 11, "3c", "tree", "c00d555555555556")),
        ("more terms", by_hand(f32, [0] * 65538, "0*2", "exact", rows=2))])
    data = by_hand(("f32", "bf16", "f32"), [0x3F800001, 0x3F808000], "40000000")  # each term is rounded to 1 before
    expect(checked(path, data) is None and plain.check(data) is None, f"terms that are rounded first: {checked(path, data)}, {plain.check(data)}")
    data = by_hand(("f32", "f32", "f32"), [0x3F800000], "3f800000", "exact")
    expect_refused(path, [(spelled, data_of(data, "exact 1p0", f"exact {spelled}")) for spelled in ("01p0", "1p00", "1p-0", "2p-1", "+1p0")])


def data_of(data, line, other):
    """The certificate with another line."""
    return sealed([other if text == line else text for text in lines_of(data)])


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
        data = expect_held(path, subject, "--fixtures", "normal/f32/dot/1x257/seed1")
    expect_held(path, "host/sequential", "--fixtures", "ill_conditioned/f64/sum/1x33/seed1/cond1e32")
    expect_held(path, "host/sequential", "--fixtures", "zeros_positive/f32/sum/1x8/seed1")

    # Each bit, and each field.
    data = expect_held(path, "host/pairwise", "--fixtures", "tree/f32/sum/1x3/seed1")
    flip_bits(path, data)
    check_many(path, data)
    data = expect_held(path, "rows/par_16", "--fixtures", "normal/f32/sum/1x33/seed1")
    change_fields(path, data, {
        "foldproof-certificate": lambda v: "2", "problem": lambda v: "dot", "dtype": lambda v: "f16", "accumulator": lambda v: "bf16",
        "result": lambda v: "bf16", "rows": lambda v: "2", "cols": lambda v: "32", "input 0": lambda v: last_digit(v),
        "input-sha256 0": last_digit, "method": lambda v: "exact", "tree": lambda v: v.replace("0,1", "0,2"), "fused": lambda v: "33",
        "height": lambda v: "13", "results": last_digit, "exact": lambda v: "-" + v, "bound": last_digit})
    # An input with its hash made again: then the result is wrong.
    lines = lines_of(data)
    at = next(i for i, line in enumerate(lines) if line.startswith("input 0 "))
    lines[at] = last_digit(lines[at])
    bits = [int(word, 16) for line in lines if line.startswith("input 0 ") for word in line.split()[2:]]
    hashed = hashlib.sha256(b"".join(b.to_bytes(4, "little") for b in bits)).hexdigest()
    lines = [f"input-sha256 0 {hashed}" if line.startswith("input-sha256") else line for line in lines]
    for where in checked(path, sealed(lines)), plain.check(sealed(lines)):
        expect(where and (": results: " in where or ": exact: " in where), f"an input that was changed: {where}")
    data = expect_held(path, "dot/sequential_fma", "--fixtures", "normal/f32/dot/1x257/seed1")
    change_fields(path, data, {"fused": lambda v: "-", "input 1": last_digit, "bound": last_digit})
    fuse_often(path, data)

    spell_otherwise(path, data)
    refuse_what_no_format_has(path)
    agree_on_any_text(path, data, 150)
    state_nothing(path, data)
    check_unreadable(folder)
    check_others(folder)
    name_any_file(folder, data)

    # What has none.
    expect("compensation" in certify(path, "host/kahan", "--fixtures", "normal/f32/sum/1x33/seed1", code=77), "Kahan's is certified")
    expect("not finite" in certify(path, "host/pairwise", "--fixtures", "nan_first/f32/sum/1x33/*", code=77), "a NaN is certified")
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
            expect(b"\norder host/sequential" in data and plain.check(data) is None, "the guest's order is not revealed")
        else:
            expect("these terms give" in data, data)

finish("certificates, and changed ones refused:")
