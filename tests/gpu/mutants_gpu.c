/* mutants_gpu.c: the table of GPU mutants: each fault, the claims that it breaks, and cases that show it. */
#include "mutants_gpu.h"

#include <stdlib.h>
#include <string.h>

#include "judge/judge.h"
#include "kernels/collective/collective.h"
#include "mutants_gpu_run.h"

#define C(name) FOLD_CLAIM(FOLD_##name)
#define SOUND \
  (C(WRITES_OUTPUT) | C(STAYS_IN_BOUNDS) | C(KEEPS_INPUT) | C(RUN_TO_RUN) | C(ALIGNMENT_INVARIANT) | C(BATCH_INVARIANT))
#define FREE (SOUND | C(LAUNCH_INVARIANT))
#define REPEATS (C(RUN_TO_RUN) | C(LAUNCH_INVARIANT) | C(ALIGNMENT_INVARIANT) | C(BATCH_INVARIANT))
#define ERROR (C(BOUNDED) | C(REPLAYS))

#define BASE(id, text, type, operation, function)                                        \
  .name = "mutant/" id, .engine = FOLD_CUDA, .about = text, .dtypes = 1u << FOLD_##type, \
  .problems = 1u << FOLD_##operation, .run = function

/* A subject of some order: its bits are the order's, but for the fault. */
#define ORDERED(id, type, operation, function, tree, what, broken, maybe, cases, text)                                 \
  {                                                                                                                    \
    .subject = {BASE(id, text, type, operation, function), .order = tree, .claims = (what) | ERROR}, .breaks = broken, \
    .may = maybe, .fixtures = cases                                                                                    \
  }
#define ROWS(id, function, broken, maybe, cases, text) \
  ORDERED(id, F32, SUM, function, "rows/par_64", FREE, broken, maybe, cases, text)
#define LANES(id, function, broken, maybe, cases, text) \
  ORDERED(id, F32, SUM, function, "flat/shuffle", FREE, broken, maybe, cases, text)
#define MAXIMA(id, function, broken, maybe, cases, text) \
  ORDERED(id, F32, MAX, function, "rows/par_64", FREE, broken, maybe, cases, text)
/* Sixteen blocks a row: no other grid, hence no launch_invariant. */
#define BLOCKS(id, function, broken, maybe, cases, text)                                             \
  {                                                                                                  \
    .subject = {BASE(id, text, F32, SUM, function), .order = "rows/par_16", .claims = SOUND | ERROR, \
                .scratch = gpu_blocks_scratch},                                                      \
    .breaks = broken, .may = maybe, .fixtures = cases                                                \
  }
/* A subject that declares no order: bounded by n - 1 roundings. */
#define UNORDERED(id, function, room, broken, maybe, cases, text)                                                    \
  {                                                                                                                  \
    .subject = {BASE(id, text, F32, SUM, function), .claims = FREE | C(BOUNDED), .scratch = room}, .breaks = broken, \
    .may = maybe, .fixtures = cases                                                                                  \
  }

/* Products of matrices: in order, of inputs that lie in any way; and by parts of k, in no declared order. */
#define PRODUCT(id, function, broken, cases, text)                                                        \
  {                                                                                                       \
    .subject = {BASE(id, text, F32, MATMUL, function), .order = "dot/sequential", .claims = FREE | ERROR, \
                .strides = true},                                                                         \
    .breaks = broken, .fixtures = cases                                                                   \
  }
#define SPLIT(id, function, room, broken, maybe, cases, text)                                                          \
  {                                                                                                                    \
    .subject = {BASE(id, text, F32, MATMUL, function), .claims = FREE | C(BOUNDED), .strides = true, .scratch = room}, \
    .breaks = broken, .may = maybe, .fixtures = cases                                                                  \
  }

/* An exact sum: its value, and therefore its bits, depend on no order. */
#define EXACTLY (FREE | C(FAITHFUL) | C(CORRECTLY_ROUNDED) | C(PERMUTATION_INVARIANT))
#define EXACT(id, type, function, broken, maybe, cases, text)                                                    \
  {                                                                                                              \
    .subject = {BASE(id, text, type, SUM, function), .method = FOLD_EXACT, .claims = EXACTLY}, .breaks = broken, \
    .may = maybe, .fixtures = cases                                                                              \
  }

#define FEW "normal/f32/sum/1x1023/*,normal/f32/sum/17x257/*"
#define EXACT_F32 \
  "tie_broken_far_away/f32/*,max_and*/f32/*,cancels_to_zero/f32/*,infinit*/f32/sum/*,adversarial_*/f32/sum/*"
#define EXACT_F16 "normal/f16/sum/1x257/*,half_cancels/f16/*,infinit*/f16/sum/*,adversarial_*/f16/sum/*"
#define PRODUCTS "normal/f32/matmul/7x9x33/seed1,normal/f32/matmul/7x9x33/tn+3/*,normal/f32/matmul/7x9x128/*"
#define SMALL "normal/f32/sum/1x3[0-6]/*,normal/f32/sum/1x25[5-6]/*,integers/f32/sum/1x65/*"

static const struct fold_mutant table[] = {
    /* controls: the kernels of the mutants, whole */
    ROWS("rows_sound", gpu_rows_sound, 0, 0,
         FEW ",subnormals/f32/sum/*,integers/f32/sum/1x6[3-5]/*,normal/f32/sum/1x[1-9]/*",
         "control: a row by 64 threads"),
    MAXIMA("max_sound", gpu_max_sound, 0, 0, "nan_middle/f32/max/*,zeros_mixed/f32/max/*", "control: maxima"),
    LANES("shuffle_sound", gpu_shuffle_sound, 0, 0, SMALL, "control: a row by the shuffles of one block"),
    BLOCKS("blocks_sound", gpu_blocks_sound, 0, 0, FEW, "control: a row by 16 blocks, the last one joins"),
    EXACT("exact_sound", F32, gpu_exact_sound, 0, 0, FEW "," EXACT_F32, "control: the exact sum by limbs"),
    EXACT("exact_sound_f16", F16, gpu_exact_sound, 0, 0, EXACT_F16, "control: the exact sum of f16 by limbs"),
    /* terms */
    ROWS("missing_barrier", gpu_missing_barrier, ERROR, REPEATS, FEW, "no barrier before the partials are read"),
    ROWS("dropped_tail", gpu_dropped_tail, ERROR, 0, "integers/f32/sum/1x6[3-5]/*,normal/f32/sum/17x257/*",
         "chunks of floor(cols / 64) terms"),
    ROWS("next_row", gpu_next_row, ERROR | C(BATCH_INVARIANT), 0, "normal/f32/sum/17x257/*",
         "reads the next row's first term"),
    LANES("width_16", gpu_width_16, ERROR, 0, "integers/f32/sum/1x3[0-6]/*,normal/f32/sum/1x33/*",
          "shuffles 16 lanes wide"),
    LANES("rising", gpu_rising, C(REPLAYS), 0, SMALL, "shuffles by 1, 2, 4 ... instead of 16, 8, 4 ..."),
    /* numbers */
    ROWS("excess", gpu_excess, C(REPLAYS), 0, FEW, "adds f32 in f64"),
    ROWS("truncated", gpu_truncated, C(REPLAYS), C(BOUNDED), FEW, "rounds towards zero"),
    ROWS("flush", gpu_flush, ERROR, 0, "subnormals/f32/sum/*,normal/f32/sum/1x33/*", "a right kernel by -ftz=true"),
    ORDERED("narrow_f16", F16, SUM, gpu_narrow_f16, "rows/par_64", FREE, ERROR, 0,
            "constant/f16/sum/1x300/*,normal/f16/sum/1x257/*", "f16 where f32 is claimed"),
    MAXIMA("nan_swallowed", gpu_nan_swallowed, C(CORRECTLY_ROUNDED) | C(REPLAYS), 0, "nan_middle/f32/max/*",
           "fmaxf takes the number, not the NaN"),
    MAXIMA("zero_lost", gpu_zero_lost, C(CORRECTLY_ROUNDED) | C(REPLAYS), C(PERMUTATION_INVARIANT),
           "zeros_mixed/f32/max/*", "the second of two zeros wins"),
    /* exact sums */
    EXACT("lost_carry", F32, gpu_lost_carry, C(CORRECTLY_ROUNDED) | C(FAITHFUL), 0, FEW "," EXACT_F32,
          "a carry that a carry causes is lost"),
    EXACT("short_sticky", F32, gpu_short_sticky, C(CORRECTLY_ROUNDED), 0, FEW "," EXACT_F32,
          "the sticky bit is made of 64 bits"),
    EXACT("rounded_twice", F16, gpu_rounded_twice, C(CORRECTLY_ROUNDED), 0, EXACT_F16,
          "rounded to f32 and then to f16: a subnormal that breaks a tie is lost"),
    EXACT("minus_lost", F32, gpu_minus_lost, C(CORRECTLY_ROUNDED) | C(FAITHFUL), 0, "zeros_negative/f32/sum/*," FEW,
          "the sum of nothing but -0 is +0"),
    /* products of matrices */
    PRODUCT("product_sound", gpu_product_sound, 0, PRODUCTS ",nan_last/f32/matmul/2x2x480/*",
            "control: a product by one thread a result"),
    SPLIT("product_split_sound", gpu_product_split_sound, gpu_product_scratch, 0, 0, PRODUCTS,
          "control: a product by two parts of k, joined afterwards"),
    PRODUCT("product_tail_lost", gpu_product_tail_lost, ERROR,
            "nan_last/f32/matmul/2x2x480/*,normal/f32/matmul/7x9x33/seed1", "loses the last tile of k at one k"),
    PRODUCT("product_lda_is_k", gpu_product_lda_is_k, ERROR,
            "normal/f32/matmul/7x9x33/nn+3/*,normal/f32/matmul/7x9x33/seed1",
            "takes k for the first leading dimension"),
    SPLIT("product_bias_twice", gpu_product_bias_twice, NULL, C(BOUNDED), 0, PRODUCTS,
          "each part of k adds the bias, the last row of the second matrix"),
    SPLIT("product_split_race", gpu_product_split_race, gpu_product_scratch, C(BOUNDED), REPEATS,
          "normal/f32/matmul/7x9x128/*", "two parts of k add to one place of the workspace at once"),
    /* The first case leaves two parts, the second one makes one. NaN of other rows may stay, too. */
    SPLIT("product_stale", gpu_product_stale, NULL, C(BOUNDED), REPEATS | C(WRITES_OUTPUT),
          "normal/f32/matmul/7x9x128/*,integers/f32/matmul/5x6x9/*", "joins parts that a call of a larger k has left"),
    SPLIT("product_other_stream", gpu_product_other_stream, gpu_product_scratch, C(BOUNDED), REPEATS | C(WRITES_OUTPUT),
          "normal/f32/matmul/7x9x128/*", "joins parts that another stream, which is not waited for, has yet to make"),
    /* memory */
    ROWS("past_end", gpu_past_end, C(STAYS_IN_BOUNDS), 0, FEW, "writes one result, 4 bytes, too many"),
    ROWS("last_unwritten", gpu_last_unwritten, C(WRITES_OUTPUT) | ERROR, REPEATS, FEW,
         "leaves the last row's result unwritten"),
    ROWS("in_zone", gpu_in_zone, C(STAYS_IN_BOUNDS), C(KEEPS_INPUT), "normal/f32/sum/1x[1-9]/*",
         "writes before the input"),
    /* Its next run finds the terms swapped. */
    ROWS("input_swapped", gpu_input_swapped, C(KEEPS_INPUT), REPEATS, "normal/f32/sum/1x33/*",
         "swaps two terms of its input"),
    /* what else the bits depend on */
    UNORDERED("grid", gpu_grid, gpu_grid_scratch, C(LAUNCH_INVARIANT), 0, "normal/f32/sum/1x1023/*",
              "a partial for each block, as many as the launch asks for"),
    UNORDERED("peels", gpu_peels, NULL, C(ALIGNMENT_INVARIANT), C(BATCH_INVARIANT), "normal/f32/sum/1x1023/*",
              "16-byte loads in four chains where aligned, one chain elsewhere"),
    UNORDERED("batch_size", gpu_batch_size, NULL, C(BATCH_INVARIANT), 0, FEW, "another order for a batch"),
    /* blocks */
    /* What it takes for a partial is scratch that was not written, NaN. */
    BLOCKS("late_partial", gpu_late_partial, ERROR, REPEATS | C(WRITES_OUTPUT), FEW,
           "arrives before its partial is written: what a missing __threadfence allows"),
    BLOCKS("arrival_order", gpu_arrival_order, C(RUN_TO_RUN) | C(REPLAYS), REPEATS, FEW,
           "the last block joins partials as they came"),
    {.subject = {BASE("error_left", "leaves CUDA an error that nobody took", F32, SUM, gpu_error_left),
                 .order = "rows/par_64", .claims = FREE | ERROR | C(LEAVES_NO_TRACE)},
     .breaks = C(LEAVES_NO_TRACE),
     .fixtures = FEW},
    BLOCKS("counter_left", gpu_counter_left, C(RUN_TO_RUN), C(WRITES_OUTPUT) | ERROR | REPEATS, FEW,
           "does not reset the blocks' counter: the second run never ends its count"),
    {.subject = {BASE("atomic", "atomics, called the same from run to run", F32, SUM, gpu_atomic),
                 .claims = SOUND | C(BOUNDED)},
     .breaks = C(RUN_TO_RUN),
     .may = REPEATS,
     .fixtures = FEW},
};

#define BROKEN(id, function, text)                                                                           \
  {                                                                                                          \
    BASE(id, text, F32, SUM, function), .order = "rows/par_64",                                              \
                                        .claims = C(WRITES_OUTPUT) | C(BOUNDED) | C(REPLAYS) | C(RUN_TO_RUN) \
  }

#define BROKEN_RANKS(id, function, text)                                                                            \
  {                                                                                                                 \
    .name = "broken/" id, .engine = FOLD_NCCL, .about = text, .dtypes = 1u << FOLD_F32, .problems = 1u << FOLD_SUM, \
    .claims = C(WRITES_OUTPUT), .vector = true, .run = function, .scratch = fold_collective_canonical_scratch       \
  }

static const struct fold_subject broken[] = {
#ifdef FOLD_HAVE_NCCL
    BROKEN_RANKS("rank_killed", broken_rank_killed, "rank 1 is killed in its call"),
    BROKEN_RANKS("rank_exits", broken_rank_exits, "rank 1 ends before its call"),
    BROKEN_RANKS("rank_hangs", broken_rank_hangs, "rank 1 does not call"),
    BROKEN_RANKS("reach_hangs", gpu_reach_hangs, "rank 1 does not call, the others' kernels wait"),
    BROKEN_RANKS("reach_killed", gpu_reach_killed, "rank 1 is killed while the kernels wait"),
#endif
    BROKEN("bad_launch", gpu_bad_launch, "4096 threads a block: not sticky"),
    BROKEN("no_image", gpu_no_image, "compiled for an architecture that is not here: not sticky"),
    BROKEN("uninitialised", gpu_uninitialised, "right bits, from a branch on memory that nobody wrote: for initcheck"),
    BROKEN("divergent_barrier", gpu_divergent_barrier, "right bits, past a barrier in a branch: for synccheck"),
    {BASE("late_carries", "limbs added up without carries: right up to 2^31 terms", F32, SUM, gpu_late_carries),
     .method = FOLD_EXACT, .claims = C(CORRECTLY_ROUNDED)},
    {BASE("index_32", "an index of 32 bits: right up to 2^32 terms", F16, SUM, gpu_index_32), .order = "rows/par_64",
     .claims = C(REPLAYS)},
    BROKEN("illegal_later", gpu_illegal_later, "reads an illegal address in its second run: sticky"),
    BROKEN("illegal", gpu_illegal, "reads an illegal address: sticky"),
    BROKEN("endless", gpu_endless, "computes for a minute"),
};

const struct fold_mutant *fold_gpu_mutants(size_t *n) {
  *n = sizeof table / sizeof *table;
  return table;
}

const struct fold_subject *fold_gpu_broken(size_t *n) {
  *n = sizeof broken / sizeof *broken;
  return broken;
}

const struct fold_subject *fold_gpu_mutant_find(const char *name) {
  for (size_t i = 0; i < sizeof table / sizeof *table; i++)
    if (strcmp(table[i].subject.name, name) == 0) return &table[i].subject;
  for (size_t i = 0; i < sizeof broken / sizeof *broken; i++)
    if (strcmp(broken[i].name, name) == 0) return &broken[i];
  return NULL;
}

void fold_gpu_mutants_join(struct fold_registry *registry) {
  size_t n, n_mutants = sizeof table / sizeof *table, n_broken = sizeof broken / sizeof *broken;
  const struct fold_subject *right = fold_subjects(&n);
  struct fold_subject *all = calloc(n + n_mutants + n_broken, sizeof *all);
  if (!all) abort();
  memcpy(all, right, n * sizeof *all);
  for (size_t i = 0; i < n_mutants; i++) all[n++] = table[i].subject;
  for (size_t i = 0; i < n_broken; i++) all[n++] = broken[i];
  *registry = (struct fold_registry){all, n};
}
