"""Sweeps: sums of each size along an axis, of whole numbers; a guest that is wrong at few sizes of k is refuted at the first of them, with what is missing.

test_sweeps.py FOLDPROOF LIBRARY_FOLDER GUESTS_FOLDER CC
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from guest_shell import FOLDPROOF, GUESTS, build, verify  # noqa: E402

FOLDER = tempfile.TemporaryDirectory()
TAILS = build(pathlib.Path(FOLDER.name), "tails", GUESTS / "tails.c")
PREFIXES = build(pathlib.Path(FOLDER.name), "prefixes", GUESTS / "prefixes.c")
PRODUCTS = build(pathlib.Path(FOLDER.name), "products", GUESTS / "products.c")


def sweep(subject, *options):
    return verify("--guest", TAILS, "--subjects", f"tails/{subject}", *options)


def joined(out):
    return re.sub(r"\s+", " ", out)


def check_refuted(subject, case, words, more, *options):
    code, out, err = sweep(subject, *options)
    assert code == 1 and f"REFUTED: tails/{subject} on host violates bounded: {case}/seed1" in joined(out), (subject, code, out, err)
    assert words in joined(out) and f"also refuted: bounded ({more} more case" in out, (subject, words, out)
    check_replay(out)


def check_replay(out):
    replay = next(line for line in out.splitlines() if line.startswith("  reproduce: "))[len("  reproduce: "):]
    again = subprocess.run(replay, shell=True, capture_output=True, text=True)
    assert again.returncode == 1 and again.stdout.rstrip().endswith("0 held, 1 refuted, 0 skipped"), (replay, again)


def test_the_first_wrong_size_is_named_with_the_missing_terms():
    check_refuted("at_9008", "sweep/f32/matmul/2x2x9008", "8 of 9,008 terms are missing", 18, "--sweep", "k=8:20000:8")
    check_refuted("twice", "sweep/f32/matmul/2x2x4096", "1 more than the 4,096 terms is counted", 1, "--sweep", "k=4000:8200:16")
    check_refuted("foreign", "sweep/f32/matmul/2x3x4104", "this is not it result 3 (m 1, n 0)", 1, "--sweep", "k=4000:5104:8,n=3")
    check_refuted("of_tiles", "sweep/f32/matmul/2x2x1025", "here and in 3 other results term 1024 is missing", 1, "--sweep", "m=1:2", "--sweep", "k=1024:1026")
    check_refuted("sum", "sweep/f32/sum/2x5003", "1 of 5,003 terms is missing", 1, "--sweep", "k=5003:10006:5003")


def test_every_size_is_judged_and_a_right_guest_held():
    code, out, _ = sweep("right", "--sweep", "k=8:2000:8", "--sweep", "m=1:2,n=4")
    assert code == 0 and out.rstrip().endswith("500 held, 0 refuted, 0 skipped"), out
    code, out, _ = verify("host/pairwise", "--sweep", "k=5:50:5")
    assert code == 0 and out.rstrip().endswith(" held, 0 refuted, 0 skipped"), out
    code, out, err = verify("host/sequential", "--sweep", "k=1:300:13", "--claims", "bounded")  # of integers, too
    assert code == 0 and out.splitlines()[-1] == "216 held, 0 refuted, 0 skipped", (code, out, err)
    code, out, _ = verify("--subjects", "matmul/*,keyed/*,rows/*", "--engine", "host", "--sweep", "batch=1:3", "--claims", "bounded")
    assert code == 0 and "matmul/" in out and "keyed/" not in out and " 0 refuted, 0 skipped" in out, out
    code, out, _ = verify("--guest", TAILS, "--subjects", "tails/right", "--claims", "run_to_run,fresh_process,bounded", "--sweep", "k=5:50:5")
    assert code == 0 and out.rstrip().endswith("10 held, 0 refuted, 2 skipped") and "no selected case is for this claim" in out, out


def test_a_sweep_is_made_of_each_layout():
    layouts = "--sweep", "k=8:40:8", "--sweep", "m=3,layout=nn,layout=nt"
    code, out, err = verify("--guest", PRODUCTS, "--subjects", "products/matmul_right", *layouts)
    assert code == 0 and out.rstrip().endswith("10 held, 0 refuted, 0 skipped"), (code, out, err)
    code, out, err = verify("--guest", PRODUCTS, "--subjects", "products/matmul_transpose_ignored", *layouts)
    assert code == 1 and "violates bounded: sweep/f32/matmul/3x2x8/nt/seed1" in joined(out), (code, out, err)
    assert "5 held, 5 refuted" in out, out
    check_replay(out)
    code, out, _ = sweep("right", *layouts)  # which takes contiguous arrays only
    assert code == 0 and "5: it takes contiguous inputs only" in out and out.rstrip().endswith("5 held, 0 refuted, 5 skipped"), (code, out)
    code, out, err = verify("dot/exact", "host/pairwise", "--engine", "host", "--claims", "faithful", "--sweep", "k=5,layout=tn,layout=tt")
    assert code == 0 and "host/pairwise" not in out and " 0 refuted, 0 skipped" in out, (code, out, err)  # a sum has one input


def test_sizes_around_one_along_any_axis():
    code, out, _ = sweep("right", "--around", "k=4096", "--fixtures", "sweep/*")
    assert code == 0 and out.rstrip().endswith("7 held, 0 refuted, 0 skipped"), out
    code, out, _ = sweep("right", "--claims", "bounded", "--around", "k=2,3,m=3", "--fixtures", "sweep/*,integers/f32/matmul/5x6x9/*")
    assert code == 0 and out.rstrip().endswith("31 held, 0 refuted, 0 skipped"), out  # k of 1 to 5, m of 1 to 6, and the fixture
    check_refuted("of_tiles", "sweep/f32/matmul/2x2x1025", "here and in 3 other results term 1024 is missing", 1, "--around", "k=1024", "--sweep", "m=1:2", "--fixtures", "*x1025/*")


def check_says(words, *options):
    code, out, err = verify(*options)
    assert code == 2 and words in err and len(err.splitlines()) == 1, (options, code, out, err)


def test_around_what_no_case_has_is_refused():
    right = "--guest", TAILS, "--subjects", "tails/right"
    check_says("--around k=4096: 'batch/*' matches none of its sizes, whose names begin with sweep/", *right, "--around", "k=4096", "--fixtures", "batch/*")
    check_says("--around n=7: no selected subject has sums with these axes", "--guest", TAILS, "--subjects", "tails/sum", "--around", "n=7")
    check_says("--around 100: the largest batch that is selected has 5 rows (axis m of integers/f32/matmul/5x6x9/", *right, "--around", "100", "--fixtures", "integers/f32/matmul/5x6x9/*,batch/*")
    check_says("--around with a number of rows is for batches of guests", "host/pairwise", "--around", "20")
    for item in "q=4", "k=", "=4", "batches=3":
        check_says(f"--around {item}: AXIS=N of axis batch, m, n or k, or a number of rows", *right, "--around", item)


def test_what_no_sweep_can_be_is_refused():
    for words, says in ((["k"], "--sweep k: AXIS=FIRST:LAST:STEP of axis batch, m, n or k"),
                        (["q=3"], "--sweep q=3: AXIS="),
                        (["k=5:3"], "k: 5..3 is a range that ends before it starts"),
                        (["k=8:20:0"], "k: 8..20 step 0 has a step of 0"),
                        (["k=8:20:4:4"], "is malformed"),
                        (["k=1:9000"], "makes the list longer than 4096"),
                        (["k=1:2000,m=1:2000"], "stands for 4000000 cases"),
                        (["k="], "k: "),
                        (["k=3,layout=nx"], "layout: nx is no layout"),
                        (["layout=nt,layout=nn,layout=nt"], "--sweep layout=nt is given twice"),
                        (["k=3,layout=n"], "no selected subject has sums with these axes"),
                        (["k=x"], "k: x is malformed")):
        code, out, err = sweep("right", "--sweep", *words)
        assert code == 2 and says in err and len(err.splitlines()) == 1, (words, code, err)
    code, _, err = sweep("sum", "--sweep", "n=1:9")
    assert code == 2 and "no selected subject has sums with these axes" in err, err
    code, _, err = verify("keyed/exact", "--sweep", "batch=1:3")
    assert code == 2 and "no selected subject has sums with these axes" in err, err
    code, _, err = sweep("right", "--sweep", "k=3", "--npy", "x.npy")
    assert code == 2 and "--npy is judged instead of sizes" in err, err
    code, _, err = sweep("right", "--around", "k=x")
    assert code == 2 and "--around x" in err, err


def test_a_record_holds_the_sweep():
    records = pathlib.Path(FOLDER.name, "run.jsonl")
    sweep("twice", "--sweep", "k=4094:4096", "--jsonl", str(records))
    lines = [json.loads(line) for line in records.read_text().splitlines()]
    refuted = [r for r in lines if r.get("verdict") == "refuted"]
    assert len(refuted) == 1 and refuted[0]["asked"]["sweep"] == "k=4094:4096", refuted
    page = subprocess.run([FOLDPROOF, "report", str(records)], capture_output=True, text=True).stdout
    assert "--sweep &#39;k=4094:4096&#39;" in page, page[-2000:]


def test_running_extremes_are_swept():
    code, out, err = verify("scan/*", "--engine", "host", "--claims", "correctly_rounded", "--sweep", "k=65:66", "--jsonl", str(pathlib.Path(FOLDER.name, "extremes.jsonl")))
    judged = [json.loads(line) for line in pathlib.Path(FOLDER.name, "extremes.jsonl").read_text().splitlines()]
    cases = {r["case"] for r in judged if r.get("verdict") == "held"}
    assert code == 0 and {f"sweep/f32/{op}/2x66/seed{seed}" for op in ("scan_max", "scan_min") for seed in (1, 2)} <= cases, (code, err, cases)
    assert "sweep/i32/scan_max/2x66/seed3" in cases, cases
    for subject, case in (("last_of_four_lost", "2x251/seed1"), ("carry_lost_at_256", "2x257/seed2")):
        code, out, err = verify("--guest", PREFIXES, "--subjects", f"prefixes/scan_max_{subject}", "--claims", "correctly_rounded", "--sweep", "k=250:303")
        assert code == 1 and f"violates correctly_rounded: sweep/f32/scan_max/{case}" in joined(out), (subject, code, out, err)
        check_replay(out)


def test_keys_are_spread_as_asked():
    records = pathlib.Path(FOLDER.name, "keys.jsonl")
    code, out, err = verify("keyed/exact", "--claims", "correctly_rounded", "--sweep", "m=3,k=20:22,keys=sorted,keys=hot", "--jsonl", str(records))
    cases = {r["case"] for r in map(json.loads, records.read_text().splitlines()) if r["type"] == "judgement" and r["dtype"] == "f32"}
    assert code == 0 and cases == {f"sweep/f32/keyed/3x2x{k}/{keys}/seed1" for k in (20, 21, 22) for keys in ("sorted", "hot")}, (code, err, cases)
    code, out, err = verify("keyed/*", "host/pairwise", "--sweep", "k=8,keys=ordered")
    assert code == 2 and "keys: ordered is no pattern of keys" in err and len(err.splitlines()) == 1, err
    check_says("--sweep keys=hot is given twice", "keyed/*", "--sweep", "k=8,keys=hot,keys=hot")
    check_says("--sweep k=8,keys=hot: no selected subject has sums with these axes", "host/pairwise", "--sweep", "k=8,keys=hot")


def test_sums_alone_are_swept():
    records = pathlib.Path(FOLDER.name, "sums.jsonl")
    code, out, _ = verify("host/pairwise", "--claims", "bounded", "--sweep", "m=4", "--jsonl", str(records))
    judged = [r for r in map(json.loads, records.read_text().splitlines()) if r["type"] == "judgement"]
    ops = {r["op"] for r in judged}
    assert code == 0 and "sum" in ops and not ops & {"prod", "max", "min"}, ops
    assert {(r["rows"], r["cols"]) for r in judged if r["op"] == "sum"} == {(4, 40)}, judged


def test_the_guests_fixtures_find_a_tail_lost_at_few_sizes():
    for subject, cases in (("at_9008", "*/2x2x9008/*,*/2x2x9608/*"), ("one_in_200", "counted/f32/matmul/3x5x*"), ("of_tiles", "counted/f32/matmul/17x1x*")):
        code, out, _ = sweep(subject, "--fixtures", cases)
        assert code == 1 and "missing" in out, (subject, out)


def test_the_fixtures_for_gpus_find_a_tail_lost_at_few_sizes():
    code, out, _ = verify("--guest", TAILS, "--subjects", "tails/f16", "--claims", "bounded", "--set", "products", "--fixtures", "sizes/f16/matmul/*x31??/*")
    assert code == 1 and "violates bounded: sizes/f16/matmul/1x1x3160/nn/seed1" in joined(out) and "also refuted" not in out, out


def test_verify_on_gpus_has_fixtures_for_them():
    one = "--fixtures", "sizes/f16/matmul/1x1x1/*"
    code, out, err = verify("--engine", "cuda", *one)
    assert code in (0, 77) and "no fixture" not in err, (code, out, err)  # without a GPU they are skipped
    for words in ("--engine", "cuda", "--set", "default"), ("--engine", "host"):
        code, _, err = verify(*words, *one)
        assert (code == 2 and "--set all has it" in err) or "this build has no subject on" in err, (words, code, err)
    code, _, err = verify("dot/exact", "--engine", "host", "--set", "products", *one)  # one of ours, which is not swept
    assert code == 2 and "nothing was judged" in err, (code, err)


for name, test in list(globals().items()):
    if name.startswith("test_"):
        test()
        print("ok", name)
