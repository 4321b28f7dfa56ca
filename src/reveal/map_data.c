/* map_data.c: makes terms from a hash of seed, element and rank. */
#include "reveal/map_data.h"

#include "oracles/fingerprint.h"

enum family { WIDE, CANCELLING, TIES, ONE_EXPONENT };
enum twist { SOME_ZEROS, ZEROS, NEGATIVE_ZEROS, EQUAL, SUBNORMAL, LEAST, GREATEST, NOT_FINITE, TWISTS, PLAIN = TWISTS };
/* One element in TWISTED is twisted. STEP chooses others in each message; it is prime to FOLD_MAP_TURNS. */
enum { TWISTED = FOLD_MAP_TURNS / TWISTS, STEP = 5 };

#define GOLDEN UINT64_C(0x9e3779b97f4a7c15)

static unsigned common_divisor(unsigned a, unsigned b) {
  while (b) {
    const unsigned rest = a % b;
    a = b, b = rest;
  }
  return a;
}

void fold_map_data_open(struct fold_map_data *data, enum fold_dtype dtype, enum fold_dtype accumulator, unsigned ranks,
                        uint64_t seed) {
  const struct fold_format t = fold_format_of(dtype), a = fold_format_of(accumulator);
  int room = 2; /* binades below the greatest number, so that no sum overflows */
  while (1u << room < 2 * ranks) room++;
  *data = (struct fold_map_data){.dtype = dtype, .format = t, .ranks = ranks, .low = t.emin, .seed = seed};
  data->wide = a.precision > t.precision;
  data->high = (t.emax < a.emax ? t.emax : a.emax) - room;
  data->width = a.precision + 10;
  if (data->width > data->high - data->low + 1) data->width = data->high - data->low + 1;
  for (unsigned k = 0, stride = 1; k < FOLD_MAP_STRIDES; stride++)
    if (common_divisor(stride, ranks) == 1) data->stride[k++] = stride;
}

/* What the terms of one element share. */
struct element {
  uint64_t hash;
  enum family family;
  enum twist twist;
  int high; /* the greatest exponent of the window */
  bool one_sign;
  unsigned stride, shift;
};

/* The twists take turns, so that each element gets all of them. */
static enum twist twist_of(const struct fold_map_data *data, size_t at) {
  const unsigned turn = (unsigned)((at + data->seed * STEP) % FOLD_MAP_TURNS);
  const enum twist twist = turn % TWISTED ? PLAIN : (enum twist)(turn / TWISTED);
  return twist >= GREATEST && !data->format.infinities ? PLAIN : twist;
}

static struct element element_of(const struct fold_map_data *data, size_t at) {
  const uint64_t hash = fold_fingerprint_mix(data->seed * UINT64_C(0x632be59bd9b4e019) + (at + 1) * GOLDEN);
  struct element e = {.hash = hash, .family = (enum family)(hash & 3), .one_sign = (hash >> 3 & 7) == 0};
  e.twist = twist_of(data, at);
  if (data->wide && e.family != ONE_EXPONENT && (hash >> 52 & 7)) e.family = CANCELLING;
  const int spare = data->high - data->low + 1 - data->width;
  e.high = data->width / 2 < data->high ? data->width / 2 : data->high;
  if (hash >> 2 & 1 || e.high - data->width + 1 < data->low)
    e.high = data->high - (int)((hash >> 40) % (uint64_t)(spare + 1));
  if (e.twist == LEAST) e.high = data->low + data->width / 4;
  if (e.twist == GREATEST) e.high = data->format.emax, e.family = ONE_EXPONENT, e.one_sign = hash >> 3 & 1;
  e.stride = data->stride[hash >> 8 & (FOLD_MAP_STRIDES - 1)];
  e.shift = (unsigned)((hash >> 16) % data->ranks);
  return e;
}

/* A number in the element's window, or in its `width` greatest exponents. */
static uint64_t number(const struct fold_map_data *data, const struct element *e, uint64_t key, int width,
                       uint64_t fraction) {
  const uint64_t bits = fold_fingerprint_mix(e->hash + (key + 1) * GOLDEN), dice = fold_fingerprint_mix(bits);
  int exponent = e->high - (int)((dice >> 8) % (uint64_t)width);
  if (exponent < data->low) exponent = data->low;
  return (dice & 1 && !e->one_sign ? data->format.sign : 0) |
         (uint64_t)(exponent - data->format.emin + 1) << (data->format.precision - 1) | (bits & fraction);
}

/* The number of a pair that cancels, or of a rank that is left over. If the accumulator is wide, every other pair, and
 * the rank left over, is so much smaller that it loses bits beside the pairs between. */
static uint64_t pair_number(const struct fold_map_data *data, const struct element *e, unsigned pair) {
  const bool left_over = 2 * pair + 1 == data->ranks, small = left_over || ((pair ^ e->hash >> 48) & 1);
  struct element part = *e;
  if (!data->wide) return number(data, e, pair, data->width, data->format.fraction);
  if (small) part.high -= data->width - data->width / 4;
  return number(data, &part, pair, data->width / 4, data->format.fraction);
}

static uint64_t plain_term(const struct fold_map_data *data, const struct element *e, unsigned rank) {
  const uint64_t fraction = data->format.fraction;
  switch (e->family) {
    case WIDE: return number(data, e, rank, data->width, fraction);
    case TIES: return number(data, e, rank, data->width, fraction & ~(fraction >> 1));
    case ONE_EXPONENT: return number(data, e, rank, data->width < 3 ? data->width : 3, fraction);
    case CANCELLING: break;
  }
  /* A pair is two ranks that are neighbours in a shuffled sequence; mostly the second has another last bit. */
  const unsigned place = (rank * e->stride + e->shift) % data->ranks;
  const uint64_t first = pair_number(data, e, place / 2);
  if (place % 2 == 0) return first;
  return (first ^ data->format.sign) ^ (!data->wide && fold_fingerprint_mix(e->hash ^ place) % 4 > 0);
}

static uint64_t term(const struct fold_map_data *data, const struct element *e, unsigned rank) {
  const struct fold_format *t = &data->format;
  const uint64_t dice = fold_fingerprint_mix(e->hash ^ (rank + 1) * GOLDEN), sign = dice & 1 ? t->sign : 0;
  const uint64_t plain = plain_term(data, e, e->twist == EQUAL ? 0 : rank);
  switch (e->twist) {
    case SOME_ZEROS: return dice >> 1 & 1 ? sign : plain;
    case ZEROS: return sign;
    case NEGATIVE_ZEROS: return t->sign;
    case SUBNORMAL: return dice >> 1 & 7 ? sign | (1 + (dice >> 8) % t->fraction) : plain;
    case NOT_FINITE: /* mostly one; else several, of one sign or both; or a NaN */
      if (rank == e->shift || (e->hash >> 32 & 3) == 0) return (dice >> 4 & 7) == 0 ? t->nan : sign | t->beyond;
      return plain;
    case EQUAL:
    case LEAST:
    case GREATEST:
    case PLAIN: break;
  }
  return plain;
}

void fold_map_data_column(const struct fold_map_data *data, unsigned rank, size_t n, void *out) {
  for (size_t i = 0; i < n; i++) {
    const struct element e = element_of(data, i);
    fold_bits_store(data->dtype, out, i, term(data, &e, rank));
  }
}

void fold_map_data_rows(const struct fold_map_data *data, size_t first, size_t n, void *out) {
  for (size_t i = 0; i < n; i++) {
    const struct element e = element_of(data, first + i);
    for (unsigned r = 0; r < data->ranks; r++)
      fold_bits_store(data->dtype, out, i * data->ranks + r, term(data, &e, r));
  }
}

void fold_map_data_equal(enum fold_dtype dtype, uint64_t bits, size_t n, void *out) {
  const size_t size = fold_dtype_size(dtype), all = n * size;
  if (n > 0) fold_bits_store(dtype, out, 0, bits);
  for (size_t done = size; done < all; done *= 2)
    memcpy((unsigned char *)out + done, out, done < all - done ? done : all - done);
}
