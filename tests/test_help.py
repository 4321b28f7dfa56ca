"""Help and version: every command explains itself, under every way to ask.

test_help.py FOLDPROOF
"""
import json
import re
import subprocess
import sys

FOLDPROOF = sys.argv[1]


def run(*words, code=0):
    done = subprocess.run([FOLDPROOF, *words], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == code, f"{words}: {done.returncode}, not {code}: {done.stdout}{done.stderr}"
    return done.stdout, done.stderr


COMMANDS = re.findall(r"^  ([a-z]+) ", run("--help")[0], re.M)


def check_ways_to_ask():
    assert len(COMMANDS) >= 16, COMMANDS
    for command in COMMANDS:
        help_of, _ = run(command, "--help")
        assert help_of.startswith(f"Usage: foldproof {command} "), help_of
        for words in (command, "-h"), (command, "-?"), ("help", command), ("-h", command), ("--help", command):
            assert run(*words) == (help_of, ""), words
    for words in ("help",), ("-h",), ("help", "help"), ("help", "--help"):
        assert run(*words)[0] == run("--help")[0], words
    assert "did you mean 'verify'?" in run("help", "verfy", code=2)[1]


def check_version():
    commit = json.loads(run("env", "--json")[0])["build"]
    said, _ = run("--version")
    assert re.fullmatch(r"[0-9a-f]{12}(\+dirty)?|unknown", commit), commit
    assert re.fullmatch(rf"foldproof [\d.]+ \(commit {re.escape(commit)}\)\n", said), (said, commit)
    for words in ("-V",), ("verify", "--version"), ("verify", "-V"):
        assert run(*words)[0] == said, words


def check_old_names():
    """They still work, and are not listed."""
    assert "recheck" in COMMANDS and "judge" not in COMMANDS, COMMANDS
    assert run("judge", "--help") == run("recheck", "--help")
    for words in ("oracle", "x.npy", "--op"), ("verify", "--op"), ("list", "fixtures", "--op"), ("record", "--op"), ("bench", "--op"), ("reveal", "--op"), ("study", "--ops"):
        assert words[-1] not in run(words[0], "--help")[0], words
        assert "did you mean 'sum'?" in run(*words, "sume", code=2)[1], words


def check_subjects():
    """Subjects need no option, as in reveal and certify."""
    case = ("--fixtures", "normal/f32/sum/1x33/seed1")
    for words, pattern in ((("verify", *case), r"^(\S+ on host)$"), (("record", *case), r'"subject":"([^"]*)"')):
        wanted = re.findall(pattern, run(*words, "--subjects", "host/pairwise,host/[kn]*")[0], re.M)
        assert len(set(wanted)) > 2, (words, wanted)
        for given in (("host/pairwise", "host/[kn]*"), ("host/pairwise,host/[kn]*",), ("-s", "host/pairwise", "host/[kn]*")):
            got = re.findall(pattern, run(*words, *given)[0], re.M)
            assert set(got) == set(wanted), (words, given, got, wanted)
    for given in ("host/kahan", "nosuch"), ("-s", "nosuch", "host/kahan"):
        assert "no subject on host matches 'nosuch'" in run("bench", "--engine", "host", *given, code=2)[1]


for check in (check_ways_to_ask, check_version, check_old_names, check_subjects):
    check()
print("ok")
