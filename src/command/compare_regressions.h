/* command/compare_regressions.h: foldproof compare --regressions: which verdicts got worse from one file of records to another. */
#ifndef FOLD_COMMAND_COMPARE_REGRESSIONS_H
#define FOLD_COMMAND_COMPARE_REGRESSIONS_H

#include <stdbool.h>

/* Returns the exit code. `subset`: what only one file has judged, and incomplete files, are allowed. */
int fold_compare_regressions(const char *program, const char *const path[2], bool subset);

#endif
