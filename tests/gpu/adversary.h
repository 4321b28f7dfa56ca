/* adversary.h: inputs that an exact sum finds hard, made of bit patterns, from a seed alone; any dtype.
 *
 * What they attack: the windows, bins, columns and limbs of kernels/cuda/exact_*.cuh, and the closing. Used by the
 * tests of flat/exact, rows/exact and their states, which hold the results against the oracles.
 */
#ifndef ADVERSARY_H
#define ADVERSARY_H

#include "base/bits.h"

enum adversary {
  ADVERSARY_EXPONENTS,  /* every 32 neighbours hold exponents over the full range: no tile fits a window */
  ADVERSARY_EXTREMES,   /* the largest and the smallest number in turn, of both signs */
  ADVERSARY_RUNS,       /* runs of one extreme, then of the other: windows move at their ends */
  ADVERSARY_TILES,      /* each 4 KiB within a window, the next one far away from it */
  ADVERSARY_SPAN,       /* exponents over as many binades as the seed says: around what a window holds */
  ADVERSARY_CLIMB,      /* exponents rise through the whole row */
  ADVERSARY_TIE,        /* two terms make a tie, the place by the seed; the smallest number breaks it, or does not */
  ADVERSARY_CANCEL,     /* mirror terms of any exponents cancel: a subnormal is left */
  ADVERSARY_EQUAL,      /* one pattern again and again: 0.1, the largest, the smallest, the smallest normal number */
  ADVERSARY_ZEROS,      /* zeros of both signs and a few numbers */
  ADVERSARY_MINUS_ZERO, /* nothing but -0; by the seed one +0, or one smallest number */
  ADVERSARY_PILE, /* one large number of one sign, all bits of its significand set, and few of the smallest: a limb grows as fast as it can */
  ADVERSARY_TURNS, /* stretches of exponents over the full range, and of a few; by the seed a NaN or an infinity in one of the first */
  ADVERSARY_SPECIALS, /* a NaN or an infinity, or both infinities, among numbers */
  ADVERSARIES
};

static inline const char *adversary_name(enum adversary kind) {
  static const char *const names[ADVERSARIES] = {"exponents",  "extremes", "runs",   "tiles",   "span",
                                                 "climb",      "tie",      "cancel", "equal",   "zeros",
                                                 "minus zero", "pile",     "turns",  "specials"};
  return names[kind];
}

static inline uint64_t adversary_draw(uint64_t x) { /* SplitMix64 (Steele, Lea, Flood 2014) */
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

/* A finite number with that exponent field (or the nearest one that is finite), sign and fraction from `random`. */
static inline uint64_t adversary_number(enum fold_dtype dtype, long field, uint64_t random) {
  const struct fold_format f = fold_format_of(dtype);
  const long top = (long)(f.exponent >> (f.precision - 1));
  field = field < 0 ? 0 : field >= top ? top - 1 : field;
  return (random >> 63 ? f.sign : 0) | (uint64_t)field << (f.precision - 1) | (random >> 3 & f.fraction);
}

/* Two powers of two whose sum is a tie, `precision` binades apart, somewhere among -0; at the end, by the seed, the
 * smallest number of either sign: it decides. */
static inline uint64_t adversary_tie(enum fold_dtype dtype, uint64_t i, uint64_t n, uint64_t seed) {
  const struct fold_format f = fold_format_of(dtype);
  const long top = (long)(f.exponent >> (f.precision - 1)),
             place = f.precision + (long)(seed % (uint64_t)(top - f.precision));
  const uint64_t sign = seed & 16 ? f.sign : 0, odd = seed & 32 ? 1 : 0;
  if (i == n / 3) return sign | (uint64_t)place << (f.precision - 1) | odd;
  if (i == n / 2) return sign | (uint64_t)(place - f.precision) << (f.precision - 1);
  if (i == n - 1 && seed & 64) return (seed & 128 ? f.sign : 0) | 1;
  return f.sign;
}

/* The second half takes the first back in falling order; three of the smallest number are left. */
static inline uint64_t adversary_cancel(enum fold_dtype dtype, uint64_t i, uint64_t n, uint64_t seed) {
  const struct fold_format f = fold_format_of(dtype);
  const uint64_t half = n / 2, mirror = i < half ? i : 2 * half - 1 - i, r = adversary_draw(mirror * 17 + seed);
  if (i >= 2 * half || half == 0) return 3;
  if (mirror == 0) return i == 0 ? 3 : 0;
  const long top = (long)(f.exponent >> (f.precision - 1));
  return adversary_number(dtype, (long)(r % (uint64_t)top), r) ^ (i < half ? 0 : f.sign);
}

static inline uint64_t adversary_turn(enum fold_dtype dtype, uint64_t i, uint64_t n, uint64_t seed, uint64_t r) {
  const struct fold_format f = fold_format_of(dtype);
  const uint64_t specials[] = {f.exponent, f.exponent | f.sign, f.exponent | 1, f.exponent | f.fraction | f.sign};
  const uint64_t top = f.exponent >> (f.precision - 1), stretch = 4096 / fold_dtype_size(dtype) * (3 + seed * 7 % 40);
  if (i == n / 3 && seed & 1) return specials[seed / 2 % 4];
  return adversary_number(dtype, (long)(i / stretch % 2 ? top / 2 + r % 3 : r % top), adversary_draw(r));
}

static inline uint64_t adversary_special(enum fold_dtype dtype, uint64_t i, uint64_t n, uint64_t seed, uint64_t r) {
  const struct fold_format f = fold_format_of(dtype);
  const uint64_t specials[] = {f.exponent, f.exponent | f.sign, f.exponent | 1, f.exponent | f.fraction | f.sign};
  if (i == n / 7) return specials[seed % 4];
  if (i == n - 1 && seed & 8) return specials[seed / 16 % 2];
  return adversary_number(dtype, (long)(f.exponent >> f.precision) - (long)(r % 8), r);
}

/* The pattern of element i of n. */
static inline uint64_t adversary_bits(enum adversary kind, enum fold_dtype dtype, uint64_t i, uint64_t n,
                                      uint64_t seed) {
  const struct fold_format f = fold_format_of(dtype);
  const uint64_t r = adversary_draw(i * 131 + seed * 77777 + kind), largest = f.exponent - 1, smallest = 1;
  const uint64_t top = f.exponent >> (f.precision - 1), tile = 4096 / fold_dtype_size(dtype);
  switch (kind) {
    case ADVERSARY_EXPONENTS: return adversary_number(dtype, (long)((i % 32 * top / 31 + r % 3) % top), r);
    case ADVERSARY_EXTREMES: return (i % 2 ? smallest : largest) | (i & 2 || r % 4 == 0 ? f.sign : 0);
    case ADVERSARY_RUNS: {
      const uint64_t run = i / (1 + seed * 97 % 3000);
      return run & 1 ? largest | (run & 2 ? f.sign : 0) : smallest;
    }
    case ADVERSARY_TILES: {
      const uint64_t t = i / (tile * (1 + seed % 5));
      return adversary_number(dtype, (long)(t % 2 ? top * 3 / 4 : top / 4 + t % 3), r);
    }
    case ADVERSARY_SPAN: {
      const uint64_t span = seed * 13 % (dtype == FOLD_F64 ? 200 : 90), least = adversary_draw(seed) % top;
      return adversary_number(dtype, (long)(least + (r >> 20 & 0xffffff) % (span + 1)), r);
    }
    case ADVERSARY_CLIMB: return adversary_number(dtype, (long)(i * (top - 1) / (n + 1)), r);
    case ADVERSARY_TIE: return adversary_tie(dtype, i, n, seed);
    case ADVERSARY_CANCEL: return adversary_cancel(dtype, i, n, seed);
    case ADVERSARY_EQUAL: {
      const uint64_t patterns[] = {fold_bits_from_double(dtype, 0.1), largest, smallest, f.fraction + 1};
      return patterns[seed % 4] | (seed & 4 ? f.sign : 0);
    }
    case ADVERSARY_ZEROS:
      return r % 64 < 30 ? 0 : r % 64 < 63 ? f.sign : adversary_number(dtype, (long)(seed * 7 % top), r);
    case ADVERSARY_PILE:
      return (seed & 1 ? f.sign : 0) |
             (i % 400 == 7 ? smallest : (top * 3 / 4 & ~(uint64_t)31) << (f.precision - 1) | f.fraction);
    case ADVERSARY_TURNS: return adversary_turn(dtype, i, n, seed, r);
    case ADVERSARY_MINUS_ZERO: return seed % 3 == 1 && i == n - 1 ? 0 : seed % 3 == 2 && i == n / 2 ? smallest : f.sign;
    case ADVERSARY_SPECIALS: return adversary_special(dtype, i, n, seed, r);
    case ADVERSARIES: break;
  }
  return 0;
}

static inline void adversary_fill(enum adversary kind, enum fold_dtype dtype, size_t n, uint64_t seed, void *out) {
  for (size_t i = 0; i < n; i++) fold_bits_store(dtype, out, i, adversary_bits(kind, dtype, i, n, seed));
}

#endif
