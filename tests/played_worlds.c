/* played_worlds.c: the command over collectives that break what they promise from world to world, to test what
 * foldproof study --worlds makes of each. $PLAYED names the only one of a run. The ranks are real, and run this program
 * too.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "command/command.h"
#include "kernels/collective/collective.h"

#define BODY(name) static fold_status name(const struct fold_subject *subject, const struct fold_call *call)

/* The result's neighbour, `steps` numbers on, on every rank alike. */
static void shift(const struct fold_call *call, size_t at, unsigned steps) {
  uint64_t bits = fold_bits_load(call->dtype, call->out, at);
  while (steps-- > 0) bits = fold_bits_up(call->dtype, bits);
  fold_bits_store(call->dtype, call->out, at, bits);
}

BODY(right_sum) { return fold_library_sum(subject, call); }
BODY(right_vector) { return fold_library_allreduce(subject, call); }

/* One number on, in worlds of three ranks and more. */
BODY(world_shows) {
  FOLD_TRY(fold_collective_canonical_sum(subject, call));
  shift(call, 0, call->comm->ranks > 2);
  return fold_ok();
}
/* The same wrong number in all worlds. */
BODY(not_nearest) {
  FOLD_TRY(fold_collective_exact(subject, call));
  shift(call, 0, 1);
  return fold_ok();
}
BODY(not_replayed) {
  FOLD_TRY(fold_collective_canonical_sum(subject, call));
  shift(call, 0, 1);
  return fold_ok();
}
/* The last rank's columns are lost. */
BODY(above_bound) {
  struct fold_call none = *call;
  if (call->comm->ranks > 1 && call->comm->rank == call->comm->ranks - 1) none.cols = 0;
  return fold_collective_exact(subject, &none);
}
/* Each rank forgets its last column: within what n - 1 roundings may do, and not within those of a tree. */
BODY(loses_tails) {
  struct fold_call shorter = *call;
  if (shorter.cols > 0) shorter.cols--;
  return fold_library_sum(subject, &shorter);
}
BODY(infinite) {
  FOLD_TRY(fold_library_sum(subject, call));
  if (call->comm->ranks == 2)
    fold_bits_store(call->dtype, call->out, 0, fold_bits_from_double(call->dtype, __builtin_inf()));
  return fold_ok();
}
/* Within what n - 1 roundings may do, and far beyond R - 1 of them. */
BODY(joins_badly) {
  FOLD_TRY(fold_library_sum(subject, call));
  shift(call, 0, call->comm->ranks > 1 ? 4096 : 0);
  return fold_ok();
}
BODY(ranks_differ) {
  FOLD_TRY(fold_library_sum(subject, call));
  shift(call, 0, call->comm->rank == 1);
  return fold_ok();
}
/* The sum does not see that two terms changed places. */
BODY(changes_input) {
  FOLD_TRY(fold_collective_exact(subject, call));
  unsigned char *x = (unsigned char *)(uintptr_t)call->in[0], first[8];
  size_t size = fold_dtype_size(call->dtype);
  if (call->comm->rank != call->comm->ranks - 1 || call->cols < 2) return fold_ok();
  memcpy(first, x, size);
  memcpy(x, x + size, size);
  memcpy(x + size, first, size);
  return fold_ok();
}
BODY(unwritten) {
  struct fold_call elsewhere = *call;
  unsigned char room[64];
  if (call->comm->rank == 0) elsewhere.out = room;
  return fold_library_sum(subject, &elsewhere);
}

/* One element among all of them, four numbers on. */
BODY(one_above_bound) {
  FOLD_TRY(fold_library_allreduce(subject, call));
  shift(call, call->rows / 3, call->comm->ranks == 3 ? 4 : 0);
  return fold_ok();
}
/* One element, one number on: in four terms' bound, and not its order's. */
BODY(one_not_replayed) {
  FOLD_TRY(fold_collective_canonical(subject, call));
  shift(call, call->rows - 1, call->comm->ranks == 4);
  return fold_ok();
}
BODY(one_is_nan) {
  FOLD_TRY(fold_library_allreduce(subject, call));
  if (call->comm->ranks == 2)
    fold_bits_store(call->dtype, call->out, 7, fold_bits_from_double(call->dtype, __builtin_nan("")));
  return fold_ok();
}

#define CLAIM(x) FOLD_CLAIM(FOLD_##x)
#define PLAYED(id, way, what, ...)                                                                      \
  {                                                                                                     \
    .name = "played/" #id, .engine = FOLD_MPI, .about = #id, .dtypes = 1u << FOLD_F32 | 1u << FOLD_F64, \
    .problems = 1u << FOLD_SUM, .method = way, .claims = what, .run = id, __VA_ARGS__                   \
  }
#define LIBRARY_SUM .scratch = fold_library_sum_scratch
#define EXACT_SUM .scratch = fold_collective_exact_scratch
#define CANONICAL_SUM \
  .order = "flat/canonical", .scratch = fold_collective_canonical_sum_scratch, .grain = fold_collective_canonical_grain
static const struct fold_subject all[] = {
    PLAYED(right_sum, FOLD_PLAIN, CLAIM(BOUNDED) | CLAIM(RANK_AGREEMENT), LIBRARY_SUM),
    PLAYED(world_shows, FOLD_PLAIN, CLAIM(WORLD_INVARIANT), CANONICAL_SUM),
    PLAYED(not_nearest, FOLD_EXACT, CLAIM(CORRECTLY_ROUNDED) | CLAIM(WORLD_INVARIANT), EXACT_SUM),
    PLAYED(not_replayed, FOLD_PLAIN, CLAIM(REPLAYS) | CLAIM(WORLD_INVARIANT) | CLAIM(BOUNDED), CANONICAL_SUM),
    PLAYED(above_bound, FOLD_PLAIN, CLAIM(BOUNDED), .order = "flat/canonical", EXACT_SUM),
    PLAYED(loses_tails, FOLD_PLAIN, CLAIM(BOUNDED), LIBRARY_SUM, .height = fold_library_sum_height_tree),
    PLAYED(infinite, FOLD_PLAIN, CLAIM(BOUNDED), LIBRARY_SUM),
    PLAYED(joins_badly, FOLD_PLAIN, CLAIM(BOUNDED), LIBRARY_SUM),
    PLAYED(ranks_differ, FOLD_PLAIN, CLAIM(RANK_AGREEMENT), LIBRARY_SUM),
    PLAYED(changes_input, FOLD_EXACT, CLAIM(KEEPS_INPUT) | CLAIM(CORRECTLY_ROUNDED), EXACT_SUM),
    PLAYED(unwritten, FOLD_PLAIN, CLAIM(WRITES_OUTPUT), LIBRARY_SUM),
    PLAYED(right_vector, FOLD_PLAIN, CLAIM(BOUNDED), .vector = true),
    PLAYED(one_above_bound, FOLD_PLAIN, CLAIM(BOUNDED), .vector = true),
    PLAYED(one_not_replayed, FOLD_PLAIN, CLAIM(REPLAYS) | CLAIM(BOUNDED), .vector = true, .order = "host/pairwise",
           .scratch = fold_collective_canonical_scratch),
    PLAYED(one_is_nan, FOLD_PLAIN, CLAIM(BOUNDED), .vector = true),
};

int main(int argc, char **argv) {
  struct fold_registry registry = {.subjects = all, .n = sizeof all / sizeof *all};
  const char *played = getenv("PLAYED");
  for (size_t i = 0; played && i < sizeof all / sizeof *all; i++)
    if (strcmp(all[i].about, played) == 0) registry = (struct fold_registry){.subjects = &all[i], .n = 1};
  return fold_main(argc, argv, &registry);
}
