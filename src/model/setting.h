/* setting.h: the environment's variables that are numbers, FOLDPROOF_*: their names, limits and the one function that reads them.
 *
 * Promised: a variable that is set to anything but a whole number within its limits (even to the empty text) is
 * FOLD_BAD_INPUT, with its name and value. It is never taken as 0 or as "not set"; otherwise a runner with
 * FOLDPROOF_REQUIRE_GPUS=yes would be green without a driver. The same rule for shell scripts is in
 * ci/required-gpus.sh.
 */
#ifndef FOLD_SETTING_H
#define FOLD_SETTING_H

#include "base/fold.h"

#ifdef __cplusplus
extern "C" {
#endif

enum fold_setting {
  FOLD_SETTING_REQUIRE_GPUS, /* this many GPUs must be there */
  FOLD_SETTING_RANKS,        /* world.h */
  FOLD_SETTING_TIMEOUT,      /* world.h, in seconds */
  FOLD_SETTING_ORDER_TIME,   /* run_pair.h, in seconds */
  FOLD_SETTING_PEER,         /* 0: ranks share no memory (kernels/collective/collective_reach.h, collective/segment.h) */
  FOLD_SETTINGS,
};

/* The variable's number; `otherwise` if it is not set. */
fold_status fold_setting_number(enum fold_setting setting, unsigned otherwise, unsigned *value);
/* Checks all of them, before a command does anything. */
fold_status fold_settings_check(void);

#ifdef __cplusplus
}
#endif

#endif
