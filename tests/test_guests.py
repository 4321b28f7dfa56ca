"""Guests by both doors: examples as they stand hold, liars are refuted or broken by name, what cannot be loaded is bad input.

test_guests.py FOLDPROOF LIBRARY_FOLDER GUESTS_FOLDER CC
"""
import concurrent.futures
import contextlib
import functools
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree

sys.dont_write_bytecode = True

from guest_shell import CC, EXAMPLES, FOLDPROOF, GUESTS, build, verify

# Rows that are none, empty, short, of a tile and its next, and one of many tiles: for who does the same on all others.
SHAPES = ("0x5", "5x0", "5x5", "1x17", "33x33", "17x257", "3x1000", "1x4097", "1x65537")


def cases(family):
    return ",".join(f"{family}/{shape}/*" for shape in SHAPES)


FEW = cases("normal/*/sum")
LIED_TO = cases("normal/f32/sum")
# For a program, whose each case takes as long as a hundred of a shared object's: all shapes in one dtype, one shape in all, of both problems.
FEW_OF_A_PROGRAM = LIED_TO + ",normal/*/sum/3x1000/*,normal/f*/dot/1x0/*,normal/f*/dot/1x257/*"
# And of the other families all rows of one to nine terms.
FEW_AND_SHORT = FEW + ",*/f32/sum/1x?,*/f32/sum/1x?/*"
try:
    import numpy
except ImportError:
    numpy = None


def check_examples(folder):
    code, out, err = verify("--guest", str(build(folder, "guest_sum", EXAMPLES / "guest_sum.c", options=["-Wall", "-Wextra", "-Werror"])), "--fixtures", FEW_AND_SHORT)
    assert code == 0 and re.search(r"\n\d{3,} held, 0 refuted", out), (code, out, err)
    for line in ("bounded", "replays", "fresh_process", "keeps_input"):
        assert f"\n  {line}" in out, out
    norms = str(build(folder, "rms_norm", EXAMPLES / "guest_rms_norm.c", options=["-Wall", "-Wextra", "-Werror"]))
    code, out, err = verify("--guest", norms, "--fixtures", "batch/f32/sum/2049x1000/*")
    assert code == 1 and "REFUTED: rms_norm/by_tokens on host violates batch_invariant" in out and re.search(r"\n\d+ held, 1 refuted", out), (code, out, err)
    assert "same bits up to 255 rows, different bits from 256 (of 2049)" in out and "REFUTED: rms_norm/pinned" not in out, out
    code, out, err = verify("--guest", norms, "--fixtures", "normal/f32/sum/3x1000/*", "--claims", "bounded,promises", "--subjects", "*/pinned")
    assert code == 0 and re.search(r"\n  bounded +0 +0 +1 .*\n    it is a function of rows", out), (code, out, err)
    wrong = (EXAMPLES / "guest_rms_norm.c").read_text().replace('"reproducible"', '"reproducible,bounded"')
    (folder / "wrong.c").write_text(wrong)
    code, out, err = verify("--guest", str(build(folder, "wrong", folder / "wrong.c")))
    assert code == 2 and "it cannot claim bounded" in err, (code, out, err)
    if shutil.which("gfortran"):
        guest = build(folder, "fortran", EXAMPLES / "guest_sum.f90", EXAMPLES / "guest_table.c", compiler=["gfortran"])
        code, out, err = verify("--guest", str(guest), "--fixtures", FEW)
        assert code == 0 and "fortran/sum on host" in out, (code, out, err)
    if shutil.which("c++"):
        source = folder / "guest.cpp"
        source.write_text((EXAMPLES / "guest_sum.cu").read_text().split("static __global__")[0] + """
static int none(const foldproof_guest_call *call, void *) { return call->size == sizeof *call ? FOLDPROOF_GUEST_UNSUPPORTED : 1; }
extern "C" const foldproof_guest_table *foldproof_guest(void) {
  static foldproof_guest_subject subject;
  static const struct foldproof_guest_table table = {FOLDPROOF_GUEST_ABI, sizeof subject, 1, &subject};
  subject.name = "mine/none", subject.run = none;
  return &table;
}""")
        guest = build(folder, "cpp", source, compiler=["c++", "-Wall", "-Wextra", "-Werror", "-std=c++11"])
        code, out, err = verify("--guest", str(guest), "--fixtures", FEW)
        assert code == 77 and "it does not take this case" in out, (code, out, err)


LIARS = {
    "keeps_state": ("run_to_run", 1), "asks_the_clock": ("run_to_run", 1), "by_address": ("alignment_invariant", 1),
    "by_threads": ("launch_invariant", 1), "by_environment": ("fresh_process", 1), "by_thread_state": ("run_to_run", 1), "by_command_line": ("fresh_process", 1),
    "changes_its_input": ("keeps_input", 1), "writes_too_far": ("stays_in_bounds", 1), "leaves_one_out": ("bounded", 1),
    "rounds_down": ("leaves_no_trace", 1), "wrong_order": ("replays", 1), "wrong_twin": ("same_bits_as", 1),
    "soils_its_scratch": ("leaves_no_trace", 1), "keeps_pages": ("leaves_no_trace", 1, "it leaks 4096 bytes of memory per run"),
    "keeps_files": ("leaves_no_trace", 1, "it leaks 1 open file per run"),
    "keeps_some_files": ("leaves_no_trace", 1, "it leaks 1 open file per 2 runs"),
    # A sanitizer's malloc takes memory in a way of its own.
    **({} if "ASAN_OPTIONS" in os.environ else {"keeps_bytes": ("leaves_no_trace", 1, "it leaks 112 bytes of memory per run")}),
    "crashes": ("killed by signal 11", 99), "leaves": ("ended with exit code 0", 99), "hangs": ("did not end within", 99), "hangs_for_scratch": ("did not end within", 99),
    "asks_for_all": ("not enough memory for 18446744073709551615 bytes of scratch: no claim is judged there", 99),
    "fails": ("it returned 3: the table of weights?is lost", 99),
}


def check_liars(folder):
    liars = str(folder / "liars.so")
    beside(liars, *(functools.partial(check_liar, name) for name in LIARS if is_endless(name)), check_refuted,
           check_broken, lambda liars: [check_liar(name, liars) for name in LIARS if is_told_by_new_processes(name)])
    check_odd_ones(folder, liars)


def check_unset_lane(folder):
    """Without optimization a lane is where the harness's own calls leave the upper half of a pointer or zero, which no sum shows."""
    for level in ("-O0", "-O1", "-O2"):
        unset = str(build(folder, "unset" + level, GUESTS / "unset_lane.c", options=[level]))
        code, out, err = verify("--guest", unset, "--fixtures", LIED_TO)
        assert code == 1 and all(f"REFUTED: unset/lane on host violates {claim}" in out for claim in ("bounded", "run_to_run")), (level, code, out, err)


def is_endless(name):
    return name.startswith("hangs")


def is_told_by_new_processes(name):
    """How many there are hangs on how long one takes: such a liar is alone with an honest one."""
    return LIARS[name][0] == "fresh_process"


def check_beside_others(liars, wanted, other):
    """Each told by what it does, in one command, where none of them spoils what the others are judged on."""
    names = [name for name in LIARS if LIARS[name][1] == wanted and not is_endless(name) and not is_told_by_new_processes(name)]
    code, out, err = verify("--guest", liars, "--subjects", ",".join(f"liar/{name}" for name in (*names, "honest")), "--fixtures", LIED_TO)
    assert code == wanted and not re.search("(REFUTED|BROKEN): liar/honest", out) and other not in out, (code, out, err)
    for name in names:
        expect_told(name, out)
        expect_replay(name, liars, [line for line in out.splitlines() if f"--subjects 'liar/{name}'" in line][0], wanted)


def check_refuted(liars):
    check_beside_others(liars, 1, "BROKEN")


def check_broken(liars):
    check_beside_others(liars, 99, "REFUTED")


def expect_told(name, out):
    word, wanted, *reason = LIARS[name]
    how = rf"REFUTED: liar/{name} on host violates {word}" if wanted == 1 else rf"BROKEN: liar/{name} on host.* {re.escape(word)}"
    assert re.search(f"^{how}", out, re.M) and all(text in out for text in reason), (name, out)


def expect_replay(name, liars, line, wanted):
    assert line.startswith("  reproduce: ") and f"--guest '{liars}' --subjects 'liar/{name}'" in line, (name, line)
    again = subprocess.run(line[len("  reproduce: "):] + " --timeout 5", shell=True, capture_output=True).returncode
    assert again == wanted or (again == 0 and name == "asks_the_clock"), line


def check_liar(name, liars):
    wanted = LIARS[name][1]
    # A limit that a busy machine keeps, and one case to wait for.
    options = ("--fixtures", "normal/f32/sum/3x1000/seed1", "--timeout", "5") if is_endless(name) else ("--fixtures", LIED_TO)
    code, out, err = verify("--guest", liars, "--subjects", f"liar/{name},liar/honest", *options)
    assert code == wanted, (name, code, out, err)
    expect_told(name, out)
    assert "REFUTED: liar/honest" not in out and "BROKEN: liar/honest" not in out, (name, out)
    replay = next(line for line in out.splitlines() if line.startswith("  reproduce: "))
    if not is_endless(name):
        expect_replay(name, liars, replay, wanted)


def check_odd_ones(folder, liars):
    code, out, err = verify("--guest", liars, "--subjects", "liar/prints", "--fixtures", "normal/f32/sum/*")
    assert code == 0 and "1 held, 0 refuted" not in out and "1 held, 0 refuted" in err, (code, out, err)
    code, out, err = verify("--guest", liars, "--subjects", "liar/keeps_a_workspace,liar/keeps_a_file,liar/collects", "--fixtures", cases("normal/f32/sum"))
    assert code == 0 and re.search("leaves_no_trace +[1-9]", out), (code, out, err)
    code, out, err = verify("--guest", liars, "--subjects", "liar/declines", "--fixtures", "normal/f32/sum/*")
    assert code == 0 and "odd lengths are not for it" in out, (code, out, err)
    code, out, err = verify("--guest", liars, "--subjects", "liar/by_rows,liar/honest", "--claims", "batch_invariant", "--fixtures", "batch/f32/sum/2049x1000/*")
    assert code == 1 and "same bits up to 255 rows, different bits from 256 (of 2049)" in out, (code, out, err)
    assert "REFUTED: liar/honest" not in out, out
    # A run that fails breaks each claim for one reason, which one line says.
    code, out, err = verify("--guest", liars, "--subjects", "liar/fails", "--fixtures", "normal/f32/sum/3x1000/seed1")
    assert code == 99 and out.count("BROKEN: ") == out.count("reproduce: ") == 1 and re.search("^[2-9] broken: ", out, re.M), (code, out, err)
    # Names that a shell, HTML and XML would take apart.
    odd = str(shutil.copy(liars, folder / "it's \"<odd>\" & $HOME.so"))
    code, out, err = verify("--guest", odd, "--subjects", "liar/leaves_one_out", "--jsonl", str(folder / "odd.jsonl"), "--fixtures", "normal/f32/sum/3x1000/seed1")
    replay = next(line for line in out.splitlines() if line.startswith("  reproduce: "))[len("  reproduce: "):]
    assert code == 1 and subprocess.run(replay, shell=True, capture_output=True).returncode == 1, (code, out, err)
    judged = subprocess.run([FOLDPROOF, "recheck", str(folder / "odd.jsonl")], capture_output=True, text=True).stdout
    replay = next(line for line in judged.splitlines() if line.startswith("  reproduce: "))[len("  reproduce: "):]
    assert subprocess.run(replay, shell=True, capture_output=True).returncode == 1, judged
    for form in ("junit", "html", "markdown"):
        page = subprocess.run([FOLDPROOF, "report", "--format", form, str(folder / "odd.jsonl")], capture_output=True, text=True)
        if form == "junit":
            xml.etree.ElementTree.fromstring(page.stdout)
        assert page.returncode == 0 and (form == "markdown" or "<odd>" not in page.stdout), (form, page)
    odd = str(shutil.copy(liars, os.fsdecode(os.fsencode(folder) + b"/\xff.so")))
    code, out, err = verify("--guest", odd, "--subjects", "liar/leaves_one_out", "--fixtures", "normal/f32/sum/3x1000/seed1")
    assert code == 2 and "it is not UTF-8, so no record can hold it" in err and not out, (code, out, err)
    # A guest's promise can be set by its user; compiled subjects are judged beside it where they are named.
    code, out, err = verify("--guest", liars, "--subjects", "liar/leaves_one_out,host/pairwise", "--claims", "batch-invariant", "--fixtures", LIED_TO)
    assert "host/pairwise on host" in out and "liar/leaves_one_out on host violates" in out and "bounded" not in out, (code, out, err)


# What a subject does to its process at its third run there: the message has its name, and no other subject's, and those after it are judged.
WILD = {
    "redirects_output": "the process's standard output",
    "ends_its_thread": "BROKEN",  # the process goes on where it has other threads, and its time is up
    "dies_then_leaves": "it left changed: the handler of signal 12", "sends_term": "killed by signal 15 (Terminated), in a run for ", "has_term_sent": "killed by signal 15",
    "ends_its_parent": "sent signal 15 (Terminated) to foldproof", "interrupts_its_parent": "sent signal 2 (Interrupt) to foldproof", "wakes_its_parent": "sent signal 10 (User defined signal 1) to foldproof", "halts": "a run did not end within 5 s",
    "wanders": "the current folder", "ignores_children": "the handler of signal 17", "leaves_a_child": "a process that it started and did not wait for",
    "ends_its_group": "killed by signal 9", "closes_files": "its process lost its connection to foldproof",
}


def check_wild(folder):
    guest = str(folder / "liars.so")
    names = ",".join(f"liar/{name}" for name in ("marks", *WILD, "honest_after"))
    code, out, err = verify("--guest", guest, "--subjects", names, "--fixtures", "normal/f32/sum/3x1000/seed1,normal/f32/sum/1x17/seed1", "--timeout", "5")
    blocks = re.split("^(?=BROKEN|REFUTED|subject and claim)", out, flags=re.M)
    told = {name: [block for block in blocks if re.match(f"(BROKEN|REFUTED): liar/{name} on host", block)] for name in (*WILD, "marks", "honest_after")}
    for name, word in WILD.items():  # on both cases, by one claim or two
        cases = len(told[name]) + sum(map(int, re.findall(r"\((\d+) more case", "".join(told[name]))))
        assert cases == 2 and all(word in block for block in told[name]), (name, told[name], out, err)
    assert not (told["marks"] or told["honest_after"]), (out, err)
    for name in ("marks", "honest_after"):
        assert re.search(f"liar/{name} on host\n  bounded +2 ", out), (name, out)
    assert code == 1 and "a process ended, and the subject under test was not the cause" in err, (code, err)
    code, out, err = verify("--guest", guest, "--subjects", "liar/honest,liar/aborts_at_exit,liar/honest_after", "--claims", "run_to_run", "--fixtures", "normal/f32/sum/1x17/seed1")
    assert code == 99 and "\n3 held, 0 refuted" in out, (code, out, err)
    assert re.search("between two subjects: .* killed by signal 6 .*it had run .*liar/aborts_at_exit", " ".join(err.split())), err
    check_stop(guest)


def leads_group(pid):
    try:
        return os.getpgid(pid) == pid
    except ProcessLookupError:
        return False


def check_stop(guest):
    """The worker is asked to stop by somebody who is none of ours. Once more where all is over before this process has seen the worker."""
    for _ in range(5):
        run = subprocess.Popen([FOLDPROOF, "verify", "--guest", guest, "--subjects", "liar/honest", "--claims", "batch_invariant"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        children, leaders = pathlib.Path(f"/proc/{run.pid}/task/{run.pid}/children"), []
        while len(leaders) < 2 and run.poll() is None:
            time.sleep(0.01)
            with contextlib.suppress(OSError):  # the guard of guests, and the worker
                leaders = [pid for pid in map(int, children.read_text().split()) if leads_group(pid)]
        with contextlib.suppress(OSError, IndexError):
            os.kill(leaders[1], signal.SIGTERM)
        out, err = run.communicate(timeout=300)
        if run.returncode != 0:
            break
    assert run.returncode == 99 and "a signal from outside asked its process to stop" in err, (run.returncode, out, err)


def check_late(folder):
    """Threads that write when the call has returned are seen, whether they change anything or not; one that waits does no harm."""
    guest = str(folder / "liars.so")
    late = ("output", "input", "scratch", "the_same")
    names = ",".join(f"liar/{name}" for name in ("honest", *(f"writes_{what}_late" for what in late), "keeps_a_thread", "honest_after"))
    # What a thread hits, and when, hangs on how busy the machine is: on a free one all are seen at once.
    seen = set()
    for _ in range(20):
        code, out, err = verify("--guest", guest, "--subjects", names, "--claims", "leaves_no_trace,run_to_run,fresh_process", "--fixtures", "normal/f32/sum/3x1000/seed1")
        assert code == 1 and not re.search("(REFUTED|BROKEN): liar/(honest|keeps_a_thread)", out) and not err.count("a process ended"), (code, out, err)
        for what in late:
            where = "output" if what == "the_same" else what
            if re.search(f"liar/writes_{what}_late on host violates leaves_no_trace: .*\n.* its {where}, by a thread that wrote", out):
                seen.add(what)
        if seen == set(late):
            return
    raise AssertionError((seen, out, err))


def check_silence(folder):
    """Between two runs no subject's time is up: a harness that never comes back from there is ended all the same, after 30 time limits."""
    guest = str(folder / "liars.so")
    for _ in range(5):
        code, out, err = verify("--guest", guest, "--subjects", "liar/stops_its_caller,liar/honest_after", "--claims", "run_to_run",
                                "--fixtures", "normal/f32/sum/3x1000/seed1", "--timeout", "1", timeout=300)
        if "a run did not end within 1 s" not in out:  # on a machine so busy it tells nothing
            break
    assert code == 99 and "BROKEN: liar/stops_its_caller" in out and "its process hung between two runs" in out, (code, out, err)
    assert not re.search("(REFUTED|BROKEN): liar/honest", out) and "liar/honest_after on host" in out, (out, err)


UNLOADABLE = {"CRASHES": "killed by signal 11", "ENDS": "ended its process with exit code 0", "HANGS": "did not come within 2 s (see --timeout)",
              "NO_TABLE": "returns no table", "NEWER": "was built for interface 99", "SMALL": "have 8 bytes each", "UNEVEN": "have 97 bytes each", "NOWHERE": "its table says n = 1, but its subjects are NULL",
              "NAMELESS": "its subject 1 has no name", "EMPTY": "its table has no subject"}


def is_asleep(seconds):
    return subprocess.run(["pgrep", "-f", f"^sleep {seconds}$"], capture_output=True).returncode == 0


# How long what is to be found sleeps: no other process of this machine does for just so long.
OWN = f"9{os.getpid()}.{time.time_ns()}"


def check_interruption(folder):
    """Amid its description: nothing that it started is left, and no folder (main looks)."""
    run = subprocess.Popen([FOLDPROOF, "verify", "--timeout", "600", "--exec", f"sleep {OWN}1 & cat"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while not is_asleep(f"{OWN}1"):
        time.sleep(0.05)
    run.terminate()
    out, err = run.communicate(timeout=60)
    assert run.returncode == 99 and "interrupted while sleep 9" in err and not out, (run.returncode, out, err)
    assert not is_asleep(f"{OWN}1")


STAYS = """#include <unistd.h>
#include "foldproof_guest.h"
static int run(const struct foldproof_guest_call *call, void *context) {
  (void)call, (void)context;
  if (fork() == 0) execlp("sleep", "sleep", SECONDS, (char *)0);
  return pause();
}
static const struct foldproof_guest_subject subject = {.name = "mine/stays", .run = run};
static const struct foldproof_guest_table table = {FOLDPROOF_GUEST_ABI, sizeof subject, 1, &subject};
const struct foldproof_guest_table *foldproof_guest(void) { return &table; }
"""


def check_killed(folder):
    """By the signal that it cannot answer: what guests have started ends with it, and no folder is left (main looks)."""
    (folder / "stays.c").write_text(STAYS)
    stays = build(folder, "stays", folder / "stays.c", options=[f'-DSECONDS="{OWN}3"'])
    for guest, seconds in (("--exec", f"sleep {OWN}2; cp {{in}} {{out}}"), f"{OWN}2"), (("--guest", str(stays)), f"{OWN}3"):
        run = subprocess.Popen([FOLDPROOF, "verify", *guest, "--timeout", "600"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for wanted in (True, False):
            end = time.monotonic() + 60
            while is_asleep(seconds) != wanted:
                assert time.monotonic() < end and (not wanted or run.poll() is None), (guest, wanted)
                time.sleep(0.05)
            run.kill()
            run.wait()


THROWS = """#include <stdexcept>
#include "foldproof_guest.h"
static int run(const foldproof_guest_call *, void *) { throw std::runtime_error("no weights"); }
extern "C" const foldproof_guest_table *foldproof_guest(void) {
  static foldproof_guest_subject s;
  static const foldproof_guest_table table = {FOLDPROOF_GUEST_ABI, sizeof s, 1, &s};
  s.name = "mine/throws", s.run = run;
  return &table;
}"""


def check_exceptions(folder):
    """What a guest throws ends its process, and is that guest's."""
    if not shutil.which("c++"):
        return
    source = folder / "throws.cpp"
    source.write_text(THROWS)
    guests = ("--guest", str(build(folder, "throws", source, compiler=["c++"])), "--guest", str(folder / "guest_sum.so"))
    code, out, err = verify(*guests, "--claims", "bounded", "--fixtures", "normal/f32/sum/3x1000/*")
    assert code == 99 and "BROKEN: mine/throws" in out and "killed by signal 6" in out and "BROKEN: mine/sum" not in out, (code, out, err)


REMOVES = """#include <stdlib.h>
#include <unistd.h>
#include "foldproof_guest.h"
static int run(const struct foldproof_guest_call *call, void *context) {
  (void)call, (void)context;
  unlink(getenv("FOLDPROOF_TEST_FIXTURE"));
  abort();
}
static const struct foldproof_guest_subject subject = {.name = "mine/removes", .run = run};
static const struct foldproof_guest_table table = {FOLDPROOF_GUEST_ABI, sizeof subject, 1, &subject};
const struct foldproof_guest_table *foldproof_guest(void) { return &table; }
"""


def check_fixtures(folder):
    """They are read once: the process that goes on after a crash judges on those that the first one had."""
    source, fixture = folder / "removes.c", folder / "fixtures" / "one.ini"
    source.write_text(REMOVES)
    fixture.parent.mkdir()
    fixture.write_text("[one]\ngenerator = normal\ndtype = f32\nn = 17\n")
    guests = ("--guest", str(build(folder, "removes", source)), "--guest", str(folder / "guest_sum.so"))
    code, out, err = verify(*guests, "--claims", "bounded", "--fixture-folder", str(fixture.parent), FOLDPROOF_TEST_FIXTURE=str(fixture))
    assert code == 99 and not fixture.exists() and "BROKEN: mine/removes on host" in out, (code, out, err)
    assert "\n1 held, 0 refuted" in out, (out, err)


def check_loading(folder):
    for how, word in UNLOADABLE.items():
        guest = build(folder, how.lower(), GUESTS / "unloadable.c", options=[f"-DHOW={how}"])
        code, out, err = verify("--guest", str(guest), **({"FOLDPROOF_TIMEOUT": "2"} if how == "HANGS" else {}))
        assert code == 2 and word in err and not out, (how, code, out, err)
    code, out, err = verify("--guest", str(build(folder, "older", GUESTS / "unloadable.c", options=["-DHOW=OLDER"])), "--claims", "bounded", "--fixtures", FEW)
    assert code == 0 and "old/one on host" in out and "old/two on host" in out, (code, out, err)
    code, out, err = verify("--guest", str(build(folder, "spaced", GUESTS / "unloadable.c", options=["-DHOW=10"])))
    assert code == 2 and "is called 'a name'" in err, (code, err)
    os.mkfifo(folder / "pipe.so")
    foreign = bytearray(build(folder, "foreign", GUESTS / "unloadable.c", options=["-DHOW=OLDER"]).read_bytes())
    foreign[18:20] = b"\xff\x00"  # e_machine
    (folder / "foreign.so").write_bytes(foreign)
    for what, word in ((folder / "none.so", "cannot be loaded"), (EXAMPLES / "guest_sum.c", "cannot be loaded"), ("/dev/null", "cannot be loaded: it is not a file"),
                       (folder / "pipe.so", "cannot be loaded: it is not a file"), (folder / "foreign.so", "cannot be loaded: it was built for a different machine")):
        code, out, err = verify("--guest", str(what), FOLDPROOF_TIMEOUT="5")
        assert code == 2 and word in err, (what, code, err)
    # What it starts on loading ends with that; another process's table may be another.
    guest = build(folder, "forks", GUESTS / "unloadable.c", options=["-DHOW=12"])
    verify("--guest", str(guest), "--fixtures", FEW, FOLDPROOF_TIMEOUT="2")
    assert subprocess.run(["pgrep", "-f", str(guest)], capture_output=True).returncode == 1
    guest = build(folder, "swaps", GUESTS / "unloadable.c", options=["-DHOW=13"])
    code, out, err = verify("--guest", str(guest), "--fixtures", FEW, FOLDPROOF_TEST_MARK=str(folder / "mark"))
    assert code == 99 and "is not name" in out and "0 held" in out, (code, out, err)
    guest = str(folder / "guest_sum.so")
    code, out, err = verify("--guest", guest, "--guest", guest)
    assert code == 2 and "there are two of that name" in err, (code, err)
    code, out, err = verify("--guest", guest, "--claims", "reproducable")
    assert code == 2 and "did you mean 'reproducible'" in err, (code, err)
    code, out, err = verify("--guest", guest, "--claims", "rank_agreement", "--fixtures", FEW)
    assert code == 77 and "it has no ranks" in out, (code, out, err)
    code, out, err = verify("--guest", str(build(folder, "ranks", GUESTS / "unloadable.c", options=["-DHOW=11"])))
    assert code == 2 and "it makes a claim about ranks" in err, (code, err)


# How each ends; the third run of all breaks those that change.
PROGRAMS = {
    "dies": "ended with exit code 1: no more of this", "ends_its_group": "the program was killed by signal 9", "killed": "the program was killed by signal 9", "hangs": "did not end within",
    "garbage": "the program answered 'Traceback'", "list": "answered '[1]'", "closes": "did not end within", "refuses": "out of?memory",
    "dtype": "and not of f32", "shape": "and not 1", "lists_errors": "its reason is not a text", "misspells": "an answer has no field 'eror': did you mean 'error'?", "errs_in_silence": ": its reason is empty: no claim", "adds": "which is not a JSON object", "says_twice": "which is not a JSON object", "square": "its results are", "nothing": "the program wrote no results",
    "late": "the program wrote no results", "chatters": "BROKEN", "truncates": "BROKEN",
}
TABLES = {"empty": "its table has no subject", "no_name": "has no name", "no_dtype": "its dtypes has the unknown word 'f33': did you mean 'f32'? Allowed: f16, bf16, f32, f64, e4m3, e5m2, i8, i32, i64\n", "number": "its claims is 3, and must be a text in quotes", "named_3": "subject 1: its name is 3, and must be a text in quotes", "strides_1": "its strides is 1, and must be true or false", "slip": "no field 'dtype': did you mean 'dtypes'", "rule": "its result has the unknown word 'wide'; allowed: accumulator, terms, f16", "method": "its method has the unknown word 'kahn': did you mean 'kahan'? Allowed: plain, kahan, neumaier, truncated, exact\n",
          "engine": "its engine has the unknown word 'mpi'; allowed: host, cuda\n", "taken": "is one of foldproof's own",
          "accent": "is called 'p/é': a name consists of a-z, A-Z, 0-9 and / _ - . @ +", "blank": "is called 'p/a b': a name consists of"}


def check_programs(folder):
    python = f"{sys.executable} -ISB {GUESTS}/program.py"
    few = ("--fixtures", "normal/f32/sum/*x1000/*,normal/f32/sum/*x17/*")

    def check_broken(how, options):
        code, out, err = verify("--exec", f"{python} {how}", *options)
        assert code == 99 and PROGRAMS[how] in out and "BROKEN" in out, (how, code, out, err)

    def check_slow(options):
        """Several new processes would take too long: the reason says that it was one."""
        code, out, err = verify("--exec", f"{python} slow", "--claims", "fresh_process", *options[:2])
        assert code == 0 and re.search(r"fresh_process +1 .*\n    in 1 new process, not in several: it took \d+ s\n", out), (code, out, err)

    endless, one = ("hangs", "closes"), ("--fixtures", "normal/f32/sum/3x1000/seed1", "--timeout", "8")
    beside(one, check_slow, *(functools.partial(check_broken, how) for how in endless),
           lambda _: [check_broken(how, few) for how in PROGRAMS if how not in endless])
    for how, word in TABLES.items():
        code, out, err = verify("--exec", f"{python} {how}", *few)
        assert code == 2 and word in err, (how, code, out, err)
    code, out, err = verify("--exec", f"{python} random", *few)
    assert code == 1 and "violates run_to_run" in out and f"--exec '{python} random'" in out, (code, out, err)
    code, out, err = verify("--exec", f"{python} declines", *few)
    assert "not today" in out and "REFUTED" not in out, (code, out, err)
    code, out, err = verify("--exec", f"{python} honest", "--fixtures", FEW_OF_A_PROGRAM)
    assert code == 0 and "BROKEN" not in out, (code, out, err)
    code, out, err = verify("--exec", f"{sys.executable} -B {EXAMPLES}/guest_sum.py", "--fixtures", FEW_OF_A_PROGRAM)
    assert code == 0 and "mine/numpy on host" in out, (code, out, err)
    # One that removes the folder of arrays has its own lost, and no other subject's.
    code, out, err = verify("--exec", f"{python} removes", "--exec", f"{python} honest", *few)
    assert "REFUTED" not in out and "BROKEN: p/removes" in out and "BROKEN: p/honest" not in out, (code, out, err)
    code, out, err = verify("--exec", f"{python} long", *few)
    assert code == 2 and "the program answered over 16777216 bytes in a line" in err, (code, out, err)
    untidy = [word for how in ("litters", "logs", "puts_a_pipe", "honest") for word in ("--exec", f"{python} {how}")]
    code, out, err = verify(*untidy, *few)
    assert code == 0, (code, out, err)
    run = subprocess.run(f"{FOLDPROOF} verify --exec 'cat; cp {{in}} {{out}}' --fixtures 'normal/f32/sum/1x1/*' >&2; cat", shell=True,
                         input="mine", capture_output=True, text=True, timeout=60)
    assert run.stdout == "mine", run
    once = f"{sys.executable} -B -c 'import numpy,sys; numpy.save(sys.argv[2], numpy.load(sys.argv[1]).sum(axis=1))' {{in}} {{out}}"
    code, out, err = verify("--exec", once, "--claims", "run_to_run", "--fixtures", "normal/f32/sum/3x1000/seed1")
    assert code == 0 and "1 held, 0 refuted" in out, (code, out, err)
    code, out, err = verify("--exec", "no-such-program {in} {out}", "--claims", "run_to_run", "--fixtures", "normal/f32/sum/3x1000/seed1")
    assert code == 99 and "ended with exit code 127" in out and "not found" in out, (code, out, err)


def beside(room, *checks):
    """Many wait for a time limit."""
    with concurrent.futures.ThreadPoolExecutor(len(checks)) as pool:
        for done in [pool.submit(check, room) for check in checks]:
            done.result()


def main():
    with tempfile.TemporaryDirectory(prefix="foldproof-guests-") as folder:
        os.environ.update(TMPDIR=folder, USER="tester")
        room = pathlib.Path(folder)
        beside(room, check_examples, *([check_programs] if numpy else []))
        # A crash is to be one, and who calls exit amid a run frees nothing.
        os.environ["ASAN_OPTIONS"] = os.environ.get("ASAN_OPTIONS", "") + ":handle_segv=0:detect_leaks=0"
        build(room, "liars", GUESTS / "liars.c", options=["-Wall", "-Wextra", "-Werror", "-pthread"])
        beside(room, check_liars, check_unset_lane, check_wild, check_late, check_silence, check_fixtures, check_loading, check_exceptions, check_interruption, check_killed)
        left = [name for name in os.listdir(folder) if "exec" in name]
        assert not left, left
    print("guests: examples hold, liars do not" + ("" if numpy else "; programs not tried: no numpy"))


main()
