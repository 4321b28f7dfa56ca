/* proof.c: the data that a tree is tested on: rows on which trees differ.
 *
 * Five families take turns, in a window of exponents somewhat wider than the accumulator, so that the sum of small terms decides roundings:
 * random numbers of all its exponents; pairs that cancel except for their last bits; numbers of one or two bits, so that sums are ties;
 * full significands of nearly one exponent; and pairs that cancel, in a window three times as wide, around small terms that compensated
 * methods lose too. SplitMix64 makes them from the row's number, so that they are the same in each run.
 *
 * A function may choose its order by the values. So each family has windows all over the range that a sum of n terms can have, and
 * rows with what such functions test for: zeros of both signs, few and many; terms of one sign; equal terms; subnormal ones.
 */
#include <math.h>
#include <string.h>

#include "base/bits.h"
#include "oracles/fingerprint.h"
#include "reveal/reveal.h"

enum { FAMILIES = 5, WINDOWS = 8, PLAIN_ROUNDS = 10 };

/* How a row's terms are changed. */
enum twist { PLAIN, FEW_ZEROS, MANY_ZEROS, POSITIVE, NEGATIVE, EQUAL, SUBNORMAL, TWISTS };
static const char *const twist_text[] = {"",
                                         "zeros of both signs, ",
                                         "more zeros than others, ",
                                         "no negative term, ",
                                         "no positive term, ",
                                         "equal terms, ",
                                         "subnormal terms, "};

/* A round has a row of each family: first all in the usual window, then in the other windows, then twisted ones in some
 * of them. */
struct shape {
  size_t family, window;
  enum twist twist;
};

static struct shape shape_of(size_t row) {
  const size_t round = row / FAMILIES;
  struct shape shape = {.family = row % FAMILIES};
  if (round < PLAIN_ROUNDS) return shape;
  const size_t other = round - PLAIN_ROUNDS;
  if (other < WINDOWS) {
    shape.window = 1 + other;
    return shape;
  }
  shape.twist = (enum twist)(1 + (other - WINDOWS) % (TWISTS - 1));
  shape.window = (other - WINDOWS) / (TWISTS - 1) * 4 % (WINDOWS + 1);
  return shape;
}

void fold_proof_about(size_t row, char text[60]) {
  static const char *const families[] = {"all exponents", "cancellation", "ties", "one exponent", "wide cancellation"};
  const struct shape shape = shape_of(row);
  snprintf(text, 60, "%s%s", twist_text[shape.twist], families[shape.family]);
}

struct source {
  uint64_t state;
  struct fold_format terms;
  int low, high; /* exponents */
};

static uint64_t next(struct source *s) { return fold_fingerprint_mix(s->state += 0x9e3779b97f4a7c15u); }

/* The exponents that terms may have, so that the sum of n of them, or of their products, neither overflows nor becomes
 * subnormal. */
static void range_of(const struct fold_summer *summer, int *low, int *high) {
  const struct fold_format t = fold_format_of(summer->dtype), a = fold_format_of(summer->accumulator);
  const struct fold_format r = fold_format_of(summer->result);
  int room = 2;
  while ((size_t)1 << room < 2 * summer->n) room++;
  *high = t.emax < r.emax ? t.emax : r.emax, *low = fold_format_least(t);
  if (a.emax < *high) *high = a.emax;
  if (*low < fold_format_least(r)) *low = fold_format_least(r);
  if (*low < t.emin) *low += t.precision - 1;
  *high = (*high - room) / (int)summer->factors;
  if (*low < 0) *low /= (int)summer->factors;
}

/* Window 0 is where most data are: exponents below half its width, or the middle of a narrow range. The other windows
 * go from the top of the range to its bottom; for a second factor from the bottom to the top. */
static void open_source(struct source *s, const struct fold_summer *summer, size_t row, const struct shape *shape,
                        unsigned factor) {
  const struct fold_format t = fold_format_of(summer->dtype), a = fold_format_of(summer->accumulator);
  const int window = (shape->family == 4 ? 3 : 1) * (a.precision + 10) / (int)summer->factors;
  int low, high;
  range_of(summer, &low, &high);
  *s = (struct source){.state = row * 0x632be59bd9b4e019u + summer->n + (factor ? 0x5851f42d4c957f2du : 0), .terms = t};
  s->low = low, s->high = high;
  if (high - low <= window) return;
  if (shape->window == 0)
    s->high = t.emax > 100 ? window / 2 : (high + low) / 2 + window / 2;
  else if (factor)
    s->high = low + window + (high - low - window) * (int)(shape->window - 1) / (WINDOWS - 1);
  else
    s->high = high - (high - low - window) * (int)(shape->window - 1) / (WINDOWS - 1);
  s->low = s->high - window;
  if (shape->family == 3 && shape->window == WINDOWS && !factor) s->high = s->low + 2; /* all terms are tiny */
}

/* A number with `bits` random bits after the leading one; its exponent is one of the `width` largest of the window. */
static double number(struct source *s, int bits, int width) {
  const int e = s->high - (int)(next(s) % (uint64_t)(width < 1 ? 1 : width));
  const double x = ldexp(1 + (double)(next(s) >> (64 - 53) & (((uint64_t)1 << bits) - 1)) * ldexp(1, -bits), e);
  return next(s) & 1 ? x : -x;
}

static uint64_t draw(struct source *s, const struct fold_summer *summer, size_t family, bool small, uint64_t before) {
  const int width = s->high - s->low + 1, full = s->terms.precision - 1;
  switch (family) {
    case 0: return fold_bits_from_double(summer->dtype, number(s, full, width));
    case 1: /* the number before it, negated, mostly with another last bit */
      if (before && next(s) % 4) return (before ^ s->terms.sign) ^ (next(s) % 4 > 0);
      return fold_bits_from_double(summer->dtype, number(s, full, width));
    case 2: return fold_bits_from_double(summer->dtype, number(s, full < 1 ? full : 1, width));
    case 4: /* in the upper half of the window; a small pair is two terms in its lower half, which do not cancel */
      if (small) return fold_bits_from_double(summer->dtype, ldexp(number(s, full, width / 2), width / 2 - width));
      return before ? before ^ s->terms.sign : fold_bits_from_double(summer->dtype, number(s, full, width / 2));
    default: return fold_bits_from_double(summer->dtype, number(s, full, 3));
  }
}

/* Every eighth pair is small; of fewer pairs one, so that their sum is not zero. */
static bool is_small_pair(size_t n, size_t i) {
  const size_t pairs = n / 2, every = pairs < 2 ? 2 : pairs < 8 ? pairs : 8;
  return (i + 2) / 2 % (pairs + 1) % every == 0;
}

/* Places the two numbers of a cancelling pair far apart, by a stride that has no common divisor with n. */
static size_t place_of(const struct fold_summer *summer, size_t family, size_t row, size_t i) {
  size_t n = summer->n, stride = (n / 3) | 1;
  if ((family != 1 && family != 4) || n < 5) return i;
  for (stride += row % 7;; stride++) {
    size_t a = stride, b = n;
    while (b) {
      const size_t rest = a % b;
      a = b, b = rest;
    }
    if (a == 1) return (size_t)((unsigned __int128)i * stride % n);
  }
}

/* Changes a row's terms. One term keeps its value, because the sign of a sum of zeros alone would depend on the zero
 * from which a method starts. */
static void twist(struct source *s, const struct fold_summer *summer, const struct shape *shape, unsigned factor,
                  void *out) {
  const enum twist how = shape->twist;
  const bool all = shape->family == 3;
  const size_t n = summer->n, kept = (size_t)(next(s) % n);
  const uint64_t first = fold_bits_load(summer->dtype, out, 0), sign = s->terms.sign;
  if (factor && how != POSITIVE && how != EQUAL && how != NEGATIVE) return;
  for (size_t i = 0; how != PLAIN && i < n; i++) {
    const uint64_t dice = next(s), bits = fold_bits_load(summer->dtype, out, i);
    uint64_t to = bits;
    if (how == FEW_ZEROS && dice % 8 == 0 && i != kept) to = dice >> 9 & 1 ? sign : 0;
    if (how == MANY_ZEROS && dice % 8 < 6 && i != kept) to = dice >> 9 & 1 ? sign : 0;
    if (how == POSITIVE || (how == NEGATIVE && factor)) to = bits & ~sign;
    if (how == NEGATIVE && !factor) to = bits | sign;
    if (how == EQUAL) to = first;
    if (how == SUBNORMAL && (dice % 4 || i == kept || all)) to = (dice & sign) | (1 + (dice >> 8) % s->terms.fraction);
    fold_bits_store(summer->dtype, out, i, to);
  }
}

void fold_proof_row(const struct fold_summer *summer, size_t row, void *const out[FOLD_INPUTS]) {
  const struct shape shape = shape_of(row);
  for (unsigned k = 0; k < summer->factors; k++) {
    /* Second factors have nearly one exponent, or a window as wide as that of the first. Those of a pair that
     * cancels are equal, so that its products cancel, too. */
    const size_t family = k == 0 || shape.family == 2 ? shape.family : row % 2 ? 0 : 3;
    const bool paired = k > 0 && (shape.family == 1 || shape.family == 4);
    uint64_t before = 0;
    struct source s;
    open_source(&s, summer, row, &shape, k);
    const size_t stride = place_of(summer, k == 0 || paired ? shape.family : 0, row, 1);
    for (size_t i = 0, at = 0; i < summer->n; i++, at = (at + stride) % summer->n) {
      const uint64_t bits = paired && before ? before : draw(&s, summer, family, is_small_pair(summer->n, i), before);
      before = before ? 0 : bits;
      fold_bits_store(summer->dtype, out[k], at, bits);
    }
    twist(&s, summer, &shape, k, out[k]);
  }
}
