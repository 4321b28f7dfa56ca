/* reaper.h: processes that a worker leaves behind become this process's children and do not outlive it.
 *
 * Children that existed before are left alone.
 */
#ifndef FOLD_REAPER_H
#define FOLD_REAPER_H

#include <sys/types.h>

enum { FOLD_REAPER_MOST = 256 };
struct fold_reaper {
  pid_t before[FOLD_REAPER_MOST];
  int n;
};

/* From now on orphans among this process's descendants become its children. */
void fold_reaper_begin(struct fold_reaper *reaper);
/* Waits up to so many seconds until they end by themselves, as guards of ranks do (ranks/guard.c). Then asks the rest to
 * end, and waits up to 5 seconds, for a guard of guests (process/guard.h) removes files; then kills them. */
void fold_reaper_end(const struct fold_reaper *reaper, double timeout);

#endif
