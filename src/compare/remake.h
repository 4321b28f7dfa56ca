/* remake.h: makes a case's input again in this process, with what is known of it, to judge results that were made
 * elsewhere. */
#ifndef FOLD_REMAKE_H
#define FOLD_REMAKE_H

#include "judge/evidence.h"

struct fold_remade {
  const struct fold_case *c;
  void *input[FOLD_INPUTS];
  uint64_t hash; /* as a rig hashes its inputs, and as records have it */
  struct fold_truths truths;
};

/* Does nothing if it is that case's already; `c` must outlive it. After a failure there is nothing to free. */
fold_status fold_remake(struct fold_remade *remade, const struct fold_case *c);
void fold_remade_free(struct fold_remade *remade);

#endif
