#!/usr/bin/env python3
"""ci/mutate.py over a tree of one file and one weak test: what is seen, what survives, what is known, and what is left behind.

test_mutate.py CI_FOLDER
"""
import os
import pathlib
import subprocess
import sys
import tempfile

CI = pathlib.Path(sys.argv[1])
sys.path.insert(0, str(CI))
sys.dont_write_bytecode = True
from mutations import changes, changes_of, is_tagged, put_there  # noqa: E402

MESON = """project('toy', 'c')
toy = library('toy', 'toy.c')
weak = executable('weak', 'weak.c', link_with: toy)
test('weak', weak)
blind = executable('blind', 'blind.c')
test('blind', blind)
"""
TOY = """/* toy.c: a < b, untouched */
#include "nap.h"
#define MOST 3
int clamp(int x) {
  int most = MOST;
  return x < most ? x : 9; // x < 7
}
int spin(int n) {
  while (n > 2) {
    n--;
    nap();
  }
  return n;
}
int least(int x) {
  return x < 3 ? x : 3;
}
"""
# What hangs waits, and costs nothing.
NAP = """#include <time.h>
static void nap(void) { nanosleep(&(struct timespec){.tv_nsec = 1000000}, 0); }
"""
# Does not look at the edge of clamp.
WEAK = """int clamp(int x);
int spin(int n);
int least(int x);
int main(void) {
  return !(clamp(1) == 1 && clamp(9) == 9 && spin(5) == 2 && least(1) == 1 && least(2) == 2 && least(9) == 3);
}
"""
# Links nothing of it, and leaves a byte for each time that it ran.
BLIND = """#include <stdio.h>
#include <stdlib.h>
int main(void) {
  FILE *log = fopen(getenv("BLIND_LOG"), "a");
  return !log || fputc('x', log) == EOF || fclose(log);
}
"""


def check_changes():
    def expect(line, *news):
        got = list(changes(line))
        for new in news:
            assert new in got, (line, new, got)

    expect("  if (a < b && !c) x += f(i, n - 1);", "  if (a <= b && !c) x += f(i, n - 1);", "  if (a < b || !c) x += f(i, n - 1);",
           "  if (a < b && c) x += f(i, n - 1);", "  if (a < b && !c) x -= f(i, n - 1);", "  if (a < b && !c) x += f(n - 1, i);",
           "  if (a < b && !c) x += f(i, n + 1);", "  if (a < b && !c) x += f(i, n - 2);", "  if (!(a < b && !c)) x += f(i, n - 1);")
    expect("  return true;", "  return false;")
    expect("  return a;", "  return !(a);")
    assert list(changes("  return false;")) == ["  return true;"]
    expect("  break;", "  continue;")
    expect("  f(x);", "  ;")
    expect("  x = 0x10u;", "  ;", "  x = 0x11u;", "  x = 0xfu;")
    expect("  FOLD_TRY(f(x));", "  ;")
    expect("  mpfr_mul(c, a, b, MPFR_RNDU);", "  mpfr_mul(a, c, b, MPFR_RNDU);", "  mpfr_mul(c, a, MPFR_RNDU, b);")
    for same in ('  puts("a < b");', "static int f(int a, int b) {", "  char *text;", "#define A 1", "/* a < b */", "  x = calloc(n, sizeof *x);", "  mpfr_mul(c, a, b, MPFR_RNDU);"):
        swapped = [new for _, _, new in changes_of(same) if "<=" in new or "/ text" in new or "int b, int a" in new or "2" in new or "sizeof *x, n" in new or "b, a" in new]
        assert not swapped, swapped
    for before, after, put in (("a <= b", "a < b", "<"), ("if (a) f();", "if (!(a)) f();", "!"), ("f(x);", ";", "drop"), ("n + 64", "n + 63", "63")):
        assert put_there(before, after) == put, (before, put_there(before, after))
    lined = ["/* unseen: <= */", "a < b;", "  c < d; /* unseen: 3 | >= */"]
    assert is_tagged(lined, 2, "a <= b;") and not is_tagged(lined, 2, "a >= b;"), lined
    assert is_tagged(lined, 3, "  c >= d; /* unseen: 3 | >= */") and not is_tagged(lined, 3, "  c <= d; /* unseen: 3 | >= */"), lined
    lines = {number for number, _, _ in changes_of("/* 1\n * 2 */\nx = 3;\n#if 1\n#endif\n")}
    assert lines == {3}, lines


class Toy:
    def __init__(self, folder):
        self.tree = folder / "tree"
        self.tree.mkdir()
        for name, text in (("meson.build", MESON), ("toy.c", TOY), ("nap.h", NAP), ("weak.c", WEAK), ("blind.c", BLIND)):
            (self.tree / name).write_text(text)
        self.room = folder / "room"
        self.room.mkdir()
        self.log = folder / "log"

    def run(self, *options, source=None, **env):
        command = [sys.executable, "-B", str(CI / "mutate.py"), "--source", str(source or self.tree), *options]
        env = dict(os.environ, TMPDIR=str(self.room), BLIND_LOG=str(self.log), **env)
        done = subprocess.run(command, capture_output=True, text=True, env=env, check=False, timeout=500)
        assert "Traceback" not in done.stderr, done.stderr
        return done.returncode, done.stdout + done.stderr

    def judge(self, *options):
        return self.run("--paths", "toy.c", "--define=-Ddefault_library=static", "--suites", "weak", "--seed", "5", "--limit", "2", *options)


def check_campaign(toy):
    edge = ["--at", "toy.c:6", "--count", "100"]
    # spin(5) by n++ goes on for 2^31 turns: it hangs, and is seen. x <= 3 and x < 4 compile to the same, whatever was built before them.
    code, text = toy.judge("--at", "toy.c:6", "toy.c:9", "toy.c:10", "toy.c:16", "--count", "100", "--suites", "weak blind")
    assert code == 1 and "toy.c:6: SURVIVED" in text and "+ return x <= most ? x : 9; // x < 7" in text, text
    assert " seen, 1 survived" in text and "x < 8" not in text, text
    assert "toy.c:10: seen by weak, which hung" in text and "toy.c:9: seen by weak\n" in text, text
    assert "; 2 compiled to the same object" in text and "x <= 3" not in text and "x < 4" not in text, text
    # A change is shown to the suites that it reaches, and to no others.
    assert toy.log.read_text() == "x", (text, toy.log.read_text())
    # Its survivor, and nothing else, is tried again. Survivors may be few enough.
    toy.log.write_text(text + "  gone.c:1\n     - a\n     + b\n")
    code, text = toy.judge("--again", str(toy.log), "--most", "100")
    assert code == 0 and "1 changes: 0 seen, 1 survived" in text and "no such line any more: gone.c: a" in text, text
    (toy.tree / "toy.c").write_text(TOY.replace("// x < 7", "/* unseen: <= | >= */"))
    code, text = toy.judge(*edge)
    assert code == 0 and "0 survived (0.0 %), 2 equivalent by a comment" in text, text
    code, text = toy.judge(*edge, "--recheck")
    assert code == 0 and "seen by weak, though a comment calls it unseen" in text, text
    (toy.tree / "toy.c").write_text(TOY)
    assert not list(toy.room.iterdir()), "something was left behind"
    code, text = toy.run("--paths", "toy.c", "--define=-Ddefault_library=static", "--suites", "weak strong", "--count", "1")
    assert code == 2 and "no such suites: strong" in text, text
    (toy.tree / "weak.c").write_text("int main(void) { return 1; }\n")
    code, text = toy.judge("--count", "1")
    assert code == 99 and "without a change weak is red" in text, text


def check_ours(toy):
    root = CI.parent
    first, again, other = (toy.run("--list", "--count", "300", "--seed", seed, source=root) for seed in ("1", "1", "2"))
    assert first[0] == 0 and first == again and first[1] != other[1], "a seed draws the same"
    assert "no such line any more" not in first[1], first[1]
    lines = first[1].splitlines()
    assert lines[0] == "seed 1" and len(lines) == 1 + 3 * 300, len(lines)
    assert any(line.startswith("src/judge/") for line in lines) and any(line.startswith("oracles/") for line in lines)


check_changes()
with tempfile.TemporaryDirectory() as room:
    bench = Toy(pathlib.Path(room))
    check_ours(bench)
    check_campaign(bench)
print("ok")
