/* setting.h: the environment's variables that are numbers, FOLDPROOF_*: which there are, their limits, and their one reader.
 *
 * Promised: a variable that is set to anything but a whole number within its limits, to nothing too, is FOLD_BAD_INPUT
 * with its name and value; it never stands for 0 or for "not set". A runner that says FOLDPROOF_REQUIRE_GPUS=yes would
 * be green without its driver otherwise. The same rule for shell scripts is in ci/required-gpus.sh.
 */
#ifndef FOLD_SETTING_H
#define FOLD_SETTING_H

#include "fold.h"

#ifdef __cplusplus
extern "C" {
#endif

enum fold_setting {
  FOLD_SETTING_REQUIRE_GPUS, /* so many GPUs must be here */
  FOLD_SETTING_RANKS,        /* world.h */
  FOLD_SETTING_TIMEOUT,      /* world.h, in seconds */
  FOLD_SETTING_PEER,         /* 0: ranks share no memory (cuda/collective_reach.h, collective/segment.h) */
  FOLD_SETTINGS,
};

/* `otherwise` where the variable is not set. */
fold_status fold_setting_number(enum fold_setting setting, unsigned otherwise, unsigned *value);
/* All of them, before a command does anything. */
fold_status fold_settings_check(void);

#ifdef __cplusplus
}
#endif

#endif
