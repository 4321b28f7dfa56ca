/* hunt_faults.c: one guest of the faulty subjects on which the power of the search is measured: each is right but in one thing that its row
 * of a table says (hunt_faults_rows.c, hunt_faults_calls.c, hunt_faults_axes.c), and declares what would be true of it without. */
#include <stdlib.h>
#include <string.h>

#include "hunt_faults.h"

static struct foldproof_guest_table table = {.abi = FOLDPROOF_GUEST_ABI,
                                             .subject_size = sizeof(struct foldproof_guest_subject)};

static void join(struct foldproof_guest_subject *all, const struct foldproof_guest_subject *some, size_t n) {
  memcpy(all + table.n, some, n * sizeof *some);
  table.n += n;
}

const struct foldproof_guest_table *foldproof_guest(void) {
  size_t of_rows, of_calls, of_axes;
  const struct foldproof_guest_subject *rows = hunt_faults_of_rows(&of_rows), *calls = hunt_faults_of_calls(&of_calls),
                                       *axes = hunt_faults_of_axes(&of_axes);
  if (table.n > 0) return &table;
  struct foldproof_guest_subject *all = malloc((of_rows + of_calls + of_axes) * sizeof *all);
  if (!all) return NULL;
  join(all, rows, of_rows), join(all, calls, of_calls), join(all, axes, of_axes);
  table.subjects = all;
  return &table;
}
