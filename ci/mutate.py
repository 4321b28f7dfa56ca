#!/usr/bin/env python3
"""Changes one line, builds what depends on it, runs the suites, and lists the changes that every suite passes: those that no test checks.

    ci/mutate.py [--count 40] [--seed N] [--paths P ...] [--at FILE:LINE] [--again OUTPUT] [--jobs N [--cpus-each N]] [--most PERCENT] [--recheck] [--list]

Works in copies of the tree, each with a host-only build of its own. Of each change the suites run until the first is red: those that
the file is nearest to come first, then the shorter ones; one whose programs are as they were is left out. A suite that takes ten times what it took without a change hangs, and has
seen it. A change that leaves the compiled object as it was, does not compile without a warning, or is of a file that this build leaves out, is drawn again.
A comment behind a line, "unseen: <", says that a change which puts "<" there alters no result: it counts as equivalent, and no suite is
run but with --recheck, which lists those that are seen nevertheless. Exit code: 0; 1 where more than --most percent survive without
such a comment; 2 for wrong usage; 99 where the suites are red without a change, or where a signal cut it off: what was judged by then
is summed up.
"""
import argparse
import collections
import hashlib
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

from mutations import changes_of, is_tagged
from sessions import in_parallel, run

PATHS = ["oracles", "src/judge", "src/engine", "src/rig", "kernels/host"]
# The suites that probably notice a change of such a file first.
NEAREST = [
    ("oracles/super_dot", "dot exact"), ("oracles/exact_dot", "dot exact"), ("oracles/super", "super super_split super_round exact bound judge"), ("oracles/exact", "exact super memory judge"),
    ("oracles/error", "exact judge outcomes"),
    ("oracles/bound", "outcomes bound judge study"), ("oracles/running_product", "outcomes judge"),
    ("oracles/lowest", "outcomes exact judge"), ("oracles/replay_method", "host mutants"), ("oracles/replay", "orders dot memory host"), ("oracles/prod", "product oracle_mutants judge"),
    ("oracles/order", "orders host judge bound"), ("oracles/panel", "telling"), ("oracles/sorted", "orders memory telling"), ("oracles/decimal", "fixtures npy"), ("oracles/", "oracle_mutants exact bound judge"),
    ("kernels/host/terms", "host bench_host"), ("kernels/host", "host orders judge"), ("kernels/collective", "collective mutants"), ("src/judge/registry", "registry"), ("src/judge/sweep", "judge guest_claims guests"), ("src/judge/reveal_subject", "reveal reveal_command"), ("src/judge/order_change", "judge order_changes"), ("src/judge/side_rows", "judge order_changes"),
    ("src/judge", "judge memory device rig_world mutants rig command"),
    ("src/rig/world", "rig_world mutants"), ("src/engine/cuda", "engine_cuda cuda_driver"), ("src/engine/opencl", "opencl"), ("src/engine", "rig device"), ("src/rig", "rig device judge mutants"), ("src/run", "judge command mutants"),
    ("src/command", "command report"), ("src/records", "report command"), ("src/report", "report"), ("src/bench", "bench_figures bench"),
    ("src/guest", "guests guest_claims python"), ("src/reveal", "reveal reveal_command"), ("src/golden", "golden"),
    ("fixtures/gen", "generators fixtures"), ("fixtures/", "fixtures npy generators"), ("library", "library"),
]
Mutation = collections.namedtuple("Mutation", "path line before after tagged")
Suite = collections.namedtuple("Suite", "name command env folder targets")


def nearest(path):
    return next((names.split() for prefix, names in NEAREST if path.startswith(prefix)), [])


def refuse(text):
    print(f"mutate.py: {text}", file=sys.stderr)
    raise SystemExit(2)


def find_files(root, paths):
    """C files of the tree under each path: a folder, a file, or a glob."""
    found = set()
    for path in paths:
        hits = [root / path] if (root / path).exists() else list(root.glob(path))
        if not hits:
            refuse(f"no such path: {path}")
        for hit in hits:
            found.update((f for end in ("*.c", "*.inc") for f in hit.rglob(end)) if hit.is_dir() else [hit] if hit.suffix in (".c", ".h", ".inc") else [])
    return sorted(found)


def find_mutations(root, paths, at):
    every = []
    for file in find_files(root, [place.split(":")[0] for place in at] or paths):
        name = str(file.relative_to(root))
        lines = {int(n) for place in at for n in place.split(":")[1:] if place.split(":")[0] == name}
        text = file.read_text()
        split = text.split("\n")
        every.extend(Mutation(name, line, before, after, is_tagged(split, line, after)) for line, before, after in changes_of(text)
                     if not lines or line in lines)
    return every


def find_again(root, output):
    """The changes in a former run's output that are listed in full: its survivors."""
    told = set(re.findall(r"^[ \d]*(\S+):\d+(?:: SURVIVED)?\n +- (.*)\n +\+ (.*)$", output.read_text(), re.M))
    for path, before, _ in sorted(told):
        if not (root / path).exists() or before not in map(str.strip, (root / path).read_text().splitlines()):
            print(f"no such line any more: {path}: {before}")
    every = find_mutations(root, sorted({path for path, _, _ in told if (root / path).exists()}), [])
    return [m for m in every if (m.path, m.before.strip(), m.after.strip()) in told]


def draw(every, rng):
    """All changes in a sequence in which no line comes again before each line came once."""
    by_line = collections.defaultdict(list)
    for mutation in every:
        by_line[mutation.path, mutation.line].append(mutation)
    for same in by_line.values():
        rng.shuffle(same)
    lines = sorted(by_line)
    while lines:
        rng.shuffle(lines)
        for line in lines:
            yield by_line[line].pop()
        lines = [line for line in sorted(lines) if by_line[line]]


def read_setup(root):
    """The environment that `meson test` gives to every suite."""
    build = root / "tests" / "meson.build"
    setup = re.search(r"^add_test_setup\((.*?)\)$", build.read_text(), re.M | re.S) if build.exists() else None
    return dict(re.findall(r"'(\w+)': '([^']*)'", setup[1])) if setup else {}


class Bench:
    """A copy of the tree and its build."""

    def __init__(self, root, room, options):
        self.tree, self.build, self.objects = room / "tree", room / "build", {}
        self.ninja = ["ninja", "-C", str(self.build), *([f"-j{options.cpus_each}"] if options.cpus_each else [])]
        files = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=root, capture_output=True)
        names = files.stdout.decode().split("\0") if files.returncode == 0 else [
            str(p.relative_to(root)) for p in root.rglob("*") if p.is_file()]
        for name in filter(None, names):
            if (root / name).is_file():
                (self.tree / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(root / name, self.tree / name)
        setup = ["meson", "setup", str(self.build), str(self.tree), "-Ddebug=false", "-Doptimization=2", "-Dwerror=true"] + options.define
        output, code = run(setup, None)
        if code == 0:
            self.suites, self.limit = self.read_suites(options), {}
            needed = {target for suite in self.suites.values() for target in suite.targets}
            output, code = run([*self.ninja, *sorted(needed)], None)
        if code != 0:
            sys.stdout.write(output.decode(errors="replace")[-3000:])
            raise SystemExit(99)

    def read_suites(self, options):
        """The chosen suites, and what must be built for each."""
        info = self.build / "meson-info"
        targets = {t["id"]: t["filename"] for t in json.loads((info / "intro-targets.json").read_text())}
        wanted, suites, self.tests, setup = re.split(r"[ ,]+", options.suites), {}, set(), read_setup(self.tree)
        for test in json.loads((info / "intro-tests.json").read_text()):
            name = test["name"]
            self.tests.add(name)
            if name not in wanted and wanted != ["all"]:
                continue
            command = test["cmd"] + (["--fail-fast"] if "--tap=-" in test["cmd"] else [])
            needs = [os.path.relpath(f, self.build) for d in test["depends"] for f in targets.get(d, [])]
            suites[name] = Suite(name, command, dict(os.environ, **setup, **test["env"]), test["workdir"], needs)
        if wanted != ["all"] and set(wanted) - set(suites):
            refuse(f"no such suites: {' '.join(sorted(set(wanted) - set(suites)))}")
        return suites

    def run_suite(self, suite, limit):
        return run(suite.command, limit, env=suite.env, cwd=suite.folder or self.build)

    def time_suite(self, suite):
        """The seconds that each suite takes without a change."""
        start = time.monotonic()
        output, code = self.run_suite(suite, None)
        if code not in (0, 77):
            print(f"without a change {suite.name} is red: {code}\n{output.decode(errors='replace')[-3000:]}")
            raise SystemExit(99)
        return time.monotonic() - start

    def take_times(self, took, options):
        """Shorter suites come first."""
        self.limit = {name: max(options.limit, 10 * t) for name, t in took.items()}
        self.clean = {name: self.programs_hash(suite) for name, suite in self.suites.items()}
        self.suites = {name: self.suites[name] for name in sorted(took, key=took.get)}

    def leaves_out(self, path):
        """Whether the change does not compile; or it compiles, and no suite of this build runs it."""
        near = nearest(path)
        return (path.endswith(".c") and not self.clean_object(path)[0]) or (near and not self.tests.intersection(near))

    def order(self, path):
        near = nearest(path)
        return [n for n in near if n in self.suites] + [n for n in self.suites if n not in near]

    def object_hash(self, path):
        """A hash of the object that the file is compiled to; None if there is not just one object (a header)."""
        suffix = path.replace("/", "_") + ".o"
        found = [f for f in self.build.rglob("*.o") if f.name == suffix or str(f).endswith("/" + path + ".o")]
        return {str(f): hashlib.sha256(f.read_bytes()).digest() for f in found} or None

    def files_of(self, suite):
        """The files of the build that a suite runs: programs, and the libraries that these load."""
        programs = {self.build / target for target in suite.targets} | {pathlib.Path(word) for word in suite.command}
        programs = {p for p in programs if p.is_relative_to(self.build) and p.is_file()}
        loaded = run(["ldd", *map(str, programs)], None)[0].decode() if programs else ""
        return sorted(programs | {pathlib.Path(p) for p in re.findall(r"=> (/\S+)", loaded) if self.build in pathlib.Path(p).parents})

    def programs_hash(self, suite):
        """Hashes of a suite's files: programs that do not link the changed object stay the same, byte by byte."""
        return [hashlib.sha256(file.read_bytes()).digest() for file in self.files_of(suite)]

    def make(self, targets):
        return run([*self.ninja, *targets], None)[1] == 0

    def clean_object(self, path):
        """The object's hash without a change: the object that is there may be that of the former change."""
        if path not in self.objects:
            targets = [os.path.relpath(f, self.build) for f in self.object_hash(path) or {}]
            if targets and not self.make(targets):
                raise SystemExit(99)
            self.objects[path] = targets, self.object_hash(path)
        return self.objects[path]

    def judge(self, mutation):
        """("seen", by), ("survived", None), ("same", None) or ("broken", None)."""
        file = self.tree / mutation.path
        text = file.read_text()
        lines = text.split("\n")
        assert lines[mutation.line - 1] == mutation.before
        targets, clean = self.clean_object(mutation.path)
        if self.leaves_out(mutation.path):
            return "broken", None
        lines[mutation.line - 1] = mutation.after
        file.write_text("\n".join(lines))
        try:
            if targets:
                if not self.make(targets):
                    return "broken", None
                if self.object_hash(mutation.path) == clean:
                    return "same", None
            for name in self.order(mutation.path):
                suite = self.suites[name]
                if not self.make(suite.targets):
                    return "broken", None
                if self.clean[name] and self.programs_hash(suite) == self.clean[name]:
                    continue
                code = self.run_suite(suite, self.limit[name])[1]
                if code not in (0, 77):
                    return "seen", name if code is not None else f"{name}, which hung"
            return "survived", None
        finally:
            file.write_text(text)


def prepare(root, room, options):
    """(benches, seconds of each suite without a change). The suites are shared among the benches."""
    benches = in_parallel(lambda k: Bench(root, room / str(k), options), range(options.jobs), options.cpus, options.cpus_each)
    took, left = {}, sorted(benches[0].suites, reverse=True)

    def calibrate(bench):
        while True:
            try:
                name = left.pop()
            except IndexError:
                return
            took[name] = bench.time_suite(bench.suites[name])

    in_parallel(calibrate, benches, options.cpus, options.cpus_each)
    for bench in benches:
        bench.take_times(took, options)
    return benches, took


class Campaign:
    """The changes that are drawn, and what became of them."""

    def __init__(self, drawn, options):
        self.drawn, self.options = drawn, options
        self.lock, self.found, self.open = threading.Lock(), collections.Counter(), 0
        self.survivors, self.tagged = [], []

    def next(self):
        with self.lock:
            if self.found["judged"] + self.open >= self.options.count:
                return None
            mutation = next(self.drawn, None)
            self.open += mutation is not None
            return mutation

    def take(self, mutation, outcome, by):
        with self.lock:
            self.open -= 1
            self.found[outcome] += 1
            if outcome in ("seen", "survived"):
                self.found["judged"] += 1
                is_tagged_one = outcome == "survived" and mutation.tagged
                if outcome == "survived":
                    (self.tagged if is_tagged_one else self.survivors).append(mutation)
                listed = ", though a comment calls it unseen" if outcome == "seen" and mutation.tagged else ""
                what = f"seen by {by}{listed}" if by else "equivalent" if is_tagged_one else "SURVIVED"
                print(f"{self.found['judged']:4} {mutation.path}:{mutation.line}: {what}", flush=True)
                if what == "SURVIVED":
                    show(mutation)

    def work(self, bench):
        while (mutation := self.next()) is not None:
            passed = mutation.tagged and not self.options.recheck
            self.take(mutation, *(("survived", None) if passed else bench.judge(mutation)))


def show(mutation):
    print(f"     - {mutation.before.strip()}\n     + {mutation.after.strip()}", flush=True)


def summarise(campaign, began):
    found = campaign.found
    judged, survived = found["judged"], len(campaign.survivors)
    if campaign.survivors:
        print("\nSurvivors:")
    for mutation in sorted(campaign.survivors):
        print(f"  {mutation.path}:{mutation.line}")
        show(mutation)
    share = 100 * survived / judged if judged else 100
    print(f"\n{judged} changes: {found['seen']} seen, {survived} survived ({share:.1f} %), {len(campaign.tagged)} equivalent by "
          f"a comment; {found['same']} compiled to the same object, {found['broken']} not at all; {time.monotonic() - began:.0f} s")
    return 0 if judged and share <= campaign.options.most else 1


SUITES = ("bits orders host npy text fixtures generators super super_split super_round dot exact product bound outcomes oracle_mutants rig study "
          "judge integers problem combine facts bench_figures rig_world device telling segment memory collective registry mutants bench_host command library supervise "
          "reveal golden guest_claims guest_products order_changes resealed reveal_command engine_cuda cuda_driver python python_driver guests")


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, help="changes that are judged (40; with --again all)")
    parser.add_argument("--seed", type=int, default=None, help="of what is drawn (random, and printed)")
    parser.add_argument("--paths", nargs="+", default=PATHS, help=f"folders, files or globs ({' '.join(PATHS)})")
    parser.add_argument("--at", nargs="+", default=[], metavar="FILE:LINE", help="all changes of these lines")
    parser.add_argument("--again", type=pathlib.Path, metavar="OUTPUT", help="the survivors that a former run's output lists")
    parser.add_argument("--jobs", type=int, default=1, help="changes at once, each in a tree of its own (1)")
    parser.add_argument("--cpus-each", type=int, default=0, metavar="N", help="CPUs that each of these jobs has for itself (all have all)")
    parser.add_argument("--most", type=float, default=3, metavar="PERCENT", help="survivors that are let pass (3)")
    parser.add_argument("--recheck", action="store_true", help="run the suites on changes that a comment calls unseen, too")
    parser.add_argument("--suites", default=SUITES, help="that are run, or all; those that take seconds and need no GPU")
    parser.add_argument("--limit", type=float, default=60, help="seconds that any suite may take (60, or 10 times its own)")
    parser.add_argument("--list", action="store_true", help="print the changes, build nothing")
    parser.add_argument("--source", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    parser.add_argument("--define", action="append", metavar="=OPTION", help="one of meson setup (repeatable; =-Dcuda=disabled)")
    options = parser.parse_args()
    if (options.count is not None and options.count < 1) or options.jobs < 1 or options.cpus_each < 0:
        parser.error("--count and --jobs are at least 1, --cpus-each at least 0")
    options.define = options.define or ["-Dcuda=disabled"]
    options.cpus = sorted(os.sched_getaffinity(0))
    return options


class CutOff(BaseException):
    """Ended by a signal."""


def on_signals(action):
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, action)


def cut_off(*_):
    on_signals(signal.SIG_IGN)  # running programs are ended and the copies deleted
    raise CutOff


def judge_in(room, drawn, options):
    """Returns the exit code."""
    began, campaign = time.monotonic(), Campaign(drawn, options)
    try:
        benches, took = prepare(options.source.resolve(), room, options)
        print(f"ready after {time.monotonic() - began:.0f} s; suites: " + ", ".join(f"{n} {took[n]:.1f} s" for n in benches[0].suites), flush=True)
        in_parallel(campaign.work, benches, options.cpus, options.cpus_each)
    except CutOff:
        summarise(campaign, began)
        print(f"cut off: {campaign.found['judged']} of {options.count} changes were judged")
        return 99
    finally:
        on_signals(signal.SIG_IGN)
    return summarise(campaign, began)


def main():
    options = parse()
    root = options.source.resolve()
    seed = options.seed if options.seed is not None else random.randrange(1 << 32)
    every = find_again(root, options.again) if options.again else find_mutations(root, options.paths, options.at)
    options.count = options.count or (len(every) if options.again else 40)
    drawn = draw(every, random.Random(seed))
    print(f"seed {seed}", flush=True)
    if options.list:
        for _, mutation in zip(range(options.count), drawn):
            print(f"{mutation.path}:{mutation.line}")
            show(mutation)
        return 0
    on_signals(cut_off)
    with tempfile.TemporaryDirectory(prefix="foldproof-mutate-") as room:
        return judge_in(pathlib.Path(room), drawn, options)


if __name__ == "__main__":
    sys.exit(main())
