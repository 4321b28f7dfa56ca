#!/bin/sh
# commit.sh: prints the commit of this source tree, with "+dirty" if tracked files differ from it; "unknown" if the tree is no
# checkout of its own, such as an unpacked archive, even if a repository lies around it. Each build asks for it (src/meson.build).
cd "$(dirname "$0")/.." || exit 1
top=$(git rev-parse --show-toplevel 2>/dev/null) && [ "$(cd "$top" && pwd -P)" = "$(pwd -P)" ] || { echo unknown; exit 0; }
commit=$(git rev-parse --short=12 HEAD 2>/dev/null) || { echo unknown; exit 0; }
changes=$(git status --porcelain --untracked-files=no 2>/dev/null) || { echo unknown; exit 0; }
echo "$commit${changes:++dirty}"
