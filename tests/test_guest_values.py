"""Guests whose values are wrong in a few places (tiles.c, specials.c, subtle.c): the default fixtures, as they stand, refute each, and no right one.

test_guest_values.py FOLDPROOF LIBRARY_FOLDER GUESTS_FOLDER CC
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from guest_shell import FOLDPROOF, GUESTS, build, verify  # noqa: E402

# What it promises, and loses in rows of whole tiles (tiles.c): no case of another length tells.
TILES = {"sum_640": "bounded", "sum_7168": "bounded", "sum_f64_192": "bounded", "dot_24": "bounded", "dot_8192": "bounded", "prod_512": "bounded",
         "max_32": "correctly_rounded", "max_up_to_8192": "correctly_rounded", "e4m3_max_without_ff": "correctly_rounded"}


# The same of results that are special (specials.c).
SPECIALS = {**dict.fromkeys(("without_nan", "last_without_nan", "compensated", "clamped", "flushed", "long_without_nan", "without_head", "flushed_f16"), "bounded"),
            "max_of_64_rows": "correctly_rounded", "max_from_lowest": "correctly_rounded"}


def check_default_set(folder, name, wrong, right):
    """By the default set, as it stands."""
    guest = build(folder, name, GUESTS / f"{name}.c", options=["-Wall", "-Wextra", "-Werror", "-ffp-contract=off", "-lm"])
    code, out, err = verify("--guest", str(guest), "--set", "default")
    told = set(re.findall(rf"^REFUTED: {name}/(\w+) on host violates (\w+): ", out, re.M))
    # What is wrong at another address only is also seen there.
    assert code == 1 and told - {("without_head", "alignment_invariant")} == set(wrong.items()) and "BROKEN" not in out, (told, code, out, err)
    for honest in right:
        assert f"\n{name}/{honest} on host\n" in out, (honest, out)


def check_tiles(folder):
    check_default_set(folder, "tiles", TILES, ("right_sum", "right_dot", "right_prod", "right_max", "right_e4m3_max"))


def check_specials(folder):
    check_default_set(folder, "specials", SPECIALS, ("right", "right_f16", "right_max"))
    # What a run at other addresses refuted is no contradiction to the results of the usual run, and stays refuted.
    page = str(folder / "moved.jsonl")
    verify("--guest", str(folder / "specials.so"), "--subjects", "specials/without_head", "--claims", "bounded", "--fixtures", "normal/f32/sum/1x1023/seed1", "--jsonl", page)
    done = subprocess.run([FOLDPROOF, "recheck", page], capture_output=True, text=True)
    assert done.returncode == 1 and " 0 contradictions; 1 held, 1 refuted" in done.stdout and "1 element from an aligned address" in done.stdout, done


# Those of subtle.c are wrong at some lengths, shapes, places or values; what the fixtures of these alone must see.
SUBTLE = ("ladder,telling,balanced/f32/sum/*,normal/f32/sum/64x64/*,normal/f32/sum/128x128/*,batch/f32/sum/67x*,batch/f32/sum/37x*,"
          "balanced/*/matvec/*,nan_places/f32/matvec/3x*,inf_places/f32/matvec/132x*,batch/f32/matvec/161x*,matvec_*")


def check_subtle(folder):
    guest = build(folder, "subtle", GUESTS / "subtle.c", options=["-Wall", "-Wextra", "-Werror", "-ffp-contract=off", "-lm"])
    code, out, err = verify("--guest", str(guest), "--fixtures", SUBTLE)
    wrong = set(re.findall(r"^ +SUBTLE\((\w+),", (GUESTS / "subtle.c").read_text(), re.M))
    told = set(re.findall(r"^REFUTED: subtle/(\w+) on host violates ", out, re.M))
    assert len(wrong) == 46 and told == wrong and "BROKEN" not in out, (wrong - told, told - wrong, code, out[-3000:], err)
    assert "byte 0 of the other input was written to" in out, out[-3000:]
    assert all(f"\nsubtle/{honest} on host\n" in out for honest in ("right", "right_dot", "right_matvec")), out[-3000:]


def check_narrow(folder):
    """Products accumulated in f16: judged in that arithmetic, and their order is revealed in it."""
    check_default_set(folder, "narrow", {"wide": "replays", "undeclared": "bounded"}, ("rounded", "fused"))
    for subject, order in (("rounded", "dot/sequential"), ("fused", "dot/sequential_fma, gemm/canonical")):
        done = subprocess.run([FOLDPROOF, "reveal", "--guest", str(folder / "narrow.so"), f"narrow/{subject}", "--dtype", "f16"],
                              capture_output=True, text=True)
        assert re.search(rf"^order +{order}$", done.stdout, re.M), done


def check_extremes(folder):
    """bounded brings in correctly_rounded for maxima, which have no bound."""
    guest = build(folder, "extremes", GUESTS / "extremes.c")
    code, out, err = verify("--guest", str(guest), "--claims", "bounded", "--fixtures", "normal/f32/max/*,normal/f32/scan_max/*")
    for subject in ("first", "copy"):
        assert code == 1 and f"REFUTED: extremes/{subject} on host violates correctly_rounded" in out, (code, out, err)


def check_told(folder):
    """What a refutation says more: which zero is the greatest, and that an accumulator of the results' dtype, declared, allows them."""
    code, out, err = verify("--guest", str(folder / "extremes.so"), "--subjects", "extremes/either_zero", "--fixtures", "*/f32/max/*", COLUMNS="1000")
    assert code == 1 and "not the number nearest to the exact result: of -0 and +0 the greatest is +0, in IEEE 754-2019 (np.max and fmax may give -0)" in out, (code, out, err)
    code, out, err = verify("--guest", str(folder / "narrow.so"), "--subjects", "narrow/undeclared", "--fixtures", "normal/f16/dot/*", COLUMNS="1000")
    assert code == 1 and "(an accumulator of f16 allows it, if that is declared: accumulator f16)" in out, (code, out, err)
    code, out, err = verify("--guest", str(folder / "extremes.so"), "--subjects", "extremes/first", "--fixtures", "normal/f32/max/*", COLUMNS="1000")
    assert code == 1 and "IEEE" not in out, (code, out, err)


def check_terms_left_out(folder):
    """A maximum that leaves a term out is a wrong value. It keeps no result, also where another term is an infinity of either sign."""
    guest = build(folder, "extremes", GUESTS / "extremes.c")
    code, out, err = verify("--guest", str(guest), "--subjects", "extremes/without_*", "--claims", "run_to_run", "--fixtures", "inf*/f32/max/*,neg_inf*/f32/max/*,infinities*/f32/max/*")
    assert code == 0 and " 0 refuted, 0 skipped" in out, (code, out, err)
    for which in "last", "first", "largest":
        code, out, err = verify("--guest", str(guest), "--subjects", f"extremes/without_{which}", "--fixtures", "*/f32/max/*")
        assert code == 1 and f"REFUTED: extremes/without_{which} on host violates correctly_rounded" in out and "previous input" not in out, (code, out, err)


with tempfile.TemporaryDirectory(prefix="foldproof-values-") as room:
    os.environ.update(TMPDIR=room)
    check_tiles(pathlib.Path(room))
    check_extremes(pathlib.Path(room))
    check_terms_left_out(pathlib.Path(room))
    check_specials(pathlib.Path(room))
    check_narrow(pathlib.Path(room))
    check_told(pathlib.Path(room))
    check_subtle(pathlib.Path(room))
