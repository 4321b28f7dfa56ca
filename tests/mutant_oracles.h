/* mutant_oracles.h: exact oracles and generators that are broken on purpose, for the checks that judge the real ones.
 */
#ifndef MUTANT_ORACLES_H
#define MUTANT_ORACLES_H

#include "fixtures/generator.h"
#include "oracles/exact.h"

/* A sum's truth, as fold_oracle_exact gives it. */
typedef fold_status mutant_oracle(enum fold_dtype dtype, const void *in, size_t n, struct fold_truth *truth);
struct fold_mutant_oracle {
  const char *name;
  mutant_oracle *run;
};
const struct fold_mutant_oracle *fold_mutant_oracles(size_t *n);

typedef void mutant_generator(const struct fold_source *source, uint64_t first, size_t n, void *out);
struct fold_mutant_generator {
  const char *name;
  mutant_generator *run;
};
const struct fold_mutant_generator *fold_mutant_generators(size_t *n);

#endif
