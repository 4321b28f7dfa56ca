/* patience.c: see patience.h. */
#include "run/patience.h"

/* Seconds for an element of a run. */
static const double AN_ELEMENT = 1e-6;

bool fold_watch_hangs(const struct fold_watch *watch, struct fold_patience *patience) {
  const uint64_t turns = atomic_load(&watch->turns);
  if (turns != patience->turns) {
    const double elements = (double)atomic_load(&watch->elements);
    patience->limit = fold_limit_until(fold_now() + patience->seconds + AN_ELEMENT * elements);
    patience->turns = turns;
  }
  return (turns & 1) && fold_limit_left(&patience->limit) <= 0;
}
