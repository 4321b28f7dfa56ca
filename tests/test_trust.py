"""foldproof rerun runs nothing that a file names: no command, shared object, launcher or setting, unless its user gives it or says --trust.

test_trust.py FOLDPROOF FOLDPROOF_MUTANTS LIBRARY_FOLDER CC
"""
import os
import pathlib
import subprocess
import sys
import tempfile

from recorded import CC, GUEST, expect, lines_of, run, write_records
from sealed import seal

EVIL = """#include <fcntl.h>
__attribute__((constructor)) static void run(void) { open("PWNED", O_CREAT | O_WRONLY, 0600); }
"""
# A row of two zeros over two ranks: what no engine needs to be here to have recorded.
OVER_RANKS = {"schema": 2, "build": "0123456789ab", "type": "run", "subject": "mpi/allreduce", "engine": "mpi", "peer": True, "case": "zeros_mixed/f32/max/9x2/ranks2/seed1",
              "dtype": "f32", "op": "max", "rows": 9, "cols": 2, "generator": "zeros_mixed", "seed": 1, "input_xxh3": "0xa0bdb8a385d748a4", "ranks": 2,
              "results": ["0x80000000"] * 6 + ["0x00000000"] * 3, "values": ["-0"] * 6 + ["0"] * 3, "results_xxh3": "0x05d8810ff92f8fe2"}


def asked(folder, records, **words):
    """A file of these records, closed as foldproof closes one, whose environment asks for these words."""
    environment = dict(lines_of(folder / "r.jsonl")[0], asked=words)
    seal(folder / "asked", [environment, *records])


def refused(folder, records, shown, **words):
    asked(folder, records, **words)
    _, said = run("rerun", "asked", cwd=folder, code=2)
    expect(shown, said)
    expect("--trust", said)
    assert not list(folder.glob("PWNED*")), said
    assert "\x1b" not in said, said


def check_commands(folder):
    """A command, and a shared object at its path: shown, not run; also where the file has subjects of foldproof's own."""
    own = [line for line in lines_of(folder / "r.jsonl") if line.get("subject") == "host/numpy"][:2]
    guests = [dict(line, subject="mine/sum", guest=True, order=None) for line in own]
    guests = [{key: value for key, value in line.items() if value is not None} for line in guests]
    (folder / "evil.c").write_text(EVIL)
    subprocess.run([*CC, "-shared", "-fPIC", "evil.c", "-o", "evil.so"], cwd=folder, check=True)
    for records in own, guests:
        refused(folder, records, r"^  --exec 'touch PWNED; exit 1'$", guests=[["--exec", "touch PWNED; exit 1"]])
        refused(folder, records, r"^  --guest '\./evil\.so'$", guests=[["--guest", "./evil.so"]])
        refused(folder, records, rf"^  --guest '{folder}/evil\.so'$", guests=[["--guest", f"{folder}/evil.so"]])
        refused(folder, records, r"^  --exec \"\$\(printf 'touch\\040PWNED\\033\[2J\\342\\200\\256'\)\"$", guests=[["--exec", "touch PWNED\x1b[2J\u202e"]])
    # With --trust it does what the file asks, and shows it; nothing is looked for at the file's side.
    asked(folder, guests, guests=[["--exec", "touch PWNED; exit 1"]])
    expect(r"^  --exec 'touch PWNED; exit 1'$", run("rerun", "--trust", "asked", cwd=folder)[1])
    (folder / "PWNED").unlink()
    (folder / "there").mkdir()
    asked(folder, guests, guests=[["--guest", "./evil.so"]])
    _, said = run("rerun", "--trust", "../asked", cwd=folder / "there", code=77)
    expect(r"\./evil\.so cannot be loaded", said)
    assert not (folder / "PWNED").exists() and not (folder / "there" / "PWNED").exists(), said


def check_given(folder):
    """The user's own guest runs, and what the file names beside it does not."""
    (folder / "mine.py").write_text(GUEST)
    program = f"{sys.executable} mine.py"
    run("record", "--exec", program, "-f", "normal/f32/sum/1x3[0-3]/seed1", "--jsonl", "g", cwd=folder, code=0)
    records = lines_of(folder / "g")[1:-1]
    refused(folder, records, f"^  --exec '{program}'$", guests=[["--exec", program]])
    asked(folder, records, guests=[["--exec", program]])
    expect("^4 agree", run("rerun", "--trust", "asked", cwd=folder, code=0)[1])
    expect("^4 agree", run("rerun", "--exec", program, "asked", cwd=folder, code=0)[1])
    asked(folder, records, guests=[["--exec", "touch PWNED"], ["--exec", program]])
    expect("^4 agree", run("rerun", "--trust", "--exec", program, "asked", cwd=folder, code=0)[1])
    assert not (folder / "PWNED").exists()


def check_worlds(folder):
    """A launcher, and settings of libraries: taken from the user alone. On the host there is no launcher to ask for."""
    launcher = "sh -c touch${IFS}PWNED"
    refused(folder, [OVER_RANKS], r"^  --launch 'sh -c touch\$\{IFS\}PWNED'$", launch=launcher, ranks="2")
    for name, value in (("OMPI_MCA_mca_base_component_path", "/tmp/evil"), ("OMPI_MCA_coll_tuned_use_dynamic_rules", "1"), ("NCCL_NET_PLUGIN", "evil"),
                        ("FOLDPROOF_NCCL", "evil.so"), ("OMP_SCHEDULE", "/tmp/x")):
        refused(folder, [OVER_RANKS], rf"^  {name}='{value}'$", variables={name: value})
    own = [line for line in lines_of(folder / "r.jsonl") if line.get("subject") == "host/numpy"][:2]
    asked(folder, own, launch=launcher, ranks="2", variables={"OMP_NUM_THREADS": "2", "LD_PRELOAD": "./evil.so", "PATH": "/tmp"})
    expect("^2 agree", run("rerun", "asked", cwd=folder, code=0)[1])
    refused(folder, own, "^  NCCL_ALGO='Ring'$", variables={"NCCL_ALGO": "Ring"})
    os.environ["NCCL_ALGO"] = "Tree"  # what the user has set is the user's
    expect("^2 agree", run("rerun", "asked", cwd=folder, code=0)[1])
    assert not list(folder.glob("PWNED*"))


with tempfile.TemporaryDirectory() as scratch:
    write_records(pathlib.Path(scratch))
    for check in (check_commands, check_given, check_worlds):
        check(pathlib.Path(scratch))
