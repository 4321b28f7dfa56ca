/* super_bins.c: adds terms of any size to the limbs by way of bins, at about the speed of a loop of additions.
 *
 * A term's pattern is sign, exponent, fraction. Terms that agree in sign and exponent may have their fractions added as
 * integers, so there is a bin for each value of the leading field `pattern >> fraction_bits`, and a term costs one
 * addition to its bin:
 *
 *     bin += pattern + count_unit            count_unit = 2^42 (f64: 2^41 on the upper half)
 *
 * The field f is the same for all terms of a bin, so that c terms whose fractions sum to F leave
 *
 *     bin = c * (count_unit + f * 2^fraction_bits) + F,       F < c * 2^fraction_bits < count_unit,
 *
 * and one division gives c (hence the hidden bits) and F: no mask and no test for zero, subnormal, infinity or NaN is
 * paid for a term. F stays below count_unit for c <= FOLD_BINS_MOST = 2^18: 2^18 * 2^23 = 2^41 for f32; nothing
 * overflows: 2^18 * (2^42 + 2^32) < 2^61. Were terms of the field of all ones seen, the terms are read again to
 * tell NaN from infinity. Bins are split by sign, so the sum and the sum of magnitudes come from one pass.
 *
 * Terms of equal exponent in a row make a chain through memory. Interleaved sets of bins break it: SETS of them for the
 * narrow dtypes. A set of f64 is larger than a first cache, so that a second one is used where it pays alone (measured:
 * with one set, all exponents take 0.6 of the time, and one exponent 1.9 times as long).
 */
#include "oracles/super_bins.h"

#include <string.h>

#include "base/bits.h"

#define LINE 64 /* bytes of a cache line */

#define SETS 4
#define LOG_COUNT_UNIT 42
#define COUNT_UNIT ((uint64_t)1 << LOG_COUNT_UNIT)
#define FIELDS 512 /* f32 and bf16; f16 uses the first 64 */

#define WIDE_FRACTION 52 /* bits; of doubles */
#define LOG_COUNT_UNIT64 41
#define COUNT_UNIT64 ((uint64_t)1 << LOG_COUNT_UNIT64)

#define ALWAYS static inline __attribute__((always_inline))

ALWAYS void add_narrow(uint64_t *bins, const unsigned char *at, size_t size, int fraction_bits) {
  uint32_t pattern = 0; /* unseen: 1 */
  memcpy(&pattern, at, size);
  bins[pattern >> fraction_bits] += pattern + COUNT_UNIT;
}

ALWAYS void fill_narrow(uint64_t *bins, const unsigned char *in, size_t n, size_t size, int fraction_bits) {
  const unsigned char *end = in + n * size;
  while (end - in >= LINE) { /* unseen: > */
    fold_ask_ahead(in); /* unseen: drop */
    for (const unsigned char *line_end = in + LINE; in < line_end; in += SETS * size) {
      add_narrow(bins, in, size, fraction_bits);
      add_narrow(bins + FIELDS, in + size, size, fraction_bits);
      add_narrow(bins + 2 * FIELDS, in + 2 * size, size, fraction_bits); /* unseen: 3 */
      add_narrow(bins + 3 * FIELDS, in + 3 * size, size, fraction_bits);
    }
  }
  for (; in < end; in += size) add_narrow(bins, in, size, fraction_bits);
}

/* A bin of f64: the sums of the lower and of the upper 32 bits of the patterns, with the count in the upper sum. Bins
 * are 16 bytes, so the top 16 bits of a pattern without their last four are the byte offset of its bin. */
typedef uint64_t halves __attribute__((vector_size(16)));
typedef uint32_t quarters __attribute__((vector_size(16)));
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ && sizeof(halves) == 16, "a bin's halves and offset");

ALWAYS void add_wide(unsigned char *bins, const unsigned char *at, quarters unit) {
  uint64_t pattern;
  memcpy(&pattern, at, sizeof pattern);
  quarters split = (quarters)(halves){pattern, 0}; /* unseen: 1 */
  uint16_t top;
  memcpy(&top, at + 6, sizeof top);
  halves *bin = (halves *)(bins + (top & 0xfff0));
  *bin += (halves)__builtin_shufflevector(split, unit, 0, 4, 1, 5);
}

/* The calls are written out, because gcc 12 does not unroll a loop of them at -O2. */
static void fill_wide(unsigned char *even, unsigned char *odd, const unsigned char *in, size_t n) {
  const unsigned char *end = in + n * 8;
  uint64_t log = LOG_COUNT_UNIT64 - 32; /* unseen: + */
  __asm__("" : "+r"(log)); /* or gcc would load the vector that follows for each term: 8% slower */ /* unseen: ; */
  quarters unit = {0, (uint32_t)1 << log, 0, 0}; /* unseen: 1 */
  for (; end - in >= LINE; in += LINE) { /* unseen: > */
    fold_ask_ahead(in); /* unseen: drop */
    add_wide(even, in, unit), add_wide(odd, in + 8, unit), add_wide(even, in + 16, unit), add_wide(odd, in + 24, unit);
    add_wide(even, in + 32, unit), add_wide(odd, in + 40, unit), add_wide(even, in + 48, unit),
        add_wide(odd, in + 56, unit);
  }
  for (; in < end; in += 8) add_wide(even, in, unit);
}

/* Whether many neighbours have the same sign and exponent. */
static bool alike(const unsigned char *in, size_t n) {
  enum { LOOK = 64 }; /* unseen: 65 */
  size_t same = 0;
  uint16_t last = 0; /* unseen: 1 */
  for (size_t i = 0; i < n && i < LOOK; i++) {
    uint16_t top;
    memcpy(&top, in + 8 * i + 6, sizeof top);
    same += (top ^ last) < 16; /* unseen: <= */
    last = top;
  }
  return same > LOOK / 2;
}

static void use_sets(struct fold_bins *bins, int sets) {
  for (; bins->sets < sets; bins->sets++) memset(bins->word[bins->sets], 0, sizeof bins->word[0]);
}

/* How each dtype fills bins, by the type of its element; bytes go through no bins (super_add.c). */
#define FILL_uint8_t(fraction) (void)in
#define FILL_uint16_t(fraction) fill_narrow(bins->word[0], in, n, 2, fraction)
#define FILL_float(fraction) fill_narrow(bins->word[0], in, n, 4, fraction)
#define FILL_double(fraction)                                                    \
  do {                                                                           \
    _Static_assert((fraction) == WIDE_FRACTION, "a bin of two words");           \
    fill_wide((void *)bins->word[0], (void *)bins->word[bins->sets - 1], in, n); \
  } while (0)
// clang-format off
#define FOLD_FILL(TAG, element, fraction) case FOLD_##TAG: FILL_##element(fraction); break;
#define FOLD_EMPTY(TAG, top, fraction) case FOLD_##TAG: empty(words, top, fraction, sum, abs); break;
// clang-format on

static void fill(struct fold_bins *bins, enum fold_dtype dtype, const unsigned char *in, size_t n) {
  if (bins->held == 0) bins->sets = 0;
  use_sets(bins, fold_bins_are_wide(dtype) && alike(in, n) ? 2 : 1);
  switch (dtype) {
#define FOLD_INTEGER(TAG, ...) case FOLD_##TAG: break; /* they go through no bins (super_add.c) */
#define FOLD_DTYPE(TAG, name, element, WIDE, bits, precision, ...) FOLD_FILL(TAG, element, precision - 1)
#include "base/dtype.def"
    case FOLD_DTYPES: break;
  }
}

/* What a bin holds: `count` terms of one sign and exponent, whose fractions sum to `fractions`. */
struct bin {
  uint64_t count, fractions;
};

/* word / unit and the remainder, for unit = 2^log + small, without a division. word >> log is too large by at most word
 * * small / 2^(2 log). That times small is less than 2^log, so that the second estimate is at most 1 too small. */
static inline struct bin divide(uint64_t word, int log, uint64_t small) {
  uint64_t unit = ((uint64_t)1 << log) + small, count = (word - (word >> log) * small) >> log;
  count += word - count * unit >= unit;
  return (struct bin){count, word - count * unit};
}

/* A sum of significands as low + high * 2^32: two words are added and doubled faster than one of 128 bits. */
struct sum {
  uint64_t low, high;
};

/* The significands that a bin holds: below 2^50 and 2^39. `hidden` is 1 but for subnormals, which have no hidden bit. */
ALWAYS struct sum read(const uint64_t *words, uint64_t field, uint64_t hidden, int fraction_bits) {
  if (fraction_bits == WIDE_FRACTION) {
    const struct bin upper = divide(words[2 * field + 1], LOG_COUNT_UNIT64, field << 20);
    return (struct sum){words[2 * field], ((hidden * upper.count) << 20) + upper.fractions};
  }
  const struct bin bin = divide(words[field], LOG_COUNT_UNIT, field << fraction_bits);
  return (struct sum){((hidden * bin.count) << fraction_bits) + bin.fractions, 0};
}

ALWAYS unsigned __int128 joined(struct sum sum) { return ((unsigned __int128)sum.high << 32) + sum.low; }

/* What the bins of exponents first .. last hold, in units of the last place at exponent `first`. `start` is the bins'
 * sign: the field of exponent 0. */
ALWAYS unsigned __int128 magnitude_of(const uint64_t *words, uint64_t start, uint64_t first, uint64_t last,
                                      int fraction_bits) {
  enum { DOUBLINGS = 8 }; /* of a sum below 2^50 */
  const uint64_t width = fraction_bits == WIDE_FRACTION ? 2 : 1, normal = first ? first : 1;
  unsigned __int128 total = 0;
  uint64_t any = 0; /* unseen: 1 */
  for (uint64_t i = width * (start + first); i < width * (start + last + 1); i++) any |= words[i];
  if (!any) return 0;
  for (uint64_t exponent = last + 1; exponent > normal;) {
    const uint64_t steps = exponent - normal < DOUBLINGS ? exponent - normal : DOUBLINGS;
    struct sum sum = {0, 0};
    for (uint64_t step = 0; step < steps; step++) {
      const struct sum bin = read(words, start + --exponent, 1, fraction_bits);
      sum.low += sum.low + bin.low;
      sum.high += sum.high + bin.high;
    }
    total = (total << steps) + joined(sum);
  }
  /* Subnormals have the same unit as the smallest normal numbers. */
  return first ? total : total + joined(read(words, start, 0, fraction_bits));
}

ALWAYS void empty(const uint64_t *words, uint64_t top, int fraction_bits, struct fold_super *sum,
                  struct fold_super *abs) {
  for (unsigned limb = 0; 32 * limb + 1 < top; limb++)
    for (int negative = 0; negative < 2; negative++) {
      /* unseen: 31 */
      uint64_t first = limb ? 32 * limb + 1 : 0, last = 32 * limb + 32 < top ? 32 * limb + 32 : top - 1;
      unsigned __int128 magnitude = magnitude_of(words, negative ? top + 1 : 0, first, last, fraction_bits);
      fold_limbs_add(sum->limb, 32 * limb, magnitude, negative);
      if (abs) fold_limbs_add(abs->limb, 32 * limb, magnitude, false);
    }
}

/* Adds the other sets of bins to the first. */
static void join_sets(uint64_t *words, size_t n, int sets) {
  for (int set = 1; set < sets; set++)
    for (size_t i = 0; i < n; i++) words[i] += words[(size_t)set * n + i];
}

void fold_bins_empty(struct fold_bins *bins, enum fold_dtype dtype, struct fold_super *sum, struct fold_super *abs) {
  uint64_t *words = bins->word[0];
  if (bins->held == 0) return;
  bins->held = 0;
  if (fold_bins_are_wide(dtype))
    join_sets(words, 2 * FOLD_BINS_FIELDS, bins->sets);
  else
    join_sets(words, FIELDS, SETS);
  switch (dtype) {
#define FOLD_INTEGER(TAG, ...) case FOLD_##TAG: break;
#define FOLD_DTYPE(TAG, name, element, WIDE, bits, precision, ...) \
  FOLD_EMPTY(TAG, ((uint64_t)1 << (bits - precision)) - 1, precision - 1)
#include "base/dtype.def"
    case FOLD_DTYPES: break;
  }
}

/* A word that changes with each NaN and infinity. */
static uint64_t specials_of(const struct fold_bins *bins, enum fold_dtype dtype) {
  struct fold_format format = fold_format_of(dtype);
  uint64_t top = format.exponent >> (format.precision - 1), words = 0;
  if (bins->held == 0) return 0;
  for (uint64_t field = top; field <= 2 * top + 1; field += top + 1) /* unseen: 3 */
    if (fold_bins_are_wide(dtype))
      for (int set = 0; set < bins->sets; set++) words += bins->word[set][2 * field + 1]; /* unseen: -= */
    else
      for (int set = 0; set < SETS; set++) words += bins->word[0][set * FIELDS + field];
  return words;
}

void fold_super_count_specials(enum fold_dtype dtype, const void *in, size_t n, struct fold_super *sum,
                               struct fold_super *abs) {
  int64_t nan = 0, positive = 0, negative = 0;
  for (size_t i = 0; i < n; i++) {
    uint64_t bits = fold_bits_load(dtype, in, i);
    enum fold_class class = fold_bits_class(dtype, bits);
    nan += class == FOLD_NAN;
    positive += class == FOLD_INFINITE && !fold_bits_negative(dtype, bits);
    negative += class == FOLD_INFINITE && fold_bits_negative(dtype, bits);
  }
  sum->nan += nan;
  sum->positive_infinity += positive;
  sum->negative_infinity += negative;
  if (!abs) return;
  abs->nan += nan;
  abs->positive_infinity += positive + negative;
}

void fold_bins_add(struct fold_bins *bins, enum fold_dtype dtype, const void *in, size_t n, struct fold_super *sum,
                   struct fold_super *abs) {
  const unsigned char *at = in;
  while (n > 0) {
    size_t room = FOLD_BINS_MOST - bins->held, length = n < room ? n : room; /* unseen: <= */
    uint64_t specials = specials_of(bins, dtype);
    fill(bins, dtype, at, length);
    bins->held += length;
    if (specials_of(bins, dtype) != specials) fold_super_count_specials(dtype, at, length, sum, abs);
    if (bins->held == FOLD_BINS_MOST) fold_bins_empty(bins, dtype, sum, abs);
    at += length * fold_dtype_size(dtype);
    n -= length;
  }
}
