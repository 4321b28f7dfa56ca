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
  FOLD_SAMPLED = 4096
}; /* a case of up to so many results has no sample; one has at most */

struct fold_sample {
  size_t n;   /* how many results are judged */
  size_t *at; /* which, rising; NULL: all of them */
};

/* `input` is the case's first input; NULL where it is not at hand. */
fold_status fold_sample_choose(const struct fold_case *c, const void *input, struct fold_sample *sample);
static inline size_t fold_sample_result(const struct fold_sample *sample, size_t i) {
  return sample->at ? sample->at[i] : i;
}
/* The place of a result among them; n where it is none of them. */
size_t fold_sample_place(const struct fold_sample *sample, size_t result);

#endif
