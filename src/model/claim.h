/* claim.h: the properties that a subject can promise; one row each in claims.c, one bit each in a mask. */
#ifndef FOLD_CLAIM_H
#define FOLD_CLAIM_H

#include <stdint.h>

enum fold_claim_id {
  FOLD_BOUNDED,
  FOLD_COMPENSATED,
  FOLD_FAITHFUL,
  FOLD_CORRECTLY_ROUNDED,
  FOLD_REPLAYS,
  FOLD_SAME_BITS_AS,
  FOLD_RUN_TO_RUN,
  FOLD_FRESH_PROCESS,
  FOLD_LAUNCH_INVARIANT,
  FOLD_ALIGNMENT_INVARIANT,
  FOLD_BATCH_INVARIANT,
  FOLD_SPLIT_INVARIANT,
  FOLD_PERMUTATION_INVARIANT,
  FOLD_MESSAGE_INVARIANT,
  FOLD_WORLD_INVARIANT,
  FOLD_WRITES_OUTPUT,
  FOLD_STAYS_IN_BOUNDS,
  FOLD_LEAVES_NO_TRACE,
  FOLD_RANK_AGREEMENT,
  FOLD_KEEPS_INPUT,
  FOLD_CLAIMS,
};
#define FOLD_CLAIM(id) ((uint64_t)1 << (id))

/* How a subject adds: each method has its error bound (bound.h). */
enum fold_method {
  FOLD_PLAIN,    /* one rounding a join: gamma_h sum |x|, gamma_k = k u / (1 - k u) (Higham) */
  FOLD_KAHAN,    /* sequential with Kahan's compensation */
  FOLD_NEUMAIER, /* sequential with Neumaier's */
  FOLD_FLOAT64,  /* sequential in f64, rounded once to dtype */
  FOLD_NARROW, /* one rounding to dtype itself a join, the 16-bit ones too: what a library adds that knows no accumulator */
  FOLD_EXACT, /* correctly rounded */
};

#endif
