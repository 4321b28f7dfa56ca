/* map_data.h: what ranks hold when the map of a collective is tested (map.h). Each rank makes its own column. Any rows can be made on
 * their own, without the other rows, to predict results.
 *
 * The terms that all ranks have of one element belong to one family: exponents all over a window somewhat wider than the accumulator,
 * so that the sum of small terms decides roundings; pairs of ranks that cancel except for their last bits; numbers of one or two bits,
 * whose sums are ties; full significands of nearly one exponent. If the accumulator is wider than the terms, a bit that a small term
 * loses beside a larger one shows in no result. Then most elements have pairs that cancel entirely, every other pair of much smaller
 * numbers. Every other element has its window around 1, the others have theirs anywhere in the dtype's range. In every eighth element all terms have one sign.
 *
 * A collective may choose its order by the values. So in every third element, a different one in each message, the terms have what such
 * collectives test for (enum twist): some zeros, only zeros, only negative zeros; equal terms; subnormal ones; the least normal ones; the
 * greatest, so that sums overflow; infinities and NaNs. Formats without infinities get none of the last two kinds, because conversions
 * disagree about their results.
 */
#ifndef FOLD_MAP_DATA_H
#define FOLD_MAP_DATA_H

#include "base/bits.h"

/* After FOLD_MAP_TURNS messages each element has had each twist. */
enum { FOLD_MAP_STRIDES = 8, FOLD_MAP_TURNS = 24 };

struct fold_map_data {
  enum fold_dtype dtype;
  struct fold_format format;
  unsigned ranks, stride[FOLD_MAP_STRIDES]; /* the strides have no divisor in common with `ranks` */
  int low, high, width; /* the exponents that terms may have; and how many of them the terms of one element use */
  bool wide;            /* the accumulator has more bits than the terms */
  uint64_t seed;
};

void fold_map_data_open(struct fold_map_data *data, enum fold_dtype dtype, enum fold_dtype accumulator, unsigned ranks,
                        uint64_t seed);
/* Writes elements 0 to n - 1 of a rank. */
void fold_map_data_column(const struct fold_map_data *data, unsigned rank, size_t n, void *out);
/* Writes elements first to first + n - 1, each a row of `ranks` terms. */
void fold_map_data_rows(const struct fold_map_data *data, size_t first, size_t n, void *out);

/* Writes n elements of the same pattern. */
void fold_map_data_equal(enum fold_dtype dtype, uint64_t bits, size_t n, void *out);

#endif
