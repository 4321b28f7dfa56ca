#!/usr/bin/env bash
# verify.sh: installs what is missing, builds build/, and judges every subject: build/foldproof verify [OPTION...].
set -euo pipefail
cd "$(dirname "$0")/.."
ci/setup.sh build
exec build/foldproof verify "$@"
