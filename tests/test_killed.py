"""A run that is killed, by the signal that no process can catch, leaves all that was finished by then.

test_killed.py FOLDPROOF LIBRARY_FOLDER CC [KILLS]. A guest notes each of its calls in a file. In the recorder's own process a call begins
when the record of the one before is written: so no record may lack but the last call's, whatever the moment. KILLS: how many moments (8).
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

import usual_signals  # noqa: F401

FOLDPROOF, LIBRARY, CC = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve(), sys.argv[3].split()
KILLS = int(sys.argv[4]) if len(sys.argv) > 4 else 8
LIMIT = 60  # seconds, for what takes less than one
DIES = """#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
static int number_of(const char *name) { return getenv(name) ? atoi(getenv(name)) : 0; }
static void note(void) {
  static int calls;
  static int file = -1;
  if (file < 0) file = open("calls", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (calls == 0 && number_of("MICROSECONDS")) {
    struct sigevent kills = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL};
    const struct itimerspec at = {.it_value = {0, 1000L * number_of("MICROSECONDS")}};
    timer_t timer;
    if (timer_create(CLOCK_MONOTONIC, &kills, &timer) || timer_settime(timer, 0, &at, NULL)) abort();
  }
  if (write(file, "c", 1) != 1) abort();
  if (++calls == number_of("DIES_IN")) kill(getpid(), SIGKILL);
  while (calls == number_of("STAYS_IN")) pause();
}
"""


def build(folder):
    text = (LIBRARY / "examples" / "guest_sum.c").read_text()
    for old, new in (("static int sum", DIES + "static int sum"), ("(void)context;", "(void)context; note();")):
        assert old in text, old
        text = text.replace(old, new)
    (folder / "dies.c").write_text(text)
    subprocess.run([*CC, "-shared", "-fPIC", "-O2", f"-I{LIBRARY}", "dies.c", "-o", "dies.so"], cwd=folder, check=True)


def start(folder, *words, **variables):
    for path in folder.glob("r.jsonl*"):
        path.unlink()
    (folder / "calls").unlink(missing_ok=True)
    line = [FOLDPROOF, "record", "--guest", "./dies.so", "-f", "normal/f32/sum/*", "--jsonl", "r.jsonl", *words]
    environment = dict(os.environ, **{name: str(value) for name, value in variables.items()})
    return subprocess.Popen(line, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def written(folder):
    """The runs that are recorded, of whole lines: of the file, or of what was killed on the way to it."""
    texts = "".join(path.read_text() for path in folder.glob("r.jsonl*")).splitlines(True)
    return [line for line in (json.loads(text) for text in texts if text.endswith("\n")) if line["type"] == "run"]


def calls(folder):
    return (folder / "calls").stat().st_size if (folder / "calls").exists() else 0


def check_read(folder):
    """What is left is records like others, and no reader takes them for all."""
    (left,) = folder.glob("r.jsonl.partial.*")
    done = subprocess.run([FOLDPROOF, "recheck", left], capture_output=True, text=True)
    assert done.returncode == 99 and "INCOMPLETE: " in done.stdout and " 0 contradictions" in done.stdout, done


def check_moments(folder):
    whole = start(folder, "--in-process")
    assert whole.wait(LIMIT) == 0
    n = calls(folder)
    assert n == len(written(folder)) >= 30, (n, len(written(folder)))
    chance, lost = random.Random(1), 0
    for turn in range(KILLS):
        moment = {"DIES_IN": chance.randint(2, n)} if turn % 2 else {"MICROSECONDS": chance.randint(1, 20000)}
        code = start(folder, "--in-process", **moment).wait(LIMIT)
        assert code in (-9, 0), (code, moment)
        made, kept = calls(folder), written(folder)
        assert made == moment.get("DIES_IN", made) and made - 1 <= len(kept) <= made, f"{moment}: {made} calls, {len(kept)} records"
        lost += made - len(kept)
        if turn in (1, KILLS - 1):
            check_read(folder)
    print(f"{KILLS} moments: {lost} calls of which the record was not written yet")


def check_worker(folder, number):
    """The same of a worker's runs: what it has told is written before long, while it is busy with the next one. Other signals that end
    a command at once, such as that of a reader who went away, leave as much."""
    run = start(folder, STAYS_IN=4)
    try:
        until = time.monotonic() + LIMIT
        while (len(written(folder)) < 3 or calls(folder) < 4) and time.monotonic() < until and run.poll() is None:
            time.sleep(0.02)
    finally:
        run.send_signal(number)
        assert run.wait(LIMIT) == -number
    assert len(written(folder)) == 3 and calls(folder) == 4, (written(folder), calls(folder))
    check_read(folder)


with tempfile.TemporaryDirectory(prefix="foldproof-killed-") as scratch:
    build(pathlib.Path(scratch))
    check_moments(pathlib.Path(scratch))
    for number in signal.SIGKILL, signal.SIGPIPE, signal.SIGQUIT, signal.SIGXCPU:
        check_worker(pathlib.Path(scratch), number)
