/* narrowing.c: see narrowing.h. In double, where a factor and what it loses are exact. A term passes through at most n + 4 roundings, of
 * products and sums of positive numbers: (1 + 2^-53)^(n + 4) is below 1 + (n + 4) 2^-52, for n < 2^50. What its three products lose
 * below the normal range is less than 2^-1070.
 */
#include "oracles/narrowing.h"

#include <math.h>
#include <stdlib.h>

/* IEEE-754 parameters of the format; of factors that are kept those of f64. */
static struct fold_format format_of(enum fold_factor_dtype to) {
  switch (to) {
    case FOLD_FACTORS_TF32: return fold_format_make(19, 11, -126, 127, FOLD_FORMAT_INFINITIES);
    case FOLD_FACTORS_BF16: return fold_format_bf16();
    case FOLD_FACTORS_F16: return fold_format_f16();
    case FOLD_FACTORS_KEPT: break;
  }
  return fold_format_f64();
}

/* l(x) of a finite number; `magnitude` is |x|. */
static double loss_of(struct fold_format format, double magnitude) {
  const int exponent = magnitude > 0 ? ilogb(magnitude) : 0;
  const int unit = (exponent > format.emin ? exponent : format.emin) - format.precision + 1;
  const double units = ldexp(magnitude, -unit);
  return magnitude - ldexp(floor(units), unit);
}

/* From here on it is rounded to infinity: half a unit above the largest number. */
static double threshold_of(struct fold_format format) { return ldexp(2 - ldexp(1, -format.precision), format.emax); }

static void add_term(struct fold_narrowing *narrowing, struct fold_format format, double x, double y) {
  x = fabs(x), y = fabs(y);
  if (isnan(x) || isnan(y)) return;
  const double threshold = threshold_of(format);
  narrowing->overflows |= (isfinite(x) && x >= threshold) || (isfinite(y) && y >= threshold);
  if (isinf(x) || isinf(y)) {
    const double least = ldexp(1, fold_format_least(format)), other = isinf(x) ? y : x;
    narrowing->meets_zero |= other < least;
    return;
  }
  const double of_x = loss_of(format, x), of_y = loss_of(format, y);
  if (x > 0 && y > 0 && (of_x > 0 || of_y > 0)) narrowing->error += x * of_y + of_x * y + of_x * of_y + 0x1p-1070;
}

fold_status fold_narrowing_of(const struct fold_terms *terms, enum fold_factor_dtype to,
                              struct fold_narrowing *narrowing) {
  const struct fold_format format = format_of(to);
  struct fold_terms line;
  void *room;
  *narrowing = (struct fold_narrowing){.error = 0};
  if (to == FOLD_FACTORS_KEPT || terms->factors < 2 || fold_dtype_is_integer(terms->dtype)) return fold_ok();
  FOLD_TRY(fold_terms_line(terms, &line, &room));
  for (size_t t = 0; t < line.n; t++)
    add_term(narrowing, format, fold_bits_to_double(line.dtype, fold_bits_load(line.dtype, line.factor[0], t)),
             fold_bits_to_double(line.dtype, fold_bits_load(line.dtype, line.factor[1], t)));
  free(room);
  narrowing->error *= 1 + ldexp((double)terms->n + 4, -51); /* twice as much, for this rounding */
  return fold_ok();
}

/* To what the product is aligned, if a factor is subnormal; else 0. */
static double aligned_to(double least, double x, double y) {
  x = fabs(x), y = fabs(y);
  const bool subnormal = (x > 0 && x < least) || (y > 0 && y < least);
  if (!subnormal || !isfinite(x) || !isfinite(y)) return 0;
  return fmax(x, least) * fmax(y, least);
}

fold_status fold_alignment_of(const struct fold_terms *terms, enum fold_dtype accumulator,
                              struct fold_narrowing *narrowing) {
  const double least = ldexp(1, fold_format_of(terms->dtype).emin);
  struct fold_terms line;
  void *room;
  double most = 0;
  if (terms->factors < 2) return fold_ok();
  FOLD_TRY(fold_terms_line(terms, &line, &room));
  for (size_t t = 0; t < line.n; t++)
    most = fmax(most, aligned_to(least, fold_bits_to_double(line.dtype, fold_bits_load(line.dtype, line.factor[0], t)),
                                 fold_bits_to_double(line.dtype, fold_bits_load(line.dtype, line.factor[1], t))));
  free(room);
  narrowing->error +=
      9 * (double)terms->n * ldexp(most, -fold_format_of(accumulator).precision); /* 8 n u, and rounding */
  return fold_ok();
}

bool fold_factors_fit(enum fold_dtype dtype, const void *in, size_t n, enum fold_factor_dtype to) {
  const struct fold_format format = format_of(to);
  if (fold_dtype_is_integer(dtype)) return true;
  for (size_t i = 0; i < n; i++) {
    const double x = fabs(fold_bits_to_double(dtype, fold_bits_load(dtype, in, i)));
    if (isfinite(x) && (x >= threshold_of(format) || loss_of(format, x) > 0)) return false;
  }
  return true;
}
