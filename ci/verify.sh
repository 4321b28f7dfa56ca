#!/usr/bin/env bash
# verify.sh: installs what is missing, builds build/, and judges every subject: build/foldproof verify [OPTION...].
set -euo pipefail
cd "$(dirname "$0")/.."
# Open MPI's mpirun refuses root, the user in containers, unless it is told twice.
[ "$(id -u)" != 0 ] || export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
ci/setup.sh build
exec build/foldproof verify "$@"
