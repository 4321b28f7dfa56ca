/* ledger.h: what earlier hunts have found, as JSON lines: known failures, which are expected to fail again.
 *
 * A line: {"type": "found", "subject": ..., "engine": ..., "claim": ..., "broken": ..., "fixture": PATH, "case": NAME, "seed": "0x...",
 * "date": ...}. Lines of other types are left alone.
 */
#ifndef FOLD_LEDGER_H
#define FOLD_LEDGER_H

#include <jansson.h>
#include <limits.h>

#include "hunt/hunt.h"

struct fold_ledger_line {
  const char *subject, *engine, *claim, *of_case;
  char fixture[PATH_MAX]; /* as the current folder has it; in the ledger a relative path begins at the ledger's folder */
  bool broken;
};

struct fold_ledger {
  const char *path;
  json_t *lines; /* an array */
};

/* Reads the file; one that does not exist has no lines. BAD_INPUT names the line that is wrong. A file that could not be written later fails
 * now; one that does not exist is not made. */
fold_status fold_ledger_read(const char *path, struct fold_ledger *ledger);
size_t fold_ledger_length(const struct fold_ledger *ledger);
struct fold_ledger_line fold_ledger_at(const struct fold_ledger *ledger, size_t i);
/* Appends what was found to the file at once, so that an interruption does not lose it. */
fold_status fold_ledger_add(struct fold_ledger *ledger, const struct fold_registry *registry,
                            const struct fold_find *find, uint64_t seed);
void fold_ledger_close(struct fold_ledger *ledger);

#endif
