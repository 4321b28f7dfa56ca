/* setting.c: see setting.h. */
#include "model/setting.h"

#include <stdlib.h>

static const struct {
  const char *name;
  unsigned least, most;
} settings[FOLD_SETTINGS] = {
    [FOLD_SETTING_REQUIRE_GPUS] = {"FOLDPROOF_REQUIRE_GPUS", 0, 1024},
    [FOLD_SETTING_RANKS] = {"FOLDPROOF_RANKS", 1, 1024},
    [FOLD_SETTING_TIMEOUT] = {"FOLDPROOF_TIMEOUT", 1, 86400},
    [FOLD_SETTING_ORDER_TIME] = {"FOLDPROOF_ORDER_TIME", 1, 86400},
    [FOLD_SETTING_PEER] = {"FOLDPROOF_PEER", 0, 1},
};

/* Digits only: strtoul would accept blanks and signs, and would wrap -1. A number beyond its range gives ULONG_MAX, which is
 * above every limit. */
static bool whole_number(const char *text, unsigned long *number) {
  char *end;
  if (*text < '0' || *text > '9') return false;
  *number = strtoul(text, &end, 10);
  return *end == '\0';
}

fold_status fold_setting_number(enum fold_setting setting, unsigned otherwise, unsigned *value) {
  const char *name = settings[setting].name, *text = getenv(name);
  const unsigned least = settings[setting].least, most = settings[setting].most;
  unsigned long number;
  *value = otherwise;
  if (text == NULL) return fold_ok();
  if (!whole_number(text, &number))
    return fold_error(FOLD_BAD_INPUT, "%s=%.40s: not a whole number from %u to %u", name, text, least, most);
  if (number < least) return fold_error(FOLD_BAD_INPUT, "%s=%.40s: at least %u", name, text, least);
  if (number > most) return fold_error(FOLD_BAD_INPUT, "%s=%.40s: at most %u", name, text, most);
  *value = (unsigned)number;
  return fold_ok();
}

fold_status fold_settings_check(void) {
  unsigned value;
  for (int s = 0; s < FOLD_SETTINGS; s++) FOLD_TRY(fold_setting_number((enum fold_setting)s, 0, &value));
  return fold_ok();
}
