/* hunt_honest.h: the tables that hunt_honest.c joins to one guest: subjects about which everything that they declare is true. */
#ifndef HUNT_HONEST_H
#define HUNT_HONEST_H

#include <stddef.h>

#include "foldproof_guest.h"

const struct foldproof_guest_subject *hunt_honest_orders(size_t *n);
const struct foldproof_guest_subject *hunt_honest_tricky(size_t *n);
const struct foldproof_guest_subject *hunt_honest_axes(size_t *n);

#define HUNT_TABLE(name)                                                \
  const struct foldproof_guest_subject *hunt_honest_##name(size_t *n) { \
    *n = sizeof name / sizeof *name;                                    \
    return name;                                                        \
  }

/* What is true of a reduction of a row by itself, in a fixed order. */
#define HUNT_FIXED                                                                                          \
  "bounded,run_to_run,fresh_process,launch_invariant,alignment_invariant,batch_invariant,length_invariant," \
  "stride_invariant"
#define HUNT_ORDERED HUNT_FIXED ",replays"

#endif
