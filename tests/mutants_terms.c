/* mutants_terms.c: mutants that lose a term, take one twice, or join them in another order. */
#include <math.h>
#include <string.h>

#include "mutants_row.h"

fold_status mutant_rows_f32(const struct fold_call *call, mutant_row_f32 *row) {
  for (size_t r = 0; r < call->rows; r++)
    fold_bits_store(FOLD_F32, call->out, r, fold_f32_bits(row(mutant_row_at(call, r), call->cols)));
  return fold_ok();
}

fold_status mutant_rows(const struct fold_call *call, mutant_row *row) {
  for (size_t r = 0; r < call->rows; r++)
    fold_bits_store(call->dtype, call->out, r, row(call, mutant_row_at(call, r), r));
  return fold_ok();
}

float mutant_sum_f32(const fold_element_f32 *x, size_t n) {
  float sum = 0;
  for (size_t i = 0; i < n; i++) sum += x[i];
  return sum;
}

float mutant_back_f32(const fold_element_f32 *x, size_t n) {
  float sum = 0;
  for (size_t i = n; i-- > 0;) sum += x[i];
  return sum;
}

/* Only whole warps. */
static float dropped_tail(const fold_element_f32 *x, size_t n) { return mutant_sum_f32(x, n - n % 32); }
static RUN_F32(dropped_tail)

    static float dropped_last(const fold_element_f32 *x, size_t n) {
  return mutant_sum_f32(x, n > 0 ? n - 1 : 0);
}
static RUN_F32(dropped_last)

    static float twice(const fold_element_f32 *x, size_t n) {
  return n ? mutant_sum_f32(x, n) + x[n - 1] : 0;
}
static RUN_F32(twice)

    /* Chunk t of `parts`, by length L: [t L, (t + 1) L). */
    static float chunk_f32(const fold_element_f32 *x, size_t n, size_t length, size_t t) {
  size_t first = t * length < n ? t * length : n, last = n - first < length ? n : first + length;
  return mutant_sum_f32(x + first, last - first);
}

/* rows/par_16 but that partials 3 and 5 are combined in each other's place. */
static float swapped_partials(const fold_element_f32 *x, size_t n) {
  float sum = 0;
  for (size_t t = 0; t < 16; t++) sum += chunk_f32(x, n, n / 16 + (n % 16 != 0), t == 3 ? 5 : t == 5 ? 3 : t);
  return sum;
}
static RUN_F32(swapped_partials)

    /* 256 partials to one by a tree over neighbours. */
    static float tree_256(float *partial) {
  for (size_t stride = 1; stride < 256; stride *= 2)
    for (size_t t = 0; t < 256; t += 2 * stride) partial[t] += partial[t + stride];
  return partial[0];
}

/* rows/par_256 but that lanes 1 and 2 are swapped before the tree: another pair meets first. */
static float swapped_lanes(const fold_element_f32 *x, size_t n) {
  float partial[256];
  for (size_t t = 0; t < 256; t++) partial[t] = chunk_f32(x, n, n / 256 + (n % 256 != 0), t == 1 ? 2 : t == 2 ? 1 : t);
  return tree_256(partial);
}
static RUN_F32(swapped_lanes)

    /* rows/par_256 with chunks one term too long wherever 256 divides n: right terms, wrong chunks. */
    static float short_chunks(const fold_element_f32 *x, size_t n) {
  float partial[256];
  for (size_t t = 0; t < 256; t++) partial[t] = chunk_f32(x, n, n / 256 + 1, t);
  return tree_256(partial);
}
static RUN_F32(short_chunks)

    /* rows/par_256 where each chunk but the first starts one term late. */
    static float late_chunks(const fold_element_f32 *x, size_t n) {
  float partial[256];
  size_t length = n / 256 + (n % 256 != 0);
  for (size_t t = 0; t < 256; t++) {
    size_t first = t * length + (t > 0), last = (t + 1) * length < n ? (t + 1) * length : n;
    partial[t] = first < last ? mutant_sum_f32(x + first, last - first) : 0;
  }
  return tree_256(partial);
}
static RUN_F32(late_chunks)

    /* NumPy's pairwise summation, but that halving stops at 256 terms instead of 128. */
    static float numpy_256(const fold_element_f32 *x, size_t n) {
  if (n < 8) return mutant_sum_f32(x, n);
  if (n > 256) {
    size_t half = n / 2 - n / 2 % 8;
    return numpy_256(x, half) + numpy_256(x + half, n - half);
  }
  float r[8];
  for (size_t k = 0; k < 8; k++) r[k] = x[k];
  for (size_t i = 8; i + 8 <= n; i += 8)
    for (size_t k = 0; k < 8; k++) r[k] += x[i + k];
  float sum = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]));
  for (size_t i = n - n % 8; i < n; i++) sum += x[i];
  return sum;
}
static RUN_F32(numpy_256)

    /* A tree over neighbours where an odd number leaves its first out instead of its last. */
    static float odd_first(const fold_element_f32 *x, size_t n) {
  float level[5000];
  if (n == 0 || n > 5000) return 0;
  for (size_t i = 0; i < n; i++) level[i] = x[i];
  for (; n > 1; n = n / 2 + n % 2) {
    size_t odd = n % 2;
    for (size_t i = 0; i < n / 2; i++) level[odd + i] = level[odd + 2 * i] + level[odd + 2 * i + 1];
  }
  return level[0];
}
static RUN_F32(odd_first)

    /* One term too many: the next row's, or what lies behind the input. */
    static float past_read(const fold_element_f32 *x, size_t n) {
  return mutant_sum_f32(x, n + 1);
}
static RUN_F32(past_read)

    /* The next row's first term too, where there is a next row: nothing lies outside of the input. */
    static uint64_t next_row(const struct fold_call *call, const void *row, size_t r) {
  return fold_f32_bits(mutant_sum_f32(row, call->cols + (r + 1 < call->rows)));
}
static RUN(next_row)

    static float prod_from_zero(const fold_element_f32 *x, size_t n) {
  float product = 0;
  for (size_t i = 0; i < n; i++) product *= x[i];
  return product;
}
static RUN_F32(prod_from_zero)

    static float max_from_zero(const fold_element_f32 *x, size_t n) {
  float greatest = 0;
  for (size_t i = 0; i < n; i++) greatest = FOLD_JOIN_max(greatest, (float)x[i]);
  return greatest;
}
static RUN_F32(max_from_zero)

    /* A count in 20 bits: terms from place 2^20 on are lost. */
    static float past_2_20(const fold_element_f32 *x, size_t n) {
  return mutant_sum_f32(x, n < 1 << 20 ? n : 1 << 20);
}
static RUN_F32(past_2_20)

    /* An index in f32: from 2^24 on the odd ones are not there. */
    static float odd_past_2_24(const fold_element_f32 *x, size_t n) {
  float sum = 0;
  for (size_t i = 0; i < n; i++) sum += i == (size_t)(float)i ? (float)x[i] : 0;
  return sum;
}
static RUN_F32(odd_past_2_24)

    /* Takes arrays as contiguous, whatever their strides. */
    static fold_status mutant_forgets_strides(const struct fold_subject *subject, const struct fold_call *call) {
  struct fold_call own = *call;
  memset(own.stride, 0, sizeof own.stride);
  return fold_host_ordered(subject, &own);
}

/* Takes terms that lie further apart than five elements as lying five apart. */
static fold_status mutant_far_strides(const struct fold_subject *subject, const struct fold_call *call) {
  struct fold_call own = *call;
  if (own.stride[0][FOLD_K] > 5) own.stride[0][FOLD_K] = 5;
  return fold_host_ordered(subject, &own);
}

static const struct fold_mutant terms[] = {
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
    {.subject = {BASE("tree_of_swapped_lanes", "two of 256 lanes change places, called par_256's tree", F32, SUM,
                      mutant_swapped_lanes),
                 .order = "rows/par_256", .claims = ORDERED | C(TREE)},
     .breaks = C(REPLAYS) | C(TREE),
     .fixtures = "harmonic/f32/sum/1x*,tree/f32/sum/*"},
    {.subject = {BASE("tree_of_blocks", "NumPy's summation by blocks of 256, called that by 128", F32, SUM,
                      mutant_numpy_256),
                 .order = "host/numpy", .claims = ORDERED | C(TREE)},
     .breaks = C(REPLAYS) | C(TREE),
     .fixtures = "normal/f32/sum/1x25[5-7]/*,tree/f32/sum/*"},
    PLAIN("short_chunks", mutant_short_chunks, "rows/par_256", C(REPLAYS), 0, "normal/f32/sum/1x51*",
          "n / 256 + 1 terms a chunk where 256 divides n"),
    PLAIN("late_chunks", mutant_late_chunks, "rows/par_256", C(BOUNDED) | C(REPLAYS), 0, "normal/f32/sum/1x51*",
          "chunks that start one term late"),
    PLAIN("numpy_256", mutant_numpy_256, "host/numpy", C(REPLAYS), 0, "normal/f32/sum/1x25[5-7]/*",
          "NumPy's summation by blocks of 256"),
    PLAIN("odd_first", mutant_odd_first, "host/pairwise", C(REPLAYS), 0, "normal/f32/sum/1x3[0-6]/*",
          "the odd term leads instead of trailing"),
    PLAIN("past_read", mutant_past_read, "host/sequential",
          C(BOUNDED) | C(REPLAYS) | C(BATCH_INVARIANT) | C(STAYS_IN_BOUNDS), 0, "normal/f32/sum/1x[2-9]/*",
          "reads one term past the row"),
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
    {.subject = {BASE("length", "reads one term past the row, called invariant to length", F32, SUM, mutant_past_read),
                 .order = "host/sequential", .claims = C(RUN_TO_RUN) | C(LENGTH_INVARIANT)},
     .breaks = C(LENGTH_INVARIANT),
     .fixtures = "normal/f32/sum/1x[2-9]/*"},
    {.subject = {BASE("padding", "chunks of n / 256 terms, called invariant to padding", F32, SUM, fold_host_ordered),
                 .order = "rows/par_256", .claims = ORDERED | C(PADDING_INVARIANT)},
     .breaks = C(PADDING_INVARIANT),
     .fixtures = "normal/f32/sum/1x1023/*"},
    {.subject = {BASE("strides", "takes strides, and every array as contiguous", F32, SUM, mutant_forgets_strides),
                 .order = "host/sequential", .strides = true, .claims = ORDERED | C(STRIDE_INVARIANT)},
     .breaks = C(STRIDE_INVARIANT),
     .fixtures = "normal/f32/sum/17x257/*"},
    {.subject = {BASE("far_strides", "takes terms further than five apart as five apart", F32, SUM, mutant_far_strides),
                 .order = "host/sequential", .strides = true, .claims = ORDERED | C(STRIDE_INVARIANT)},
     .breaks = C(STRIDE_INVARIANT),
     .fixtures = "normal/f32/sum/1x1023/*"},
    LOOSE("past_2_20", mutant_past_2_20, C(BOUNDED), 0, "sparse/f32/sum/1x1048577/*,normal/f32/sum/1x33/*",
          "loses the terms from place 2^20 on"),
    LOOSE("odd_past_2_24", mutant_odd_past_2_24, C(BOUNDED), 0, "sparse/f32/sum/1x16777219/*,normal/f32/sum/1x33/*",
          "indices in f32: loses every other term from place 2^24 on"),
};
END(terms)
