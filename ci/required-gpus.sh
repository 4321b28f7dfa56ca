# shellcheck shell=bash
# required-gpus.sh: sourced: require_gpus DEFAULT sets and exports FOLDPROOF_REQUIRE_GPUS, how many GPUs this machine must have. A value
# that is no whole number ends the script with exit code 2, as src/model/setting.h says: it must not be taken for 0.
require_gpus() {
  export FOLDPROOF_REQUIRE_GPUS=${FOLDPROOF_REQUIRE_GPUS-$1}
  if ! [[ $FOLDPROOF_REQUIRE_GPUS =~ ^[0-9]{1,4}$ ]] || ((10#$FOLDPROOF_REQUIRE_GPUS > 1024)); then
    echo "$0: FOLDPROOF_REQUIRE_GPUS=$FOLDPROOF_REQUIRE_GPUS: not a whole number from 0 to 1024" >&2
    exit 2
  fi
  FOLDPROOF_REQUIRE_GPUS=$((10#$FOLDPROOF_REQUIRE_GPUS))
}
