/* scratch.h: folders for files that last as long as a command.
 *
 * A folder is locked while a process of its command lives. So the next command that makes one there removes those that
 * belong to no process, however it ended, in whatever namespace or container it was; never another user's.
 */
#ifndef FOLD_SCRATCH_H
#define FOLD_SCRATCH_H

#include "base/fold.h"

/* Makes "OF/STEM-XXXXXX", and removes those of the same stem, owner and folder that no process locks. ENVIRONMENT. */
fold_status fold_scratch_make(const char *of, const char *stem, size_t size, char path[]);
/* Removes a folder, or a file, with all that is in it. */
void fold_scratch_remove(const char *path);

#endif
