/* mutants.c: the table of mutants: each fault, the claims that it breaks, and cases that show it. */
#include "mutants.h"

#include <stdlib.h>

#include "collective/collective.h"
#include "judge.h"

#define C(name) FOLD_CLAIM(FOLD_##name)
#define SOUND                                                                                     \
  (C(WRITES_OUTPUT) | C(STAYS_IN_BOUNDS) | C(KEEPS_INPUT) | C(RUN_TO_RUN) | C(LAUNCH_INVARIANT) | \
   C(ALIGNMENT_INVARIANT) | C(BATCH_INVARIANT))
#define ORDERED (SOUND | C(BOUNDED) | C(REPLAYS))
#define EXACTLY (SOUND | C(FAITHFUL) | C(CORRECTLY_ROUNDED) | C(PERMUTATION_INVARIANT))
#define REPEATS (C(RUN_TO_RUN) | C(LAUNCH_INVARIANT) | C(ALIGNMENT_INVARIANT) | C(BATCH_INVARIANT))

#define BASE(id, text, type, operation, function)                                        \
  .name = "mutant/" id, .engine = FOLD_HOST, .about = text, .dtypes = 1u << FOLD_##type, \
  .ops = 1u << FOLD_##operation, .run = function

/* A plain f32 sum in the order `sequence`. */
#define PLAIN(id, function, sequence, broken, maybe, cases, text)                                            \
  {                                                                                                          \
    .subject = {BASE(id, text, F32, SUM, function), .order = sequence, .claims = ORDERED}, .breaks = broken, \
    .may = maybe, .fixtures = cases                                                                          \
  }

/* Collectives of f32: vectors, and rows whose columns are spread; the fixtures make an order over ranks matter. */
#define SPREAD \
  (C(WRITES_OUTPUT) | C(STAYS_IN_BOUNDS) | C(KEEPS_INPUT) | C(RUN_TO_RUN) | C(RANK_AGREEMENT) | C(ALIGNMENT_INVARIANT))
#define SPREAD_ROWS (SPREAD | C(BATCH_INVARIANT) | C(WORLD_INVARIANT))
#define COLLECTIVE(id, text, function, what)                                                                \
  .name = "mutant/" id, .engine = FOLD_MPI, .about = text, .dtypes = 1u << FOLD_F32, .ops = 1u << FOLD_SUM, \
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

static const struct fold_mutant table[] = {
    /* terms */
    PLAIN("dropped_tail", mutant_dropped_tail, "host/sequential", C(BOUNDED) | C(REPLAYS), 0,
          "integers/f32/sum/1x3[0-6]/*,shapes", "only whole warps"),
    PLAIN("dropped_last", mutant_dropped_last, "host/sequential", C(BOUNDED) | C(REPLAYS), 0,
          "normal/f32/sum/1x[1-9]/*", "without the last term"),
    PLAIN("twice", mutant_twice, "host/sequential", C(BOUNDED) | C(REPLAYS), 0, "normal/f32/sum/1x[1-9]/*",
          "the last term twice"),
    PLAIN("swapped_partials", mutant_swapped_partials, "rows/par_16", C(REPLAYS), 0,
          "normal/f32/sum/1x1023/*,mixed/f32/sum/1x51*", "two of 16 partials change places"),
    PLAIN("swapped_lanes", mutant_swapped_lanes, "rows/par_256", C(REPLAYS), 0, "harmonic/f32/sum/1x*",
          "two of 256 lanes change places"),
    PLAIN("short_chunks", mutant_short_chunks, "rows/par_256", C(REPLAYS), 0, "normal/f32/sum/1x51*",
          "n / 256 + 1 terms a chunk where 256 divides n"),
    PLAIN("late_chunks", mutant_late_chunks, "rows/par_256", C(BOUNDED) | C(REPLAYS), 0, "normal/f32/sum/1x51*",
          "chunks that start one term late"),
    PLAIN("numpy_256", mutant_numpy_256, "host/numpy", C(REPLAYS), 0, "normal/f32/sum/1x25[5-7]/*",
          "NumPy's summation by blocks of 256"),
    PLAIN("odd_first", mutant_odd_first, "host/pairwise", C(REPLAYS), 0, "normal/f32/sum/1x3[0-6]/*",
          "the odd term leads instead of trailing"),
    PLAIN("past_read", mutant_past_read, "host/sequential", C(BOUNDED) | C(REPLAYS) | C(BATCH_INVARIANT), 0,
          "normal/f32/sum/1x[2-9]/*", "reads one term past the row"),
    PLAIN("next_row", mutant_next_row, "host/sequential", C(BOUNDED) | C(REPLAYS) | C(BATCH_INVARIANT), 0,
          "normal/f32/sum/17x257/*", "reads the next row's first term"),
    {.subject = {BASE("prod_from_zero", "a product that starts at 0", F32, PROD, mutant_prod_from_zero),
                 .order = "host/sequential", .claims = ORDERED},
     .breaks = C(BOUNDED) | C(REPLAYS),
     .fixtures = "normal/f32/prod/*"},
    {.subject = {BASE("max_from_zero", "a maximum that starts at 0", F32, MAX, mutant_max_from_zero),
                 .order = "host/sequential", .claims = ORDERED},
     .breaks = C(CORRECTLY_ROUNDED) | C(REPLAYS),
     .fixtures = "zeros_negative/f32/max/*,normal/f32/max/*"},
    {.subject = {BASE("same_as_par_64", "par_64, which calls itself par_256's twin", F32, SUM, fold_host_ordered),
                 .order = "rows/par_64", .twin = "rows/par_256", .claims = ORDERED | C(SAME_BITS_AS)},
     .breaks = C(SAME_BITS_AS),
     .fixtures = "normal/f32/sum/1x1023/*,normal/f32/sum/1x4097/*"},
    {.subject = {BASE("permutation", "a sequential sum, called invariant to permutation", F32, SUM, fold_host_ordered),
                 .order = "host/sequential", .claims = ORDERED | C(PERMUTATION_INVARIANT)},
     .breaks = C(PERMUTATION_INVARIANT),
     .fixtures = "normal/f32/sum/1x1023/*"},
    {.subject = {BASE("split", "par_256, called invariant to splitting", F32, SUM, fold_host_ordered),
                 .order = "rows/par_256", .claims = ORDERED | C(SPLIT_INVARIANT)},
     .breaks = C(SPLIT_INVARIANT),
     .fixtures = "normal/f32/sum/1x8193/*,normal/f32/sum/1x16384/*"},
    /* numbers */
    PLAIN("flush", mutant_flush, "host/sequential", C(BOUNDED) | C(REPLAYS), 0,
          "subnormals/f32/sum/*,normal/f32/sum/1x33/*", "flushes subnormal numbers to zero"),
    {.subject = {BASE("narrow_f64", "f32 where f64 is claimed", F64, SUM, mutant_narrow_f64),
                 .order = "host/sequential", .claims = ORDERED},
     .breaks = C(BOUNDED) | C(REPLAYS),
     .fixtures = "normal/f64/sum/1x33/*"},
    {.subject = {BASE("narrow_f16", "f16 where f32 is claimed", F16, SUM, mutant_narrow_f16),
                 .order = "host/sequential", .claims = ORDERED},
     .breaks = C(BOUNDED) | C(REPLAYS),
     .fixtures = "constant/f16/sum/1x300/*,normal/f16/sum/1x257/*"},
    PLAIN("excess", mutant_excess, "host/sequential", C(REPLAYS), 0, "normal/f32/sum/1x1023/*",
          "adds f32 in f64: more precision than declared"),
    PLAIN("nan_swallowed", mutant_nan_swallowed, "host/sequential", C(BOUNDED) | C(REPLAYS), 0, "nan_*/f32/sum/1x31/*",
          "takes NaN for 0"),
    PLAIN("nan_made", mutant_nan_made, "host/sequential", C(BOUNDED) | C(REPLAYS), 0, "inf_middle/f32/sum/1x31/*",
          "infinity - infinity on the way"),
    {.subject = {BASE("nan_in_max", "a > b ? a : b", F32, MAX, mutant_nan_in_max), .order = "host/sequential",
                 .claims = ORDERED},
     .breaks = C(CORRECTLY_ROUNDED) | C(REPLAYS) | C(PERMUTATION_INVARIANT),
     .may = C(BATCH_INVARIANT),
     .fixtures = "nan_middle/f32/max/*,nan_first/f32/max/*"},
    {.subject = {BASE("zero_in_max", "the first of two zeros wins", F32, MAX, mutant_zero_in_max),
                 .order = "host/sequential", .claims = ORDERED},
     .breaks = C(CORRECTLY_ROUNDED) | C(REPLAYS) | C(PERMUTATION_INVARIANT),
     .fixtures = "zeros_mixed/f32/max/*,both_zeros/f32/max/*"},
    {.subject = {BASE("zero_in_exact", "the sum of only -0 is +0", F32, SUM, mutant_zero_in_exact),
                 .method = FOLD_EXACT, .claims = EXACTLY},
     .breaks = C(FAITHFUL) | C(CORRECTLY_ROUNDED),
     .fixtures = "negative_zeros/f32/sum/*,zeros_mixed/f32/sum/1x33/*"},
    {.subject = {BASE("kahan_plain", "Kahan without the correction", F32, SUM, mutant_kahan_plain),
                 .order = "host/sequential", .method = FOLD_KAHAN, .claims = SOUND | C(COMPENSATED) | C(REPLAYS)},
     .breaks = C(COMPENSATED) | C(REPLAYS),
     .fixtures = "constant/f32/sum/1x4097/*,normal/f32/sum/1x33/*"},
    {.subject = {BASE("neumaier_open", "Neumaier without the last addition", F32, SUM, mutant_neumaier_open),
                 .order = "host/sequential", .method = FOLD_NEUMAIER, .claims = SOUND | C(COMPENSATED) | C(REPLAYS)},
     .breaks = C(COMPENSATED) | C(REPLAYS),
     .fixtures = "normal/f32/sum/1x1023/*"},
    {.subject = {BASE("kahan_back", "Kahan's sum in falling index", F32, SUM, mutant_kahan_back),
                 .order = "host/sequential", .method = FOLD_KAHAN, .claims = SOUND | C(COMPENSATED) | C(REPLAYS)},
     .breaks = C(REPLAYS),
     .fixtures = "normal/f32/sum/1x1023/*,mixed/f32/sum/1x1023/*"},
    {.subject = {BASE("neumaier_one_sided", "Neumaier's without a look at which is larger", F32, SUM,
                      mutant_neumaier_one_sided),
                 .order = "host/sequential", .method = FOLD_NEUMAIER, .claims = SOUND | C(COMPENSATED) | C(REPLAYS)},
     .breaks = C(REPLAYS),
     .may = C(COMPENSATED),
     .fixtures = "normal/f32/sum/1x33/*,normal/f32/sum/1x1023/*"},
    {.subject = {BASE("float64_lanes", "two sums in f64, added at the end", F64, SUM, mutant_float64_lanes),
                 .order = "host/sequential", .method = FOLD_FLOAT64, .claims = ORDERED},
     .breaks = C(REPLAYS),
     .fixtures = "normal/f64/sum/1x1023/*"},
    {.subject = {BASE("truncated", "exact, but rounded towards zero", F32, SUM, mutant_truncated), .method = FOLD_EXACT,
                 .claims = EXACTLY},
     .breaks = C(CORRECTLY_ROUNDED),
     .fixtures = "normal/f32/sum/1x3[0-6]/*,ties/f32/sum/1x33/*"},
    {.subject = {BASE("rounded_twice", "exact to f64, then to f32", F32, SUM, mutant_rounded_twice),
                 .method = FOLD_EXACT, .claims = EXACTLY},
     .breaks = C(CORRECTLY_ROUNDED),
     .fixtures = "tie_broken_far_away/f32/*,normal/f32/sum/1x33/*"},
    {.subject = {BASE("subnormal_twice", "to 11 bits, then to a subnormal", F16, PROD, mutant_subnormal_twice),
                 .method = FOLD_EXACT, .claims = EXACTLY},
     .breaks = C(CORRECTLY_ROUNDED),
     .fixtures = "product_double_rounding/*"},
    {.subject = {BASE("two_away", "two ulps from the exact sum", F32, SUM, mutant_two_away), .method = FOLD_EXACT,
                 .claims = SOUND | C(FAITHFUL) | C(PERMUTATION_INVARIANT)},
     .breaks = C(FAITHFUL),
     .fixtures = "normal/f32/sum/1x3[0-6]/*"},
    /* memory */
    PLAIN("last_unwritten", mutant_last_unwritten, "host/sequential", C(WRITES_OUTPUT) | C(BOUNDED) | C(REPLAYS),
          REPEATS, "normal/f32/sum/1x33/*,normal/f32/sum/17x257/*", "leaves the last row's result unwritten"),
    PLAIN("past_end", mutant_past_end, "host/sequential", C(STAYS_IN_BOUNDS), 0,
          "normal/f32/sum/1x33/*,normal/f32/sum/17x257/*", "writes one result too many"),
    PLAIN("before_start", mutant_before_start, "host/sequential", C(STAYS_IN_BOUNDS), 0,
          "normal/f32/sum/1x33/*,normal/f32/sum/17x257/*", "writes before its results"),
    PLAIN("in_zone", mutant_in_zone, "host/sequential", C(STAYS_IN_BOUNDS), 0, "normal/f32/sum/1x[1-9]/*",
          "writes before the input"),
    PLAIN("past_end_alone", mutant_past_end_alone, "host/sequential", C(STAYS_IN_BOUNDS), 0, "normal/f32/sum/17x257/*",
          "writes one result too many where one row is run"),
    PLAIN("input_swapped_by_threads", mutant_input_swapped_by_threads, "host/sequential", C(KEEPS_INPUT), 0,
          "normal/f32/sum/1x33/*", "swaps two terms when it has three threads"),
    PLAIN("input_swapped", mutant_input_swapped, "host/sequential", C(KEEPS_INPUT), 0, "normal/f32/sum/1x33/*",
          "swaps two terms of its input"),
    /* state */
    PLAIN("counter", mutant_counter, "host/sequential", C(RUN_TO_RUN),
          C(REPLAYS) | C(LAUNCH_INVARIANT) | C(ALIGNMENT_INVARIANT) | C(BATCH_INVARIANT), "normal/f32/sum/1x1023/*",
          "every other run from the other end"),
    {.subject = {BASE("pid", "bits of the process id", F32, SUM, mutant_pid), .claims = SOUND | C(FRESH_PROCESS)},
     .breaks = C(FRESH_PROCESS),
     .fixtures = "normal/f32/sum/1x33/*"},
    {.subject = {BASE("threads", "a partial for each thread", F32, SUM, mutant_threads), .claims = SOUND | C(BOUNDED)},
     .breaks = C(LAUNCH_INVARIANT),
     .fixtures = "normal/f32/sum/1x1023/*"},
    {.subject = {BASE("peels", "single terms up to an aligned address", F32, SUM, mutant_peels),
                 .claims = SOUND | C(BOUNDED)},
     .breaks = C(ALIGNMENT_INVARIANT),
     .may = C(BATCH_INVARIANT),
     .fixtures = "normal/f32/sum/1x1023/*"},
    {.subject = {BASE("half_aligned", "another order at odd multiples of 8 bytes", F32, SUM, mutant_half_aligned),
                 .claims = SOUND | C(BOUNDED)},
     .breaks = C(ALIGNMENT_INVARIANT),
     .may = C(BATCH_INVARIANT),
     .fixtures = "normal/f32/sum/1x1023/*"},
    {.subject = {BASE("batch_size", "another order for a batch", F32, SUM, mutant_batch_size),
                 .claims = SOUND | C(BOUNDED)},
     .breaks = C(BATCH_INVARIANT),
     .fixtures = "normal/f32/sum/1x1023/*,normal/f32/sum/17x257/*"},
    {.subject = {BASE("row_parity", "another order for odd rows", F32, SUM, mutant_row_parity),
                 .claims = SOUND | C(BOUNDED)},
     .breaks = C(BATCH_INVARIANT),
     .fixtures = "normal/f32/sum/1x1023/*,normal/f32/sum/17x257/*"},
    {.subject = {BASE("narrow_truncated", "adds in f16, towards zero", F16, SUM, mutant_narrow_truncated),
                 .method = FOLD_NARROW, .claims = SOUND | C(BOUNDED)},
     .breaks = C(BOUNDED),
     .fixtures = "narrow_truncated/*"},
#ifdef FOLD_HAVE_MPI
    /* ranks */
    VECTOR("own_first", mutant_own_first, "host/sequential", SPREAD | C(BOUNDED) | C(REPLAYS) | C(MESSAGE_INVARIANT),
           C(RANK_AGREEMENT), 0, "each rank starts with its own term, as with what arrives first"),
    VECTOR("own_last", mutant_own_last, NULL, SPREAD | C(BOUNDED) | C(MESSAGE_INVARIANT), C(RANK_AGREEMENT), 0,
           "each rank adds its own term at last"),
    VECTOR("own_now_and_then", mutant_own_now_and_then, "host/sequential",
           SPREAD | C(BOUNDED) | C(REPLAYS) | C(MESSAGE_INVARIANT), C(RANK_AGREEMENT), 0,
           "the ranks agree in every other call"),
    VECTOR("chunks", mutant_chunks, NULL, SPREAD | C(BOUNDED) | C(MESSAGE_INVARIANT), C(MESSAGE_INVARIANT), 0,
           "a ring whose chunks are as long as the message says"),
    VECTOR("long_messages", mutant_long_messages, NULL, SPREAD | C(BOUNDED) | C(MESSAGE_INVARIANT),
           C(MESSAGE_INVARIANT), 0, "another order for long messages"),
    VECTOR("call_counter", mutant_call_counter, NULL, SPREAD | C(BOUNDED), C(RUN_TO_RUN), C(ALIGNMENT_INVARIANT),
           "each call starts with the next rank's term"),
    VECTOR("last_rank_past_end", mutant_last_rank_past_end, "host/pairwise",
           SPREAD | C(BOUNDED) | C(REPLAYS) | C(MESSAGE_INVARIANT), C(STAYS_IN_BOUNDS), 0,
           "the last rank writes one result too many"),
    VECTOR("last_rank_unwritten", mutant_last_rank_unwritten, "host/pairwise",
           SPREAD | C(BOUNDED) | C(REPLAYS) | C(MESSAGE_INVARIANT), C(WRITES_OUTPUT) | C(RANK_AGREEMENT), 0,
           "the last rank keeps its results to itself"),
    VECTOR("other_rank_in_parts", mutant_other_rank_in_parts, "host/pairwise",
           SPREAD | C(BOUNDED) | C(REPLAYS) | C(MESSAGE_INVARIANT), C(RANK_AGREEMENT), 0,
           "rank 1 has another bit in half a message"),
    ROWS("other_rank_in_worlds", mutant_other_rank_in_worlds, FOLD_EXACT, NULL, fold_collective_exact_scratch,
         SPREAD_ROWS | C(CORRECTLY_ROUNDED), C(RANK_AGREEMENT), 0, "rank 1 has another bit in a world of two"),
    {.subject = {COLLECTIVE("lost_part", "a library's sum that loses the last part of long rows", mutant_lost_part,
                            SPREAD | C(BOUNDED)),
                 .height = fold_library_sum_height_tree, .scratch = fold_library_sum_scratch},
     .breaks = C(BOUNDED),
     .fixtures = "constant/f32/sum/1x*/ranks*"},
    ROWS("last_rank_swaps", mutant_last_rank_swaps, FOLD_EXACT, NULL, fold_collective_exact_scratch,
         SPREAD_ROWS | C(CORRECTLY_ROUNDED), C(KEEPS_INPUT), 0, "the last rank swaps two of its terms"),
    ROWS("last_rank_of_four_swaps", mutant_last_rank_of_four_swaps, FOLD_EXACT, NULL, fold_collective_exact_scratch,
         SPREAD_ROWS | C(CORRECTLY_ROUNDED), C(KEEPS_INPUT), 0, "swaps two terms in a world of four"),
    ROWS("unaligned_parts", mutant_unaligned_parts, FOLD_PLAIN, "flat/canonical", fold_collective_canonical_sum_scratch,
         SPREAD_ROWS | C(BOUNDED) | C(REPLAYS), C(REPLAYS) | C(WORLD_INVARIANT), C(BOUNDED),
         "canonical, but that the parts are cut anywhere"),
    ROWS("lost_state", mutant_lost_state, FOLD_EXACT, NULL, fold_collective_exact_scratch,
         SPREAD_ROWS | C(CORRECTLY_ROUNDED) | C(PERMUTATION_INVARIANT),
         C(CORRECTLY_ROUNDED) | C(WORLD_INVARIANT) | C(PERMUTATION_INVARIANT), 0, "exact without the last rank"),
    {.subject = {COLLECTIVE("states_as_doubles", "exact on each rank, added up in f64", mutant_states_as_doubles,
                            SPREAD_ROWS | C(CORRECTLY_ROUNDED) | C(PERMUTATION_INVARIANT)),
                 .method = FOLD_EXACT},
     .breaks = C(CORRECTLY_ROUNDED) | C(WORLD_INVARIANT),
     .may = C(PERMUTATION_INVARIANT) | C(BATCH_INVARIANT),
     .fixtures = "states_as_doubles/*"},
#endif
};

const struct fold_mutant *fold_mutants(size_t *n) {
  *n = sizeof table / sizeof *table;
  return table;
}

void fold_mutants_join(struct fold_registry *registry) {
  size_t n_host, n_broken, n_mutants = sizeof table / sizeof *table;
  const struct fold_subject *host = fold_subjects(&n_host), *broken = fold_mutants_broken(&n_broken);
  struct fold_subject *all = calloc(n_host + n_mutants + n_broken, sizeof *all);
  if (!all) abort();
  registry->n = 0;
  for (size_t i = 0; i < n_host; i++)
    if (host[i].engine == FOLD_HOST) all[registry->n++] = host[i];
  for (size_t i = 0; i < n_mutants; i++) all[registry->n++] = table[i].subject;
  for (size_t i = 0; i < n_broken; i++) all[registry->n++] = broken[i];
  registry->subjects = all;
}
