"""Guests that multiply matrices (products.c), scan (prefixes.c), or are wrong at an edge of a format (edges.c), with faults of kinds that their authors make: the default fixtures of guests,
as they stand, refute each, and no right one.

test_guest_products.py FOLDPROOF LIBRARY_FOLDER GUESTS_FOLDER CC
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from guest_shell import FOLDPROOF, GUESTS, build, verify  # noqa: E402

# Of the default fixtures those that show the faults; the large ones for those that show there alone.
SMALL = ["normal/f32/matmul/7x9x33/*", "normal/f32/matmul/2x17x17x17/*", "normal/f32/matmul/3x4x5x33/*", "normal/f32/matmul/1x17x31/*",
         "balanced/f32/matmul/2x2x129/*", "balanced/f32/matmul/2x2x1000/*", "integers/f32/matmul/33x33x33/*", "integers/f32/matmul/9x3x4x5/*",
         "integers/f32/matmul/3x59x5/*", "integers/f32/matmul/77x2x5/*", "integers/f32/matmul/3x3x130x9/*",
         "integers/f32/matmul/3x258x3x9/*", "sparse/f32/matmul/3x2x1000/*", "matmul_*",
         "normal/f32/matvec/5x33/*", "normal/f32/matvec/5x1000/*", "lone/f32/matvec/33x33/*"]
LARGE = ["balanced/f32/matmul/2x2x4097/*", "balanced/f32/matmul/2x2x17408/*", "balanced/f32/matmul/2x2x32769/*", "integers/f32/matmul/67x2x1000/*",
         "integers/f32/matmul/3x1025x5/*", "integers/f32/matmul/385x2x5/*", "integers/f32/matmul/259x257x3/*", "balanced/f32/matvec/3x17408/*",
         "balanced/f32/matvec/3x32769/*", "balanced/f32/matvec/95x41/*", "normal/f32/matvec/256x33/*"]
AT_LARGE = ["*right", "*lost_at_4097", "*lost_at_17408", "*lost_over*", "*third*", "*16_bits", "*8_bits", "*row_100", "*column_60", "*from_1000_columns",
            "*corner*", "matvec_wrong_at*"]
PREFIXES = ["normal/f32/*scan*/3x*", "inf_both/f32/scan/*", "integers/f32/*scan/1x4097/*", "integers/f32/scan/1x10241/*", "harmonic/f32/scan_max/1x4097/*",
            "ones/f32/*scan/65x5/*", "ones/f32/scan/513x5/*", "integers/f32/scan/2x500/*", "integers/f32/scan/2x129/*", "rising/f32/scan_max/2x7/*"]

EDGES = ["*/f32/keyed/65x2x64/*", "*/f32/asum/33x33/*", "*/i8/matmul/1x1x4", "*/i8/matmul/3x2x4097/*", "normal/f32/*/5x33/*",
         "normal/f32/keyed/7x5x64/*"]


def judgements(guest, page, fixtures, *options):
    code, out, err = verify("--guest", str(guest), "--fixtures", ",".join(fixtures), "--jsonl", str(page), "-q", *options)
    lines = [line for line in map(json.loads, page.read_text().splitlines()) if line["type"] == "judgement"]
    assert code == 1 and not any(line["verdict"] == "broken" for line in lines), (code, out[-2000:], err)
    return lines


def judge(folder, name, macro, small, large=(), at_large=(), others_order=()):
    """Each fault is refuted, and nothing right is. `others_order`: right sums in another order than the declared one."""
    guest = build(folder, name, GUESTS / f"{name}.c", options=["-Wall", "-Wextra", "-Werror", "-ffp-contract=off", "-lm"])
    page = folder / f"{name}.jsonl"
    few = judgements(guest, page, small)
    lines = few + (judgements(guest, folder / "large.jsonl", large, "--subjects", ",".join(f"{name}/{glob}" for glob in at_large)) if large else [])
    named = {f"{name}/{problem}_{fault}" for fault, problem in re.findall(rf'^ +{macro}\((\w+), "(\w+)"', (GUESTS / f"{name}.c").read_text(), re.M)}
    wrong = {subject for subject in named if not subject.endswith("_right")} | set(others_order)
    told = {line["subject"] for line in lines if line["verdict"] == "refuted"}
    assert {line["subject"] for line in lines} == named, named ^ {line["subject"] for line in lines}
    assert told == wrong, (wrong - told, told - wrong)
    return few, page


def check_layouts(lines, page):
    """The case's name and its record say the layout; a subject that takes contiguous inputs only is skipped, with that reason."""
    laid = [line for line in lines if line["case"].startswith("normal/f32/matmul/7x9x33/") and "layout" in line]
    assert {line["layout"] for line in laid} == {"nn+3", "nt+3", "tn+3", "tt+3"} and all(f"/{line['layout']}/" in line["case"] for line in laid), laid
    skipped = [line for line in lines if line["subject"] == "products/matmul_lost_at_1000" and "layout" in line]
    assert skipped and all(line["reason"] == "it takes contiguous inputs only" for line in skipped), skipped
    right = [line for line in laid if line["subject"] == "products/matmul_right"]
    assert right and all(line["verdict"] == "held" for line in right), right
    done = subprocess.run([FOLDPROOF, "recheck", str(page)], capture_output=True, text=True)
    assert done.returncode == 1 and " 0 could not be made again, 0 contradictions" in done.stdout, done


with tempfile.TemporaryDirectory(prefix="foldproof-products-") as room:
    os.environ.update(TMPDIR=room)
    check_layouts(*judge(pathlib.Path(room), "products", "PRODUCT", SMALL, LARGE, AT_LARGE))
    judge(pathlib.Path(room), "prefixes", r"OF\w*", PREFIXES, others_order=["prefixes/exclusive_scan_doubled_right"])
    judge(pathlib.Path(room), "edges", "(?:EDGE|BYTES)", EDGES)
