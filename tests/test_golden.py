"""The goldens of fixtures/golden hold; and each thing that can become of them is told for what it is.

test_golden.py FOLDPROOF FIXTURES. Copies are changed as a change of code would show: a bit, an input, an order, a name, a cut. What is
changed in a sheet that --bless wrote is told by its last line's hash; so that the checks behind that are seen too, the hash is made anew.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from golden_end import closed, list_folder

FOLDPROOF, FIXTURES = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
KEPT = FIXTURES / "golden"
SHEET = "order-host-numpy.golden"
LEAST = 9100  # results that are compared: whoever takes goldens out changes this too


def record(*words, code):
    done = subprocess.run([FOLDPROOF, "record", *words], capture_output=True, text=True)
    assert done.returncode == code, f"{words}: {done.returncode}, not {code}: {done.stdout[-3000:]}{done.stderr[-2000:]}"
    return done.stdout + done.stderr


def check_words():
    for word in "--bless", "--update":
        assert f"--bless needs --golden DIR" in record(word, "kept", code=2)


def check_kept():
    said = record("--golden", KEPT, code=0)
    counts = re.search(r"^goldens: (\d+) held, 0 differ, 0 with a different input, 0 with a different order, 0 gone, (\d+) stale", said, re.M)
    assert counts and int(counts[1]) >= LEAST, said
    parts = re.search(r"; of those held, (\d+) are results and (\d+) are the oracle's replays of what was kept$", said, re.M)
    assert parts and int(parts[1]) + int(parts[2]) == int(counts[1]) and int(parts[2]) > 0, said
    print(said.strip())
    assert sum(path.stat().st_size for path in KEPT.iterdir()) <= 1 << 20, "fixtures/golden is larger than 1 MiB"


def check_ranks():
    """Orders over ranks are replayed everywhere; where MPI is, they are run, too."""
    sheets = [path.read_text() for path in KEPT.glob("*.golden") if "by collective/" in path.read_text().split("\ncommit")[0]]
    lines, over_ranks = (sum(len(re.findall(line, text, re.M)) for text in sheets) for line in (r"^\S+/\S+ input ", r"^\S+/ranks\d\S* input "))
    assert over_ranks >= 130, over_ranks
    tried = subprocess.run([FOLDPROOF, "verify", "--subjects", "collective/canonical", "--claims", "writes_output", "--fixtures", "normal/f32/sum/7x8/ranks8/seed1"], capture_output=True, text=True)
    here = tried.returncode == 0
    assert here or tried.returncode == 77, tried
    said = record("--golden", KEPT, "--subjects", "collective/*", code=0)
    assert f"goldens: {lines + here * over_ranks} held, 0 differ" in said, (lines, over_ranks, here, said)
    print(f"{over_ranks} over ranks replayed" + ("" if here else f"; not run: {tried.stdout.splitlines()[-4:]}"))


def one_digit(text):
    return text[:-1] + ("0" if text[-1] != "0" else "1")


def of_line(pattern, change):
    """Changes what the pattern's group has, in the first line that it matches."""

    def changed(text):
        found = re.search(pattern, text, re.M)
        assert found, pattern
        return text[: found.start(1)] + change(found[1]) + text[found.end(1):]

    return changed


def one_less(text):
    return of_line(r"^end (\d+) ", lambda count: str(int(count) - 1))(text)


HASH = r":\d+: the lines before are not those that --bless wrote: take the file back from your repository, or remove it and --bless again"
WINDOWS = r":1: the file was made text of Windows \(CR LF, or a byte order mark\): take it as it was written, or convert it back \(dos2unix\)"
LINE = r"^normal/f32/sum/1x1025/seed1 input (\S+) tree (\S+) bits (\S+)$"
CHANGES = {
    "a bit of a result": (of_line(LINE.replace(r"(\S+) t", r"\S+ t").replace(r"(\S+) b", r"\S+ b"), one_digit), 1,
                          r"^DIFFERS FROM ITS GOLDEN: host/numpy on host: normal/f32/sum/1x1025/seed1, row 0: was 0x\w+ .*, is 0x\w+ .*"
                          r"errors \S+ and \S+ ulps: the new one is nearer to the exact result\n  golden: \S+:\d+, of commit \w+\n  reproduce: "),
    "the same, with no engine": (of_line(LINE.replace(r"(\S+) t", r"\S+ t").replace(r"(\S+) b", r"\S+ b"), one_digit), 1, r"^ORACLE DIFFERS: "),
    "an input": (of_line(LINE.replace(r"tree (\S+) bits (\S+)", r"tree \S+ bits \S+"), one_digit), 1,
                 r"^DIFFERENT INPUT: normal/f32/sum/1x1025/seed1: generator normal, seed 1, makes different terms: hash 0x"),
    "a tree": (of_line(LINE.replace(r"input (\S+)", r"input \S+").replace(r"bits (\S+)", r"bits \S+"), one_digit), 1,
               r"^DIFFERENT ORDER: host/numpy: its tree of 1025 terms is not the one that was kept: host/numpy on host$"),
    "a case": (of_line(r"^(normal/f32/sum/1x1025/seed1) ", lambda name: name[:-1] + "1x"), 1, r"^GONE: there is no case normal/f32/sum/1x1025/seed1x: "),
    "a subject": (of_line(r"^by (host/numpy) on host$", lambda name: "host/numpx"), 1, r"^GONE: there is no subject host/numpx on host: "),
    "who declares another order": (of_line(r"^by (host/numpy) on host$", lambda name: "host/pairwise"), 1,
                                   r"^GONE: host/pairwise on host is 'order host/pairwise' now, not 'order host/numpy': "),
    "an order": (of_line(r"^of order (host/numpy)$", lambda name: "host/numpx"), 1, r"^GONE: there is no order host/numpx: "),
    "a digit less": (of_line(LINE.replace(r"(\S+) t", r"\S+ t").replace(r"(\S+) b", r"\S+ b"), lambda bits: bits + " "), 2, r":\d+: .*no line that --bless wrote"),
    "a line twice": (of_line(r"^(normal/f32/sum/1x1025/seed1 .*\n)", lambda line: line + line), 2, r":\d+: normal/f32/sum/1x1025/seed1: twice, or out of its place"),
    "lines out of place": (of_line(r"^(normal/f32/sum/1x1025.*\n.*\n)", lambda two: "".join(reversed(two.splitlines(True)))), 2, r"twice, or out of its place"),
    "a line taken out": (of_line(r"^(normal/f32/sum/1x1025/seed1 .*\n)", lambda line: ""), 2, r"'end \d+ xxh3 \w+': there are \d+ lines"),
    "a line taken out, and counted": (lambda text: one_less(of_line(r"^(normal/f32/sum/1x1025/seed1 .*\n)", lambda line: "")(text)), 2, HASH),
    "a name taken out": (of_line(r"^(by host/numpy on host\n)", lambda line: ""), 2, HASH),
    "a comment": (of_line(r"^# (Written) ", lambda word: "Changed"), 2, HASH),
    "the commit": (of_line(r"^commit (\w+)$", one_digit), 2, HASH),
    "the hash": (of_line(r"^end \d+ xxh3 (\w+)$", one_digit), 2, HASH),
    "no hash": (of_line(r"^end \d+( xxh3 \w+)$", lambda hash: ""), 2, r":\d+: no hash of the lines before: take the file back .*, or remove it and --bless again"),
    "a line behind the last": (lambda text: text + "# more\n", 2, r":\d+: behind the last line"),
    "a tree taken out": (lambda text: closed(of_line(LINE.replace(r" tree (\S+)", r"( tree \S+)").replace(r"input (\S+)", r"input \S+").replace(r"bits (\S+)", r"bits \S+"),
                                                     lambda tree: "")(text)), 2, r":\d+: normal/f32/sum/1x1025/seed1: it has no tree of its order"),
    "a file cut at a line's end": (of_line(r"(^end .*\n)", lambda line: ""), 2, r"no golden, or cut off"),
    "a file cut within a line": (lambda text: text[: len(text) // 2], 2, r":\d+: cut off"),
    "another version of the format": (of_line(r"^foldproof golden (2)$", lambda n: "3"), 2, r":1: no golden: 'foldproof golden 2' is wanted"),
    "no order at all": (of_line(r"^of (order host/numpy)$", lambda of: "order host/numpy, kahn"), 2, r"no sheet is of that"),
    "nothing": (lambda text: "", 2, r"no golden, or cut off"),
    "CR LF": (lambda text: text.replace("\n", "\r\n"), 2, WINDOWS),
    "a byte order mark": (lambda text: "\ufeff" + text, 2, WINDOWS),
}


def check_changes(folder):
    for what, (change, code, says) in CHANGES.items():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        text = change((KEPT / SHEET).read_text())
        for text, code, says in [(text, 2, HASH), (closed(text), code, says)] if code == 1 else [(text, code, says)]:
            (folder / SHEET).write_text(text)
            list_folder(folder)
            said = record("--golden", folder, "--subjects", "host/nump?,host/pairwise", code=code)
            assert re.search(says, said, re.M), f"{what}: no {says!r} in {said[:3000]}"


def check_fifo(folder):
    """A pipe of that name is waited for by nobody."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    os.mkfifo(folder / "a.golden")
    list_folder(folder)
    assert "a.golden: not a file of text" in record("--golden", folder, code=2)


def check_selection(folder):
    """What is not selected is no business of the run; a folder with nothing in it is not green."""
    record("--golden", KEPT, "--subjects", "host/numpy", "--fixtures", "normal/f32/sum/1x1025/seed1", code=0)
    said = record("--golden", KEPT, "--subjects", "host/numpy", "--fixtures", "ties/f32/sum/1x3/seed1", code=2)
    assert "goldens: 0 held" in said and "1 results have none" in said, said
    shutil.rmtree(folder)
    assert "no golden is there" in record("--golden", folder, code=2)
    done = subprocess.run([FOLDPROOF, "verify", "--golden", KEPT, "-q", "-s", "host/numpy", "-f", "normal/f32/sum/1x33/seed1"], capture_output=True, text=True)
    assert done.returncode == 0 and "goldens: 2 held, 0 differ" in done.stdout, done
    assert re.search(r"\n\d+ held, 0 refuted, \d+ skipped; goldens: 2 held, 0 differ, 0 stale\n$", done.stdout), done
    folder.mkdir()
    (folder / SHEET).write_text(closed(of_line(r"^normal/f32/sum/1x33/seed1 input \S+ tree \S+ bits (\S+)$", one_digit)((KEPT / SHEET).read_text())))
    list_folder(folder)
    for case, code, says in (("normal/f32/sum/1x33/seed1", 1, "0 held, 2 differ, 0 stale"), ("normal/f32/sum/1x1024/seed1", 0, "2 held, 0 differ, 0 stale"), ("ties/f32/sum/1x3/seed1", 2, "0 held, 0 differ, 0 stale")):
        done = subprocess.run([FOLDPROOF, "verify", "--golden", folder, "-q", "-s", "host/numpy", "-f", case], capture_output=True, text=True)
        assert done.returncode == code and re.search(rf"\n[1-9]\d* held, 0 refuted, \d+ skipped; goldens: {says}\n$", done.stdout), (case, code, done)


OTHER = "order-host-sorted.golden"
BACK = "take it back from your repository"
LISTS = {
    "a sheet that is gone": (lambda folder: (folder / SHEET).unlink(), rf" {SHEET} is gone from \S+golden: {BACK}, or let record --bless drop it"),
    "two that are gone": (lambda folder: [(folder / name).unlink() for name in (SHEET, OTHER)], rf" {SHEET} is gone \(and 1 more\) from \S+golden: {BACK}"),
    "a sheet that was renamed": (lambda folder: (folder / SHEET).rename(folder / "other.golden"), rf" {SHEET} is gone, and other.golden is there instead: {BACK}"),
    "a sheet with another's name": (lambda folder: (folder / SHEET).rename(folder / OTHER), rf" {SHEET} is gone from \S+golden: {BACK}"),
    "a sheet that is no golden any more": (lambda folder: (folder / SHEET).rename(folder / f"{SHEET}.old"), rf" {SHEET} is gone from \S+golden: {BACK}"),
    "a sheet that is not listed": (lambda folder: (folder / "exact.golden").write_bytes((KEPT / "exact.golden").read_bytes()),
                                   r" exact.golden in \S+golden is not in its golden.list: remove it, or let record --bless list it"),
    "no list": (lambda folder: (folder / "golden.list").unlink(), rf"golden/golden.list is gone, and a golden that went with it would not be missed: {BACK}, or run record --bless again"),
    "no sheet": (lambda folder: [path.unlink() for path in folder.glob("*.golden")], rf" {SHEET} is gone \(and 1 more\) from \S+golden: "),
    "a name taken out": (lambda folder: change_list(folder, lambda text: text.replace(f"{SHEET}\n", "")), r"golden.list:5: 'end 2 xxh3 \w+': there are 1 lines"),
    "a name taken out, and counted": (lambda folder: change_list(folder, lambda text: one_less(text.replace(f"{SHEET}\n", ""))), r"golden.list" + HASH),
    "a name taken out, and closed": (lambda folder: change_list(folder, lambda text: closed(text.replace(f"{SHEET}\n", ""))), rf" {SHEET} in \S+golden is not in its golden.list"),
    "a name and its sheet": (lambda folder: [change_list(folder, lambda text: text.replace(f"{SHEET}\n", "")), (folder / SHEET).unlink()], r"golden.list:5: 'end 2 "),
    "a name twice": (lambda folder: change_list(folder, lambda text: closed(text.replace(f"{SHEET}\n", f"{SHEET}\n" * 2))), rf"golden.list:5: {SHEET}: twice, or out of its place"),
    "another folder's name": (lambda folder: change_list(folder, lambda text: closed(text.replace(SHEET, f"./{SHEET}"))), r"golden.list:4: '\S+': no line that --bless wrote"),
    "a list that is cut": (lambda folder: change_list(folder, lambda text: text[: text.index("end")]), r"golden.list: no golden, or cut off"),
    "a list with CR LF": (lambda folder: change_list(folder, lambda text: text.replace("\n", "\r\n")), r"golden.list" + WINDOWS),
    "another list": (lambda folder: change_list(folder, lambda text: closed(text.replace("goldens 1", "goldens 2"))), r"golden.list:1: no list of goldens: 'foldproof goldens 1' is wanted"),
}


def change_list(folder, change):
    path = folder / "golden.list"
    text = path.read_text()
    path.write_text(change(text))
    assert path.read_bytes() != text.encode()


def check_list(folder):
    """What is not there is missed, by whatever command; and a folder from before there were lists is told so."""
    few = ["--golden", folder, "--subjects", "host/numpy,host/sorted", "--fixtures", "normal/f32/sum/1x1025/seed1"]
    for what, (change, says) in LISTS.items():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        for name in (SHEET, OTHER):
            shutil.copy(KEPT / name, folder)
        list_folder(folder)
        record(*few, code=0)
        change(folder)
        said = record(*few, code=2)
        assert re.search(says, said), f"{what}: no {says!r} in {said}"
    done = subprocess.run([FOLDPROOF, "verify", "-q", *few], capture_output=True, text=True)
    assert done.returncode == 2 and "another" not in done.stdout and "no list of goldens" in done.stderr, done
    (folder / "golden.list").unlink()
    for path in folder.glob("*.golden"):
        path.write_text(closed(path.read_text().replace("foldproof golden 2", "foldproof golden 1")))
    said = record(*few, code=0)
    assert re.search(r"^NO LIST: \S+golden has no golden.list, so that a golden that is deleted is not missed: record --bless writes one\ngoldens: 4 held, ", said, re.M), said
    said = record(*few, "--bless", "--dirty", code=0)
    assert "LISTS: what is in the folder: golden.list, which is new" in said and "2 as they were" in said, said
    before = {path.name: path.read_text() for path in folder.iterdir()}
    list_folder(folder)
    assert before == {path.name: path.read_text() for path in folder.iterdir()} and all((KEPT / name).read_text() == before[name] for name in (SHEET, OTHER))
    assert "NO LIST" not in record(*few, code=0)


with tempfile.TemporaryDirectory() as scratch:
    check_words()
    check_kept()
    check_ranks()
    check_changes(pathlib.Path(scratch) / "golden")
    check_list(pathlib.Path(scratch) / "golden")
    check_fifo(pathlib.Path(scratch) / "golden")
    check_selection(pathlib.Path(scratch) / "golden")
