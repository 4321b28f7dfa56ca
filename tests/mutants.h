/* mutants.h: subjects that are broken on purpose: each must be refuted by the claims that it breaks, and by no other.
 *
 * A judge that holds everything is caught by `breaks`; a judge that refutes everything, by all other claims of the row,
 * which must hold. test_mutants.c checks both in process, those on MPI ranks over a world of ranks; foldproof-mutants
 * (mutants_main.c) is the command over the host's subjects and these, for what needs the command line or another
 * process.
 */
#ifndef MUTANTS_H
#define MUTANTS_H

#include "base/bits.h"
#include "kernels/host/host.h"
#include "model/subject.h"
#include "oracles/native.h"

struct fold_mutant {
  struct fold_subject subject;
  uint64_t breaks;      /* refuted on at least one case of `fixtures` */
  uint64_t may;         /* a consequence that shows on some inputs: free to hold or to be refuted */
  const char *fixtures; /* globs of the default set, chosen to be few and to show the fault */
};

const struct fold_mutant *fold_mutants(size_t *n);

/* The classes: what goes wrong, and who makes it. */
typedef const struct fold_mutant *fold_mutants_of(size_t *n);
struct mutant_class {
  const char *name, *what, *who;
  fold_mutants_of *mutants;
};
const struct mutant_class *mutant_classes(size_t *n);
fold_mutants_of fold_mutants_terms, fold_mutants_numbers, fold_mutants_memory, fold_mutants_kept, fold_mutants_launch;
fold_mutants_of fold_mutants_place, fold_mutants_batch, fold_mutants_process, fold_mutants_environment;
fold_mutants_of fold_mutants_dot, fold_mutants_matrix, fold_mutants_ranks, fold_mutants_scans, fold_mutants_keyed,
    fold_mutants_integers;

/* The host's subjects, the mutants, and subjects that fail (mutants_broken.c) as one registry; free its array. */
struct fold_registry;
void fold_mutants_join(struct fold_registry *registry);
const struct fold_subject *fold_mutants_broken(size_t *n);

/* Each row of a call by a function of one row. */
typedef float mutant_row_f32(const fold_element_f32 *x, size_t n);
typedef uint64_t mutant_row(const struct fold_call *call, const void *row, size_t r);
fold_status mutant_rows_f32(const struct fold_call *call, mutant_row_f32 *row);
fold_status mutant_rows(const struct fold_call *call, mutant_row *row);
static inline const void *mutant_row_at(const struct fold_call *call, size_t r) {
  return (const char *)call->in[0] + r * call->cols * fold_dtype_size(call->dtype);
}
/* The run function mutant_NAME of NAME, which sums one row. */
#define RUN_F32(name)                                                                           \
  fold_status mutant_##name(const struct fold_subject *subject, const struct fold_call *call) { \
    (void)subject;                                                                              \
    return mutant_rows_f32(call, name);                                                         \
  }
#define RUN(name)                                                                               \
  fold_status mutant_##name(const struct fold_subject *subject, const struct fold_call *call) { \
    (void)subject;                                                                              \
    return mutant_rows(call, name);                                                             \
  }

/* Right sums in rising and in falling index from +0. */
mutant_row_f32 mutant_sum_f32, mutant_back_f32;

/* mutants_kept.c: room for a count and a little more; an order by what others left in memory */
fold_scratch mutant_scratch;
fold_run mutant_freed_memory;
/* broken_ranks.c: collectives whose ranks die, hang or call otherwise */
fold_run broken_rank_killed, broken_rank_exits, broken_rank_crashes, broken_rank_hangs, broken_rank_stops,
    broken_rank_stops_in_call, broken_rank_other_count, broken_rank_other_type, broken_rank_other_call,
    broken_rank_fails, broken_ranks_fail, broken_rank_babbles, probe_places;
fold_grain probe_grain;

#endif
