/* suspects.c: the results of a run that differ most from the correctly rounded ones. */
#include <math.h>
#include <string.h>

#include "base/bits.h"
#include "judge/sample.h"

/* The results with the greatest weights so far, rising. */
struct furthest {
  size_t n, most, at[FOLD_SUSPECTS];
  double weight[FOLD_SUSPECTS];
};

static void consider(struct furthest *f, const struct fold_sample *sample, size_t at, double weight) {
  if (f->n == f->most && weight <= f->weight[0]) return;
  if (fold_sample_place(sample, at) < sample->n) return;
  if (f->n == f->most) {
    f->n--;
    memmove(f->at, f->at + 1, f->n * sizeof *f->at);
    memmove(f->weight, f->weight + 1, f->n * sizeof *f->weight);
  }
  size_t i = f->n++;
  for (; i > 0 && f->weight[i - 1] > weight; i--) f->weight[i] = f->weight[i - 1], f->at[i] = f->at[i - 1];
  f->weight[i] = weight, f->at[i] = at;
}

/* How far two results are apart: infinitely where their classes differ. */
static double apart(enum fold_dtype dtype, uint64_t got, uint64_t nearest) {
  if (fold_bits_same(dtype, got, nearest)) return 0;
  const double difference = fabs(fold_bits_to_double(dtype, got) - fold_bits_to_double(dtype, nearest));
  return isfinite(difference) ? difference : INFINITY;
}

static bool is_suspect(const struct fold_sample *sample, size_t result) {
  for (size_t i = 0; i < sample->n_suspects; i++)
    if (sample->suspect[i] == result) return true;
  return false;
}

void fold_sample_suspect(struct fold_sample *sample, enum fold_dtype dtype, const void *got, const void *nearest,
                         size_t results) {
  struct furthest absolute = {.most = FOLD_SUSPECTS / 2}, relative = absolute;
  sample->n_suspects = 0;
  for (size_t r = 0; r < results; r++) {
    const uint64_t want = fold_bits_load(dtype, nearest, r);
    const double difference = apart(dtype, fold_bits_load(dtype, got, r), want);
    if (difference == 0) continue;
    consider(&absolute, sample, r, difference);
    consider(&relative, sample, r,
             isfinite(difference) ? difference / fabs(fold_bits_to_double(dtype, want)) : INFINITY);
  }
  for (const struct furthest *f = &absolute; f; f = f == &absolute ? &relative : NULL)
    for (size_t i = f->n; i-- > 0;)
      if (!is_suspect(sample, f->at[i])) sample->suspect[sample->n_suspects++] = f->at[i];
}
