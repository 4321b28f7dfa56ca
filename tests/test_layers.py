#!/usr/bin/env python3
"""docs/architecture.md: no folder includes a header of a folder that comes after it in the table, or calls what such a folder defines.

test_layers.py SOURCE_FOLDER ARCHIVE... The archives are the built ones: nm tells which object defines a symbol, and which ask for it.
Headers of library/ are for all. A table of functions that a later folder fills is no call of that folder.
"""
import pathlib
import re
import subprocess
import sys

SOURCE, ARCHIVES = pathlib.Path(sys.argv[1]), sys.argv[2:]
PAGE = (SOURCE / "docs" / "architecture.md").read_text()
LAYERS = [name for name in re.findall(r"^\| `([\w/]+)/` \|", PAGE, re.M) if name != "library"]
# What the build makes of a template, for each dtype.
TEMPLATES = {"replay": "oracles", "instances": "kernels"}
failures = []


def check_folders():
    folders = {f"src/{path.name}" for path in (SOURCE / "src").iterdir() if path.is_dir() and any(path.iterdir())} | {"fixtures", "oracles", "kernels"}
    if set(LAYERS) != folders:
        failures.append(f"docs/architecture.md has other folders than the tree: {sorted(folders ^ set(LAYERS))}")


def check_includes():
    files = [path for name in LAYERS for path in (SOURCE / name).rglob("*") if path.suffix in (".c", ".h", ".inc", ".cu", ".cuh")]
    includes = 0
    for path in files:
        layer = next(i for i, name in enumerate(LAYERS) if f"{path.relative_to(SOURCE)}".startswith(name + "/"))
        for name in re.findall(r'^#include "([^"]+)/[^"/]+"', path.read_text(), re.M):
            home = name.split("/")[0] if name.split("/")[0] in LAYERS else f"src/{name}"
            includes += 1
            if home in LAYERS and LAYERS.index(home) > layer:
                failures.append(f"{path.relative_to(SOURCE)} includes a header of {home}, which comes after it")
    if len(files) < 200 or includes < 800:
        failures.append(f"only {len(files)} files and {includes} includes are read")


def folder_of(member):
    """Of an object, as nm names it, ARCHIVE:OBJECT: an object's name is its source's path with _ for /."""
    name = pathlib.PurePath(member.split(":")[-1]).name
    if "foldcuda" in member or "foldcutlass" in member:
        return "fixtures" if "fixtures_generate" in name else "kernels"
    made = re.match(r"meson-generated_\.\._([a-z]+)_", name)
    if made:
        return TEMPLATES.get(made[1])
    return next((layer for layer in LAYERS if name.startswith(layer.replace("/", "_") + "_")), None)


def check_calls():
    defined, asked = {}, []
    for archive in ARCHIVES:
        listed = subprocess.run(["nm", "-A", archive], capture_output=True, text=True, check=True).stdout
        for member, kind, symbol in re.findall(r"^(.*): *[0-9a-f]* +(\w) (\S+)$", listed, re.M):
            if kind == "U":
                asked.append((member, symbol))
            elif kind in "TDBRCVW":
                defined[symbol] = member
    unplaced = sorted({member for member in [*defined.values(), *(member for member, _ in asked)] if folder_of(member) is None})
    if unplaced:
        failures.append(f"of no folder: {unplaced}")
        return
    calls = [(member, symbol, defined[symbol]) for member, symbol in asked if symbol in defined]
    for member, symbol, other in calls:
        if LAYERS.index(folder_of(other)) > LAYERS.index(folder_of(member)):
            failures.append(f"{pathlib.PurePath(member).name} asks for {symbol}, which {folder_of(other)} defines, and comes after {folder_of(member)}")
    if len(calls) < 3000:
        failures.append(f"only {len(calls)} symbols of other objects are read")


check_folders()
check_includes()
check_calls()
for failure in failures:
    print(failure)
print(f"{len(failures)} failures")
sys.exit(1 if failures else 0)
