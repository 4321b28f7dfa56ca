/* own.h: gives the caller's thread the default arithmetic for a call that only computes, and OpenMP's other threads
 * too; puts the caller's back afterwards. */
#ifndef FOLD_OWN_H
#define FOLD_OWN_H

#include <fenv.h>

#include "base/fold.h"

struct fold_own {
  fenv_t callers;
  bool other; /* the caller's arithmetic was not the default */
};

void fold_own_begin(struct fold_own *own);
void fold_own_end(const struct fold_own *own);

#endif
