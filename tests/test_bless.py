"""--bless keeps what the oracle certifies and nothing else, shows what changes, and is killed at any moment without harm.

test_bless.py FOLDPROOF LIBRARY_FOLDER CC [KILLS]. A user's project: a guest, a checkout of its own, a folder of goldens. KILLS: how often it
is killed (12).
"""
import contextlib
import fcntl
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

from golden_end import closed, list_folder

FOLDPROOF, LIBRARY, CC = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve(), sys.argv[3].split()
KILLS = int(sys.argv[4]) if len(sys.argv) > 4 else 12
FEW = "normal/f32/sum/1x1025/seed1,normal/f32/sum/17x257/seed1,normal/f32/sum/1x33/seed1"


class Project:
    def __init__(self, path):
        self.path = path
        self.source = (LIBRARY / "examples" / "guest_sum.c").read_text()
        self.git("init", "-q")
        self.git("config", "user.email", "a@b")
        self.git("config", "user.name", "a")
        (path / "about.txt").write_text("a project\n")
        self.git("add", "about.txt")
        self.git("commit", "-qm", "a")

    def git(self, *words):
        return subprocess.run(["git", *words], cwd=self.path, check=True, capture_output=True, text=True).stdout.strip()

    def build(self, name, *changes):
        """The example, changed: (from, to) each."""
        text = self.source
        for old, new in changes:
            assert old in text, old
            text = text.replace(old, new)
        (self.path / f"{name}.c").write_text(text)
        self.git("add", f"{name}.c")
        self.git("commit", "-qm", name, "--allow-empty")
        subprocess.run([*CC, "-shared", "-fPIC", "-O2", f"-I{LIBRARY}", f"{name}.c", "-o", f"{name}.so"], cwd=self.path, check=True)
        return f"./{name}.so"

    def start(self, guest, *words, **more):
        line = [FOLDPROOF, "record", "--guest", guest, "--golden", "kept", *words]
        return subprocess.Popen(line, cwd=self.path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **more)

    def record(self, guest, *words, code, env=None):
        run = self.start(guest, *words, env=dict(os.environ, **(env or {})))
        said = run.communicate()[0]
        assert run.returncode == code, f"{guest} {words}: {run.returncode}, not {code}: {said}"
        return said

    def kept(self):
        return {path.name: path.read_text() for path in sorted((self.path / "kept").glob("*.golden"))}


# No order, so that its results are kept for an environment; and another one, that is as good.
FREE = ('.order = "host/sequential", .claims = "bounded,replays,reproducible"', '.claims = "bounded,reproducible"')
FROM_BEHIND = ("s += x[i]", "s += x[call->cols - 1 - i]")
ONE_ULP = ("= s;", "= row == 0 && call->cols == 1025 ? s * (1 + 0x1p-23f) : s;")

# By one unit more in each process but the first.
LATER = """#include <fcntl.h>
#include <unistd.h>
static float later(void) {
  static int after = -1;
  if (after < 0) after = access("mark", 0) == 0, close(open("mark", O_CREAT | O_WRONLY, 0600));
  return after ? 0x1p-20f : 0;
}
"""


def check_portable(project):
    right, wrong = project.build("right"), project.build("wrong", ONE_ULP)
    said = project.record(right, "--bless", "--fixtures", FEW, code=0)
    commit = project.git("rev-parse", "--short=12", "HEAD")
    assert f"3 added, 0 changed, 0 as they were, 0 refused; code of commit {commit}\n" in said, said
    kept = project.kept()
    assert list(kept) == ["order-host-sequential.golden"], kept
    text = kept["order-host-sequential.golden"]
    assert re.search(r"\nby guest mine/sum on host, object [0-9a-f]{16}\n", text) and "\nwhere" not in text, text
    assert all(text == closed(text) for text in kept.values()), kept
    assert "goldens: 6 held, 0 differ" in project.record(right, code=0)
    said = project.record(wrong, code=1)
    assert re.search(r"DIFFERS FROM ITS GOLDEN: mine/sum on host: normal/f32/sum/1x1025/seed1, row 0: .*, 1 float apart; ", said), said
    check_pasted(project, wrong)
    said = project.record(wrong, "--bless", code=1)
    assert "REFUSED: mine/sum on host: normal/f32/sum/1x1025/seed1: replays is refuted: " in said and "nothing is written" in said, said
    assert project.kept() == kept
    assert "3 as they were" in project.record(right, "--bless", code=0) and project.kept() == kept
    project.record(right, "--subjects", "host/pairwise", "--fixtures", FEW, code=2)
    shutil.rmtree(project.path / "kept")


def check_untaken(project):
    """Who takes a kept case no more is not held by the others, nor by its order's replay."""
    right, narrow = project.build("right"), project.build("narrow", (".run = sum", '.dtypes = "f16", .run = sum'))
    project.record(right, "--bless", "--fixtures", FEW, code=0)
    said = project.record(narrow, code=1)
    assert said.count("GONE: no subject that gave it takes normal/f32/sum/") == 3 and ", 3 gone, " in said, said
    assert "GONE" not in project.record(narrow, "--fixtures", "normal/f16/sum/1x33/seed1", code=2)
    said = project.record(narrow, "--bless", "--fixtures", FEW, code=2)
    assert said.count("no subject that gave it takes it any more") == 3, said
    free, unwilling = project.build("free", FREE), project.build("unwilling", FREE, ("(void)context;", "(void)context; if (call->cols == 33) return FOLDPROOF_GUEST_UNSUPPORTED;"))
    shutil.rmtree(project.path / "kept")
    project.record(free, "--bless", "--fixtures", FEW, code=0)
    says = "mine/sum on host gives no result of normal/f32/sum/1x33/seed1 any more: it does not take this case: kept/"
    said = project.record(unwilling, code=1)
    assert f"GONE: {says}" in said and "goldens: 2 held, " in said and ", 1 gone, " in said, said
    assert f"DROPS: {says}" in project.record(unwilling, "--bless", "--fixtures", FEW, code=0)
    assert "goldens: 2 held, " in project.record(unwilling, code=0)
    shutil.rmtree(project.path / "kept")


def check_pasted(project, wrong):
    """The replay line is pasted into a shell, whatever the names are."""
    folder, guest = "it's $HOME \"kept\"", "./it's; a\tguest.so"
    shutil.copytree(project.path / "kept", project.path / folder)
    shutil.copy(project.path / wrong, project.path / guest)
    program = project.path / "a program" / "fold'proof"
    program.parent.mkdir()
    program.symlink_to(FOLDPROOF)
    line = [program, "record", "--guest", guest, "--golden", folder, "--fixtures", FEW, "--library", "mine 1.2's"]
    said = subprocess.run(line, cwd=project.path, capture_output=True, text=True).stdout
    (replay,) = re.findall("^  reproduce: (.*)$", said, re.M)
    again = subprocess.run(["sh", "-c", replay], cwd=project.path, capture_output=True, text=True)
    differs = [text for text in said.splitlines() if text.startswith("DIFFERS")]
    assert again.returncode == 1 and differs and differs[0] in again.stdout.splitlines(), f"{replay}: {again}"
    for made in (project.path / folder, program.parent):
        shutil.rmtree(made)
    (project.path / guest).unlink()


def check_overflows(project):
    """Partial sums that overflow refute no order that nobody declared, and are not kept; a declared order's are."""
    cases = f"{FEW},partial_overflow/f32/sum/*"
    free = project.build("overflows", FREE)
    said = project.record(free, "--bless", "--fixtures", cases, code=0)
    assert "3 added" in said and "1 left out: partial sums overflowed" in said, said
    assert "partial_overflow" not in str(project.kept())
    # What decides that may use OpenMP's threads, beside which the next process is begun.
    many = "batch/f32/sum/2049x1000/*,overflow_partial/f32/sum/1x*/seed1"
    said = project.record(free, "--bless", "--fixtures", many, code=0, env={"OMP_NUM_THREADS": "2"})
    assert "4 added" in said and "6 left out: partial sums overflowed" in said, said
    assert "3 held, 0 differ" in project.record(free, "--fixtures", FEW, code=0)
    finite = project.build("finite", FREE, ("= s;", "= call->cols == 3 ? (float)(0.0 + x[0] + x[1] + x[2]) : s;"))
    assert "1 added" in project.record(finite, "--bless", "--fixtures", cases, code=0)
    said = project.record(free, "--bless", "--fixtures", cases, code=1)
    assert "row 0 is not finite, and the exact result and what is kept are" in said, said
    shutil.rmtree(project.path / "kept")
    ordered = project.build("ordered")
    assert "4 added" in project.record(ordered, "--bless", "--fixtures", cases, code=0)
    assert ", 0 differ" in project.record(ordered, "--fixtures", cases, code=0)
    shutil.rmtree(project.path / "kept")


def check_refused(project):
    off = project.build("off", FREE, ("= s;", "= s + 1;"))
    said = project.record(off, "--bless", "--fixtures", FEW, code=1)
    assert "bounded is refuted: error 1 is above the bound" in said and not project.kept(), said
    wild = project.build("wild", FREE, ("bounded,reproducible", "run_to_run"), ("= s;", "= call->cols == 33 ? 1 / (s - s) : s;"))
    said = project.record(wild, "--bless", "--fixtures", FEW, code=1)
    assert "no order has such an error: " in said and not project.kept(), said
    leaves = project.build("leaves", FREE, ("static int sum", "#include <fenv.h>\nstatic int sum"), ("(void)context;", "fesetround(FE_DOWNWARD);"))
    said = project.record(leaves, "--bless", "--fixtures", FEW, code=1)
    assert "it left its process changed" in said and not project.kept(), said
    # Whatever it claims, the exact result is known: its results have the bound of any order. Of a function of rows it is not.
    sevens = project.build("sevens", FREE, ("bounded,reproducible", "run_to_run"), ("= s;", "= 7;"))
    said = project.record(sevens, "--bless", "--fixtures", FEW, code=1)
    assert "no order has such an error: error " in said and not project.kept(), said
    rows = project.build("rows", FREE, ('"bounded,reproducible"', '"run_to_run", .problems = "rows"'), ("= s;", "= 1 / (s - s);"))
    assert "3 added" in project.record(rows, "--bless", "--fixtures", FEW, code=0)
    shutil.rmtree(project.path / "kept")
    # What is not the same twice in a process, or in a new one, also on a case whose fixture asks for no repeats.
    varies = project.build("varies", FREE, ("s += x[i]", "s += x[turn ? i : call->cols - 1 - i]"), ("static int sum", "static int turn;\nstatic int sum"),
                           ("(void)context;", "(void)context; turn = !turn;"))
    said = project.record(varies, "--bless", "--fixtures", FEW, code=1)
    assert "it varies from run to run: " in said and "repeats gave different bits" in said and not project.kept(), said
    once = project.build("once", FREE, ("= s;", "= s + later();"), ("static int sum", LATER + "static int sum"))
    for cases, says in (("integers/f32/sum/1x37/seed2", "different bits in a new process"), (FEW, "a new process gave results of hash|different bits in a new process")):
        (project.path / "mark").unlink(missing_ok=True)
        said = project.record(once, "--bless", "--fixtures", cases, code=1)
        assert re.search(f"it varies from run to run: .*({says})", said) and not project.kept(), said
    (project.path / "mark").unlink()
    fickle = project.build("fickle", FREE, ("bounded,reproducible", "bounded"))
    said = project.record(fickle, "--bless", "--fixtures", FEW, code=2)
    assert "3 results are not kept: their subjects do not claim run_to_run" in said and not project.kept(), said


def check_environment(project):
    free, behind = project.build("free", FREE), project.build("behind", FREE, FROM_BEHIND)
    (project.path / "about.txt").write_text("changed\n")
    said = project.record(free, "--bless", "--fixtures", FEW, code=99)
    assert "+dirty: commit first" in said and not project.kept(), said
    project.git("checkout", "-q", "about.txt")
    said = project.record(free, "--bless", "--fixtures", FEW, code=99, env={"LD_PRELOAD": "libm.so.6", "ASAN_OPTIONS": "verify_asan_link_order=0"})
    assert "LD_PRELOAD is set" in said and not project.kept(), said
    project.record(free, "--bless", "--fixtures", FEW, "--library", "libmine 1.0", code=0)
    (name,), (text,) = zip(*project.kept().items())
    assert re.search(r"\nof subject mine/sum on host\nwhere .*, libmine 1\.0, .*its own launch\nby guest mine/sum on host, object \w{16}\n", text), text
    assert "goldens: 3 held, 0 differ" in project.record(free, "--library", "libmine 1.0", code=0)
    said = project.record(free, "--library", "libmine 1.1", code=77)
    assert re.search(r"^STALE: 3 of subject mine/sum on host: kept for (.*), libmine 1\.0(.*); here \1, libmine 1\.1\2$", said, re.M) and "0 gone, 3 stale" in said, said
    said = project.record(free, code=77)
    assert re.search(r"^STALE: 3 .*; here .*, its own launch, no --library$", said, re.M) and "libmine" not in said.split("; here ")[1], said
    said = project.record(behind, "--library", "libmine 1.0", code=1)
    assert "the new one is nearer" in said or "what was kept is nearer" in said, said
    said = project.record(behind, "--library", "libmine 1.0", "--bless", code=0)
    assert re.search(r"^CHANGES: mine/sum on host: normal\S+, row \d+: was .*, is .*errors \S+ and \S+ ulps", said, re.M), said
    assert re.search(r"0 added, [123] changed, \d as they were, 0 refused", said), said
    project.record(behind, "--library", "libmine 1.1", "--bless", "--fixtures", FEW, code=0)
    assert len(project.kept()) == 2, project.kept()
    return free, behind


def check_ranks(project):
    """Over ranks: everywhere the same where the order is declared; else kept for the library's version and settings."""
    if not re.search(r"^mpi +Open MPI", subprocess.run([FOLDPROOF, "env"], capture_output=True, text=True).stdout, re.M):
        return
    words = ["--engine", "mpi", "--subjects", "collective/canonical,mpi/allreduce", "--fixtures", "normal/f32/sum/1x3/ranks3/seed1,normal/f32/sum/515x3/ranks3/seed3"]
    linear = {"OMPI_MCA_coll_tuned_use_dynamic_rules": "1", "OMPI_MCA_coll_tuned_allreduce_algorithm": "1"}

    os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")  # of the replay line, too

    def record(*more, code, **env):
        line = [FOLDPROOF, "record", "--golden", "kept", "--ranks", "3", *words, *more]
        run = subprocess.run(line, cwd=project.path, capture_output=True, text=True, env=dict(os.environ, **env))
        assert run.returncode == code, f"{line} {env}: {run.returncode}, not {code}: {run.stdout}{run.stderr}"
        return run.stdout

    assert "4 added, 0 changed" in record("--bless", "--dirty", code=0)
    (order, ordered), (free, text) = sorted(project.kept().items())
    assert "by collective/canonical on mpi\n" in ordered and "\nwhere" not in ordered, ordered
    assert re.search(r"\nof subject mpi/allreduce on mpi\nwhere .*, Open MPI v[0-9.]+\S*, its own launch\n", text), text
    checked = [record(code=0), record(code=0, **linear), record("--bless", "--dirty", code=0, **linear), record(code=0, **linear)]
    assert "goldens: 6 held, 0 differ, 0 with a different input, 0 with a different order, 0 gone, 0 stale" in checked[0], checked  # the order, too
    assert "goldens: 4 held, 0 differ, 0 with a different input, 0 with a different order, 0 gone, 2 stale; 2 results have none" in checked[1], checked
    said = record("--launch", "mpirun --oversubscribe --bind-to none -n {ranks}", code=0)
    assert "goldens: 4 held, 0 differ" in said and " 4 stale; 2 results have none" in said, said
    assert "2 added, 0 changed" in checked[2] and "goldens: 6 held, 0 differ, 0 with a different input, 0 with a different order, 0 gone, 2 stale" in checked[3], checked
    (name,) = set(project.kept()) - {order, free}
    path = project.path / "kept" / name
    assert re.search(r"\nwhere .*, settings \w{16}, its own launch\n", path.read_text()), path.read_text()
    path.write_text(closed(re.sub("(ranks3/seed1 input .* bits \\S+)[0-9a-f]$", lambda bits: bits[1] + ("1" if bits[0][-1] == "0" else "0"), path.read_text(), flags=re.M)))
    said = record(code=1, **linear)
    (replay,) = re.findall("^  reproduce: (.*)$", said, re.M)
    again = subprocess.run(["sh", "-c", replay], cwd=project.path, capture_output=True, text=True).stdout
    (differs,) = re.findall("^DIFFERS FROM ITS GOLDEN: mpi/allreduce on mpi: .*$", said, re.M)
    assert differs in again and all(f"{key}='{value}' " in replay for key, value in linear.items()) and "--ranks '3'" in replay, f"{replay}: {again}"
    # So do the replay lines of records.
    rows = ["--engine", "mpi", "--subjects", "mpi/allreduce", "--fixtures", "normal/f32/sum/515x3/ranks3/seed3", "--ranks", "3"]
    root = dict(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    for name, env in (("by default", {}), ("linear", linear)):
        subprocess.run([FOLDPROOF, "record", *rows, "--jsonl", name], cwd=project.path, check=True, env=dict(os.environ, **root, **env))
    said = subprocess.run([FOLDPROOF, "compare", "by default", "linear"], cwd=project.path, capture_output=True, text=True).stdout
    (replay,) = re.findall("^  reproduce: (.*)$", said, re.M)
    assert all(f"{key}='{value}' " in replay for key, value in linear.items()) and "--ranks '3'" in replay, replay
    for name in ("by default", "linear"):
        (project.path / name).unlink()
    shutil.rmtree(project.path / "kept")


def check_object(project):
    """Another build of the same results: shown, and neither pass nor failure; --bless keeps its hash."""
    project.record(project.build("mine"), "--bless", "--fixtures", FEW, code=0)
    assert "OTHER OBJECT" not in project.record("./mine.so", code=0)
    (before,) = project.kept().values()
    project.build("mine", ("static int sum", 'const char changed[] = "changed";\nstatic int sum'))
    said = project.record("./mine.so", code=0)
    old = re.search(r"object (\w{16})", before)[1]
    assert re.search(rf"^OTHER OBJECT: guest mine/sum on host: it has hash 0x\w{{16}}; 0x{old}, of commit \w+, gave what is kept: ", said, re.M), said
    assert "0 added, 0 changed, 3 as they were" in project.record("./mine.so", "--bless", code=0)
    (after,) = project.kept().values()
    commit = project.git("rev-parse", "--short=12", "HEAD")
    assert old not in after and f"commit {commit}\n" in after and "OTHER OBJECT" not in project.record("./mine.so", code=0), after
    shutil.rmtree(project.path / "kept")


def check_commit(project):
    """A source that no commit names is none to keep results of."""
    guest = project.build("mine")
    (project.path / "more.c").write_text("int more;\n")
    assert "+dirty: commit first" in project.record(guest, "--bless", "--fixtures", FEW, code=99) and not project.kept()
    (project.path / ".gitignore").write_text("more.c\n")
    project.git("add", ".gitignore")
    project.git("commit", "-qm", "ignore")
    elsewhere = {"GIT_DIR": str(project.path / ".git")}
    said = project.record(guest, "--bless", "--fixtures", FEW, code=99, env=elsewhere)
    assert "no commit of the source is known, GIT_DIR is set" in said and not project.kept(), said
    assert "code of commit unknown" in project.record(guest, "--bless", "--dirty", "--fixtures", FEW, code=0, env=elsewhere)
    shutil.rmtree(project.path / "kept")
    (project.path / ".git").rename(project.path / "git")
    said = project.record(guest, "--bless", "--fixtures", FEW, code=99, env={"GIT_CEILING_DIRECTORIES": str(project.path.parent)})
    (project.path / "git").rename(project.path / ".git")
    assert "no commit of the source is known, there is no checkout here" in said and not project.kept(), said
    project.record(guest, "--bless", "--fixtures", FEW, code=0)
    shutil.rmtree(project.path / "kept")


def check_list(project, free):
    """The list is written last: what stands before that is told, and --bless goes on from there."""
    first, second = ("--library", "libmine 1.0"), ("--library", "libmine 1.1")
    project.record(free, *first, "--bless", "--fixtures", FEW, code=0)
    (one,), folder = project.kept(), project.path / "kept"
    listed, kept = folder / "golden.list", project.kept()[one]
    before = listed.read_text()
    assert before.splitlines()[3:-1] == [one] and before == closed(before), before
    listed.chmod(0o444)
    said = project.record(free, *second, "--bless", "--fixtures", FEW, code=2)
    assert "golden.list: cannot be written: " in said and listed.read_text() == before, said
    (two,) = set(project.kept()) - {one}
    for library in (first, second):
        said = project.record(free, *library, code=2)
        assert f"{two} in kept is not in its golden.list: remove it, or let record --bless list it" in said, said
    listed.chmod(0o644)
    said = project.record(free, *first, "--bless", code=0)
    assert f"LISTS: {two}, which was there: golden.list\n" in said and "3 as they were" in said, said
    for library in (first, second):
        assert "3 held" in project.record(free, *library, code=0)
    (folder / one).unlink()
    said = project.record(free, *second, code=2)
    assert f"{one} is gone from kept: take it back from your repository, or let record --bless drop it" in said, said
    said = project.record(free, *second, "--bless", code=0)
    assert f"DROPS: {one}, which is gone: golden.list\n" in said and list(project.kept()) == [two], said
    (folder / one).write_text(kept)
    assert f"{one} in kept is not in its golden.list" in project.record(free, *second, code=2)
    list_folder(folder)
    assert "3 held" in project.record(free, *second, code=0)
    # Another environment's name, which is the same in what a file's name can have.
    project.record(free, "--library", "libmine-1.1", "--bless", "--fixtures", FEW, code=0)
    assert set(project.kept()) == {one, two, two.replace(".golden", "-2.golden")}, project.kept()
    for library in (first, second, ("--library", "libmine-1.1")):
        assert "goldens: 3 held" in project.record(free, *library, code=0)
    shutil.rmtree(folder)


def check_together(project, free):
    """Whoever blesses a folder at the same time waits: none drops what another one keeps."""
    folder = project.path / "kept"
    runs = [project.start(free, "--library", f"libmine {k}", "--bless", "--fixtures", FEW) for k in range(4)]
    for run in runs:
        said = run.communicate()[0]
        assert run.returncode == 0 and "3 added" in said, said
    for k in range(4):
        assert "3 held" in project.record(free, "--library", f"libmine {k}", code=0)
    kept, listed = project.kept(), (folder / "golden.list").read_text()
    with open_folder(folder) as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        run = project.start(free, "--library", "libmine 5", "--bless", "--fixtures", FEW)
        said = run.stdout.readline()
        assert "waits for a running record --bless of kept" in said, said
        run.terminate()
        said = run.communicate()[0]
        assert run.returncode == 99 and "interrupted before anything was blessed" in said, said
    assert project.kept() == kept and (folder / "golden.list").read_text() == listed
    shutil.rmtree(folder)
    # Whoever waited for a folder that is gone makes it again; one in which nothing was written goes.
    folder.mkdir()
    with open_folder(folder) as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        run = project.start(free, "--bless", "--fixtures", FEW)
        assert "waits for a running record" in run.stdout.readline()
        folder.rmdir()
    said = run.communicate()[0]
    assert run.returncode == 0 and len(project.kept()) == 1, said
    shutil.rmtree(folder)
    (project.path / "about.txt").write_text("changed\n")
    project.record(free, "--bless", "--fixtures", FEW, code=99)
    project.git("checkout", "-q", "about.txt")
    assert not folder.exists()


@contextlib.contextmanager
def open_folder(path):
    descriptor = os.open(path, os.O_RDONLY)
    yield descriptor
    os.close(descriptor)


def check_kill(project, free, behind):
    """Whatever the moment, each file is what it was or what it is to be, and a sheet is listed or the next check says that it is not."""
    library, folder = ("--library", "libmine 1.0"), project.path / "kept"
    project.record(behind, *library, "--bless", "--fixtures", FEW, code=0)
    (old,) = project.kept().items()
    begin = time.monotonic()
    project.record(free, *library, "--bless", code=0)
    took = time.monotonic() - begin
    (new,), listed = project.kept().items(), (folder / "golden.list").read_text()
    assert old[0] == new[0] and old[1] != new[1]
    chance, killed = random.Random(1), 0
    for turn in range(KILLS):
        adds = turn % 2
        shutil.rmtree(folder)
        folder.mkdir()
        if not adds:
            (folder / old[0]).write_text(old[1])
            (folder / "golden.list").write_text(listed)
        run = project.start(free, *library, "--bless", "--fixtures", FEW)
        time.sleep(chance.uniform(0.6, 1.1) * took if turn % 4 < 2 else chance.uniform(0, 1.1) * took)
        killed += run.poll() is None
        run.kill()
        run.communicate()
        found, has_list = project.kept(), (folder / "golden.list").exists()
        assert found == dict([new]) or found == ({} if adds else dict([old])), f"turn {turn}: {found}"
        assert not has_list or (folder / "golden.list").read_text() == listed
        if not found or not has_list:
            said = project.record(free, *library, code=2)
            assert ("golden.list is gone" if found else "no golden is there") in said, said
        else:
            project.record(free, *library, code=0 if found == dict([new]) else 1)
    project.record(free, *library, "--bless", "--fixtures", FEW, code=0)
    assert project.kept() == dict([new]) and (folder / "golden.list").read_text() == listed
    print(f"{killed} of {KILLS} killed")


with tempfile.TemporaryDirectory() as scratch:
    project = Project(pathlib.Path(scratch))
    check_portable(project)
    check_untaken(project)
    check_refused(project)
    check_overflows(project)
    check_object(project)
    check_commit(project)
    check_ranks(project)
    free, behind = check_environment(project)
    shutil.rmtree(project.path / "kept")
    check_list(project, free)
    check_together(project, free)
    check_kill(project, free, behind)
