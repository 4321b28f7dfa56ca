#!/usr/bin/env python3
"""ci/release.sh, in a repository of its own: what it writes, what it refuses, and what it says of the wheel.

test_release.py SOURCE_FOLDER. The tree's files are committed to a new repository; no network is asked, and no wheel is built.
"""
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile

SOURCE = pathlib.Path(sys.argv[1])
WHO = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b", "GIT_CONFIG_GLOBAL": "/dev/null",
       "GIT_CONFIG_NOSYSTEM": "1"}


def run(*words, cwd):
    env = {key: value for key, value in os.environ.items() if not key.startswith(("GIT_", "PIP_"))} | WHO
    done = subprocess.run([str(word) for word in words], cwd=cwd, env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
    return done.returncode, done.stdout


def commit(tree):
    for words in (("add", "-A"), ("commit", "-q", "-m", "a change")):
        code, text = run("git", *words, cwd=tree)
        assert code == 0, text


def expect_refused(tree, out, what):
    code, text = run("ci/release.sh", out, cwd=tree)
    assert code == 2 and what in text, (code, text)
    assert not list(out.glob("*.tar.gz")), f"an archive in spite of: {what}"


version = re.search(r"version: '([^']*)'", (SOURCE / "meson.build").read_text())[1]
with tempfile.TemporaryDirectory() as folder:
    tree, out = pathlib.Path(folder) / "tree", pathlib.Path(folder) / "out"
    for name in ("meson.build", "CHANGELOG.md", "README.md", "ci/release.sh", "ci/wheel.sh", "library/foldproof.h"):
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(SOURCE / name, tree / name)
    assert run("git", "init", "-q", cwd=tree)[0] == 0
    commit(tree)

    code, text = run("ci/release.sh", out, cwd=tree)
    assert code == 0, text
    assert re.search(r"^wheel: skipped: ", text, re.M), text
    archive = out / f"foldproof-{version}.tar.gz"
    with tarfile.open(archive) as tar:
        held = {member.name for member in tar if member.isfile()}
    assert held == {f"foldproof-{version}/{path.relative_to(tree)}" for path in tree.rglob("*") if path.is_file() and ".git" not in path.parts}, held
    sums = (out / "SHA256SUMS").read_text().split()
    assert sums == [hashlib.sha256(archive.read_bytes()).hexdigest(), archive.name], sums
    expect_refused(tree, tree / "ci", "is not empty")

    again = pathlib.Path(folder) / "again"
    assert run("ci/release.sh", again, cwd=tree)[0] == 0
    assert (again / archive.name).read_bytes() == archive.read_bytes(), "the same commit gave another archive"

    empty = pathlib.Path(folder) / "empty"
    (tree / "README.md").write_text("changed")
    expect_refused(tree, empty, "not committed")
    commit(tree)
    (tree / "CHANGELOG.md").write_text("# Changes\n")
    commit(tree)
    expect_refused(tree, empty, f"no entry for {version}")
print("ok")
