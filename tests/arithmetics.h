/* arithmetics.h: the combinations of method, accumulator and result that subjects declare, for tests that try each. */
#ifndef FOLD_ARITHMETICS_H
#define FOLD_ARITHMETICS_H

#include "model/subject.h"

struct way {
  enum fold_method method;
  unsigned accumulator, result;
};
#define PLAINLY \
  { FOLD_PLAIN, FOLD_USUAL, FOLD_USUAL }
#define NARROWLY \
  { FOLD_PLAIN, FOLD_OF_TERMS, FOLD_USUAL }
#define IN_F64 \
  { FOLD_PLAIN, FOLD_ALWAYS(FOLD_F64), FOLD_USUAL }

static inline struct fold_arithmetic way_of(struct way way, enum fold_dtype terms) {
  const struct fold_subject subject = {.method = way.method, .accumulator = way.accumulator, .result = way.result};
  return fold_subject_arithmetic(&subject, terms);
}
static inline bool is_narrow(struct way way) { return way.accumulator == FOLD_OF_TERMS; }

#endif
