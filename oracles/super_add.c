/* super_add.c: adds an array's terms to the limbs, each stretch of terms in the way that is fastest for it.
 *
 * Terms of like size are split by vectors (super_extract.inc), all others go through bins (super_bins.c), a few one by one. Each
 * adds the same number to the limbs, and the tests hold each against the others. Where to split is guessed from the terms before;
 * a wrong guess shows in the same pass, and no term is added twice.
 */
#include <limits.h>
#include <stdatomic.h>
#if defined __x86_64__
#include <xmmintrin.h>
#endif

#include "base/bits.h"
#include "oracles/super_bins.h"
#include "oracles/super_extract.h"

enum {
  WORTH_COUNTING = 256, /* bytes: fewer are added one by one */ /* unseen: 255 | 257 */
  WORTH_SPLITTING = 32, /* terms: fewer are added one by one */ /* unseen: 33 | 31 */
  WORTH_BINS = 512,     /* likewise, of narrow dtypes */ /* unseen: 511 | 513 */
  WORTH_BINS_WIDE = 4096, /* unseen: 4097 | 4095 */
  LOOK = 512,      /* terms that a new guess is made from */
  MARGIN = 2,      /* how many bits larger the next terms may be than these */
  /* unseen: 15 | 17 */
  TRUST = 16,      /* after a split with more levels than the dtype's fewest: so many passes before a new guess */
  FORGIVEN = 3,    /* failures before bins take over */ /* unseen: 2 | 4 */
  BINNED = 1 << 12 /* terms that the bins take if no pass fits; four times as many the next time */
};
/* Terms between two normalisations: no limb has changed 2^30 times. */
static const size_t between = (size_t)1 << 24; /* unseen: 25 | 23 | 2 */

static inline __attribute__((always_inline)) void add_integers(enum fold_dtype dtype, const void *in, size_t n,
                                                               struct fold_super *sum, struct fold_super *abs) {
  for (size_t i = 0; i < n; i++) {
    const int64_t x = fold_integer_value(fold_format_of(dtype), fold_bits_load(dtype, in, i));
    const uint64_t magnitude = x < 0 ? 0 - (uint64_t)x : (uint64_t)x;
    fold_limbs_add_word(sum->limb, 0, magnitude, x < 0);
    if (abs) fold_limbs_add_word(abs->limb, 0, magnitude, false);
  }
}

/* Inlined once a dtype, whose format is then no variable. */
static inline __attribute__((always_inline)) void add_each(enum fold_dtype dtype, const void *in, size_t n,
                                                           struct fold_super *sum, struct fold_super *abs) {
  struct fold_format format = fold_format_of(dtype);
  bool special = false; /* unseen: true */
  for (size_t i = 0; i < n; i++) {
    uint64_t bits = fold_bits_load(dtype, in, i), exponent = (bits & format.exponent) >> (format.precision - 1);
    if ((bits & ~format.sign) >= format.beyond) {
      special = true;
      continue;
    }
    uint64_t significand = (bits & format.fraction) | (exponent ? format.fraction + 1 : 0);
    unsigned shift = exponent ? (unsigned)exponent - 1 : 0;
    fold_limbs_add_word(sum->limb, shift, significand, bits & format.sign);
    if (abs) fold_limbs_add_word(abs->limb, shift, significand, false);
  }
  if (special) fold_super_count_specials(dtype, in, n, sum, abs);
}

/* Adds terms to the limbs one by one. */
static void add_singly(enum fold_dtype dtype, const void *in, size_t n, struct fold_super *sum,
                       struct fold_super *abs) {
  switch (dtype) {
#define FOLD_INTEGER(TAG, ...)                 \
  case FOLD_##TAG:                             \
    add_integers(FOLD_##TAG, in, n, sum, abs); \
    break;
#define FOLD_DTYPE(TAG, ...)               \
  case FOLD_##TAG:                         \
    add_each(FOLD_##TAG, in, n, sum, abs); \
    break;
#include "base/dtype.def"
    case FOLD_DTYPES: break;
  }
}

/* The states that terms are added to. */
struct target {
  const struct fold_extractor *extractor;
  enum fold_dtype dtype;
  struct fold_super *sum, *abs;
};

/* How the last terms were split, as a guess for the next ones. */
struct guess {
  int top, levels; /* levels 0: the last terms were not split */
  int trust;       /* passes before a new guess is made */
  int failures;    /* passes that did not fit since the last one that took a whole block */
  size_t length;   /* of the next pass */
  size_t binned;   /* how many terms the bins took last */
};

/* The patterns of the largest magnitude, and of the smallest one other than zero; 0 if there is none. */
struct extent {
  uint64_t largest, smallest;
};

/* A zero less one wraps around, above all others, so that zeros do not count as the smallest. */
#define EXTENT(word)                                                            \
  static struct extent extent_##word(const void *in, size_t n, uint64_t sign) { \
    const word __attribute__((may_alias)) *x = in;                              \
    word largest = 0, below = (word)-1;                                         \
    for (size_t i = 0; i < n; i++) {                                            \
      word magnitude = x[i] & (word)~sign, less = (word)(magnitude - 1);        \
      largest = magnitude > largest ? magnitude : largest;                      \
      below = less < below ? less : below;                                      \
    }                                                                           \
    return (struct extent){largest, (word)(below + 1)};                         \
  }
EXTENT(uint16_t)
EXTENT(uint32_t)
EXTENT(uint64_t)

static struct extent extent_of(struct fold_format f, const void *in, size_t n) {
  switch (f.bits) {
    case 16: return extent_uint16_t(in, n, f.sign);
    case 32: return extent_uint32_t(in, n, f.sign);
    default: return extent_uint64_t(in, n, f.sign);
  }
}

/* The exponent of a pattern's last place. */
static int unit_of(struct fold_format f, uint64_t magnitude) {
  int field = (int)(magnitude >> (f.precision - 1));
  return f.emin - f.precision + 1 + (field ? field - 1 : 0);
}

static void add_signed(int64_t *limb, unsigned shift, __int128 x) {
  unsigned __int128 magnitude = x < 0 ? -(unsigned __int128)x : (unsigned __int128)x; /* unseen: <= | 1 */
  fold_limbs_add(limb, shift, magnitude, x < 0); /* unseen: <= | 1 */
}

/* False if the pass was not exact; then no term was added. */
static bool split(const struct target *to, const void *in, size_t n, int top, int levels) {
  fold_extract_pass *pass = (to->abs ? to->extractor->both : to->extractor->sum)[to->dtype][levels - 1];
  struct fold_extracted parts;
  if (!pass || !pass(in, n, top, &parts)) return false;
  for (int level = 0; level < levels; level++) {
    unsigned shift = (unsigned)(top - FOLD_EXTRACT_BITS * (level + 1) - fold_super_base(to->dtype));
    add_signed(to->sum->limb, shift, parts.sum[level]);
    if (to->abs) add_signed(to->abs->limb, shift, parts.abs[level]);
  }
  return true;
}

/* Doubles below it are subnormal, and slow on many processors. */
enum { LEAST_NORMAL = -1022 };

static int within(int least, int x, int most) { return x < least ? least : x > most ? most : x; } /* unseen: <= | >= */

/* Splits with the fewest levels that suffice whatever the terms' fractions are, and remembers how. */
static bool split_anew(const struct target *to, const void *in, size_t n, struct guess *guess) {
  const struct fold_format f = fold_format_of(to->dtype);
  const struct extent extent = extent_of(f, in, n);
  const int size = unit_of(f, extent.largest) + f.precision; /* magnitudes are below 2^size */
  const int unit = extent.smallest ? unit_of(f, extent.smallest) : f.emax;
  const int base = fold_super_base(to->dtype), floor = base > LEAST_NORMAL ? base : LEAST_NORMAL; /* unseen: >= */
  const int least = to->extractor->sum[to->dtype][0] ? 1 : 2;
  if (extent.largest >= f.beyond || unit < floor) return false; /* unseen: < */
  for (int levels = least; levels <= FOLD_EXTRACT_LEVELS; levels++) {
    int span = FOLD_EXTRACT_BITS * levels, most = unit + span < 1023 ? unit + span : 1023;
    int top = within(floor + span, size + 1 + MARGIN, most);
    if (top < size + 2) continue;
    guess->top = top, guess->levels = levels, guess->trust = levels == least ? INT_MAX : TRUST;
    return split(to, in, n, top, levels);
  }
  return false;
}

/* Returns how many of the first terms it has split. If 0, the bins are to take the first guess->binned. */
static size_t split_some(const struct target *to, const void *in, size_t n, struct guess *guess) {
  if (guess->levels && guess->trust-- > 0) { /* unseen: <= | >= | 1 */
    size_t length = n < guess->length ? n : guess->length; /* unseen: <= */
    if (split(to, in, length, guess->top, guess->levels)) {
      if (length == FOLD_EXTRACT_BLOCK) guess->failures = 0, guess->binned = 0; /* unseen: 1 */
      if (guess->length < FOLD_EXTRACT_BLOCK) guess->length *= 2;
      return length;
    }
    guess->failures++;
  }
  size_t length = n < LOOK ? n : LOOK; /* unseen: <= */
  guess->length = 2 * LOOK;
  if (guess->failures <= FORGIVEN && split_anew(to, in, length, guess)) return length;
  guess->levels = 0;
  guess->failures = FORGIVEN;
  guess->binned = guess->binned == 0 ? BINNED : guess->binned < FOLD_BINS_MOST ? 4 * guess->binned : FOLD_BINS_MOST;
  return 0;
}

/* Counts how often each pattern occurs among the bytes, and adds each pattern so many times. */
static void add_counted(const struct target *to, const unsigned char *in, size_t n) {
  const struct fold_format f = fold_format_of(to->dtype);
  /* unseen: 257 | 1 | 255 */
  uint32_t count[4][256] = {{0}}; /* four tables, so that equal neighbours do not wait for each other in memory */
  bool special = false; /* unseen: true */
  size_t i = 0;
  /* unseen: 1 */
  for (; i + 4 <= n; i += 4) count[0][in[i]]++, count[1][in[i + 1]]++, count[2][in[i + 2]]++, count[3][in[i + 3]]++;
  for (; i < n; i++) count[0][in[i]]++; /* unseen: 1 */
  for (unsigned bits = 0; bits < 256; bits++) { /* unseen: 1 | <= */
    const uint64_t times = (uint64_t)count[0][bits] + count[1][bits] + count[2][bits] + count[3][bits];
    const uint64_t magnitude = bits & ~f.sign, field = magnitude >> (f.precision - 1);
    if (times && magnitude >= f.beyond) special = true; /* unseen: ! */
    if (!times || magnitude >= f.beyond) continue;
    const uint64_t sum = times * ((bits & f.fraction) | (field ? f.fraction + 1 : 0));
    const unsigned shift = field ? (unsigned)field - 1 : 0;
    fold_limbs_add(to->sum->limb, shift, sum, bits & f.sign);
    if (to->abs) fold_limbs_add(to->abs->limb, shift, sum, false);
  }
  if (special) fold_super_count_specials(to->dtype, in, n, to->sum, to->abs);
}

static void add(const struct target *to, const void *in, size_t n) {
  const unsigned char *at = in;
  struct guess guess = {0}; /* unseen: 1 */
  struct fold_bins bins;
  if (fold_dtype_is_integer(to->dtype)) {
    add_singly(to->dtype, in, n, to->sum, to->abs);
    return;
  }
  if (fold_dtype_size(to->dtype) == 1) {
    if (n < WORTH_COUNTING) /* unseen: ! | >= | <= */
      add_singly(to->dtype, in, n, to->sum, to->abs);
    else
      add_counted(to, in, n);
    return;
  }
  bins.held = 0;
  for (size_t taken; n > 0; n -= taken, at += taken * fold_dtype_size(to->dtype)) {
    bool splits = to->extractor && n >= WORTH_SPLITTING; /* unseen: > */
    taken = splits ? split_some(to, at, n, &guess) : 0;
    if (taken) continue;
    taken = splits && guess.binned < n ? guess.binned : n; /* unseen: <= */
    /* unseen: != | ! | || | <= */
    if (bins.held == 0 && taken < (fold_bins_are_wide(to->dtype) ? WORTH_BINS_WIDE : WORTH_BINS))
      add_singly(to->dtype, at, taken, to->sum, to->abs);
    else
      fold_bins_add(&bins, to->dtype, at, taken, to->sum, to->abs);
  }
  fold_bins_empty(&bins, to->dtype, to->sum, to->abs);
}

static bool all_negative_zeros(enum fold_dtype dtype, const void *in, size_t n) {
  size_t i = 0;
  if (fold_dtype_is_integer(dtype)) return n == 0; /* they have no -0 */
  while (i < n && fold_bits_load(dtype, in, i) == fold_format_of(dtype).sign) i++;
  return i == n;
}

void fold_super_add_by(const struct fold_extractor *extractor, enum fold_dtype dtype, const void *in, size_t n,
                       struct fold_super *sum, struct fold_super *abs) {
  const struct target to = {extractor, dtype, sum, abs};
  const unsigned char *bytes = in;
  for (size_t done = 0; done < n; done += between) { /* unseen: <= */
    add(&to, bytes + done * fold_dtype_size(dtype), n - done < between ? n - done : between); /* unseen: <= */
    fold_super_normalise(dtype, sum);
    if (abs) fold_super_normalise(dtype, abs);
  }
  if (!sum->other_than_negative_zero) sum->other_than_negative_zero = !all_negative_zeros(dtype, in, n);
  sum->terms += (int64_t)n;
  if (!abs) return;
  abs->terms += (int64_t)n;
  if (n) abs->other_than_negative_zero = 1; /* |-0| is +0 */
}

#if defined __x86_64__
const struct fold_extractor *const fold_extractors[] = {&fold_extractor_avx512, &fold_extractor_avx2, NULL};

/* Whether this thread rounds to nearest, keeps subnormals and masks all exceptions. */
static bool usual_arithmetic(void) { return (_mm_getcsr() & 0xffc0) == 0x1f80; }
#else
const struct fold_extractor *const fold_extractors[] = {NULL};
static bool usual_arithmetic(void) { return true; }
#endif

/* Found out once: on a virtual machine asking takes longer than many sums. */
static const struct fold_extractor *fastest(void) {
  static atomic_int known; /* 1 + the place in the list */
  if (!known) {
    int i = 0;
    while (fold_extractors[i] && !fold_extractors[i]->runs_here()) i++; /* unseen: -- */
    known = i + 1;
  }
  return fold_extractors[known - 1];
}

const struct fold_extractor *fold_extractor_here(void) { return usual_arithmetic() ? fastest() : NULL; }

void fold_super_add(enum fold_dtype dtype, const void *in, size_t n, struct fold_super *sum, struct fold_super *abs) {
  fold_super_add_by(fold_extractor_here(), dtype, in, n, sum, abs);
}
