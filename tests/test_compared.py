"""foldproof compare: what changed from one file of records to another, in each format; lines that replay it.

test_compared.py FOLDPROOF FOLDPROOF_MUTANTS LIBRARY_FOLDER CC
"""
import gzip
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

from recorded import FOLDPROOF, GUEST, build_liars, expect, lines_of, put, run, write_records


def check_compare(folder):
    """What changed, which of the two is nearer, in each format; another sequence, duplicates and compression change nothing."""
    lines = [line for line in lines_of(folder / "r.jsonl") if line["type"] != "end"]
    of = {(line.get("subject"), line.get("case")): line for line in lines}
    del lines[0]["closing_line"]
    # What sets a library is no part of a host subject's replay.
    lines[0]["asked"] = dict(lines[0].get("asked", {}), variables={"NCCL_ALGO": "Ring", "OMPI_MCA_coll": "basic"})
    put(folder / "a", lines)
    other, case = dict(lines[0], flags="-O3", build="another"), "normal/f32/sum/1x33/seed1"
    there = of["host/reverse", case]
    assert there["results"] != of["host/numpy", case]["results"]
    changed = [dict(line, **{key: there[key] for key in ("results", "values", "results_xxh3")}) if line == of["host/numpy", case] else line
               for line in lines[1:]]
    random.Random(2).shuffle(changed)
    put(folder / "b", [other, *changed, *changed[:50]])
    with gzip.open(folder / "b.gz", "wt") as file:
        file.write((folder / "b").read_text())
    for name in ("b", "b.gz"):
        _, said = run("compare", "a", name, cwd=folder, code=1)
        expect(rf"^DIFFERS: host/numpy on host: {case}: a:\d+ has 0x\w+, {name}:\d+ has 0x\w+\n  row 0: \d+ floats? apart; errors \S+ and "
               rf"\S+ ulps: .* nearer? to the exact result\n  reproduce: foldproof verify --subjects 'host/numpy' ", said)
        expect(rf"^{len(lines) - 2} agree, 1 differ, 0 only in a, 0 only in {name}$", said)
        expect(r"^  flags +.* -O2 +-O3$" if "-O2" in lines[0]["flags"] else r"^  flags +.* +-O3$", said)
        expect(r"^  dtype +Differ +First nearer to the exact +Second nearer\n  f32 +1 ", said)
    told = json.loads(run("compare", "a", "b", "--format", "json", cwd=folder, code=1)[1])
    (change,) = told["changes"]
    assert told["agree"] == len(lines) - 2 and change["what"] == "other_results" and change["nearer"] in (-1, 0, 1), told
    assert told["by"]["subject"] == {"host/numpy on host": {"differ": 1, "first_nearer": int(change["nearer"] == 0), "second_nearer": int(change["nearer"] == 1)}}
    expect(rf"^. DIFFERS: host/numpy on host: {case}: ", run("compare", "a", "b", "--format", "markdown", cwd=folder, code=1)[1])
    expect(r"^. differ . \d+ .$", run("compare", "a", "b", "--format", "markdown", cwd=folder, code=1)[1])
    at = lines.index(of["host/numpy", case])
    for key, value, is_now in (("op", "max", "f32 max 1 x 33 in order host/numpy"), ("order", "host/pairwise", "f32 sum 1 x 33 in order host/pairwise"),
                               ("order", "", "f32 sum 1 x 33 in no order"), ("accumulator", "f64", "f32 sum 1 x 33 in order host/numpy, accumulator f64"),
                               ("factor_dtype", "tf32", "f32 sum 1 x 33 in order host/numpy, factors rounded to tf32"),
                               ("cols", 34, "f32 sum 1 x 34 in order host/numpy"), ("dtype", "f64", "f64 sum 1 x 33 in order host/numpy")):
        for among in ([dict(lines[at], **{key: value})], [lines[at], dict(lines[at], **{key: value})]):
            put(folder / "q", [*lines[:at], *among, *lines[at + 1:]])
            _, said = run("compare", "a", "q", cwd=folder, code=1)
            expect(rf"^INPUT CHANGED: host/numpy on host: {case}: a:\d+ has f32 sum 1 x 33 in order host/numpy, q:\d+ has {is_now}$", said)
    random.Random(3).shuffle(lines)
    put(folder / "p", lines * 2)
    run("compare", "a", "p", cwd=folder, code=0)
    check_spelling(folder, lines)


def check_spelling(folder, lines):
    """Keys in any sequence, blanks and escapes are other spellings of one record; control characters and bytes that are no UTF-8 are no JSON."""
    put(folder / "p", [dict(reversed(line.items())) for line in lines])
    _, said = run("compare", "a", "p", cwd=folder, code=0)
    expect(rf"^{len(lines) - 1} agree, 0 differ, 0 only in a, 0 only in p$", said)
    (folder / "p").write_text("".join(json.dumps(line, separators=(" , ", " : ")) + "\n" for line in lines if line["type"] == "run"))
    expect(rf"^{len(lines) - 1} agree, 0 differ, 0 only in a, 0 only in p$", run("compare", "a", "p", cwd=folder, code=0)[1])
    put(folder / "c", [next(line for line in lines if line.get("case") == "normal/f32/sum/1x33/seed1")])
    text = (folder / "c").read_text()
    for at in range(text.index("normal/"), text.index("normal/") + 16):
        (folder / "d").write_text(text[:at] + f"\\u{ord(text[at]):04x}" + text[at + 1:])
        expect("^1 agree, 0 differ, 0 only in c, 0 only in d$", run("compare", "c", "d", cwd=folder, code=0)[1])
        (folder / "d").write_text(text[:at] + "\x01" + text[at + 1:])
        expect("^foldproof compare: d:1: not JSON: control character 0x1", run("compare", "c", "d", cwd=folder, code=2)[1])
        (folder / "d").write_bytes((text[:at] + "\xff" + text[at + 1:]).encode("latin1"))
        expect("^foldproof compare: d:1: not JSON: unable to decode byte 0xff", run("compare", "c", "d", cwd=folder, code=2)[1])


def check_formats(folder):
    """Each format shows what the exit code depends on."""
    whole = (folder / "v.jsonl").read_bytes()
    texts = whole.splitlines(True)
    lines = [line for line in lines_of(folder / "v.jsonl") if line["type"] != "end"]
    del lines[0]["closing_line"]
    put(folder / "open", lines)
    (folder / "w").write_bytes(whole)
    (folder / "cut").write_bytes(whole[:-20])
    (folder / "less").write_bytes(b"".join(texts[:2] + texts[3:]))
    one = next(line for line in lines if line.get("claim") == "writes_output")
    put(folder / "broken", [lines[0], *(line for line in lines if line.get("subject") == "host/exact"),
                            dict({key: one[key] for key in one if not key.startswith(("results", "values"))}, verdict="broken", reason="it ended")])
    put(folder / "few", [{**lines[0], "cpu": "another <cpu>"}, *(line for line in lines[1:] if line["subject"] == "host/exact")])
    for a, b, codes, says in (("w", "w", (0, 0), "agree"), ("w", "cut", (1, 0), "INCOMPLETE"), ("w", "less", (1, 1), "ALTERED"),
                              ("broken", "broken", (99, 99), "the runs broke"), ("open", "few", (1, 0), "another")):
        for options, code in zip(((), ("--subset",)), codes):
            expect(says, run("compare", a, b, "--format", "markdown", *options, cwd=folder, code=code)[1])
    # To a file, as report does: the same text, whatever the exit code; a file that is compared is no output.
    for form in ("text", "markdown", "json"):
        said = run("compare", "open", "few", "--format", form, cwd=folder, code=1)[1]
        assert run("compare", "open", "few", "-f", form, "-o", "told", cwd=folder, code=1)[1] == "" and (folder / "told").read_text() == said, form
    before = (folder / "few").read_bytes()
    expect("^foldproof compare: few: is read, and cannot be the output too$", run("compare", "open", "few", "--output", "few", cwd=folder, code=2)[1])
    assert (folder / "few").read_bytes() == before
    run("compare", "w", "no such file", "-o", "none", cwd=folder, code=2)
    assert not (folder / "none").exists()
    expect("--claim prints text", run("compare", "w", "w", "--claim", "run_to_run", "-o", "told", cwd=folder, code=2)[1])
    expect("--claim prints text", run("compare", "w", "w", "--claim", "run_to_run", "--format", "json", cwd=folder, code=2)[1])


def check_across(folder):
    """Two engines in one file."""
    lines = [line for line in lines_of(folder / "a") if line["type"] == "run"]
    put(folder / "x", lines + [dict(line, engine="cuda") for line in lines])
    _, said = run("compare", "--across", "host,cuda", "x", cwd=folder, code=0)
    expect(rf"^{len(lines)} agree, 0 differ, 0 only in host, 0 only in cuda$", said)
    one = next(line for line in lines if line["subject"] == "host/numpy" and line["case"] == "normal/f32/sum/1x33/seed1")
    other = dict(one, engine="cuda", results=["0x3f800000"], values=["1"], results_xxh3="0x5b0d13ae2d0bbde4")
    put(folder / "x", [one, other, *(line for line in lines if line["subject"] == "host/exact")])
    _, said = run("compare", "--across", "host,cuda", "--subset", "x", cwd=folder, code=1)
    expect(r"^DIFFERS: host/numpy on cuda: .*: host:1 has 0x\w+, cuda:2 has 0x3f800000\n  row 0: .*: host is nearer to the exact result$", said)
    run("compare", "--across", "host,mpi", "x", cwd=folder, code=2)
    run("compare", "--across", "host,hots", "x", cwd=folder, code=2)
    run("compare", "--across", "host", "x", cwd=folder, code=2)
    expect("--across needs two engines, or two files", run("compare", "--across", "host,host", "x", cwd=folder, code=2)[1])
    expect("^foldproof compare: a: no results on engine cuda$", run("compare", "--across", "host,cuda", "a", "a", cwd=folder, code=2)[1])


def check_names(folder):
    """What records, and files' names, say of themselves moves no cursor, in any format that people read."""
    lines = [line for line in lines_of(folder / "a") if line.get("case") == "normal/f32/sum/1x33/seed1"]
    one, other = (next(line for line in lines if line["subject"] == name) for name in ("host/numpy", "host/reverse"))
    plain = {key: value for key, value in lines_of(folder / "a")[0].items() if key != "closing_line"}
    environment = {**plain, "flags": "\x1b[2J"}
    for name in ("\x1b[31m'a\n\u009bb\u2028", "x" * 89 + "\u00e9" * 40):
        put(folder / "c", [plain, dict(one, subject=name)])
        put(folder / "\udcff\x1b", [environment, dict(one, subject=name, **{key: other[key] for key in ("results", "values", "results_xxh3")})])
        for form in ("text", "markdown"):
            done = subprocess.run([FOLDPROOF, "compare", "c", "\udcff\x1b", "--format", form], cwd=folder, capture_output=True)
            said = (done.stdout + done.stderr).decode()
            assert done.returncode == 1 and not set(re.sub("\n", "", said)) & set("\x1b\x9b\u2028"), said
            if form == "text":
                shown = r"\\x1b\[31m'a\\x0a\\xc2\\x9bb\\xe2\\x80\\xa8" if name[0] != "x" else name
                expect(rf"^DIFFERS: {shown} on host: normal/f32/sum/1x33/seed1: c:3 has 0x\w+, \\xff\\x1b:3 has ", said)
                expect(r"^  flags +\S.* \\x1b\[2J$", said)
                expect("^  subject +Differ +First nearer to the exact +Second nearer\n  (\\\\x1b\\[31m'a|x{89})", said)
        told = json.loads(run("compare", "c", "\udcff\x1b", "--format", "json", cwd=folder, code=1)[1])
        assert told["changes"][0]["subject"] == (name if name[0] == "x" else r"\x1b[31m'a\x0a\xc2\x9bb\xe2\x80\xa8"), told
    for k in range(2):  # results that are not in the records: neither is known to be nearer
        put(folder / f"bare{k}", [plain, {**{key: one[key] for key in one if key not in ("results", "values")}, "results_xxh3": f"0x{k:016x}"}])
    said = run("compare", "bare0", "bare1", cwd=folder, code=1)[1]
    assert re.search(r"^  subject +Differ\n  \S.* 1\n", said, re.M) and "earer" not in said, said
    whole = (folder / "v.jsonl").read_bytes()
    for text, word in ((whole[:-20], "INCOMPLETE"), (b"".join(whole.splitlines(True)[:2] + whole.splitlines(True)[3:]), "ALTERED")):
        (folder / "\udcff\x1b").write_bytes(text)
        expect(rf"^{word}: \\xff\\x1b: ", subprocess.run([FOLDPROOF, "recheck", "\udcff\x1b"], cwd=folder, capture_output=True, timeout=120).stdout.decode(errors="replace"))


def check_verdicts(folder):
    """A verdict that changes on the same results is a change; one that only one file has is none."""
    lines = [line for line in lines_of(folder / "v.jsonl") if line["type"] != "end"]
    del lines[0]["closing_line"]
    put(folder / "a", lines)
    at = next(i for i, line in enumerate(lines) if line.get("claim") == "run_to_run")
    put(folder / "b", [*lines[:at], dict(lines[at], verdict="refuted"), *lines[at + 1:]])
    _, said = run("compare", "a", "b", cwd=folder, code=1)
    expect(rf"^VERDICT CHANGED: {lines[at]['subject']} on host: .*: run_to_run: a:{at + 2} has held, b:{at + 2} has refuted$", said)
    expect(r" agree, 0 differ, 0 only in a, 0 only in b$", said)
    put(folder / "b", [*lines[:at], *lines[at + 1:]])
    run("compare", "a", "b", cwd=folder, code=0)


def pasted(said, folder):
    """The exit code of the first replay line, as it stands."""
    line = re.search("^  reproduce: (.*)$", said, re.M)[1].replace("foldproof verify", f"{FOLDPROOF} verify", not said.count(str(FOLDPROOF)))
    return subprocess.run(line, shell=True, cwd=folder, capture_output=True).returncode


def check_replays(folder):
    """A line that compare or judge prints loads the guest that was recorded; what no command can load has no line, or one of Python."""
    program, wrong = f"{sys.executable} bounded.py", GUEST.replace("run_to_run", "bounded,run_to_run")
    for name, text in (("a", wrong), ("b", wrong.replace("sum(x)", "sum(x) + 1"))):
        (folder / "bounded.py").write_text(text)
        run("record", "--exec", program, "--timeout", "77", "-f", "normal/f32/sum/1x33/seed1", "--jsonl", name, cwd=folder, code=0)
    _, compared = run("compare", "a", "b", cwd=folder, code=1)
    _, judged = run("recheck", "b", cwd=folder, code=1)
    assert pasted(compared, folder) == pasted(judged, folder) == 1, compared + judged
    assert " --timeout '77'" in compared and " --timeout '77'" in judged, compared + judged
    for name in "ab":
        environment, ran, _ = lines_of(folder / name)
        del environment["closing_line"], environment["asked"]
        put(folder / name, [environment, ran])
    for words, code in ((("compare", "a", "b"), 1), (("recheck", "b"), 1)):
        _, said = run(*words, cwd=folder, code=code)
        assert "mine/sum on host" in said and "reproduce:" not in said, said
    put(folder / "p", [environment, dict(ran, asked={"python": "import mine; mine.verify()"})])
    for words in (("compare", "a", "p"), ("recheck", "p")):
        expect(r"^  reproduce: python3 -c 'import mine; mine\.verify\(\)'$", run(*words, cwd=folder, code=1)[1])


def check_guests(folder):
    """A guest that was built anew, or whose script was edited, stands beside the results, by its file and the hash of that; wherever it lies."""
    build_liars(folder)
    (folder / "mine.py").write_text(GUEST)
    (folder / "moved").mkdir()
    with open(folder / "data", "wb") as data:  # is not read by each process
        data.truncate((1 << 28) + 1)
    program = f"X=1 {sys.executable} 'mine.py' data"
    words = ("-s", "mine/sum,liar/rounds_down", "-f", "normal/f32/sum/1x33/seed1", "--jsonl")
    run("record", "--guest", "./liars.so", "--exec", program, *words, "a", cwd=folder, code=0)
    (folder / "liars.so").rename(folder / "moved" / "liars.so")
    (folder / "mine.py").write_text(GUEST.replace("sum(x)", "sum(x) + 1"))
    run("record", "--guest", "moved/liars.so", "--exec", program, *words, "b", cwd=folder, code=0)
    files = [[guest["file"] for guest in lines_of(folder / name)[0]["guests"]] for name in "ab"]
    assert files == [["liars.so", pathlib.Path(sys.executable).name, "mine.py"]] * 2, files
    _, said = run("compare", "a", "b", cwd=folder, code=1)
    expect(r"^DIFFERS: mine/sum on host", said)
    expect(r"^  Environment +First +Second\n  guest 3 xxh3 +0x\w{16} +0x\w{16}$", said)
    with open(folder / "moved" / "liars.so", "ab") as file:
        file.write(b"1")
    run("record", "--guest", "moved/liars.so", "-s", "liar/rounds_down", *words[2:], "b", cwd=folder, code=0)
    told = json.loads(run("compare", "a", "b", "--format", "json", cwd=folder, code=1)[1])["environment"]
    assert list(told) == ["guest xxh3", "guests"] and told["guests"] == ["3", "1"], told
    # A record from before this was told; and GPUs, which are told by their place, and counted where one machine has more.
    first, *rest = lines_of(folder / "a")[:-1]
    del first["closing_line"]
    rest[0].update(results=["0x3f800000"], values=["1"], results_xxh3="0x5b0d13ae2d0bbde4")
    put(folder / "b", [{**{key: first[key] for key in first if key != "guests"}, "gpus": [{"name": "A"}, {"name": "C"}, {"name": "C"}]}, *rest])
    put(folder / "c", [{**first, "gpus": [{"name": "A"}, {"name": "B"}]}, *lines_of(folder / "a")[1:-1]])
    told = json.loads(run("compare", "b", "c", "--format", "json", cwd=folder, code=1)[1])["environment"]
    assert told["gpu 2 name"] == ["C", "B"] and told["gpus"] == ["3", "2"] and told["guest file"] == ["", "liars.so"] and told["guests"] == ["", "3"], told


with tempfile.TemporaryDirectory() as scratch:
    write_records(pathlib.Path(scratch))
    build_liars(pathlib.Path(scratch))
    for check in (check_compare, check_formats, check_across, check_names, check_verdicts, check_replays, check_guests):
        check(pathlib.Path(scratch))
