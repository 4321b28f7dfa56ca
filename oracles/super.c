/* super.c: the superaccumulator of super.h: merging, normalising, packing, and adding on many threads.
 *
 * Everything is integer arithmetic on limbs, so no word depends on how the terms were split or ordered.
 * `other_than_negative_zero` is 0 or 1 in a normalised state.
 */
#include "oracles/super.h"

#include <assert.h>
#include <omp.h>
#include <stddef.h>
#include <string.h>

/* With at least this many terms, one more thread pays off. */
#define TERMS_A_THREAD ((size_t)1 << 16)

void fold_super_normalise(enum fold_dtype dtype, struct fold_super *state) {
  int last = fold_super_limbs(dtype) - 1;
  int64_t carry = 0;
  for (int k = 0; k < last; k++) {
    /* A sum of 2^31 normalised limbs is at most 2^63 - 2^31, a carry below 2^31: no overflow. */
    int64_t word = state->limb[k] + carry;
    carry = word >> 32; /* floor: the borrow of a negative limb moves up */
    state->limb[k] = word & 0xffffffff;
  }
  state->limb[last] += carry;
  state->other_than_negative_zero = state->other_than_negative_zero != 0;
}

void fold_super_merge(enum fold_dtype dtype, struct fold_super *into, const struct fold_super *from) {
  for (int k = 0; k < fold_super_limbs(dtype); k++) into->limb[k] += from->limb[k];
  into->nan += from->nan;
  into->positive_infinity += from->positive_infinity;
  into->negative_infinity += from->negative_infinity;
  into->other_than_negative_zero += from->other_than_negative_zero;
  into->terms += from->terms;
  fold_super_normalise(dtype, into);
}

/* The counts are the struct's last words, in the order of the packed form. */
static_assert(offsetof(struct fold_super, nan) == FOLD_SUPER_LIMBS * sizeof(int64_t) &&
                  sizeof(struct fold_super) == (FOLD_SUPER_LIMBS + FOLD_SUPER_COUNTS) * sizeof(int64_t),
              "the counts follow the limbs");

void fold_super_pack(enum fold_dtype dtype, const struct fold_super *state, int64_t *words) {
  size_t limbs = (size_t)fold_super_limbs(dtype);
  memcpy(words, state->limb, limbs * sizeof *words);
  memcpy(words + limbs, (const int64_t *)state + FOLD_SUPER_LIMBS, FOLD_SUPER_COUNTS * sizeof *words);
}

void fold_super_unpack(enum fold_dtype dtype, const int64_t *words, struct fold_super *state) {
  size_t limbs = (size_t)fold_super_limbs(dtype);
  memset(state, 0, sizeof *state);
  memcpy(state->limb, words, limbs * sizeof *words);
  memcpy((int64_t *)state + FOLD_SUPER_LIMBS, words + limbs, FOLD_SUPER_COUNTS * sizeof *words);
}

void fold_super_add_parallel(enum fold_dtype dtype, const void *in, size_t n, struct fold_super *sum,
                             struct fold_super *abs, unsigned threads) {
  size_t team = threads ? threads : (size_t)omp_get_max_threads(), most = n / TERMS_A_THREAD + 1;
  if (team > most) team = most;
  if (team == 1) {
    fold_super_add(dtype, in, n, sum, abs);
    return;
  }
#pragma omp parallel num_threads((int)team)
  {
    size_t rank = (size_t)omp_get_thread_num(), ranks = (size_t)omp_get_num_threads();
    size_t share = n / ranks, rest = n % ranks;
    size_t first = rank * share + (rank < rest ? rank : rest), length = share + (rank < rest);
    struct fold_super part, part_abs;
    memset(&part, 0, sizeof part);
    memset(&part_abs, 0, sizeof part_abs);
    fold_super_add(dtype, (const unsigned char *)in + first * fold_dtype_size(dtype), length, &part,
                   abs ? &part_abs : NULL);
#pragma omp critical(fold_super_merging)
    {
      fold_super_merge(dtype, sum, &part);
      if (abs) fold_super_merge(dtype, abs, &part_abs);
    }
  }
}
