/* claim.h: the properties that a subject can promise; one row each in claim.def, one bit each in a mask. */
#ifndef FOLD_CLAIM_H
#define FOLD_CLAIM_H

#include <stdint.h>

#include "base/fold.h"

enum fold_claim_id {
#define FOLD_CLAIM_ROW(TAG, ...) FOLD_##TAG,
#include "model/claim.def"
  FOLD_CLAIMS
};
#define FOLD_CLAIM(id) ((uint64_t)1 << (id))
/* What every subject promises: it writes its results and nothing else. */
#define FOLD_TIDY                                                                                         \
  (FOLD_CLAIM(FOLD_WRITES_OUTPUT) | FOLD_CLAIM(FOLD_STAYS_IN_BOUNDS) | FOLD_CLAIM(FOLD_LEAVES_NO_TRACE) | \
   FOLD_CLAIM(FOLD_KEEPS_INPUT))

/* A result that is not written differs from run to run and may be any value, one within its bound, too: this claim, if refuted, is named
 * before all that it causes. */
#define FOLD_CAUSE FOLD_WRITES_OUTPUT

/* Those about the size of the error. */
#define FOLD_OF_ERROR \
  (FOLD_CLAIM(FOLD_BOUNDED) | FOLD_CLAIM(FOLD_COMPENSATED) | FOLD_CLAIM(FOLD_ACCURATE_AS) | FOLD_CLAIM(FOLD_ULPS))

/* How a subject adds: each method has its error bound (bound.h). */
enum fold_method {
  FOLD_PLAIN,    /* one rounding a join: gamma_h sum |x|, gamma_k = k u / (1 - k u) (Higham) */
  FOLD_KAHAN,    /* sequential with Kahan's compensation */
  FOLD_NEUMAIER, /* sequential with Neumaier's */
  /* As tensor cores do: the terms of a block are aligned to the largest one, and truncated, as each sum is. */
  FOLD_TRUNCATED,
  FOLD_EXACT, /* correctly rounded */
};
/* The methods' names, with NULL behind the last. */
extern const char *const fold_method_names[];
/* -1 for an unknown name. */
int fold_method_parse(const char *text);

/* To what the factors of a product may be rounded before they are multiplied: to nearest or toward zero. */
enum fold_factor_dtype { FOLD_FACTORS_KEPT, FOLD_FACTORS_TF32, FOLD_FACTORS_BF16, FOLD_FACTORS_F16 };
/* Their names, with NULL behind the last; the first is "", for factors that are multiplied as they are. */
extern const char *const fold_factor_dtype_names[];
/* -1 for an unknown name. */
int fold_factor_dtype_parse(const char *text);

/* How a result is made of terms of one dtype. */
struct fold_arithmetic {
  enum fold_method method;
  enum fold_dtype accumulator; /* each join is rounded to it; it can hold the terms exactly */
  enum fold_dtype result;      /* the final value is rounded to it, once */
  enum fold_factor_dtype factor;
};
/* The default: accumulated in the accumulator that dtype.def gives for the terms, and rounded to the terms' dtype. */
static inline struct fold_arithmetic fold_arithmetic_of(enum fold_method method, enum fold_dtype terms) {
  return (struct fold_arithmetic){.method = method, .accumulator = fold_accumulator_of(terms), .result = terms};
}
static inline bool fold_arithmetic_same(struct fold_arithmetic a, struct fold_arithmetic b) {
  return a.method == b.method && a.accumulator == b.accumulator && a.result == b.result && a.factor == b.factor;
}

#endif
