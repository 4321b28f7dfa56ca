"""Commands that a signal ends leave no files, whatever the moment; what SIGKILL leaves, the next run removes.

test_signals.py FOLDPROOF LIBRARY_FOLDER CC [MOMENTS]
"""
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True

import usual_signals  # noqa: F401

FOLDPROOF, LIBRARY, CC = str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(sys.argv[2]).resolve(), sys.argv[3].split()
MOMENTS = int(sys.argv[4]) if len(sys.argv) > 4 else 8
RUN_ANEW = "sleep 0.05; cp /dev/null {out}; cat {in} >/dev/null"
MARK = """static void mark(void) {
  if (!getenv("MARK")) return;
  fclose(fopen(getenv("MARK"), "w"));
  sleep(1);
}
"""
ENDED = {signal.SIGTERM: (99, -15), signal.SIGINT: (99, -2), signal.SIGKILL: (-9,)}


def start(folder, *words, **more):
    return subprocess.Popen([FOLDPROOF, *words], cwd=folder, env=dict(os.environ, TMPDIR=str(folder / "tmp")), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True, **more)


def left(folder):
    return sorted(path.name for path in (folder / "tmp").iterdir())


def gone(folder, but=(), seconds=20):
    """Whether all but these is gone: a guard may end after its command."""
    end = time.monotonic() + seconds
    while left(folder) != list(but) and time.monotonic() < end:
        time.sleep(0.02)
    return left(folder) == list(but)


def end_at(folder, seconds, number, *words):
    run = start(folder, *words)
    time.sleep(seconds)
    os.killpg(run.pid, number) if number == signal.SIGINT else run.send_signal(number)
    return run.wait(60)


def sweep(folder):
    assert start(folder, "rerun", "none.jsonl").wait(60) == 2


def check_exec(folder):
    chance = random.Random(1)
    words = ("verify", "--exec", RUN_ANEW, "--fixtures", "normal/f32/sum/1x10*", "--jsonl", str(folder / "s.jsonl"))
    for turn in range(MOMENTS):
        number = (signal.SIGTERM, signal.SIGINT)[turn % 2]
        code = end_at(folder, chance.uniform(0.05, 2), number, *words)
        assert code in ENDED[number] and gone(folder), (turn, number, code, left(folder))


def check_sweep(folder):
    """Nothing of another command that still runs is removed."""
    (folder / "tmp" / "foldproof-exec-abcdef" / "0").mkdir(parents=True)
    (folder / "tmp" / "foldproof-rerun-abcdef").mkdir()
    (folder / "tmp" / "foldproof-exec-mine").mkdir()
    words = ("verify", "--exec", RUN_ANEW, "--fixtures", "normal/f32/sum/1x10*")
    runs = start(folder, "verify", "--exec", RUN_ANEW.replace("0.05", "2"), *words[3:])  # longer than all of this takes
    while sum(name.startswith("foldproof-exec-") for name in left(folder)) != 2 or "foldproof-exec-abcdef" in left(folder):
        assert runs.poll() is None, left(folder)
        time.sleep(0.02)
    own = [name for name in left(folder) if name.startswith("foldproof-exec-") and name != "foldproof-exec-mine"]
    end_at(folder, 0.5, signal.SIGTERM, *words)
    assert own[0] in left(folder), left(folder)
    runs.terminate()
    runs.wait(60)
    sweep(folder)
    assert gone(folder, but=["foldproof-exec-mine"]), left(folder)
    (folder / "tmp" / "foldproof-exec-mine").rmdir()


def check_rerun(folder):
    subprocess.run([FOLDPROOF, "record", "--engine", "host", "--subjects", "host/s*", "--fixtures", "*/f32/sum/*", "--jsonl", "r.jsonl"], cwd=folder, check=True, capture_output=True)
    chance = random.Random(2)
    for turn in range(MOMENTS):
        number = (signal.SIGTERM, signal.SIGINT, signal.SIGKILL)[turn % 3]
        code = end_at(folder, chance.uniform(0.02, 1.2), number, "rerun", "r.jsonl")
        if number == signal.SIGKILL and not gone(folder, seconds=5):  # killed before its guard began
            sweep(folder)
        assert code in (0, *ENDED[number]) and gone(folder), (turn, number, code, left(folder))


def check_interrupted_rerun(folder):
    """Before anything is recorded again: that is no skip. The guest tells that it runs."""
    text = (LIBRARY / "examples" / "guest_sum.c").read_text().replace("foldproof_guest(void) {", "foldproof_guest(void) { mark();").replace("static int sum", MARK + "static int sum")
    (folder / "slow.c").write_text("#include <stdio.h>\n#include <stdlib.h>\n#include <unistd.h>\n" + text)
    subprocess.run([*CC, "-shared", "-fPIC", f"-I{LIBRARY}", "slow.c", "-o", "slow.so"], cwd=folder, check=True)
    subprocess.run([FOLDPROOF, "record", "--guest", "./slow.so", "--fixtures", "normal/f32/sum/1x1*", "--jsonl", "g.jsonl"], cwd=folder, check=True, capture_output=True)
    mark = folder / "mark"
    run = subprocess.Popen([FOLDPROOF, "rerun", "--trust", "g.jsonl"], cwd=folder, env=dict(os.environ, TMPDIR=str(folder / "tmp"), MARK=str(mark)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while not mark.exists():
        assert run.poll() is None, run.communicate()
        time.sleep(0.01)
    run.terminate()
    out, err = run.communicate(timeout=60)
    assert run.returncode == 99 and "interrupted" in err and gone(folder), (run.returncode, out, err, left(folder))


def check_ignored(folder):
    """A signal that the parent ignores, as a shell does for a command in the background, stays ignored."""
    words = ("verify", "--engine", "host", "--subjects", "host/sequential", "--fixtures", "normal/f32/sum/*")
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        run = start(folder, *words, preexec_fn=lambda: signal.signal(number, signal.SIG_IGN))
        time.sleep(0.2)
        run.send_signal(number)
        code = run.wait(60)
        assert code == 0, (number, code)


def check_in_time(folder):
    """Also within a run that takes many times as long; finished records stay."""
    for words in (["bench", "--engine", "host", "--subjects", "host/*", "-n", "1e7", "--jsonl", "b.jsonl"], ["study", "--jsonl", "b.jsonl"]):
        for seconds in (0.5, 2.5):
            for path in folder.glob("b.jsonl*"):
                path.unlink()
            run = start(folder, *words)
            time.sleep(seconds)
            begun = time.monotonic()
            run.terminate()
            code = run.wait(60)
            assert code in (99, -15) and time.monotonic() - begun < 1.5, (words, code, time.monotonic() - begun)
            for line in "".join(path.read_text() for path in folder.glob("b.jsonl*")).splitlines():
                json.loads(line)


def check_bless(folder):
    words = [FOLDPROOF, "record", "--engine", "host", "--subjects", "host/sequential", "--fixtures", "normal/f32/sum/1x1*", "--golden", "goldens", "--bless", "--dirty"]
    subprocess.run(words, cwd=folder, check=True, capture_output=True)
    kept = sorted(path.name for path in (folder / "goldens").iterdir())
    for name in (f"{kept[0]}.partial.123.0", "golden.list.partial.123.4"):
        (folder / "goldens" / name).write_text("half")
    (folder / "goldens" / "a.partial.txt").write_text("mine")
    subprocess.run(words, cwd=folder, check=True, capture_output=True)
    assert sorted(path.name for path in (folder / "goldens").iterdir()) == sorted([*kept, "a.partial.txt"]), list((folder / "goldens").iterdir())


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    (folder / "tmp").mkdir()
    for check in (check_exec, check_sweep, check_rerun, check_interrupted_rerun, check_ignored, check_in_time, check_bless):
        check(folder)
