#!/usr/bin/env python3
"""docs/measured.md from its text, ci/measured/measured.md.in, and the records beside it.

docs_measured.py SOURCE_FOLDER: prints the page. ci/docs.sh puts it in its place. In the text a line "@NAME@" stands for the table of
that name here, "@NAME:ARGUMENT@" within a line for a figure. Below each table stands what it was recorded with.
"""
import configparser
import functools
import gzip
import json
import pathlib
import re
import sys

MEASURED = pathlib.Path(sys.argv[1]) / "ci" / "measured"
DATES = dict(line.split() for line in (MEASURED / "dates.txt").read_text().splitlines() if not line.startswith("#"))
DTYPES = ("f32", "f64", "f16", "bf16")


@functools.cache
def records(path):
    return [json.loads(line) for line in (MEASURED / path).read_text().splitlines()]


def all_of(path, **wanted):
    return [line for line in records(path) if all(line.get(key) == value for key, value in wanted.items())]


def record(path, **wanted):
    """The only record; the table must not depend on which of two it takes."""
    found = all_of(path, **wanted)
    if len(found) != 1:
        sys.exit(f"{path}: {len(found)} records of {wanted}")
    return found[0]


def lines_of(path):
    return (gzip.open if path.endswith(".gz") else open)(MEASURED / path, "rb")


def environment_of(path):
    with lines_of(path) as lines:
        return next(line for line in map(json.loads, lines) if line["type"] == "environment")


def source(*paths):
    """Date, commit and machine of records; for what a command printed only the date."""
    out = []
    for path in paths:
        said = f"`{path}`: {DATES.get(path, 'no date')}"
        if ".jsonl" in path:
            environment = environment_of(path)
            gpus = environment.get("gpus", [])
            machine = f"{len(gpus)} × {gpus[0]['name']}, driver {gpus[0]['driver']}" if gpus else f"{environment['cpu']}, {environment['cores']} cores"
            commit = f"commit `{environment['build']}`" if "build" in environment else "commit not recorded"
            said = f"`{path}`: {environment.get('date', DATES.get(path, 'no date'))}, {commit}, {machine}"
        elif (first := (MEASURED / path).read_text().split("\n", 1)[0]).startswith("# commit "):
            commit, machine, date = first.split(";")[0].removeprefix("# commit ").split(", ")
            said = f"`{path}`: {date}, commit `{commit}`, {machine}, copied from what the command printed"
        else:
            said += ", copied from what the command printed"
        out.append(said)
    return "Recorded in " + "; ".join(out) + "."


def table(head, rows, *paths):
    """The first column is text, the others are figures."""
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
    text = "\n".join("| " + " | ".join(cells) + " |" for cells in lines).replace("|  |", "| |").replace("|  |", "| |")
    return text + "\n\n" + source(*paths)


def us(own, decimals=1):
    return f"{1e6 * own['median_seconds']:.{decimals}f}"


def long_us(own):
    """1188, 103.8: a number with four digits needs no decimal."""
    return us(own, 0 if own["median_seconds"] >= 1e-3 else 1)


def ratio(value):
    """Three decimals near 1, where the third matters."""
    return f"{value:.3f}" if 0.9 <= value < 1.1 else f"{value:.2f}"


# --- verdicts


def count(path):
    """Promised claims by verdict, as their run counted them: a known defect of a peer is no refutation, and neither is any refutation of a peer
    if its record does not say whether it is known. Lines are not parsed into trees, because there are many. The last two: of the held claims
    about order, those on order-insensitive inputs, and all."""
    counts = {"held": 0, "refuted": 0, "skipped": 0, "broken": 0}
    insensitive, by_order = 0, 0
    with lines_of(path) as lines:
        for line in lines:
            if b'"type":"judgement"' not in line or b'"promised":true' not in line:
                continue
            verdict, cases = re.search(rb'"verdict":"(\w+)"', line)[1].decode(), re.search(rb'"cases":(\d+)', line)
            if verdict == "refuted" and b'"peer":true' in line and b'"known":false' not in line:
                continue
            counts[verdict] += int(cases[1]) if cases else 1
            insensitive += b'"telling":false' in line
            by_order += b'"telling":' in line
    return counts["held"], counts["refuted"], counts["skipped"], insensitive, by_order


def printed_count(path):
    """The same from what verify --quiet printed."""
    text = (MEASURED / path).read_text()
    claims = [list(map(int, row.split())) for row in re.findall(r"^  \w+ +(\d+ +\d+ +\d+ +\d+)$", text, re.M)]
    closing = re.search(r"^(\d+) held, (\d+) refuted, (\d+) skipped$", text, re.M)
    return *map(int, closing.groups()), sum(row[3] for row in claims), sum(row[0] for row in claims)


def verdicts():
    runs = (("h100x2/verify.txt", "one H100 of two, all CUDA subjects, the default fixtures"),
            ("h100x2/nccl.txt", "two H100, collectives over NCCL; most skips are of larger worlds, and on two ranks there is only one tree"),
            ("h200/verify.jsonl.gz", "one H200, all CUDA subjects, the default fixtures; most skips are of products that one of cuBLAS's calls does not take"),
            ("h200x4/verify.jsonl.gz", "four H200, collectives over NCCL; most skips are of worlds of 5 and 8 ranks"))
    rows = []
    for path, machine in runs:
        held, refuted, skipped, insensitive, by_order = printed_count(path) if path.endswith(".txt") else count(path)
        share = f"{insensitive:,} of {by_order:,}" if by_order else "not recorded"
        rows.append([machine, f"{held:,}", share, f"{refuted:,}", f"{skipped:,}"])
    return table(["machine", "held", "about order, and on order-insensitive inputs", "refuted", "skipped"], rows, *(path for path, _ in runs))


def gpu_to_gpu():
    closing = (MEASURED / "h100" / "gpu_to_gpu.txt").read_text()
    held, refuted = map(int, re.search(r"(\d+) held, (\d+) refuted", closing).groups())
    same, differ = map(int, re.search(r"flat/atomic on cuda +(\d+) +(\d+)", closing).groups())
    return table(["subjects", "results compared", "differ"],
                 [["all that claim the same bits on every GPU", f"{held + refuted:,}", str(refuted)],
                  ["`flat/atomic`, which claims nothing", str(same + differ), str(differ)]], "h100/gpu_to_gpu.txt")


# --- in short


def summary():
    one = lambda subject: record("h200/bench.jsonl", subject=subject, dtype="f32", rows=1, cols=10**9, generator="normal")["to_peer"]
    over = record("h200x4/allreduce.jsonl", bytes=2**30, subject="collective/canonical", setting="default")["to_library"]
    return table(["subject", "claims", "input", "relative speed"],
                 [["`flat/canonical`", "one order on every GPU", "10⁹ f32 in one row", f"{one('flat/canonical'):.3f} × CUB"],
                  ["`flat/exact`", "the correctly rounded sum", "10⁹ f32 in one row", f"{one('flat/exact'):.3f} × CUB"],
                  ["`collective/canonical`", "one order over ranks", "an all-reduce of 1 GiB on four GPUs", f"{over:.3f} × NCCL"]],
                 "h200/bench.jsonl", "h200x4/allreduce.jsonl")


# --- one H200


def large(subject):
    return record("h200/bench.jsonl", subject=subject, dtype="f32", rows=65536, cols=16384, generator="normal")


def four(subject):
    return record("h200/determ.jsonl", subject=subject, dtype="f32", rows=4, cols=16384, generator="normal")


def rows_table():
    subjects = ["cub/segmented", "rows/par_256", "rows/par_64", "rows/par_64_determ", "rows/par_16", "rows/par_16_determ", "rows/single_for",
                "rows/single_determ", "rows/multi_block", "rows/exact"]
    rows = [[f"`{name}`", us(large(name)), f"{1e-9 * large(name)['bytes_per_second']:.0f}", f"{large(name)['to_peer']:.3f}", us(four(name), 2),
             f"{four(name)['to_peer']:.3f}"] for name in subjects]
    plain = sorted({line["subject"] for line in records("h200/determ.jsonl") if line.get("subject", "").endswith("@plain")} &
                   {line["subject"] for line in records("h200/bench.jsonl") if line.get("rows") == 65536})

    def span(of, figure, decimals):
        values = [figure(of(name)) for name in plain]
        low, high = f"{min(values):.{decimals}f}", f"{max(values):.{decimals}f}"
        return low if low == high else f"{low} … {high}"

    rows.append(["the original, untuned kernels (`@plain`)", span(large, lambda r: 1e6 * r["median_seconds"], 0),
                 span(large, lambda r: 1e-9 * r["bytes_per_second"], 0), span(large, lambda r: r["to_peer"], 2),
                 span(four, lambda r: 1e6 * r["median_seconds"], 1), span(four, lambda r: r["to_peer"], 2)])
    return table(["rows, f32", "65,536 × 16,384: µs", "GB/s", "× CUB segmented", "4 × 16,384: µs", "× CUB segmented"], rows, "h200/bench.jsonl",
                 "h200/determ.jsonl")


def products():
    """Times of cuBLAS's products, and theirs over those of others in the same run."""
    subjects = ("gemm/canonical", "gemm/exact", "cublas/gemm_16_8")
    rows = []
    for dtype in ("f32", "f64", "bf16"):
        peers = all_of("h200/products.jsonl", subject="cublas/gemm", dtype=dtype, op="matmul")
        for peer in sorted(peers, key=lambda line: line["shape"][1]):
            batches, m, n, k = peer["shape"]
            cells = [f"{dtype}, {m:,} × {n:,} × {k:,}", long_us(peer)]
            for subject in subjects:
                own = all_of("h200/products.jsonl", subject=subject, dtype=dtype, op="matmul", shape=peer["shape"])
                cells.append(ratio(peer["median_seconds"] / own[0]["median_seconds"]) if own else "–")
            rows.append(cells)
    return table(["m × n × k", "cuBLAS, µs", *(f"`{subject}`" for subject in subjects)], rows, "h200/products.jsonl")


def order_costs():
    pairs = (("rows/par_16_determ", "rows/par_16"), ("rows/par_64_determ", "rows/par_64"), ("rows/single_determ", "rows/single_for"))
    rows = [[f"`{fixed}` over `{plain}`", f"{large(fixed)['median_seconds'] / large(plain)['median_seconds']:.3f}",
             f"{four(fixed)['median_seconds'] / four(plain)['median_seconds']:.2f}"] for fixed, plain in pairs]
    return table(["time with a fixed order over time without", "65,536 × 16,384 f32", "4 × 16,384 f32"], rows, "h200/bench.jsonl", "h200/determ.jsonl")


def flat(machine="h200"):
    sizes = {"10⁴": 10**4, "10⁵": 10**5, "10⁶": 10**6, "10⁸": 10**8, "10⁹": 10**9, "2³²": 2**32}
    rows = []
    for subject, dtypes, generator in (("flat/canonical", DTYPES, "normal"), ("flat/shuffle", ("f32",), "normal"), ("flat/exact", DTYPES, "normal"),
                                       ("flat/exact", DTYPES, "full_range")):
        for dtype in dtypes:
            cells = []
            for n in sizes.values():
                path = f"{machine}/small.jsonl" if n <= 10**6 else f"{machine}/bench.jsonl"
                found = all_of(path, subject=subject, dtype=dtype, rows=1, cols=n, generator=generator)
                cells.append((f"{found[0]['to_peer']:.2f}" if n <= 10**6 else f"{found[0]['to_peer']:.3f}") if len(found) == 1 else "–")
            rows.append([f"`{subject}` {dtype}{', full exponent range' if generator == 'full_range' else ''}", *cells])
    return table(["one row, normal data, × `cub/reduce`", *sizes], rows, f"{machine}/small.jsonl", f"{machine}/bench.jsonl")


def thrust():
    sizes = {"10³": 10**3, "10⁴": 10**4, "10⁵": 10**5, "10⁶": 10**6, "10⁷": 10**7, "10⁸": 10**8, "5·10⁸": 5 * 10**8}
    rows = []
    for subject, note in (("thrust/reduce", ""), ("flat/shuffle@plain", ", the reference study's original kernel"),
                          ("flat/shuffle", ", a tuned kernel with the same order"), ("flat/canonical", ""), ("flat/exact", "")):
        of = [record("h200/thrust.jsonl", subject=subject, cols=n) for n in sizes.values()]
        rows.append([f"`{subject}`{note}", *(us(own) + (f" ({own['to_peer']:.2f})" if subject != "thrust/reduce" else "") for own in of)])
    return table(["one row, f32: µs (× Thrust)", *sizes], rows, "h200/thrust.jsonl")


def exact_rows(machine="h200"):
    rows = []
    for dtype in DTYPES:
        size = {"f32": 4, "f64": 8, "f16": 2, "bf16": 2}[dtype]
        found = [all_of(f"{machine}/bench.jsonl", subject="rows/exact", dtype=dtype, cols=cols, rows=2**32 // size // cols) for cols in (8, 32, 128, 1024)]
        rows.append([dtype, *(f"{own[0]['of_ceiling']:.2f}" if own else "–" for own in found)])
    return table(["`rows/exact` on 4 GiB of rows, × the plain read, all that is read and written counted", "8 elements", "32", "128", "1,024"], rows,
                 f"{machine}/bench.jsonl")


def numpy():
    host = functools.partial(record, "h100/host.jsonl", type="timing", dtype="f32")
    rows = [[name, *(us(host(subject=subject, threads=threads, cols=n), 0) for n in (10**5, 10**7))] for name, subject, threads in
            (("`numpy.sum`, 1 thread", "numpy/sum", 1), ("`host/numpy`, 1 thread", "host/numpy", 1), ("`host/numpy`, 16 threads", "host/numpy", 16))]
    rows.append(["`flat/shuffle@plain` on the H200", *(us(record("h200/thrust.jsonl", subject="flat/shuffle@plain", cols=n)) for n in (10**5, 10**7))])
    return table(["f32 sum: µs", "10⁵", "10⁷"], rows, "h100/host.jsonl", "h200/thrust.jsonl")


# --- four H200

LENGTHS = {"1 KiB": 2**10, "64 KiB": 2**16, "1 MiB": 2**20, "16 MiB": 2**24, "256 MiB": 2**28, "1 GiB": 2**30}


def allreduces():
    rows = []
    for length, n_bytes in LENGTHS.items():
        of = functools.partial(record, "h200x4/allreduce.jsonl", bytes=n_bytes)
        library, own = of(subject="nccl/allreduce", setting="default"), of(subject="collective/canonical", setting="default")
        ring, tree = (of(subject="nccl/allreduce", setting=setting) for setting in ("ring", "tree"))
        bus = [f"{1e-9 * line['bus_bytes_per_second']:.1f}" if n_bytes > 2**10 else "" for line in (library, own)]
        rows.append([length, long_us(library), bus[0], long_us(ring), long_us(tree), long_us(own), bus[1], ratio(own["to_library"])])
    return table(["all-reduce, f32", "`nccl/allreduce`: µs", "GB/s", "ring: µs", "tree: µs", "`collective/canonical`: µs", "GB/s", "× NCCL"], rows,
                 "h200x4/allreduce.jsonl")


SUMS = (("nccl/sum", " (CUB, one-element all-reduce)"), ("collective/exact", ""), ("collective/canonical_sum", ""))


def sums():
    rows = []
    for name, note in SUMS:
        of = functools.partial(record, "h200x4/scaling.jsonl", subject=name, mode="strong")
        one, two, all_four = (of(n=4 * 10**9, workers=ranks) for ranks in (1, 2, 4))
        rows.append([f"`{name}`{note}", us(one, 0), us(two, 0), us(all_four, 0), f"{all_four['speed_up']:.2f}", f"{1e6 * all_four['calls_median_seconds']:.1f}",
                     f"{all_four['to_library']:.3f}", f"{of(n=10**8, workers=4)['speed_up']:.2f}"])
    return table(["sharded sum, f32, normal", "4·10⁹ on 1: µs", "2", "4", "speed-up on 4", "its calls alone: µs", "× `nccl/sum` on 4", "10⁸ on 4: speed-up"],
                 rows, "h200x4/scaling.jsonl")


def processes():
    lengths = ("1 KiB", "1 MiB", "256 MiB", "1 GiB")
    cells = [ratio(record("h200x4/processes.jsonl", type="allreduce", subject="collective/canonical", setting="default", bytes=LENGTHS[length])["to_library"])
             for length in lengths]
    return table(["processes: `collective/canonical`, × NCCL's speed", *lengths], [["all-reduce, f32", *cells]], "h200x4/processes.jsonl")


def processes_sums():
    rows = [[f"`{name}`", f"{record('h200x4/processes.jsonl', subject=name, mode='strong', n=4 * 10**9, workers=4)['speed_up']:.2f}"] for name, _ in SUMS]
    return table(["processes: sum of 4·10⁹", "speed-up on 4"], rows, "h200x4/processes.jsonl")


# --- figures within the text


def unaligned(dtype):
    of = [line["to_peer"] for line in all_of("h200/unaligned.jsonl", dtype=dtype)
          if re.fullmatch(r"rows/(single|par_16).*", line["subject"]) and "@" not in line["subject"]]
    return f"{min(of):.2f} to {max(of):.2f}"


def profile():
    """Of the longest kernel of each subject."""
    kernels = {}
    for line in re.findall(r"^\S+/\S+ .*x .*$", (MEASURED / "h200" / "profile.txt").read_text(), re.M):
        cells = line.split()
        subject, shape, us, dram, warps = cells[0], cells[1], *map(float, (cells[3], cells[5], cells[7]))
        kernels[subject, shape] = max(kernels.get((subject, shape), (0, 0, 0)), (us, dram, warps))

    def row(label, wanted):
        own = [figures for (subject, _), figures in kernels.items() if re.fullmatch(wanted, subject)]
        return [label, *(f"{min(figures):.0f}% to {max(figures):.0f}%" for figures in list(zip(*own))[1:])]

    return table(["kernels", "share of the DRAM's peak bandwidth", "active warps, of those that a multiprocessor holds"],
                 [row("our tuned kernels", r"(rows|flat)/(?!atomic)[^@]*"), row("CUB's kernels", "cub/.*"), row("`rows/…@plain`", "rows/.*@plain")],
                 "h200/profile.txt")


def span(what):
    """The least and the greatest figure that a pattern finds in a text, one if they are equal: FILE DECIMALS PATTERN."""
    path, decimals, pattern = what.split(" ", 2)
    of = [float(value) for value in re.findall(pattern, (MEASURED / path).read_text(), re.M)]
    low, high = f"{min(of):.{decimals}f}", f"{max(of):.{decimals}f}"
    return low if low == high else f"{low} to {high}"


def studied(path):
    with lines_of(path) as lines:
        found = sum(b'"type":"study"' in line for line in lines)
    return f"{found:,}"


def messages(setting):
    """How fast collective/canonical is from 1 MiB on, where Open MPI's ranks share memory (1) or do not (0)."""
    runs = re.split(r"^\$ ", (MEASURED / "host" / "allreduce-mpi.txt").read_text(), flags=re.M)
    own = [float(value) for run in runs if run.startswith(f"FOLDPROOF_PEER={setting} ")
           for value in re.findall(r"^\d+ MiB +collective/canonical +(?:[\d.]+ +){5}([\d.]+)", run, re.M)]
    return f"{min(own):.2f} to {max(own):.2f}"


def ceiling(shape, machine="h200"):
    """The plain read's speed at that shape."""
    rows, cols = map(int, shape.split("x"))
    own = record(f"{machine}/bench.jsonl", subject="cub/reduce" if rows == 1 else "cub/segmented", dtype="f32", rows=rows, cols=cols, generator="normal")
    return f"{1e-9 * own['ceiling_bytes_per_second']:.0f}"


def worst_cases(machine="host"):
    """(case, subject, its error as a part of the bound) of each fixture that `hunt --worst` wrote."""
    kept = configparser.ConfigParser(interpolation=None)
    kept.read(MEASURED / machine / "worst.ini")
    return [(case, case["about"].split()[0], re.search(r"([\d.]+) of the bound", case["provenance"])[1]) for case in map(kept.__getitem__, kept.sections())]


def worst(machine="host"):
    """For each subject the greatest error that `hunt --worst` found; subjects with the same one share a line."""
    subjects = {}
    for case, subject, share in worst_cases(machine):
        subjects.setdefault((share, case["op"], case["dtype"], case.get("cols") or case["k"]), []).append(f"`{subject}`")
    rows = [[", ".join(names), *error] for error, names in subjects.items()]
    return table(["subject", "error over bound", "of a", "dtype", "terms"], sorted(rows, key=lambda row: -float(row[1])), f"{machine}/worst.ini")


TABLES = {"verdicts": verdicts, "summary": summary, "profile": profile, "gpu_to_gpu": gpu_to_gpu, "rows": rows_table, "order_costs": order_costs, "products": products, "flat": flat, "thrust": thrust,
          "exact_rows": exact_rows, "flat_h100": functools.partial(flat, "h100"), "exact_rows_h100": functools.partial(exact_rows, "h100"), "numpy": numpy, "allreduces": allreduces, "sums": sums, "processes": processes, "processes_sums": processes_sums, "worst": worst, "worst_h200": functools.partial(worst, "h200")}
FIGURES = {"unaligned": unaligned, "span": span, "studied": studied, "messages": messages, "ceiling": ceiling, "ceiling_h100": functools.partial(ceiling, machine="h100")}


def expand(text, tables, figures):
    text = re.sub(r"^@(\w+)@$", lambda match: tables[match[1]](), text, flags=re.M)
    return re.sub(r"@(\w+):([^@\n]+)@", lambda match: figures[match[1]](match[2]), text)


if __name__ == "__main__":
    sys.stdout.write(expand((MEASURED / "measured.md.in").read_text(), TABLES, FIGURES))
