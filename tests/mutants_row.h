/* mutants_row.h: macros for the rows of the mutants' tables (mutants_*.c). */
#ifndef MUTANTS_ROW_H
#define MUTANTS_ROW_H

#include "mutants.h"

#define C(name) FOLD_CLAIM(FOLD_##name)
#define TIDY (C(WRITES_OUTPUT) | C(STAYS_IN_BOUNDS) | C(LEAVES_NO_TRACE) | C(KEEPS_INPUT))
#define SOUND (TIDY | C(RUN_TO_RUN) | C(LAUNCH_INVARIANT) | C(ALIGNMENT_INVARIANT) | C(BATCH_INVARIANT))
#define ORDERED (SOUND | C(BOUNDED) | C(REPLAYS))
#define EXACTLY (SOUND | C(FAITHFUL) | C(CORRECTLY_ROUNDED) | C(PERMUTATION_INVARIANT))
#define REPEATS (C(RUN_TO_RUN) | C(LAUNCH_INVARIANT) | C(ALIGNMENT_INVARIANT) | C(BATCH_INVARIANT))

#define BASE(id, text, type, operation, function)                                        \
  .name = "mutant/" id, .engine = FOLD_HOST, .about = text, .dtypes = 1u << FOLD_##type, \
  .problems = 1u << FOLD_##operation, .run = function

/* A plain f32 sum in the order `sequence`. */
#define PLAIN(id, function, sequence, broken, maybe, cases, text)                                            \
  {                                                                                                          \
    .subject = {BASE(id, text, F32, SUM, function), .order = sequence, .claims = ORDERED}, .breaks = broken, \
    .may = maybe, .fixtures = cases                                                                          \
  }

/* Collectives of f32: vectors, and rows whose columns are spread; the fixtures make an order over ranks matter. */
#define SPREAD (TIDY | C(RUN_TO_RUN) | C(RANK_AGREEMENT) | C(ALIGNMENT_INVARIANT))
#define SPREAD_ROWS (SPREAD | C(BATCH_INVARIANT) | C(WORLD_INVARIANT))
#define COLLECTIVE(id, text, function, what)                                                                     \
  .name = "mutant/" id, .engine = FOLD_MPI, .about = text, .dtypes = 1u << FOLD_F32, .problems = 1u << FOLD_SUM, \
  .run = function, .claims = what
#define VECTOR(id, function, sequence, what, broken, maybe, text)                                                     \
  {                                                                                                                   \
    .subject = {COLLECTIVE(id, text, function, what), .order = sequence, .vector = true,                              \
                .scratch = fold_collective_canonical_scratch},                                                        \
    .breaks = broken, .may = maybe, .fixtures = "mixed/f32/sum/257x3/*,mixed/f32/sum/257x5/*,normal/f32/sum/1000x4/*" \
  }
#define ROWS(id, function, how, sequence, room, what, broken, maybe, text)                                         \
  {                                                                                                                \
    .subject = {COLLECTIVE(id, text, function, what), .order = sequence, .method = how, .scratch = room},          \
    .breaks = broken, .may = maybe,                                                                                \
    .fixtures = "normal/f32/sum/1x36000/ranks5/*,ill_conditioned/f32/sum/1x9000/*,normal/f32/sum/17x9000/ranks3/*" \
  }
/* A plain sum with scratch. */
#define SCRATCHED(id, function, broken, maybe, text)                                                          \
  {                                                                                                           \
    .subject = {BASE(id, text, F32, SUM, function), .claims = SOUND | C(BOUNDED), .scratch = mutant_scratch}, \
    .breaks = broken, .may = maybe, .fixtures = "normal/f32/sum/1x1023/*"                                     \
  }
/* A sum whose order is not declared: who changes it is to be refuted by what the change depends on. */
#define LOOSE(id, function, broken, maybe, cases, text)                                                            \
  {                                                                                                                \
    .subject = {BASE(id, text, F32, SUM, function), .claims = SOUND | C(BOUNDED)}, .breaks = broken, .may = maybe, \
    .fixtures = cases                                                                                              \
  }

#define END(name)                                            \
  const struct fold_mutant *fold_mutants_##name(size_t *n) { \
    *n = sizeof name / sizeof *name;                         \
    return name;                                             \
  }

#endif
