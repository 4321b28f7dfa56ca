"""What is refused is named, with the reason and the way out; for each class of mistakes: empty words, numbers, names, files, arrays.

test_messages.py FOLDPROOF. The options are those of --help.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

FOLDPROOF = pathlib.Path(sys.argv[1]).resolve()
ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")


def run(*words, code=2):
    done = subprocess.run([FOLDPROOF, *words], capture_output=True, text=True, timeout=120, check=False, env=ENVIRONMENT)
    assert done.returncode == code, f"{words}: {done.returncode}, not {code}: {done.stdout}{done.stderr}"
    return done.stderr


def says(said, *words):
    """The message, on one line."""
    err = run(*words)
    assert said in err and err.count("\n") == 1, f"{words}: {err!r} lacks {said!r}"


def options_of(command):
    """Each long option that takes a value, with what --help calls that."""
    help_of = subprocess.run([FOLDPROOF, command, "--help"], capture_output=True, text=True, check=True).stdout
    return [option for line in help_of.splitlines() if re.match(" {2,6}-", line) for option in re.findall(r"(--[a-z-]+)=(\S+?)(?:,? |$)", line)]


COMMANDS = re.findall(r"^  ([a-z]+) ", subprocess.run([FOLDPROOF, "--help"], capture_output=True, text=True, check=True).stdout, re.M)


def check_empty_words():
    tried = 0
    for command in COMMANDS:
        for option, _ in options_of(command):
            tried += 1
            for empty in "", " ", ",":
                says(f"foldproof {command}: {option} '{empty}': it is empty\n", command, option, empty)
                says(f"foldproof {command}: {option} '{empty}': it is empty\n", command, f"{option}={empty}")
        says("'': it is empty\n", command, "")
    assert tried > 100, tried
    says("-s '': it is empty", "verify", "-s", "")


def check_numbers():
    """One range in all messages, and no whole number is called none."""
    tried = 0
    for command in COMMANDS:
        for option, what in options_of(command):
            if what not in ("N", "R", "C", "ROWS", "SEED", "SECONDS", "N,...", "LENGTHS") or option in ("--ulps", "--condition"):
                continue
            tried += 1
            for text in "abc", "-1", "1.5", "1e", "5 ":
                range_of = re.search(rf"{option} {text}: not a whole number from (\d+) to (\d+)\n", run(command, f"{option}={text}"))
                assert range_of, (command, option, text)
            least, most = map(int, range_of.groups())
            for text in str(most + 1), "1e30", "99999999999999999999", "2^100":
                says(f"{option} {text}: at most {most}\n", command, f"{option}={text}")
            if least > 0:
                says(f"{option} {least - 1}: at least {least}\n", command, f"{option}={least - 1}")
    assert tried > 30, tried


def check_names():
    """Every name has its "did you mean"."""
    for meant, *words in [
        ("verify", "verfy"), ("verify", "help", "verfy"), ("host/kahan", "verify", "host/kahn"), ("host/kahan", "record", "host/kahn"), ("host/numpy", "bench", "host/numyp", "--engine", "host"),
        ("host/exact", "reveal", "host/exat"), ("host/exact", "certify", "host/exat", "-f", "thirds"), ("replays", "verify", "--claims", "replys"), ("replays", "list", "claims", "--claims", "replys"),
        ("subjects", "list", "subject"), ("mixed", "gen", "mxied", "-n", "3", "-o", "x.npy"), ("mixed", "study", "--generators", "mxied"), ("mixed", "bench", "--generator", "mxied"),
        ("flat/canonical", "order", "flat/cannonical"), ("text", "order", "host/pairwise", "--draw=txt"), ("host", "verify", "--engine", "hots"), ("large", "verify", "--set", "larg"),
        ("f32", "gen", "normal", "-n", "3", "--dtype", "f23"), ("sum", "oracle", "x.npy", "--problem", "sume"), ("prod", "study", "--problems", "prud"), ("markdown", "report", "x", "--format", "markdwon"),
        ("json", "compare", "x", "x", "--format", "jsno"), ("gpu_to_gpu", "compare", "x", "x", "--claim", "gpu_to_gp"), ("host", "compare", "x", "x", "--across", "hots,cuda"),
        ("nccl", "study", "--messages", "--engine", "ncl"), ("strong", "bench", "--engine", "mpi", "--what", "stong"), ("svg", "reveal", "host/kahan", "--format", "sgv"),
        ("thirds", "verify", "-f", "thids"), ("normal/f32/sum/1x33/seed1", "verify", "-f", "normal/f32/sum/1x33/sed1"),
        ("list", "lsit", "subjects"), ("host/sequential", "verify", "sequental"), ("run_to_run", "verify", "--claims", "runtorun"), ("normal", "verify", "-f", "nromal/f32/*"),
        # Of a case the name's beginning alone: what begins so.
        ("normal/f32/sum/1x3/*", "verify", "-f", "normal/f32/sum/1x3"), ("normal/f32/*", "verify", "-f", "normal/f32"), ("normal/f32/*", "list", "fixtures", "-f", "thirds,normal/f32"),
    ]:
        err = run(*words)
        assert f"did you mean '{meant}'?" in err, (words, err)
    for words in ("zzzzzz",), ("verify", "zzzzzz"), ("gen", "zzzzzz", "-n", "5", "-o", "x.npy"), ("verify", "-f", "zzzzzz"):
        err = run(*words)
        assert "zzzzzz" in err and "did you mean" not in err, (words, err)
    says("--set all has it", "verify", "-f", "large_random")
    says("no size of the sweep matches 'normal/*': a sweep is judged in place of fixtures, and its cases begin with sweep/\n", "verify", "--sweep", "k=3", "-f", "normal/*")
    says("matches 'nosuch'\n", "verify", "-f", "nosuch,thirds")
    says("matches 'nosuch'\n", "verify", "-f", "thirds,nosuch")
    for words in ("bench", "--engine", "mpi", "--settings", "rign"), ("reveal", "collective/canonical", "--engine", "mpi", "--map", "1", "--settings", "rign"):
        done = subprocess.run([FOLDPROOF, *words], capture_output=True, text=True, timeout=120, check=False, env=ENVIRONMENT)
        assert done.returncode == 77 or "not one of default, basic linear" in done.stderr and "did you mean 'ring'?" in done.stderr, (words, done)


def check_files():
    """The system's reason for every file that cannot be read; where a word is a file, the option that takes it."""
    os.mkdir("folder")
    for words in ("oracle",), ("report",), ("recheck",), ("compare", "missing"), ("verify", "--npy"), ("record", "--npy"), ("verify", "--fixture-folder"), ("verify", "--guest"), ("reveal", "--guest"):
        assert re.search("missing.*: No such file or directory$", run(*words, "missing"), re.M), words
    for words in ("list", "fixtures"), ("verify", "host/kahan"):
        says("folder: no *.ini is in it\n", *words, "--fixture-folder", "folder")
    for name, option in ("x.npy", "--npy"), ("mine.so", "--guest"), ("run.jsonl", "--jsonl"):
        for command in "verify", "record", "bench":
            says(f"foldproof {command}: '{name}' is a file and no subject: did you mean {option} {name}?\n", command, name)


def write_npy(descr, shape, order="False"):
    header = f"{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}".ljust(117) + "\n"
    pathlib.Path("a.npy").write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + bytes(64))


def check_arrays():
    """How to save what is read."""
    for array, hint in ((("<u8", "(4,)"), ": save x.astype('f4') or another of these"), (("|O", "(4,)"), ": save x.astype('f8')"), (("<f4", "(1, 4, 4)"), ": save x.reshape(rows, cols)"),
                        (("<f4", "()"), ": save x.reshape(1)"), (("<f4", "(2, 2)", "True"), ": save numpy.ascontiguousarray(x)"), ((">f4", "(4,)"), ": save x.astype(x.dtype.newbyteorder('<'))")):
        write_npy(*array)
        for words in ("oracle", "a.npy"), ("verify", "--npy", "a.npy"):
            says(hint + "\n", *words)


def check_sizes():
    says("--n does not go with --rows or --cols\n", "gen", "normal", "-n", "3", "--rows", "2", "--cols", "2", "-o", "a.npy")
    assert not os.path.exists("a.npy")
    says("--n does not go with --rows or --cols\n", "gen", "normal", "--cols", "2", "-n", "3", "-o", "a.npy")


def check_variables():
    """In any command, whatever it would have read: what is no whole number is never none, nor "not set"."""
    no_number, below = "not a whole number from", "at least 1"
    for name, values in {"RANKS": {"0": below, "1025": "at most 1024", "few": no_number, "": no_number, "-1": no_number}, "TIMEOUT": {"0": below, "soon": no_number, "": no_number},
                         "REQUIRE_GPUS": {"yes": no_number, "": no_number, " 1": no_number, "0x1": no_number, "1025": "at most 1024", "9" * 23: "at most 1024"},
                         "PEER": {"no": no_number, "2": "at most 1"}}.items():
        for value, said in values.items():
            for command in COMMANDS if value in ("few", "soon", "yes", "no") else ("list",):
                ENVIRONMENT[f"FOLDPROOF_{name}"] = value
                says(f"FOLDPROOF_{name}={value}: {said}", command)
        del ENVIRONMENT[f"FOLDPROOF_{name}"]


with tempfile.TemporaryDirectory() as scratch:
    os.chdir(scratch)
    for check in (check_sizes, check_files, check_arrays, check_names, check_variables, check_numbers, check_empty_words):
        try:
            check()
        except AssertionError as error:
            print(f"FAILED: {check.__name__}: {error}")
            sys.exit(1)
print("ok")
