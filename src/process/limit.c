/* limit.c: see limit.h. */
#include "process/limit.h"

#include "base/fold.h"

struct fold_limit fold_limit_until(double end) {
  return (struct fold_limit){.end = end, .seen = fold_now()};
}

double fold_limit_left(struct fold_limit *limit) {
  double now = fold_now(), missed = now - limit->seen;
  if (missed > 1) limit->end += missed;
  limit->seen = now;
  return limit->end - now;
}
