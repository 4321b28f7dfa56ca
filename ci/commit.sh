#!/bin/sh
# commit.sh: the commit that this source tree is at, with "+dirty" where tracked files differ from it; "unknown" where the tree is no
# checkout of its own, as an unpacked archive is, whatever repository may lie around it. The build asks each time (src/meson.build).
cd "$(dirname "$0")/.." || exit 1
top=$(git rev-parse --show-toplevel 2>/dev/null) && [ "$(cd "$top" && pwd -P)" = "$(pwd -P)" ] || { echo unknown; exit 0; }
commit=$(git rev-parse --short=12 HEAD 2>/dev/null) || { echo unknown; exit 0; }
changes=$(git status --porcelain --untracked-files=no 2>/dev/null) || { echo unknown; exit 0; }
echo "$commit${changes:++dirty}"
