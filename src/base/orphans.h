/* orphans.h: processes that a worker leaves behind: they become this process's children, and end with it.
 *
 * Children that were there before are nobody's business.
 */
#ifndef FOLD_ORPHANS_H
#define FOLD_ORPHANS_H

#include <sys/types.h>

enum { FOLD_ORPHANS_MOST = 256 };
struct fold_orphans {
  pid_t before[FOLD_ORPHANS_MOST];
  int n;
};

/* From now on what descendants leave behind comes to this process. */
void fold_orphans_adopt(struct fold_orphans *orphans);
/* Waits for so many seconds until they have ended by themselves, as guards of ranks do (world_guard.c); kills who has not. */
void fold_orphans_end(const struct fold_orphans *orphans, double patience);

#endif
