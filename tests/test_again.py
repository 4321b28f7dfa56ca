"""foldproof judge: records are judged as verify judges results, with no subject at hand; whatever is changed in one is refuted or named.

test_again.py FOLDPROOF FOLDPROOF_MUTANTS LIBRARY_FOLDER CC
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
import xml.etree.ElementTree

FOLDPROOF, MUTANTS, LIBRARY = (pathlib.Path(word).resolve() for word in sys.argv[1:4])
LIARS, CC = pathlib.Path(__file__).resolve().parent / "guests" / "liars.c", sys.argv[4].split()
FEW = "normal/*/sum/1x33/seed1,normal/f32/sum/17x257/seed1,ill_conditioned_dot/f32/dot/1x33/seed1/cond1e6,ties/f32/max/1x33/seed1,thirds"


def run(*words, cwd, program=FOLDPROOF, code=None):
    done = subprocess.run([program, *words], cwd=cwd, capture_output=True, text=True)
    assert code is None or done.returncode == code, f"{words}: {done.returncode}, not {code}: {done.stdout[-3000:]}{done.stderr[-2000:]}"
    return done.returncode, done.stdout + done.stderr


def expect(pattern, said):
    assert re.search(pattern, said, re.M), f"no {pattern!r} in {said[:4000]}"


def lines_of(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def put(path, lines):
    path.write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines))


def check_held(folder):
    """What verify held of results, judge holds; of runs and of verdicts; compressed, in a folder, in another sequence, by another program."""
    run("verify", "--engine", "host", "-f", FEW, "--jsonl", "v.jsonl", "--in-process", cwd=folder, code=0)
    run("record", "--engine", "host", "-f", FEW, "--jsonl", "r.jsonl", cwd=folder, code=0)
    held = [line for line in lines_of(folder / "v.jsonl") if line.get("verdict") == "held" and line["claim"] in
            ("bounded", "compensated", "faithful", "correctly_rounded", "replays", "same_bits_as")]
    for name in ("v.jsonl", "r.jsonl"):
        _, said = run("judge", name, cwd=folder, code=0)
        expect(rf", 0 could not be made again, 0 contradictions; {len(held)} held, 0 refuted, ", said)
    lines = lines_of(folder / "r.jsonl")
    texts = (folder / "r.jsonl").read_text().splitlines(True)
    middle = texts[1:-1]
    random.Random(1).shuffle(middle)
    (folder / "many").mkdir()
    with gzip.open(folder / "many" / "a.jsonl.gz", "wt") as file:
        file.writelines([texts[0], *middle, texts[-1]])
    _, said = run("judge", "many", cwd=folder, code=0)
    expect(rf"; {len(held)} held, 0 refuted, ", said)
    assert "ALTERED" not in said, said
    strangers = [dict(line, **{key: "a/" + line[key] for key in ("subject", "twin") if key in line}) for line in lines]
    del strangers[0]["closing_line"]
    put(folder / "s", strangers[:-1])
    _, said = run("judge", "s", cwd=folder, code=0)  # by what they declare: of an order whatever it promises
    expect(rf"0 could not be made again, 0 contradictions; {len(held)} held, 0 refuted, ", said)
    compressed = (folder / "many" / "a.jsonl.gz").read_bytes()
    (folder / "many" / "a.jsonl.gz").write_bytes(compressed[: len(compressed) // 2])
    _, said = run("judge", "many", cwd=folder, code=2)
    expect("gzip finds it cut or damaged|not JSON", said)
    assert all(line.get("order") == "host/numpy" for line in lines if line.get("subject") == "host/numpy")
    _, quietly = run("judge", "r.jsonl", "--jsonl", "j.jsonl", "-q", cwd=folder, code=0)
    assert "subject and claim" not in quietly and quietly.startswith("all subjects"), quietly  # as of verify -q
    _, aloud = run("judge", "r.jsonl", cwd=folder, code=0)
    expect(r"^subject and claim .*\n\S+ on host\n(.*\n)*all subjects ", aloud)
    again = [line for line in lines_of(folder / "j.jsonl") if line.get("verdict") == "held"]
    keys = ("subject", "case", "claim", "results_xxh3", "ulps", "bound_fraction", "row", "got", "want")
    assert sorted(str([line.get(key) for key in keys]) for line in again) == sorted(str([line.get(key) for key in keys]) for line in held)


def check_full(folder):
    """Rows past the 16th: by the replay's hash, or with --full by their bits."""
    run("record", "--engine", "host", "-s", "host/exact,rows/par_16", "-f", "normal/f32/sum/1000x8/seed1", "--jsonl", "part", cwd=folder, code=0)
    run("record", "--engine", "host", "-s", "host/exact,rows/par_16", "-f", "normal/f32/sum/1000x8/seed1", "--jsonl", "full", "--full", cwd=folder, code=0)
    for name in ("part", "full"):
        _, said = run("judge", name, cwd=folder, code=0)
        expect("2 results judged, 0 could not be made again, 0 contradictions; 4 held", said)
    lines = lines_of(folder / "full")
    assert len(lines[1]["results"]) == 1000
    lines = [{key: value for key, value in line.items() if key not in ("order", "method")} for line in lines[:-1]]
    for line in lines[1:]:
        line["subject"] = "a/stranger"
        line["results"] = line["results"][:16]
    del lines[0]["closing_line"]
    put(folder / "strange", [lines[0], next(line for line in lines if line.get("engine") and line["results_xxh3"] != lines[1]["results_xxh3"])])
    _, said = run("judge", "strange", cwd=folder)
    expect("it holds 16 of 1000 results .record --full holds all.", said)


def check_refuted(folder):
    """Another program's mutants, by what their records declare."""
    for mutant, claim in (("mutant/swapped_partials", "replays"), ("mutant/numpy_256", "replays"), ("mutant/two_away", "correctly_rounded"),
                          ("mutant/kahan_plain", "replays"), ("mutant/dropped_tail", "bounded"), ("mutant/same_as_par_64", "same_bits_as")):
        run("record", "-s", f"{mutant},rows/par_256", "-f", "normal/f32/sum/1x1023/seed1", "--jsonl", "m", cwd=folder, program=MUTANTS, code=0)
        _, said = run("judge", "m", cwd=folder, code=1)
        expect(rf"^REFUTED: {mutant} on host violates {claim}: ", said)
        assert "on host violates" not in said.replace(f"REFUTED: {mutant} on host violates", ""), said
    lines = lines_of(folder / "r.jsonl")
    of = next(line for line in lines if line.get("subject") == "rows/single_determ" and line["case"] == "normal/f32/sum/1x33/seed1")
    twin = dict(of, subject="rows/par_256", results=["0x3f800000"], values=["1"], results_xxh3="0x5b0d13ae2d0bbde4")
    put(folder / "twins", [of, twin])
    _, said = run("judge", "twins", cwd=folder, code=1)
    expect("violates same_bits_as: ", said)
    expect("rows/par_256 on host violates replays: ", said)
    put(folder / "twice", [of, dict(of, results=twin["results"], values=["1"], results_xxh3=twin["results_xxh3"])])
    _, said = run("judge", "twice", cwd=folder, code=1)
    expect("violates run_to_run: .*the records hold two results of this input", said)
    put(folder / "twice", [of, of])
    _, said = run("judge", "twice", cwd=folder, code=0)
    expect("^1 results judged", said)


def check_recorded(folder):
    """What records tell and nobody can judge again counts as what it was: a refutation, an accident of a run, a crash; whatever the lines' sequence."""
    name = "normal/f32/sum/3x1000/seed1"
    subprocess.run([*CC, "-shared", "-fPIC", "-O1", "-ffp-contract=off", f"-I{LIBRARY}", LIARS, "-o", "liars.so"], cwd=folder, check=True)
    for subject, claim, code in (("writes_too_far", "stays_in_bounds", 1), ("rounds_down", "leaves_no_trace", 1), ("keeps_state", "run_to_run", 1),
                                 ("crashes", "", 99)):
        run("verify", "--guest", "./liars.so", "-s", f"liar/{subject}", "-f", name, "--jsonl", "l", "-q", cwd=folder, code=code)
        lines = lines_of(folder / "l")
        del lines[0]["closing_line"]
        for sequence in (lines[1:-1], lines[-2:0:-1]):
            put(folder / "l", [lines[0], *sequence])
            _, said = run("judge", "l", cwd=folder, code=code)
            expect(rf"^REFUTED: liar/{subject} on host violates {claim}: .*so its record says" if claim else "^BROKEN: |broken", said)
            assert "CONTRADICTS" not in said, said
    for subject, claim in (("writes_too_far", "stays_in_bounds"), ("rounds_down", "leaves_no_trace"), ("changes_its_input", "keeps_input")):
        run("record", "--guest", "./liars.so", "-s", f"liar/{subject}", "-f", name, "--jsonl", "l", cwd=folder, code=0)
        _, said = run("judge", "l", cwd=folder, code=1)
        expect(rf"^REFUTED: liar/{subject} on host violates {claim}: ", said)
        lines = lines_of(folder / "l")[:-1]
        del lines[0]["closing_line"]
        put(folder / "l", lines)
        put(folder / "honest", [{key: value for key, value in line.items() if key not in ("out_of_bounds", "wrote_input", "left")} for line in lines])
        run("compare", "l", "l", cwd=folder, code=0)
        _, said = run("compare", "honest", "l", cwd=folder, code=1)
        expect(rf"^DIFFERS: liar/{subject} on host: .* l:2 has 0x\w+ \((out of bounds|wrote to its input|left its process changed)\)", said)
    of = next(line for line in lines_of(folder / "l") if line["type"] == "run")
    put(folder / "l", [dict(of, type="judgement", claim="keeps_input", promised=True, verdict="held")])
    _, said = run("judge", "l", cwd=folder, code=1)
    expect("^CONTRADICTS: .*it says that keeps_input held; what its run did refutes that", said)


# Of a record that no closing line guards: (key, another value, the exit code, what is said).
FIELDS = [
    ("results", ["0x3f800000"], 2, "results_xxh3 is 0x\\w+, but its results have"),
    ("results_xxh3", "0x5b0d13ae2d0bbde4", 2, "results_xxh3 is 0x\\w+, but its results have"),
    ("values", ["1.5"], 1, "^CONTRADICTS: f:1: .*: result 0 is 0x\\w+, which is \\S+, and not 1.5"),
    ("input_xxh3", "0x0000000000000001", 1, "^CONTRADICTS: f:1: .*: its input, made again, has hash 0x\\w+, not 0x0000000000000001"),
    ("seed", 2, 1, "its input, made again, has hash"),
    ("generator", "uniform", 1, "its input, made again, has hash"),
    ("generator", "nobody", 77, "^SKIPPED: .*the fixture of that name differs here"),
    ("cols", 34, 1, "its input, made again, has hash"),
    ("cols", 1 << 60, 1, "terms are too many"),
    ("cols", -1, 1, "its dtype, op, rows and cols name no input"),
    ("rows", 2, 2, "it holds 1 results, and should hold 2 of 2 rows"),
    ("dtype", "f64", 1, "its input, made again, has hash"),
    ("dtype", "f31", 2, "f:1: a record of type judgement has the dtype 'f31': no such is known"),
    ("op", "max", 1, "violates|CONTRADICTS"),
    ("op", "nothing", 2, "f:1: a record of type judgement has the op 'nothing': no such is known"),
    ("order", "host/pairwise", 1, "^CONTRADICTS: .*it declares order 'host/pairwise', and the one here has 'host/numpy'"),
    ("order", "", 1, "^CONTRADICTS: .*it declares order '', and the one here has 'host/numpy'"),
    ("order", "host/nobody", 1, "^CONTRADICTS: .*it declares order 'host/nobody', and the one here has 'host/numpy'"),
    ("method", "exact", 1, "^CONTRADICTS: .*it declares method 'exact', and the one here has ''"),
    ("accumulator", "f64", 1, "^CONTRADICTS: .*it declares accumulator 'f64', and the one here has ''"),
    ("twin", "host/exact", 1, "^CONTRADICTS: .*it declares twin 'host/exact', and the one here has ''"),
    ("result_dtype", "f16", 2, "is no result of f16"),
    ("guest", True, 1, "^CONTRADICTS: .*it declares 'guest', and the one here has it not"),
    ("peer", True, 1, "^CONTRADICTS: .*it declares 'peer', and the one here has it not"),
    ("any_gpu", True, 1, "^CONTRADICTS: .*it declares 'any_gpu', and the one here has it not"),
    ("promised", False, 1, "^CONTRADICTS: .*it says that replays is not promised, and the subject here promises it"),
    ("claim", "correctly_rounded", 1, "^CONTRADICTS: .*it says that correctly_rounded is promised, and the subject here does not"),
    ("claim", "replay", 2, "f:1: a record of type judgement has the claim 'replay': no such is known"),
    ("ranks", 7, 1, "^CONTRADICTS: .*ranks, on an engine that has none"),
    ("case", "nope", 1, "^CONTRADICTS: .*its name is not that of a case of this dtype, op, shape, ranks and seed"),
    ("case", None, 2, "needs the key 'case'"),
    ("subject", None, 2, "needs the key 'subject'"),
    ("type", None, 2, "needs the key 'type'"),
    ("type", "jugdement", 2, "f:1: no type 'jugdement' of record is known"),
    ("type", "timing", 2, "needs the key"),
    ("verdict", "helt", 2, "f:1: a record of type judgement has the verdict 'helt': no such is known"),
    ("known", "as ever", 1, "^CONTRADICTS: .*known, and no refutation of a peer"),
    ("cases", 3, 1, "^CONTRADICTS: .*results of more than one case"),
    ("row", 1, 1, "^CONTRADICTS: .*a row that it has not"),
    ("want", None, 1, "^CONTRADICTS: .*one of got and want"),
    ("values", None, 1, "^CONTRADICTS: .*other results than values"),
    ("results", None, 1, "^CONTRADICTS: .*other results than values"),
    ("subject", "", 1, "^CONTRADICTS: .*no subject"),
    ("ranks_differ", {"rank": 1, "row": 0, "got": "0x0", "rank_0": "0x1"}, 1, "^CONTRADICTS: .*ranks, on an engine that has none"),
    ("wrote_input", {"byte": 0}, 1, "^REFUTED: host/numpy on host violates keeps_input: .*it wrote to its input .so its record says."),
    ("out_of_bounds", {"byte": 4, "of": "output", "by": "write"}, 1, "^REFUTED: host/numpy on host violates stays_in_bounds: "),
    ("unwritten", {"row": 0}, 1, "^CONTRADICTS: .*it says that a result was not written, and has the result"),
    ("unwritten", {"row": 7}, 1, "^CONTRADICTS: .*a row that it has not was unwritten"),
    ("results_xxh3", "", 1, "^CONTRADICTS: .*results without their hash"),
    ("results_xxh3", None, 1, "^CONTRADICTS: .*results without their hash"),
    ("engine", "hots", 2, "f:1: a record of type judgement has the engine 'hots': no such is known"),
    ("schema", 3, 2, "schema 3: written by a newer foldproof, this one reads schemas 1 to 2"),
    ("verdict", "refuted", 1, "^CONTRADICTS: .*it says that replays is refuted; the results say held"),
    ("got", "0x3f800000", 1, "^CONTRADICTS: .*row 0 got 0x3f800000, and result 0 is 0x"),
]


def check_fields(folder):
    lines = lines_of(folder / "v.jsonl")
    of = next(line for line in lines if line.get("subject") == "host/numpy" and line["case"] == "normal/f32/sum/1x33/seed1" and line["claim"] == "replays")
    of.update(row=0, got=of["results"][0], want=of["results"][0])
    put(folder / "f", [of])
    _, said = run("judge", "f", cwd=folder, code=0)
    for key, value, code, says in FIELDS:
        put(folder / "f", [{k: v for k, v in dict(of, **{key: value}).items() if v is not None}])
        got, said = run("judge", "f", cwd=folder)
        assert got == code, f"{key} = {value}: {got}, not {code}: {said}"
        expect(says, said)


def check_told(folder):
    """What one record tells and another of the same does not; and words that would take a refutation away."""
    of = next(line for line in lines_of(folder / "v.jsonl") if line.get("subject") == "host/numpy" and line["claim"] == "replays" and line["rows"] == 1)
    mine = dict(of, subject="mine/sum", guest=True)
    put(folder / "f", [mine, dict(mine, claim="bounded")])
    run("judge", "f", cwd=folder, code=0)
    for other, says in ((dict(order="host/pairwise"), "it tells another case or subject than the first record of the same results"),
                        (dict(guest=False), "it tells another case or subject than the first"),
                        (dict(claim="replays", promised=False), "it says that replays is not promised, and another record of that subject promises it")):
        put(folder / "f", [mine, dict(mine, claim="bounded", **other) if "claim" not in other else dict(mine, **other)])
        _, said = run("judge", "f", cwd=folder, code=1)
        expect(f"^CONTRADICTS: f:2: .*{says}", said)
    put(folder / "f", [dict(mine, claim="leaves_no_trace"), dict(mine, left="the rounding mode")])
    _, said = run("judge", "f", cwd=folder, code=1)
    expect("^CONTRADICTS: f:2: .*it says that leaves_no_trace held; what its run did refutes that", said)
    for words in (dict(known="as ever"), dict(known="as ever", peer=True), dict(known="max and min lose a NaN", peer=True, subject="nccl/sum", engine="nccl")):
        put(folder / "f", [dict(of, claim="run_to_run", verdict="refuted", reason="it varies", **words)])
        _, said = run("judge", "f", cwd=folder, code=1)
        expect("^REFUTED: .* violates run_to_run: .*it varies .so its record says.", said)
    put(folder / "f", [{key: value for key, value in mine.items() if key not in ("results", "values", "results_xxh3", "verdict", "claim", "promised")} | {"type": "run"}])
    _, said = run("judge", "f", cwd=folder, code=1)
    expect("^CONTRADICTS: .*a run with neither results nor a verdict", said)
    lines = (folder / "v.jsonl").read_text().splitlines()
    changed = {key: value for key, value in json.loads(lines[-1]).items() if key != "lines_xxh3"}
    put(folder / "f", [*map(json.loads, lines[:-1]), changed])
    _, said = run("judge", "f", cwd=folder, code=2)
    expect("needs the key 'lines_xxh3'", said)
    put(folder / "f", [*map(json.loads, lines[:-1]), dict(changed, schema=1)])
    for words in (("judge", "f"), ("compare", "f", "v.jsonl")):
        _, said = run(*words, cwd=folder, code=1)
        expect("the closing line in line \d+ has no hash of its \d+ records", said)


# The first lines of an all-reduce by Open MPI whose maximum has the other zero: a defect that is known of v4.1.4 to v4.1.8.
ZERO = {"schema": 2, "build": "0123456789ab", "type": "judgement", "subject": "mpi/allreduce", "engine": "mpi", "peer": True, "claim": "correctly_rounded", "promised": True,
        "case": "zeros_mixed/f32/max/9x2/ranks2/seed1", "dtype": "f32", "op": "max", "rows": 9, "cols": 2, "generator": "zeros_mixed", "seed": 1,
        "input_xxh3": "0xa0bdb8a385d748a4", "ranks": 2, "verdict": "refuted", "reason": "not the number nearest to the exact result", "row": 3, "got": "0x80000000",
        "want": "0x00000000", "known": "max and min keep or lose a NaN, and a zero's sign, by which rank has it", "results": ["0x80000000"] * 6 + ["0x00000000"] * 3,
        "values": ["-0"] * 6 + ["0"] * 3, "results_xxh3": "0x05d8810ff92f8fe2"}


def check_known(folder):
    """A defect that is known of the recorded version is counted as known; of another version, of other rows, or unsaid it is none."""
    here = {key: value for key, value in lines_of(folder / "v.jsonl")[0].items() if key not in ("closing_line", "mpi")}
    permuted = dict(ZERO, claim="permutation_invariant", reason="different bits for the terms reversed")
    for version, of, code, says in (("v4.1.4", {}, 77, "known defects of .*not counted.*:\n  1 case, mpi/allreduce of Open MPI v4.1.4: .*\n0 held, 0 refuted"),
                                    ("v4.1.99", {}, 1, "^  new: not known of Open MPI v4.1.99"),
                                    ("", {}, 1, "^REFUTED"),
                                    ("v4.1.4", {"known": None}, 1, "^REFUTED: mpi/allreduce on mpi violates correctly_rounded: "),
                                    ("v4.1.4", {"subject": "mpi/other"}, 1, "^REFUTED: mpi/other on mpi violates correctly_rounded: ")):
        of = {key: value for key, value in dict(ZERO, **of).items() if value is not None}
        put(folder / "f", [dict(here, mpi=f"Open MPI {version}") if version else here, of])
        _, said = run("judge", "f", cwd=folder, code=code)
        expect(says, said)
    for version, code in (("v4.1.4", 77), ("v4.1.99", 1)):
        put(folder / "f", [dict(here, mpi=f"Open MPI {version}"), permuted])
        run("judge", "f", cwd=folder, code=code)


def check_measured(folder):
    """Records of older programs, from machines with eight GPUs: what they don't tell, or can't be made again, is counted and no contradiction."""
    measured = pathlib.Path(__file__).resolve().parent.parent / "ci" / "measured"
    for name, code, says in (("h200x4/verify.jsonl.gz", 0, "[1-9]\d* could not be made again, 0 contradictions"), ("h200x8/verify.jsonl.gz", 1, ", 0 contradictions; \\d+ held, 12 refuted, "),
                             ("h200/peers-cccl-3.6.0.jsonl.gz", 0, ", 0 contradictions"), ("h200/atomic.jsonl", 77, ", 2 could not be made again, 0 contradictions")):
        _, said = run("judge", measured / name, cwd=folder, code=code)
        expect(says, said)
        expect(" held, 0 refuted, " if code != 1 else "^  new: not known of", said)  # the one of eight tells no version, and refuted it


def check_bits(folder):
    """One bit anywhere in a file with its closing line: never exit code 0."""
    run("record", "-s", "host/numpy,host/exact", "-f", "normal/f32/sum/1x3[0-3]/seed1", "--jsonl", "b", cwd=folder, code=0)
    whole = (folder / "b").read_bytes()
    chance = random.Random(1)
    for _ in range(300):
        at = chance.randrange(len(whole) - 1)
        changed = bytearray(whole)
        changed[at] ^= 1 << chance.randrange(8)
        (folder / "c").write_bytes(changed)
        code, said = run("judge", "c", cwd=folder)
        beyond = at >= whole.rindex(b',"build"')  # who built the last line says nothing of results
        assert code in (1, 2, 99) or (beyond and code == 0), f"byte {at}: exit code {code}: {bytes(changed[at - 20:at + 20])} {said}"
    for cut in (1, 100, len(whole) // 2, whole.rindex(b"\n", 0, -1) + 1):
        (folder / "c").write_bytes(whole[:-cut] if cut < 1000 else whole[:cut])
        _, said = run("judge", "c", cwd=folder, code=0 if cut == 1 else 99)
        expect("^INCOMPLETE: c: " if cut != 1 else "", said)


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
        expect(rf"^DIFFERS: host/numpy on host: {case}: a:\d+ has 0x\w+, {name}:\d+ has 0x\w+\n  row 0: \d+ patterns? apart; errors \S+ and "
               rf"\S+ ulps: .* nearer? to the exact result\n  replay: foldproof verify --subjects 'host/numpy' ", said)
        expect(rf"^{len(lines) - 2} agree, 1 differ, 0 only in a, 0 only in {name}$", said)
        expect(r"^  flags +.* -O2 +-O3$" if "-O2" in lines[0]["flags"] else r"^  flags +.* +-O3$", said)
        expect(r"^  dtype +Differ +First nearer to the exact +Second nearer\n  f32 +1 ", said)
    told = json.loads(run("compare", "a", "b", "--format", "json", cwd=folder, code=1)[1])
    (change,) = told["changes"]
    assert told["agree"] == len(lines) - 2 and change["what"] == "other_results" and change["nearer"] in (-1, 0, 1), told
    assert told["by"]["subject"] == {"host/numpy on host": {"differ": 1, "first_nearer": int(change["nearer"] == 0), "second_nearer": int(change["nearer"] == 1)}}
    tree = xml.etree.ElementTree.fromstring(run("compare", "a", "b", "--format", "junit", cwd=folder, code=1)[1])
    assert tree.get("failures") == "1" and tree.find(".//failure").get("message").startswith("DIFFERS: host/numpy on host: ")
    expect(rf"^. DIFFERS: host/numpy on host: {case}: ", run("compare", "a", "b", "--format", "markdown", cwd=folder, code=1)[1])
    at = lines.index(of["host/numpy", case])
    for key, value, is_now in (("op", "max", "f32 max 1 x 33 in order host/numpy"), ("order", "host/pairwise", "f32 sum 1 x 33 in order host/pairwise"),
                               ("order", "", "f32 sum 1 x 33 in no order"), ("accumulator", "f64", "f32 sum 1 x 33 in order host/numpy, accumulator f64"),
                               ("cols", 34, "f32 sum 1 x 34 in order host/numpy"), ("dtype", "f64", "f64 sum 1 x 33 in order host/numpy")):
        for among in ([dict(lines[at], **{key: value})], [lines[at], dict(lines[at], **{key: value})]):
            put(folder / "q", [*lines[:at], *among, *lines[at + 1:]])
            _, said = run("compare", "a", "q", cwd=folder, code=1)
            expect(rf"^INPUT CHANGED: host/numpy on host: {case}: a:\d+ has f32 sum 1 x 33 in order host/numpy, q:\d+ has {is_now}$", said)
    random.Random(3).shuffle(lines)
    put(folder / "p", lines * 2)
    run("compare", "a", "p", cwd=folder, code=0)
    check_scanned(folder, lines)


def check_scanned(folder, lines):
    """Keys in any sequence; and what a scanner of plain strings must leave to a parser, at each place of a word."""
    put(folder / "p", [dict(reversed(line.items())) for line in lines])
    _, said = run("compare", "a", "p", cwd=folder, code=0)
    expect(rf"^{len(lines) - 1} agree, 0 differ, 0 only in a, 0 only in p$", said)
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
    """Each format tells whatever the exit code hangs on: JUnit is green where compare is."""
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
    for a, b, codes, says, flawed in (
            ("w", "w", (0, 0), None, (0, 0, 0)), ("w", "cut", (1, 0), "INCOMPLETE", (1, 0, 1)), ("w", "less", (1, 1), "ALTERED", (2, 0, 1)),
            ("broken", "broken", (99, 99), "the runs broke", (0, 1, 0)), ("open", "few", (1, 0), "another", (11, 0, 11))):
        for options, code in zip(((), ("--subset",)), codes):
            suite = xml.etree.ElementTree.fromstring(run("compare", a, b, "--format", "junit", *options, cwd=folder, code=code)[1])
            counts = [int(suite.get(key)) for key in ("failures", "errors", "skipped")]
            assert (counts[0] + counts[1] == 0) == (code == 0), (a, b, options, counts)
            assert counts == [len(suite.findall(f".//{tag}")) for tag in ("failure", "error", "skipped")], counts
            assert int(suite.get("tests")) == len(suite.findall("testcase")), suite.attrib
            assert counts[1] == flawed[1] and (counts[2] == flawed[2] if options else counts[0] == flawed[0]), (a, b, options, counts)
            said = run("compare", a, b, "--format", "markdown", *options, cwd=folder, code=code)[1]
            expect(says or "agree", said)
    suite = xml.etree.ElementTree.fromstring(run("compare", "open", "few", "--format", "junit", cwd=folder, code=1)[1])
    assert suite.find("properties/property[@name='cpu']").get("value").endswith(", then another <cpu>")
    expect("--claim prints text", run("compare", "w", "w", "--claim", "run_to_run", "--format", "junit", cwd=folder, code=2)[1])


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
    environment = {**lines_of(folder / "a")[0], "flags": "\x1b[2J"}
    for name in ("\x1b[31m'a\n\u009bb\u2028", "x" * 89 + "\u00e9" * 40):
        put(folder / "c", [lines_of(folder / "a")[0], dict(one, subject=name)])
        put(folder / "\udcff\x1b", [environment, dict(one, subject=name, **{key: other[key] for key in ("results", "values", "results_xxh3")})])
        for form in ("text", "markdown", "junit"):
            done = subprocess.run([FOLDPROOF, "compare", "c", "\udcff\x1b", "--format", form], cwd=folder, capture_output=True)
            said = (done.stdout + done.stderr).decode()
            assert done.returncode == 1 and not set(re.sub("\n", "", said)) & set("\x1b\x9b\u2028"), said
            if form == "text":
                shown = r"\\x1b\[31m'a\\x0a\\xc2\\x9bb\\xe2\\x80\\xa8" if name[0] != "x" else name
                expect(rf"^DIFFERS: {shown} on host: normal/f32/sum/1x33/seed1: c:2 has 0x\w+, \\xff\\x1b:2 has ", said)
                expect(r"^  flags +\S.* \\x1b\[2J$", said)
                expect("^  subject +Differ +First nearer to the exact +Second nearer\n  (.\\[31m'a.|x{89})", said)
        told = json.loads(run("compare", "c", "\udcff\x1b", "--format", "json", cwd=folder, code=1)[1])
        assert told["changes"][0]["subject"] == name, told
    for k in range(2):  # results that are not in the records: nobody knows who is nearer
        put(folder / f"bare{k}", [lines_of(folder / "a")[0], {**{key: one[key] for key in one if key not in ("results", "values")}, "results_xxh3": f"0x{k:016x}"}])
    said = run("compare", "bare0", "bare1", cwd=folder, code=1)[1]
    assert re.search(r"^  subject +Differ\n  \S.* 1\n", said, re.M) and "earer" not in said, said
    whole = (folder / "v.jsonl").read_bytes()
    for text, word in ((whole[:-20], "INCOMPLETE"), (b"".join(whole.splitlines(True)[:2] + whole.splitlines(True)[3:]), "ALTERED")):
        (folder / "\udcff\x1b").write_bytes(text)
        expect(rf"^{word}: \\xff\\x1b: ", subprocess.run([FOLDPROOF, "judge", "\udcff\x1b"], cwd=folder, capture_output=True, timeout=120).stdout.decode(errors="replace"))


def check_verdicts(folder):
    """A verdict that changes on the same results is a change; one that only one file has is none."""
    lines = [line for line in lines_of(folder / "v.jsonl") if line["type"] != "end"]
    del lines[0]["closing_line"]
    put(folder / "a", lines)
    at = next(i for i, line in enumerate(lines) if line.get("claim") == "run_to_run")
    put(folder / "b", [*lines[:at], dict(lines[at], verdict="refuted"), *lines[at + 1:]])
    _, said = run("compare", "a", "b", cwd=folder, code=1)
    expect(rf"^VERDICT CHANGED: {lines[at]['subject']} on host: .*: run_to_run: a:{at + 1} has held, b:{at + 1} has refuted$", said)
    expect(r" agree, 0 differ, 0 only in a, 0 only in b$", said)
    put(folder / "b", [*lines[:at], *lines[at + 1:]])
    run("compare", "a", "b", cwd=folder, code=0)


def check_rerun(folder):
    """The same run gives the same; a change is told; a guest and an array are found; what can't be run is no success."""
    run("record", "--engine", "host", "-s", "host/numpy,host/exact,rows/par_256", "-f", "normal/f32/sum/1x3[0-3]/seed1,thirds", "--jsonl", "t", cwd=folder, code=0)
    lines = lines_of(folder / "t")[:-1]
    _, said = run("rerun", "t", cwd=folder, code=0)
    whole = (folder / "t").read_bytes()
    last = whole.rindex(b"\n", 0, -1) + 1
    for cut, code, says in ((whole[:last], 99, "^INCOMPLETE: u: "), (whole[:-20], 99, "^INCOMPLETE: u: "), (whole.replace(b'"complete":true', b'"complete":false'), 1, "^INCOMPLETE: u: "),
                            (whole[:whole.rindex(b"\n", 0, last - 1) + 1] + whole[last:], 1, "^ALTERED: u: ")):
        (folder / "u").write_bytes(cut)
        expect(says, run("rerun", "u", cwd=folder, code=code)[1])
    expect(rf"^{len(lines) - 1} agree, 0 differ, 0 only in t, 0 only in here$", said)
    del lines[0]["closing_line"]
    at = next(i for i, line in enumerate(lines) if line.get("subject") == "host/numpy" and line["case"] == "normal/f32/sum/1x33/seed1")
    changed = dict(lines[at], results=["0x3f800000"], values=["1"], results_xxh3="0x5b0d13ae2d0bbde4")
    put(folder / "t", [*lines[:at], changed, *lines[at + 1:]])
    _, said = run("rerun", "t", cwd=folder, code=1)
    expect(r"^DIFFERS: host/numpy on host: normal/f32/sum/1x33/seed1: t:\d+ has 0x3f800000, here:\d+ has 0x\w+\n  row 0: .*here is nearer", said)
    put(folder / "t", [*lines, dict(lines[at], subject="host/nobody")])
    _, said = run("rerun", "t", cwd=folder, code=99)
    expect("^ONLY IN t: host/nobody on host: ", said)
    put(folder / "t", [lines[0], dict(lines[at], subject="host/nobody")])
    _, said = run("rerun", "t", cwd=folder, code=77)
    expect("^nothing could be run again: no subject of the records is here", said)
    run("gen", "normal", "-n", "1000", "-o", "x.npy", cwd=folder, code=0)
    run("record", "-s", "host/numpy", "--npy", "x.npy", "--op", "max", "--jsonl", "t", cwd=folder, code=0)
    _, said = run("rerun", "t", cwd=folder, code=0)
    expect("^1 agree", said)
    (folder / "beside").mkdir()
    (folder / "liars.so").rename(folder / "beside" / "liars.so")
    run("record", "--guest", "./liars.so", "-s", "liar/rounds_down", "-f", "normal/f32/sum/1x33/seed1", "--jsonl", "t", cwd=folder / "beside", code=0)
    expect("^1 agree", run("rerun", "beside/t", cwd=folder, code=0)[1])
    (folder / "beside" / "liars.so").unlink()
    expect(r"^foldproof rerun: \./liars\.so can't be loaded", run("rerun", "beside/t", cwd=folder, code=77)[1])
    (folder / "mine.py").write_text(GUEST)
    run("record", "--exec", f"{sys.executable} mine.py", "-f", "normal/f32/sum/1x3[0-3]/seed1", "--jsonl", "t", cwd=folder, code=0)
    assert lines_of(folder / "t")[0]["asked"]["guests"] == [["--exec", f"{sys.executable} mine.py"]]
    _, said = run("rerun", "t", cwd=folder, code=0)
    expect("^4 agree", said)
    (folder / "mine.py").write_text(GUEST.replace("sum(x)", "sum(x) + 1"))
    run("rerun", "t", cwd=folder, code=1)
    # As many threads as were recorded, unless the user says another number now.
    (folder / "mine.py").write_text("import os\n" + GUEST.replace("sum(x)", "sum(x) + int(os.environ.get('OMP_NUM_THREADS', 0)) * 2.0 ** -20"))
    for kept, code in ((True, 0), (False, 1)):
        command = [FOLDPROOF, "record", "--exec", f"{sys.executable} mine.py", "-f", "normal/f32/sum/1x33/seed1", "--jsonl", "t"]
        subprocess.run(command, cwd=folder, check=True, env=dict(os.environ, OMP_NUM_THREADS="3"))
        lines = lines_of(folder / "t")[:-1]
        assert lines[0]["asked"]["variables"]["OMP_NUM_THREADS"] == "3", lines[0]
        del lines[0]["closing_line"]
        if not kept:
            del lines[0]["asked"]["variables"]
        put(folder / "t", lines)
        got = subprocess.run([FOLDPROOF, "rerun", "t"], cwd=folder, capture_output=True, env={k: v for k, v in os.environ.items() if k != "OMP_NUM_THREADS"})
        assert got.returncode == code, got
    # The recorded time limit, unless the user sets one now.
    (folder / "mine.py").write_text("import time\n" + GUEST.replace("sum(x)", "time.sleep(2) or sum(x) + 3 * 2.0 ** -20"))
    lines[0]["asked"]["timeout"] = "1"
    put(folder / "t", lines)
    expect("here:2 has no result$", run("rerun", "t", cwd=folder, code=1)[1])
    expect("^1 agree", run("rerun", "--timeout", "60", "t", cwd=folder, code=0)[1])
    put(folder / "t", lines[:1])
    run("rerun", "t", cwd=folder, code=2)


def pasted(said, folder):
    """The exit code of the first replay line, as it stands."""
    line = re.search("^  replay: (.*)$", said, re.M)[1].replace("foldproof verify", f"{FOLDPROOF} verify", not said.count(str(FOLDPROOF)))
    return subprocess.run(line, shell=True, cwd=folder, capture_output=True).returncode


def check_arrays(folder):
    """An array is read from its file; one that is gone or of another shape is no input, one with other terms contradicts the record."""
    def gen(name, cols, seed):
        run("gen", "normal", "--seed", str(seed), "--dtype", "f32", "--rows", "4", "--cols", str(cols), "-o", name, cwd=folder, code=0)

    for name in ("one.npy", "two.npy"):
        gen(name, 300, 1 if name == "one.npy" else 2)
    run("record", "--engine", "host", "--subjects", "host/sequential,dot/sequential", "--npy", "one.npy", "--npy", "two.npy", "--jsonl", "arrays", cwd=folder, code=0)
    expect("^2 results judged, 0 could not be made again, 0 contradictions; 4 held, 0 refuted, ", run("judge", "arrays", cwd=folder, code=0)[1])
    gen("two.npy", 300, 3)
    _, said = run("judge", "arrays", cwd=folder, code=1)
    expect(r"^CONTRADICTS: arrays:3: host/sequential on host: npy:two\.npy/f32/sum/4x300: its input, made again, has hash ", said)
    expect("; 2 held, 0 refuted, ", said)
    gen("two.npy", 301, 2)
    expect(r"^SKIPPED: arrays:3: .*: the array of that name differs here$", run("judge", "arrays", cwd=folder, code=0)[1])
    (folder / "two.npy").unlink()
    expect(r"^SKIPPED: arrays:3: .*: two\.npy: cannot be opened: No such file or directory$", run("judge", "arrays", cwd=folder, code=0)[1])


def check_replays(folder):
    """A line that compare or judge prints loads the guest that was recorded; what no command can load has no line, or one of Python."""
    program, wrong = f"{sys.executable} bounded.py", GUEST.replace("run_to_run", "bounded,run_to_run")
    for name, text in (("a", wrong), ("b", wrong.replace("sum(x)", "sum(x) + 1"))):
        (folder / "bounded.py").write_text(text)
        run("record", "--exec", program, "--timeout", "77", "-f", "normal/f32/sum/1x33/seed1", "--jsonl", name, cwd=folder, code=0)
    _, compared = run("compare", "a", "b", cwd=folder, code=1)
    _, judged = run("judge", "b", cwd=folder, code=1)
    assert pasted(compared, folder) == pasted(judged, folder) == 1, compared + judged
    assert " --timeout '77'" in compared and " --timeout '77'" in judged, compared + judged
    for name in "ab":
        environment, ran, _ = lines_of(folder / name)
        del environment["closing_line"], environment["asked"]
        put(folder / name, [environment, ran])
    for words, code in ((("compare", "a", "b"), 1), (("judge", "b"), 1)):
        _, said = run(*words, cwd=folder, code=code)
        assert "mine/sum on host" in said and "replay:" not in said, said
    put(folder / "p", [environment, dict(ran, asked={"python": "import mine; mine.verify()"})])
    for words in (("compare", "a", "p"), ("judge", "p")):
        expect(r"^  replay: python3 -c 'import mine; mine\.verify\(\)'$", run(*words, cwd=folder, code=1)[1])
    _, said = run("rerun", "b", cwd=folder, code=77)
    expect(r"^nothing could be run again: .*; Python callables are run again from Python \(foldproof\.verify\)$", said)


GUEST = """import json, struct, sys
for line in sys.stdin:
    asked = json.loads(line)
    answer = {"name": "mine/sum", "dtypes": "f32", "claims": "run_to_run"}
    if asked["ask"] == "run":
        data = open(asked["in"], "rb").read()
        size = struct.unpack("<H", data[8:10])[0] + 10
        head = data[:size]
        x = struct.unpack(f"<{(len(data) - size) // 4}f", data[size:])
        text = "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }".ljust(117) + chr(10)
        open(asked["out"], "wb").write(data[:8] + struct.pack("<H", 118) + text.encode() + struct.pack("<f", sum(x)))
        answer = {}
    print(json.dumps(answer), flush=True)
"""

with tempfile.TemporaryDirectory() as scratch:
    for check in (check_held, check_full, check_refuted, check_recorded, check_fields, check_told, check_known, check_measured, check_bits, check_compare, check_formats, check_across, check_names, check_verdicts, check_rerun, check_arrays, check_replays):
        check(pathlib.Path(scratch))
