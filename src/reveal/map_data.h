/* map_data.h: what ranks hold when the map of a collective is tested (map.h): each rank makes its own column, and whoever predicts the
 * results makes any rows, without the others' and without what went before.
 *
 * Of an element the terms of all ranks are of one family: exponents all over a window somewhat wider than the accumulator, so that what
 * small terms add up to decides roundings; pairs of ranks that cancel but for their last bits; numbers of one or two bits, whose sums are
 * ties; full significands of nearly one exponent. In an accumulator that is wider than the terms what is lost of a small term shows in no
 * result beside a larger one: there most elements have pairs that cancel wholly, every other one of much smaller numbers. Every other
 * element has its window around 1, the others anywhere in the dtype's range; of every eighth all terms have one sign.
 *
 * A collective may choose by its values. So of every third element, in turn from message to message, the terms have what such ones look
 * for (enum twist): zeros among them, or alone, or negative ones alone; equal terms; subnormal ones; the least normal ones; the greatest,
 * so that sums overflow; infinities and NaNs. Formats without infinities have none of the last two, whose results conversions disagree
 * about.
 */
#ifndef FOLD_MAP_DATA_H
#define FOLD_MAP_DATA_H

#include "bits.h"

/* FOLD_MAP_TURNS messages show each element each twist. */
enum { FOLD_MAP_STRIDES = 8, FOLD_MAP_TURNS = 24 };

struct fold_map_data {
  enum fold_dtype dtype;
  struct fold_format format;
  unsigned ranks, stride[FOLD_MAP_STRIDES]; /* strides: without a divisor in common with ranks */
  int low, high, width;                     /* exponents that terms have, and how many of them an element's have */
  bool wide;                                /* the accumulator keeps more bits than terms have */
  uint64_t seed;
};

void fold_map_data_open(struct fold_map_data *data, enum fold_dtype dtype, enum fold_dtype accumulator, unsigned ranks,
                        uint64_t seed);
/* Elements 0 to n - 1 of a rank. */
void fold_map_data_column(const struct fold_map_data *data, unsigned rank, size_t n, void *out);
/* Elements first to first + n - 1, a row of `ranks` terms each. */
void fold_map_data_rows(const struct fold_map_data *data, size_t first, size_t n, void *out);

/* n elements of one pattern. */
void fold_map_data_equal(enum fold_dtype dtype, uint64_t bits, size_t n, void *out);

#endif
