/* ranks.h: shared by tests over real ranks: an environment in which mpirun starts them for any user, root included.
 *
 * A Criterion program can't be a rank. So the world that a test asks for runs the command, over our subjects
 * (FOLDPROOF) or over the mutants (FOLDPROOF_MUTANTS).
 */
#ifndef RANKS_H
#define RANKS_H

#include <criterion/criterion.h>
#include <stdlib.h>
#include <unistd.h>

#include "ranks/world.h"

static inline void ranks_environment(void) {
  if (geteuid() == 0) {
    setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
    setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
  }
  unsetenv("FOLDPROOF_LAUNCH");
  unsetenv("FOLDPROOF_RANKS");
  unsetenv("FOLDPROOF_TIMEOUT");
  unsetenv("FOLDPROOF_ADDRESS");
  unsetenv("FOLDPROOF_PROGRAM");
}

/* The world of MPI, each rank the `program`; the test is skipped, with the reason, where there is none. */
static inline struct fold_world *ranks_world(const char *program) {
  struct fold_world *world;
  ranks_environment();
  setenv("FOLDPROOF_PROGRAM", program, 1);
  fold_status status = fold_world_of(FOLD_MPI, &world);
  if (status.code == FOLD_UNSUPPORTED) cr_skip_test("%s", status.text);
  cr_assert_eq(status.code, FOLD_OK, "%s", status.text);
  return world;
}

#endif
