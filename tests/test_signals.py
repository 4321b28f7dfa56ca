"""Commands that a signal ends leave no files, whatever the moment; what SIGKILL leaves, the next run removes.

test_signals.py FOLDPROOF [MOMENTS]
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

FOLDPROOF = str(pathlib.Path(sys.argv[1]).resolve())
MOMENTS = int(sys.argv[2]) if len(sys.argv) > 2 else 8
RUN_ANEW = "sleep 0.05; cp /dev/null {out}; cat {in} >/dev/null"
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
    start(folder, "verify", "--exec", RUN_ANEW, "--fixtures", "thirds").wait(60)


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


def check_ignored(folder):
    """A signal that the parent ignores, as a shell does for a command in the background, stays ignored."""
    words = ("verify", "--engine", "host", "--subjects", "host/sequential", "--fixtures", "normal/f32/sum/*")
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        run = start(folder, *words, preexec_fn=lambda: signal.signal(number, signal.SIG_IGN))
        time.sleep(0.2)
        run.send_signal(number)
        code = run.wait(60)
        assert code == 0, (number, code)


def used_by(pid):
    """The seconds of processors that a process, and those that it has started, have used. Unlike the time that passes it does not depend on other processes."""
    try:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return 0
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK") + sum(map(used_by, children))


def check_in_time(folder):
    """Also within a run that takes many times as long; finished records stay."""
    most = 1.5 * len(os.sched_getaffinity(0))
    for words in (["bench", "--engine", "host", "--subjects", "host/*", "-n", "1e7", "--jsonl", "b.jsonl"], ["study", "--jsonl", "b.jsonl"]):
        for seconds in (0.5, 1.5):
            for path in folder.glob("b.jsonl*"):
                path.unlink()
            run = start(folder, *words)
            time.sleep(seconds)
            before = used_by(run.pid)
            run.terminate()
            _, status, usage = os.wait4(run.pid, 0)
            code, more = os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime - before
            assert code in (99, -15) and more < most, (words, code, more)
            for line in "".join(path.read_text() for path in folder.glob("b.jsonl*")).splitlines():
                json.loads(line)


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    (folder / "tmp").mkdir()
    for check in (check_exec, check_sweep, check_ignored, check_in_time):
        check(folder)
