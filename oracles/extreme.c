/* extreme.c: the largest or smallest term of a row, in the order in which -0 is just below +0. By the patterns alone, so that no
 * state of the arithmetic matters.
 */
#include "base/bits.h"
#include "oracles/integers.h"
#include "oracles/truth.h"

/* Ranks rise as the numbers do: the bits of negative ones are inverted, and the sign bit of others is set. The minimum is the
 * maximum of the negated terms. */
#define EXTREME(name, word)                                                                         \
  static uint64_t extreme_##name(struct fold_format f, enum fold_op op, const void *in, size_t n) { \
    const word __attribute__((may_alias)) *x = in;                                                  \
    const word sign = (word)f.sign, flip = op == FOLD_MIN ? sign : 0;                               \
    word best = 0, largest = 0;                                                                     \
    for (size_t i = 0; i < n; i++) {                                                                \
      const word bits = (word)(x[i] ^ flip), magnitude = (word)(bits & ~sign);                      \
      const word rank = (word)(bits & sign ? ~bits : bits | sign);                                  \
      best = rank > best ? rank : best;                                                             \
      largest = magnitude > largest ? magnitude : largest;                                          \
    }                                                                                               \
    if (f.infinities ? largest > f.beyond : largest >= f.beyond) return largest;                    \
    return (word)((best & sign ? best & ~sign : ~best) ^ flip);                                     \
  }
EXTREME(8, uint8_t)
EXTREME(16, uint16_t)
EXTREME(32, uint32_t)
EXTREME(64, uint64_t)

uint64_t fold_extreme(enum fold_dtype dtype, enum fold_op op, const void *in, size_t n) {
  const struct fold_format f = fold_format_of(dtype);
  const struct fold_terms terms = fold_terms_of(dtype, op, in, n);
  if (f.integer) return fold_integer_wrap(dtype, fold_integers_fold(&terms));
  switch (f.bits) {
    case 8: return extreme_8(f, op, in, n);
    case 16: return extreme_16(f, op, in, n);
    case 32: return extreme_32(f, op, in, n);
    default: return extreme_64(f, op, in, n);
  }
}
