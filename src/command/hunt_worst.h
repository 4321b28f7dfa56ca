/* command/hunt_worst.h: foldproof hunt --worst. */
#ifndef FOLD_HUNT_WORST_H
#define FOLD_HUNT_WORST_H

#include "hunt/worst.h"

/* Prints for each selected subject, and keeps as a fixture, the input whose error is greatest in that measure; the hunt's time is shared by
 * them. Returns the exit code: 1 if an error is above its bound. */
int fold_hunt_worst(const struct fold_hunt *hunt, enum fold_worst_by by, const char *program);

#endif
