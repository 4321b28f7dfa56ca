/* remake.c: see remake.h. */
#include "compare/remake.h"

#include <stdlib.h>

#include "base/hash.h"

static fold_status remake(struct fold_remade *r, const struct fold_case *c) {
  const struct fold_problem *problem = c->problem;
  *r = (struct fold_remade){.c = c};
  for (unsigned k = 0; k < problem->inputs; k++) {
    const size_t nbytes = fold_case_bytes(c, k);
    r->input[k] = aligned_alloc(64, (nbytes / 64 + 1) * 64);
    if (r->input[k] == NULL) return fold_within(fold_no_memory("for its input"), "%.100s", c->name);
    FOLD_TRY(fold_within(fold_case_fill(c, k, r->input[k], 0), "%.100s", c->name));
    r->hash = XXH3_64bits_withSeed(r->input[k], nbytes, r->hash);
  }
  FOLD_TRY(fold_truths_open(&r->truths, c, r->input[0]));
  for (unsigned k = 1; k < problem->inputs; k++) r->truths.in[k] = r->input[k];
  return fold_ok();
}

void fold_remade_free(struct fold_remade *r) {
  if (r->truths.c) fold_truths_close(&r->truths);
  for (unsigned k = 0; k < FOLD_INPUTS; k++) free(r->input[k]);
  *r = (struct fold_remade){0};
}

fold_status fold_remake(struct fold_remade *r, const struct fold_case *c) {
  if (r->c == c) return fold_ok();
  fold_remade_free(r);
  fold_status status = remake(r, c);
  if (status.code != FOLD_OK) fold_remade_free(r);
  return status;
}
