"""foldproof recheck: records are judged as verify judges results, with no subject at hand; whatever is changed in one is refuted or named.

test_again.py FOLDPROOF FOLDPROOF_MUTANTS LIBRARY_FOLDER CC
"""
import gzip
import json
import os
import pathlib
import random
import re
import tempfile

from sealed import seal
from recorded import MUTANTS, build_liars, expect, lines_of, put, run, write_records


def check_held(folder):
    """What verify held of results, judge holds; of runs and of verdicts; compressed, in a folder, in another sequence, by another program."""
    write_records(folder)
    held = [line for line in lines_of(folder / "v.jsonl") if line.get("verdict") == "held" and line["claim"] in
            ("bounded", "compensated", "faithful", "correctly_rounded", "replays", "same_bits_as")]
    for name in ("v.jsonl", "r.jsonl"):
        _, said = run("recheck", name, cwd=folder, code=0)
        expect(rf", 0 could not be made again, 0 contradictions(; |\n(?:.*\n)*){len(held)} held, 0 refuted, ", said)
    lines = lines_of(folder / "r.jsonl")
    texts = (folder / "r.jsonl").read_text().splitlines(True)
    middle = texts[1:-1]
    random.Random(1).shuffle(middle)
    (folder / "many").mkdir()
    with gzip.open(folder / "many" / "a.jsonl.gz", "wt") as file:
        file.writelines([texts[0], *middle, texts[-1]])
    _, said = run("recheck", "many", cwd=folder, code=0)
    expect(rf"(; |^){len(held)} held, 0 refuted, ", said)
    assert "ALTERED" not in said, said
    strangers = [dict(line, **{key: "a/" + line[key] for key in ("subject", "twin") if key in line}) for line in lines]
    del strangers[0]["closing_line"]
    put(folder / "s", strangers[:-1])
    _, said = run("recheck", "s", cwd=folder, code=0)  # by what they declare: of an order whatever it promises
    expect(rf"0 could not be made again, 0 contradictions(; |\n(?:.*\n)*){len(held)} held, 0 refuted, ", said)
    compressed = (folder / "many" / "a.jsonl.gz").read_bytes()
    (folder / "many" / "a.jsonl.gz").write_bytes(compressed[: len(compressed) // 2])
    _, said = run("recheck", "many", cwd=folder, code=2)
    expect("gzip finds it cut or damaged|not JSON", said)
    assert all(line.get("order") == "host/numpy" for line in lines if line.get("subject") == "host/numpy")
    _, quietly = run("recheck", "r.jsonl", "--jsonl", "j.jsonl", "-q", cwd=folder, code=0)
    assert "subject and claim" not in quietly and "skipped, by reason" not in quietly, quietly  # as of verify -q
    _, aloud = run("recheck", "r.jsonl", "-v", cwd=folder, code=0)
    expect(r"^subject and claim .*\n\S+ on host\n(.*\n)*all subjects ", aloud)
    again = [line for line in lines_of(folder / "j.jsonl") if line.get("verdict") == "held"]
    assert not any("" in line.get("asked", {}).values() for line in again), "options that were not given"
    keys = ("subject", "case", "claim", "results_xxh3", "ulps", "bound_fraction", "row", "got", "want")
    assert sorted(str([line.get(key) for key in keys]) for line in again) == sorted(str([line.get(key) for key in keys]) for line in held)


def check_names(folder):
    """Names with patterns of keys, with seeds that no signed number of 64 bits holds, and of literal keys."""
    (folder / "own").mkdir()
    (folder / "own" / "a.ini").write_text("[a]\ngenerator = mixture\ndtype = f32\nrows = 3\ncols = 7\nseed = 0xffffffffffffff01\n"
                                          "[b]\nprovenance = here\ndtype = f32\nop = keyed\nm = 2\nn = 1\nk = 3\nslots = 1, 0, 1\nvalues = 1, 2, 3\n")
    run("record", "--engine", "host", "-s", "host/pairwise,keyed/*", "--fixture-folder", "own", "--jsonl", "own.jsonl", cwd=folder, code=0)
    run("record", "--engine", "host", "-s", "keyed/*", "-f", "normal/f32/keyed/7x5x64/*", "--jsonl", "keyed.jsonl", cwd=folder, code=0)
    assert {line["case"] for line in lines_of(folder / "own.jsonl") if "case" in line} == {"a/f32/sum/3x7/seed18446744073709551361", "b/f32/keyed/2x1x3"}
    _, said = run("recheck", "own.jsonl", "--fixture-folder", "own", cwd=folder, code=0)
    expect(r"^\d+ results judged, 0 could not be made again, 0 contradictions", said)
    _, said = run("recheck", "keyed.jsonl", cwd=folder, code=0)
    expect(r"^1[0-9] results judged, 0 could not be made again, 0 contradictions", said)
    put(folder / "keys", [dict(line, case=line["case"].replace("/hot/", "/warm/")) if "case" in line else line for line in lines_of(folder / "keyed.jsonl")[:-1]])
    expect("its name is not that of a case of this dtype", run("recheck", "keys", cwd=folder, code=2)[1])


def check_full(folder):
    """Rows past the 16th: by the replay's hash, or with --full by their bits."""
    run("record", "--engine", "host", "-s", "host/exact,rows/par_16", "-f", "normal/f32/sum/1000x8/seed1", "--jsonl", "part", cwd=folder, code=0)
    run("record", "--engine", "host", "-s", "host/exact,rows/par_16", "-f", "normal/f32/sum/1000x8/seed1", "--jsonl", "full", "--full", cwd=folder, code=0)
    for name in ("part", "full"):
        _, said = run("recheck", name, cwd=folder, code=0)
        expect(r"2 results judged, 0 could not be made again, 0 contradictions(; |\n(?:.*\n)*)4 held", said)
    lines = lines_of(folder / "full")
    assert len(lines[1]["results"]) == 1000
    lines = [{key: value for key, value in line.items() if key not in ("order", "method")} for line in lines[:-1]]
    for line in lines[1:]:
        line["subject"] = "a/stranger"
        line["results"] = line["results"][:16]
    del lines[0]["closing_line"]
    put(folder / "strange", [lines[0], next(line for line in lines if line.get("engine") and line["results_xxh3"] != lines[1]["results_xxh3"])])
    _, said = run("recheck", "strange", cwd=folder)
    expect("it holds 16 of 1000 results .record --full holds all.", said)


def check_refuted(folder):
    """Another program's mutants, by what their records declare."""
    for mutant, claim in (("mutant/swapped_partials", "replays"), ("mutant/numpy_256", "replays"), ("mutant/two_away", "correctly_rounded"),
                          ("mutant/kahan_plain", "replays"), ("mutant/dropped_tail", "bounded"), ("mutant/same_as_par_64", "same_bits_as")):
        run("record", "-s", f"{mutant},rows/par_256", "-f", "normal/f32/sum/1x1023/seed1", "--jsonl", "m", cwd=folder, program=MUTANTS, code=0)
        _, said = run("recheck", "m", "-v", cwd=folder, code=1)
        expect(rf"^REFUTED: {mutant} on host violates {claim}: ", said)
        assert "on host violates" not in said.replace(f"REFUTED: {mutant} on host violates", ""), said
    lines = lines_of(folder / "r.jsonl")
    of = next(line for line in lines if line.get("subject") == "rows/single_determ" and line["case"] == "normal/f32/sum/1x33/seed1")
    twin = dict(of, subject="rows/par_256", results=["0x3f800000"], values=["1"], results_xxh3="0x5b0d13ae2d0bbde4")
    put(folder / "twins", [of, twin])
    _, said = run("recheck", "twins", "-v", cwd=folder, code=1)
    expect("violates same_bits_as: ", said)
    expect("rows/par_256 on host violates replays: ", said)
    put(folder / "twice", [of, dict(of, results=twin["results"], values=["1"], results_xxh3=twin["results_xxh3"])])
    _, said = run("recheck", "twice", "-v", cwd=folder, code=1)
    expect("violates run_to_run: .*\n.*the records hold two results of this input", said)
    put(folder / "twice", [of, of])
    _, said = run("recheck", "twice", cwd=folder, code=0)
    expect("^1 results judged", said)


def check_recorded(folder):
    """What records have and no command can judge again counts as what it was: a refutation, an accident of a run, a crash; whatever the lines' sequence."""
    name = "normal/f32/sum/3x1000/seed1"
    build_liars(folder)
    for subject, claim, code in (("writes_too_far", "stays_in_bounds", 1), ("rounds_down", "leaves_no_trace", 1), ("keeps_state", "run_to_run", 1),
                                 ("crashes", "", 99)):
        run("verify", "--guest", "./liars.so", "-s", f"liar/{subject}", "-f", name, "--jsonl", "l", "-q", cwd=folder, code=code)
        lines = lines_of(folder / "l")
        del lines[0]["closing_line"]
        for sequence in (lines[1:-1], lines[-2:0:-1]):
            put(folder / "l", [lines[0], *sequence])
            _, said = run("recheck", "l", "-v", cwd=folder, code=code)
            expect(rf"^REFUTED: liar/{subject} on host violates {claim}: .*\n.*so its record says" if claim else "^BROKEN: |broken", said)
            assert "CONTRADICTS" not in said, said
    for subject, claim in (("writes_too_far", "stays_in_bounds"), ("rounds_down", "leaves_no_trace"), ("changes_its_input", "keeps_input")):
        run("record", "--guest", "./liars.so", "-s", f"liar/{subject}", "-f", name, "--jsonl", "l", cwd=folder, code=0)
        _, said = run("recheck", "l", "-v", cwd=folder, code=1)
        expect(rf"^REFUTED: liar/{subject} on host violates {claim}: ", said)
        lines = lines_of(folder / "l")[:-1]
        del lines[0]["closing_line"]
        put(folder / "l", lines)
        put(folder / "honest", [{key: value for key, value in line.items() if key not in ("out_of_bounds", "wrote_input", "left")} for line in lines])
        run("compare", "l", "l", cwd=folder, code=0)
        _, said = run("compare", "honest", "l", cwd=folder, code=1)
        expect(rf"^DIFFERS: liar/{subject} on host: .* l:3 has 0x\w+ \((out of bounds|wrote to its input|left its process changed)\)", said)
    for words in ("--jsonl", "l2"), ("--golden", "kept"):  # where no judgement tells it, the command does
        run("record", "--guest", "./liars.so", "-s", "liar/crashes", "-f", "normal/f32/sum/1x33/seed1", "--golden", "kept", "--bless", cwd=folder, code=0)
        _, said = run("record", "--guest", "./liars.so", "-s", "liar/crashes", "-f", name, "--timeout", "17", *words, cwd=folder, code=99)
        expect(rf"^BROKEN: liar/crashes on host, {name}: the process that it ran in was killed by signal 11 .*: it has no result there$", said)
        expect(rf"^  reproduce: \S+ verify --guest '\./liars\.so' --subjects 'liar/crashes' .* --timeout '17'$", said)
    of = next(line for line in lines_of(folder / "l") if line["type"] == "run")
    put(folder / "l", [dict(of, type="judgement", claim="keeps_input", promised=True, verdict="held")])
    _, said = run("recheck", "l", "-v", cwd=folder, code=1)
    expect("^CONTRADICTS: .*it says that keeps_input held; what its run did refutes that", said)


def check_twice(folder):
    """A part of a run that is joined twice is counted once, and told; what another machine, or another verdict, says is none."""
    environment, *lines, _ = lines_of(folder / "v.jsonl")
    held = sum(line["promised"] and line.get("verdict") == "held" for line in lines)
    at = next(i for i, line in enumerate(lines) if line.get("claim") == "run_to_run" and line["verdict"] == "held")
    bad = dict({key: value for key, value in lines[at].items() if key != "telling"}, verdict="refuted", reason="it varies")
    (folder / "parts").mkdir()
    for names, kinds, twice, counts in ((("a", "b"), (environment, dict(environment, date="2020-01-01", command="x")), len(lines), (held - 1, 1)),
                                        (("a", "b"), (environment, dict(environment, cpu="another")), 0, (2 * held - 2, 2)),
                                        (("a", "b", "c"), (environment,) * 3, 2 * len(lines), (held - 1, 1))):
        for path in (folder / "parts").glob("*"):
            path.unlink()
        for name, kind in zip(names, kinds):
            seal(folder / "parts" / f"{name}.jsonl", [kind, *lines[:at], bad, *lines[at + 1:]])
        for words in ("report", "parts", "--format", "text"), ("report", *(f"parts/{name}.jsonl" for name in names), "--format", "markdown"):
            _, said = run(*words, cwd=folder, code=0)
            expect(rf"{counts[0]:,} held, {counts[1]} refuted".replace(",", ",?"), said)
            assert (f"{twice} verdicts and runs occur more than once in one environment, and are counted once" in said) == (twice > 0), said
        _, said = run("recheck", "parts", cwd=folder, code=1)
        expect(r" 1 refuted, \d+ skipped$", said)  # of one input and its results, wherever they came from
        assert (f"{twice} verdicts and runs occur more than once" in said) == (twice > 0), said
    seal(folder / "parts" / "a.jsonl", [environment, *lines])
    (folder / "parts" / "c.jsonl").unlink()
    _, said = run("report", "parts", "--format", "text", cwd=folder, code=0)  # the refutation in b counts, whatever a says
    expect(", 1 refuted", said)


# Of a record that no closing line guards: (key, another value, the exit code, what is said).
FIELDS = [
    ("results", ["0x3f800000"], 2, "results_xxh3 is 0x\\w+, but its results have"),
    ("results_xxh3", "0x5b0d13ae2d0bbde4", 2, "results_xxh3 is 0x\\w+, but its results have"),
    ("values", ["1.5"], 1, "^CONTRADICTS: f:1: .*: result 0 is 0x\\w+, which is \\S+, and not 1.5"),
    ("input_xxh3", "0x0000000000000001", 1, "^CONTRADICTS: f:1: .*: its input, made again, has hash 0x\\w+, not 0x0000000000000001"),
    ("seed", 2, 1, "its input, made again, has hash"),
    ("generator", "uniform", 1, "its input, made again, has hash"),
    ("generator", "nobody", 1, "^CONTRADICTS: .*: generator 'nobody', and the fixture of its name has 'normal' .see --fixture-folder.$"),
    ("condition", 1e6, 1, "^CONTRADICTS: .*its name is not that of a case of this dtype, op, shape, ranks, seed and condition"),
    ("cols", 34, 1, "its input, made again, has hash"),
    ("cols", 1 << 53, 1, "terms are too many"),
    ("cols", 1 << 60, 2, "f:1: a record of type judgement has the cols 1.15\\d+e.18: from 0 to 2.53$"),
    ("cols", -1, 2, "f:1: a record of type judgement has the cols -1: from 0 to 2.53$"),
    ("rows", -1, 2, "has the rows -1: from 0"),
    ("cases", (1 << 63) - 1, 2, "has the cases 9.2\\d+e.18: from 0"),
    ("row", -1, 2, "has the row -1: from 0"),
    ("results_npy", "/etc/hostname", 1, "results_npy is '/etc/hostname': it must be next to the records"),
    ("results_npy", "a/../../x.npy", 1, "results_npy is 'a/../../x.npy': it must be next to the records"),
    ("results_npy", "..", 1, "results_npy is '..': it must be next to the records"),
    ("results_npy", "a/x.npy", 1, "a/x.npy: cannot be opened"),
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
    ("factor_dtype", "tf32", 1, "^CONTRADICTS: .*it declares factor_dtype 'tf32', and the one here has ''"),
    ("factor_dtype", "fp32", 1, "^CONTRADICTS: .*it declares factor_dtype 'fp32', and the one here has ''"),
    ("twin", "host/exact", 0, " 0 contradictions; 1 held, 0 refuted, 0 skipped$"),  # as --same-bits-as gives one to a subject that has none
    ("result_dtype", "f16", 2, "is no result of f16"),
    ("guest", True, 1, "^CONTRADICTS: .*it declares 'guest', and the one here has it not"),
    ("peer", True, 1, "^CONTRADICTS: .*it declares 'peer', and the one here has it not"),
    ("any_gpu", True, 1, "^CONTRADICTS: .*it declares 'any_gpu', and the one here has it not"),
    ("promised", False, 1, "^CONTRADICTS: .*it says that bounded is not claimed, and the subject here claims it"),
    ("claim", "correctly_rounded", 1, "^CONTRADICTS: .*it says that correctly_rounded is claimed, and the subject here does not"),
    ("claim", "replay", 2, "f:1: a record of type judgement has the claim 'replay': no such is known"),
    ("ranks", 7, 1, "^CONTRADICTS: .*ranks, on an engine that has none"),
    ("case", "nope", 1, "^CONTRADICTS: .*its name is not that of a case of this dtype, op, shape, ranks, seed and condition"),
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
    ("values", None, 1, "^CONTRADICTS: .*its results differ from its values"),
    ("results", None, 1, "^CONTRADICTS: .*its results differ from its values"),
    ("subject", "", 1, "^CONTRADICTS: .*no subject"),
    ("ranks_differ", {"rank": 1, "row": 0, "got": "0x0", "rank_0": "0x1"}, 1, "^CONTRADICTS: .*ranks, on an engine that has none"),
    ("wrote_input", {"byte": 0}, 1, "^REFUTED: host/numpy on host violates keeps_input: .*\n.*it wrote to its input .so its record says."),
    ("out_of_bounds", {"byte": 4, "of": "output", "by": "write"}, 1, "^REFUTED: host/numpy on host violates stays_in_bounds: "),
    ("unwritten", {"row": 0}, 1, "^CONTRADICTS: .*it says that a result was not written, and has the result"),
    ("unwritten", {"row": 7}, 1, "^CONTRADICTS: .*a row that it has not was unwritten"),
    ("results_xxh3", "", 1, "^CONTRADICTS: .*results without their hash"),
    ("results_xxh3", None, 1, "^CONTRADICTS: .*results without their hash"),
    ("engine", "hots", 2, "f:1: a record of type judgement has the engine 'hots': no such is known"),
    ("schema", 3, 2, "schema 3: written by a newer foldproof, this one reads schemas 1 to 2"),
    ("verdict", "refuted", 1, "^CONTRADICTS: .*it says that bounded is refuted; the results say held"),
    ("got", "0x3f800000", 1, "^CONTRADICTS: .*row 0 got 0x3f800000, and result 0 is 0x"),
    ("got", "0x3f800000", 1, "^CONTRADICTS: .*got of bounded: it says \"0x3f800000\"; its results and input give \"0xbfa81539\""),
    ("want", "0xbfa81539", 1, "^CONTRADICTS: f:1: host/numpy on host: normal/f32/sum/1x33/seed1: want of bounded: it says \"0xbfa81539\"; its results and input give \"0xbfa8153a\""),
    ("ulps", 0.5, 1, "^CONTRADICTS: .*ulps of bounded: it says 0.5; its results and input give 0.875$"),
    ("ulps", None, 1, "^CONTRADICTS: .*ulps of bounded: it says nothing; its results and input give 0.875$"),
    ("backward_error", 0.5, 1, "^CONTRADICTS: .*backward_error of bounded: it says 0.5; its results and input give 0.\\d+$"),
    ("backward_error", None, 0, " 0 contradictions; 1 held, 0 refuted, 0 skipped$"),  # as of a foldproof that did not write it
    ("bound_fraction", 0.009, 1, "^CONTRADICTS: .*bound_fraction of bounded: it says 0.00\\d*; its results and input give 0.0097"),
    ("rows_judged", 1, 1, "^CONTRADICTS: .*rows_judged of bounded: it says 1; its results and input give nothing$"),
    ("rows_without_bound", 1, 1, "^CONTRADICTS: .*rows_without_bound of bounded: it says 1; its results and input give nothing$"),
    ("telling", True, 1, "^CONTRADICTS: .*telling of bounded: it says true; its results and input give nothing$"),
    ("verdict", "skipped", 1, "^CONTRADICTS: .*it says that bounded is skipped; the results say held"),
]


def check_fields(folder):
    lines = lines_of(folder / "v.jsonl")
    of = next(line for line in lines if line.get("subject") == "host/numpy" and line["case"] == "normal/f32/sum/1x33/seed1" and line["claim"] == "bounded")
    put(folder / "f", [of])
    _, said = run("recheck", "f", cwd=folder, code=0)
    text = json.dumps(of)
    (folder / "f").write_text(text[:-1] + ', "verdict": "held"}\n')
    expect("^foldproof recheck: f:1: not JSON: duplicate object key", run("recheck", "f", cwd=folder, code=2)[1])
    expect("^foldproof compare: f:1: not JSON: duplicate object key", run("compare", "f", "f", cwd=folder, code=2)[1])
    for key, value, code, says in FIELDS:
        put(folder / "f", [{k: v for k, v in dict(of, **{key: value}).items() if v is not None}])
        got, said = run("recheck", "f", cwd=folder)
        assert got == code, f"{key} = {value}: {got}, not {code}: {said}"
        expect(says, said)


def check_figures(folder):
    """Each figure of each verdict is made again of results and input; what a judge of runs refuted by is its record's word."""
    run("verify", "--engine", "host", "-s", "host/numpy,host/exact,host/sequential", "-f", "normal/f32/sum/17x257/seed1,zeros_positive/f32/sum/1x8/seed1,partial_overflow/f32/sum/1x3", "--jsonl", "w", "--in-process", cwd=folder, code=0)
    lines = [line for line in lines_of(folder / "w") if line["type"] == "judgement"]
    assert {line.get("telling") for line in lines} == {True, False, None}, "no idle and no telling input"
    others = {"ulps": 0.25, "bound_fraction": 0.25, "backward_error": 0.125, "rows_judged": 3, "rows_without_bound": 3, "telling": True}
    altered = []
    for line in lines:
        altered += [dict(line, **{key: not line[key] if key == "telling" and key in line else value}) for key, value in others.items()]
        altered += [{key: value for key, value in line.items() if key != gone} for gone in ("ulps", "bound_fraction", "telling") if gone in line]
        altered += [dict(line, row=0, got=line["results"][0], want="0x12345678")] if line["verdict"] == "held" else []
    put(folder / "f", lines)
    run("recheck", "f", cwd=folder, code=0)
    for at in range(0, len(altered), 10):  # as many as are shown
        put(folder / "f", altered[at : at + 10])
        _, said = run("recheck", "f", cwd=folder, code=1)
        for number, line in enumerate(altered[at : at + 10], 1):
            told = len(re.findall("^CONTRADICTS", said, re.M)) >= 10 or re.search(rf"^CONTRADICTS: f:{number}: .*: \w+ of {line['claim']}: it says ", said, re.M)
            assert told, f"{line}: {said}"
    done = next(line for line in lines if line["claim"] == "run_to_run")
    varied = dict(done, verdict="refuted", reason="it varies", row=0, got="0x3f800000", want=done["results"][0])
    put(folder / "f", [{key: value for key, value in varied.items() if key != "telling"}])
    assert "CONTRADICTS" not in run("recheck", "f", cwd=folder, code=1)[1]


def check_told(folder):
    """What one record tells and another of the same does not; and words that would take a refutation away."""
    of = next(line for line in lines_of(folder / "v.jsonl") if line.get("subject") == "host/numpy" and line["claim"] == "replays" and line["rows"] == 1)
    mine = dict(of, subject="mine/sum", guest=True)
    within = next(line for line in lines_of(folder / "v.jsonl") if line["type"] == "judgement" and line["claim"] == "bounded" and (line["subject"], line["case"]) == (of["subject"], of["case"]))
    within = dict(within, subject="mine/sum", guest=True)
    put(folder / "f", [mine, within])
    run("recheck", "f", cwd=folder, code=0)
    for other, says in ((dict(order="host/pairwise"), "it names a different case or subject than the first record of the same results"),
                        (dict(guest=False), "it names a different case or subject than the first"),
                        (dict(claim="replays", promised=False), "it says that replays is not claimed, and another record of that subject claims it")):
        put(folder / "f", [mine, dict(within, **other) if "claim" not in other else dict(mine, **other)])
        _, said = run("recheck", "f", cwd=folder, code=1)
        expect(f"^CONTRADICTS: f:2: .*{says}", said)
    put(folder / "f", [dict(mine, claim="leaves_no_trace"), dict(mine, left="the rounding mode")])
    _, said = run("recheck", "f", cwd=folder, code=1)
    expect("^CONTRADICTS: f:2: .*it says that leaves_no_trace held; what its run did refutes that", said)
    for words in (dict(known="as ever"), dict(known="as ever", peer=True), dict(known="max and min lose a NaN", peer=True, subject="nccl/sum", engine="nccl")):
        put(folder / "f", [dict(of, claim="run_to_run", verdict="refuted", reason="it varies", **words)])
        _, said = run("recheck", "f", cwd=folder, code=1)
        expect("^REFUTED: .* violates run_to_run: .*\n.*it varies .so its record says.", said)
    put(folder / "f", [{key: value for key, value in mine.items() if key not in ("results", "values", "results_xxh3", "verdict", "claim", "promised")} | {"type": "run"}])
    _, said = run("recheck", "f", cwd=folder, code=1)
    expect("^CONTRADICTS: .*a run with neither results nor a verdict", said)
    lines = (folder / "v.jsonl").read_text().splitlines()
    changed = {key: value for key, value in json.loads(lines[-1]).items() if key != "lines_xxh3"}
    put(folder / "f", [*map(json.loads, lines[:-1]), changed])
    _, said = run("recheck", "f", cwd=folder, code=2)
    expect("needs the key 'lines_xxh3'", said)
    put(folder / "f", [*map(json.loads, lines[:-1]), dict(changed, schema=1)])
    for words in (("recheck", "f"), ("compare", "f", "v.jsonl")):
        _, said = run(*words, cwd=folder, code=1)
        expect("the closing line in line \d+ has no hash of its \d+ records", said)


# The first lines of an all-reduce by Open MPI whose maximum has the other zero: a defect that is known of v4.1.4 to v4.1.8.
ZERO = {"schema": 2, "build": "0123456789ab", "type": "judgement", "subject": "mpi/allreduce", "engine": "mpi", "peer": True, "claim": "correctly_rounded", "promised": True,
        "case": "zeros_mixed/f32/max/9x2/ranks2/seed1", "dtype": "f32", "op": "max", "rows": 9, "cols": 2, "generator": "zeros_mixed", "seed": 1,
        "input_xxh3": "0xa0bdb8a385d748a4", "ranks": 2, "verdict": "refuted", "reason": "not the number nearest to the exact result", "row": 3, "got": "0x80000000",
        "want": "0x00000000", "ulps": 0.0, "known": "max and min keep or lose a NaN, and a zero's sign, by which rank has it", "results": ["0x80000000"] * 6 + ["0x00000000"] * 3,
        "values": ["-0"] * 6 + ["0"] * 3, "results_xxh3": "0x05d8810ff92f8fe2"}


def check_known(folder):
    """A defect that is known of the recorded version is counted as known; of another version, of other rows, or unsaid it is none."""
    here = {key: value for key, value in lines_of(folder / "v.jsonl")[0].items() if key not in ("closing_line", "mpi")}
    permuted = {key: value for key, value in dict(ZERO, claim="permutation_invariant", reason="different bits for the terms reversed").items() if key != "ulps"}
    for version, of, code, says in (("v4.1.4", {}, 77, "known defects of .*not counted.*:\n  1 case, mpi/allreduce of Open MPI v4.1.4: .*\n0 held, 0 refuted"),
                                    ("v4.1.99", {}, 1, "^  new: not known of Open MPI v4.1.99"),
                                    ("", {}, 1, "^REFUTED"),
                                    ("v4.1.4", {"known": None}, 1, "^REFUTED: mpi/allreduce on mpi violates correctly_rounded: "),
                                    ("v4.1.4", {"subject": "mpi/other"}, 1, "^REFUTED: mpi/other on mpi violates correctly_rounded: ")):
        of = {key: value for key, value in dict(ZERO, **of).items() if value is not None}
        put(folder / "f", [dict(here, mpi=f"Open MPI {version}") if version else here, of])
        _, said = run("recheck", "f", cwd=folder, code=code)
        expect(says, said)
    for version, code in (("v4.1.4", 77), ("v4.1.99", 1)):
        put(folder / "f", [dict(here, mpi=f"Open MPI {version}"), permuted])
        run("recheck", "f", cwd=folder, code=code)


def check_measured(folder):
    """Records of older programs, from machines with eight GPUs: what they don't tell, or cannot be made again, is counted and no contradiction."""
    measured = pathlib.Path(__file__).resolve().parent.parent / "ci" / "measured"
    for name, code, says in (("h200x4/verify.jsonl.gz", 0, "[1-9]\d* could not be made again, 0 contradictions"), ("h200x8/verify.jsonl.gz", 1, ", 0 contradictions(; |\n(.*\n)+)\\d+ held, 12 refuted, "),
                             ("h200/peers-cccl-3.6.0.jsonl.gz", 0, ", 0 contradictions"), ("h200/atomic.jsonl", 77, ", 2 could not be made again, 0 contradictions")):
        _, said = run("recheck", measured / name, cwd=folder, code=code)
        expect(says, said)
        expect(" held, 0 refuted, " if code != 1 else "^  new: not known of", said)  # the one of eight tells no version, and refuted it


PARTS = 75  # each shorter than the shortest line


def check_bits(folder):
    """One bit in each of the parts of a file with its closing line: never exit code 0."""
    run("record", "-s", "host/numpy,host/exact", "-f", "normal/f32/sum/1x3[0-3]/seed1", "--jsonl", "b", cwd=folder, code=0)
    whole = (folder / "b").read_bytes()
    chance = random.Random(1)
    for part in range(PARTS):
        at = chance.randrange((len(whole) - 1) * part // PARTS, (len(whole) - 1) * (part + 1) // PARTS)
        changed = bytearray(whole)
        changed[at] ^= 1 << chance.randrange(8)
        (folder / "c").write_bytes(changed)
        code, said = run("recheck", "c", cwd=folder)
        beyond = at >= whole.rindex(b',"build"')  # who built the last line says nothing of results
        assert code in (1, 2, 99) or (beyond and code == 0), f"byte {at}: exit code {code}: {bytes(changed[at - 20:at + 20])} {said}"
    for cut in (1, 100, len(whole) // 2, whole.rindex(b"\n", 0, -1) + 1):
        (folder / "c").write_bytes(whole[:-cut] if cut < 1000 else whole[:cut])
        _, said = run("recheck", "c", cwd=folder, code=0 if cut == 1 else 99)
        expect("^INCOMPLETE: c: " if cut != 1 else "", said)


def check_arrays(folder):
    """An array is read from its file; one that is gone or of another shape is no input, one with other terms contradicts the record."""
    def gen(name, cols, seed):
        run("gen", "normal", "--seed", str(seed), "--dtype", "f32", "--rows", "4", "--cols", str(cols), "-o", name, cwd=folder, code=0)

    for name in ("one.npy", "two.npy"):
        gen(name, 300, 1 if name == "one.npy" else 2)
    run("record", "--engine", "host", "--subjects", "host/sequential,dot/sequential", "--npy", "one.npy", "--npy", "two.npy", "--jsonl", "arrays", cwd=folder, code=0)
    expect(r"^2 results judged, 0 could not be made again, 0 contradictions(; |\n(?:.*\n)*)4 held, 0 refuted, ", run("recheck", "arrays", cwd=folder, code=0)[1])
    gen("two.npy", 300, 3)
    _, said = run("recheck", "arrays", cwd=folder, code=1)
    expect(r"^CONTRADICTS: arrays:3: host/sequential on host: npy:two\.npy/f32/sum/4x300: its input, made again, has hash ", said)
    expect("(; |^)2 held, 0 refuted, ", said)
    gen("two.npy", 301, 2)
    expect(r"^SKIPPED: arrays:3: .*: the array of that name differs here$", run("recheck", "arrays", cwd=folder, code=0)[1])
    (folder / "two.npy").unlink()
    expect(r"^SKIPPED: arrays:3: .*: two\.npy: cannot be opened: No such file or directory$", run("recheck", "arrays", cwd=folder, code=0)[1])


# A crash is to be one, in a build with sanitizers too.
os.environ["ASAN_OPTIONS"] = os.environ.get("ASAN_OPTIONS", "") + ":handle_segv=0"
with tempfile.TemporaryDirectory() as scratch:
    for check in (check_held, check_names, check_full, check_refuted, check_recorded, check_fields, check_figures, check_told, check_twice, check_known, check_measured, check_bits, check_arrays):
        check(pathlib.Path(scratch))
