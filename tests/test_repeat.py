#!/usr/bin/env python3
"""ci/repeat.py over a build of this test's own: it names a suite that is red each third time, with what that printed then."""
import pathlib
import subprocess
import sys
import tempfile

repeat = pathlib.Path(sys.argv[1]) / "repeat.py"

with tempfile.TemporaryDirectory() as folder:
    root = pathlib.Path(folder)
    build = root / "build"
    (root / "meson.build").write_text("project('some')\nforeach name : ['sound', 'third', 'lacking']\n"
                                      "  test(name, find_program('suite.sh'), args: name)\nendforeach\n")
    (root / "suite.sh").write_text('#!/bin/sh\necho x >>"$0.$1"; n=$(wc -l <"$0.$1"); echo "$1 for the $n. time"\n'
                                   'case $1 in third) [ "$n" != 3 ] ;; lacking) exit 77 ;; esac\n')
    (root / "suite.sh").chmod(0o755)
    subprocess.run(["meson", "setup", build, root], check=True, capture_output=True)

    def run(*words):
        done = subprocess.run([sys.executable, repeat, "--build", build, *words], capture_output=True, text=True)
        return done.returncode, {line.split()[0]: line.split()[1:4] for line in done.stdout.splitlines()[1:]}

    got = run("4")
    assert got == (1, {"sound": ["4", "0", "0"], "third": ["4", "1", "0"], "lacking": ["4", "0", "4"]}), got
    assert "third for the 3. time" in (build / "repeat" / "third.1.log").read_text()
    assert run("--busy", "2", "third") == (0, {"third": ["2", "0", "0"]})
    assert run("2", "nosuch") == (1, {"nosuch": ["0", "0", "0"]})
