/* study/ranks.c: replays the orders of all-reduce (oracles/orders.inc), and measures their errors. */
#include "study/ranks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "base/list.h"
#include "oracles/exact.h"

const char *fold_ranks_name(enum fold_ranks_algorithm algorithm) {
  static const char *const names[FOLD_RANKS_ALGORITHMS] = {"ring", "binary tree", "recursive doubling", "canonical"};
  return names[algorithm];
}

/* The order in which the algorithm adds the ranks' numbers; only the ring has several, one for each `chunk` < ranks. */
static struct fold_order order_of(enum fold_ranks_algorithm algorithm, size_t ranks, size_t chunk) {
  static const enum fold_order_kind kinds[FOLD_RANKS_ALGORITHMS] = {FOLD_ORDER_RING, FOLD_ORDER_BINARY,
                                                                    FOLD_ORDER_DOUBLING, FOLD_ORDER_PAIRWISE};
  return (struct fold_order){.name = fold_ranks_name(algorithm),
                             .kind = kinds[algorithm],
                             .width = algorithm == FOLD_RANKS_RING ? (unsigned)((chunk + 1) % ranks) : 0};
}

fold_status fold_ranks_sum(enum fold_ranks_algorithm algorithm, enum fold_dtype dtype, const void *x, size_t ranks,
                           size_t chunk, uint64_t *sum) {
  const struct fold_order order = order_of(algorithm, ranks, chunk);
  const struct fold_arithmetic travels_in_dtype = {FOLD_PLAIN, dtype, dtype, FOLD_FACTORS_KEPT};
  uint64_t out;
  struct fold_call call = {.dtype = dtype,
                           .problem = fold_rows_problem(FOLD_SUM),
                           .rows = 1,
                           .cols = ranks,
                           .in = {x},
                           .out = &out,
                           .launch.threads = 1};
  FOLD_TRY(fold_accumulator_of(dtype) == dtype ? fold_order_replay(&order, &call)
                                               : fold_method_replay(&order, travels_in_dtype, &call));
  *sum = fold_bits_load(dtype, &out, 0);
  return fold_ok();
}

fold_status fold_ranks_height(enum fold_ranks_algorithm algorithm, size_t ranks, uint64_t *height) {
  const struct fold_order order = order_of(algorithm, ranks, 0);
  return fold_order_height(&order, FOLD_F32, NULL, ranks, height);
}

/* gamma_h = h u / (1 - h u), rounded up; if h u >= 1/2, (ranks - 1) u, which holds for any order (bound.c). */
static double relative_bound(enum fold_dtype dtype, size_t ranks, uint64_t height) {
  mpfr_t gamma, rest;
  mpfr_inits2(128, gamma, rest, (mpfr_ptr)0);
  int u = -fold_format_of(dtype).precision;
  mpfr_set_uj_2exp(gamma, height, u, MPFR_RNDU);
  mpfr_ui_sub(rest, 1, gamma, MPFR_RNDD);
  if (mpfr_cmp_ui_2exp(gamma, 1, -1) < 0)
    mpfr_div(gamma, gamma, rest, MPFR_RNDU);
  else
    mpfr_set_uj_2exp(gamma, ranks - 1, u, MPFR_RNDU);
  double value = mpfr_get_d(gamma, MPFR_RNDU);
  mpfr_clears(gamma, rest, (mpfr_ptr)0);
  return value;
}

/* The errors of one message so far. */
struct errors {
  double *ulps;
  size_t n;
};

static void take_error(struct fold_ranks_result *result, struct errors *errors, const struct fold_truth *truth,
                       uint64_t got) {
  enum fold_dtype dtype = truth->dtype;
  if (fold_bits_class(dtype, got) >= FOLD_INFINITE) {
    result->not_finite++;
    return;
  }
  mpfr_t error;
  mpfr_init2(error, 128);
  fold_mpfr_set_bits(error, dtype, got);
  mpfr_sub(error, error, truth->exact, MPFR_RNDA);
  mpfr_abs(error, error, MPFR_RNDU);
  double share = fold_ratio_up(error, truth->abs_sum), ulps = fold_truth_ulps(error, truth, dtype);
  errors->ulps[errors->n++] = ulps;
  if (!(ulps <= result->worst_ulps)) result->worst_ulps = ulps;
  if (!(share <= result->worst_relative)) result->worst_relative = share;
  mpfr_clear(error);
}

/* Adds one element by one algorithm, in each chunk that is looked at. */
static fold_status take_element(struct fold_ranks_result *result, struct errors *errors, const struct fold_truth *truth,
                                const void *x) {
  size_t ranks = result->c.ranks;
  uint64_t first = 0;
  bool varies = false;
  for (size_t k = 0; k < result->chunks; k++) {
    uint64_t got;
    FOLD_TRY(fold_ranks_sum(result->algorithm, truth->dtype, x, ranks, k * ranks / result->chunks, &got));
    if (k == 0) first = got;
    varies |= !fold_bits_same(truth->dtype, got, first);
    take_error(result, errors, truth, got);
  }
  result->varied += varies;
  return fold_ok();
}

static fold_status start(const struct fold_ranks_case *c, enum fold_ranks_algorithm algorithm,
                         struct fold_ranks_result *result) {
  *result = (struct fold_ranks_result){.algorithm = algorithm, .c = *c, .chunks = 1};
  if (algorithm == FOLD_RANKS_RING) result->chunks = c->chunks < c->ranks ? c->chunks : c->ranks;
  FOLD_TRY(fold_ranks_height(algorithm, c->ranks, &result->height));
  result->bound_relative = relative_bound(c->dtype, c->ranks, result->height);
  return fold_ok();
}

static void finish(struct fold_ranks_result *result, struct errors *errors) {
  fold_list_rise(errors->ulps, errors->n);
  result->median_ulps = errors->n ? errors->ulps[errors->n / 2] : NAN;
  result->worst_fraction = result->worst_relative == 0 ? 0 : result->worst_relative / result->bound_relative;
}

static fold_status make_message(const struct fold_ranks_case *c, void **message) {
  struct fold_source source = {c->generator, c->dtype, c->seed, c->ranks, 0};
  FOLD_TRY(fold_source_check(&source));
  *message = malloc(c->elements * c->ranks * fold_dtype_size(c->dtype) + 8);
  if (*message == NULL) return fold_no_memory("for %zu elements of %zu ranks", c->elements, c->ranks);
  fold_generate_parallel(&source, 0, c->elements * c->ranks, *message, 0);
  return fold_ok();
}

static const void *element_of(const struct fold_ranks_case *c, const void *message, size_t e) {
  return (const char *)message + e * c->ranks * fold_dtype_size(c->dtype);
}

static fold_status take_message(const struct fold_ranks_case *c, const void *message, struct fold_ranks_result *result,
                                struct errors errors[FOLD_RANKS_ALGORITHMS]) {
  struct fold_truth truth;
  fold_truth_init(&truth);
  fold_status status = fold_ok();
  for (size_t e = 0; e < c->elements && status.code == FOLD_OK; e++) {
    const void *x = element_of(c, message, e);
    status = fold_oracle_exact(c->dtype, FOLD_SUM, x, c->ranks, 1, &truth);
    if (status.code == FOLD_OK && !mpfr_number_p(truth.exact))
      status = fold_error(FOLD_BAD_INPUT, "generator %s: the sum is not finite", c->generator->name);
    for (int a = 0; a < FOLD_RANKS_ALGORITHMS && status.code == FOLD_OK; a++)
      status = take_element(&result[a], &errors[a], &truth, x);
  }
  fold_truth_free(&truth);
  return status;
}

fold_status fold_ranks_simulate(const struct fold_ranks_case *c, struct fold_ranks_result *result) {
  void *message = NULL;
  struct errors errors[FOLD_RANKS_ALGORITHMS] = {{0}};
  fold_status status = make_message(c, &message);
  for (int a = 0; a < FOLD_RANKS_ALGORITHMS && status.code == FOLD_OK; a++) {
    status = start(c, (enum fold_ranks_algorithm)a, &result[a]);
    errors[a].ulps = calloc(c->elements * result[a].chunks + 1, sizeof *errors[a].ulps);
    if (!errors[a].ulps) status = fold_no_memory("for the errors");
  }
  if (status.code == FOLD_OK) status = take_message(c, message, result, errors);
  for (int a = 0; a < FOLD_RANKS_ALGORITHMS; a++) {
    if (status.code == FOLD_OK) finish(&result[a], &errors[a]);
    free(errors[a].ulps);
  }
  free(message);
  return status;
}

/* The element's result if blocks of 2^k parts are the ranks. `shards` has room for as many numbers as there are
 * parts. */
static fold_status world_sum(enum fold_ranks_algorithm algorithm, const struct fold_ranks_case *c, const void *x,
                             size_t block, size_t element, void *shards, uint64_t *sum) {
  size_t ranks = c->ranks / block + (c->ranks % block != 0), size = fold_dtype_size(c->dtype);
  for (size_t r = 0; r < ranks; r++) {
    size_t first = r * block, n = c->ranks - first < block ? c->ranks - first : block;
    uint64_t shard;
    FOLD_TRY(fold_ranks_sum(FOLD_RANKS_CANONICAL, c->dtype, (const char *)x + first * size, n, 0, &shard));
    fold_bits_store(c->dtype, shards, r, shard);
  }
  return fold_ranks_sum(algorithm, c->dtype, shards, ranks, element % ranks, sum);
}

enum { MOST_WORLDS = 64 };

static fold_status take_worlds(const struct fold_ranks_case *c, const void *x, size_t element, void *shards,
                               struct fold_ranks_worlds *worlds) {
  uint64_t got[MOST_WORLDS], distinct = 0;
  size_t n = 0;
  for (size_t block = 1; block / 2 < c->ranks; block *= 2) {
    FOLD_TRY(world_sum(worlds->algorithm, c, x, block, element, shards, &got[n]));
    size_t k = 0;
    while (!fold_bits_same(c->dtype, got[k], got[n])) k++;
    distinct += k == n++;
  }
  worlds->worlds = n;
  worlds->changed += distinct > 1;
  if (distinct > worlds->most_distinct) worlds->most_distinct = distinct;
  return fold_ok();
}

fold_status fold_ranks_worlds(const struct fold_ranks_case *c, struct fold_ranks_worlds *worlds) {
  void *message = NULL;
  void *shards = calloc(c->ranks, sizeof(uint64_t));
  fold_status status = shards ? make_message(c, &message) : fold_error(FOLD_NO_MEMORY, "not enough memory");
  for (int a = 0; a < FOLD_RANKS_ALGORITHMS && status.code == FOLD_OK; a++) {
    worlds[a] = (struct fold_ranks_worlds){.algorithm = (enum fold_ranks_algorithm)a, .c = *c};
    for (size_t e = 0; e < c->elements && status.code == FOLD_OK; e++)
      status = take_worlds(c, element_of(c, message, e), e, shards, &worlds[a]);
  }
  free(shards);
  free(message);
  return status;
}
