"""factor_dtype: a guest that rounds the factors of products to a narrower format is judged by what that may change, and by no more.

test_factor_dtype.py FOLDPROOF LIBRARY_FOLDER GUESTS_FOLDER CC
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from guest_shell import FOLDPROOF, GUESTS, build, verify  # noqa: E402

# Of the default fixtures.
CASES = ["normal/f32/matmul/7x9x33/*", "normal/f32/matmul/3x4x5x33/*", "balanced/f32/matmul/2x2x129/*", "integers/f32/matmul/33x33x33/*",
         "sparse/f32/matmul/3x2x1000/*", "normal/f32/matvec/5x1000/*", "lone/f32/matvec/33x33/*", "normal/f32/dot/*x5/*", "normal/f32/dot/*x1/*",
         "normal/f32/sumsq/*", "counted/f32/sumsq/*", "*/f32/sumsq/*x33/*", "subnormals/f32/dot/*", "full_range/f32/dot/1x*", "inf_both/f32/*/*"]


def judgements(guest, page, *options):
    code, out, err = verify("--guest", str(guest), "--fixtures", ",".join(CASES), "--jsonl", str(page), "-q", *options)
    lines = [line for line in map(json.loads, page.read_text().splitlines()) if line["type"] == "judgement"]
    assert code in (0, 1) and lines and not any(line["verdict"] == "broken" for line in lines), (code, out[-2000:], err)
    return lines


def test_each_is_judged_by_its_own_factors(guest, page):
    lines = judgements(guest, page, "--claims", "bounded")
    told = {line["subject"] for line in lines if line["verdict"] == "refuted"}
    wrong = {line["subject"] for line in lines if not line["subject"].startswith("factors/right")}
    assert told == wrong and len(wrong) == 6, (wrong - told, told - wrong)
    said = {line["subject"]: line.get("factor_dtype") for line in lines}
    assert said["factors/right_bf16"] == "bf16" and said["factors/f16_as_tf32"] == "tf32" and said["factors/says_nothing"] is None, said
    done = subprocess.run([FOLDPROOF, "recheck", str(page)], capture_output=True, text=True)
    assert done.returncode == 1 and " 0 could not be made again, 0 contradictions" in done.stdout, done


def test_exact_whole_numbers_show_a_lost_term(guest, page):
    """Every factor is a number of tf32: only the exact result is accepted."""
    lines = judgements(guest, page, "--claims", "bounded", "--subjects", "factors/tf32_loses_one")
    whole = [line for line in lines if line["case"].startswith(("integers/f32/matmul", "counted/f32/sumsq/")) and line["cols"] > 4]
    assert whole and all(line["verdict"] == "refuted" for line in whole), whole
    assert any("missing" in line["reason"] for line in whole), whole


def test_a_factor_that_overflows_has_no_bound(guest, page):
    lines = judgements(guest, page, "--claims", "bounded", "--subjects", "factors/right_f16")
    reasons = {line["reason"] for line in lines if line["verdict"] == "skipped"}
    assert "no bound: a factor may overflow when it is rounded to f16" in reasons, reasons


def test_an_order_is_replayed_where_no_factor_is_rounded(guest, page):
    lines = judgements(guest, page, "--claims", "replays", "--subjects", "factors/right_in_order")
    by_case = {line["case"]: line for line in lines}
    whole = [line for case, line in by_case.items() if case.startswith("integers/f32/matmul")]
    rounded = [line for case, line in by_case.items() if case.startswith("normal/f32/matmul")]
    assert whole and all(line["verdict"] == "held" for line in whole), whole
    said = "not all factors are numbers of tf32: how others are rounded is not declared"
    assert {line["verdict"] for line in rounded} == {"skipped"} and said in {line["reason"] for line in rounded}, rounded


def test_tables_say_it(folder):
    program = folder / "said.py"
    for field, said in (('"factor_dtype": "tf32", "problems": "dot"', None),
                        ('"factor_dtype": "fp32", "problems": "dot"', "its factor_dtype has the unknown word 'fp32'"),
                        ('"factor_dtype": "tf32"', "it has a factor_dtype, and no problem whose terms are products (dot, sumsq, matvec, matmul)"),
                        ('"factor_dtype": "tf32", "problems": "rows"', "it has a factor_dtype, and no problem whose terms are products"),
                        ('"factor_dtype": 3, "problems": "dot"', "its factor_dtype is 3, and must be a text in quotes")):
        program.write_text(f"""print('{{"name": "mine/dot", {field}}}', flush=True)\n""")
        done = subprocess.run([FOLDPROOF, "list", "subjects", "--long", "--exec", f"{sys.executable} {program}"], capture_output=True, text=True)
        if said:
            assert done.returncode == 2 and said in done.stderr, (field, done)
        else:
            assert done.returncode == 0 and "factors rounded to tf32" in done.stdout, (field, done)


with tempfile.TemporaryDirectory(prefix="foldproof-factors-") as room:
    os.environ.update(TMPDIR=room)
    folder = pathlib.Path(room)
    guest = build(folder, "factors", GUESTS / "factors.c", options=["-Wall", "-Wextra", "-Werror", "-ffp-contract=off"])
    for test in (test_each_is_judged_by_its_own_factors, test_exact_whole_numbers_show_a_lost_term, test_a_factor_that_overflows_has_no_bound,
                 test_an_order_is_replayed_where_no_factor_is_rounded):
        test(guest, folder / "page.jsonl")
    test_tables_say_it(folder)
