"""Help and version: every command explains itself, under every way to ask, and its examples work.

test_help.py FOLDPROOF LIBRARY_FOLDER CC
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

FOLDPROOF, LIBRARY, CC = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve(), sys.argv[3].split()
# What the examples name, and what makes it; few cases, so that they take seconds.
FIXTURES = """[normal]
generator = normal
dtype = f32
rows = 1
cols = 33
seed = 1

[thirds]
values = 1, 3, 0.25
dtype = f32
provenance = a test
"""
PREPARED = """cp "$LIBRARY/examples/guest_sum.c" my_sum.c && $CC -shared -fPIC -I"$LIBRARY" my_sum.c -o my_sum.so
echo '*' >.gitignore && git init -q && git add -f my_sum.c && git -c user.name=a -c user.email=a@b commit -q -m 'a sum'
foldproof gen normal -n 100 -o x.npy && foldproof record 'host/*' -f normal --jsonl old.jsonl
foldproof record --guest ./my_sum.so --jsonl mine.jsonl && foldproof recheck old.jsonl --jsonl before.jsonl"""
ORDER = ["gen", "record", "certify", "recheck"]  # these make files that the others read
ELSEWHERE = {"foldproof bench --rows 1000 --cols 1000", "foldproof bench --engine nccl --what messages --jsonl times.jsonl", "foldproof study --messages --engine nccl --jsonl messages.jsonl"}


def run(*words, code=0):
    done = subprocess.run([FOLDPROOF, *words], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == code, f"{words}: {done.returncode}, not {code}: {done.stdout}{done.stderr}"
    return done.stdout, done.stderr


COMMANDS = re.findall(r"^  ([a-z]+) ", run("--help")[0], re.M)


def check_ways_to_ask():
    assert len(COMMANDS) >= 14, COMMANDS
    for command in COMMANDS:
        help_of, _ = run(command, "--help")
        assert help_of.startswith(f"Usage: foldproof {command} "), help_of
        for words in (command, "-h"), (command, "-?"), ("help", command), ("-h", command), ("--help", command):
            assert run(*words) == (help_of, ""), words
    for words in ("help",), ("-h",), ("help", "help"), ("help", "--help"):
        assert run(*words)[0] == run("--help")[0], words
    assert "did you mean 'verify'?" in run("help", "verfy", code=2)[1]


def check_problems():
    """Options that take any problem list the table's."""
    problems = re.findall(r"^(\S+) +\S+->", run("list", "problems")[0], re.M)
    listed = ", ".join(problems[:-1]) + " or " + problems[-1]
    assert len(problems) >= 14, problems
    for command in "verify", "record", "list", "oracle":
        said = " ".join(run(command, "--help")[0].split())
        assert listed in said and not re.search(r"\bPROBLEMS\b", said), said
    refused = run("study", "--problems", "nothing", code=2)[1]
    operations = re.search("not one of (.*)", refused)[1]
    said = " ".join(run("study", "--help")[0].split())
    assert operations.startswith("sum, prod, max") and f"--problems=LIST {operations} (default: sum)" in said, (refused, said)


def check_version():
    commit = json.loads(run("env", "--json")[0])["build"]
    said, _ = run("--version")
    assert re.fullmatch(r"[0-9a-f]{12}(\+dirty)?|unknown", commit), commit
    assert re.fullmatch(rf"foldproof [\d.]+ \(commit {re.escape(commit)}\)\n", said), (said, commit)
    for words in ("-V",), ("verify", "--version"), ("verify", "-V"):
        assert run(*words)[0] == said, words


def check_subjects():
    """Subjects need no option, as in reveal and certify."""
    case = ("--fixtures", "normal/f32/sum/1x33/seed1")
    for words, pattern in ((("verify", "-v", *case), r"^(\S+ on host)$"), (("record", *case), r'"subject":"([^"]*)"')):
        wanted = re.findall(pattern, run(*words, "--subjects", "host/pairwise,host/[kn]*")[0], re.M)
        assert len(set(wanted)) > 2, (words, wanted)
        for given in (("host/pairwise", "host/[kn]*"), ("host/pairwise,host/[kn]*",), ("-s", "host/pairwise", "host/[kn]*")):
            got = re.findall(pattern, run(*words, *given)[0], re.M)
            assert set(got) == set(wanted), (words, given, got, wanted)
    for given in ("host/kahan", "nosuch"), ("-s", "nosuch", "host/kahan"):
        assert "no subject on host matches 'nosuch'" in run("bench", "--engine", "host", *given, code=2)[1]


def in_shell(line, folder):
    own = dict(os.environ, PATH=f"{FOLDPROOF.parent}:{os.environ['PATH']}", LIBRARY=str(LIBRARY), CC=" ".join(CC), FOLDPROOF_FIXTURES=str(folder / "fixtures"))
    done = subprocess.run(["sh", "-ec", line], cwd=folder, env=own, capture_output=True, text=True, timeout=120, check=False)
    return done.returncode, f"{line}: {done.returncode}: {done.stdout[-2000:]}{done.stderr}"


def check_examples():
    """Three of each command stand before its options, fit the line, and do what they say. Those that need a GPU are skipped without one."""
    cases = {line.split()[0] for line in run("list", "fixtures")[0].splitlines()}
    assert {"normal/f32/sum/1x33/seed1", "thirds/f32/sum/1x3"} <= cases
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        (folder / "fixtures").mkdir()
        (folder / "fixtures" / "few.ini").write_text(FIXTURES)
        code, said = in_shell(PREPARED, folder)
        assert code == 0, said
        for command in sorted(COMMANDS, key=lambda name: (ORDER + COMMANDS).index(name)):
            text = run(command, "--help")[0]
            assert len(text.splitlines()) <= 95 and max(map(len, text.splitlines())) < 80, text
            examples = re.findall(rf"^  (foldproof {command}(?: .*)?)$", text.split("\nExamples:\n")[1].split("\n\n")[0], re.M)
            assert len(examples) == 3, text
            for example in examples:
                code, said = in_shell(example, folder)
                assert code == 0 or (code in (2, 77, 99) and example in ELSEWHERE), said


for check in (check_ways_to_ask, check_problems, check_version, check_subjects, check_examples):
    check()
print("ok")
