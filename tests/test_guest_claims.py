"""Claims about guests: each subject of bits.c depends on one thing that it must not, and is refuted by that claim, with the place.

test_guest_claims.py FOLDPROOF LIBRARY_FOLDER GUESTS_FOLDER CC
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from guest_shell import EXAMPLES, FOLDPROOF, GUESTS, build, verify  # noqa: E402


def check_refuted(guest, name, claim, word, *options):
    code, out, err = verify("--guest", guest, "--subjects", f"bits/{name}", "--claims", claim, *options)
    assert code == 1 and f"REFUTED: bits/{name} on host violates {claim}" in out and word in out, (name, code, out, err)
    check_replay(out)


def check_replay(out):
    replay = next(line for line in out.splitlines() if line.startswith("  reproduce: "))[len("  reproduce: "):]
    assert subprocess.run(replay, shell=True, capture_output=True).returncode == 1, replay


def check_held(guest, name, claim, *options):
    code, out, err = verify("--guest", guest, "--subjects", f"bits/{name}", "--claims", claim, *options)
    assert code == 0 and "REFUTED" not in out and f"\n  {claim}" in out, (name, code, out, err)


def check_batches(guest):
    batches, short = ("--fixtures", "batch/f32/sum/2049x257/*"), ("--fixtures", "batch/f32/sum/65537x*")
    check_refuted(guest, "from_9_rows", "batch_invariant", "same bits up to 8 rows, different bits from 9 (of 2049)", *batches)
    check_refuted(guest, "from_9_rows", "batch_invariant", "same bits up to 8 rows, different bits from 9 (of 65537)", *short)
    check_refuted(guest, "from_40000_rows", "batch_invariant", "same bits up to 39999 rows, different bits from 40000", *short)
    check_held(guest, "from_40000_rows", "batch_invariant", *batches)
    check_refuted(guest, "odd_rows", "batch_invariant", "in place", *batches)
    check_refuted(guest, "last_of_many", "batch_invariant", "same bits up to 102 rows, different bits from 103 (of 2049)", *batches)
    check_held(guest, "honest", "batch_invariant", *batches)
    check_held(guest, "honest", "batch_invariant", *short)
    for name, cases, word in (("dot_from_512_rows", "batch/f32/dot/*", "same bits up to 511 rows, different bits from 512 (of 2049)"),
                              ("dot_from_512_rows", "batch/f32/dot/65537x*", "same bits up to 511 rows, different bits from 512 (of 65537)"),
                              ("bytes_from_9_rows", "batch/e4m3/*", "same bits up to 8 rows, different bits from 9 (of 2049)"),
                              ("bytes_from_9_rows", "batch/e5m2/sum/65537x*", "same bits up to 8 rows, different bits from 9 (of 65537)"),
                              ("prod_from_9_rows", "batch/f32/prod/*", "same bits up to 8 rows, different bits from 9 (of 2049)")):
        check_refuted(guest, name, "batch_invariant", word, "--fixtures", cases)
    # A size that is tried only where --around names it; each number, one less and one more.
    check_held(guest, "at_1111_rows", "batch_invariant", *batches)
    for around in ("1111", "1110", "256,1112"):
        check_refuted(guest, "at_1111_rows", "batch_invariant", "same bits up to 1110 rows, different bits from 1111", *batches, "--around", around)
    check_held(guest, "at_1111_rows", "batch_invariant", *batches, "--around", "1109,1113")
    for around, word in (("2049", "--around 2049: the largest batch that is selected has 2049 rows"), ("0", "--around 0"), ("few", "few")):
        code, out, err = verify("--guest", guest, *batches, "--around", around)
        assert code == 2 and word in err, (around, code, out, err)


def check_sizes(guest):
    """Short rows in each number up to 300; what is not within its bound is `got`, however the runs came."""
    batches, short = ("--fixtures", "batch/f32/sum/2049x257/*"), ("--fixtures", "rows_past_a_grid/f32/sum/65537x3/*")
    check_refuted(guest, "wrong_at_139", "bounded", ", in a batch of 139 rows", *batches)
    check_refuted(guest, "wrong_past_32768", "bounded", ", in a batch of 32769 rows", *short)
    check_refuted(guest, "at_20_to_30", "batch_invariant", "same bits up to 19 rows, different bits from 20 (of 2049)", *batches)
    check_refuted(guest, "last_of_47_mod_48", "batch_invariant", "same bits up to 47 rows, different bits from 48 (of 2049)", *batches)
    code, out, err = verify("--guest", guest, "--subjects", "bits/wrong_past_32768", "--claims", "batch_invariant", *short)
    told = re.search(r"in a batch of 65537 rows: right, in one of 32769: wrong by \S+ bounds\n(?:.*\n)*?  row 32768: got \S+ \((\S+)\), want \S+ \((\S+)\)\n", out)
    assert code == 1 and told and abs(float(told[2]) + 0.856421471) < 1e-6 and float(told[1]) < -4, (code, out, err)
    check_refuted(guest, "rounding_then_wrong", "batch_invariant", "different bits in a batch of 100 rows than in one of 2049", *batches)
    check_refuted(guest, "peels", "batch_invariant", "the row's address matters: different bits as third of five rows", "--fixtures", "normal/f32/sum/1x257/*")
    check_held(guest, "honest", "bounded", *batches)


def check_offsets(guest):
    row = ("--fixtures", "normal/f32/sum/3x1000/seed1")
    check_refuted(guest, "input_before_page", "alignment_invariant", "different bits at another address: at the end of a page, 32 bytes from a multiple of 64", *row)
    check_refuted(guest, "input_at_68", "alignment_invariant", "different bits 17 elements from an aligned address", *row)
    check_refuted(guest, "output_at_36", "alignment_invariant", "different bits with the output 9 elements further", *row)
    check_refuted(guest, "both_at_44", "alignment_invariant", "different bits 11 elements from an aligned address, with the output 11 elements further", *row)
    check_refuted(guest, "other_at_28", "alignment_invariant", "different bits its other input 7 elements from one", "--fixtures", "normal/f32/dot/1x1000/*")
    check_held(guest, "honest", "alignment_invariant", *row)


def check_address(guest, folder):
    """The address is tried of a guest that promises nothing of it: for information, which neither counts nor fails."""
    page = folder / "address.jsonl"
    code, out, err = verify("--guest", guest, "--subjects", "bits/peels_vectors", "--fixtures", "normal/f32/sum/*", "--jsonl", str(page))
    said = re.search(r"^not claimed: alignment_invariant of bits/peels_vectors is refuted in (\d+) cases, first (\S+)$", out, re.M)
    assert code == 0 and said and int(said[1]) > 20 and re.search(r"^\d+ held, 0 refuted, \d+ skipped$", out, re.M), (code, out, err)
    assert not re.search("REFUTED|  alignment_invariant|probed", out) and "not tried, because not claimed: launch_invariant, batch_invariant, " in out, out
    judged = [line for line in map(json.loads, page.read_text().splitlines()) if line.get("claim") == "alignment_invariant"]
    assert {line["promised"] for line in judged} == {False} and [line["case"] for line in judged if line["verdict"] == "refuted"][0] == said[2]
    assert sum(line["verdict"] == "refuted" for line in judged) == int(said[1])
    # Asked for, it fails as ever; with other claims named it is not tried; with --probe it is in the table.
    few = ("--fixtures", "normal/f32/sum/3x1000/*,normal/f32/sum/1x2??/*")
    check_refuted(guest, "peels_vectors", "alignment_invariant", "different bits 1 element from an aligned address", "--fixtures", "normal/f32/sum/3x1000/*")
    for options, words in ((("--claims", "bounded"), "  bounded "), (("--probe",), "tried for information")):
        code, out, err = verify("--guest", guest, "--subjects", "bits/peels_vectors", *few, *options)
        assert code == 0 and words in out and "not claimed: alignment" not in out, (options, code, out, err)
    code, out, err = verify("--guest", guest, "--subjects", "bits/promises_nothing", *few, "--jsonl", str(page))
    assert code == 0 and "not claimed: alignment" not in out and '"alignment_invariant"' in page.read_text(), (code, out, err)
    # A value outside its bound is wrong whatever was claimed of the address; a process that ends there ends nothing else.
    code, out, err = verify("--guest", guest, "--subjects", "bits/loses_at_16", "--fixtures", "normal/f32/sum/1x1023/*")
    assert code == 1 and "REFUTED: bits/loses_at_16 on host violates alignment_invariant" in out and re.search(r"aligned address: wrong by \S+ bounds", out), (code, out, err)
    code, out, err = verify("--guest", guest, "--subjects", "bits/aligned_only", "--fixtures", "normal/f32/sum/1x33/*")
    assert code == 0 and re.search(r"^\d+ held, 0 refuted, 0 skipped$", out, re.M) and "broken" not in out, (code, out, err)


def check_selection(guest):
    """A guest that is loaded and not selected would look as if it had been judged."""
    code, out, err = verify("--guest", guest, "--subjects", "host/pairwise")
    assert code == 2 and "no guest is selected: none of their subjects, the first is bits/" in err and "held" not in out, (code, out, err)
    code, out, err = verify("--guest", guest, "--subjects", "host/pairwise,bits/promises_nothing", "--fixtures", "normal/f32/sum/1x33/*")
    assert code == 0 and "host/pairwise on host" in out and "bits/promises_nothing on host" in out, (code, out, err)


def check_sides(guest):
    """Each invariance says which of two runs is wrong, by how many bounds, or that neither is; what is wrong goes before what is rounded
    otherwise, and is `got`."""
    row, long = ("--fixtures", "normal/f32/sum/3x1000/seed1"), ("--fixtures", "ill_conditioned/f32/sum/1x4097/*")
    for name, claim, cases in (("by_what_follows", "length_invariant", row), ("by_strides", "stride_invariant", row), ("by_ci", "fresh_process", row),
                               ("by_blocks", "padding_invariant", row), ("peels_vectors", "alignment_invariant", row), ("with_5", "launch_invariant", row),
                               ("by_blas_threads", "launch_invariant", row), ("at_20_to_30", "batch_invariant", ("--fixtures", "batch/f32/sum/2049x257/*"))):
        code, out, err = verify("--guest", guest, "--subjects", f"bits/{name}", "--claims", claim, *cases)
        told = re.findall(r"^REFUTED: .*\n  .*; both within their bounds\n(?:  order.*\n)?  row \d+: got \S+ .*, want \S+ ", out, re.M)
        assert code == 1 and told and len(told) == out.count("REFUTED"), (name, code, out, err)
    for name, claim, cases, words, at in (
            ("wrong_before_zeros", "length_invariant", row, "in front of more terms: within its bound, in front of zeros: wrong by", r"row \d+"),
            ("strides_then_wrong", "stride_invariant", row, "contiguous: within its bound, with rows 3001 elements apart and terms 3: wrong by", "row 2"),
            ("threads_then_wrong", "launch_invariant", ("--fixtures", "normal/f32/sum/*"), "with 13 threads.*: wrong by", r"row \d+"),
            ("offsets_then_wrong", "alignment_invariant", row, "usually: within its bound, 25 elements from an aligned address: wrong by", "row 2")):
        code, out, err = verify("--guest", guest, "--subjects", f"bits/{name}", "--claims", claim, *cases)
        assert code == 1 and re.search(f"{words} \\S+ bounds\n(?:  order.*\n)?  {at}: got ", out), (name, code, out, err)


def check_shapes(guest):
    row, rows = ("--fixtures", "normal/f32/sum/3x1000/seed1"), ("--fixtures", "normal/f32/sum/*,zeros_*/f32/sum/*,negative_zeros/f32/*")
    check_refuted(guest, "by_what_follows", "length_invariant", "the row's first 500 terms, as an array, gave different bits than in the row", *row)
    check_refuted(guest, "by_blocks", "padding_invariant", "different bits with 1 identity element appended to a row of 1000", *row)
    check_refuted(guest, "by_strides", "stride_invariant", "different bits with rows 2000 elements apart and terms 2", *row)
    check_refuted(guest, "unless_broadcast", "stride_invariant", "different bits with rows 0 elements apart, all of them one row of memory", *row)
    for claim in ("length_invariant", "padding_invariant"):
        check_held(guest, "honest", claim, *rows)
    for claim in ("length_invariant", "padding_invariant", "stride_invariant"):
        check_held(guest, "any_strides", claim, *rows)
    check_held(guest, "prod_from_9_rows", "padding_invariant", "--fixtures", "*/f32/prod/1x*")  # which ends in ones
    code, out, err = verify("--guest", guest, "--subjects", "bits/no_strides", "--claims", "stride_invariant", *row)
    assert code == 77 and "it takes contiguous rows only" in out, (code, out, err)
    # A preset means it of who takes strides.
    code, out, err = verify("--guest", guest, "--subjects", "bits/honest,bits/any_strides", "--claims", "reproducible", *row)
    assert code == 0 and out.count("\n  padding_invariant ") == 3 and out.count("\n  stride_invariant ") == 2, (code, out, err)


def check_repeats(folder):
    """By its threads' sequence: on a quiet machine of few cores it may be the same for long, and then many cases are tried."""
    racy = str(build(folder, "racy", GUESTS / "racy.c", options=["-fopenmp"]))
    for name in ("sum", "by_parts"):
        page = folder / f"{name}.jsonl"
        for cases in ("normal/f32/sum/*x???/*,normal/f32/sum/*x????/*", "normal/f32/sum/*"):
            code, out, err = verify("--guest", racy, "--subjects", f"racy/{name}", "--claims", "run_to_run", "--jsonl", str(page), "--fixtures", cases)
            # Of each case: where a machine is so busy that a run takes long, no more of them are made.
            told = re.search(r"\d+ of 3 repeats gave different bits, and \d+ of \d+ on a busy machine: \d+ bit patterns in \d+ runs", page.read_text())
            if told:
                break
        assert code == 1 and f"racy/{name} on host violates run_to_run" in out and told, (name, code, out, err)
    # Who varies in the same surroundings is not refuted for another address or number of threads; asked of these alone, it is.
    few = ("--fixtures", "normal/f32/sum/3x1000/*,normal/f32/sum/1x1?/*")
    threads = {"OMP_NUM_THREADS": "2"}
    code, out, err = verify("--guest", racy, "--subjects", "racy/alternates", "--claims", "run_to_run,alignment_invariant,batch_invariant", *few, **threads)
    assert code == 1 and "alternates on host violates run_to_run" in out and not re.search("violates (alignment|batch)", out), (code, out, err)
    assert re.search(r"[1-9]\d* of \d+ repeats with \d+ threads gave different bits, at the same address", out), out
    assert "the same run varies by itself: see run_to_run" in out, out
    code, out, err = verify("--guest", racy, "--subjects", "racy/alternates", "--claims", "alignment_invariant", *few, **threads)
    assert code == 1 and "different bits, but the same run varies by itself: " in out, (code, out, err)
    # Of a real race chance may say so of a case: it can come in one sequence for all of some repeats.
    code, out, err = verify("--guest", racy, "--subjects", "racy/by_default", "--claims", "run_to_run,alignment_invariant", *few, **threads)
    varies, moved = (int(re.search(rf"\n  {claim} +\d+ +(\d+)", out)[1]) for claim in ("run_to_run", "alignment_invariant"))
    assert code == 1 and varies > 2 * moved, (code, out, err)
    code, out, err = verify("--guest", racy, "--subjects", "racy/in_turn", "--claims", "run_to_run,launch_invariant,alignment_invariant", *few, **threads)
    assert code == 1 and set(re.findall("violates (\\w+)", out)) == {"launch_invariant"} and "varies by itself" not in out, (code, out, err)
    # What was set for the run is set for its replay, and the message says what no option asked for.
    page = folder / "racy.jsonl"
    code, out, err = verify("--guest", racy, "--subjects", "racy/alternates", "--jsonl", str(page), "--claims", "run_to_run", *few, OMP_NUM_THREADS="7", MKL_NUM_THREADS="it's")
    assert code == 1 and "  reproduce: OMP_NUM_THREADS='7' MKL_NUM_THREADS='it'\\''s' " in out and "not tried" not in out, (code, out, err)
    check_replay(out)
    told = subprocess.run([FOLDPROOF, "report", "--format", "markdown", str(page)], capture_output=True, text=True).stdout
    assert "OMP_NUM_THREADS='7' MKL_NUM_THREADS=" in told, told
    code, out, err = verify("--guest", racy, "--subjects", "racy/in_turn", *few)
    assert "not tried, because not claimed: launch_invariant, batch_invariant, length_invariant, padding_invariant (to try them: --claims reproducible)\n" in out, (code, out, err)
    left = subprocess.run(["pgrep", "-f", racy], capture_output=True)
    assert left.returncode == 1, left


def check_functions(folder):
    """A function of rows may give the same result whatever a term is: that it keeps results is shown by other results elsewhere."""
    functions = ("--guest", str(build(folder, "functions", GUESTS / "functions.c", options=["-Wall", "-Wextra", "-Werror"])))
    honest = ",".join(f"functions/{name}" for name in ("log_sum_exp", "largest", "largest_of_lanes", "clip", "sign", "constant"))
    code, out, err = verify(*functions, "--subjects", honest, "--claims", "run_to_run")
    assert code == 0 and len(re.findall(r" on host\n  run_to_run +\d{3,} +0 ", out)) == 6, (code, out, err)
    for name in ("by_address", "by_ends"):
        code, out, err = verify(*functions, "--subjects", f"functions/{name}", "--claims", "run_to_run", "--fixtures", "normal/f32/sum/3x1000/*,normal/f32/sum/1x1023/*")
        # What is stored by the ends comes back in a repeat, too.
        assert code == 1 and re.search("the result of the previous input, from before its term|repeats gave different bits", out), (name, code, out, err)
        check_replay(out)


def check_twins(folder):
    """Two versions of a guest, whose subjects have one name."""
    few, twin = ("--fixtures", "normal/f*/sum/*x1000/*"), ("--same-bits-as", "mine/sum")
    old, same = (str(build(folder, name, EXAMPLES / "guest_sum.c")) for name in ("old", "same"))
    source = folder / "new.c"
    source.write_text((EXAMPLES / "guest_sum.c").read_text().replace("float s = 0;", "double s = 0;").replace('"bounded,replays,reproducible"', '"bounded"').replace('.order = "host/sequential"', '.dtypes = "f32"'))
    new = str(build(folder, "new", source))
    code, out, err = verify("--guest", old, "--guest", new, *twin, *few)
    assert code == 1 and "REFUTED: mine/sum@2 on host violates same_bits_as" in out and "different bits than mine/sum" in out, (code, out, err)
    assert "REFUTED: mine/sum on host" not in out and "--same-bits-as 'mine/sum'" in out, out
    check_replay(out)
    code, out, err = verify("--guest", old, "--guest", same, *twin, *few)
    assert code == 0 and re.search(r"mine/sum@2 on host\n(  .*\n)*  same_bits_as +[1-9]", out), (code, out, err)
    # With a compiled one, of a named engine; fresh_process knows it by its new name.
    code, out, err = verify("--guest", old, "--guest", same, "--same-bits-as", "host:host/sequential", "--claims", "same_bits_as,fresh_process", *few)
    assert code == 0 and len(re.findall(r"\n  same_bits_as +[1-9]\d* +0", out)) == 3 and len(re.findall(r"\n  fresh_process +[1-9]\d* +0", out)) == 3, (code, out, err)
    # What a table declares is judged, though it names no claim, or others.
    for declared, claim in (('.same_bits_as = "rows/par_256"', "same_bits_as"), ('.claims = "bounded", .same_bits_as = "rows/par_256"', "same_bits_as"),
                            ('.order = "host/pairwise"', "replays")):
        source.write_text((EXAMPLES / "guest_sum.c").read_text().replace('.order = "host/sequential", .claims = "bounded,replays,reproducible"', declared))
        code, out, err = verify("--guest", str(build(folder, "declared", source)), *few)
        assert code == 1 and set(re.findall(r"violates (\w+)", out)) == {claim}, (declared, code, out, err)
    # An order that the method has no replay for is not replayed.
    source.write_text("""#include "foldproof_guest.h"
static int run(const struct foldproof_guest_call *call, void *context) { return (void)call, (void)context, FOLDPROOF_GUEST_UNSUPPORTED; }
static const struct foldproof_guest_subject subjects[] = {
    {.name = "mine/exact", .dtypes = "f32", .method = "exact", .order = "host/sequential", .run = run},
    {.name = "mine/prod", .problems = "prod,sum", .method = "kahan", .order = "host/sequential", .claims = "run_to_run", .run = run}};
static const struct foldproof_guest_table table = {FOLDPROOF_GUEST_ABI, sizeof *subjects, 2, subjects};
const struct foldproof_guest_table *foldproof_guest(void) { return &table; }
""")
    code, out, err = verify("--guest", str(build(folder, "no_replay", source)), *few)
    assert code == 77 and "does not take this case" in out, (code, out, err)
    # What the user names and nothing can judge is skipped, and the rest is judged.
    source.write_text((EXAMPLES / "guest_sum.c").read_text().replace('.order = "host/sequential", .claims = "bounded,replays,reproducible", ', ""))
    plain = str(build(folder, "plain", source))
    for claims, words, wanted in (("replays", ("it declares no order",), 77), ("same_bits_as,bounded", ("it names no reference", "bounded +[1-9]"), 0),
                                  ("message_invariant,tree", ("it has no ranks",), 77)):
        code, out, err = verify("--guest", plain, "--claims", claims, *few)
        assert code == wanted and all(re.search(word, out) for word in words), (claims, code, out, err)
    for name, word in (("mine/none", "its reference 'mine/none' does not exist there"), ("cpu:mine/sum", "does not exist there"), ("mpi:collective/canonical", "")):
        code, out, err = verify("--guest", old, "--same-bits-as", name, *few)
        assert code == 2 and word in err, (name, code, out, err)
    code, out, err = verify("--guest", old, *twin, *few)
    assert code == 2 and "there is no other guest" in err, (code, out, err)
    code, out, err = verify("--guest", old, "--guest", old, *few)
    assert code == 2 and "there are two of that name" in err, (code, out, err)
    code, out, err = verify("--guest", old, "--guest", same, *twin, "--claims", "run_to_run", *few)
    assert code == 2 and "needs --claims same_bits_as" in err, (code, out, err)


def check_new_processes(guest):
    """A bit of the address that the guest's own code is loaded at: one new process has the other one in half of the runs. Asked for by
    --repeats, thirty are started on a busy machine too."""
    check_refuted(guest, "by_load_address", "fresh_process", "a new process gave results of hash", "--fixtures", "normal/f32/sum/3x1000/*",
                  "--repeats", "30")


def check_sequence(guest):
    """New processes run cases and subjects in another sequence, and some of the cases alone."""
    few = ("--fixtures", "normal/f32/sum/1x17/*,normal/f32/sum/3x1000/*,normal/f32/sum/17x257/*,normal/f32/sum/33x33/*", "--claims", "fresh_process")
    for subjects, name, words in (("by_longest", "by_longest", ": in reverse, each case after a different input"), ("by_first", "by_first", ""),
                                  ("leads,bits/follows", "follows", ": in reverse, each case after a different input"),
                                  ("by_shape", "by_shape", ": in reverse, each case after a different input")):
        code, out, err = verify("--guest", guest, "--subjects", f"bits/{subjects}", *few)
        assert code == 1 and re.search(f"REFUTED: bits/{name} on host violates fresh_process: .*\n.*a new process gave results of hash .*{words}; (both within their bounds|want: within its bound, got: wrong by \\S+ bounds)\n", out), (name, code, out, err)
        assert "REFUTED: bits/leads" not in out, out
    check_held(guest, "honest", "fresh_process", *few[:2])
    # By what stands in its process's environment; what the test's own has is left as it is, but for CI and DEBUG.
    for name, variable in (("by_ci", ""), ("by_debug", ""), ("by_omp", "OMP_NUM_THREADS"), ("by_bind", "OMP_PROC_BIND"), ("by_mkl", "MKL_CBWR"), ("by_home", ""), ("by_folder", "")):
        if variable not in os.environ:
            check_refuted(guest, name, "fresh_process", "a new process gave results of hash", *few[:2])
    check_held(guest, "name_x*", "fresh_process", *few[:2])  # six hundred letters


def check_processors(guest):
    check_held(guest, "pins", "stays_in_bounds", "--fixtures", "normal/f32/sum/3x1000/*,normal/f32/sum/17x257/*")
    few = ("--fixtures", "normal/f32/sum/3x1000/*,normal/f32/sum/17x257/*")
    if len(os.sched_getaffinity(0)) > 1:
        check_refuted(guest, "by_processors", "launch_invariant", "different bits with 1 thread", *few)
    for subject in ("by_online", "by_configured", "by_nprocs", "by_three_processors", "by_file_of_system", "by_cpuinfo"):
        check_refuted(guest, subject, "launch_invariant", "different bits with ", *few)
    for claim in ("launch_invariant", "leaves_no_trace"):
        check_held(guest, "honest", claim, *few)
        check_held(guest, "pins_threads", claim, *few)
    check_refuted(guest, "by_blas_threads", "launch_invariant", "different bits in a new process with OMP_NUM_THREADS, OPENBLAS_NUM_THREADS and MKL_NUM_THREADS = 4", *few)
    check_refuted(guest, "by_caller", "run_to_run", "different bits in a repeat that a second thread of the process called", *few)
    check_held(guest, "honest", "run_to_run", *few)


def check_numbers_of_threads(guest, folder):
    """One thread is compared with others whatever the input; over a run each number is tried; the verdict says which."""
    cases = ("--fixtures", "normal/f32/sum/*")
    code, out, err = verify("--guest", guest, "--subjects", "bits/honest", "--claims", "launch_invariant", *cases)
    assert code == 0 and "threads tried: 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 24, 32; " in out, (code, out, err)
    for subject in ("with_9_to_15", "with_5", "over_16"):
        check_refuted(guest, subject, "launch_invariant", "different bits with ", *cases)
    for seed in range(1, 7):
        array, page = str(folder / f"long{seed}.npy"), folder / f"long{seed}.jsonl"
        subprocess.run([FOLDPROOF, "gen", "normal", "-n", "100000", "--seed", str(seed), "-o", array], check=True)
        check_refuted(guest, "halves_of_several", "launch_invariant", "different bits with 1 thread", "--npy", array)
        code, out, err = verify("--guest", guest, "--subjects", "bits/honest", "--claims", "launch_invariant", "--npy", array, "--jsonl", str(page))
        tried = [json.loads(line).get("threads_tried") for line in page.read_text().splitlines() if '"judgement"' in line]
        assert code == 0 and len(tried) == 1 and 1 in tried[0] and max(tried[0]) >= 16, (tried, code, out, err)


def check_bad_twins(folder):
    """Who varies or dies is named, and not who promises its bits."""
    liars = str(build(folder, "liars", GUESTS / "liars.c"))
    for twin, word in (("liar/keeps_state", "its reference liar/keeps_state gives different bits in a repeat"),
                       ("liar/crashes", "its reference liar/crashes ran, and the process that it ran in was killed by signal 11")):
        code, out, err = verify("--guest", liars, "--subjects", "liar/honest", "--same-bits-as", twin, "--claims", "same_bits_as",
                                "--fixtures", "normal/f32/sum/*x1000/*,normal/f32/sum/17x257/*")
        assert code == 99 and word in out and "REFUTED" not in out, (twin, code, out, err)


def main():
    with tempfile.TemporaryDirectory(prefix="foldproof-claims-") as folder:
        os.environ.update(TMPDIR=folder)
        guest = str(build(pathlib.Path(folder), "bits", GUESTS / "bits.c", options=["-Wall", "-Wextra", "-Werror"]))
        check_batches(guest)
        check_sizes(guest)
        check_offsets(guest)
        check_sides(guest)
        check_address(guest, pathlib.Path(folder))
        check_selection(guest)
        check_new_processes(guest)
        check_sequence(guest)
        check_processors(guest)
        check_numbers_of_threads(guest, pathlib.Path(folder))
        check_shapes(guest)
        check_functions(pathlib.Path(folder))
        check_twins(pathlib.Path(folder))
        # A crash is to be one, in a build with sanitizers too.
        os.environ["ASAN_OPTIONS"] = os.environ.get("ASAN_OPTIONS", "") + ":handle_segv=0:detect_leaks=0"
        check_bad_twins(pathlib.Path(folder))
        check_repeats(pathlib.Path(folder))
    print("guests: each is refuted by the claim that it breaks")


main()
