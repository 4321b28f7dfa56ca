"""foldproof reveal --map over MPI: collectives whose trees over ranks are known, and some that have none. Arguments: the command over
these (played_maps.c), the command."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
from expect import expect, finish  # noqa: E402

PLAYED, FOLDPROOF = sys.argv[1:3]
os.environ.setdefault("OMPI_ALLOW_RUN_AS_ROOT", "1")
os.environ.setdefault("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")


def run(*words, program=PLAYED, code=0):
    done = subprocess.run([program, "reveal", *map(str, words)], capture_output=True, text=True, timeout=300)
    expect(done.returncode == code, f"{words}: exit {done.returncode}, not {code}: {done.stderr}")
    return done


def maps(subject, lengths, *words, ranks=5, code=0, program=PLAYED):
    name = subject if "/" in subject else "played/" + subject
    done = run(name, "--engine", "mpi", "--map", lengths, "--ranks", ranks, "--format", "json", *words, program=program, code=code)
    return json.loads(done.stdout) if done.stdout else []


def subtrees(joins, n):
    """A tree as the set of what lies below each of its joins."""
    below = [frozenset([rank]) for rank in range(n)]
    for join in joins:
        below.append(frozenset().union(*(below[k] for k in join)))
    return frozenset(below[n:])


def chain(ranks):
    return frozenset(frozenset(ranks[: k + 1]) for k in range(1, len(ranks)))


def tree_at(one, element):
    return next(one["trees"][tree] for first, last, tree in one["ranges"] if first <= element <= last)


def expect_whole(one, text, all_judged=True):
    expect(one["holds"] and one["tested"] == one["as_predicted"] > 0, f"{text}: {one}")
    judged = one["tested"] / (one["messages"] * one["n"])
    expect(judged == 1 if all_judged else 0.7 < judged < 1, f"{text}: {judged} of the elements were judged")
    edges = [edge for first, last, _ in one["ranges"] for edge in (first, last + 1)]
    expect(edges[0] == 0 and edges[-1] == one["n"] and edges[1:-1:2] == edges[2::2], f"{text}: runs with gaps: {one['ranges']}")


# The project's own is what it declares, for every element; and so is one in turn; where there is no order, none is printed.
for one in maps("canonical", "1,33,5000", ranks=6):
    expect_whole(one, "canonical")
    expect([t["declared"] for t in one["trees"]] == [True] and len(one["ranges"]) == 1, f"canonical: {one['trees']}")
one = maps("in_turn", 300, "--dtype", "bf16")[0]
expect_whole(one, "sequentially")
expect([(t["name"], t["declared"], t["accumulator"]) for t in one["trees"]] == [("ranks sequentially, from 0 up", True, "bf16")], one["trees"])
expect(one["compared_elements"] >= one["telling_elements"] > one["compared_elements"] / 8, f"the data tell too little: {one}")
one = maps("exact", 200)[0]
expect_whole(one, "exact", all_judged=False)
expect([t["kind"] for t in one["trees"]] == ["no order: exact"], one["trees"])

# The last three elements are another tree's; which the report tells by name.
one, tiny = maps("other_tail", "1000,2", ranks=4)
expect_whole(one, "another tail")
expect([run[:2] for run in one["ranges"]] == [[0, 996], [997, 999]], f"another tail: {one['ranges']}")
expect([(t["name"], t["declared"]) for t in one["trees"]] == [("ranks sequentially, from 0 up", True), ("ring from rank 2 up", False)],
       f"another tail: {one['trees']}")
expect([t["name"] for t in tiny["trees"]] == ["ring from rank 2 up"], f"another tail: {tiny['trees']}")


# Sixty random trees, in blocks of five elements.
def mix(x):
    mask = (1 << 64) - 1
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & mask
    x = (x ^ x >> 27) * 0x94D049BB133111EB & mask
    return x ^ x >> 31


def random_tree(block, ranks):
    left, found = [frozenset([rank]) for rank in range(ranks)], set()
    step = 0
    while len(left) > 1:
        dice = mix(block * 1000 + step + 1)
        n, a = len(left), dice % len(left)
        b = (a + 1 + (dice >> 32) % (n - 1)) % n
        left[a] = left[a] | left[b]
        found.add(left[a])
        left[b] = left[-1]
        left.pop()
        step += 1
    return frozenset(found)


one = maps("random_trees", 300, ranks=6)[0]
expect_whole(one, "random trees")
expect(len(one["trees"]) > 40, f"random trees: {len(one['trees'])} only")
for element in range(300):
    expect(subtrees(tree_at(one, element)["tree"], 6) == random_tree(element // 5, 6), f"random trees: element {element}")

# Several ranks at once; two exact adders in a row, which take questions beyond pairs.
one = maps("three_at_once", 64)[0]
expect_whole(one, "three at once", all_judged=False)
expect(subtrees(one["trees"][0]["tree"], 5) == {frozenset(range(3)), frozenset(range(4)), frozenset(range(5))}, one["trees"])
expect(one["trees"][0]["fusing"] == "their exact sum rounded once", one["trees"])
one = maps("three_and_three", 64)[0]
expect_whole(one, "three and three", all_judged=False)
expect(subtrees(one["trees"][0]["tree"], 5) == {frozenset(range(3)), frozenset(range(5))}, one["trees"])

# A wider accumulator than is declared.
one = maps("wide", 400, "--dtype", "f16")[0]
expect_whole(one, "wide")
expect([t["accumulator"] for t in one["trees"]] == ["f32"], f"wide: {one['trees']}")

# Terms of 16 bits in an accumulator of 32: orders show where pairs of larger terms cancel.
for dtype in "f16", "bf16":
    for ranks in 3, 4, 5:
        one = maps("collective/canonical", 1000, "--dtype", dtype, program=FOLDPROOF, ranks=ranks)[0]
        expect_whole(one, f"canonical {dtype}")
        told = (one["telling_elements"], one["compared_elements"], one["trees"][0]["untold_elements"])
        expect(told[0] > told[1] / 16 and told[2] < 100, f"the data of {dtype} tell {ranks} ranks' order too rarely: {told}")

# verify's claim `tree`: each element of a message has the declared order over ranks. Who declares none is not asked.
def verified(names, program=PLAYED, **wanted):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tree.jsonl"
        subprocess.run([program, "verify", "--engine", "mpi", "--subjects", names, "--claims", "tree", "--probe", "--fixtures", "tree/f32/sum/9x3/*",
                        "--ranks", "3", "--jsonl", path], capture_output=True, text=True, timeout=300)
        records = [json.loads(line) for line in path.read_text().splitlines()]
    got = {r["subject"].split("/")[1]: (r["verdict"], r.get("reason", "")) for r in records if r["type"] == "judgement"}
    for name, (verdict, why) in wanted.items():
        expect(name in got and got[name][0] == verdict and why in got[name][1], f"tree of {name}: {got.get(name)}")


verified("played/canonical,played/keeps_results,played/other_tail,played/flushes,played/wide", canonical=("held", ""), other_tail=("refuted", "not the tree of host/sequential"),
         flushes=("refuted", "depends on values"), wide=("skipped", "it declares no order"))
verified("mpi/allreduce,collective/canonical", program=FOLDPROOF, canonical=("held", ""), allreduce=("skipped", "it declares no order"))

# What has no tree is not printed as one; what has one is printed beside it.
for subject, element, kind, why in (
    ("varies", 3, "varies from run to run", ""),
    ("by_value", 9, "depends on values", "random elements have different bits"),
    ("rank_3_lies", 99, "differs by rank", "rank 3 has different bits than rank 0, first in element 99"),
    ("rank_3_by_value", 2, "differs by rank", "differ between ranks, first element 2"),
    ("loses_rank_1", 0, "no tree", "of the equal terms of 5 ranks 4 are in the sum (element 0)"),
    ("unwritten", 0, "no tree", "rank 2 left element 0 unwritten"),
):
    for one in maps(subject, 100, code=1):
        bad = tree_at(one, element)
        expect(not one["holds"] and bad["kind"] == kind and why in bad["why"] and "tree" not in bad, f"{subject}: {bad}")
        if subject in ("varies", "rank_3_lies"):  # probes show which element it is
            good = tree_at(one, 50)
            expect(good["kind"] == "tree" and good["as_predicted"] == good["tested"] > 0, f"{subject}: {good}")
            expect(bad["elements"] == 1, f"{subject}: {bad}")

# What ordinary data lack: zeros, sums that overflow, subnormal numbers; a message of one element meets them too.
for subject, dtypes in ("zero_is_42", "f32"), ("from_zero", "f32"), ("infinite_is_1", "f32 bf16"), ("flushes", "f32 f64"):
    for dtype in dtypes.split():
        for one in maps(subject, "1,100", "--dtype", dtype, code=1):
            expect(not one["holds"] and {t["kind"] for t in one["trees"]} == {"depends on values"}, f"{subject} {dtype}: {one['trees']}")

# One element of a long message, of a quarter of its values. The output says how often each element was tried so that its order shows.
one = maps("rarely", 10000, code=1)[0]
expect("first element 7001" in one["trees"][0]["why"], f"rarely: {one['trees']}")
# Threads share the elements of a message, and the counts do not depend on them.
os.environ["OMP_NUM_THREADS"] = "1" if len(os.sched_getaffinity(0)) > 1 else "3"
other = maps("rarely", 10000, code=1)[0]
del os.environ["OMP_NUM_THREADS"]
expect({**other, "seconds": 0} == {**one, "seconds": 0}, f"rarely, by other threads: {other}")
two = maps("in_turn", 40, ranks=2)[0]["trees"][0]
expect(two["untold_elements"] == 40 and two["telling"] == two["told_most"] == 0, f"two ranks: {two}")
few = maps("in_turn", "1000,3000", ranks=3)
expect(all(one["compared_elements"] == one["messages"] * one["n"] for one in few), few)
for one in few:
    tree = one["trees"][0]
    expect(tree["telling"] == one["telling_elements"] and 0 <= tree["told_least"] < tree["told_most"] <= one["messages"], tree)
    expect((tree["untold_elements"] > 0) == (tree["told_least"] == 0), tree)

# A repeat of the same message does not show results that are kept of the call before.
for one in maps("keeps_results", "1,100", code=1):
    expect(not one["holds"] and {t["kind"] for t in one["trees"]} == {"varies from run to run"}, f"kept results: {one['trees']}")

# Ranks that are gone, or wait, end the command within its limit, and it prints nothing of them.
for subject, words, text in ("rank_dies", (), "rank 1"), ("rank_hangs", ("--timeout", 2), "rank 1"):
    done = run("played/" + subject, "--map", 50, "--ranks", 3, *words, code=99)
    expect(text in done.stderr and "tested" not in done.stdout, f"{subject}: {done.stdout} {done.stderr}")

# The library itself, by its settings; the text, and records.
with tempfile.TemporaryDirectory() as folder:
    records = Path(folder) / "maps.jsonl"
    text = run("mpi/allreduce", "--map", "4,4096", "--ranks", 4, "--settings", "recursive doubling,ring", "--jsonl", records,
               program=FOLDPROOF).stdout
    lines = [json.loads(line) for line in records.read_text().splitlines()]
found = [line for line in lines if line["type"] == "map"]
expect([(m["setting"], m["n"]) for m in found] == [(s, n) for s in ("recursive doubling", "ring") for n in (4, 4096)], found)
expect(all(m["holds"] for m in found) and lines[0]["type"] == "environment" and lines[-1]["type"] == "end", found)
if found and found[0]["library"].startswith("Open MPI v4.1."):
    expect("\nring, 4096 elements: 4 trees in 4 runs\n  0..1023 " in text and "98304 of 98304 elements of 24 random messages" in text, text)
    expect([t["name"] for t in found[3]["trees"]] == ["ranks sequentially, from 0 up"] + [f"ring from rank {k} up" for k in (1, 2, 3)],
           found[3]["trees"])
    expect([t["name"] for t in found[1]["trees"]] == ["recursive doubling"], found[1]["trees"])

# What cannot be asked.
run("mpi/allreduce", "--map", "4", "-n", 5, program=FOLDPROOF, code=2)
run("mpi/allreduce", "--map", "0", program=FOLDPROOF, code=2)
run("mpi/allreduce", "--settings", "ring", program=FOLDPROOF, code=2)
expect("has none" in run("rows/par_16", "--map", "4", program=FOLDPROOF, code=2).stderr, "a map over no ranks")
expect("no setting" in run("mpi/allreduce", "--map", "4", "--settings", "rung", program=FOLDPROOF, code=2).stderr, "a setting that no library has")

finish("maps:")
