"""The guests on which the search is measured (guests/hunt_*.c) are what they say: each fault is refuted on inputs that are made for it, by the claim
that it breaks and by no other subject's, and no honest subject is refuted on any of these inputs.

test_hunt_guests.py FOLDPROOF HUNT_FAULTS.so HUNT_HONEST.so
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import usual_signals  # noqa: E402,F401

FOLDPROOF, FAULTS, HONEST = sys.argv[1:4]
WHOLE = ",".join(map(str, range(1, 51)))

# Inputs that show the fault, as lines of a fixture, and the claim that it breaks.
SHOWN = {
    "length_2774": ("bounded", "generator=balanced; dtype=f32; n=2774"),
    "length_1387": ("bounded", "generator=balanced; dtype=f64; n=1387; op=dot"),
    "length_613": ("replays", "generator=ill_conditioned; condition=1e6; dtype=f16; n=613; seed=1..8"),
    "length_31_of_54": ("correctly_rounded", "generator=rising; dtype=f64; n=409; op=max"),
    "length_38_of_58": ("bounded", "generator=ones; dtype=bf16; n=212"),
    "length_odd": ("replays", "generator=mirrored_products; dtype=f32; n=3001; op=dot; seed=1..4"),
    "tiles_of_448": ("bounded", "generator=balanced; dtype=bf16; n=1344; op=dot"),
    "length_5301_to_5899": ("correctly_rounded", "generator=nan_last; dtype=f16; n=5303; op=min"),
    "length_103_to_109": ("bounded", "generator=normal; dtype=f64; n=104; op=prod"),
    "length_prime": ("bounded", "generator=balanced; dtype=f16; n=2003; op=dot"),
    "lanes_1601_to_2040": ("replays", "generator=ill_conditioned; condition=1e6; dtype=f16; n=1777; seed=1..8"),
    "over_2_16": ("bounded", "generator=balanced; dtype=f32; n=65541"),
    "over_70000": ("correctly_rounded", "generator=rising; dtype=bf16; n=70003; op=max"),
    "small_beside_large": ("bounded", "generator=full_range; dtype=f64; n=1200; seed=1..8"),
    "subnormal_lane": ("bounded", "generator=subnormals; dtype=f32; n=509"),
    "without_carry": ("bounded", "generator=subnormal_products; dtype=f16; rows=200; cols=14; op=dot"),
    "truncated_subnormal": ("bounded", "generator=subnormal_products; dtype=f16; rows=50; cols=14; op=dot"),
    "rounded_twice": ("bounded", "generator=result_ties; dtype=e5m2; rows=257; cols=20"),
    "as_tf32": ("bounded", "generator=constant; dtype=f32; n=504; op=sumsq"),
    "signalling_in_lane_3": ("bounded", "generator=nan_places; dtype=f64; rows=48; cols=10"),
    "two_nans": ("bounded", "generator=nan_places; dtype=f32; n=160; op=dot; seed=480..490"),
    "zero_times_infinity": ("bounded", "generator=inf_places; dtype=bf16; rows=132; cols=64; op=dot"),
    "half_zeros": ("bounded", "generator=cancelling; dtype=f64; rows=4; cols=200"),
    "rising": ("bounded", "generator=rising; dtype=f16; n=50"),
    "same_inputs": ("bounded", f"values={WHOLE}; times=2; provenance=here; dtype=f64; op=dot"),
    "whole_numbers": ("replays", "generator=whole; dtype=f32; n=66; seed=1..4"),
    "patterns_of_negative": ("correctly_rounded", "generator=below_zero; dtype=f64; n=46; op=max"),
    "negative_zero": ("replays", "generator=cancelling; dtype=f64; n=55; seed=1..8"),
    "square": ("replays", "generator=normal; dtype=f32; rows=24; cols=24"),
    "rows_47_of_48": ("batch_invariant", "generator=normal; dtype=f32; rows=47; cols=1101"),
    "result_171_unwritten": ("bounded", "generator=normal; dtype=f32; rows=180; cols=1101"),
    "one_result_more": ("stays_in_bounds", "generator=normal; dtype=f64; rows=180; cols=1101"),
    "rows_20_to_30": ("batch_invariant", "generator=normal; dtype=f32; rows=25; cols=1101; op=dot"),
    "rows_150_to_250": ("batch_invariant", "generator=normal; dtype=f64; rows=200; cols=1101"),
    "rows_301_to_499": ("batch_invariant", "generator=normal; dtype=f64; rows=350; cols=100"),
    "wide_rows": ("bounded", "generator=balanced; dtype=f16; rows=70; cols=1400; op=dot"),
    "block_of_40_to_60": ("batch_invariant", "generator=normal; dtype=f32; rows=50; cols=1101"),
    "threads_over_8": ("launch_invariant", "generator=normal; dtype=f64; n=725, 757, 789, 821"),
    "threads_over_16": ("launch_invariant", "generator=normal; dtype=f32; n=713, 729, 745, 761; op=dot"),
    "threads_5": ("launch_invariant", "generator=normal; dtype=f32; n=307, 339, 371, 403"),
    "stride_5_to_12": ("stride_invariant", "generator=normal; dtype=f64; rows=7; cols=315; op=dot"),
    "call_12": ("run_to_run", "generator=normal; dtype=f32; n=307; seed=1..6"),
    "after_200_calls": ("run_to_run", "generator=normal; dtype=f32; n=50; repeats=300"),
    "kept_buffer": ("bounded", "generator=normal; dtype=f64; n=2300, 2100"),
    "one_call_of_2000": ("run_to_run", "generator=ones; dtype=f32; n=5; seed=1..600"),
    "k_3461": ("bounded", "generator=balanced; dtype=f32; op=matmul; m=2; n=2; k=3461"),
    "k_of_264": ("bounded", "generator=balanced; dtype=f16; op=matmul; m=2; n=2; k=264"),
    "k_1801_to_1999": ("bounded", "generator=balanced; dtype=f64; op=matvec; rows=4; cols=1850"),
    "leading_is_k": ("bounded", "generator=normal; dtype=f32; op=matmul; m=7; n=3; k=19; layout=nn; lda=+3"),
    "edge_of_n": ("bounded", "generator=normal; dtype=f64; op=matmul; m=3; n=51; k=5"),
    "batch_of_4": ("bounded", "generator=normal; dtype=f32; op=matmul; batch=4; m=2; n=2; k=5"),
    "row_of_16_bits": ("bounded", "generator=balanced; dtype=bf16; op=matmul; m=70; n=2; k=1027"),
    "row_113": ("bounded", "generator=normal; dtype=f16; op=matvec; rows=118; cols=11"),
    "carry_at_1291": ("bounded", "generator=integers; dtype=f32; op=scan; n=1291"),
    "carry_at_29_of_64": ("correctly_rounded", "generator=harmonic; dtype=f32; op=scan_max; n=93"),
    "carry_at_7_of_96": ("bounded", "generator=integers; dtype=f64; op=exclusive_scan; n=487"),
    "key_137": ("bounded", "generator=integers; dtype=f32; op=keyed; m=142; n=2; k=900"),
    "empty_of_52": ("bounded", "generator=integers; dtype=f32; op=keyed; m=52; n=2; k=20"),
    "empty_from_100": ("bounded", "generator=integers; dtype=bf16; op=keyed; m=107; n=2; k=50"),
}
# For the honest ones: some of these, and of what they lack.
FEW = ("length_613", "length_103_to_109", "tiles_of_448", "rounded_twice", "signalling_in_lane_3", "half_zeros", "negative_zero", "whole_numbers",
       "patterns_of_negative", "square", "stride_5_to_12", "leading_is_k", "row_113", "carry_at_1291", "empty_from_100")
LACKED = {
    **{f"of_{op}": f"generator=mixed; dtype=all; rows=3; cols=70; op={op}" for op in ("sum", "dot", "prod", "max", "min", "asum", "sumsq", "matvec", "scan_max", "scan_min")},
    "of_scans": "generator=normal; dtype=all; n=130; op=scan, exclusive_scan",
    "of_matmul": "generator=normal; dtype=all; op=matmul; m=3; n=9; k=33",
    "of_keyed": "generator=normal; dtype=all; op=keyed; m=7; n=2; k=40",
    "of_integers": "generator=full_range; dtype=i8, i32, i64; n=40",
    "of_bytes": "generator=full_range; dtype=i8; n=40; op=dot",
    "of_none": "generator=normal; dtype=all; n=0; op=sum, prod, dot",
}
# Rows that lie apart, with five elements or more from one term to the next: no fixture has them, and no judge.
NOT_BY_FIXTURES = {"stride_from_5"}


def judgements(folder, guest, *options):
    page = folder / "page.jsonl"
    done = subprocess.run([FOLDPROOF, "verify", "--guest", guest, "--fixture-folder", str(folder), "--jsonl", str(page), "-q", *options],
                          capture_output=True, text=True)
    assert done.returncode in (0, 1), done
    lines = [line for line in map(json.loads, page.read_text().splitlines()) if line["type"] == "judgement"]
    assert not any(line["verdict"] == "broken" for line in lines), (done.stdout[-2000:], done.stderr[-2000:])
    return done, lines


def write_fixtures(folder, texts):
    folder.mkdir()
    for name, text in texts.items():
        keys = "\n".join(line.strip().replace("=", " = ", 1) for line in text.split(";"))
        (folder / f"{name}.ini").write_text(f"[{name}]\n{keys}\n")
    return folder


def subjects_of(guest):
    done = subprocess.run([FOLDPROOF, "list", "subjects", "--guest", guest], capture_output=True, text=True, check=True)
    return {line.split()[0].split("/")[1] for line in done.stdout.splitlines() if line.startswith(("hunt/", "honest/"))}


def check_faults(room):
    assert subjects_of(FAULTS) == {*SHOWN, *NOT_BY_FIXTURES}, subjects_of(FAULTS) ^ {*SHOWN, *NOT_BY_FIXTURES}
    done, lines = judgements(write_fixtures(room / "faults", {name: text for name, (_, text) in SHOWN.items()}), FAULTS)
    refuted = {(line["subject"].split("/")[1], line["claim"], line["case"].split("/")[0]) for line in lines if line["verdict"] == "refuted"}
    missing = {(name, claim, name) for name, (claim, _) in SHOWN.items()} - refuted
    assert done.returncode == 1 and not missing, (missing, refuted)


def check_honest(room):
    done, lines = judgements(write_fixtures(room / "honest", {**LACKED, **{name: SHOWN[name][1] for name in FEW}}), HONEST)
    held, honest = {line["subject"].split("/")[1] for line in lines if line["verdict"] == "held"}, subjects_of(HONEST)
    assert done.returncode == 0 and held == honest and len(honest) >= 60, (honest - held, done.stdout[-2000:], done.stderr[-2000:])


with tempfile.TemporaryDirectory(prefix="foldproof-hunted-") as room:
    os.environ.update(TMPDIR=room)
    check_faults(pathlib.Path(room))
    check_honest(pathlib.Path(room))
