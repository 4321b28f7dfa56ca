/* ledger_cases.h: what a ledger has from earlier hunts: run first, and expected to fail again. */
#ifndef FOLD_LEDGER_CASES_H
#define FOLD_LEDGER_CASES_H

#include "hunt/hunt.h"
#include "hunt/ledger.h"

enum { FOLD_LEFT_OUT = 4096 };

/* Points to what the hunt itself points to. */
struct fold_known {
  uint64_t *expected, *tails;
  const char **left_out;
  size_t n_left_out;
};

/* Runs the ledger's fixtures of the hunt's subjects, and has the hunt expect their claims. Inputs that ended a process are not run,
 * and left out of the hunt. `told` is called for each that does not fail any more (holds), or whose file is gone. To be closed after the hunt. */
fold_status fold_known_run(struct fold_hunt *hunt, const struct fold_ledger *ledger,
                           void (*told)(void *context, const struct fold_ledger_line *line, bool holds), void *context,
                           struct fold_known *known);
void fold_known_close(struct fold_known *known);

#endif
