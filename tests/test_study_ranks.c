/* test_study_ranks.c: the simulated all-reduce against buffers that are really passed from rank to rank. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#include "integers.h"
#include "oracles/order.h"
#include "study/ranks.h"

enum { MOST_RANKS = 100 };

/* One addition in dtype, by other arithmetic than the simulation's: 16 bits through float (24 >= 2 * 11 + 2). */
static double add(enum fold_dtype dtype, double a, double b) {
  switch (dtype) {
    case FOLD_F16: return (double)fold_f16_to_f32(fold_f32_to_f16((float)a + (float)b));
    case FOLD_BF16: return (double)fold_bf16_to_f32(fold_f32_to_bf16((float)a + (float)b));
    case FOLD_F32: return (double)((float)a + (float)b);
    case FOLD_F64: return a + b;
    case FOLD_E4M3:
    case FOLD_E5M2:
    case FOLD_I8:
    case FOLD_I32:
    case FOLD_I64:
    case FOLD_DTYPES: break;
  }
  cr_assert_fail("no sum in %s", fold_dtype_name(dtype));
  return 0;
}

/* A partial as it travels, with the roundings behind it. */
struct packet {
  double value;
  uint64_t height;
};

static struct packet join(enum fold_dtype dtype, struct packet a, struct packet b) {
  return (struct packet){add(dtype, a.value, b.value), (a.height > b.height ? a.height : b.height) + 1};
}

/* R steps' worth of buffers: at each, rank r sends its chunk's partial to r + 1, which adds its own. */
static struct packet send_ring(enum fold_dtype dtype, const struct packet *x, size_t ranks, size_t chunk) {
  size_t at = (chunk + 1) % ranks;
  struct packet travelling = x[at];
  for (size_t step = 1; step < ranks; step++) {
    at = (at + 1) % ranks;
    travelling = join(dtype, travelling, x[at]);
  }
  cr_assert_eq(at, chunk, "the ring ends at rank %zu, not at the chunk's %zu", at, chunk);
  return travelling;
}

static struct packet send_binary(enum fold_dtype dtype, const struct packet *x, size_t ranks, size_t root) {
  struct packet partial = x[root];
  for (size_t child = 2 * root + 1; child <= 2 * root + 2 && child < ranks; child++)
    partial = join(dtype, partial, send_binary(dtype, x, ranks, child));
  return partial;
}

/* The greatest power of two below n goes left: the tree over neighbours, read from its root. */
static struct packet send_canonical(enum fold_dtype dtype, const struct packet *x, size_t n) {
  size_t half = 1;
  if (n == 1) return x[0];
  while (2 * half < n) half *= 2;
  return join(dtype, send_canonical(dtype, x, half), send_canonical(dtype, x + half, n - half));
}

/* Every rank keeps a buffer; partners exchange and both add. All must end with the same bits. */
static struct packet send_doubling(enum fold_dtype dtype, const struct packet *x, size_t ranks) {
  struct packet buffer[MOST_RANKS], next[MOST_RANKS];
  size_t power = 1;
  while (2 * power <= ranks) power *= 2;
  size_t extra = ranks - power, at = 0;
  for (size_t r = 0; r < ranks; r++) {
    bool gives = r < 2 * extra && r % 2 == 0;
    if (!gives) buffer[at++] = r < 2 * extra ? join(dtype, x[r], x[r - 1]) : x[r];
  }
  cr_assert_eq(at, power);
  for (size_t distance = 1; distance < power; distance *= 2) {
    for (size_t r = 0; r < power; r++) next[r] = join(dtype, buffer[r], buffer[r ^ distance]);
    memcpy(buffer, next, sizeof buffer);
  }
  for (size_t r = 1; r < power; r++) cr_expect(buffer[r].value == buffer[0].value, "rank %zu of %zu differs", r, ranks);
  return buffer[0];
}

static struct packet send(enum fold_ranks_algorithm algorithm, enum fold_dtype dtype, const struct packet *x,
                          size_t ranks, size_t chunk) {
  switch (algorithm) {
    case FOLD_RANKS_RING: return send_ring(dtype, x, ranks, chunk);
    case FOLD_RANKS_BINARY: return send_binary(dtype, x, ranks, 0);
    case FOLD_RANKS_DOUBLING: return send_doubling(dtype, x, ranks);
    case FOLD_RANKS_CANONICAL: return send_canonical(dtype, x, ranks);
    case FOLD_RANKS_ALGORITHMS: break;
  }
  cr_assert_fail("no such algorithm");
  return x[0];
}

static void fill(const char *generator, enum fold_dtype dtype, size_t rows, size_t ranks, void *terms) {
  struct fold_source source = {fold_generator_find(generator), dtype, 7, ranks, 0};
  fold_generate(&source, 0, rows * ranks, terms);
}

static void expect_sent(enum fold_dtype dtype, const void *terms, size_t ranks) {
  struct packet x[MOST_RANKS];
  for (size_t r = 0; r < ranks; r++)
    x[r] = (struct packet){fold_bits_to_double(dtype, fold_bits_load(dtype, terms, r)), 0};
  for (int a = 0; a < FOLD_RANKS_ALGORITHMS; a++) {
    enum fold_ranks_algorithm algorithm = (enum fold_ranks_algorithm)a;
    uint64_t height;
    for (size_t chunk = 0; chunk < ranks; chunk++) {
      struct packet want = send(algorithm, dtype, x, ranks, chunk);
      uint64_t got;
      cr_assert_eq(fold_ranks_sum(algorithm, dtype, terms, ranks, chunk, &got).code, FOLD_OK);
      cr_expect(got == fold_bits_from_double(dtype, want.value), "%s %s, %zu ranks, chunk %zu: different bits",
                fold_ranks_name(algorithm), fold_dtype_name(dtype), ranks, chunk);
      cr_assert_eq(fold_ranks_height(algorithm, ranks, &height).code, FOLD_OK);
      cr_expect(height == want.height, "%s, %zu ranks: height %zu, not %zu", fold_ranks_name(algorithm), ranks,
                (size_t)height, (size_t)want.height);
    }
  }
}

Test(study_ranks, simulated_sums_are_those_of_ranks_that_send) {
  static const size_t ranks[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 13, 16, 31, 33, 64, 100};
  static const char *const data[] = {"normal", "mixed", "harmonic"};
  uint64_t terms[MOST_RANKS];
  for (int dtype = 0; dtype < FOLD_E4M3; dtype++)
    for (size_t k = 0; k < sizeof ranks / sizeof *ranks; k++)
      for (size_t g = 0; g < 3; g++) {
        fill(data[g], (enum fold_dtype)dtype, 1, ranks[k], terms);
        expect_sent((enum fold_dtype)dtype, terms, ranks[k]);
      }
}

Test(study_ranks, heights_at_cluster_sizes) {
  static const struct {
    size_t ranks;
    uint64_t height[FOLD_RANKS_ALGORITHMS];
  } rows[] = {
      {2, {1, 1, 1, 1}}, {3, {2, 2, 2, 2}},          {5, {4, 4, 3, 3}},
      {8, {7, 5, 3, 3}}, {1024, {1023, 19, 10, 10}}, {65536, {65535, 31, 16, 16}},
  };
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
    for (int a = 0; a < FOLD_RANKS_ALGORITHMS; a++) {
      uint64_t height;
      cr_assert_eq(fold_ranks_height((enum fold_ranks_algorithm)a, rows[k].ranks, &height).code, FOLD_OK);
      cr_expect_eq(height, rows[k].height[a], "%s, %zu ranks: %zu", fold_ranks_name((enum fold_ranks_algorithm)a),
                   rows[k].ranks, (size_t)height);
    }
}

/* |got - sum| in ulps of the rounded sum, by integers. */
static double ulps_by_integers(const float *x, size_t ranks, uint64_t got) {
  mpz_t sum, value;
  mpz_inits(sum, value, (mpz_ptr)0);
  add_integers(sum, FOLD_F32, x, ranks, false);
  double exact = mpz_get_d(sum); /* for its exponent: no sum here lies near a power of two */
  integer_of(value, FOLD_F32, got);
  mpz_sub(value, value, sum);
  double error = fabs(mpz_get_d(value)), place = ldexp(1, ilogb(exact) - 23);
  mpz_clears(sum, value, (mpz_ptr)0);
  return error / (place < 1 ? 1 : place);
}

Test(study_ranks, errors_are_the_worst_and_the_median_of_all_chunks) {
  enum { RANKS = 12, ELEMENTS = 5 };
  struct fold_ranks_case c = {fold_generator_find("mixed"), FOLD_F32, RANKS, ELEMENTS, RANKS, 7};
  struct fold_ranks_result result[FOLD_RANKS_ALGORITHMS];
  float x[ELEMENTS * RANKS];
  double ulps[ELEMENTS * RANKS];
  fill("mixed", FOLD_F32, ELEMENTS, RANKS, x);
  cr_assert_eq(fold_ranks_simulate(&c, result).code, FOLD_OK);
  size_t n = 0, above = 0, below = 0;
  double worst = 0;
  for (size_t e = 0; e < ELEMENTS; e++)
    for (size_t chunk = 0; chunk < RANKS; chunk++, n++) {
      const float *element = x + e * RANKS;
      uint64_t got;
      cr_assert_eq(fold_ranks_sum(FOLD_RANKS_RING, FOLD_F32, element, RANKS, chunk, &got).code, FOLD_OK);
      ulps[n] = ulps_by_integers(element, RANKS, got);
      if (ulps[n] > worst) worst = ulps[n];
    }
  const struct fold_ranks_result *ring = &result[FOLD_RANKS_RING];
  for (size_t k = 0; k < n; k++) {
    above += ulps[k] > ring->median_ulps * (1 + 1e-12);
    below += ulps[k] < ring->median_ulps * (1 - 1e-12);
  }
  cr_expect(fabs(ring->worst_ulps - worst) <= 1e-12 * worst, "worst %g, by integers %g", ring->worst_ulps, worst);
  cr_expect(above <= n / 2 && below <= n / 2, "median %g: %zu above, %zu below", ring->median_ulps, above, below);
  cr_expect_eq(ring->chunks, RANKS);
  cr_expect(ring->varied > 0 && ring->varied <= ELEMENTS, "%zu elements vary", ring->varied);
  for (int a = 0; a < FOLD_RANKS_ALGORITHMS; a++) {
    cr_expect(result[a].worst_fraction <= 1 && result[a].worst_ulps > 0, "%s", fold_ranks_name(result[a].algorithm));
    double hu = (double)result[a].height * 0x1p-24, bound = hu / (1 - hu);
    cr_expect(fabs(result[a].bound_relative - bound) <= 1e-12 * bound, "bound %g", result[a].bound_relative);
  }
}

Test(study_ranks, two_ranks_agree_in_every_chunk_and_three_do_not) {
  for (size_t ranks = 2; ranks <= 3; ranks++) {
    struct fold_ranks_case c = {fold_generator_find("normal"), FOLD_F32, ranks, 64, ranks, 1};
    struct fold_ranks_result result[FOLD_RANKS_ALGORITHMS];
    cr_assert_eq(fold_ranks_simulate(&c, result).code, FOLD_OK);
    cr_expect((result[FOLD_RANKS_RING].varied > 0) == (ranks == 3), "%zu of 64 vary", result[FOLD_RANKS_RING].varied);
    for (int a = FOLD_RANKS_BINARY; a < FOLD_RANKS_ALGORITHMS; a++) cr_expect_eq(result[a].varied, 0);
  }
}

/* bf16 in a ring of 1000: h u is above 1/2, where only (n - 1) u is left to say. */
Test(study_ranks, long_rings_in_16_bits_keep_a_bound) {
  struct fold_ranks_case c = {fold_generator_find("normal"), FOLD_BF16, 1000, 8, 4, 1};
  struct fold_ranks_result result[FOLD_RANKS_ALGORITHMS];
  cr_assert_eq(fold_ranks_simulate(&c, result).code, FOLD_OK);
  cr_expect_eq(result[FOLD_RANKS_RING].bound_relative, 999 * 0x1p-8);
  cr_expect(result[FOLD_RANKS_RING].worst_fraction <= 1);
}

Test(study_ranks, only_the_canonical_join_knows_no_world_size) {
  struct fold_ranks_worlds worlds[FOLD_RANKS_ALGORITHMS];
  struct fold_ranks_case c = {fold_generator_find("normal"), FOLD_F32, 37, 64, 1, 1};
  cr_assert_eq(fold_ranks_worlds(&c, worlds).code, FOLD_OK);
  for (int a = 0; a < FOLD_RANKS_ALGORITHMS; a++) {
    cr_expect_eq(worlds[a].worlds, 7, "37, 19, 10, 5, 3, 2, 1 ranks; got %zu", worlds[a].worlds);
    cr_expect((worlds[a].changed == 0) == (a == FOLD_RANKS_CANONICAL), "%s: %zu of 64 change",
              fold_ranks_name(worlds[a].algorithm), worlds[a].changed);
    cr_expect((worlds[a].most_distinct == 1) == (a == FOLD_RANKS_CANONICAL));
  }
  c.ranks = 64;
  cr_assert_eq(fold_ranks_worlds(&c, worlds).code, FOLD_OK);
  cr_expect_eq(worlds[FOLD_RANKS_DOUBLING].changed, 0, "powers of two: recursive doubling is the canonical tree");
  cr_expect(worlds[FOLD_RANKS_RING].changed > 0);
}

/* What the prediction for a cluster says: shards of whole blocks, each summed by flat/canonical, joined by our rule. */
Test(study_ranks, canonical_shards_give_the_bits_of_the_whole_vector) {
  const struct fold_order *order = fold_order_find("flat/canonical");
  size_t n = 4096 * 13 + 777;
  for (int d = FOLD_F32; d <= FOLD_F64; d++) {
    enum fold_dtype dtype = (enum fold_dtype)d;
    size_t size = fold_dtype_size(dtype);
    char *x = malloc(n * size);
    uint64_t want = 0;
    fill("normal", dtype, 1, n, x);
    struct fold_call whole = {
        .dtype = dtype, .problem = fold_rows_problem(FOLD_SUM), .rows = 1, .cols = n, .in = {x}, .out = &want};
    cr_assert_eq(fold_order_replay(order, &whole).code, FOLD_OK);
    for (size_t shard = 4096; shard / 2 < n; shard *= 2) {
      size_t ranks = (n + shard - 1) / shard;
      double partial[16];
      for (size_t r = 0; r < ranks; r++) {
        size_t cols = n - r * shard < shard ? n - r * shard : shard;
        struct fold_call part = {.dtype = dtype,
                                 .problem = fold_rows_problem(FOLD_SUM),
                                 .rows = 1,
                                 .cols = cols,
                                 .in = {x + r * shard * size}};
        part.out = (char *)partial + r * size;
        cr_assert_eq(fold_order_replay(order, &part).code, FOLD_OK);
      }
      uint64_t got;
      cr_assert_eq(fold_ranks_sum(FOLD_RANKS_CANONICAL, dtype, partial, ranks, 0, &got).code, FOLD_OK);
      cr_expect(got == want, "%s, %zu ranks: %#llx, not %#llx", fold_dtype_name(dtype), ranks, (unsigned long long)got,
                (unsigned long long)want);
    }
    free(x);
  }
}
