"""A user's own arrays, one file for each input (--npy A.npy,B.npy), for shared objects, programs and foldproof's own subjects: what is judged,
that the line which repeats a refutation does so, and what is refused.

test_guest_arrays.py FOLDPROOF LIBRARY_FOLDER GUESTS_FOLDER CC
"""
import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from guest_shell import FOLDPROOF, GUESTS, build, verify  # noqa: E402

DESCR = {"f": "<f4", "d": "<f8", "i": "<i4", "q": "<i8", "b": "|i1"}


def save(path, shape, values, form="f", fortran=False):
    head = f"{{'descr': '{DESCR[form]}', 'fortran_order': {fortran}, 'shape': {tuple(shape)}, }}".ljust(117) + "\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + struct.pack(f"<{len(values)}{form}", *values))
    return str(path)


def judgements(page):
    return [line for line in map(json.loads, page.read_text().splitlines()) if line["type"] == "judgement"]


def judge(npy, problem, *options, code=0):
    got, out, err = verify("--npy", npy, "--problem", problem, "--jsonl", str(PAGE), *options)
    assert got == code, (npy, problem, options, got, out, err)
    return judgements(PAGE), out


def repeat(out):
    """Runs the line that is said to repeat a refutation, as a shell does."""
    line = re.search(r"\n +reproduce: (.*)\n", out)
    assert line, out
    done = subprocess.run(line[1], shell=True, capture_output=True, text=True)
    assert done.returncode == 1 and "REFUTED" in done.stdout, (line[1], done)
    return line[1]


def numbers(n):
    return [(7 * i * i + 3 * i) % 61 - 30 for i in range(n)]


def check_own_subjects():
    """Of foldproof's own subjects each problem is judged, of the shape that the files say, and recheck makes the arrays again."""
    a, b, x = save(A, (3, 40), numbers(120)), save(B, (40, 5), numbers(200)), save(X, (40,), numbers(40))
    v, w, keys = save(V, (40, 2), numbers(80)), save(W, (40,), numbers(40)), save(K, (40,), [i * i % 5 for i in range(40)], "i")
    a3, b3, long_keys = save(A3, (2, 3, 40), numbers(240)), save(B3, (2, 40, 5), numbers(400)), save(K8, (40,), [i * i % 5 for i in range(40)], "q")
    for npy, problem, shape, subject in ((f"{a},{b}", "matmul", "3x5x40", "dot/sequential,matmul/blocked,dot/exact"), (f"{a3},{b3}", "matmul", "2x3x5x40", "matmul/blocked"),
                                         (f"{a},{x}", "matvec", "3x40", "dot/sequential"), (f"{a},{a}", "dot", "3x40", "dot/canonical"),
                                         (f"{x},{w}", "dot", "1x40", "dot/pairwise"), (a, "scan", "3x40", "scan/sequential,scan/exact"),
                                         (f"{v},{keys}", "keyed", "5x2x40", "keyed/sequential,keyed/exact"), (f"{v},{long_keys},9", "keyed", "9x2x40", "keyed/sequential"),
                                         (f"{w},{keys},5", "keyed", "5x1x40", "keyed/exact")):
        lines, _ = judge(npy, problem, "--subjects", subject)
        assert {line["case"] for line in lines} == {f"npy:{npy}/f32/{problem}/{shape}"}, (npy, problem, {line["case"] for line in lines})
        claims = {line["claim"] for line in lines if line["verdict"] == "held"}
        assert claims & {"replays", "correctly_rounded"} and claims & {"batch_invariant"}, (problem, claims)
        done = subprocess.run([FOLDPROOF, "recheck", str(PAGE)], capture_output=True, text=True)
        assert done.returncode == 0 and " 0 could not be made again, 0 contradictions" in done.stdout, (problem, done)


def check_oracle():
    """The oracle prints each result of several files."""
    a, b = save(A, (2, 3), [1e8, 1, -1e8, 1, 2, 3]), save(B, (3, 2), [1, 2, 1, 2, 1, 2])
    values, keys = save(V, (4,), [1e8, 1, 5, -1e8]), save(K, (4,), [0, 0, 2, 0], "q")
    for files, problem, wanted in ((f"{a},{b}", "matmul", ["1", "2", "6", "12"]), (f"{values},{keys}", "keyed", ["1", "0", "5"]), (f"{a},{a}", "dot", ["20000000000000015"]),
                                   (a, "scan", ["100000000", "100000001", "1", "1", "3", "6"])):
        done = subprocess.run([FOLDPROOF, "oracle", "--check", "--json", "--problem", problem, files], capture_output=True, text=True)
        answers = [json.loads(line) for line in done.stdout.splitlines()]
        assert done.returncode == 0 and [one["exact"] for one in answers] == wanted and all(one["agrees"] for one in answers), (files, problem, done)
    for files, problem, words in ((a, "matmul", "matmul takes a file for each of its 2 inputs: A.npy,B.npy"), (f"{values},{keys},2", "keyed", f"{keys}: key 2 is 2, and there are 2 slots")):
        done = subprocess.run([FOLDPROOF, "oracle", "--problem", problem, files], capture_output=True, text=True)
        assert done.returncode == 2 and words in done.stderr and not done.stdout, (files, problem, done)


def check_objects(guest):
    """A shared object that loses a term at k = 1,000 is refuted by the value of the files' own product."""
    ones = save(A, (2, 1000), [1] * 2000), save(B, (1000, 3), range(3000))
    lines, _ = judge(",".join(ones), "matmul", "--guest", guest, "--subjects", "*right")
    assert all(line["verdict"] == "held" for line in lines if line["claim"] == "bounded"), lines
    lines, out = judge(",".join(ones), "matmul", "--guest", guest, "--subjects", "*lost_at_1000", "--claims", "bounded", code=1)
    wrong = next(line for line in lines if line["verdict"] == "refuted")
    assert (wrong["shape"], int(wrong["want"], 16)) == ([1, 2, 3, 1000], struct.unpack("<I", struct.pack("<f", sum(range(0, 3000, 3))))[0]), wrong
    line = repeat(out)
    assert f"--npy '{','.join(ones)}' --problem 'matmul'" in line and "--fixtures" not in line, line
    lines, out = judge(",".join(ones), "matmul", "--guest", guest, "--subjects", "*lost_at_1000", code=1)
    repeat(out)
    for line in judgements(PAGE):
        assert line["verdict"] != "broken", line


def check_programs():
    """A program gets the files' values, keys as 32-bit integers, and the number of slots."""
    values, keys = save(V, (40, 2), numbers(80)), save(K, (40,), [i * i % 5 for i in range(40)], "q")
    how = f"{sys.executable} -ISB {GUESTS}/keyed.py"
    lines, _ = judge(f"{values},{keys},6", "keyed", "--exec", f"{how} right")
    assert {(line["case"], line["verdict"]) for line in lines if line["claim"] in ("bounded", "keeps_input")} == {(f"npy:{values},{keys},6/f32/keyed/6x2x40", "held")}, lines
    _, out = judge(f"{values},{keys},6", "keyed", "--exec", f"{how} slot", code=1)
    assert f"--npy '{values},{keys},6' --problem 'keyed'" in repeat(out)


def check_names(guest):
    """A comma is part of a name where no .npy is before it; a space, too."""
    folder = A.parent / "with, comma and space"
    folder.mkdir()
    a, b = save(folder / "a,1.npy", (2, 1000), [1] * 2000), save(folder / "b.npy", (1000, 3), range(3000))
    lines, out = judge(f"{a},{b}", "matmul", "--guest", guest, "--subjects", "*lost_at_1000", code=1)
    assert {line["case"] for line in lines} == {f"npy:{a},{b}/f32/matmul/2x3x1000"}, lines
    repeat(out)


def check_one_file():
    """The rows of both inputs in one file, as before."""
    both = save(A, (4, 40), numbers(160))
    for problem, shape in (("dot", "2x40"), ("matvec", "3x40")):
        lines, _ = judge(both, problem, "--subjects", "dot/sequential")
        assert {line["case"] for line in lines} == {f"npy:{both}/f32/{problem}/{shape}"}, lines


def check_refused():
    a, b, x, keys = save(A, (3, 40), numbers(120)), save(B, (40, 5), numbers(200)), save(X, (40,), numbers(40)), save(K, (40,), [i % 5 for i in range(40)], "i")
    other, wide, odd, deep = save(V, (39, 5), numbers(195)), save(W, (40, 5), numbers(200), "d"), save(K8, (40,), [3, -1] * 20, "q"), save(A3, (2, 2, 2, 2), numbers(16))
    turned = save(B3, (2, 40, 1), numbers(80), fortran=True)
    for npy, problem, words in (
            (a, "matmul", f"{a}: matmul takes a file for each of its 2 inputs: A.npy,B.npy"),
            (f"{a},{b},{x}", "matmul", "matmul takes a file for each of its 2 inputs"),
            (f"{a},{x},{b}", "dot", "dot takes a file for each of its 2 inputs"),
            (x, "keyed", "keyed takes a file for each of its 2 inputs: values.npy,keys.npy, or values.npy,keys.npy,SLOTS"),
            (f"{a},{other}", "matmul", f"{other}: its axes are (b, k, n) of matmul, and k is 39 here, and 40 in the file before"),
            (f"{a},{b}", "matvec", f"{b}: it has 2 dimensions: this input of matvec has axes (k)\n"),
            (f"{x},{b}", "matmul", f"{x}: it has 1 dimension: this input of matmul has axes (b, m, k), with or without b\n"),
            (f"{a},{wide}", "matmul", f"{wide}: it holds f64, and the one before f32"),
            (f"{a},nowhere.npy", "matmul", "nowhere.npy: cannot be opened: No such file or directory"),
            (f"{deep},{b}", "matmul", f"{deep}: it has more than"),
            (f"{turned},{b}", "matmul", f"{turned}: it is in Fortran order"),
            (f"{x},{odd}", "keyed", f"{odd}: key 1 is -1: a key is the number of a slot, 0 to 2^31 - 2\n"),
            (f"{x},{keys},4", "keyed", f"{keys}: key 4 is 4, and there are 4 slots, from 0 on\n"),
            (f"{x},{keys},99999999999", "keyed", "at most 2^32 - 2, and 2^31 - 1"),
            (f"{x},{x}", "keyed", f"{x}: keys are i32 or i64, and not f32"),
            (f"{A3},{b}", "sum", f"{A3},{b}: sum takes one file, its one input: give each array an --npy of its own\n"),
            (f"{a},{b}", "scan", f"{a},{b}: scan takes one file, its one input"),
            (deep, "sum", f"{deep}: it has more than two dimensions")):
        code, out, err = verify("--npy", npy, "--problem", problem, "--subjects", "host/sequential,dot/sequential,keyed/sequential")
        assert code == 2 and words in err and len(err.splitlines()) == 1, (npy, problem, words, code, out, err)


def check_spared():
    """No output replaces a file of the list."""
    a, b = save(A, (3, 40), numbers(120)), save(B, (40, 5), numbers(200))
    for name in (a, b):
        before = pathlib.Path(name).read_bytes()
        code, out, err = verify("--npy", f"{a},{b}", "--problem", "matmul", "--subjects", "matmul/blocked", "--jsonl", name)
        assert code == 2 and pathlib.Path(name).read_bytes() == before, (name, code, out, err)


def check_changed():
    """Of files that changed, recheck makes no input, with a key too large either."""
    values, keys = save(V, (40,), numbers(40)), save(K, (40,), [i % 5 for i in range(40)], "i")
    judge(f"{values},{keys},5", "keyed", "--subjects", "keyed/sequential")
    save(K, (40,), [i % 5 + 1 for i in range(40)], "i")
    done = subprocess.run([FOLDPROOF, "recheck", str(PAGE)], capture_output=True, text=True)
    assert " 0 could not be made again" not in done.stdout, done
    save(K, (39,), [0] * 39, "i")
    done = subprocess.run([FOLDPROOF, "recheck", str(PAGE)], capture_output=True, text=True)
    assert " 0 could not be made again" not in done.stdout, done


with tempfile.TemporaryDirectory(prefix="foldproof-arrays-") as room:
    os.environ.update(TMPDIR=room)
    A, B, X, V, W, K, A3, B3, K8 = (pathlib.Path(room) / (name + ".npy") for name in ("a", "b", "x", "v", "w", "k", "a3", "b3", "k8"))
    PAGE = pathlib.Path(room) / "page.jsonl"
    products = str(build(pathlib.Path(room), "products", GUESTS / "products.c", options=["-ffp-contract=off", "-lm"]))
    check_own_subjects()
    check_oracle()
    check_objects(products)
    check_programs()
    check_names(products)
    check_one_file()
    check_refused()
    check_spared()
    check_changed()
