"""What verify prints fits a terminal: its lines, how many they are, their colours, and its progress.

test_terminal.py FOLDPROOF FOLDPROOF_MUTANTS
"""
import fcntl
import functools
import os
import pty
import re
import struct
import subprocess
import sys
import termios

FOLDPROOF, MUTANTS = sys.argv[1:3]
GREEN = ("--engine", "host", "--subjects", "host/*", "--fixtures", "normal/f32/sum/1x1?/*,normal/f32/sum/1x1???/*,normal/f32/sum/*x0/*,nan*/f32/*")
LONG = (*GREEN[:-1], f"{GREEN[-1]},sparse/f32/sum/*")  # has progress to show
REFUTED = ("--subjects", "mutant/*", "--fixtures", "normal/f32/sum/3x1000/seed1")


def plain(**variables):
    return {key: value for key, value in {**os.environ, **variables}.items() if key not in ("COLUMNS", "NO_COLOR") or key in variables}


@functools.cache
def run(program, *words, code, **variables):
    done = subprocess.run([program, "verify", *words], capture_output=True, text=True, env=plain(**variables))
    assert done.returncode == code, (words, done)
    return done.stdout


def on_terminal(program, *words, code, columns=80, **variables):
    """Everything that it shows on a terminal, standard output and errors together."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    child = subprocess.Popen([program, "verify", *words], stdin=slave, stdout=slave, stderr=slave, env=plain(**{"TERM": "xterm", **variables}))
    os.close(slave)
    shown = b""
    while True:
        try:
            part = os.read(master, 65536)
        except OSError:
            part = b""
        if not part:
            break
        shown += part
    os.close(master)
    assert child.wait() == code, (words, child.returncode, shown)
    return shown.decode().replace("\r\n", "\n")


def too_wide(out, columns):
    """Lines that are too wide, but for those of one long word, and the command that is to be copied."""
    return [line for line in out.splitlines() if len(line) > columns and not line.startswith("  reproduce: ") and len(line.split()) > 1]


def check_lines():
    for words, code, program in ((GREEN, 0, FOLDPROOF), (REFUTED, 1, MUTANTS)):
        for more in ((), ("-v",)):
            out = run(program, *words, *more, code=code)
            assert not too_wide(out, 80) and max(map(len, out.splitlines())) > 60, too_wide(out, 80)
        out = run(program, *words, code=code, COLUMNS="60")
        assert not too_wide(out, 60), too_wide(out, 60)
    assert too_wide(run(MUTANTS, *REFUTED, code=1, COLUMNS="400"), 80)
    out = on_terminal(MUTANTS, *REFUTED, code=1, columns=60)
    assert not too_wide(re.sub("\033.*?[mK]", "", re.sub(".*\r", "", out)), 60), out


def check_length():
    """Unless it is asked for, no table: the outcome, why something was skipped, and what held on order-insensitive inputs only."""
    out = run(FOLDPROOF, *GREEN, code=0)
    lines = out.splitlines()
    assert len(lines) <= 30 and re.fullmatch(r"\d{3,} held, 0 refuted, \d+ skipped", lines[-1]), out
    assert "subject and claim" not in out and "all subjects" not in out and "slowest" not in out, out
    assert re.search(r"^skipped, by reason\n  \d+: ", out, re.M) and re.search(r"^about order: \d+ of \d+ that held are on order-insensitive inputs$", out, re.M), out
    table = run(FOLDPROOF, *GREEN, "-v", code=0)
    assert re.search(r"^subject and claim +held refuted skipped insens\. +worst error$", table, re.M) and "\nall subjects " in table and lines[-1] == table.splitlines()[-1], table
    errors = re.findall(r"^  (bounded|compensated|faithful) .* (\S+) (\w+)$", table, re.M)
    assert len(errors) > 8 and all(0 < float(worst) < 100 and dtype in ("f32", "bf16") for _, worst, dtype in errors), errors
    assert re.search(r"^  run_to_run .* -$", table, re.M) and len(re.findall("^worst error: ", table, re.M)) == 1, table
    assert run(FOLDPROOF, *GREEN, "-q", code=0).splitlines()[-1] == lines[-1]


def check_colours():
    held = ("--subjects", "host/pairwise", "--fixtures", "normal/f32/sum/3x1000/seed1")
    out = on_terminal(MUTANTS, *REFUTED, code=1)
    assert "\033[31mREFUTED\033[0m: mutant/" in out and re.search(r"\033\[31m\d+ held, [1-9]\d* refuted, \d+ skipped\033\[0m\n$", out), out
    out = on_terminal(FOLDPROOF, *held, code=0)
    assert re.search(r"\033\[32m\d+ held, 0 refuted, 0 skipped\033\[0m\n$", out), out
    out = on_terminal(MUTANTS, "--subjects", "broken/environment", *held[2:], code=99)
    assert "\033[33mBROKEN\033[0m: broken/" in out and "\033[33m0 held, 0 refuted, 0 skipped\033[0m\n" in out, out
    for none in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        out = on_terminal(MUTANTS, *REFUTED, code=1, **none)
        assert "REFUTED: mutant/" in out and "\033[3" not in out, (none, out)
    assert "\033" not in run(MUTANTS, *REFUTED, code=1)


def check_progress():
    """From the beginning on, and no estimate before a twentieth of the cases is done."""
    out = on_terminal(FOLDPROOF, *LONG, code=0)
    shown = re.findall("\r\033\\[K([^\r\033\n]+)", out)
    assert shown and shown[0] == "starting" and len(shown) > 3, out
    for line in shown:
        done = re.match(r"(\d+) of (\d+)", line)
        assert len(line) < 80 and ("left" not in line or int(done[1]) * 20 >= int(done[2])), line
    assert any(" s left: " in line for line in shown), shown
    out = on_terminal(MUTANTS, "--subjects", "mutant/t*", "--fixtures", "normal/f32/sum/1x1*", code=1)
    assert re.search("\r\033\\[K\\d+ of \\d+, [1-9]\\d* refuted", out), out


check_lines()
check_length()
check_colours()
check_progress()
print("held")
