/* keep.h: what a hunt has found, as a fixture file. */
#ifndef FOLD_KEEP_H
#define FOLD_KEEP_H

#include "hunt/hunt.h"

/* Writes the cases of the find to a new file of the hunt's folder, which is made if it is missing, and says of it what the file does not.
 * `from`: the case's name in the hunt. */
fold_status fold_hunt_keep(const struct fold_hunt *hunt, const struct fold_found *found, const char *from,
                           struct fold_find *find);

#endif
