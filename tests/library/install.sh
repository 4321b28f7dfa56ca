#!/usr/bin/env bash
# install.sh: a C program and a C++ one, compiled against an installed tree by pkg-config alone; what is installed, and
# that nothing but the public names can be seen.
#   install.sh BUILD_DIR SANITIZERS
set -euo pipefail
build=$1
here=$(cd "$(dirname "$0")" && pwd)
[ "$2" = none ] || { echo "skipped: a library with $2 wants programs with $2"; exit 77; }
for tool in cc pkg-config nm meson; do
  command -v $tool >/dev/null || { echo "skipped: no $tool here"; exit 77; }
done
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
meson install -C "$build" --no-rebuild --quiet --destdir "$tree/root" >"$tree/log" 2>&1 || { cat "$tree/log"; exit 1; }

fail() {
  echo "install: $1"
  exit 1
}
one() {
  local found
  found=$(find "$tree/root" -path "*$1")
  [[ -n $found && $found != *$'\n'* ]] || fail "not one $1: '$found'"
  echo "$found"
}
pc=$(one /pkgconfig/foldproof.pc)
header=$(one /include/foldproof.h)
library=$(one /libfoldproof.so)
one /man/man1/foldproof.1 >/dev/null
one /bash-completion/completions/foldproof >/dev/null
command=$(one /bin/foldproof)
one /include/foldproof_guest.h >/dev/null
[ "$(find "$tree/root" -name '*.h' | wc -l)" = 2 ] || fail "other headers than $header and the guests'"
[ -z "$(find "$tree/root" -name '*.a')" ] || fail "a static library is installed"

hidden=$(nm -D --defined-only "$library" | awk '$3 !~ /^foldproof_|^FOLDPROOF_0/ { print $3 }')
[ -z "$hidden" ] || fail "visible from outside: $(head -n 5 <<<"$hidden")"
# Each function of the header is there.
for name in $(grep -oE '\bfoldproof_[a-z_]+\(' "$header" | tr -d '(' | sort -u); do
  nm -D --defined-only "$library" | grep -q " T $name@" || fail "the header's $name is not in the library"
done

export PKG_CONFIG_SYSROOT_DIR=$tree/root
PKG_CONFIG_PATH=$(dirname "$pc")${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}
export PKG_CONFIG_PATH
read -ra flags <<<"$(pkg-config --cflags --libs foldproof)"
version=$(pkg-config --modversion foldproof)
cp "$here/outside.c" "$tree"
cc -std=c99 -Wall -Wextra -Werror -pedantic -o "$tree/outside" "$tree/outside.c" "${flags[@]}"
LD_LIBRARY_PATH=$(dirname "$library") "$tree/outside" | tee "$tree/out"
grep -q "^foldproof $version: sum 0, exact 1 (1), error 1, bound" "$tree/out" || fail "an unexpected line"
if command -v c++ >/dev/null; then
  c++ -x c++ -std=c++17 -Wall -Wextra -Werror -o "$tree/outside++" "$tree/outside.c" -x none "${flags[@]}"
  LD_LIBRARY_PATH=$(dirname "$library") "$tree/outside++" | cmp - "$tree/out"
fi
# The installed command finds the installed fixtures.
count=$(env -u FOLDPROOF_FIXTURES "$command" list fixtures | wc -l)
[ "$count" -gt 100 ] || fail "the installed command lists $count fixtures"
one_of_them=$(one /share/foldproof/fixtures/classic.ini)
mv "$one_of_them" "$one_of_them.away"
[ "$(env -u FOLDPROOF_FIXTURES "$command" list fixtures | wc -l)" -lt "$count" ] ||
  fail "the installed command does not read the installed fixtures"
