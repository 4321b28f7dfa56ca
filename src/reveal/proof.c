/* proof.c: the data that a tree is tested on: rows on which trees differ.
 *
 * Five families in turn, in a window of exponents somewhat wider than the accumulator, so that what small terms add up to decides roundings:
 * random numbers of all its exponents; pairs that cancel but for their last bits; numbers of one or two bits, so that sums are ties; 
 * full significands of nearly one exponent; and pairs that cancel, in thrice that window, around small terms that methods with
 * compensation lose too. Made by SplitMix64 from the row's number: the same in each run.
 */
#include <math.h>
#include <string.h>

#include "bits.h"
#include "fingerprint.h"
#include "reveal.h"

enum { FAMILIES = 5 };

struct source {
  uint64_t state;
  struct fold_format terms;
  int low, high; /* exponents */
};

static uint64_t next(struct source *s) { return fold_fingerprint_mix(s->state += 0x9e3779b97f4a7c15u); }

/* n below the sum's own range, products' factors by halves. */
static void open_source(struct source *s, const struct fold_summer *summer, size_t row, size_t family) {
  const struct fold_format t = fold_format_of(summer->dtype), a = fold_format_of(summer->accumulator);
  const struct fold_format r = fold_format_of(summer->result);
  int room = 2, high = t.emax < r.emax ? t.emax : r.emax, low = fold_format_least(t);
  while ((size_t)1 << room < 2 * summer->n) room++;
  if (a.emax < high) high = a.emax;
  high = (high - room) / (int)summer->factors;
  if (low < fold_format_least(r)) low = fold_format_least(r);
  low = low < t.emin ? low + t.precision - 1 : low;
  const int window = (family == 4 ? 3 : 1) * (a.precision + 10) / (int)summer->factors, middle = (high + low) / 2;
  *s = (struct source){.state = row * 0x632be59bd9b4e019u + summer->n, .terms = t, .low = low, .high = high};
  if (high - low <= window) return;
  s->high = high > 100 ? window / 2 : middle + window / 2;
  s->low = s->high - window;
}

/* So many bits after the leading one, of a random exponent of the window's top `width` ones. */
static double number(struct source *s, int bits, int width) {
  const int e = s->high - (int)(next(s) % (uint64_t)(width < 1 ? 1 : width));
  const double x = ldexp(1 + (double)(next(s) >> (64 - 53) & (((uint64_t)1 << bits) - 1)) * ldexp(1, -bits), e);
  return next(s) & 1 ? x : -x;
}

static uint64_t draw(struct source *s, const struct fold_summer *summer, size_t family, size_t pair, uint64_t before) {
  const int width = s->high - s->low + 1, full = s->terms.precision - 1;
  switch (family) {
    case 0: return fold_bits_from_double(summer->dtype, number(s, full, width));
    case 1: /* the one before with another sign, and mostly the next number */
      if (before && next(s) % 4) return (before ^ s->terms.sign) ^ (next(s) % 4 > 0);
      return fold_bits_from_double(summer->dtype, number(s, full, width));
    case 2: return fold_bits_from_double(summer->dtype, number(s, full < 1 ? full : 1, width));
    case 4: /* in the window's upper half; every eighth pair is of two small terms in its lower one, and stays */
      if (pair % 8 == 0)
        return fold_bits_from_double(summer->dtype, ldexp(number(s, full, width / 2), width / 2 - width));
      return before ? before ^ s->terms.sign : fold_bits_from_double(summer->dtype, number(s, full, width / 2));
    default: return fold_bits_from_double(summer->dtype, number(s, full, 3));
  }
}

/* Cancelling pairs are put far apart: by a stride that has no divisor with n. */
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

void fold_proof_row(const struct fold_summer *summer, size_t row, void *const out[FOLD_INPUTS]) {
  const size_t family = row % FAMILIES;
  struct source s;
  open_source(&s, summer, row, family);
  for (unsigned k = 0; k < summer->factors; k++) {
    uint64_t before = 0;
    const size_t stride = place_of(summer, k ? 0 : family, row, 1);
    for (size_t i = 0, at = 0; i < summer->n; i++, at = (at + stride) % summer->n) {
      const uint64_t bits = draw(&s, summer, k && family != 2 ? 3 : family, (i + 2) / 2 % (summer->n / 2 + 1), before);
      before = before ? 0 : bits;
      fold_bits_store(summer->dtype, out[k], at, bits);
    }
  }
}
