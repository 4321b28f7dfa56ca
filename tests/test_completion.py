"""Completion in bash offers what the command takes: options, values behind a blank or "=", and the rest of a list.

usage: test_completion.py FOLDPROOF COMPLETION
"""
import subprocess
import sys

foldproof, script = sys.argv[1:]
COMPLETE = 'COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); . "$0"; _foldproof; printf "%s\\n" "${COMPREPLY[@]}"'


def offered(*words):
    ran = subprocess.run(["bash", "-c", COMPLETE, script, foldproof, *words], capture_output=True, text=True, timeout=30, check=True)
    assert ran.stderr == "", f"{words}: {ran.stderr}"
    return ran.stdout.split()


def listed(what):
    lines = subprocess.run([foldproof, "list", what], capture_output=True, text=True, timeout=30, check=True).stdout.splitlines()
    return {line.split()[0] for line in lines if line and line[0] != " "} - {"order", "generator"}


def test_what_is_offered():
    rows = [
        (["verif"], "verify"),
        (["report", "--fo"], "--format"),
        (["report", "--format", "m"], "markdown"),
        (["compare", "--format", "j"], "json"),
        (["reveal", "--format", "s"], "svg"),
        (["verify", "--set", ""], "default large guests products all"),
        # Bash cuts "--set=l" into three words; with no "=" among COMP_WORDBREAKS it is one.
        (["verify", "--set", "=", "l"], "large"),
        (["verify", "--set", "="], "default large guests products all"),
        (["verify", "--set=l"], "--set=large"),
        (["order", "host/pairwise", "--draw", "=", "s"], "svg"),
        (["order", "host/pairwise", "--draw", "t"], "tree text"),
        # A list goes on behind each comma; what is there is not offered again.
        (["bench", "--dtype", "f32,f"], "f32,f16 f32,f64"),
        (["bench", "--dtype", "=", "f64,f16,f"], "f64,f16,f32"),
        (["bench", "--dtype=f64,b"], "--dtype=f64,bf16"),
        (["gen", "normal", "--dtype", "f32,"], ""),
        (["study", "--problems", "sum,p"], "sum,prod"),
        (["reveal", "--problem", "d"], "dot"),
        (["verify", "--claims", "bounded,run_to"], "bounded,run_to_run"),
        (["verify", "-s", "host/seq,host/pairw"], "host/seq,host/pairwise"),
        (["verify", "--fixtures", "subnormals"], "subnormals"),
        (["verify", "--fixtures", "subnormals,both_z"], "subnormals,both_zeros"),
        (["reveal", "host/pairw"], "host/pairwise"),
        (["verify", "host/pairw"], "host/pairwise"),
        (["record", "host/seq", "host/pairw"], "host/pairwise"),
        (["bench", "host/pairw"], "host/pairwise"),
        (["help", "verif"], "verify"),
        # An option with a number of its own: nothing, and no file's name.
        (["verify", "--repeats", ""], ""),
        (["verify", "--repeats", "=", ""], ""),
        (["gen", "norm"], "normal"),
    ]
    for words, want in rows:
        got = offered(*words)
        if words[-1] == "norm":
            assert want in got, got
        else:
            assert got == want.split(), f"{words}: {got}, want {want}"


def test_names_are_those_of_list():
    cases = [name for name in listed("fixtures") if name.startswith("subnormals/")]
    assert cases and sorted(offered("verify", "--fixtures", "subnormals/")) == sorted(cases)
    for words, what in ((["order"], "orders"), (["gen"], "generators")):
        got = offered(*words, "")
        assert set(got) == listed(what) and len(got) > 5, f"{words}: {set(got) ^ listed(what)}"


def test_options_are_those_of_help():
    for command in offered(""):
        text = subprocess.run([foldproof, command, "--help"], capture_output=True, text=True, timeout=30, check=True).stdout
        for option in offered(command, "--"):
            assert option in text and not option.endswith(("=", "[")), f"{command}: {option}"
        assert "--help" in offered(command, "--"), command


def test_no_value_is_refused():
    rows = [("report", "--format", ["/dev/null"]), ("reveal", "--format", ["host/no"]), ("verify", "--set", ["--subjects", "no"])]
    rows += [("bench", "--dtype", ["--iterations", "x"]), ("order", "--draw", ["no"]), ("study", "--problems", ["--sizes", "x"])]
    for command, option, rest in rows:
        for value in offered(command, option, ""):
            ran = subprocess.run([foldproof, command, f"{option}={value}", *rest], capture_output=True, text=True, timeout=30, check=False)
            assert f"{option} {value}" not in ran.stderr, f"{command} {option} {value}: {ran.stderr}"


for name, test in list(globals().items()):
    if name.startswith("test_"):
        test()
print("4 passed, 0 failed")
