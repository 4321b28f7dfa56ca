/* test_shards.c: shards of k, each folded in gemm/canonical's order, joined by collective/canonical's tree over ranks: for which k these
 * are the bits of the whole, and that they are not for any other (segments.h).
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "fixtures/generator.h"
#include "oracles/order.h"
#include "oracles/segments.h"

enum { MOST_RESULTS = 24, MOST_RANKS = 8 };

static size_t results_of(size_t k) { return k < 1 << 17 ? MOST_RESULTS : 2; }

static void replay(const char *name, const struct fold_call *call, enum fold_dtype result) {
  const fold_status status = fold_order_replay_to(fold_order_find(name), call, result);
  cr_assert_eq(status.code, FOLD_OK, "%s: %s", name, status.text);
}

/* The dot products of terms [first, first + n) of k, in dtype `result`. */
static void multiply(enum fold_dtype dtype, const unsigned char *in, size_t k, size_t first, size_t n,
                     enum fold_dtype result, void *out) {
  const size_t size = fold_dtype_size(dtype), results = results_of(k);
  struct fold_call call = {.dtype = dtype,
                           .problem = fold_problem(FOLD_DOT),
                           .rows = results,
                           .cols = n,
                           .in = {in + first * size, in + (results * k + first) * size},
                           .out = out};
  for (int i = 0; i < 2; i++) call.stride[i][FOLD_M] = (ptrdiff_t)k, call.stride[i][FOLD_K] = 1;
  call.stride[2][FOLD_M] = 1;
  replay("gemm/canonical", &call, result);
}

/* The partials of each result's ranks, of the accumulator's dtype, by the tree over ranks. */
static void join(enum fold_dtype dtype, const void *vectors, size_t results, size_t ranks, void *joined) {
  const struct fold_call call = {.dtype = fold_accumulator_of(dtype),
                                 .problem = fold_rows_problem(FOLD_SUM),
                                 .rows = results,
                                 .cols = ranks,
                                 .in = {vectors},
                                 .out = joined};
  replay("host/pairwise", &call, dtype);
}

static size_t count_other(enum fold_dtype dtype, const void *whole, const void *joined, size_t results) {
  size_t n = 0;
  for (size_t i = 0; i < results; i++) n += fold_bits_load(dtype, whole, i) != fold_bits_load(dtype, joined, i);
  return n;
}

/* How many results of `ranks` equal shards, joined, differ from those of the whole. Partials of shards are of the accumulator's dtype. */
static size_t differing(enum fold_dtype dtype, const void *in, size_t k, size_t ranks) {
  const size_t results = results_of(k);
  const enum fold_dtype wide = fold_accumulator_of(dtype);
  uint64_t whole[MOST_RESULTS], joined[MOST_RESULTS], part[MOST_RESULTS], vectors[MOST_RESULTS * MOST_RANKS];
  multiply(dtype, in, k, 0, k, dtype, whole);
  for (size_t r = 0; r < ranks; r++) {
    multiply(dtype, in, k, r * (k / ranks), k / ranks, wide, part);
    for (size_t i = 0; i < results; i++) fold_bits_store(wide, vectors, i * ranks + r, fold_bits_load(wide, part, i));
  }
  join(dtype, vectors, results, ranks, joined);
  return count_other(dtype, whole, joined, results);
}

/* The same of shards of whole segments, the last ones filled up with zeros. */
static size_t differing_filled(enum fold_dtype dtype, const unsigned char *in, size_t k, size_t ranks) {
  const size_t results = results_of(k), size = fold_dtype_size(dtype), each = fold_shard_length(k, ranks);
  const size_t filled = each * ranks;
  const enum fold_dtype wide = fold_accumulator_of(dtype);
  unsigned char *rows = calloc(2 * results * filled + 1, size);
  uint64_t whole[MOST_RESULTS], part[MOST_RESULTS], joined[MOST_RESULTS], vectors[MOST_RESULTS * MOST_RANKS];
  cr_assert(rows && each > 0 && filled >= k && results_of(filled) == results, "%zu over %zu: %zu", k, ranks, each);
  for (size_t i = 0; i < 2 * results; i++) memcpy(rows + i * filled * size, in + i * k * size, k * size);
  multiply(dtype, in, k, 0, k, dtype, whole);
  for (size_t r = 0; r < ranks; r++) {
    multiply(dtype, rows, filled, r * each, each, wide, part);
    for (size_t i = 0; i < results; i++) fold_bits_store(wide, vectors, i * ranks + r, fold_bits_load(wide, part, i));
  }
  join(dtype, vectors, results, ranks, joined);
  free(rows);
  return count_other(dtype, whole, joined, results);
}

static void *inputs(enum fold_dtype dtype, size_t k) {
  const size_t results = results_of(k), bytes = results * k * fold_dtype_size(dtype);
  unsigned char *in = malloc(2 * bytes + 1);
  cr_assert(in);
  const struct fold_source source = {fold_generator_find("normal"), dtype, 39, k, 0};
  for (unsigned i = 0; i < 2; i++) {
    const struct fold_source of = fold_source_of_input(&source, i);
    fold_generate_parallel(&of, 0, results * k, in + i * bytes, 0);
  }
  return in;
}

/* The condition, as segments.h has it. */
static bool joins(size_t k, size_t ranks) {
  size_t segments = 1;
  while (segments < FOLD_SEGMENTS && segments * FOLD_SEGMENT < k) segments *= 2;
  return segments * FOLD_SEGMENT >= k && ranks <= segments && k % (segments * FOLD_SEGMENT_STEP) == 0;
}

static void check(enum fold_dtype dtype, size_t k, size_t ranks, bool wanted) {
  void *in = inputs(dtype, k);
  const size_t n = differing(dtype, in, k, ranks);
  cr_expect_eq(n == 0, wanted, "%s, k %zu over %zu ranks: %zu results differ", fold_dtype_name(dtype), k, ranks, n);
  free(in);
}

/* What models have for k. */
Test(shards, natural_k_over_ranks_has_the_bits_of_one_gpu) {
  static const size_t natural[] = {2560,  3584,  4096,  5120,  7168,  8192,  11008,
                                   12288, 13824, 14336, 16384, 18944, 28672, 1 << 21};
  for (size_t i = 0; i < sizeof natural / sizeof *natural; i++)
    for (size_t ranks = 1; ranks <= MOST_RANKS; ranks *= 2) check(FOLD_F32, natural[i], ranks, true);
  static const enum fold_dtype others[] = {FOLD_F16, FOLD_BF16, FOLD_F64};
  for (size_t d = 0; d < sizeof others / sizeof *others; d++)
    for (size_t ranks = 1; ranks <= MOST_RANKS; ranks *= 2) check(others[d], 11008, ranks, true);
}

static void check_filled(enum fold_dtype dtype, size_t k, size_t ranks) {
  void *in = inputs(dtype, k);
  const size_t n = differing_filled(dtype, in, k, ranks);
  cr_expect_eq(n, 0, "%s, k %zu over %zu ranks, filled up: %zu results differ", fold_dtype_name(dtype), k, ranks, n);
  free(in);
}

/* Any k that has as many segments as there are ranks. */
Test(shards, shards_of_whole_segments_have_the_bits_of_one_gpu) {
  static const size_t models[] = {4096, 13696, 18432, 29568, 53248};
  static const enum fold_dtype dtypes[] = {FOLD_F16, FOLD_BF16, FOLD_F32, FOLD_F64};
  for (size_t i = 0; i < sizeof models / sizeof *models; i++)
    for (size_t ranks = 1; ranks <= MOST_RANKS; ranks *= 2) check_filled(dtypes[i % 4], models[i], ranks);
  size_t tried = 0;
  for (size_t ranks = 2; ranks <= MOST_RANKS; ranks *= 2)
    for (size_t k = 513; k <= 9000; k += 37) {
      size_t length;
      if (fold_segments_of(k, &length) < ranks) {
        cr_expect_eq(fold_shard_length(k, ranks), 0, "%zu over %zu", k, ranks);
        continue;
      }
      check_filled(FOLD_F32, k, ranks);
      tried++;
    }
  cr_expect(tried > 400, "%zu", tried);
  cr_expect_eq(fold_shard_length((1 << 21) + 1, 2), 0);
}

/* 13,696 and 29,568 are models' too; 16,632 is two shards of 63 segments, whose length divides the shard; 2,048 has four segments only;
 * above 2^21 segments grow, but not those of a shard. */
Test(shards, other_k_does_not) {
  static const struct {
    size_t k, ranks;
  } rows[] = {{13696, 2}, {29568, 2}, {2 * 16632, 2}, {2048, 8}, {1024, 4},
              {512, 2},   {4104, 2},  {11016, 8},     {2, 2},    {1 << 22, 2}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) check(FOLD_F32, rows[i].k, rows[i].ranks, false);
}

Test(shards, the_condition_is_sufficient_and_necessary) {
  size_t joined = 0, split = 0;
  for (size_t ranks = 2; ranks <= MOST_RANKS; ranks *= 2)
    for (size_t k = ranks; k <= 4608; k += k < 64 ? ranks : 8) {
      if (k % ranks) continue;
      check(FOLD_F32, k, ranks, joins(k, ranks));
      joins(k, ranks) ? joined++ : split++;
    }
  cr_expect(joined > 200 && split > 1000, "%zu join, %zu do not", joined, split);
}
