/* sample.h: which results of a case the judges of results look at: all of them, or a sample where all would take too long.
 *
 * A sample has the corners and edges of each axis, the borders of tiles near its ends, and places that the input's hash
 * chooses: of one input always the same. A finding from a sample says so (fold_finding, `sampled`).
 */
#ifndef FOLD_SAMPLE_H
#define FOLD_SAMPLE_H

#include "fixtures/fixture.h"

enum {
  FOLD_JUDGED_WHOLE = 1 << 16,
  FOLD_SAMPLED = 4096,
  FOLD_SUSPECTS = 64
}; /* a case of up to so many results has no sample; one has at most so many, and so many suspects besides */

struct fold_sample {
  size_t n;                                  /* how many results are judged */
  size_t *at;                                /* which, rising; NULL: all of them */
  size_t n_suspects, suspect[FOLD_SUSPECTS]; /* others that are judged too, of one subject's run */
};

/* `input` is the case's first input; NULL where it is not at hand. */
fold_status fold_sample_choose(const struct fold_case *c, const void *input, struct fold_sample *sample);
static inline size_t fold_sample_result(const struct fold_sample *sample, size_t i) {
  return i >= sample->n ? sample->suspect[i - sample->n] : sample->at ? sample->at[i] : i;
}
/* How many results are judged, suspects included; result i of these is fold_sample_result's. */
static inline size_t fold_sample_judged(const struct fold_sample *sample) { return sample->n + sample->n_suspects; }
/* Chooses the suspects of a run: of all results outside the sample, those that differ most from `nearest`, patterns of the same dtype: half
 * of them by the difference, and half by its part of the nearest one. They replace earlier suspects. */
void fold_sample_suspect(struct fold_sample *sample, enum fold_dtype dtype, const void *got, const void *nearest,
                         size_t results);
/* The place of a result among them; n where it is none of them. */
size_t fold_sample_place(const struct fold_sample *sample, size_t result);

#endif
