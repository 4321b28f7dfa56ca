/* hunt_honest.c: one guest of honest subjects, in many orders, dtypes and accumulators, and with what honest code does that looks suspicious:
 * whatever the search finds in them is false. Their tables are in hunt_honest_orders.c, hunt_honest_tricky.c and hunt_honest_axes.c. */
#include <stdlib.h>
#include <string.h>

#include "hunt_honest.h"

static struct foldproof_guest_table table = {.abi = FOLDPROOF_GUEST_ABI,
                                             .subject_size = sizeof(struct foldproof_guest_subject)};

static void join(struct foldproof_guest_subject *all, const struct foldproof_guest_subject *some, size_t n) {
  memcpy(all + table.n, some, n * sizeof *some);
  table.n += n;
}

const struct foldproof_guest_table *foldproof_guest(void) {
  size_t in_orders, tricks, of_axes;
  const struct foldproof_guest_subject *orders = hunt_honest_orders(&in_orders), *tricky = hunt_honest_tricky(&tricks),
                                       *axes = hunt_honest_axes(&of_axes);
  if (table.n > 0) return &table;
  struct foldproof_guest_subject *all = malloc((in_orders + tricks + of_axes) * sizeof *all);
  if (!all) return NULL;
  join(all, orders, in_orders), join(all, tricky, tricks), join(all, axes, of_axes);
  table.subjects = all;
  return &table;
}
