"""A BLAS that is found at run time is judged by what it promises, on inputs as a BLAS takes them. test_blas.py FOLDPROOF FAKE_BLAS FAKE_BLAS_WRONG"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

FOLDPROOF, FAKE, WRONG = map(str, sys.argv[1:4])
OTHER = "libm.so.6"
FEW = "normal/*,integers/*,full_range/*"


def judge(library, *words):
    """Exit code, what was printed, and (subject, claim) -> outcomes."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "v.jsonl"
        done = subprocess.run([FOLDPROOF, "verify", "--engine", "host", "--subjects", "blas/*", "--jsonl", out, *words], check=False,
                              capture_output=True, text=True, env={**os.environ, "FOLDPROOF_BLAS": library})
        lines = [json.loads(line) for line in out.read_text().splitlines()]
    seen = {}
    for line in lines:
        if line["type"] == "judgement":
            seen.setdefault((line["subject"], line["claim"]), []).append(line)
    return done.returncode, done.stdout + done.stderr, seen


def check_unusable():
    """A library that the user named and that is none, or no BLAS, is bad input: one line, from each command that runs it."""
    none, other = "/none/libblas.so: cannot open shared object file: No such file or directory", f"{OTHER}: has no cblas_sgemm"
    for library, why in ("/none/libblas.so", none), (OTHER, other):
        for words in (["verify", "--fixtures", "normal/f32/dot/*"], ["verify", "--in-process", "--fixtures", "normal/f32/dot/*"],
                      ["record", "--fixtures", "normal/f32/dot/*"], ["bench", "--problem", "dot", "--n", "1e3"]):
            done = subprocess.run([FOLDPROOF, *words, "--engine", "host", "--subjects", "blas/*"], check=False, capture_output=True, text=True,
                                  env={**os.environ, "FOLDPROOF_BLAS": library})
            assert (done.returncode, done.stderr) == (2, f"foldproof {words[0]}: FOLDPROOF_BLAS={why}\n"), (words, done)


def main():
    code, told, seen = judge(FAKE, "--fixtures", FEW)
    held = {key for key, lines in seen.items() if any(line["verdict"] == "held" for line in lines)}
    claims = ("bounded", "writes_output", "stays_in_bounds", "keeps_input")
    assert code == 0, told
    assert all((f"blas/{name}", claim) in held for name in ("gemm", "gemv", "dot") for claim in claims), (held, told)
    assert "blas/gemv: no results of no columns" in {line.get("reason") for lines in seen.values() for line in lines}, told

    # Leading dimensions, transposes and increments; strides that are none of these are left out. Between the terms lies NaN, which is no
    # term of a subject that takes finite ones alone.
    code, told, seen = judge(FAKE, "--probe", "--claims", "stride_invariant", "--fixtures", "normal/f??/*")
    for name, least in ("gemm", 40), ("gemv", 10), ("dot", 10):
        strided = [line["verdict"] for line in seen[f"blas/{name}", "stride_invariant"]]
        assert code == 0 and strided.count("held") >= least and "refuted" not in strided, (name, strided, told)
    code, told, seen = judge(WRONG, "--probe", "--claims", "stride_invariant", "--fixtures", "normal/f32/matmul/3x5x31/*")
    assert [line["verdict"] for line in seen["blas/gemm", "stride_invariant"]] == ["held"], told

    for name in "gemm", "gemv", "dot":
        code, told, seen = judge(WRONG, "--subjects", f"blas/{name}", "--fixtures", "normal/f32/*,normal/f64/*")
        wrong = [line for line in seen[f"blas/{name}", "bounded"] if line["verdict"] == "refuted"]
        assert "new: not known of OpenBLAS 9.8.7\n" in told, told
        assert code == 1 and wrong and {line["dtype"] for line in wrong} == {"f32", "f64"}, (name, told)

    check_unusable()


if __name__ == "__main__":
    main()
