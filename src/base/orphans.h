/* orphans.h: processes that a worker leaves behind become this process's children and do not outlive it.
 *
 * Children that existed before are left alone.
 */
#ifndef FOLD_ORPHANS_H
#define FOLD_ORPHANS_H

#include <stdbool.h>
#include <sys/types.h>

enum { FOLD_ORPHANS_MOST = 256 };
struct fold_orphans {
  pid_t before[FOLD_ORPHANS_MOST];
  int n;
};

/* From now on orphans among this process's descendants become its children. */
void fold_orphans_adopt(struct fold_orphans *orphans);
/* Waits up to so many seconds until they end by themselves, as guards of ranks do (ranks/guard.c). Then asks the rest to
 * end, and waits a second, for a guard of guests (guest/guard.h) removes files; then kills them. */
void fold_orphans_end(const struct fold_orphans *orphans, double patience);

/* Whether /proc is there, and is that of this process's own namespace: otherwise its numbers are those of other
 * processes. */
bool fold_proc_is_ours(void);

#endif
