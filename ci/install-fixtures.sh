#!/bin/sh
# install-fixtures.sh: called by meson install; copies the fixtures to DATADIR/foldproof/fixtures.
set -eu
case $1 in
  /*) folder=${DESTDIR:-}$1 ;;
  *) folder=$MESON_INSTALL_DESTDIR_PREFIX/$1 ;;
esac
mkdir -p "$folder"
cd "$MESON_SOURCE_ROOT/fixtures"
install -m 644 ./*.ini ./*.npy "$folder"
