/* limit.h: when a wait ends. If this process itself was stopped for a while, with its container or its machine, the others are
 * not to blame. So the remaining time is read more than once a second, and a longer gap between two readings is added
 * to the limit.
 */
#ifndef FOLD_LIMIT_H
#define FOLD_LIMIT_H

struct fold_limit {
  double end, seen; /* times of fold_now */
};
struct fold_limit fold_limit_until(double end);
/* Seconds that are left; 0 or less: the time is over. */
double fold_limit_left(struct fold_limit *limit);

#endif
